"""The words and figures that describe kernels of a device: of warps that access sectors, or of loops that fetch cache lines."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from indexing.device.record import Device
from indexing.kernels.targets import TARGETS

__all__ = ["Terms", "terms_of"]


@dataclass(frozen=True, slots=True)
class Terms:
    """A `unit` is what memory moves as a whole; tables of plans have the figures `of_plans`, and the explorer those `of_plan`:
    fields of `Predictions`, by their headings.
    """

    has_warps: bool
    unit: str
    of_plans: Mapping[str, str]
    of_plan: Mapping[str, str]


_OF_WARPS = Terms(
    True,
    "sector",
    {"sectors": "sectors", "bank conflicts": "conflicts", "occupancy (%)": "occupancy"},
    {
        n.replace("_", " "): n
        for n in ("sectors", "memory_bytes", "instructions", "conflicts", "occupancy", "waves", "time")
    },
)
_OF_LOOPS = Terms(
    False,
    "cache line",
    {"cache lines": "sectors", "steps of loops": "operations"},
    {"cache lines": "sectors", "memory bytes": "memory_bytes", "steps of loops": "operations", "time": "time"},
)


def terms_of(device: Device) -> Terms:
    """The terms of a device: threads run in warps, or a core runs those of a block as loops."""
    return _OF_WARPS if TARGETS[device.dialect].has_threads else _OF_LOOPS
