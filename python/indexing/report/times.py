"""Predicted times of an instruction's kernel, and the part that is due to waste: by the model of `ix.predict`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from indexing._core import predict_times
from indexing.errors import IndexingError
from indexing.lazy import np
from indexing.model.prediction import DEMANDS, Predictions, demands_of, predict
from indexing.model.work_time import predict_work
from indexing.ops.operation_totals import operations_of
from indexing.ops.registry import traits_of

if TYPE_CHECKING:
    from indexing.device.record import Device
    from indexing.hlo import Instruction
    from indexing.report.accesses import AccessReport

__all__ = ["Times", "times_of"]


@dataclass(frozen=True, slots=True)
class Times:
    """The predicted seconds of a kernel (None if not modelled), the part of them that is due to waste, and what limits them."""

    seconds: float | None
    lost: float = 0.0
    limit: str = ""
    note: str = ""


def times_of(i: Instruction, rows: Sequence[AccessReport], device: Device) -> Times:
    """The times of the default plan of the instruction's kernel. A library call that stands for products takes the least time
    that moves its arrays and does its operations; what neither has, is not modelled.
    """
    if i.is_fusion:
        try:
            return _of_kernel(predict(i, {}, device), rows, device)
        except IndexingError as error:
            return Times(None, note=f"not modelled: {error}")
    product = _product_of(i)
    if product is None:
        return Times(None, note=f"not modelled: no kernel of this package computes {_described(i)}")
    work = predict_work(device, _bytes(rows), {product: operations_of(i).flops}, matrix=True)
    return Times(work.seconds, limit=work.limit, note="the least time of a library call")


def _of_kernel(found: Predictions, rows: Sequence[AccessReport], device: Device) -> Times:
    demand = {name: float(column[0]) for name, column in zip(DEMANDS, demands_of(found), strict=True)}
    wasted = sum(row.wasted for row in rows)
    from_memory = sum(row.wasted for row in rows if _array_bytes(row) > device.memory.l2_bytes)
    without = demand | {
        "bytes": max(demand["bytes"] - wasted, 0.0),
        "memory_bytes": max(demand["memory_bytes"] - from_memory, 0.0),
    }
    seconds = float(found.time[0])
    return Times(seconds, max(seconds - _seconds(without, device), 0.0) if wasted else 0.0, str(found.limit[0]))


def _product_of(i: Instruction) -> str | None:
    """The element type that is multiplied by a library call for a product or a convolution; None for other instructions."""
    meaning = traits_of(i).expansion
    called = meaning(i) if meaning is not None else None
    inside: Iterable[Instruction] = (i,) if called is None else called.listed
    contracted = (j for j in inside if traits_of(j).reads_many and len(j.operands) == 2 and not j.called)
    return next((j.operands[0].shape.element_type for j in contracted), None)


def _described(i: Instruction) -> str:
    target = i.text("custom_call_target", "")
    return f"the custom-call {target}" if target else f"a {i.opcode}"


def _bytes(rows: Sequence[AccessReport]) -> int:
    return sum(row.ideal_bytes if row.will_move is None else row.will_move for row in rows)


def _array_bytes(row: AccessReport) -> float:
    """The bytes of the whole array."""
    return row.elements * row.ideal_bytes / max(row.distinct, 1)


def _seconds(demand: dict[str, float], device: Device) -> float:
    _, _, _, time, _ = predict_times(device.model_constants, [np.array([demand[name]], float) for name in DEMANDS])
    return float(time[0])
