"""Short rows of an odd number of elements, such as points and colours: a thread has a row, and blocks copy all of their rows.

Neighbouring threads would access elements that are a row apart, so that a warp touches each sector once for each element of a
row. Rows in shared memory begin in different banks.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import gcd, prod

from indexing._core import SymbolicExpr, variable
from indexing.hlo import Instruction, Shape
from indexing.hlo.layout import delinearize, is_row_major, linearize
from indexing.hlo.module_cache import cached_on_module
from indexing.kernels.emitters.reduction.mapping import ceil_div
from indexing.kernels.emitters.rows.mapping import RowsPlan
from indexing.kernels.emitters.rows.match import RowSpace
from indexing.kernels.function_builder import FunctionBuilder
from indexing.kernels.hero import Output
from indexing.kernels.ir.nodes import Buffer, Load
from indexing.kernels.ir.types import storage_bytes, storage_type
from indexing.kernels.launch import Part, inside_parts, loop_over, output_buffer, range_variable, thread_id
from indexing.kernels.vectors import lanes
from indexing.ops.element_context import Index, Value

MAX_ROW = 7  # elements of a row; longer ones have a lane for each
MAX_STAGED = 15  # elements of an array for a row
WIDTH = 4  # elements that a thread copies at once


@cached_on_module
def staged_inputs(space: RowSpace) -> tuple[Instruction, ...]:
    """The parameters that have the elements of a row side by side, as many for each row, which are an odd number."""
    if not _may_stage(space):
        return ()
    members = (*space.places, *space.reduced_places)
    return tuple(p for p in space.computation.parameters if p in members and _is_by_rows(space, p))


def staged_outputs(space: RowSpace) -> tuple[Output, ...]:
    """The outputs with an element for each of the space, in its order."""
    sizes = space.shape.dimensions
    outputs = space.per_element if _may_stage(space) else ()
    return tuple(o for o in outputs if o.shape.dimensions == sizes and is_row_major(o.shape))


def _may_stage(space: RowSpace) -> bool:
    """Whether rows are those of the last dimension, short and odd."""
    d, last = space.dimensions, len(space.shape.dimensions) - 1
    is_last = set(space.first.ints("dimensions")) == {last} and is_row_major(space.shape)
    return is_last and space.window is None and 1 < d.reduced <= MAX_ROW and d.reduced % 2 == 1


def staged_bytes(space: RowSpace) -> int:
    """The bytes of all staged arrays for a row."""
    kinds = [(p.shape, _elements(p.shape, space)) for p in staged_inputs(space)]
    kinds += [(o.shape, space.dimensions.reduced) for o in staged_outputs(space)]
    return sum(n * storage_bytes(s.element_type) for s, n in kinds)


def _is_by_rows(space: RowSpace, p: Instruction) -> bool:
    kept = len(space.shape.dimensions) - 1
    if p.shape.dimensions[:kept] != space.shape.dimensions[:kept]:
        return False
    elements = _elements(p.shape, space)
    is_short = elements % 2 == 1 and 1 < elements <= MAX_STAGED
    is_own = all(e == variable(d) for d, e in enumerate(space.place_of(p).results[:kept]))
    return is_short and is_own and is_row_major(p.shape)


def _elements(shape: Shape, space: RowSpace) -> int:
    return prod(shape.dimensions[len(space.shape.dimensions) - 1 :])


class StagedRows:
    """The rows of a block in shared memory, while a kernel is built."""

    def __init__(self, body: FunctionBuilder, space: RowSpace, plan: RowsPlan) -> None:
        """Declare the buffers, if the plan stages rows."""
        self.body, self.plan, self.space = body, plan, space
        self.inputs = {p: self._buffer(p.shape) for p in (staged_inputs(space) if plan.stages_rows else ())}
        self.outputs = {o.number: self._buffer(o.shape) for o in (staged_outputs(space) if plan.stages_rows else ())}

    def _buffer(self, shape: Shape) -> str:
        size = _elements(shape, self.space) * self.plan.across
        return self.body.kernel.add_buffer(Buffer(self.body.fresh("rows"), shape.element_type, (size,), "shared"))

    def load(self) -> None:
        """Copy the elements of the block's rows to shared memory, from which they are read then."""
        body = self.body

        def copied(p: Instruction, buffer: str) -> None:
            def copy(index: Index, place: SymbolicExpr) -> None:
                body.store(buffer, (place,), body.stored(p.shape.element_type, body.value(p, index)))

            self._each(p.shape, copy)

        for p, buffer in self.inputs.items():
            copied(p, buffer)
        if self.inputs:
            body.barrier()
        for p, buffer in self.inputs.items():
            body.bind(p, partial(self._read, p.shape, buffer))

    def store(self, output: Output, index: Index, value: Value) -> bool:
        """Keep an element of a staged output; whether the output is one."""
        buffer = self.outputs.get(output.number)
        if buffer is None:
            return False
        held = self.body.stored(output.shape.element_type, value)
        self.body.store(buffer, (self._place(output.shape, index),), held)
        return True

    def finish(self) -> None:
        """Copy the elements of staged outputs from shared memory."""
        if self.outputs:
            self.body.barrier()
        for output in self.space.per_element:
            if output.number in self.outputs:
                self._each(output.shape, partial(self._copy_output, output))

    def _copy_output(self, output: Output, index: Index, place: SymbolicExpr) -> None:
        held = Load(storage_type(output.shape.element_type), self.outputs[output.number], (place,))
        self.body.store(output_buffer(output.number), index, self.body.name(held))

    def _read(self, shape: Shape, buffer: str, index: Index) -> Value:
        held = Load(storage_type(shape.element_type), buffer, (self._place(shape, index),))
        return self.body.loaded(shape.element_type, held)

    def _place(self, shape: Shape, index: Index) -> SymbolicExpr:
        """The place in shared memory of the element at an index of an array."""
        first = self.plan.tile * (self.plan.across * _elements(shape, self.space))
        return self.body.scope.simplify(linearize(index, shape.dimensions) - first)

    def _each(self, shape: Shape, build: Callable[[Index, SymbolicExpr], None]) -> None:
        """Call `build` for all elements that the threads of a block copy, with their index and their place in shared memory."""
        body, plan = self.body, self.plan
        count, threads = _elements(shape, self.space) * plan.across, plan.block[0]
        width = gcd(WIDTH, count, shape.element_count)
        here = range_variable(0) * threads + thread_id("th_x")
        parts = [Part(here, count // width)]
        if shape.element_count % count:  # the last block has fewer rows
            parts.append(Part(plan.tile * (count // width) + here, shape.element_count // width))
        with (
            loop_over(body, ceil_div(count, threads * width), "step") as step,
            inside_parts(body, parts, (step,)) as (vector, *_),
            lanes(body, width) as lane,
            body.base_scope(),
        ):
            place = body.scope.simplify(vector * width + lane)
            element = body.scope.simplify(plan.tile * count + place)
            build(tuple(map(body.scope.simplify, delinearize(element, shape.dimensions))), place)
