"""The kernel of a reduction."""

from __future__ import annotations

from collections.abc import Sequence

from indexing._core import SymbolicExpr, constant
from indexing.hlo import Instruction
from indexing.kernels.emitters.reduction.accumulators import Accumulators, Reducer, ThreadGroup, combine
from indexing.kernels.emitters.reduction.mapping import (
    ReductionPlan,
    operand_index,
    thread_mapping,
)
from indexing.kernels.emitters.reduction.match import NAME, arrays_of, staged_arrays
from indexing.kernels.emitters.reduction.splits import Splits
from indexing.kernels.epilogue import Heroes
from indexing.kernels.function_builder import FunctionBuilder
from indexing.kernels.ir.nodes import Buffer, Kernel, Load
from indexing.kernels.ir.types import storage_type
from indexing.kernels.launch import built, guarded, inside_parts, loop_over
from indexing.kernels.vectors import lanes
from indexing.ops.element_context import Index, Value


def build_reduction(match: Heroes, plan: ReductionPlan) -> Kernel:
    """The kernel."""
    return built(NAME, match.first, match.parts, plan, lambda body: _Body(match, plan, body).build())


class _Body:
    """Builds the entry: a thread's accumulation, the combination over its group, and the epilogue."""

    def __init__(self, match: Heroes, plan: ReductionPlan, body: FunctionBuilder) -> None:
        """Declare the accumulators."""
        self.match, self.plan, self.body = match, plan, body
        self.mapping = thread_mapping(plan)
        self.accumulators = [Accumulators(body, Reducer.of(hero), plan.columns) for hero in match.heroes]
        self.tiles = {
            array: self._tile(k, array) for k, array in enumerate(staged_arrays(match.heroes) if plan.staged else ())
        }
        self.splits = Splits(body, plan.split_k, plan.tiles, plan.across * plan.columns, self.accumulators)

    def _tile(self, number: int, array: Instruction) -> str:
        cells = self.plan.dimensions.reduced * self.plan.across
        return self.body.kernel.add_buffer(Buffer(f"tile{number}", array.shape.element_type, (cells,), "shared"))

    def build(self) -> None:
        """Build the whole entry."""
        w, plan = self.mapping, self.plan
        group = ThreadGroup(w.part, plan.threads, plan.distance)
        self._accumulate()
        if plan.staged:
            self._reduce_staged()
        combine(self.accumulators, group, plan.threads)
        with self.splits.combined(group, w.tile, w.split, w.slot):
            self._finish(self.body.within(w.part, 0, 0))

    def _accumulate(self) -> None:
        """Build a thread's loops over its elements; passes later split off the steps in which every thread has a vector."""
        body, (_, outer_count), (_, step_count) = self.body, *self.mapping.loops
        with inside_parts(body, self.mapping.kept) as kept, loop_over(body, outer_count, "outer") as outer:
            with (
                loop_over(body, step_count, "step") as step,
                inside_parts(body, self.mapping.reduced, (outer, step)) as reduced,
            ):
                self._vector(kept, reduced, (outer, step))
            if self.mapping.rest:
                with inside_parts(body, self.mapping.rest, (outer,)) as reduced:
                    self._vector(kept, reduced, (outer, constant(step_count)))

    def _vector(self, kept: Index, reduced: Index, loops: Index) -> None:
        """Build all lanes of a vector; of the partial vector at the end of a single row, those that exist."""
        d, body, width = self.plan.dimensions, self.body, self.mapping.width
        with lanes(body, width) as lane:
            if d.kind == "row" and d.fast % width:
                position = body.scope.simplify(reduced[-1] * width + lane)
                with guarded(body, body.within(position, 0, d.fast - 1)), body.base_scope():
                    self._element(kept, reduced, lane, loops)
            else:
                self._element(kept, reduced, lane, loops)

    def _element(self, kept: Index, reduced: Index, lane: SymbolicExpr, loops: Index) -> None:
        body = self.body
        index = tuple(map(body.scope.simplify, operand_index(self.mapping, kept, reduced, lane)))
        if self.plan.staged:
            for array, tile in self.tiles.items():
                value = body.stored(array.shape.element_type, body.read(array, index))
                body.store(tile, (self._cell(self.mapping.reduced_position(reduced, lane)),), value)
            self.match.build_side_outputs(body, index)
            return
        is_column = self.plan.columns > 1
        is_first = self._is_zero(loops if is_column else (*loops, lane))
        for hero, accumulators in zip(self.match.heroes, self.accumulators, strict=True):
            values = [body.read(array, index) for array in arrays_of(hero)]
            accumulators.add(lane if is_column else constant(0), values, is_first)
        self.match.build_side_outputs(body, index)

    def _cell(self, position: SymbolicExpr) -> SymbolicExpr:
        """The cell of a tile for an element of the thread's row."""
        return self.body.scope.simplify(position * self.plan.across + self.mapping.slot)

    def _reduce_staged(self) -> None:
        """Build a thread's loop over its row in shared memory: neighbouring threads read neighbouring elements."""
        body, length = self.body, self.plan.dimensions.reduced
        with inside_parts(body, self.mapping.kept) as kept:
            self._add_staged(kept, constant(0), True)
            with loop_over(body, length - 1, "step") as step:
                self._add_staged(kept, step + 1, False)

    def _add_staged(self, kept: Index, position: SymbolicExpr, is_first: bool) -> None:
        index = tuple(self.plan.dimensions.index(kept[0], position))
        for hero, accumulators in zip(self.match.heroes, self.accumulators, strict=True):
            values = [self._staged(array, index, position) for array in arrays_of(hero)]
            accumulators.add(constant(0), values, is_first)

    def _staged(self, array: Instruction, index: Index, position: SymbolicExpr) -> Value:
        if array not in self.tiles:
            return self.body.read(array, index)
        kind = array.shape.element_type
        return self.body.loaded(kind, Load(storage_type(kind), self.tiles[array], (self._cell(position),)))

    def _is_zero(self, counters: Index) -> Sequence[Value] | bool:
        """Whether all counters are 0, given as conditions if that isn't known statically."""
        ranges = [self.body.range(c) for c in counters]
        if any(r.lower > 0 for r in ranges):
            return False
        return [v for c in counters for v in self.body.within(c, 0, 0)] or True

    def _finish(self, conditions: Sequence[Value]) -> None:
        """Build the initial values, the epilogue and the stores, for the first thread of each row or column."""
        body = self.body
        with inside_parts(body, self.mapping.kept, (), conditions) as kept, lanes(body, self.plan.columns) as lane:
            index = tuple(map(body.scope.simplify, self._hero_index(kept, lane)))
            for hero, accumulators in zip(self.match.heroes, self.accumulators, strict=True):
                initial = [body.read(o, ()) for o in hero.operands[len(arrays_of(hero)) :]]
                body.inject(hero, index, accumulators.finished(lane, initial))
            self.match.build_after(body, index)

    def _hero_index(self, kept: Sequence[SymbolicExpr], lane: SymbolicExpr) -> Index:
        zeros = [constant(0)] * len(self.mapping.reduced)
        gone = set(self.match.first.ints("dimensions"))
        whole = operand_index(self.mapping, kept, zeros, lane)
        return tuple(e for d, e in enumerate(whole) if d not in gone)
