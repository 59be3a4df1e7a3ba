"""The scatter emitter: one thread an element of the updates; it folds the element into the operand's own buffer.

Updates of one element are kept apart in one of three ways: *unique* indices can't meet; runs of *sorted* equal indices
are folded by the thread of their first one; else each update is *atomic*. As in place, the operand must be a parameter
that the fusion reads nowhere else.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from indexing._core import IndexingMap, SymbolicExpr, compose
from indexing.emit.atomics import ATOMIC_SIZES, INT64_ATOMICS, reducer_opcode, update_atomically
from indexing.emit.elemental import FunctionWriter
from indexing.emit.hero import Output, outputs
from indexing.emit.kernel import Dialect, Dim3, Kernel
from indexing.emit.launch import (
    assembled,
    check_knob,
    guarded,
    landing,
    offset,
    position_in_grid,
    thread_map,
    unravelled,
    write_position,
)
from indexing.emit.types import c_type, decoded, encoded
from indexing.emit.unit import Unit
from indexing.errors import IndexingError
from indexing.fusion import input_to_output
from indexing.layout import major_to_minor
from indexing.ops.element import Index, Value
from indexing.partition import Epilogue, partition

if TYPE_CHECKING:
    from indexing.hlo import Computation, Instruction
    from indexing.ops.block import OperandIndexing

NAME = "scatter"
Meeting = Literal["unique", "sorted", "atomic"]


@dataclass(frozen=True, slots=True)
class ScatterPlan:
    """Launch dimensions, and how updates of one element are kept apart."""

    count: int
    block_size: int
    meeting: Meeting

    @property
    def grid(self) -> Dim3:
        """Blocks in one dimension."""
        return (-(-self.count // self.block_size), 1, 1)

    @property
    def block(self) -> Dim3:
        """Threads of a block in one dimension."""
        return (self.block_size, 1, 1)


def matches(computation: Computation) -> bool:
    """Whether the outputs are those of one scatter that can be written in place."""
    return match(computation) is not None


def match(computation: Computation) -> tuple[Instruction, tuple[Output, ...]] | None:
    """The scatter and its outputs; None where it can't be proved to be safe in place."""
    found = outputs(computation)
    hero = found[0].instruction
    if hero.opcode != "scatter" or any(o.instruction is not hero for o in found):
        return None
    count = len(hero.operands) // 2
    if [o.leaf for o in found] != list(range(count)) or not hero.operands[count + 1].shape.element_count:
        return None
    if not all(_is_read_by(hero, o) and _same_memory(o, f) for o, f in zip(hero.operands[:count], found, strict=True)):
        return None
    return (hero, found) if _meeting(hero) is not None and _lands_exactly(hero) else None


def _is_read_by(hero: Instruction, operand: Instruction) -> bool:
    is_once = sum(o is operand for o in hero.operands) == 1
    return operand.opcode == "parameter" and operand.users == (hero,) and is_once


def _same_memory(operand: Instruction, output: Output) -> bool:
    return major_to_minor(operand.shape) == major_to_minor(output.shape)


def _lands_exactly(hero: Instruction) -> bool:
    found = [_landing_map(hero, k) for k in range(len(hero.operands) // 2)]
    return all(m is not None and m.exactness == "exact" for m in found)


def _landing_map(hero: Instruction, k: int) -> OperandIndexing | None:
    """Where update `k` ends up in output `k`; None where it has no part in it."""
    maps = input_to_output(hero, len(hero.operands) // 2 + 1 + k)[k]
    return maps[0] if len(maps) == 1 else None


def _meeting(hero: Instruction) -> Meeting | None:
    """The cheapest way that keeps updates of one element apart; None where there is none."""
    if hero.flag("unique_indices"):
        return "unique"
    if hero.flag("indices_are_sorted") and _is_one_row_of_points(hero):
        return "sorted"
    count = len(hero.operands) // 2
    size = c_type(hero.operands[0].shape.element_type).size
    is_store = reducer_opcode(hero.computation_of("to_apply")) == "second"
    return "atomic" if count == 1 and (size in ATOMIC_SIZES or is_store) else None


def _is_one_row_of_points(hero: Instruction) -> bool:
    """Windows with different indices don't overlap, and the indices are one row of vectors."""
    inserted = set(hero.ints("inserted_window_dims"))
    if not set(hero.ints("scatter_dims_to_operand_dims")) <= inserted or hero.ints("input_batching_dims"):
        return False
    return len(_batch_dims(hero)) == 1


def _batch_dims(hero: Instruction) -> list[int]:
    """The dimensions of the updates that count index vectors."""
    rank = hero.operands[len(hero.operands) // 2 + 1].shape.rank
    return [d for d in range(rank) if d not in hero.ints("update_window_dims")]


def plan(computation: Computation, *, block_size: int = 128, atomic: int = 0) -> ScatterPlan:
    """Launch dimensions. Knobs: `block_size`, 1 to 1024 threads; `atomic` 1: atomics although indices are sorted."""
    check_knob("block_size", block_size, 1, 1024)
    check_knob("atomic", atomic, 0, 1)
    found = match(computation)
    if found is None:
        raise IndexingError(f"{computation.name} is no scatter that is safe in place; the loop emitter takes it")
    hero, _ = found
    meeting = _meeting(hero)
    assert meeting is not None
    if atomic and meeting == "sorted" and len(hero.operands) == 3:
        meeting = "atomic"
    return ScatterPlan(hero.operands[len(hero.operands) // 2 + 1].shape.element_count, block_size, meeting)


def _to_update(hero: Instruction, plan: ScatterPlan) -> IndexingMap:
    """From threads to the index of the updates, in the order in which memory holds them."""
    shape = hero.operands[len(hero.operands) // 2 + 1].shape
    position = position_in_grid(plan.block_size)
    index = unravelled(position, shape.dimensions, major_to_minor(shape))
    is_whole = plan.count % plan.block_size == 0
    return thread_map(plan.grid, plan.block, index, (), [] if is_whole else [(position, (0, plan.count - 1))])


def kernel(computation: Computation, plan: ScatterPlan, dialect: Dialect) -> Kernel:
    """The kernel: source, arguments, launch dimensions and thread maps."""
    found = match(computation)
    assert found is not None
    hero, after = found
    unit = Unit(dialect, computation, partition(computation, epilogues=[Epilogue.from_paths([(hero, hero)])]))
    body = FunctionWriter(unit)
    to_update = _to_update(hero, plan)
    writing = _Writing(hero, plan, body)
    updates = hero.operands[writing.count + 1 :]
    sizes, order = updates[0].shape.dimensions, major_to_minor(updates[0].shape)
    place = unravelled(write_position(body, plan.count, plan.block_size), sizes, order)
    writing.write(tuple(map(body.scope.simplify, place)))
    written = [compose(to_update, m.map).simplify() for m in writing.landings]
    read = [[to_update] if p in updates else [] for p in computation.parameters]
    needs_wide = plan.meeting == "atomic" and c_type(hero.operands[0].shape.element_type).size == 8
    extra = [INT64_ATOMICS] if dialect == "opencl" and needs_wide else []
    in_place = {o.number: hero.operands[o.leaf].parameter_number for o in after}
    launch = (plan.grid, plan.block)
    return assembled(unit, NAME, hero, body, after, launch, 0, (written, read), extra, in_place)


class _Writing:
    """Writes the kernel's body."""

    def __init__(self, hero: Instruction, plan: ScatterPlan, body: FunctionWriter) -> None:
        self.hero = hero
        self.plan = plan
        self.body = body
        self.count = len(hero.operands) // 2
        self.computation = hero.computation_of("to_apply")
        found = [_landing_map(hero, k) for k in range(self.count)]
        self.landings = [m for m in found if m is not None]

    def write(self, index: Index) -> None:
        """Fold the update at `index`, or the run of updates that starts there, into the outputs."""
        if self.plan.meeting == "sorted":
            with self._first_of_run(index):
                self._fold(index)
        else:
            self._fold(index)

    def _fold(self, index: Index) -> None:
        at, conditions = landing(self.body, self.landings[0], index)
        with guarded(self.body, conditions):
            at = self.body.inside(at, self.hero.operands[0].shape.dimensions)
            place = offset(self.body, self.hero.operands[0].shape, at)
            if self.plan.meeting == "atomic":
                update = self.body.read(self.hero.operands[self.count + 1], index)
                update_atomically(self.body, "o0", place, self.computation, update)
                return
            kinds = [o.shape.element_type for o in self.hero.operands[: self.count]]
            totals = [self.body.variable(kind, decoded(kind, f"o{k}[{place}]")) for k, kind in enumerate(kinds)]
            self._add(totals, index)
            if self.plan.meeting == "sorted":
                self._add_the_rest_of_the_run(totals, index)
            for k, (kind, total) in enumerate(zip(kinds, totals, strict=True)):
                self.body.writer.line(f"o{k}[{place}] = {encoded(kind, total.text)};")

    def _add(self, totals: Sequence[Value], index: Index) -> None:
        updates = [self.body.read(o, index) for o in self.hero.operands[self.count + 1 :]]
        results = self.body.apply(self.computation, [*totals, *updates])
        kept = [self.body.let(r.element_type, r.text, rounds=False) for r in results]
        for total, value in zip(totals, kept, strict=True):
            self.body.assign(total, value.text)

    # ------------------------------------------------------------ runs of equal indices

    def _vector(self, index: Index) -> list[str]:
        """C texts of the components of the index vector of an update."""
        found = []
        for value in self.landings[0].runtime_values:
            place = self.body.mapped(value.map, index).index
            found.append(self.body.read(value.instruction, place, value.output).text)
        return found

    def _moved(self, index: Index, number: SymbolicExpr) -> Index:
        (d,) = _batch_dims(self.hero)
        return tuple(number if k == d else e for k, e in enumerate(index))

    @contextmanager
    def _first_of_run(self, index: Index) -> Iterator[None]:
        """What is written inside runs for updates whose predecessor has another index."""
        (d,) = _batch_dims(self.hero)
        number = self.body.integer(index[d])
        is_first = self.body.variable("pred", f"{number} == 0")
        with self.body.when([f"!{is_first}"]):
            before = self.body.inside((index[d] - 1,), (self.hero.operands[self.count + 1].shape.dimensions[d],))[0]
            pairs = zip(self._vector(self._moved(index, before)), self._vector(index), strict=True)
            differs = " || ".join(f"{a} != {b}" for a, b in pairs)
            self.body.assign(is_first, differs or "false")
        with self.body.when([is_first.text]):
            yield

    def _add_the_rest_of_the_run(self, totals: Sequence[Value], index: Index) -> None:
        (d,) = _batch_dims(self.hero)
        count = self.hero.operands[self.count + 1].shape.dimensions[d]
        if count == 1:
            return
        own = self._vector(index)
        with self.body.loop(count - 1) as step:
            following = index[d] + step + 1
            self.body.writer.line(f"if ({self.body.integer(following)} >= {count}) break;")
            (number,) = self.body.inside((following,), (count,))
            moved = self._moved(index, number)
            differs = " || ".join(f"{a} != {b}" for a, b in zip(self._vector(moved), own, strict=True))
            if differs:
                self.body.writer.line(f"if ({differs}) break;")
            self._add(totals, moved)
