"""Predicted times of an instruction's kernel, and the part that is due to waste: by the model of `ix.predict`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from indexing.device.record import Device
from indexing.hlo import Instruction
from indexing.model.instruction_time import predict_instruction, predict_library
from indexing.reports.accesses import AccessReport
from indexing.reports.limits import limit_of


@dataclass(frozen=True, slots=True)
class Times:
    """The predicted seconds of a kernel (None if not modelled), the part of them that is due to waste, and what limits them.

    `limit_part` and `limit_why` say more of the limit, as `limit_of` does; `memory_bytes` are those that the device's memory
    moves, without those that caches serve.
    """

    seconds: float | None
    lost: float = 0.0
    limit: str = ""
    limit_part: str = ""
    limit_why: str = ""
    note: str = ""
    memory_bytes: float | None = None


def times_of(i: Instruction, rows: Sequence[AccessReport], device: Device, in_library: bool) -> Times:
    """The times of the default plan of the instruction's kernel, or of a library's product, with and without the bytes that
    `rows` waste.
    """
    predicted = predict_library(i, device) if in_library else predict_instruction(i, device)
    if predicted.seconds is None:
        return Times(None, note=predicted.note)
    wasted, least = sum(row.wasted for row in rows), sum(row.ideal_bytes for row in rows)
    lost = (predicted.seconds or 0.0) - predicted.seconds_without(device, wasted, least) if wasted else 0.0
    memory_bytes = None if predicted.demand is None else predicted.demand["memory_bytes"]
    part, why = limit_of(predicted, device)
    return Times(predicted.seconds, max(lost, 0.0), predicted.limit or "", part, why, predicted.note, memory_bytes)
