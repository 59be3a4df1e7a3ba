"""The reduction emitter: threads reduce strided parts of a row or of a column, then combine them in the block.

A *row* reduction reduces the fastest dimension: a power of two of neighbouring threads serves one row, and one block
several rows where these are short. A *column* reduction keeps the fastest dimension: neighbouring threads serve
neighbouring columns, and the rows of a block of threads are combined through shared memory; where there are few columns,
the block is as narrow as they are. The initial value enters once, at the end.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import TYPE_CHECKING, Literal

from indexing._core import IndexingMap, SymbolicExpr, compose, constant
from indexing.emit.combine import Accumulators, combine_in_block, shared_accesses, shared_bytes
from indexing.emit.hero import Output, find_hero, outputs
from indexing.emit.kernel import MAX_THREADS_PER_BLOCK, Dialect, Dim3, Kernel, SharedAccess
from indexing.emit.launch import (
    Bounds,
    assembled,
    each,
    entry_writer,
    guarded,
    range_variable,
    same_memory,
    store,
    thread_id,
    thread_index,
    thread_map,
)
from indexing.emit.reads import reads_behind
from indexing.emit.unit import Unit
from indexing.errors import IndexingError, InvalidMap
from indexing.layout import delinearize, major_to_minor
from indexing.ops.block import scalar
from indexing.partition import Epilogue, partition

if TYPE_CHECKING:
    from indexing.emit.elemental import FunctionWriter
    from indexing.hlo import Computation, Instruction
    from indexing.ops.element import Index

NAME = "reduction"
COLUMNS = 32  # neighbouring columns of one block
ROW_THREADS = 256
MIN_REDUCED = 4  # elements; fewer are better reduced by one thread


@dataclass(frozen=True, slots=True)
class Dimensions:
    """The operand's dimensions, slowest first, those of size 1 left out, split into kept and reduced ones.

    In a row reduction `fast` are the reduced dimensions that end the order, in a column reduction the kept ones.
    """

    kind: Literal["row", "column"]
    kept: tuple[int, ...]
    reduced: tuple[int, ...]
    fast: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class ReductionPlan:
    """Knobs and launch dimensions.

    `threads` reduce one row (a power of two) or one column; `across` rows (or columns) share a block.
    """

    dimensions: Dimensions
    threads: int
    across: int
    blocks: int

    @property
    def grid(self) -> Dim3:
        """Blocks in one dimension."""
        return (self.blocks, 1, 1)

    @property
    def block(self) -> Dim3:
        """Threads of a block in one dimension."""
        return (self.threads * self.across, 1, 1)

    @property
    def distance(self) -> int:
        """From one thread of a row or column to the next."""
        return 1 if self.dimensions.kind == "row" else self.across


@dataclass(frozen=True, slots=True)
class Match:
    """The reductions of a fusion, all over one space, the outputs after them, and those at the operands' index."""

    heroes: tuple[Instruction, ...]
    after: tuple[Output, ...]
    side: tuple[Output, ...]
    epilogue: Epilogue


def matches(computation: Computation) -> bool:
    """Whether the fusion's outputs follow reductions over one space."""
    return match(computation) is not None


def match(computation: Computation) -> Match | None:
    """The heroes: every output follows a reduction of one space, or has as many elements as that space."""
    after, side = [], []
    paths: list[tuple[Instruction, Instruction]] = []
    for output in outputs(computation):
        hero = find_hero(output.instruction, _is_hero)
        if hero is None:
            side.append(output)
        else:
            after.append(output)
            paths.append((hero, output.instruction))
    heroes = list(dict.fromkeys(hero for hero, _ in paths))
    if not heroes or len({_space(hero) for hero in heroes}) != 1:
        return None
    first = heroes[0]
    if any(o.shape.element_count != first.operands[0].shape.element_count for o in side):
        return None
    try:
        epilogue = Epilogue.from_paths(paths)
    except InvalidMap:  # some output reads a hero at two places
        return None
    return Match(tuple(heroes), tuple(after), tuple(side), epilogue)


def _is_hero(instruction: Instruction) -> bool:
    if instruction.opcode != "reduce":
        return False
    sizes = instruction.operands[0].shape.dimensions
    layouts = {major_to_minor(o.shape) for o in arrays_of(instruction)}
    return (
        len(layouts) == 1 and 0 not in sizes and prod(sizes[d] for d in instruction.ints("dimensions")) >= MIN_REDUCED
    )


def arrays_of(reduce: Instruction) -> tuple[Instruction, ...]:
    """The arrays that a reduction reduces; its other operands are the initial values."""
    return reduce.operands[: len(reduce.operands) // 2]


def _space(reduce: Instruction) -> tuple[object, ...]:
    shape = reduce.operands[0].shape
    return shape.dimensions, major_to_minor(shape), tuple(sorted(reduce.ints("dimensions")))


def _dimensions(reduce: Instruction) -> Dimensions:
    shape = reduce.operands[0].shape
    order = [d for d in major_to_minor(shape) if shape.dimensions[d] != 1]
    gone = set(reduce.ints("dimensions"))
    kept = tuple(d for d in order if d not in gone)
    reduced = tuple(d for d in order if d in gone)
    is_row = order[-1] in gone
    fast: list[int] = []
    for d in reversed(order):
        if (d in gone) != is_row:
            break
        fast.insert(0, d)
    return Dimensions("row" if is_row else "column", kept, reduced, tuple(fast))


def plan(computation: Computation, *, threads: int | None = None) -> ReductionPlan:
    """Launch dimensions.

    Knob: `threads`, a power of two up to 1024, at most as many as elements are reduced along the fastest reduced
    dimensions (row) or altogether (column): the threads that reduce one row, or one column.
    """
    found = match(computation)
    if found is None:
        raise IndexingError(f"{computation.name} has no reduction that decides its layout; the loop emitter takes it")
    sizes = found.heroes[0].operands[0].shape.dimensions
    dimensions = _dimensions(found.heroes[0])
    kept, reduced, fast = (prod(sizes[d] for d in g) for g in (dimensions.kept, dimensions.reduced, dimensions.fast))
    if dimensions.kind == "row":
        most = min(_power_of_two(fast), MAX_THREADS_PER_BLOCK)
        chosen = _chosen(threads, most, min(most, ROW_THREADS if kept > 64 else MAX_THREADS_PER_BLOCK))
        across = min(max(ROW_THREADS // chosen, 1), _power_of_two(kept))
        return ReductionPlan(dimensions, chosen, across, -(-kept // across))
    across = min(COLUMNS, fast)
    most = min(_power_of_two(reduced), _power_of_two(MAX_THREADS_PER_BLOCK // across))
    chosen = _chosen(threads, most, min(most, 32 if across >= COLUMNS else most))
    return ReductionPlan(dimensions, chosen, across, kept // fast * -(-fast // across))


def _power_of_two(limit: int) -> int:
    """The largest power of two up to `limit`."""
    return 1 << (max(limit, 1).bit_length() - 1)


def _chosen(threads: int | None, most: int, default: int) -> int:
    if threads is None:
        return default
    if threads < 1 or threads & (threads - 1) or threads > most:
        raise IndexingError(f"threads is a power of two up to {most} here; got {threads}")
    return threads


@dataclass(frozen=True, slots=True)
class _Walk:
    """How a block's threads walk the space; `part` is a thread's number among those of its row or column."""

    ranges: tuple[tuple[str, int], ...]
    kept: SymbolicExpr
    reduced: SymbolicExpr
    part: SymbolicExpr
    kept_bounds: tuple[tuple[SymbolicExpr, Bounds], ...]
    step_bounds: tuple[tuple[SymbolicExpr, Bounds], ...]


def _walk(plan: ReductionPlan, sizes: Sequence[int]) -> _Walk:
    kept, reduced, fast = (
        prod(sizes[d] for d in g) for g in (plan.dimensions.kept, plan.dimensions.reduced, plan.dimensions.fast)
    )
    th_x, bl_x = thread_id("th_x"), thread_id("bl_x")
    outer, step = range_variable(0), range_variable(1)
    if plan.dimensions.kind == "row":
        part, row = th_x % plan.threads, bl_x * plan.across + th_x // plan.threads
        steps, position = -(-fast // plan.threads), step * plan.threads + part
        kept_bounds = () if kept % plan.across == 0 else ((row, (0, kept - 1)),)
        step_bounds = () if fast % plan.threads == 0 else ((position, (0, fast - 1)),)
        ranges = (("outer", reduced // fast), ("step", steps))
        return _Walk(ranges, row, outer * fast + position, part, kept_bounds, step_bounds)
    part, lane = th_x // plan.across, th_x % plan.across
    tiles = -(-fast // plan.across)
    column = bl_x % tiles * plan.across + lane
    steps, position = -(-reduced // plan.threads), step * plan.threads + part
    kept_bounds = () if fast % plan.across == 0 else ((column, (0, fast - 1)),)
    step_bounds = () if reduced % plan.threads == 0 else ((position, (0, reduced - 1)),)
    return _Walk(
        (("outer", 1), ("step", steps)), bl_x // tiles * fast + column, position, part, kept_bounds, step_bounds
    )


class _Writing:
    """Writes the kernel's body."""

    def __init__(self, found: Match, plan: ReductionPlan, body: FunctionWriter) -> None:
        self.found = found
        self.plan = plan
        self.body = body
        self.operand = found.heroes[0].operands[0].shape
        self.walk = _walk(plan, self.operand.dimensions)
        self.accumulators = [Accumulators(hero) for hero in found.heroes]

    # ------------------------------------------------------------ maps

    def to_operand(self) -> IndexingMap:
        """From threads to the operands' index."""
        sizes, d = self.operand.dimensions, self.plan.dimensions
        index = [constant(0)] * len(sizes)
        for group, position in ((d.kept, self.walk.kept), (d.reduced, self.walk.reduced)):
            for dimension, part in zip(group, delinearize(position, [sizes[g] for g in group]), strict=True):
                index[dimension] = part
        bounds = [*self.walk.kept_bounds, *self.walk.step_bounds]
        return thread_map(self.plan.grid, self.plan.block, index, self.walk.ranges, bounds)

    def to_hero(self) -> IndexingMap:
        """From the first thread of each row or column to the heroes' index."""
        sizes, d = self.operand.dimensions, self.plan.dimensions
        parts = dict(zip(d.kept, delinearize(self.walk.kept, [sizes[g] for g in d.kept]), strict=True))
        gone = set(self.found.heroes[0].ints("dimensions"))
        index = [parts.get(k, constant(0)) for k in range(len(sizes)) if k not in gone]
        bounds = [*self.walk.kept_bounds, (self.walk.part, (0, 0))]
        return thread_map(self.plan.grid, self.plan.block, index, (), bounds)

    def output_maps(self) -> list[IndexingMap]:
        """Of all outputs, in order."""
        to_hero, to_operand = self.to_hero(), self.to_operand()
        by_number = {
            o.number: compose(to_hero, m).simplify()
            for o, m in zip(self.found.after, self.found.epilogue.root_indexing, strict=True)
        }
        for o in self.found.side:
            by_number[o.number] = compose(to_operand, same_memory(self.operand, o.shape)).simplify()
        return [by_number[k] for k in sorted(by_number)]

    def input_maps(self, computation: Computation) -> list[list[IndexingMap]]:
        """Of the parameters behind the reduced arrays and initial values, and those that outputs read beside the heroes."""
        to_hero, to_operand = self.to_hero(), self.to_operand()
        at_end = compose(to_hero, scalar(self.found.heroes[0].shape.leaves[0].dimensions).map)
        by_number = sorted((*self.found.after, *self.found.side), key=lambda o: o.number)
        starts = [(a, 0, to_operand) for hero in self.found.heroes for a in arrays_of(hero)]
        starts += [(i, 0, at_end) for hero in self.found.heroes for i in hero.operands if i not in arrays_of(hero)]
        starts += [(o.instruction, o.leaf, m) for o, m in zip(by_number, self.output_maps(), strict=True)]
        return reads_behind(computation, starts, self.found.heroes)

    def shared_accesses(self) -> tuple[SharedAccess, ...]:
        """Of the accumulators, as the block combines them."""
        plan, part = self.plan, self.walk.part
        launch = (plan.grid, plan.block)
        return tuple(
            access
            for a in self.accumulators
            for access in shared_accesses(a, self.body, part, plan.threads, plan.distance, launch)
        )

    # ------------------------------------------------------------ code

    def write(self) -> int:
        """The body; returns the bytes of shared memory that it declares."""
        declared_at = len(self.body.writer.lines)
        for accumulators in self.accumulators:
            accumulators.declare(self.body)
        self._accumulate()
        threads, block, distance = self.plan.threads, prod(self.plan.block), self.plan.distance
        part = self._text(self.walk.part)
        for accumulators in self.accumulators:
            combine_in_block(self.body, accumulators, part, threads, distance, block, declared_at)
        self._finish()
        return sum(shared_bytes(a, self.body, threads, distance, block) for a in self.accumulators)

    def _text(self, expression: SymbolicExpr, ranges: Index = ()) -> str:
        return self.body.integer(expression.replace_variables([*thread_index(), *ranges]))

    def _accumulate(self) -> None:
        to_operand = self.to_operand()
        (_, outer_count), (_, step_count) = self.walk.ranges
        with each(self.body, outer_count) as outer, each(self.body, step_count) as step:
            mapped = self.body.mapped(to_operand, thread_index(), (outer, step))
            with guarded(self.body, mapped.conditions):
                index = self.body.inside(mapped.index, self.operand.dimensions)
                is_first = f"{self.body.integer(outer)} == 0 && {self.body.integer(step)} == 0"
                for hero, accumulators in zip(self.found.heroes, self.accumulators, strict=True):
                    values = [self.body.read(array, index) for array in arrays_of(hero)]
                    accumulators.add(self.body, values, is_first)
                for output in self.found.side:
                    at = self.body.mapped(same_memory(self.operand, output.shape), index).index
                    store(self.body, output, at, self.body.read(output.instruction, at, output.leaf))

    def _finish(self) -> None:
        """The initial values, the epilogue and the stores, by the first thread of each row or column."""
        mapped = self.body.mapped(self.to_hero(), thread_index())
        with guarded(self.body, mapped.conditions):
            sizes = self.found.epilogue.index_sizes
            index = self.body.inside(mapped.index, sizes)
            for hero, accumulators in zip(self.found.heroes, self.accumulators, strict=True):
                initial = [self.body.read(o, ()) for o in hero.operands[len(arrays_of(hero)) :]]
                self.body.inject(hero, index, accumulators.finished(self.body, initial))
            for output, m in zip(self.found.after, self.found.epilogue.root_indexing, strict=True):
                at = self.body.mapped(m, index).index
                with self.body.within(self.body.unit.partition.epilogues[0]):
                    value = self.body.value(output.instruction, at, output.leaf)
                store(self.body, output, at, value)


def kernel(computation: Computation, plan: ReductionPlan, dialect: Dialect) -> Kernel:
    """The kernel: source, arguments, launch dimensions and thread maps."""
    found = match(computation)
    assert found is not None
    parts = partition(computation, [o.instruction for o in found.side], epilogues=[found.epilogue])
    unit = Unit(dialect, computation, parts)
    body = entry_writer(unit, plan.grid, plan.block)
    writing = _Writing(found, plan, body)
    shared = writing.write()
    maps = (writing.output_maps(), writing.input_maps(computation))
    launch = (plan.grid, plan.block)
    made = assembled(unit, NAME, found.heroes[0], body, outputs(computation), launch, shared, maps)
    return replace(made, shared_accesses=writing.shared_accesses())
