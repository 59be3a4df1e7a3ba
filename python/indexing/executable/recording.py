"""Recording of a plan's steps on a tape: registers are allocated to arrays before anything runs.

What an unrecorded run decides by counting owners is decided here once: memory is reused after its last read, and a kernel
that works in place gets its operand's own memory if nothing else needs it. Each turn of a loop leaves the state in the
registers where it found it: registers exchange addresses, or elements are copied if one array goes to several registers.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from indexing.executable.memory import byte_count
from indexing.executable.steps import ConditionalStep, KernelStep, Plan, Step, WhileStep
from indexing.runtime.tape import Tape

if TYPE_CHECKING:
    from indexing.emitters.kernel import Argument, Kernel
    from indexing.executable.memory import OwnedArray


class Recording:
    """A tape under construction, the kernels that it launches, and the owners of each register at its end."""

    def __init__(self) -> None:
        """Start with an empty tape."""
        self.tape = Tape()
        self.kernels: list[Kernel] = []
        self._numbers: dict[int, int] = {}  # of kernels, by the identity of their launches
        self._owners: defaultdict[int, int] = defaultdict(int)
        self._free: defaultdict[int, list[int]] = defaultdict(list)
        self._borrowed: set[int] = set()  # registers whose memory the program does not own
        self._constants: dict[int, int] = {}  # by the identity of the array
        self._scratch: dict[tuple[int, int], int] = {}  # by the identity of the step, and the argument's number

    # ------------------------------------------------------------ registers

    def argument(self, nbytes: int) -> int:
        """Add an argument; its register has one owner."""
        register = self.tape.register(nbytes)
        self.tape.arguments.append(register)
        self._borrowed.add(register)
        self._owners[register] = 1
        return register

    def constant(self, held: OwnedArray) -> int:
        """The register of a constant array, with one more owner."""
        if id(held) not in self._constants:
            register = self.tape.register(byte_count(held.shape))
            self.tape.constants[register] = held.on_device()
            self._borrowed.add(register)
            self._constants[id(held)] = register
        return self._retained(self._constants[id(held)])

    def is_own(self, register: int) -> bool:
        """Whether the program owns the register's memory."""
        return register not in self._borrowed

    def _take(self, nbytes: int) -> int:
        free = self._free[nbytes]
        register = free.pop() if free else self.tape.register(nbytes)
        self._owners[register] = 1
        return register

    def _retained(self, register: int) -> int:
        self._owners[register] += 1
        return register

    def _release(self, register: int) -> None:
        self._owners[register] -= 1
        if self._owners[register] == 0 and self.is_own(register):
            self._free[self.tape.sizes[register]].append(register)

    def _consumed(self, register: int) -> bool:
        """Whether its sole owner may overwrite the register's memory; the program then owns it, even an argument's."""
        if self._owners[register] != 1 or register in self.tape.constants:
            return False
        if register in self._borrowed:
            self._borrowed.remove(register)
            self.tape.consumed.add(register)
        return True

    def _copied(self, register: int) -> int:
        """A copy of the register for one of its owners."""
        copy = self._take(self.tape.sizes[register])
        self.tape.copy(copy, register)
        self._release(register)
        return copy

    # ------------------------------------------------------------ steps

    def plan(self, plan: Plan, arguments: Sequence[int]) -> list[int]:
        """Record a plan, which takes over the ownership of `arguments`. The caller owns the registers returned, its results."""
        held = {slot: self.constant(array) for slot, array in plan.constants.items()}
        held.update(zip(plan.parameters, arguments, strict=True))
        for slot in plan.unread_slots():
            self._release(held.pop(slot))
        self.steps(plan.steps, held)
        results = [self._retained(held[slot]) for slot in plan.results]
        for register in held.values():
            self._release(register)
        return results

    def steps(self, steps: Sequence[Step], held: dict[int, int]) -> None:
        """Record steps; `held` has the registers of slots, and is updated."""
        for step in steps:
            if isinstance(step, KernelStep):
                self._kernel(step, held)
            elif isinstance(step, WhileStep):
                self._while(step, held)
            else:
                assert isinstance(step, ConditionalStep)
                self._conditional(step, held)
            for slot in step.last_use:
                if slot in held:
                    self._release(held.pop(slot))

    def _kernel(self, step: KernelStep, held: dict[int, int]) -> None:
        registers = [self._argument_register(step, argument, held) for argument in step.passed]
        number = self._numbers.setdefault(id(step.launch), len(self.kernels))
        if number == len(self.kernels):
            self.kernels.append(step.kernel)
            self.tape.kernels.append(step.launch)
        self.tape.launch(number, registers)
        for position, slot, _ in step.results:
            held[slot] = registers[position]

    def _argument_register(self, step: KernelStep, argument: Argument, held: dict[int, int]) -> int:
        number = argument.number
        if argument.kind == "scratch":
            return self._zeros(step, argument)
        if argument.kind == "output":
            return self._take(byte_count(step.output_shapes[number]))
        slot = step.operands[number]
        if not step.overwrites(argument):
            return held[slot]
        if slot in step.last_use and step.operands.count(slot) == 1:
            register = held.pop(slot)
            return register if self._consumed(register) else self._copied(register)
        return self._copied(self._retained(held[slot]))

    def _zeros(self, step: KernelStep, argument: Argument) -> int:
        key = id(step), argument.number
        if key not in self._scratch:
            zeros = np.asarray(argument.zeros())
            self._scratch[key] = self.tape.register(zeros.nbytes)
            self.tape.zeros[self._scratch[key]] = zeros
            self._borrowed.add(self._scratch[key])
        return self._scratch[key]

    # ------------------------------------------------------------ control flow

    def _while(self, step: WhileStep, held: dict[int, int]) -> None:
        state = self._callee_registers(step.operands, step.last_use, held)
        plan = step.body
        changing = [k for k, slot in enumerate(plan.results) if slot != plan.parameters[k]]
        for k in changing:
            state[k] = state[k] if self._consumed(state[k]) else self._copied(state[k])
        tape, start = self.tape, self.tape.position
        leaves = self._exit(step.condition, state)
        results = self.plan(plan, state)
        for k in changing:
            results[k] = results[k] if self._consumed(results[k]) else self._copied(results[k])
        self._hand_over({state[k]: results[k] for k in changing})
        tape.jump(start)
        tape.land(leaves)
        held.update(zip(step.outputs, state, strict=True))

    def _exit(self, condition: Plan | int, state: Sequence[int]) -> int:
        """Record the loop's exit test before a turn; returns the jump, whose target is set by `land`."""
        if isinstance(condition, int):
            return self.tape.unless_repeated(condition)
        (answer,) = self.plan(condition, [self._retained(register) for register in state])
        self._release(answer)
        return self.tape.unless(answer)

    def _hand_over(self, source_of: dict[int, int]) -> None:
        """Move arrays from source to target registers, which are free by now, as a permutation of their addresses."""
        taker = {source: target for target, source in source_of.items()}
        pairs = [pair for pair in source_of.items() if pair[0] != pair[1]]
        for source in taker.keys() - source_of.keys():
            last = source
            while last in taker:
                last = taker[last]
            pairs.append((source, last))
            self._free[self.tape.sizes[last]].remove(last)
            self._owners[last] += 1
            self._release(source)
        self.tape.move(pairs)

    def _conditional(self, step: ConditionalStep, held: dict[int, int]) -> None:
        outputs = [self._take(byte_count(shape)) for shape in step.output_shapes]
        starts = self._branch_starts(step, held[step.selector])
        ending = {slot for operands in step.branch_operands for slot in operands} & step.last_use
        before, ends = dict(self._owners), []
        for place, branch, operands in zip(starts, step.branches, step.branch_operands, strict=True):
            self._reset(before)
            self.tape.land(place)
            own = dict(held)
            results = self.plan(branch, self._callee_registers(operands, step.last_use, own))
            self._deliver(outputs, results)
            for slot in ending & own.keys():
                self._release(own[slot])
            ends.append(self.tape.jump())
        for slot in ending:
            held.pop(slot)
        for place in ends:
            self.tape.land(place)
        held.update(zip(step.outputs, outputs, strict=True))

    def _branch_starts(self, step: ConditionalStep, selector: int) -> list[int]:
        """Record the jump by the selector; returns, for each branch, the jump whose target is the branch's start."""
        if step.is_by_predicate:
            otherwise = self.tape.unless(selector)
            return [self.tape.jump(), otherwise]
        return self.tape.switch(selector, len(step.branches))

    def _reset(self, owners: dict[int, int]) -> None:
        """Restore a state of ownership; registers allocated since then are free."""
        self._owners = defaultdict(int, owners)
        self._free.clear()
        for register, nbytes in enumerate(self.tape.sizes):
            if self._owners[register] == 0 and self.is_own(register):
                self._free[nbytes].append(register)

    def _deliver(self, targets: Sequence[int], sources: Sequence[int]) -> None:
        """Move or copy the arrays of source registers to target registers."""
        moved = []
        for target, source in zip(targets, sources, strict=True):
            if self._consumed(source):
                moved += [(target, source), (source, target)]
            else:
                self.tape.copy(target, source)
            self._release(source)
        self.tape.move(moved)

    def _callee_registers(self, slots: Sequence[int], last_use: frozenset[int], held: dict[int, int]) -> list[int]:
        """The registers of slots for a callee: moved at their last use in the caller, else shared."""
        found = []
        for position, slot in enumerate(slots):
            is_last = slot in last_use and slot not in slots[position + 1 :]
            found.append(held.pop(slot) if is_last else self._retained(held[slot]))
        return found
