"""Reductions of what is not in the row space, with a result for each row: its threads reduce together, as they do the row.

Each thread would reduce all elements by itself otherwise, and again in each pass that needs the result.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import gcd

from indexing._core import SymbolicExpr, constant
from indexing.hlo import Instruction
from indexing.kernels.emitters.reduction.accumulators import Accumulators, Reducer, ThreadGroup, combine
from indexing.kernels.emitters.reduction.mapping import Dimensions, ceil_div, dimensions_of
from indexing.kernels.emitters.reduction.match import arrays_of
from indexing.kernels.emitters.rows.mapping import RowsPlan
from indexing.kernels.function_builder import FunctionBuilder
from indexing.kernels.launch import Part, inside_parts, loop_over, range_variable
from indexing.kernels.vectors import lanes
from indexing.ops.element_context import Index, Value
from indexing.ops.tuples import array_source


def reduced_by_row(
    body: FunctionBuilder, plan: RowsPlan, group: ThreadGroup, reduce: Instruction, index_of: Callable[[Index], Index]
) -> Sequence[Value]:
    """The result of a reduction for the row of each thread, whose index is `index_of` the coordinates of the row."""
    d = dimensions_of(reduce)
    width = gcd(plan.vector_width, d.fast) if d.kind == "row" else 1
    accumulators = Accumulators(body, Reducer.of(reduce), 1)
    vectors = d.reduced // width
    part = Part(range_variable(0) * plan.threads + plan.part, vectors)
    with inside_parts(body, plan.kept_parts) as row:
        result = index_of(row)
        with (
            loop_over(body, ceil_div(vectors, plan.threads), "step") as step,
            inside_parts(body, (part,), (step,)) as (vector,),
            lanes(body, width) as lane,
            body.base_scope(),
        ):
            index = _operand_index(reduce, d, result, vector * width + lane)
            at = tuple(map(body.scope.simplify, index))
            values = [body.value(*_placed(array, at)) for array in arrays_of(reduce)]
            accumulators.add(constant(0), values, False)
    combine([accumulators], group, plan.threads, to_all=True)
    return accumulators.finished(constant(0), [body.value(o, ()) for o in reduce.operands[len(arrays_of(reduce)) :]])


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
