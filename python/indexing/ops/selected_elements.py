"""Expansion of select-and-scatter (gradients of max pooling): each window's selected element is found by a reduce-window of
elements with their positions; then each element combines the source elements of those windows around it that selected it.
"""

from __future__ import annotations

import itertools
import math

from indexing.hlo import BuiltInstruction, Computation, ComputationBuilder, Instruction, Shape, WindowDim
from indexing.ops.expansion import NO_PLACE, Expansion, Scalars

MAX_WINDOWS = 64  # more windows around an element are left to the reference


def select_and_scatter_expansion(instruction: Instruction) -> Computation | None:
    """A computation equal to a select-and-scatter; None where more windows than MAX_WINDOWS are around an element."""
    around = [-(-w.size // w.stride) for w in instruction.window()]
    if math.prod(around) > MAX_WINDOWS or not instruction.shape.element_count:
        return None
    return _Selected(instruction).computation(around)


class _Selected:
    """The steps of one expansion."""

    def __init__(self, instruction: Instruction) -> None:
        self.instruction = instruction
        self.parts = Expansion(instruction)
        self.operand, self.source, self.start = self.parts.parameters
        self.window: tuple[WindowDim, ...] = instruction.window()
        self.index_type = "s32" if instruction.shape.element_count < 1 << 31 else "s64"

    def computation(self, around: list[int]) -> Computation:
        """The expansion; windows are combined in the order of their source elements."""
        parts, sizes = self.parts, self.operand.dimensions
        none = parts.constant(self.index_type, NO_PLACE)
        numbers = parts.add("iota", self.index_type, [math.prod(sizes)], [], iota_dimension=0)
        positions = parts.reshape(numbers, sizes)
        selected, scatter = self._selected(positions, none), self.instruction.computation_of("scatter")
        total = parts.broadcast(self.start, sizes, ())
        for steps in itertools.product(*(reversed(range(n)) for n in around)):
            is_own = parts.compare(self._around(selected, steps, none), positions, "EQ")
            combined = parts.combine(scatter, total, self._around(self.source, steps, self.start))
            total = parts.select(is_own, combined, total)
        return parts.finish([total])

    def _selected(self, positions: BuiltInstruction, none: BuiltInstruction) -> BuiltInstruction:
        """The position of each window's selected element."""
        results = [Shape.array(a.element_type, self.source.dimensions) for a in (self.operand, positions)]
        operands = [self.operand, positions, self.start, none]
        return self.parts.results_of(
            "reduce-window", results, operands, window=self.window, to_apply=self._comparison()
        )[1]

    def _comparison(self) -> ComputationBuilder:
        """The computation that selects one of two elements, each with its position."""
        select = self.parts.copy(self.instruction.computation_of("select"))

        def is_first(first: Scalars, second: Scalars) -> BuiltInstruction:
            return first[0].computation.add("call", Shape.array("pred", ()), [first[0], second[0]], to_apply=select)

        return self.parts.placed_choice("selected", self.operand.element_type, self.index_type, is_first)

    def _around(self, value: BuiltInstruction, steps: tuple[int, ...], filler: BuiltInstruction) -> BuiltInstruction:
        """For each element, the value of the window that is so many steps before the last one that contains it."""
        ends = []
        for axis, (w, step, n) in enumerate(zip(self.window, steps, self.operand.dimensions, strict=True)):
            value = self._repeated(value, axis, w.stride)
            low = step * w.stride - w.pad_low
            ends.append((low, n - value.dimensions[axis] - low))
        return self.parts.pad(value, filler, ends)

    def _repeated(self, value: BuiltInstruction, axis: int, times: int) -> BuiltInstruction:
        """Each element along an axis, so many times in a row."""
        if times == 1:
            return value
        before, n, after = value.dimensions[:axis], value.dimensions[axis], value.dimensions[axis + 1 :]
        kept = [k for k in range(len(value.dimensions) + 1) if k != axis + 1]
        return self.parts.reshape(
            self.parts.broadcast(value, (*before, n, times, *after), kept), (*before, n * times, *after)
        )
