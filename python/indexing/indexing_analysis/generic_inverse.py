"""The generic inverse of an output-to-input formula: the same pairs of elements, from the input's index.

A map (o)[s]{rt} -> i is inverted to i -> (o, s), with its range variables, so that the places of runtime values, which may
depend on both, are known from i as well. The core's inverse has exactly the same pairs: unknowns that i does not determine are
its range variables.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from indexing._core import IndexingMap, Interval, variable
from indexing.hlo import Instruction
from indexing.ops.operand_indexing import Indexing, OperandIndexing, map_over, unknown


def inverse_of_formula(
    instruction: Instruction, operand: int, formula: Callable[[Instruction, int], Indexing]
) -> Indexing:
    """For each array of the instruction, the maps from the arrays of an operand to it."""
    sizes = [shape.dimensions for shape in instruction.operands[operand].shape.leaves]
    return [
        [inverted(m, sizes[m.leaf]) for m in formula(instruction, output)[operand]]
        for output in range(len(instruction.shape.leaves))
    ]


def inverted(m: OperandIndexing, sizes: Sequence[int]) -> OperandIndexing:
    """The map from an index of the operand (of `sizes`) to the elements that `m` maps to it; as exact as `m`."""
    if m.map.is_undefined:
        return replace(unknown(m.reason), leaf=m.leaf)
    pieces = None if m.pieces is None else tuple(inverted(p, sizes) for p in m.pieces)
    whole = m.map if m.map.is_known_empty else _inverse(m.map, sizes)
    if whole.is_known_empty:
        return OperandIndexing(whole, (), m.exactness, m.reason, None, m.leaf, pieces)
    values = tuple(
        replace(v, map=_moved(v.map, whole), bounds=v.bounds or _bounds(m.map, whole, k))
        for k, v in enumerate(m.runtime_values)
    )
    inverse = map_over(whole.results[: len(m.map.dims)], whole.dims, whole.ranges, whole.runtimes, whole.constraints)
    if not values:
        inverse = inverse.simplify().remove_unused_symbols()
    return OperandIndexing(inverse, values, m.exactness, m.reason, None, m.leaf, pieces)


def _inverse(m: IndexingMap, sizes: Sequence[int]) -> IndexingMap:
    """The map from indices of an array to the dimensions and range variables of `m`, and its runtime variables."""
    dims = len(m.dims)
    whole = m.ranges_to_dims(range(dims, dims + len(m.ranges)))
    for e, size in zip(m.results, sizes, strict=True):
        whole = whole.add_constraint(e, Interval(0, size - 1))
    inverse = whole.inverse()
    return inverse if inverse.is_known_empty else _in_order(inverse)


def _in_order(m: IndexingMap) -> IndexingMap:
    """The map with its range variables in the order in which results name them."""
    first, count = len(m.dims), len(m.ranges)
    named = dict.fromkeys(v for e in m.results for v in sorted(e.used_variables()) if first <= v < first + count)
    order = [*named, *(v for v in range(first, first + count) if v not in named)]
    place = {v: first + k for k, v in enumerate(order)}
    moved = [variable(place.get(v, v)) for v in range(len(m.variables))]
    return map_over(m.results, m.dims, [m.variables[v].interval for v in order], m.runtimes, m.constraints, moved)


def _moved(place: IndexingMap, inverse: IndexingMap) -> IndexingMap:
    """The place of a runtime value, from the results of the inverse, and from its runtime variables if it depends on some."""
    known, first = inverse.results, len(inverse.dims) + len(inverse.ranges)
    runtimes = inverse.runtimes if place.runtimes else []
    own = (variable(first + k) for k in range(len(place.runtimes)))
    at = [*known[: len(place.dims)], *known[len(place.dims) :][: len(place.ranges)], *own]
    return map_over(place.results, inverse.dims, inverse.ranges, runtimes, places=at)


def _bounds(m: IndexingMap, inverse: IndexingMap, runtime: int) -> tuple[int, int] | None:
    """The bounds of a runtime value, unless its variable in the inverse has them."""
    own = m.runtimes[runtime].interval
    return None if own == inverse.runtimes[runtime].interval else (own.lower, own.upper)
