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


def predict_work(
    device: Device,
    bytes_moved: float,
    flops: Mapping[str, float] | None = None,
    launches: int = 1,
    matrix: bool = False,
) -> WorkTime:
    """The least time of kernels that move so many bytes of device memory and do `flops` operations by element type (a
    multiply-add is two), with `matrix` on the matrix units where they have the type.

    Launches take their time one after another; the longer of memory and arithmetic hides the other.
    """
    fixed = launches * device.launch_seconds
    memory = bytes_moved / device.reached_bandwidth
    arithmetic = sum(count / _rate(device, kind, matrix) for kind, count in (flops or {}).items())
    parts: tuple[tuple[float, Limit], ...] = ((fixed, "launch"), (memory, "memory"), (arithmetic, "arithmetic"))
    return WorkTime(fixed + max(memory, arithmetic), max(parts)[1])


def _rate(device: Device, element_type: str, matrix: bool) -> float:
    """Operations per second of the device's units for a type."""
    if matrix and element_type in device.rates.matrix:
        return device.matrix_flops(element_type)
    return scalar_rate(device, element_type)


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
