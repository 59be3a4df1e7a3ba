"""The scatter emitter: one thread an element of the updates; it folds the element into the operand's own buffer.

Updates of one element are kept apart in one of three ways: *unique* indices can't meet; runs of *sorted* equal indices
are folded by the thread of their first one; else each update is *atomic*. Long runs are cut into segments, which as many
threads fold side by side, and join by one atomic update each, where the device has one.

As in place, the operand must be a parameter that the fusion reads nowhere else.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from indexing._core import SymbolicExpr, compose
from indexing.emit.atomics import ATOMIC_SIZES, INT64_ATOMICS, native_function, reducer_opcode, update_atomically
from indexing.emit.elemental import FunctionWriter
from indexing.emit.hero import Output, outputs
from indexing.emit.kernel import Dialect, Kernel
from indexing.emit.launch import assembled, check_knob, guarded, offset, starts
from indexing.emit.linear import LinearPlan, element_map, vector_index
from indexing.emit.reads import reads_behind
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
SEGMENT = 32
MAX_SEGMENT = 4096
Meeting = Literal["unique", "sorted", "atomic"]


@dataclass(frozen=True, slots=True)
class ScatterPlan(LinearPlan):
    """Launch dimensions over the updates, and how updates of one element are kept apart.

    Runs of sorted indices are cut at each multiple of `segment`; 0: they are not cut.
    """

    meeting: Meeting
    segment: int


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
    is_empty = not (hero.operands[0].shape.element_count and hero.operands[count + 1].shape.element_count)
    if [o.leaf for o in found] != list(range(count)) or is_empty:
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


def plan(
    computation: Computation, *, block_size: int = 128, atomic: int = 0, segment: int | None = None
) -> ScatterPlan:
    """Launch dimensions.

    Knobs: `block_size`, 1 to 1024 threads; `atomic` 1: atomics although indices are sorted; `segment`, 1 to 4096 updates
    that one thread folds at most where indices are sorted, 0 for all (by default 32 where the device's atomic functions
    can join what is cut, else 0).
    """
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
    may_cut = meeting == "sorted" and _may_be_joined(hero)
    if segment is None:
        segment = SEGMENT if may_cut else 0
    check_knob("segment", segment, 0, MAX_SEGMENT if may_cut else 0)
    shape = hero.operands[len(hero.operands) // 2 + 1].shape
    return ScatterPlan(shape.dimensions, major_to_minor(shape), 1, block_size, meeting, segment)


def _may_be_joined(hero: Instruction) -> bool:
    """Whether parts of a run may be folded apart, in any order, and joined by an atomic function of the device."""
    kind = hero.operands[0].shape.element_type
    computation = hero.computation_of("to_apply")
    return len(hero.operands) == 3 and native_function(computation, kind, "cuda") is not None


def kernel(computation: Computation, plan: ScatterPlan, dialect: Dialect) -> Kernel:
    """The kernel: source, arguments, launch dimensions and thread maps."""
    found = match(computation)
    assert found is not None
    hero, after = found
    unit = Unit(dialect, computation, partition(computation, epilogues=[Epilogue.from_paths([(hero, hero)])]))
    body = FunctionWriter(unit)
    to_update = element_map(plan)
    writing = _Writing(hero, plan, body)
    writing.write(vector_index(body, plan))
    written = [compose(to_update, m.map).simplify() for m in writing.landings]
    reads = [(o, 0, to_update) for o in hero.operands[writing.count + 1 :]]
    reads += [(v.instruction, v.output, compose(to_update, v.map)) for v in writing.landings[0].runtime_values]
    read = reads_behind(unit.partition, reads, (hero,))
    needs_wide = (plan.meeting == "atomic" or plan.segment) and c_type(hero.operands[0].shape.element_type).size == 8
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
            with self._first_of_run(index) as is_joined:
                self._fold(index, is_joined)
        else:
            self._fold(index)

    def _fold(self, index: Index, is_joined: Value | None = None) -> None:
        body, hero = self.body, self.hero
        begins, conditions = starts(body, self.landings[0], index)
        landed = body.mapped(self.landings[0].map, index, (), begins)
        with guarded(body, [*conditions, *landed.conditions]):
            at = body.inside(landed.index, hero.operands[0].shape.dimensions)
            place = offset(body, hero.operands[0].shape, at)
            if self.plan.meeting == "atomic":
                update = body.read(hero.operands[self.count + 1], index)
                update_atomically(body, "o0", place, self.computation, update)
            elif is_joined is not None and self.plan.segment:
                self._fold_segment(index, place, is_joined)
            else:
                self._fold_alone(index, place)

    def _fold_alone(self, index: Index, place: str) -> None:
        """Nobody else folds into the element."""
        kinds = [o.shape.element_type for o in self.hero.operands[: self.count]]
        totals = [self.body.variable(kind, decoded(kind, f"o{k}[{place}]")) for k, kind in enumerate(kinds)]
        self._add(totals, index)
        if self.plan.meeting == "sorted":
            self._add_the_rest_of_the_run(totals, index)
        for k, (kind, total) in enumerate(zip(kinds, totals, strict=True)):
            self.body.writer.line(f"o{k}[{place}] = {encoded(kind, total.text)};")

    def _fold_segment(self, index: Index, place: str, is_joined: Value) -> None:
        """The updates of a segment first; then the element, atomically where the run goes beyond the segment."""
        body, kind = self.body, self.hero.operands[0].shape.element_type
        total = body.variable(kind, body.read(self.hero.operands[self.count + 1], index).text)
        self._add_the_rest_of_the_run([total], index, is_joined)
        with body.when([is_joined.text]):
            update_atomically(body, "o0", place, self.computation, total)
        with body.otherwise():
            current = body.let(kind, decoded(kind, f"o0[{place}]"), rounds=False)
            (result,) = body.apply(self.computation, [current, total])
            body.writer.line(f"o0[{place}] = {encoded(kind, result.text)};")

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
    def _first_of_run(self, index: Index) -> Iterator[Value]:
        """What is written inside runs for updates whose predecessor has another index, and where segments begin.

        The variable that it is given holds where a segment goes on with the run of the one before.
        """
        body, segment = self.body, self.plan.segment
        (d,) = _batch_dims(self.hero)
        number = body.integer(index[d])
        is_first = body.variable("pred", f"{number} == 0")
        is_joined = body.variable("pred", "false")
        with body.when([f"!{is_first}"]):
            before = body.inside((index[d] - 1,), (self.hero.operands[self.count + 1].shape.dimensions[d],))[0]
            pairs = zip(self._vector(self._moved(index, before)), self._vector(index), strict=True)
            differs = " || ".join(f"{a} != {b}" for a, b in pairs)
            body.assign(is_first, differs or "false")
            if segment:
                begins = f"{body.integer(index[d] % segment)} == 0"
                body.assign(is_joined, f"!{is_first} && {begins}")
        with body.when([f"{is_first} || {is_joined}" if segment else is_first.text]):
            yield is_joined

    def _add_the_rest_of_the_run(self, totals: Sequence[Value], index: Index, is_joined: Value | None = None) -> None:
        """Up to the end of the segment, where runs are cut; `is_joined` is set where the run goes on behind it."""
        (d,) = _batch_dims(self.hero)
        count = self.hero.operands[self.count + 1].shape.dimensions[d]
        steps = min(count - 1, self.plan.segment or count - 1)
        if not steps:
            return
        own = self._vector(index)
        with self.body.loop(steps) as step:
            following = index[d] + step + 1
            self.body.writer.line(f"if ({self.body.integer(following)} >= {count}) break;")
            (number,) = self.body.inside((following,), (count,))
            moved = self._moved(index, number)
            differs = " || ".join(f"{a} != {b}" for a, b in zip(self._vector(moved), own, strict=True))
            if differs:
                self.body.writer.line(f"if ({differs}) break;")
            if is_joined is not None:
                with self.body.when([f"{self.body.integer(number % self.plan.segment)} == 0"]):
                    self.body.assign(is_joined, "true")
                    self.body.writer.line("break;")
            self._add(totals, moved)
