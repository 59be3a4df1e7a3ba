"""The scatter emitter: a thread combines one element of the updates, or a few neighbours, into the operand's own buffer.

Concurrent updates of one element are avoided in one of four ways: *unique* indices do not collide; a run of *sorted* equal
indices is combined by the thread of its first one; otherwise updates are *atomic*, if targets can swap the element; else one
thread applies all updates *in turn* (several arrays at once, complex numbers of 16 bytes, bytes that fill no whole words).
Long runs are cut into segments for several threads, each joined by an atomic update, if the device has one for the reducer.

Since the scatter is in place, its operand must be a parameter that the fusion reads nowhere else.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, Literal

from indexing._core import constant
from indexing.errors import IndexingError
from indexing.hlo.layout import major_to_minor
from indexing.hlo.module_cache import cached_on_module
from indexing.indexing_analysis.instructions import input_to_output
from indexing.kernels.hero import Output, outputs
from indexing.kernels.ir.nodes import AtomicUpdate
from indexing.kernels.ir.opcodes import ATOMIC_SUMS, ATOMIC_UPDATES
from indexing.kernels.ir.types import storage_bytes
from indexing.kernels.kernel_builder import KernelBuilder
from indexing.kernels.knob_space import Condition, Knob, KnobSpace
from indexing.kernels.launch import (
    assembled,
    check_knob,
    entry_builder,
    guarded,
    loop_over,
    output_buffer,
    slice_starts,
    unravelled,
)
from indexing.kernels.linear import LinearPlan, linear_block_size, linear_knobs, vector_index
from indexing.kernels.vectors import check_width, is_cheap, lanes, widest_vector
from indexing.ops.element_context import Index, Value
from indexing.ops.reducer_ops import SECOND, reducer_opcode
from indexing.ops.registry import traits_of
from indexing.ops.scatter import SCATTER
from indexing.partitioner import Epilogue, partition

if TYPE_CHECKING:
    from indexing._core import SymbolicExpr
    from indexing.device.record import Device
    from indexing.hlo import Computation, Instruction
    from indexing.kernels.function_builder import FunctionBuilder
    from indexing.kernels.ir.nodes import Kernel
    from indexing.kernels.kernel_builder import Dim3
    from indexing.ops.operand_indexing import OperandIndexing

NAME = SCATTER.opcode
DEFAULT_SEGMENT = 32
MAX_SEGMENT = 4096
MAX_LANES = 4  # updates of a thread by default; with more, a warp's accesses would not cover whole cache lines
ATOMIC_SIZES = (1, 2, 4, 8)
WORD_BYTES = 4  # the narrowest that all targets swap
INTEGERS = frozenset({"s32", "u32", "s64", "u64"})
REALS = frozenset({"f32", "f64"})
UpdateMode = Literal["unique", "sorted", "atomic", "in turn"]


@dataclass(frozen=True, slots=True)
class ScatterPlan(LinearPlan):
    """Launch dimensions over the updates, and the way in which concurrent updates of one element are avoided.

    Runs of sorted indices are cut at multiples of `segment`; 0: they are not cut.
    """

    mode: UpdateMode
    segment: int

    @property
    def grid(self) -> Dim3:
        """The blocks, in one dimension."""
        return (1, 1, 1) if self.mode == "in turn" else (-(-self.count // self.block_size), 1, 1)


def matches(computation: Computation) -> bool:
    """Whether the outputs are those of one scatter that can be computed in place."""
    return match(computation) is not None


@cached_on_module
def match(computation: Computation) -> tuple[Instruction, tuple[Output, ...]] | None:
    """The scatter and its outputs; None if it can't be proved to be safe in place."""
    found = outputs(computation)
    hero = found[0].instruction
    if traits_of(hero) is not SCATTER or any(o.instruction is not hero for o in found):
        return None
    count = len(hero.operands) // 2
    is_empty = not (hero.operands[0].shape.element_count and hero.operands[count + 1].shape.element_count)
    if [o.leaf for o in found] != list(range(count)) or is_empty:
        return None
    if not all(_is_read_by(hero, o) and _same_memory(o, f) for o, f in zip(hero.operands[:count], found, strict=True)):
        return None
    return (hero, found) if _has_exact_maps(hero) else None


def _is_read_by(hero: Instruction, operand: Instruction) -> bool:
    is_once = sum(o is operand for o in hero.operands) == 1
    return operand.is_parameter and operand.users == (hero,) and is_once


def _same_memory(operand: Instruction, output: Output) -> bool:
    return major_to_minor(operand.shape) == major_to_minor(output.shape)


def _has_exact_maps(hero: Instruction) -> bool:
    found = [_update_to_output(hero, k) for k in range(len(hero.operands) // 2)]
    return all(m is not None and m.exactness == "exact" for m in found)


def _update_to_output(hero: Instruction, k: int) -> OperandIndexing | None:
    """The map from update `k` to output `k`; None if it does not reach it, as where a constant index is out of bounds."""
    maps = input_to_output(hero, len(hero.operands) // 2 + 1 + k)[k]
    return maps[0] if len(maps) == 1 and not maps[0].map.is_known_empty else None


def _update_mode(hero: Instruction) -> UpdateMode:
    """The cheapest way to avoid concurrent updates of one element."""
    if hero.flag("unique_indices"):
        return "unique"
    if hero.flag("indices_are_sorted") and _is_one_row_of_points(hero):
        return "sorted"
    count = len(hero.operands) // 2
    is_store = reducer_opcode(hero.computation_of("to_apply")) == SECOND
    return "atomic" if count == 1 and (_is_swapped(hero) or is_store) else "in turn"


def _is_swapped(hero: Instruction) -> bool:
    """Whether targets can swap each element. Bytes are swapped within words of four, of which the last must not extend beyond
    the array, where nobody may read or write.
    """
    shape = hero.operands[0].shape
    size = storage_bytes(shape.element_type)
    return size in ATOMIC_SIZES and (size > 1 or shape.element_count % WORD_BYTES == 0)


def _is_one_row_of_points(hero: Instruction) -> bool:
    """Whether windows with different indices don't overlap, and the indices are a single row of vectors."""
    inserted = set(hero.ints("inserted_window_dims"))
    if not set(hero.ints("scatter_dims_to_operand_dims")) <= inserted or hero.ints("input_batching_dims"):
        return False
    return len(_batch_dims(hero)) == 1


def _batch_dims(hero: Instruction) -> list[int]:
    """The dimensions of the updates that index index vectors."""
    rank = hero.operands[len(hero.operands) // 2 + 1].shape.rank
    return [d for d in range(rank) if d not in hero.ints("update_window_dims")]


def plan(
    computation: Computation,
    device: Device,
    *,
    block_size: int | None = None,
    vector_width: int | None = None,
    atomic: int = 0,
    segment: int | None = None,
) -> ScatterPlan:
    """Launch dimensions.

    Knobs: `block_size`, from 1 thread to the most of a block (default 128), 1 if updates are applied in turn; `vector_width`,
    1, 2, 4, 8 or 16 updates per thread, which divides a row of a window and has one index; `atomic`, 1 for atomics although
    indices are sorted; `segment`, the most updates, 1 to 4096, that one thread combines where indices are sorted, 0 for any
    number (default 32 if atomic updates can join segments, else 0).
    """
    check_knob("atomic", atomic, 0, 1)
    found = match(computation)
    if found is None:
        raise IndexingError(f"{computation.name} is no scatter that is safe in place; the loop emitter takes it")
    hero, _ = found
    mode = _update_mode(hero)
    if atomic and mode == "sorted" and _may_be_atomic(hero):
        mode = "atomic"
    may_cut = mode == "sorted" and _may_be_joined(hero)
    if segment is None:
        segment = DEFAULT_SEGMENT if may_cut else 0
    check_knob("segment", segment, 0, MAX_SEGMENT if may_cut else 0)
    shape = hero.operands[len(hero.operands) // 2 + 1].shape
    if mode == "in turn":
        block_size = 1 if block_size is None else block_size
        check_knob("block_size", block_size, 1, 1)
    threads = linear_block_size(block_size, shape.element_count, device.limits)
    order = tuple(range(shape.rank)) if mode == "in turn" else major_to_minor(shape)
    along = _adjacent_updates(hero, mode)
    if vector_width is None:
        is_one = along > 1 and is_cheap(computation.post_order(), [hero])
        vector_width = (
            widest_vector(MAX_LANES, storage_bytes(shape.element_type), shape.element_count, [along]) if is_one else 1
        )
    check_width(vector_width, along)
    return ScatterPlan(shape.dimensions, order, vector_width, threads, mode, segment)


def _adjacent_updates(hero: Instruction, mode: UpdateMode) -> int:
    """The number of adjacent updates with one index, if threads may take several; 1 otherwise."""
    shape = hero.operands[len(hero.operands) // 2 + 1].shape
    if mode not in ("unique", "atomic") or not shape.rank:
        return 1
    last = major_to_minor(shape)[-1]
    return shape.dimensions[last] if last in hero.ints("update_window_dims") else 1


def knobs(computation: Computation, default: ScatterPlan, device: Device) -> KnobSpace:
    """Names, legal values and defaults of the knobs; there are segments only where updates are not all atomic."""
    found = match(computation)
    assert found is not None
    is_sorted = default.mode == "sorted"
    segments = range(MAX_SEGMENT + 1) if is_sorted and _may_be_joined(found[0]) else range(1)
    atomic = Knob("atomic", (0, 1) if is_sorted and _may_be_atomic(found[0]) else (0,), 0)
    threads, width = linear_knobs(default, _adjacent_updates(found[0], default.mode), device.limits)
    if default.mode == "in turn":
        threads = Knob("block_size", range(1, 2), 1)
    return KnobSpace(
        NAME,
        (threads, width, atomic, Knob("segment", segments, default.segment)),
        (Condition("segment", ("atomic",), {(0,): segments, (1,): range(1)}),),
    )


def _may_be_atomic(hero: Instruction) -> bool:
    """Whether updates with sorted indices could be atomic instead."""
    return len(hero.operands) == 3 and _is_swapped(hero)


def _may_be_joined(hero: Instruction) -> bool:
    """Whether parts of a run may be combined separately, in any order, and joined by one atomic operation."""
    opcode = reducer_opcode(hero.computation_of("to_apply"))
    kind = hero.operands[0].shape.element_type
    return len(hero.operands) == 3 and (
        (opcode in ATOMIC_UPDATES and kind in INTEGERS) or (opcode in ATOMIC_SUMS and kind in REALS)
    )


def kernel(computation: Computation, plan: ScatterPlan) -> Kernel:
    """The kernel."""
    found = match(computation)
    assert found is not None
    hero, after = found
    builder = KernelBuilder(computation, partition(computation, epilogues=[Epilogue.from_paths([(hero, hero)])]))
    body = entry_builder(builder, plan.grid, plan.block)
    with _each_update(body, plan) as index:
        _Body(hero, plan, body).build(index)
    in_place = {o.number: hero.operands[o.leaf].parameter_number for o in after}
    return assembled(builder, NAME, hero, body, after, (plan.grid, plan.block), in_place)


@contextmanager
def _each_update(body: FunctionBuilder, plan: ScatterPlan) -> Iterator[Index]:
    """Run the block for the index of the thread's first update, or, if updates are applied in turn, of each update."""
    if plan.mode != "in turn":
        with vector_index(body, plan) as vector:
            yield tuple(map(body.scope.simplify, plan.element(vector, constant(0))))
        return
    with loop_over(body, plan.count, "i") as position, body.base_scope():
        yield tuple(map(body.scope.simplify, unravelled(position, plan.sizes, plan.order)))


class _Body:
    """Builds the entry: combines the update at an index, or the run of updates that starts there, into the outputs."""

    def __init__(self, hero: Instruction, plan: ScatterPlan, body: FunctionBuilder) -> None:
        self.hero = hero
        self.plan = plan
        self.body = body
        self.count = len(hero.operands) // 2
        self.kinds = [o.shape.element_type for o in hero.operands[: self.count]]
        self.computation = hero.computation_of("to_apply")
        found = [_update_to_output(hero, k) for k in range(self.count)]
        self.landings = [m for m in found if m is not None]

    def build(self, index: Index) -> None:
        """Combine the update at `index`, or the run of updates that starts there, into the outputs."""
        if self.plan.mode == "sorted":
            with self._first_of_run(index) as is_joined:
                self._fold(index, is_joined)
        else:
            self._fold(index)

    def _fold(self, index: Index, is_joined: Value | None = None) -> None:
        body, hero = self.body, self.hero
        with body.assume("unique_indices" if self.plan.mode == "unique" else ""):
            begins, conditions = slice_starts(body, self.landings[0], index)
        with guarded(body, conditions), lanes(body, self.plan.vector_width) as lane:
            at = tuple(body.scope.simplify(e + lane) if d == self.plan.fast else e for d, e in enumerate(index))
            landed = body.mapped(self.landings[0].map, at, (), begins)
            with guarded(body, landed.conditions):
                place = body.inside(landed.index, hero.operands[0].shape.dimensions)
                if self.plan.mode == "atomic":
                    self._update_atomically(place, body.read(hero.operands[self.count + 1], at))
                elif is_joined is not None and self.plan.segment:
                    self._fold_segment(at, place, is_joined)
                else:
                    self._fold_alone(at, place)

    def _update_atomically(self, place: Index, update: Value) -> None:
        opcode = reducer_opcode(self.computation)
        if opcode == SECOND:  # the last thread wins; a single store can't be torn
            self._store(0, place, update)
            return
        combiner = self.body.kernel.combiner(self.computation, self.kinds)
        native = opcode if opcode in ATOMIC_UPDATES else ""
        self.body.add(AtomicUpdate(output_buffer(0), place, combiner, self.body.node(update), native))

    def _store(self, k: int, place: Index, value: Value) -> None:
        self.body.store(output_buffer(k), place, self.body.stored(self.kinds[k], value))

    def _load(self, k: int, place: Index) -> Value:
        return self.body.load(output_buffer(k), self.kinds[k], place)

    def _fold_alone(self, index: Index, place: Index) -> None:
        """Combine into an element that no other thread updates, by a plain load and store."""
        totals = [self.body.variable(kind, self._load(k, place)) for k, kind in enumerate(self.kinds)]
        self._add(totals, index)
        if self.plan.mode == "sorted":
            self._add_the_rest_of_the_run(totals, index)
        for k, total in enumerate(totals):
            self._store(k, place, total)

    def _fold_segment(self, index: Index, place: Index, is_joined: Value) -> None:
        """Combine the updates of a segment, then the element: atomically if the run extends beyond the segment."""
        body, kind = self.body, self.kinds[0]
        total = body.variable(kind, body.read(self.hero.operands[self.count + 1], index))
        self._add_the_rest_of_the_run([total], index, is_joined)
        with body.when([is_joined]):
            self._update_atomically(place, total)
        with body.otherwise():
            (result,) = body.apply(self.computation, [self._load(0, place), total])
            self._store(0, place, result)

    def _add(self, totals: Sequence[Value], index: Index) -> None:
        updates = [self.body.read(o, index) for o in self.hero.operands[self.count + 1 :]]
        self.body.assign_all(totals, self.body.apply(self.computation, [*totals, *updates]))

    # ------------------------------------------------------------ runs of equal indices

    def _vector(self, index: Index) -> list[Value]:
        """The components of the index vector of an update."""
        found = []
        for value in self.landings[0].runtime_values:
            place = self.body.mapped(value.map, index).index
            found.append(self.body.read(value.instruction, place, value.output))
        return found

    def _moved(self, index: Index, number: SymbolicExpr) -> Index:
        (d,) = _batch_dims(self.hero)
        return tuple(number if k == d else e for k, e in enumerate(index))

    def _differs(self, index: Index, other: Index) -> Value:
        """Whether two updates have different index vectors."""
        body = self.body
        pairs = zip(self._vector(index), self._vector(other), strict=True)
        found = [body.op("ne", "pred", a, b) for a, b in pairs]
        return reduce(lambda a, b: body.op("or", "pred", a, b), found, body.number("pred", False))

    @contextmanager
    def _first_of_run(self, index: Index) -> Iterator[Value]:
        """A scope that runs for updates whose predecessor has another index, and at the starts of segments.

        It yields a variable that is true if a segment continues the run of the one before.
        """
        body, segment = self.body, self.plan.segment
        (d,) = _batch_dims(self.hero)
        is_first = body.variable("pred", body.number("pred", True))
        is_joined = body.variable("pred", body.number("pred", False))
        with guarded(body, body.within(index[d], 1, None)):
            count = self.hero.operands[self.count + 1].shape.dimensions[d]
            (before,) = body.inside((body.scope.simplify(index[d] - 1),), (count,))
            body.assign(is_first, self._differs(self._moved(index, before), index))
            if segment:
                with guarded(body, [*body.within(index[d] % segment, 0, 0), body.op("not", "pred", is_first)]):
                    body.assign(is_joined, body.number("pred", True))
        with body.when([body.op("or", "pred", is_first, is_joined) if segment else is_first]), body.base_scope():
            yield is_joined

    def _add_the_rest_of_the_run(self, totals: Sequence[Value], index: Index, is_joined: Value | None = None) -> None:
        """Combine the rest of the run, up to the end of the segment; `is_joined` is set if the run continues after it."""
        body = self.body
        (d,) = _batch_dims(self.hero)
        count = self.hero.operands[self.count + 1].shape.dimensions[d]
        steps = min(count - 1, self.plan.segment or count - 1)
        if not steps:
            return
        with body.loop(steps) as step:
            following = body.scope.simplify(index[d] + step + 1)
            if body.range(following).upper >= count:
                body.leave_loop(body.within(following, count, None))
            (number,) = body.inside((following,), (count,))
            moved = self._moved(index, number)
            body.leave_loop([self._differs(moved, index)])
            if is_joined is not None:
                is_end = body.within(number % self.plan.segment, 0, 0)
                with guarded(body, is_end):
                    body.assign(is_joined, body.number("pred", True))
                    body.leave_loop([])
            self._add(totals, moved)
