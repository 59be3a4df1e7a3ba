"""The steps of a program: launches of kernels, instructions of the numpy reference, and control flow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol, TypeAlias

import numpy as np

from indexing.errors import IndexingError
from indexing.executable.memory import Environment, OwnedArray, Pool, byte_count
from indexing.ops.values import value_leaves
from indexing.reference.interpreter import evaluate_instruction

if TYPE_CHECKING:
    from indexing.emitters.kernel import Argument, Kernel
    from indexing.hlo import Instruction, Shape
    from indexing.ops.values import HloValue
    from indexing.runtime.device import Buffer, Launch

SlotTree: TypeAlias = "int | tuple[SlotTree, ...] | None"  # an array's slot, a token, or a tuple


class Step(Protocol):
    """One step of a program; `last_use` are the slots that it reads or writes and nothing reads afterwards."""

    last_use: frozenset[int]

    @property
    def outputs(self) -> Sequence[int | None]:
        """The slots that the step writes; None for a token."""

    def reads(self) -> tuple[int, ...]:
        """The slots that the step reads."""

    def run(self, environment: Environment) -> None:
        """Run the step on the environment's slots."""


@dataclass(slots=True)
class ArrayStep:
    """A step that reads the arrays of operand slots and writes those of output slots."""

    operands: tuple[int, ...]
    outputs: tuple[int, ...]
    output_shapes: tuple[Shape, ...]
    last_use: frozenset[int] = field(default=frozenset(), kw_only=True)

    def reads(self) -> tuple[int, ...]:
        """The slots that the step reads."""
        return self.operands


@dataclass(slots=True)
class KernelStep(ArrayStep):
    """Launch a kernel on the buffers of its operands."""

    kernel: Kernel
    launch: Launch
    operand_shapes: tuple[Shape, ...]
    passed: tuple[Argument, ...] = field(init=False)  # the arguments of a launch, in order
    results: tuple[tuple[int, int, Shape], ...] = field(init=False)  # index in `passed`, slot, shape
    _overwritten: frozenset[int] = field(init=False)  # numbers of the operands whose buffers outputs share

    def __post_init__(self) -> None:
        """Derive the arguments to pass and the results to keep from the kernel's arguments."""
        arguments = self.kernel.arguments
        aliases = [a.alias_of for a in self.kernel.outputs if a.alias_of is not None]
        passed = [k for k, a in enumerate(arguments) if a.alias_of is None]
        self.passed = tuple(arguments[k] for k in passed)
        self._overwritten = frozenset(arguments[k].number for k in aliases)
        self.results = tuple(
            (
                passed.index(k if a.alias_of is None else a.alias_of),
                self.outputs[a.number],
                self.output_shapes[a.number],
            )
            for k, a in enumerate(arguments)
            if a.kind == "output"
        )

    def overwrites(self, argument: Argument) -> bool:
        """Whether an output shares the buffer of an argument of `passed`."""
        return argument.kind == "input" and argument.number in self._overwritten

    def run(self, environment: Environment) -> None:
        """Launch the kernel; an output that shares an operand's buffer gets a copy of it if the operand is still needed."""
        pool = environment.pool
        scratch = pool.take_scratch(id(self))
        passed = [self._buffer(environment, argument, scratch) for argument in self.passed]
        if pool.recorder is None:
            self.launch(passed)
        else:
            pool.recorder.timed(self.kernel, lambda: self.launch(passed))
        pool.give_scratch(id(self), scratch)
        for position, slot, shape in self.results:
            environment.put(slot, OwnedArray(shape, pool, passed[position]))

    def _buffer(self, environment: Environment, argument: Argument, scratch: dict[int, Buffer]) -> Buffer:
        number = argument.number
        if argument.kind == "scratch":
            if number not in scratch:
                scratch[number] = environment.pool.device.upload(argument.zeros())
            return scratch[number]
        if argument.kind == "output":
            return environment.pool.take(byte_count(self.output_shapes[number]))
        slot = self.operands[number]
        held = environment.arrays[slot].in_layout_of(self.operand_shapes[number])
        environment.arrays[slot] = held
        if not self.overwrites(argument):
            return held.on_device()
        return held.to_overwrite(is_last_use=slot in self.last_use and self.operands.count(slot) == 1)


@dataclass(slots=True)
class ReferenceStep:
    """Compute one instruction by the numpy reference, on the host."""

    instruction: Instruction
    operands: tuple[SlotTree, ...]
    outputs: tuple[int | None, ...]
    last_use: frozenset[int] = frozenset()

    def reads(self) -> tuple[int, ...]:
        """The slots that the step reads."""
        return slots_of(self.operands)

    def run(self, environment: Environment) -> None:
        """Download the operands, compute, and keep the result on the host."""
        recorder, operands = environment.pool.recorder, [_value(o, environment) for o in self.operands]
        with np.errstate(all="ignore"):
            if recorder is None:
                result = evaluate_instruction(self.instruction, operands)
            else:
                result = recorder.timed(self.instruction, lambda: evaluate_instruction(self.instruction, operands))
        shapes = self.instruction.shape.leaves
        for slot, shape, array in zip(self.outputs, shapes, value_leaves(result), strict=True):
            if slot is not None:
                environment.put(slot, OwnedArray(shape, environment.pool, array=np.asarray(array, shape.dtype)))


@dataclass(slots=True, eq=False)
class Plan:
    """The steps of one computation, from the slots of its parameters to the slots of its result.

    `shapes` has the shape of each slot. `segments`, if set, run in place of `steps`: a device replays some of them.
    """

    parameters: tuple[int, ...]
    steps: tuple[Step, ...]
    results: tuple[int, ...]
    constants: dict[int, OwnedArray]
    shapes: Mapping[int, Shape]
    segments: tuple[Step, ...] | None = None
    _unread: tuple[int, ...] | None = None

    def run(self, pool: Pool, arguments: Sequence[OwnedArray]) -> list[OwnedArray]:
        """Run the steps. The plan takes over the ownership of `arguments`; the caller owns the arrays returned."""
        environment = Environment(pool)
        for slot, held in self.constants.items():
            environment.put(slot, held.retain())
        for slot, held in zip(self.parameters, arguments, strict=True):
            environment.put(slot, held.in_layout_of(self.shapes[slot]))
        for slot in self.unread_slots():
            environment.drop(slot)
        for step in self.steps if self.segments is None else self.segments:
            step.run(environment)
            for slot in step.last_use:
                environment.drop(slot)
        results = [environment.arrays[slot].retain() for slot in self.results]
        environment.close()
        return results

    def unread_slots(self) -> tuple[int, ...]:
        """The parameters and constants that nothing reads; computed once."""
        if self._unread is None:
            read = {slot for step in self.steps for slot in step.reads()}
            self._unread = tuple({*self.parameters, *self.constants} - read - set(self.results))
        return self._unread


@dataclass(slots=True)
class CallStep(ArrayStep):
    """Run another computation's plan once."""

    body: Plan

    def run(self, environment: Environment) -> None:
        """Run the callee on the operands, and store its results."""
        results = self.body.run(environment.pool, callee_arrays(environment, self.operands, self.last_use))
        put_results(environment, self.outputs, self.output_shapes, results)


@dataclass(slots=True)
class WhileStep(ArrayStep):
    """Run `body` while `condition` holds, which the host evaluates, or the given number of times."""

    condition: Plan | int
    body: Plan

    def run(self, environment: Environment) -> None:
        """Run the loop; the state of each iteration reuses the buffers of the one before."""
        pool = environment.pool
        state = callee_arrays(environment, self.operands, self.last_use)
        iterations = 0
        while self._continues(pool, iterations, state):
            state = self.body.run(pool, state)
            iterations += 1
        put_results(environment, self.outputs, self.output_shapes, state)

    def _continues(self, pool: Pool, iterations: int, state: Sequence[OwnedArray]) -> bool:
        if isinstance(self.condition, int):
            return iterations < self.condition
        (answer,) = self.condition.run(pool, [held.retain() for held in state])
        holds = bool(answer.on_host())
        answer.release()
        return holds


@dataclass(slots=True)
class ConditionalStep:
    """Run the branch that an index or a predicate selects, which the host reads."""

    selector: int
    selector_shape: Shape
    branches: tuple[Plan, ...]
    branch_operands: tuple[tuple[int, ...], ...]
    outputs: tuple[int, ...]
    output_shapes: tuple[Shape, ...]
    last_use: frozenset[int] = frozenset()

    @property
    def is_by_predicate(self) -> bool:
        """Whether the selector is a predicate: true selects the first of two branches. An index out of range selects the
        last branch.
        """
        return self.selector_shape.element_type == "pred"

    def reads(self) -> tuple[int, ...]:
        """The slots that the step reads."""
        return (self.selector, *(slot for operands in self.branch_operands for slot in operands))

    def run(self, environment: Environment) -> None:
        """Run the selected branch on its operands."""
        chosen = environment.arrays[self.selector].on_host()
        branch = _branch(chosen, len(self.branches))
        operands = self.branch_operands[branch]
        results = self.branches[branch].run(environment.pool, [environment.arrays[s].retain() for s in operands])
        put_results(environment, self.outputs, self.output_shapes, results)


def _branch(selector: np.ndarray, count: int) -> int:
    if selector.dtype == np.bool_:
        return 0 if bool(selector) else 1
    return int(selector) if 0 <= int(selector) < count else count - 1


def callee_arrays(environment: Environment, slots: Sequence[int], last_use: frozenset[int]) -> list[OwnedArray]:
    """The arrays of slots for a callee: moved at their last use in the caller, else shared."""
    found = []
    for position, slot in enumerate(slots):
        if slot in last_use and slot not in slots[position + 1 :]:
            found.append(environment.arrays.pop(slot))
        else:
            found.append(environment.arrays[slot].retain())
    return found


def put_results(
    environment: Environment, slots: Sequence[int], shapes: Sequence[Shape], held: Sequence[OwnedArray]
) -> None:
    """Store the arrays that a callee returned, in the layouts that the caller's steps expect."""
    for slot, shape, array in zip(slots, shapes, held, strict=True):
        environment.put(slot, array.in_layout_of(shape))


def mark_last_uses(steps: Sequence[Step], kept: set[int]) -> None:
    """Set `last_use` of each step; outputs that nothing reads are included."""
    seen = set(kept)
    for step in reversed(steps):
        touched = {*step.reads(), *(slot for slot in step.outputs if slot is not None)}
        step.last_use = frozenset(touched - seen)
        seen |= touched


def slots_of(tree: SlotTree) -> tuple[int, ...]:
    """The slots of a tree, in order."""
    found = []
    pending = [tree]
    while pending:
        part = pending.pop()
        if isinstance(part, int):
            found.append(part)
        elif part is not None:
            pending.extend(reversed(part))
    return tuple(found)


def _value(tree: SlotTree, environment: Environment) -> HloValue:
    """The tree's arrays, on the host."""
    if tree is None:
        return None
    if isinstance(tree, int):
        return environment.arrays[tree].on_host()
    if any(isinstance(part, tuple) for part in tree):
        raise IndexingError("an operand of a reference step is a nested tuple; expected an array or a tuple of arrays")
    return tuple(_value(part, environment) for part in tree)
