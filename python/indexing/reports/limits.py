"""Limits of kernels' times: the part of the device that takes longest, and the figures from which that follows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

from indexing.device.record import Device
from indexing.model.instruction_time import KernelTime
from indexing.model.terms import terms_of
from indexing.reports.lines import bytes_text, number_text, seconds_text

__all__ = ["limit_of"]

#: The sentence about a part of a kernel's time.
_Sentence: TypeAlias = "Callable[[KernelTime, Mapping[str, float], Device], str]"


def limit_of(time: KernelTime, device: Device) -> tuple[str, str]:
    """The cache or unit of memory that limits a kernel's time, empty where that is the device's own memory; and a sentence with
    the figures from which the limit follows: none where these are the bytes of memory, or the launch is most of the time.
    """
    limit, demand = time.limit, time.demand
    if demand is None or limit == "launch":
        return "", ""
    if limit == "latency":
        return "", _waiting(demand, device)
    parts = {name: seconds for name, seconds in time.parts(device).items() if _LIMITS[name] == limit}
    part = max(parts, key=parts.__getitem__)
    if part not in _SENTENCES:
        return "", ""
    sentence = _SENTENCES[part](time, demand, device)
    if demand["blocks"] < device.cores.count:
        sentence += f", on {demand['blocks']:.0f} of {device.cores.count} cores"
    return _MEMORIES.get(part, ""), f"{sentence}: {seconds_text(parts[part])}"


def _waiting(demand: Mapping[str, float], device: Device) -> str:
    if not terms_of(device).has_warps:
        lines = _count(demand["memory_bytes"] / device.memory.line_bytes)
        at_once = device.memory.loads_under_way
        return f"too few blocks are under way, which wait for {lines} cache lines, up to {at_once} at a time"
    blocks, warps = demand["blocks"], -(-demand["threads"] // device.cores.warp_size)
    waits = demand["waits"] / (blocks * warps)
    few = f"{_count(blocks)} blocks of {warps:.0f} warps have too few loads under way"
    return f"{few}: a warp waits {waits:.3g} times for its own, one after the other"


def _cache(_: KernelTime, demand: Mapping[str, float], device: Device) -> str:
    rate = bytes_text(device.memory.l2_bandwidth)
    return f"the L2 cache moves {bytes_text(demand['cache_bytes'])} to and from cores, at {rate}/s"


def _passes(time: KernelTime, demand: Mapping[str, float], device: Device) -> str:
    """A core's L1 cache, which holds its shared memory, moves a line in a clock."""
    line = device.memory.line_bytes
    shared = round(demand["passes"] - time.moved / line)
    both = f"{bytes_text(time.moved)} and {_count(shared)} lines of shared memory" if shared else bytes_text(time.moved)
    return f"loads and stores move {both}, a line of {line} B in a clock of a core"


def _updates(_: KernelTime, demand: Mapping[str, float], __: Device) -> str:
    return f"{_count(demand['updates'])} updates of one address, one in a clock"


def _operations(_: KernelTime, demand: Mapping[str, float], device: Device) -> str:
    if not terms_of(device).has_warps:
        return f"{_count(demand['operations'])} steps of loops"
    return f"the busiest units take as long as {_count(demand['operations'])} operations of f32"


def _issued(_: KernelTime, demand: Mapping[str, float], device: Device) -> str:
    return f"{_count(demand['issued'])} instructions of warps, {device.cores.issue} in a clock of a core"


def _count(number: float) -> str:
    return number_text(number).replace(" ", "")


_LIMITS = {
    **dict.fromkeys(("memory_bytes", "cache_bytes", "passes", "updates"), "memory"),
    "operations": "arithmetic",
    "issued": "issue",
}
_MEMORIES = {"cache_bytes": "L2", "passes": "L1", "updates": "atomics"}
_SENTENCES: Mapping[str, _Sentence] = {
    "cache_bytes": _cache,
    "passes": _passes,
    "updates": _updates,
    "operations": _operations,
    "issued": _issued,
}
