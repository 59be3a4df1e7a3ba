"""A device in the model of times: its sizes and rates, from data sheets or from a calibration."""

from __future__ import annotations

import os
from dataclasses import astuple, dataclass, fields, replace
from typing import TypeAlias

from indexing.analysis.device import A100, A6000, B200, H100, H200, L4, V100, Device
from indexing.errors import IndexingError

__all__ = ["CPU", "MACHINES", "DeviceLike", "Machine", "machine_of"]

#: A machine, a device whose machine is known, or its name.
DeviceLike: TypeAlias = "Machine | Device | str"
GIGA = 1e9


@dataclass(frozen=True, slots=True)
class Rates:
    """The constants of the model, in the order in which the core expects them; see docs/prediction.md. Rates are per second.

    `processors` each hold up to `threads` threads in warps of `warp_size`, `blocks` blocks, `registers` and `shared_bytes`
    (0: no limit). `memory_rate` and `cache_rate` count bytes, `operation_rate` operations on elements, of the whole device;
    `pass_rate` counts passes over the banks of one processor. A load takes `latency` seconds, and a warp has up to
    `loads_under_way` loads. A launch takes `launch` seconds, and each block `block` seconds besides its work.
    """

    processors: float
    warp_size: float
    threads: float
    blocks: float
    registers: float
    shared_bytes: float
    memory_rate: float
    cache_rate: float
    operation_rate: float
    pass_rate: float
    latency: float
    loads_under_way: float = 4.0
    launch: float = 3e-6
    block: float = 0.0

    def __post_init__(self) -> None:
        bad = [f.name for f in fields(self) if not getattr(self, f.name) >= 0]
        zero = [n for n in ("processors", "warp_size", "threads", "latency", "memory_rate") if not getattr(self, n) > 0]
        if bad or zero:
            raise IndexingError(f"{(bad or zero)[0]} of a machine is {'not negative' if bad else 'positive'}")

    @property
    def numbers(self) -> tuple[float, ...]:
        """The constants as the core expects them."""
        return tuple(map(float, astuple(self)))


@dataclass(frozen=True, slots=True)
class Machine:
    """A device with its rates; arrays up to `cache_bytes` that are read again come from its cache.

    `dialect` is the target of its kernels.
    """

    device: Device
    rates: Rates
    cache_bytes: float
    dialect: str = "cuda"

    @property
    def name(self) -> str:
        """The device's name."""
        return self.device.name

    def with_rates(self, **rates: float) -> Machine:
        """The machine with other rates, given by name."""
        return replace(self, rates=replace(self.rates, **rates))


def _gpu(device: Device, processors: int, clock: float, cache: tuple[float, float], **more: float) -> Machine:
    """A GPU by its data sheet: gigahertz, and megabytes and gigabytes per second of the L2 cache."""
    rates = Rates(
        processors=processors,
        warp_size=device.warp_size,
        threads=more.get("threads", 2048),
        blocks=more.get("blocks", 32),
        registers=65536,
        shared_bytes=more["shared"] * 1024,
        memory_rate=float(device.memory_bandwidth),
        cache_rate=cache[1] * GIGA,
        operation_rate=processors * more.get("lanes", 128) * clock * GIGA,
        pass_rate=clock * GIGA,
        latency=600e-9,
    )
    return Machine(device, rates, cache[0] * 2**20)


def _cpu() -> Machine:
    """This processor, for kernels in C: a core runs one block at a time, moves whole lines, and does steps of loops."""
    cores = os.cpu_count() or 1
    device = Device("CPU", warp_size=16, sector_bytes=64, line_bytes=64)
    rates = Rates(
        *(cores, 16, 1024, 1, 0, 0, 25 * GIGA, 40 * GIGA * cores, 14 * GIGA * cores, GIGA),
        latency=100e-9,
        loads_under_way=64,
        launch=1e-6,
        block=1e-9,
    )
    return Machine(device, rates, 1 << 20, "c")


CPU = _cpu()
MACHINES: dict[str, Machine] = {
    m.name: m
    for m in (
        _gpu(V100, 80, 1.53, (6, 2500), shared=96, lanes=64),
        _gpu(A100, 108, 1.41, (40, 4000), shared=164, lanes=64),
        _gpu(A6000, 84, 1.8, (6, 2500), threads=1536, blocks=16, shared=100),
        _gpu(H100, 132, 1.755, (50, 5500), shared=227),
        _gpu(H200, 132, 1.755, (50, 5500), shared=227),
        _gpu(B200, 148, 1.965, (126, 9000), shared=227),
        _gpu(L4, 58, 2.04, (48, 2500), threads=1536, blocks=24, shared=100),
        CPU,
    )
}


def machine_of(device: DeviceLike) -> Machine:
    """The machine of a device, which may be given by its name. Raises IndexingError if its rates are not known."""
    if isinstance(device, Machine):
        return device
    name = device.name if isinstance(device, Device) else device
    for known, machine in MACHINES.items():
        if name.casefold() in (known.casefold(), known.split()[-1].casefold()):
            return machine if isinstance(device, str) else replace(machine, device=device)
    known = ", ".join(map(repr, MACHINES))
    raise IndexingError(f"the rates of {name!r} are not known: give a Machine of your own, or one of {known}")
