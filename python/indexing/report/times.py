"""Predicted times of an instruction's kernel, and the part that is due to waste: by the model of `ix.predict`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from indexing._core import predict_times
from indexing.errors import IndexingError
from indexing.lazy import np
from indexing.model.prediction import DEMANDS, demands_of, predict

if TYPE_CHECKING:
    from indexing.device.record import Device
    from indexing.hlo import Instruction
    from indexing.report.accesses import AccessReport

__all__ = ["Times", "times_of"]

BLOCK = 128  # threads, without a kernel
REGISTERS = 18  # of one of its threads


@dataclass(frozen=True, slots=True)
class Times:
    """The predicted seconds of a kernel, and the part of them that is due to waste."""

    seconds: float
    lost: float


def times_of(i: Instruction, rows: Sequence[AccessReport], device: Device) -> Times:
    """The times of the kernel's default plan; without a kernel, those of a loop that moves the bytes of `rows`."""
    demand = _demands_of_kernel(i, device) if any(row.ratio is not None for row in rows) else None
    demand = demand or _demands_of_rows(rows, device)
    wasted = sum(row.wasted for row in rows)
    from_memory = sum(row.wasted for row in rows if _array_bytes(row) > device.memory.l2_bytes)
    without = demand | {
        "bytes": max(demand["bytes"] - wasted, 0.0),
        "memory_bytes": max(demand["memory_bytes"] - from_memory, 0.0),
    }
    seconds = _seconds(demand, device)
    return Times(seconds, max(seconds - _seconds(without, device), 0.0))


def _demands_of_kernel(i: Instruction, device: Device) -> dict[str, float] | None:
    """The demands of the default plan of a fusion's kernel on the device; None if no kernel computes it."""
    if not i.is_fusion:
        return None
    try:
        found = predict(i, {}, device)
    except IndexingError:
        return None
    return {name: float(column[0]) for name, column in zip(DEMANDS, demands_of(found), strict=True)}


def _demands_of_rows(rows: Sequence[AccessReport], device: Device) -> dict[str, float]:
    """The demands of one thread per element; without known sectors, a warp instruction moves as much as it can."""
    elements = max((row.elements for row in rows if row.kind == "write"), default=1)
    moved = [(float(row.ideal_bytes if row.will_move is None else row.will_move), row) for row in rows]
    sector = device.memory.sector_bytes
    instructions = sum(m / (sector * (row.sectors or device.memory.line_bytes / sector)) for m, row in moved)
    memory = sum(min(m, row.ideal_bytes) if _array_bytes(row) <= device.memory.l2_bytes else m for m, row in moved)
    known = {"bytes": sum(m for m, _ in moved), "memory_bytes": memory, "instructions": instructions}
    known |= {"blocks": float(-(-elements // BLOCK)), "threads": float(BLOCK), "registers": float(REGISTERS)}
    return {name: known.get(name, 0.0) for name in DEMANDS}


def _array_bytes(row: AccessReport) -> float:
    """Of the whole array."""
    return row.elements * row.ideal_bytes / max(row.distinct, 1)


def _seconds(demand: dict[str, float], device: Device) -> float:
    _, _, _, time, _ = predict_times(device.model_constants, [np.array([demand[name]], float) for name in DEMANDS])
    return float(time[0])
