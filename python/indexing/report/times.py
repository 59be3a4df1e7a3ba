"""Predicted times of an instruction's kernel, and the part that is due to waste: by the model of `ix.predict`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from indexing._core import predict_times
from indexing.analysis.device import Device, device_named
from indexing.errors import IndexingError
from indexing.lazy import np
from indexing.tuning.machine import MACHINES, Machine, machine_of
from indexing.tuning.prediction import DEMANDS, demands_of, predict

if TYPE_CHECKING:
    from indexing.hlo import Instruction
    from indexing.report.accesses import Row

__all__ = ["Times", "machine_for", "times_of"]

BLOCK = 128  # threads, without a kernel
REGISTERS = 18  # of one of its threads


@dataclass(frozen=True, slots=True)
class Times:
    """The predicted seconds of a kernel, and the part of them that is due to waste."""

    seconds: float
    lost: float


def machine_for(device: Device | str) -> Machine:
    """The machine of a device; one without known rates has those of an H100, except for its memory's."""
    chosen = device_named(device) if isinstance(device, str) else device
    if chosen.name in MACHINES:
        return machine_of(chosen)
    return replace(machine_of("H100"), device=chosen).with_rates(memory_rate=float(chosen.memory_bandwidth))


def times_of(i: Instruction, rows: Sequence[Row], machine: Machine) -> Times:
    """The times of the kernel's default plan; without a kernel, those of a loop that moves the bytes of `rows`."""
    demand = _demands_of_kernel(i, machine) if any(row.ratio is not None for row in rows) else None
    demand = demand or _demands_of_rows(rows, machine)
    wasted = sum(row.wasted for row in rows)
    from_memory = sum(row.wasted for row in rows if _array_bytes(row) > machine.cache_bytes)
    without = demand | {
        "bytes": max(demand["bytes"] - wasted, 0.0),
        "memory_bytes": max(demand["memory_bytes"] - from_memory, 0.0),
    }
    seconds = _seconds(demand, machine)
    return Times(seconds, max(seconds - _seconds(without, machine), 0.0))


def _demands_of_kernel(i: Instruction, machine: Machine) -> dict[str, float] | None:
    """The demands of the default plan of a fusion's kernel on the machine; None if no kernel computes it."""
    if not i.is_fusion:
        return None
    try:
        found = predict(i, {}, machine)
    except IndexingError:
        return None
    return {name: float(column[0]) for name, column in zip(DEMANDS, demands_of(found), strict=True)}


def _demands_of_rows(rows: Sequence[Row], machine: Machine) -> dict[str, float]:
    """The demands of one thread per element; without known sectors, a warp instruction moves as much as it can."""
    elements = max((row.elements for row in rows if row.kind == "write"), default=1)
    moved = [(float(row.must_move if row.will_move is None else row.will_move), row) for row in rows]
    sector = machine.device.sector_bytes
    instructions = sum(m / (sector * (row.sectors or machine.device.line_bytes / sector)) for m, row in moved)
    memory = sum(min(m, row.must_move) if _array_bytes(row) <= machine.cache_bytes else m for m, row in moved)
    known = {"bytes": sum(m for m, _ in moved), "memory_bytes": memory, "instructions": instructions}
    known |= {"blocks": float(-(-elements // BLOCK)), "threads": float(BLOCK), "registers": float(REGISTERS)}
    return {name: known.get(name, 0.0) for name in DEMANDS}


def _array_bytes(row: Row) -> float:
    """Of the whole array."""
    return row.elements * row.must_move / max(row.distinct, 1)


def _seconds(demand: dict[str, float], machine: Machine) -> float:
    _, _, _, time = predict_times(machine.rates.numbers, [np.array([demand[name]], float) for name in DEMANDS])
    return float(time[0])
