"""Parts of plans that a device replays without the host: kernels, and loops and branches of kernels only."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from indexing.executable.memory import Environment, OwnedArray, byte_count, major_to_minor
from indexing.executable.recording import Recording
from indexing.executable.steps import (
    ArrayStep,
    CallStep,
    ConditionalStep,
    KernelStep,
    Plan,
    Step,
    WhileStep,
    mark_last_uses,
)

if TYPE_CHECKING:
    from indexing.emitters.kernel import Kernel
    from indexing.hlo import Shape
    from indexing.runtime.device import LaunchTimes
    from indexing.runtime.tape import DeviceProgram, ReplayingDevice

MAX_STEPS = 50_000  # of a tape; nested control flow can be exponentially larger than its text
MAX_NESTING = 60

Source: TypeAlias = "tuple[bool, int]"  # (True, slot of an operand) or (False, number of a result)


@dataclass(frozen=True, slots=True)
class Extent:
    """The number of steps that a step records, and the depth of its control flow."""

    steps: int
    nesting: int


@dataclass(slots=True)
class ReplayStep(ArrayStep):
    """Run a tape of several steps. Its outputs may be arrays that were passed to it."""

    steps: tuple[Step, ...]
    program: DeviceProgram = field(init=False)
    kernels: Sequence[Kernel] = field(init=False)
    _consumed: tuple[tuple[int, bool], ...] = field(init=False)  # the slots passed, each with whether it is overwritten
    _sources: tuple[Source, ...] = field(init=False)  # of the outputs

    def record(self, plan: Plan, device: ReplayingDevice) -> None:
        """Record the steps."""
        recording = Recording()
        fixed = [slot for slot in self.operands if slot in plan.constants]
        given = [slot for slot in self.operands if slot not in plan.constants]
        held = {slot: recording.constant(plan.constants[slot]) for slot in fixed}
        held |= {slot: recording.argument(byte_count(plan.shapes[slot])) for slot in given}
        operands = {register: slot for slot, register in held.items()}
        recording.steps(self.steps, held)
        tape = recording.tape
        tape.end()
        registers = [held[slot] for slot in self.outputs]
        tape.results = list(dict.fromkeys(r for r in registers if recording.is_own(r)))
        self._sources = tuple(
            (False, tape.results.index(r)) if recording.is_own(r) else (True, operands[r]) for r in registers
        )
        self._consumed = tuple((slot, tape.arguments[k] in tape.consumed) for k, slot in enumerate(given))
        self.kernels = recording.kernels
        self.program = device.program(tape)

    def run(self, environment: Environment) -> None:
        """Run the tape on the operands' buffers, and store its results."""
        pool, arrays = environment.pool, environment.arrays
        passed = [
            arrays[slot].to_overwrite(is_last_use=slot in self.last_use) if consumed else arrays[slot].on_device()
            for slot, consumed in self._consumed
        ]
        buffers = self.program.run(passed, pool.take, None if pool.recorder is None else self._add_times(environment))
        found: dict[Source, OwnedArray] = {}
        for slot, shape, source in zip(self.outputs, self.output_shapes, self._sources, strict=True):
            is_operand, number = source
            if is_operand:
                environment.put(slot, arrays[number].retain())
            elif source in found:
                environment.put(slot, found[source].retain())
            else:
                found[source] = OwnedArray(shape, pool, buffers[number])
                environment.put(slot, found[source])

    def _add_times(self, environment: Environment) -> LaunchTimes:
        recorder = environment.pool.recorder
        assert recorder is not None

        def add(number: int, seconds: float, launches: int) -> None:
            recorder.add(self.kernels[number], seconds, launches)

        return add


def record_tapes(entry: Plan, device: ReplayingDevice) -> None:
    """Set the segments of a plan, and of those that its control flow runs: tapes, and the steps that the host runs."""
    extents = _Extents()
    pending = [entry]
    while pending:
        plan = pending.pop()
        if plan.segments is None:
            plan.segments = _segments(plan, device, extents)
            pending.extend(callee for step in plan.segments for callee in _callees(step))


def _segments(plan: Plan, device: ReplayingDevice, extents: _Extents) -> tuple[Step, ...]:
    found: list[Step] = []
    for run in _recordable_runs(plan, extents):
        found += [_unrecorded(run, plan)] if isinstance(run, list) else [run]
    mark_last_uses(found, set(plan.results))
    for step in found:
        if isinstance(step, ReplayStep):
            step.record(plan, device)
    return tuple(found)


def _recordable_runs(plan: Plan, extents: _Extents) -> Iterator[Step | list[Step]]:
    """The steps of a plan; consecutive ones that can be recorded together come as one list."""
    run: list[Step] = []
    size = 0
    for step in plan.steps:
        extent = extents.of_step(step, plan)
        if run and (extent is None or size + extent.steps > MAX_STEPS):
            yield run
            run, size = [], 0
        if extent is None:
            yield step
        else:
            run.append(step)
            size += extent.steps
    if run:
        yield run


def _unrecorded(steps: list[Step], plan: Plan) -> ReplayStep:
    """One step for several, not recorded yet; its outputs are those that other steps or the result read."""
    written = {slot for step in steps for slot in step.outputs if slot is not None}
    inside = {id(step) for step in steps}
    read = {slot for step in plan.steps if id(step) not in inside for slot in step.reads()} | set(plan.results)
    operands = dict.fromkeys(slot for step in steps for slot in step.reads() if slot not in written)
    outputs = tuple(sorted(written & read))
    return ReplayStep(tuple(operands), outputs, tuple(plan.shapes[slot] for slot in outputs), tuple(steps))


def _callees(step: Step) -> tuple[Plan, ...]:
    if isinstance(step, WhileStep):
        return (step.body,) if isinstance(step.condition, int) else (step.condition, step.body)
    if isinstance(step, ConditionalStep):
        return step.branches
    return (step.body,) if isinstance(step, CallStep) else ()


class _Extents:
    """The extents of steps, memoized by plan; None for a step that needs the host, or is too large to record."""

    def __init__(self) -> None:
        self.of_plans: dict[Plan, Extent | None] = {}

    def of_step(self, step: Step, plan: Plan) -> Extent | None:
        if isinstance(step, KernelStep):
            given = [plan.shapes[slot] for slot in step.operands]
            return Extent(1, 0) if _same_memory(given, step.operand_shapes) else None
        if not isinstance(step, WhileStep | ConditionalStep) or not _passes_on(step, plan):
            return None
        extents = [self.of_plan(callee) for callee in _callees(step)]
        steps = sum(e.steps for e in extents if e is not None) + 1
        nesting = max((e.nesting for e in extents if e is not None), default=0) + 1
        return Extent(steps, nesting) if None not in extents and steps <= MAX_STEPS and nesting <= MAX_NESTING else None

    def of_plan(self, plan: Plan) -> Extent | None:
        """The extent of all its steps together."""
        pending = [plan]
        while pending:
            missing = [p for step in pending[-1].steps for p in _callees(step) if p not in self.of_plans]
            if missing:
                pending += missing
                continue
            found = pending.pop()
            self.of_plans[found] = self._sum([self.of_step(step, found) for step in found.steps])
        return self.of_plans[plan]

    def _sum(self, extents: Sequence[Extent | None]) -> Extent | None:
        known = [e for e in extents if e is not None]
        steps = sum(e.steps for e in known)
        if len(known) < len(extents) or steps > MAX_STEPS:
            return None
        return Extent(steps, max((e.nesting for e in known), default=0))


def _passes_on(step: WhileStep | ConditionalStep, plan: Plan) -> bool:
    """Whether arrays are passed to the callees, and returned, without a change of layout."""

    def shapes(slots: Sequence[int], of: Plan = plan) -> list[Shape]:
        return [of.shapes[slot] for slot in slots]

    if isinstance(step, WhileStep):
        state = shapes(step.operands)
        callees = [shapes(callee.parameters, callee) for callee in _callees(step)]
        found = [*callees, shapes(step.body.results, step.body), step.output_shapes]
        return all(_same_memory(state, other) for other in found)
    return all(
        _same_memory(shapes(operands), shapes(branch.parameters, branch))
        and _same_memory(shapes(branch.results, branch), step.output_shapes)
        for branch, operands in zip(step.branches, step.branch_operands, strict=True)
    )


def _same_memory(found: Sequence[Shape], expected: Sequence[Shape]) -> bool:
    """Whether the shapes of two lists have the same sizes and layouts in memory, pair by pair."""
    return len(found) == len(expected) and all(
        a is b or (byte_count(a) == byte_count(b) and major_to_minor(a) == major_to_minor(b))
        for a, b in zip(found, expected, strict=True)
    )
