"""Schedules of computations: what runs in which order, on arrays that are numbered slots. Recording turns them into a tape."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from heapq import heappop, heappush

import numpy as np

from indexing.hlo import Instruction, Shape
from indexing.kernels.kernel import Argument, Kernel
from indexing.kernels.solvers import Solver
from indexing.runtime.device import Launch
from indexing.runtime.memory import ArrayFormat


@dataclass(frozen=True, slots=True, eq=False)
class Step:
    """A step that reads the arrays of operand slots and writes those of output slots, in the given formats."""

    operands: tuple[int, ...]
    outputs: tuple[int, ...]
    output_formats: tuple[ArrayFormat, ...]

    @property
    def callees(self) -> tuple[Schedule, ...]:
        """The schedules that the step runs."""
        return ()


@dataclass(frozen=True, slots=True, eq=False)
class KernelStep(Step):
    """Launch a kernel on the memory of its operands, which it expects in `operand_formats`."""

    kernel: Kernel
    launch: Launch
    operand_formats: tuple[ArrayFormat, ...]

    @property
    def passed(self) -> tuple[Argument, ...]:
        """The arguments of a launch, in order: outputs that share an operand's memory are not passed."""
        return tuple(a for a in self.kernel.arguments if a.alias_of is None)

    @property
    def in_place_operands(self) -> frozenset[int]:
        """The numbers of the operands whose memory outputs share."""
        return frozenset(self.kernel.in_place.values())

    @property
    def results(self) -> tuple[tuple[int, int], ...]:
        """For each output, its place in `passed`, and its number."""
        passed = [k for k, a in enumerate(self.kernel.arguments) if a.alias_of is None]
        return tuple(
            (passed.index(k if a.alias_of is None else a.alias_of), a.number)
            for k, a in enumerate(self.kernel.arguments)
            if a.kind == "output"
        )


@dataclass(frozen=True, slots=True, eq=False)
class ViewStep(Step):
    """Give the memory of the operand, in the format in `operand_formats`, to the output; nothing runs."""

    operand_formats: tuple[ArrayFormat, ...]


@dataclass(frozen=True, slots=True, eq=False)
class ReferenceStep(Step):
    """Compute an instruction by the numpy reference, on the host."""

    instruction: Instruction
    compute: Callable[[Sequence[np.ndarray]], Sequence[np.ndarray]]


@dataclass(frozen=True, slots=True, eq=False)
class LibraryStep(Step):
    """Compute an instruction by a library of the device, on the memory of its operands in `operand_formats`."""

    operand_formats: tuple[ArrayFormat, ...]
    instruction: Instruction
    launch: Launch


@dataclass(frozen=True, slots=True, eq=False)
class SolverStep(Step):
    """Launch a function of C that computes an instruction from the memory of its operands in `operand_formats`."""

    operand_formats: tuple[ArrayFormat, ...]
    instruction: Instruction
    solver: Solver
    sizes: np.ndarray  # those of the solver
    launch: Launch


@dataclass(frozen=True, slots=True, eq=False)
class CallStep(Step):
    """Run another schedule once."""

    body: Schedule

    @property
    def callees(self) -> tuple[Schedule, ...]:
        """The callee."""
        return (self.body,)


@dataclass(frozen=True, slots=True, eq=False)
class LoopStep(Step):
    """Run `body` while `condition` holds, or the given number of times."""

    condition: Schedule | int
    body: Schedule

    @property
    def callees(self) -> tuple[Schedule, ...]:
        """The body, and the condition if it is computed."""
        return (self.body,) if isinstance(self.condition, int) else (self.condition, self.body)


@dataclass(frozen=True, slots=True, eq=False)
class BranchStep(Step):
    """Run the branch that the first operand selects, on the operands of that branch.

    A predicate selects the first of two branches if it is true; an index out of range selects the last branch.
    """

    branches: tuple[Schedule, ...]
    branch_operands: tuple[tuple[int, ...], ...]
    is_by_predicate: bool

    @property
    def callees(self) -> tuple[Schedule, ...]:
        """The branches."""
        return self.branches


@dataclass(frozen=True, slots=True, eq=False)
class Schedule:
    """The steps of one computation, from the slots of its parameters to the slots of its result.

    `formats` has the format of each slot, `constants` the arrays of some. After each step, the slots of `last_uses` are read
    no more; those of `unread` never are.
    """

    parameters: tuple[int, ...]
    steps: tuple[Step, ...]
    results: tuple[int, ...]
    constants: Mapping[int, np.ndarray]
    formats: Mapping[int, ArrayFormat]
    last_uses: tuple[frozenset[int], ...]
    unread: tuple[int, ...]


def scheduled(
    parameters: tuple[int, ...],
    steps: Sequence[Step],
    results: tuple[int, ...],
    constants: Mapping[int, np.ndarray],
    formats: Mapping[int, ArrayFormat],
) -> Schedule:
    """The schedule of steps, which may be listed in any order."""
    written = {*parameters, *constants, *(slot for step in steps for slot in step.outputs)}
    assert all(slot in written for step in steps for slot in step.operands), "no step writes an array that one reads"
    order = _in_order(steps)
    read = {slot for step in order for slot in step.operands}
    unread = {*parameters, *constants} - read - set(results)
    return Schedule(parameters, tuple(order), results, constants, formats, _last_uses(order, results), tuple(unread))


@lru_cache(maxsize=4096)
def format_of(shape: Shape) -> ArrayFormat:
    """The format of arrays of a shape; dimensions of one element have no place in memory, and come in their own order."""
    sizes, order = shape.dimensions, tuple(reversed(shape.minor_to_major))
    if shape.element_count == 0:
        order = tuple(range(len(sizes)))
    wide = iter(d for d in order if sizes[d] != 1)
    return ArrayFormat(shape.dtype, sizes, tuple(d if n == 1 else next(wide) for d, n in enumerate(sizes)))


def _last_uses(steps: Sequence[Step], results: Sequence[int]) -> tuple[frozenset[int], ...]:
    """For each step, the slots that it reads or writes and nothing reads afterwards."""
    seen = set(results)
    last_uses = []
    for step in reversed(steps):
        touched = {*step.operands, *step.outputs}
        last_uses.append(frozenset(touched - seen))
        seen |= touched
    return tuple(reversed(last_uses))


def _in_order(steps: Sequence[Step]) -> list[Step]:
    """The steps in topological order; in graph order, a kernel of several results may stand behind readers of the first."""
    writer = {slot: k for k, step in enumerate(steps) for slot in step.outputs}
    readers: list[list[int]] = [[] for _ in steps]
    missing = [0] * len(steps)
    for k, step in enumerate(steps):
        for slot in {*step.operands} & writer.keys():
            readers[writer[slot]].append(k)
            missing[k] += 1
    ready = [k for k, count in enumerate(missing) if not count]
    order = []
    while ready:
        k = heappop(ready)
        order.append(steps[k])
        for reader in readers[k]:
            missing[reader] -= 1
            if not missing[reader]:
                heappush(ready, reader)
    assert len(order) == len(steps), "kernels read each other's results"
    return order
