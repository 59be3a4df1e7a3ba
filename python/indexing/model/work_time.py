"""The time of work of which no kernel is known yet, from its bytes and operations: the roofline of a device."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from indexing.device.record import Device

#: The part of a time that is the largest.
Limit: TypeAlias = Literal["launch", "latency", "memory", "arithmetic", "issue"]
#: All of them, in the order of the core.
LIMITS: tuple[Limit, ...] = ("launch", "latency", "memory", "arithmetic", "issue")


@dataclass(frozen=True, slots=True)
class WorkTime:
    """The predicted seconds of some work, and the largest part of them."""

    seconds: float
    limit: Limit


def predict_work(device: Device, bytes_moved: float, flops: Mapping[str, float] | None = None) -> WorkTime:
    """The least time of a kernel that moves so many bytes of device memory and does `flops` operations by element type (a
    multiply-add is two): the longer of memory and arithmetic hides the other.
    """
    fixed = device.launch_seconds
    memory = bytes_moved / device.reached_bandwidth
    arithmetic = sum(count / scalar_rate(device, kind) for kind, count in (flops or {}).items())
    parts: tuple[tuple[float, Limit], ...] = ((fixed, "launch"), (memory, "memory"), (arithmetic, "arithmetic"))
    return WorkTime(fixed + max(memory, arithmetic), max(parts)[1])


def scalar_rate(device: Device, element_type: str) -> float:
    """Operations per second of a device's scalar units, a multiply-add counted as two; types that they lack are computed in
    f32, integers in s32. A device without rates by type does `operations` of any.
    """
    rates = device.rates.scalar
    wider = "s32" if element_type[:1] in "spu" else "f32"
    for kind in (element_type, wider):
        if kind in rates:
            return device.flops(kind)
    return device.rates.operations
