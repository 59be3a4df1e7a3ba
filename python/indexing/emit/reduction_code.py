"""The body of a reduction's kernel, and the maps of its threads."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from math import prod
from typing import TYPE_CHECKING

from indexing._core import IndexingMap, SymbolicExpr, compose, constant
from indexing.emit.combine import Accumulators, Team, combine_in_block, shared_accesses
from indexing.emit.launch import bound, each, placed, range_variable, thread_map
from indexing.emit.reduction_plan import LANE, ReductionPlan, operand_index, walk
from indexing.emit.splits import Splits
from indexing.emit.vectors import VectorTypes, lanes
from indexing.ops.block import scalar

if TYPE_CHECKING:
    from indexing.emit.elemental import FunctionWriter
    from indexing.emit.epilogue import Heroes
    from indexing.emit.kernel import SharedAccess
    from indexing.hlo import Instruction
    from indexing.ops.element import Index


SMALL = 64  # instructions
UNROLLED = 4  # loads of a thread that are on their way at a time


def arrays_of(reduce: Instruction) -> tuple[Instruction, ...]:
    """The arrays that a reduction reduces; its other operands are the initial values."""
    return reduce.operands[: len(reduce.operands) // 2]


class Writing:
    """Writes the kernel's body."""

    def __init__(self, found: Heroes, plan: ReductionPlan, body: FunctionWriter, types: VectorTypes) -> None:
        """Nothing is written yet."""
        self.found, self.plan, self.body, self.types = found, plan, body, types
        self.walk = walk(plan)
        self.accumulators = [Accumulators(hero, plan.columns) for hero in found.heroes]
        self.splits = Splits(plan.splits, plan.tiles, plan.across * plan.columns, self.accumulators)

    # ------------------------------------------------------------ maps

    def to_operand(self) -> IndexingMap:
        """From threads to the operands' index."""
        d, w, lane = self.plan.dimensions, self.walk, range_variable(LANE)
        kept, reduced = ([p.expression for p in parts] for parts in (w.kept, w.reduced))
        bounds = [bound(p) for p in (*w.kept, *w.reduced)]
        if d.kind == "row" and d.fast % w.width:
            bounds.append((w.reduced_position(tuple(reduced), lane), (0, d.fast - 1)))
        ranges = [*w.loops, ("vector_index", w.width)]
        return thread_map(self.plan.grid, self.plan.block, operand_index(w, kept, reduced, lane), ranges, bounds)

    def to_hero(self) -> IndexingMap:
        """From the first thread of each row or column to the heroes' index.

        Of the blocks that share a tile, the one that comes last writes; the map names the last in number for it.
        """
        w, lane = self.walk, range_variable(LANE)
        kept = [p.expression for p in w.kept]
        last = (w.split, (self.plan.splits - 1, self.plan.splits - 1))
        bounds = [*map(bound, w.kept), (w.part, (0, 0)), *([last] if self.plan.splits > 1 else [])]
        ranges = [("outer", 1), ("step", 1), ("vector_index", self.plan.columns)]
        return thread_map(self.plan.grid, self.plan.block, self._hero_index(kept, lane), ranges, bounds)

    def _hero_index(self, kept: Sequence[SymbolicExpr], lane: SymbolicExpr) -> Index:
        zeros = [constant(0)] * len(self.walk.reduced)
        gone = set(self.found.first.ints("dimensions"))
        whole = operand_index(self.walk, kept, zeros, lane)
        return tuple(e for d, e in enumerate(whole) if d not in gone)

    def output_maps(self) -> list[IndexingMap]:
        """Of all outputs, in order."""
        return self.found.output_maps(self.to_hero(), self.to_operand())

    def input_maps(self) -> list[list[IndexingMap]]:
        """Of the parameters behind the reduced arrays and initial values, and those that outputs read beside the heroes."""
        to_hero, to_operand = self.to_hero(), self.to_operand()
        at_end = compose(to_hero, scalar(self.found.first.shape.leaves[0].dimensions).map)
        heroes = self.found.heroes
        starts = [(a, 0, to_operand) for hero in heroes for a in arrays_of(hero)]
        starts += [(i, 0, at_end) for hero in heroes for i in hero.operands[len(arrays_of(hero)) :]]
        return self.found.input_maps(self.body.unit.partition, starts, self.output_maps())

    def shared_accesses(self) -> tuple[SharedAccess, ...]:
        """Of the accumulators, as each block combines them; what the last block of a tile does besides is left out."""
        launch = (self.plan.grid, self.plan.block)
        team = self._team(0)
        found = (shared_accesses(a, self.body, self.walk.part, team, launch) for a in self.accumulators)
        return tuple(chain.from_iterable(found))

    def _team(self, declared_at: int) -> Team:
        distance = 1 if self.plan.dimensions.kind == "row" else self.plan.across
        part = self.body.integer(self.walk.part)
        return Team(part, self.plan.threads, distance, prod(self.plan.block), declared_at)

    # ------------------------------------------------------------ code

    def write(self) -> int:
        """The body; returns the bytes of shared memory that it declares."""
        w, body, threads = self.walk, self.body, self.plan.threads
        team = self._team(len(body.writer.lines))
        for accumulators in self.accumulators:
            accumulators.declare(body)
        self._accumulate()
        for accumulators in self.accumulators:
            combine_in_block(body, accumulators, team, threads)
        with self.splits.combined(body, team, w.tile, w.split, w.slot):
            self._finish([f"{team.part} == 0"] if threads > 1 else [])
        return sum(a.shared_bytes for a in self.accumulators) + (4 if self.plan.splits > 1 else 0)

    def _accumulate(self) -> None:
        """The steps in which every thread has a vector, without a branch; then those in which some have none."""
        body, (_, outer_count), (_, step_count) = self.body, *self.walk.loops
        whole = self.walk.whole_steps
        is_short = len(body.unit.computation.post_order()) <= SMALL  # it may be written twice
        parts = [(0, whole), (whole, step_count - whole)] if is_short else [(0, step_count)]
        with placed(body, self.walk.kept) as kept, each(body, outer_count) as outer:
            for first, count in parts:
                if count:
                    if is_short and count >= UNROLLED:
                        body.writer.line(f"#pragma unroll {UNROLLED}")
                    with each(body, count) as step:
                        self._step(kept, outer, step + first)

    def _step(self, kept: Index, outer: SymbolicExpr, step: SymbolicExpr) -> None:
        with placed(self.body, self.walk.reduced, (outer, step)) as reduced:
            self._vector(kept, reduced, (outer, step))

    def _vector(self, kept: Index, reduced: Index, loops: Index) -> None:
        """All lanes of a vector; of the last, partial one of a single row each element by itself."""
        d, body, width = self.plan.dimensions, self.body, self.walk.width
        rest = d.fast % width if d.kind == "row" else 0
        full = d.fast // width
        if not rest or body.range(reduced[-1]).upper < full:
            with lanes(body, self.types) as lane:
                self._element(kept, reduced, lane, loops)
            return
        outer, group = reduced
        with body.when([f"{body.integer(group)} < {full}"]):
            inside = (outer, *body.inside((group,), (full,)))
            with lanes(body, self.types) as lane:
                self._element(kept, inside, lane, loops)
        with body.otherwise(), body.loop(rest) as lane:
            self._element(kept, (outer, constant(full)), lane, loops)

    def _element(self, kept: Index, reduced: Index, lane: SymbolicExpr, loops: Index) -> None:
        body = self.body
        index = tuple(map(body.scope.simplify, operand_index(self.walk, kept, reduced, lane)))
        is_first = self._is_zero(loops if self.plan.columns > 1 else (*loops, lane))
        for hero, accumulators in zip(self.found.heroes, self.accumulators, strict=True):
            accumulators.at(body, lane)
            accumulators.add(body, [body.read(array, index) for array in arrays_of(hero)], is_first)
        self.found.write_side(body, index)

    def _is_zero(self, counters: Index) -> str | bool:
        """Whether all are 0, as a C condition where that isn't known."""
        ranges = [self.body.range(c) for c in counters]
        if any(r.lower > 0 for r in ranges):
            return False
        undecided = [c for c, r in zip(counters, ranges, strict=True) if r.upper > 0]
        return " && ".join(f"{self.body.integer(c)} == 0" for c in undecided) or True

    def _finish(self, conditions: Sequence[str]) -> None:
        """The initial values, the epilogue and the stores, by the first thread of each row or column."""
        body = self.body
        with placed(body, self.walk.kept, (), conditions) as kept:
            if self.plan.columns == 1:
                self._result(kept, constant(0))
                return
            with lanes(body, self.types) as lane:
                self._result(kept, lane)

    def _result(self, kept: Index, lane: SymbolicExpr) -> None:
        body = self.body
        index = tuple(map(body.scope.simplify, self._hero_index(kept, lane)))
        for hero, accumulators in zip(self.found.heroes, self.accumulators, strict=True):
            accumulators.at(body, lane)
            initial = [body.read(o, ()) for o in hero.operands[len(arrays_of(hero)) :]]
            body.inject(hero, index, accumulators.finished(body, initial))
        self.found.write_after(body, index)
