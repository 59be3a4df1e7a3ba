"""The values of a program's instructions by the reference, and the points of maps' domains that belong to them.

Runtime variables are looked up where the maps say.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from indexing import hlo
from indexing.ops.operand_indexing import OperandIndexing
from indexing.ops.values import leaves_of
from indexing.reference.interpreter import evaluate_instruction

Values = Mapping[hlo.Instruction, object]


def all_values(computation: hlo.Computation, arguments: Sequence[object]) -> dict[hlo.Instruction, object]:
    """The value of every instruction, those inside of fusions, calls, and all branches of conditionals included."""
    values: dict[hlo.Instruction, object] = {}
    for i in computation.post_order():
        operands = [values[o] for o in i.operands]
        values[i] = evaluate_instruction(i, operands, arguments)
        if i.opcode in ("fusion", "call"):
            values |= all_values(i.called[0], operands)
        if i.opcode == "conditional":
            for branch, operand in zip(i.called, operands[1:], strict=True):
                values |= all_values(branch, [operand])
    return values


def runtime_values(
    m: OperandIndexing, point: Sequence[np.ndarray], count: int, values: Values
) -> tuple[list[np.ndarray], np.ndarray]:
    """The values of the runtime variables at each of `count` points, and whether there are any: else it isn't in the domain.

    `point` has an array for each dimension and range variable. One value may be read at an index that another gives.
    """
    dims, kept = len(m.map.dims), np.ones(count, bool)
    known: dict[int, np.ndarray] = {}
    while len(known) < len(m.runtime_values):
        before = len(known)
        for k, value in enumerate(m.runtime_values):
            first = dims + len(value.map.ranges)
            needs = {v - first for e in value.map.results for v in e.used_variables() if v >= first}
            if k in known or not needs <= set(known):
                continue
            others = [known.get(j, np.zeros(count, np.int64)) for j in range(len(value.map.runtimes))]
            at = [np.broadcast_to(e.evaluate([*point[:first], *others]), count) for e in value.map.results]
            array = np.asarray(leaves_of(values[value.instruction])[value.output])
            for i, n in zip(at, array.shape, strict=True):
                kept &= (i >= 0) & (i < n)
            element = array[tuple(np.where(kept, i, 0) for i in at)] if kept.any() else np.zeros(count)
            known[k], inside = _bounded(m, k, np.broadcast_to(element, count))
            kept &= inside
        assert len(known) > before, "runtime values depend on each other in a circle"
    return [known[k] for k in range(len(m.runtime_values))], kept


def points_of(m: OperandIndexing, values: Values) -> tuple[np.ndarray, np.ndarray]:
    """All points of a map's domain that belong to these values: a row for each dimension, and for each result there."""
    spans = [np.arange(v.interval.lower, v.interval.upper + 1) for v in (*m.map.dims, *m.map.ranges)]
    point = [g.reshape(-1) for g in np.meshgrid(*spans, indexing="ij")] if spans else []
    count = point[0].size if point else 1
    runtimes, kept = runtime_values(m, point, count, values)
    for runtime, element in zip(m.map.runtimes, runtimes, strict=True):
        kept &= (element >= runtime.interval.lower) & (element <= runtime.interval.upper)
    variables = [*point, *(np.where(kept, r, v.interval.lower) for r, v in zip(runtimes, m.map.runtimes, strict=True))]
    for e, interval in m.map.constraints:
        actual = np.broadcast_to(e.evaluate(variables), count)
        kept &= (actual >= interval.lower) & (actual <= interval.upper)
    results = [np.broadcast_to(e.evaluate(variables), count)[kept] for e in m.map.results]
    dims = [d[kept] for d in point[: len(m.map.dims)]]
    rows, columns = (np.array(side, np.int64).reshape(len(side), int(kept.sum())) for side in (dims, results))
    return rows, columns


def _bounded(m: OperandIndexing, k: int, element: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The elements as runtime variable `k` takes them: clamped, or left out beyond its bounds."""
    value, interval = m.runtime_values[k], m.map.runtimes[k].interval
    lower, upper = value.bounds or (interval.lower, interval.upper)
    wide = element.astype(object) if element.dtype == np.uint64 else element.astype(np.int64)
    if value.out_of_bounds == "clamp":
        return np.clip(wide, lower, upper).astype(np.int64), np.ones(element.shape, bool)
    inside = np.asarray((wide >= lower) & (wide <= upper), bool)
    return np.where(inside, wide, lower).astype(np.int64), inside
