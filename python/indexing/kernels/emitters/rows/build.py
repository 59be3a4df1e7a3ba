"""The entry of a rows kernel: a pass over the elements of the row for each level of reductions, and one for outputs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

from indexing._core import IndexingMap, SymbolicExpr, constant
from indexing.hlo import Instruction
from indexing.hlo.layout import linearize
from indexing.kernels.emitters.reduction.accumulators import Accumulators, Reducer, ThreadGroup, combine
from indexing.kernels.emitters.reduction.mapping import ceil_div
from indexing.kernels.emitters.reduction.match import arrays_of
from indexing.kernels.emitters.reduction.splits import Splits
from indexing.kernels.emitters.reduction.together import reduced_together, width_of_vectors
from indexing.kernels.emitters.rows.mapping import Keep, RowsPlan
from indexing.kernels.emitters.rows.match import NAME, OnlineSum, RowSpace
from indexing.kernels.emitters.rows.online import with_online_sums
from indexing.kernels.emitters.rows.row_cache import RowCache, row_cache_of
from indexing.kernels.emitters.rows.staged import StagedRows
from indexing.kernels.emitters.rows.weights import weights_of, width_of
from indexing.kernels.function_builder import FunctionBuilder
from indexing.kernels.hero import Output
from indexing.kernels.ir.nodes import Buffer, Kernel, Load
from indexing.kernels.ir.types import storage_type
from indexing.kernels.launch import (
    Part,
    built,
    inside_parts,
    loop_over,
    range_variable,
    store,
    thread_id,
)
from indexing.kernels.vectors import lanes
from indexing.ops.element_context import Index, Value
from indexing.ops.tuples import array_source


def build_rows(space: RowSpace, plan: RowsPlan) -> Kernel:
    """The kernel."""
    if plan.keep == Keep.ONLINE:
        space = with_online_sums(space)
    cache = row_cache_of(space, plan.keeps_elements)
    return built(NAME, space.first, space.parts, plan, lambda body: _Body(space, plan, cache, body).build())


class _Body:
    """Builds the entry."""

    def __init__(self, space: RowSpace, plan: RowsPlan, cache: RowCache, body: FunctionBuilder) -> None:
        """Declare the buffers of the elements that are kept."""
        self.space, self.plan, self.cache, self.body = space, plan, cache, body
        self.group = ThreadGroup(plan.part, plan.threads, plan.distance)
        self.buffers = {i: self._buffer(i) for i in cache.first}
        self.weights = {i: self._weight_buffer(i) for i in self._shared_weights()}
        self.staged = StagedRows(body, space, plan)
        self.online = {o.result: o for o in space.online}

    def _buffer(self, i: Instruction) -> str:
        plan, kind = self.plan, i.shape.element_type
        elements = plan.steps * plan.vector_width
        is_shared = plan.keep == Keep.SHARED
        sizes = (elements * plan.threads * plan.across,) if is_shared else (elements,)
        buffer = Buffer(self.body.fresh("kept"), kind, sizes, "shared" if is_shared else "local")
        return self.body.kernel.add_buffer(buffer)

    def _shared_weights(self) -> Sequence[Instruction]:
        if not self.plan.shares_weights:
            return ()
        return weights_of(self.space, self.plan.keeps_elements, self.plan.across)

    def _weight_buffer(self, i: Instruction) -> str:
        name, size = self.body.fresh("weights"), self.plan.dimensions.reduced
        return self.body.kernel.add_buffer(Buffer(name, i.shape.element_type, (size,), "shared"))

    def build(self) -> None:
        """Build the whole entry."""
        with self.body.within_subgraph(self.body.kernel.partition.epilogues[0]):
            if self.space.is_one_pass:
                self._one_pass()
                return
            self._load_weights()
            self.staged.load()
            for number, reductions in enumerate((*self.space.passes, ())):
                self._pass(number, reductions)
                if number == 0 and self.weights:
                    self.body.barrier()
            self._per_row()
            self.staged.finish()

    def _load_weights(self) -> None:
        """Load the weights of the block's rows to shared memory, by all threads of the block."""
        if not self.weights:
            return
        body, plan = self.body, self.plan
        width, threads = width_of(plan.vector_width), plan.block[0]
        vectors, first_row = plan.dimensions.reduced // width, plan.tile * plan.across
        with loop_over(body, ceil_div(vectors, threads), "step") as step:
            part = Part(range_variable(0) * threads + thread_id("th_x"), vectors)
            with inside_parts(body, (part,), (step,)) as (vector,), lanes(body, width) as lane:
                place = body.scope.simplify(vector * width + lane)
                index = tuple(map(body.scope.simplify, plan.dimensions.index(first_row, place)))
                for i, buffer in self.weights.items():
                    value = body.value(i, self._at(i, index))
                    body.store(buffer, (place,), body.stored(i.shape.element_type, value))

    def _one_pass(self) -> None:
        """Build all reductions in one pass; the first thread of a row, in the last of its blocks, then has the results."""
        body, plan = self.body, self.plan
        (reductions,) = self.space.passes
        self._row_reductions(0)
        accumulators = self._accumulate(0, reductions)
        combine(list(accumulators.values()), self.group, plan.threads)
        splits = Splits(body, plan.split_k, plan.tiles, plan.across, list(accumulators.values()))
        with splits.combined(self.group, plan.tile, plan.split, plan.slot):
            self._finish(accumulators)
            self._row_reductions(1)
            self._per_row()

    def _pass(self, number: int, reductions: Sequence[Instruction]) -> None:
        """Build a pass over all elements of the row, after which all threads of the row have the results of reductions."""
        self._row_reductions(number)
        if not reductions and not any(self.space.levels[o.instruction] == number for o in self.space.per_element):
            return
        accumulators = self._accumulate(number, reductions)
        combine(list(accumulators.values()), self.group, self.plan.threads, to_all=True)
        self._finish(accumulators)

    def _row_reductions(self, number: int) -> None:
        """Build the members that the threads of a row reduce together, once the results of earlier passes are known."""
        for reduce in self.space.row_reductions:
            if self.space.levels[reduce] == number:
                index = partial(self._index_of_row, self.space.places[reduce])
                width = width_of_vectors(reduce, self.plan.vector_width)
                values = reduced_together(self.body, self.group, reduce, width, self.plan.kept_parts, index)
                self.body.inject(reduce, None, values)

    def _accumulate(self, number: int, reductions: Sequence[Instruction]) -> dict[Instruction, Accumulators]:
        """Build the reductions of a thread over its elements, and the stores of outputs in this pass."""
        online, totals = self.online, self.space.online_totals
        by_reduction = {
            r: Accumulators(self.body, online[r].reducer if r in online else Reducer.of(r), 1)
            for r in reductions
            if r not in totals
        }
        outputs = [o for o in self.space.per_element if self.space.levels[o.instruction] == number]

        def element(index: Index, place: SymbolicExpr, is_first: Sequence[Value] | bool) -> None:
            self._load_kept(number, place)
            self._take_weights(number, index)
            for reduction, accumulators in by_reduction.items():
                values: Sequence[Value] = list(self._values(reduction, index))
                if reduction in online:
                    values = self.body.apply(online[reduction].form.element, values)
                accumulators.add(constant(0), values, is_first)
            self._store_kept(number, index, place)
            for output in outputs:
                self._write(output, index)

        self._each_element(number, element)
        return by_reduction

    def _finish(self, by_reduction: Mapping[Instruction, Accumulators]) -> None:
        """Build the results of reductions from the accumulators."""
        for reduction, accumulators in by_reduction.items():
            if reduction in self.online:
                self._finish_online(self.online[reduction], accumulators.values(constant(0)))
            else:
                self.body.inject(reduction, None, accumulators.finished(constant(0), self._initial(reduction)))

    def _initial(self, reduction: Instruction) -> list[Value]:
        return [self.body.value(o, ()) for o in reduction.operands[len(arrays_of(reduction)) :]]

    def _finish_online(self, online: OnlineSum, numbers: Sequence[Value]) -> None:
        """Build the result of the other reduction, then the online sum, from the value that its terms subtract."""
        body, shift = self.body, online.shift
        self._inject_reduced(online.result, numbers[0])
        with inside_parts(body, self.plan.kept_parts) as row:
            index = tuple(self.plan.index(row, constant(0), constant(0)))
            subtracted = body.value(shift, self._at(shift, index) if shift in self.space.places else ())
            body.assign_all([numbers[-1]], body.apply(online.form.total, [*numbers, subtracted]))
        self._inject_reduced(online.total, numbers[-1])

    def _inject_reduced(self, reduction: Instruction, reduced: Value) -> None:
        """Inject the result of a reduction, its reduced elements combined with the initial value."""
        (result,) = self.body.apply(reduction.computation_of("to_apply"), [*self._initial(reduction), reduced])
        self.body.inject(reduction, None, [self.body.let(reduced.element_type, result)])

    def _each_element(self, number: int, build: Callable[[Index, SymbolicExpr, Sequence[Value] | bool], None]) -> None:
        """Call `build` for each element of a thread with its index in the space, its number in the thread, and whether it is
        the first.
        """
        body, plan = self.body, self.plan

        def vector(row: Index, part: Part, step: SymbolicExpr) -> None:
            with (
                inside_parts(body, (part,), (step,)) as (group,),
                lanes(body, plan.vector_width) as lane,
                body.base_scope(),
            ):
                index = tuple(map(body.scope.simplify, plan.index(row, group, lane)))
                build(index, body.scope.simplify(step * plan.vector_width + lane), self._is_first(step, lane))

        steps, part, rest = plan.reduced_parts
        with inside_parts(body, plan.kept_parts) as row:
            injected = self._inject_per_row(number, row)
            with loop_over(body, steps, "step") as step:
                vector(row, part, step)
            if rest is not None:
                vector(row, rest, constant(steps))
            body.withdraw([*injected, *self.cache.first, *self.weights])

    def _is_first(self, step: SymbolicExpr, lane: SymbolicExpr) -> Sequence[Value] | bool:
        if any(self.body.range(counter).lower > 0 for counter in (step, lane)):
            return False
        return [v for counter in (step, lane) for v in self.body.within(counter, 0, 0)] or True

    def _index_of_row(self, place: IndexingMap, row: Index) -> Index:
        """The index at which a member is read that is the same for the row."""
        return self.body.mapped(place, tuple(self.plan.index(row, constant(0), constant(0)))).index

    def _at(self, instruction: Instruction, index: Index) -> Index:
        return self.body.mapped(self.space.places[instruction], index).index

    def _values(self, reduction: Instruction, index: Index) -> Iterator[Value]:
        """The elements of arrays that a reduction reduces at an index of the space."""
        at = self.body.mapped(self.space.reduced[reduction], index).index
        for source, leaf in (array_source(array, 0) for array in arrays_of(reduction)):
            yield self.body.value(source, at, leaf)

    # ------------------------------------------------------------ values per row

    def _inject_per_row(self, number: int, row: Index) -> list[Instruction]:
        """Compute and inject the per-row members that a pass needs for its elements."""
        space, body = self.space, self.body
        wanted = [o for i in self.cache.computed_in(number) for o in space.operands_of(i) if space.is_per_row(o)]
        order = {i: k for k, i in enumerate(space.first.computation.post_order())}
        index = tuple(self.plan.index(row, constant(0), constant(0)))
        values = []
        for i in sorted(set(wanted), key=order.__getitem__):
            if not i.is_constant and space.places[i].results:
                values.append((i, body.value(i, self._at(i, index))))
        for i, value in values:
            body.inject(i, None, [value])
        return [i for i, _ in values]

    def _per_row(self) -> None:
        """Build the outputs with one element per row, for the first thread of each row."""
        body, outputs = self.body, self.space.per_row
        if not outputs:
            return
        with inside_parts(body, self.plan.kept_parts, (), body.within(self.plan.part, 0, 0)) as row:
            index = tuple(self.plan.index(row, constant(0), constant(0)))
            for output in outputs:
                self._write(output, index)

    def _write(self, output: Output, index: Index) -> None:
        at = self.body.mapped(self.space.output_places[output.number], index).index
        value = self.body.value(output.instruction, at, output.leaf)
        if not self.staged.store(output, at, value):
            store(self.body, output, at, value)

    # ------------------------------------------------------------ kept elements

    def _cell(self, place: SymbolicExpr) -> Index:
        """The buffer index at which a thread keeps the element of that number."""
        if self.plan.keep == Keep.REGISTERS:
            return (place,)
        return (self.body.scope.simplify(place * self.plan.block[0] + thread_id("th_x")),)

    def _load_kept(self, number: int, place: SymbolicExpr) -> None:
        """Load the values that an earlier pass has kept of an element."""
        for i, first in self.cache.first.items():
            if first < number <= self.cache.last[i]:
                held = Load(storage_type(i.shape.element_type), self.buffers[i], self._cell(place))
                self.body.inject(i, None, [self.body.loaded(i.shape.element_type, held)])

    def _take_weights(self, number: int, index: Index) -> None:
        """Load the weights of an element that a pass needs from shared memory."""
        if not self.weights:
            return
        d = self.plan.dimensions
        place = self.body.scope.simplify(linearize([index[k] for k in d.gone], [d.sizes[k] for k in d.gone]))
        for i, buffer in self.weights.items():
            if number in self.cache.passes[i]:
                held = Load(storage_type(i.shape.element_type), buffer, (place,))
                self.body.inject(i, None, [self.body.loaded(i.shape.element_type, held)])

    def _store_kept(self, number: int, index: Index, place: SymbolicExpr) -> None:
        for i, first in self.cache.first.items():
            if first == number:
                value = self.body.value(i, self._at(i, index))
                self.body.store(self.buffers[i], self._cell(place), self.body.stored(i.shape.element_type, value))
