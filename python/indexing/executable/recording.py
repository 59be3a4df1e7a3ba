"""Recording of schedules on a tape: registers are allocated to arrays before anything runs.

Memory is used again after its last read, and a kernel that works in place gets its operand's own memory if nothing else needs
it. Each turn of a loop leaves the state in the registers where it found it: registers exchange addresses, or elements are
copied if one array goes to several registers. The host changes layouts where a reader expects another one.

Callees are recorded where they are called, but for those that would make the tape much longer than the program, or its control
flow too deep: these are subroutines, with registers of their own. Since no computation calls itself, one set is enough.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from indexing.executable.registers import Registers, Value
from indexing.executable.schedule import (
    BranchStep,
    CallStep,
    KernelStep,
    LibraryStep,
    LoopStep,
    ReferenceStep,
    Schedule,
    SolverStep,
    Step,
    ViewStep,
)
from indexing.hlo import Instruction
from indexing.kernels.kernel import Argument, Kernel
from indexing.model.loop_costs import MAX_INLINED_STEPS, costs_of_loops
from indexing.runtime.device import Device, Launch
from indexing.runtime.identity import HOST_DIALECT
from indexing.runtime.memory import ArrayFormat
from indexing.runtime.tape import HostStep, LibraryCall, SmallKernel, Tape

MAX_REPEATED = 200  # steps of a computation that is recorded at each of several calls
MAX_NESTING = 50

Held: TypeAlias = "dict[int, Value]"  # the arrays of slots


@dataclass(frozen=True, slots=True)
class _Subroutine:
    """A schedule that is recorded once: its start, the counter by which it returns, its parameters and results."""

    start: int
    counter: int
    parameters: tuple[Value, ...]
    results: tuple[Value, ...]


class Recording:
    """A program's tape, the kernels and instructions that its times are of, and the formats of its arguments and results."""

    def __init__(self, schedules: Sequence[Schedule], device: Device) -> None:
        """Record schedules, callees before callers, for a device; the last one is the program's."""
        self.registers = Registers(device)
        self.launched: list[Kernel | Instruction] = []  # kernels, and the instructions of solvers
        # Those of steps of the host and of libraries; None for changes of layout.
        self.instructions: list[Instruction | None] = []
        self._kernel_numbers: dict[int, int] = {}  # by the identity of the launch
        self._host_numbers: dict[Hashable, int] = {}
        self._subroutines: dict[Schedule, _Subroutine] = {}
        self._nesting = 0  # of loops, around the instruction that is recorded
        entry = schedules[-1]
        self._record_subroutines(subroutines(schedules))
        self.argument_formats = tuple(_argument_format(entry, slot) for slot in entry.parameters)
        arguments = [self.registers.argument(form) for form in self.argument_formats]
        results = self._own_results(self._inlined(entry, arguments))
        self.result_formats = tuple(value.format for value in results)
        self.tape.results += (value.register for value in results)
        self.tape.end()

    @property
    def tape(self) -> Tape:
        """The tape."""
        return self.registers.tape

    @property
    def timed(self) -> list[Kernel | Instruction | None]:
        """The kernel or instruction of each number of a run's times."""
        return [*self.launched, *self.instructions]

    def _own_results(self, results: Sequence[Value]) -> list[Value]:
        """The results, each in memory that is the caller's alone: copies of arguments, constants, and other results."""
        return [self.registers.sole(value) for value in results]

    # ------------------------------------------------------------ callees

    def _record_subroutines(self, schedules: Sequence[Schedule]) -> None:
        """Record subroutines in front of the program, which jumps over them."""
        begin = self.tape.jump() if schedules else None
        for schedule in schedules:
            start, counter = self.tape.position, self.tape.counter()
            parameters = tuple(self.registers.take(schedule.formats[slot]) for slot in schedule.parameters)
            results = tuple(self.registers.sole(v) for v in self._inlined(schedule, parameters))
            self.tape.return_by(counter)
            self.registers.reserve()
            self._subroutines[schedule] = _Subroutine(start, counter, parameters, results)
        if begin is not None:
            self.tape.land(begin)

    def _called(self, callee: Schedule, arguments: Sequence[Value]) -> list[Value]:
        """Record a callee, which takes over the ownership of `arguments`. The caller owns the arrays returned, its results."""
        if callee not in self._subroutines:
            return self._inlined(callee, arguments)
        subroutine = self._subroutines[callee]
        for parameter, argument in zip(subroutine.parameters, arguments, strict=True):
            self._deliver([parameter], [self._in_format(argument, parameter.format)])
        self.tape.call(subroutine.counter, subroutine.start)
        results = [self.registers.take(value.format) for value in subroutine.results]
        pairs = zip(results, subroutine.results, strict=True)
        self.tape.move([pair for a, b in pairs for pair in ((a.register, b.register), (b.register, a.register))])
        return results

    def _inlined(self, schedule: Schedule, arguments: Sequence[Value]) -> list[Value]:
        """Record a schedule here, as `_called`."""
        constants = schedule.constants.items()
        held = {slot: self.registers.constant(array, schedule.formats[slot]) for slot, array in constants}
        held.update(zip(schedule.parameters, arguments, strict=True))
        self.registers.release(*map(held.pop, schedule.unread))
        for step, last in zip(schedule.steps, schedule.last_uses, strict=True):
            self._step(step, last, held)
            self.registers.release(*map(held.pop, last & held.keys()))
        results = [self.registers.retained(held[slot]) for slot in schedule.results]
        self.registers.release(*held.values())
        return results

    # ------------------------------------------------------------ steps

    def _step(self, step: Step, last: frozenset[int], held: Held) -> None:
        """Record a step; the arrays of its outputs are put into `held`, those of `last` may be taken from it."""
        if isinstance(step, KernelStep):
            self._kernel(step, last, held)
        elif isinstance(step, ViewStep):
            self._view(step, held)
        elif isinstance(step, ReferenceStep):
            self._reference(step, held)
        elif isinstance(step, LibraryStep):
            self._library(step, held)
        elif isinstance(step, SolverStep):
            self._solver(step, held)
        elif isinstance(step, LoopStep):
            self._loop(step, last, held)
        elif isinstance(step, BranchStep):
            self._branches(step, last, held)
        else:
            assert isinstance(step, CallStep)
            held.update(
                zip(step.outputs, self._called(step.body, self._passed(step.operands, last, held)), strict=True)
            )

    def _kernel(self, step: KernelStep, last: frozenset[int], held: Held) -> None:
        number = self._launched(id(step.launch), step.kernel, step.launch)
        if self._nesting:
            self._note_small(number, step.kernel)
        with self._inputs(step, held) as inputs:
            registers = [self._argument(step, argument, inputs, last, held) for argument in step.passed]
            self.tape.launch(number, registers)
            for position, output in step.results:
                held[step.outputs[output]] = Value(registers[position], step.output_formats[output])

    def _launched(self, key: int, what: Kernel | Instruction, launch: Launch) -> int:
        """The number of a launch in the tape."""
        number = self._kernel_numbers.setdefault(key, len(self.launched))
        if number == len(self.launched):
            self.launched.append(what)
            self.tape.kernels.append(launch)
        return number

    def _note_small(self, number: int, kernel: Kernel) -> None:
        """Let the tape know a kernel that loops of the processor may inline."""
        if kernel.dialect != HOST_DIALECT or number in self.tape.small:
            return
        steps = costs_of_loops(kernel.lowered, kernel.device.memory).steps
        if steps <= MAX_INLINED_STEPS:
            self.tape.small[number] = SmallKernel(kernel, int(steps))

    def _view(self, step: ViewStep, held: Held) -> None:
        """Let the output share its operand's memory: whoever writes to one of them gets a copy."""
        with self._inputs(step, held) as (source,):
            held[step.outputs[0]] = self.registers.retained(source)._replace(format=step.output_formats[0])

    @contextmanager
    def _inputs(self, step: KernelStep | LibraryStep | SolverStep | ViewStep, held: Held) -> Iterator[list[Value]]:
        """The operands in the formats that the step expects, which later readers get too; the arrays so replaced stay until
        the step is recorded.
        """
        inputs, replaced = [], []
        for slot, form in zip(step.operands, step.operand_formats, strict=True):
            value = held[slot]
            held[slot] = self._in_format(self.registers.retained(value), form)
            if held[slot] is value:
                self.registers.release(value)
            else:
                replaced.append(value)
            inputs.append(held[slot])
        yield inputs
        self.registers.release(*replaced)

    def _outputs(self, step: ReferenceStep | LibraryStep | SolverStep, held: Held) -> list[Value]:
        """Registers for the outputs of a step."""
        results = [self.registers.take(form) for form in step.output_formats]
        held.update(zip(step.outputs, results, strict=True))
        return results

    def _argument(
        self, step: KernelStep, argument: Argument, inputs: Sequence[Value], last: frozenset[int], held: Held
    ) -> int:
        """The register of an argument that is passed to a launch."""
        number = argument.number
        if argument.kind == "scratch":
            return self.registers.zeros((id(step), number), np.asarray(argument.zeros()))
        if argument.kind == "output":
            return self.registers.take(step.output_formats[number]).register
        if number not in step.in_place_operands:
            return inputs[number].register
        slot = step.operands[number]
        if slot in last and step.operands.count(slot) == 1:
            return self.registers.sole(held.pop(slot)).register
        return self.registers.sole(self.registers.retained(inputs[number])).register

    def _reference(self, step: ReferenceStep, held: Held) -> None:
        operands = [held[slot] for slot in step.operands]
        host = HostStep(step.compute, tuple(v.format for v in operands), step.output_formats)
        self._host((id(step), host.operands), host, step.instruction, operands, self._outputs(step, held))

    def _library(self, step: LibraryStep, held: Held) -> None:
        with self._inputs(step, held) as operands:
            call = LibraryCall(step.launch)
            self._host(id(step), call, step.instruction, operands, self._outputs(step, held))

    def _solver(self, step: SolverStep, held: Held) -> None:
        """Record the launch of a solver, whose sizes are a constant and whose work areas are free afterwards."""
        with self._inputs(step, held) as operands:
            results = self._outputs(step, held)
            sizes = self.registers.constant(step.sizes, ArrayFormat(step.sizes.dtype, step.sizes.shape, (0,)))
            work = self.registers.take(ArrayFormat(np.dtype(np.uint8), (step.solver.work_bytes,), (0,)))
            number = self._launched(id(step), step.instruction, step.launch)
            self.tape.launch(number, [v.register for v in (sizes, *operands, *results, work)])
            self.registers.release(sizes, work)

    def _in_format(self, value: Value, form: ArrayFormat) -> Value:
        """The array in a format, for its owner: itself, or a copy by the host, which is made once of a constant."""
        if value.format.has_memory_of(form):
            return value
        constant = self.registers.constant_array(value)
        if constant is not None:
            self.registers.release(value)
            return self.registers.constant(constant, form)
        changed = self.registers.take(form)
        host = HostStep(_unchanged, (value.format,), (form,))
        self._host((value.format, form), host, None, [value], [changed])
        self.registers.release(value)
        return changed

    def _host(
        self,
        key: Hashable,
        step: HostStep | LibraryCall,
        instruction: Instruction | None,
        operands: Sequence[Value],
        results: Sequence[Value],
    ) -> None:
        number = self._host_numbers.setdefault(key, len(self.instructions))
        if number == len(self.instructions):
            self.instructions.append(instruction)
            self.tape.host_steps.append(step)
        self.tape.host(number, [v.register for v in operands], [v.register for v in results])

    # ------------------------------------------------------------ control flow

    def _loop(self, step: LoopStep, last: frozenset[int], held: Held) -> None:
        body, registers = step.body, self.registers
        formats = [body.formats[slot] for slot in body.parameters]
        given = self._passed(step.operands, last, held)
        state = [self._in_format(v, form) for v, form in zip(given, formats, strict=True)]
        carried = len(body.results)  # what follows these are arrays that each turn reads
        changing = [k for k, slot in enumerate(body.results) if slot != body.parameters[k]]
        for k in changing:
            state[k] = registers.sole(state[k])
        start = self.tape.position
        self._nesting += 1
        leaves = self._exit(step.condition, state[:carried])
        fixed = [k for k in range(len(state)) if k not in changing]
        results = self._called(body, [registers.retained(v) if k in fixed else v for k, v in enumerate(state)])
        self._nesting -= 1
        registers.release(*(results[k] for k in fixed if k < carried))
        for k in changing:
            results[k] = registers.sole(self._in_format(results[k], formats[k]))
        registers.exchange({state[k].register: results[k].register for k in changing})
        self.tape.jump(start)
        self.tape.land(leaves)
        registers.release(*state[carried:])
        held.update(zip(step.outputs, state[:carried], strict=True))

    def _exit(self, condition: Schedule | int, state: Sequence[Value]) -> int:
        """Record the loop's exit test before a turn; returns the jump, whose target is set by `land`."""
        if isinstance(condition, int):
            return self.tape.unless_repeated(condition)
        (answer,) = self._called(condition, [self.registers.retained(value) for value in state])
        self.registers.release(answer)
        return self.tape.unless(answer.register)

    def _branches(self, step: BranchStep, last: frozenset[int], held: Held) -> None:
        outputs = [self.registers.take(form) for form in step.output_formats]
        starts = self._branch_starts(step, held[step.operands[0]].register)
        ending = {slot for operands in step.branch_operands for slot in operands} & last
        before, ends = self.registers.owners(), []
        for place, branch, operands in zip(starts, step.branches, step.branch_operands, strict=True):
            self.registers.reset(before)
            self.tape.land(place)
            own = dict(held)
            results = self._called(branch, self._passed(operands, last, own))
            self._deliver(outputs, [self._in_format(v, out.format) for v, out in zip(results, outputs, strict=True)])
            self.registers.release(*(own[slot] for slot in ending & own.keys()))
            ends.append(self.tape.jump())
        for slot in ending:
            held.pop(slot)
        for place in ends:
            self.tape.land(place)
        held.update(zip(step.outputs, outputs, strict=True))

    def _branch_starts(self, step: BranchStep, selector: int) -> list[int]:
        """Record the jump by the selector; returns, for each branch, the jump whose target is the branch's start."""
        if step.is_by_predicate:
            otherwise = self.tape.unless(selector)
            return [self.tape.jump(), otherwise]
        return self.tape.switch(selector, len(step.branches))

    def _deliver(self, targets: Sequence[Value], sources: Sequence[Value]) -> None:
        """Move or copy the arrays of sources, whose owner gives them up, to the registers of targets."""
        moved = []
        for (target, _), source in zip(targets, sources, strict=True):
            if self.registers.is_sole(source):
                moved += [(target, source.register), (source.register, target)]
            else:
                self.tape.copy(target, source.register)
            self.registers.release(source)
        self.tape.move(moved)

    def _passed(self, slots: Sequence[int], last: frozenset[int], held: Held) -> list[Value]:
        """The arrays of slots for a callee: moved at their last use in the caller, else shared."""
        arrays = []
        for position, slot in enumerate(slots):
            is_last = slot in last and slot not in slots[position + 1 :]
            arrays.append(held.pop(slot) if is_last else self.registers.retained(held[slot]))
        return arrays


def subroutines(schedules: Sequence[Schedule]) -> list[Schedule]:
    """Those of a program's schedules, callees before callers, that are recorded once."""
    sites = Counter(callee for schedule in schedules for step in schedule.steps for callee in step.callees)
    sizes: dict[Schedule, int] = {}
    nesting: dict[Schedule, int] = {}
    recorded: dict[Schedule, None] = {}
    for schedule in schedules[:-1]:
        inlined = [c for step in schedule.steps for c in step.callees if c not in recorded]
        sizes[schedule] = len(schedule.steps) + sum(sizes[c] for c in inlined)
        nesting[schedule] = 1 + max((nesting[c] for c in inlined), default=0)
        if (sites[schedule] > 1 and sizes[schedule] > MAX_REPEATED) or nesting[schedule] > MAX_NESTING:
            recorded[schedule] = None
    return list(recorded)


def _argument_format(entry: Schedule, slot: int) -> ArrayFormat:
    """The format of an argument: that of its parameter if it is row-major, as callers' arrays are, else of its first reader."""
    stated = entry.formats[slot]
    readers = (
        step
        for step in entry.steps
        if isinstance(step, KernelStep | LibraryStep | SolverStep | ViewStep) and slot in step.operands
    )
    first = next((step.operand_formats[step.operands.index(slot)] for step in readers), None)
    return stated if stated.is_row_major else first or stated.row_major


def _unchanged(arrays: Sequence[np.ndarray]) -> Sequence[np.ndarray]:
    return arrays
