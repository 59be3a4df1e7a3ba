"""The kernel of scatters: combines an update of each, or a run of updates of one element, into the outputs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import reduce

from indexing._core import SymbolicExpr, constant
from indexing.hlo import Instruction
from indexing.kernels.emitters.scatter.copies import OutputCopy
from indexing.kernels.emitters.scatter.match import NAME, Scattered, update_to_output
from indexing.kernels.emitters.scatter.modes import batch_dims, update_shape, updates_of
from indexing.kernels.emitters.scatter.plan import ScatterPlan
from indexing.kernels.function_builder import FunctionBuilder
from indexing.kernels.ir.nodes import AtomicUpdate, Kernel
from indexing.kernels.ir.opcodes import ATOMIC_UPDATES
from indexing.kernels.launch import (
    built,
    guarded,
    loop_over,
    output_buffer,
    slice_starts,
    thread_id,
    unravelled,
)
from indexing.kernels.linear import vector_index
from indexing.kernels.vectors import lanes
from indexing.ops.element_context import Index, Value
from indexing.ops.reducer_ops import SECOND, reducer_opcode


def build_scatter(match: Scattered, plan: ScatterPlan) -> Kernel:
    """The kernel."""
    in_place = {o.number: c.heroes[0].operands[o.leaf].parameter_number for c in match.chains for o in c.outputs}
    return built(NAME, match.heroes[0], match.parts, plan, lambda body: _build(body, match, plan), in_place)


def _build(body: FunctionBuilder, match: Scattered, plan: ScatterPlan) -> None:
    """Build the updates of all scatters."""
    numbered = [(h, [o.number for o in chain.outputs]) for chain in match.chains for h in chain.heroes]
    bodies = [_Body(hero, numbers, plan, body) for hero, numbers in numbered]
    if plan.mode == "in turn":
        for each in bodies:
            each.build_all()
    elif plan.copies:
        _build_with_copies(bodies, plan, body)
    else:
        with vector_index(body, plan) as vector:
            index = tuple(map(body.scope.simplify, plan.element(vector, constant(0))))
            for each in bodies:
                each.build(index)


def _build_with_copies(bodies: Sequence[_Body], plan: ScatterPlan, body: FunctionBuilder) -> None:
    """Combine a block's updates in copies of the outputs, then these with the outputs."""
    copies = [OutputCopy(each.hero, plan.block_size, body) for each in bodies]
    for copy in copies:
        copy.begin()
    body.barrier()
    threads = plan.copies * plan.block_size
    outputs = [each.buffers for each in bodies]
    with loop_over(body, -(-plan.count // threads), "turn") as turn:
        position = turn * threads + thread_id("bl_x") * plan.block_size + thread_id("th_x")
        with guarded(body, body.within(position, 0, plan.count - 1)), body.base_scope():
            vector = unravelled(body.named_index("i", position, 0, plan.count - 1), plan.vector_sizes, plan.order)
            index = tuple(map(body.scope.simplify, plan.element(vector, constant(0))))
            for each, copy in zip(bodies, copies, strict=True):
                each.buffers = [copy.name]
                each.build(index)
    body.barrier()
    for each, copy, buffers in zip(bodies, copies, outputs, strict=True):
        each.buffers = buffers
        with copy.combined() as (place, value):
            each.update_atomically(place, value)


class _Body:
    """Builds the entry's part of a scatter: combines the update at an index, or the run of updates that starts there, into the
    outputs of these `numbers`.
    """

    def __init__(self, hero: Instruction, numbers: Sequence[int], plan: ScatterPlan, body: FunctionBuilder) -> None:
        self.hero = hero
        self.buffers = list(map(output_buffer, numbers))
        self.plan = plan
        self.body = body
        count = len(updates_of(hero))
        self.kinds = [o.shape.element_type for o in hero.operands[:count]]
        self.computation = hero.computation_of("to_apply")
        self.operation = reducer_opcode(self.computation)
        landings = [update_to_output(hero, k) for k in range(count)]
        self.landings = [m for m in landings if m is not None]

    def build_all(self) -> None:
        """Combine each update in turn into the outputs."""
        plan, body = self.plan, self.body
        with loop_over(body, plan.count, "i") as position, body.base_scope():
            self.build(tuple(map(body.scope.simplify, unravelled(position, plan.sizes, plan.order))))

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
                if self.plan.mode == "atomic" or (self.plan.mode == "unique" and self.operation == SECOND):
                    self.update_atomically(place, body.read(updates_of(hero)[0], at))
                elif is_joined is not None and self.plan.segment:
                    self._fold_segment(at, place, is_joined)
                else:
                    self._fold_alone(at, place)

    def update_atomically(self, place: Index, update: Value) -> None:
        """Combine a value into an element that other threads may update at the same time."""
        if self.operation == SECOND:  # the last thread wins; a single store can't be torn
            self._store(0, place, update)
            return
        combiner = self.body.kernel.combiner(self.computation, self.kinds)
        native = self.operation if self.operation in ATOMIC_UPDATES else ""
        self.body.add(AtomicUpdate(self.buffers[0], place, combiner, (self.body.node(update),), native))

    def _store(self, k: int, place: Index, value: Value) -> None:
        self.body.store(self.buffers[k], place, self.body.stored(self.kinds[k], value))

    def _load(self, k: int, place: Index) -> Value:
        return self.body.load(self.buffers[k], self.kinds[k], place)

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
        total = body.variable(kind, body.read(updates_of(self.hero)[0], index))
        self._add_the_rest_of_the_run([total], index, is_joined)
        with body.when([is_joined]):
            self.update_atomically(place, total)
        with body.otherwise():
            (result,) = body.apply(self.computation, [self._load(0, place), total])
            self._store(0, place, result)

    def _add(self, totals: Sequence[Value], index: Index) -> None:
        updates = [self.body.read(o, index) for o in updates_of(self.hero)]
        self.body.assign_all(totals, self.body.apply(self.computation, [*totals, *updates]))

    # ------------------------------------------------------------ runs of equal indices

    def _vector(self, index: Index) -> list[Value]:
        """The components of the index vector of an update."""
        components = []
        for value in self.landings[0].runtime_values:
            place = self.body.mapped(value.map, index).index
            components.append(self.body.read(value.instruction, place, value.output))
        return components

    def _moved(self, index: Index, number: SymbolicExpr) -> Index:
        (d,) = batch_dims(self.hero)
        return tuple(number if k == d else e for k, e in enumerate(index))

    def _differs(self, index: Index, other: Index) -> Value:
        """Whether two updates have different index vectors."""
        body = self.body
        pairs = zip(self._vector(index), self._vector(other), strict=True)
        differences = [body.op("ne", "pred", a, b) for a, b in pairs]
        return reduce(lambda a, b: body.op("or", "pred", a, b), differences, body.number("pred", False))

    @contextmanager
    def _first_of_run(self, index: Index) -> Iterator[Value]:
        """A scope that runs for updates whose predecessor has another index, and at the starts of segments.

        It yields a variable that is true if a segment continues the run of the one before.
        """
        body, segment = self.body, self.plan.segment
        (d,) = batch_dims(self.hero)
        is_first = body.variable("pred", body.number("pred", True))
        is_joined = body.variable("pred", body.number("pred", False))
        with guarded(body, body.within(index[d], 1, None)):
            count = update_shape(self.hero).dimensions[d]
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
        (d,) = batch_dims(self.hero)
        count = update_shape(self.hero).dimensions[d]
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
