"""Reductions of which several threads need the result: they reduce together, and each has the result.

Each thread would reduce all elements by itself otherwise, and again wherever it needs the result.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import gcd

from indexing._core import SymbolicExpr, constant
from indexing.hlo import Instruction
from indexing.kernels.emitters.reduction.accumulators import Accumulators, Reducer, ThreadGroup, combine
from indexing.kernels.emitters.reduction.mapping import Dimensions, ceil_div, dimensions_of
from indexing.kernels.emitters.reduction.match import arrays_of
from indexing.kernels.function_builder import FunctionBuilder
from indexing.kernels.launch import Part, inside_parts, loop_over, range_variable
from indexing.kernels.vectors import lanes
from indexing.ops.element_context import Index, Value
from indexing.ops.reduce import REDUCE
from indexing.ops.reducer_ops import neutral_element
from indexing.ops.registry import traits_of
from indexing.ops.tuples import array_source

MIN_SHARED = 8  # a thread reduces fewer elements sooner by itself


def is_shareable(i: Instruction) -> bool:
    """Whether an instruction is a reduction that threads may share, and is worth it."""
    return traits_of(i) is REDUCE and neutral_element(i) is not None and dimensions_of(i).reduced >= MIN_SHARED


def reduced_together(
    body: FunctionBuilder,
    group: ThreadGroup,
    reduce: Instruction,
    width: int,
    kept: Sequence[Part],
    index_of: Callable[[Index], Index],
) -> Sequence[Value]:
    """The result of a reduction for each group of threads, at `index_of` the group's coordinates `kept`; a thread takes
    vectors of `width` elements.
    """
    d = dimensions_of(reduce)
    accumulators = Accumulators(body, Reducer.of(reduce), 1)
    vectors = d.reduced // width
    part = Part(range_variable(0) * group.threads + group.part, vectors)
    with inside_parts(body, kept) as row:
        result = index_of(row)
        with (
            loop_over(body, ceil_div(vectors, group.threads), "step") as step,
            inside_parts(body, (part,), (step,)) as (vector,),
            lanes(body, width) as lane,
            body.base_scope(),
        ):
            index = _operand_index(reduce, d, result, vector * width + lane)
            at = tuple(map(body.scope.simplify, index))
            values = [body.value(*_placed(array, at)) for array in arrays_of(reduce)]
            accumulators.add(constant(0), values, False)
    combine([accumulators], group, group.threads, to_all=True)
    return accumulators.finished(constant(0), [body.value(o, ()) for o in reduce.operands[len(arrays_of(reduce)) :]])


def width_of_vectors(reduce: Instruction, most: int) -> int:
    """The elements of a vector up to `most`, a power of two, that a thread takes at once of what it reduces."""
    d = dimensions_of(reduce)
    return gcd(most, d.fast) if d.kind == "row" else 1


def _placed(array: Instruction, at: Index) -> tuple[Instruction, Index, int]:
    source, leaf = array_source(array, 0)
    return source, at, leaf


def _operand_index(reduce: Instruction, d: Dimensions, result: Index, reduced: SymbolicExpr) -> list[SymbolicExpr]:
    """The index of the operand at an index of the result and a position among the elements that are reduced."""
    index = d.index(constant(0), reduced)
    gone = set(reduce.ints("dimensions"))
    for dimension, coordinate in zip((k for k in range(len(index)) if k not in gone), result, strict=True):
        index[dimension] = coordinate
    return index
