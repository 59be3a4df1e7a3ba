"""Tests for instructions that kernels can compute."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from indexing.hlo import Computation, Instruction
from indexing.ops.registry import traits_of
from indexing.walks import post_order


class KernelSupport:
    """Tells which instructions kernels can compute: those with element code, as have the computations that they apply.

    `in_library` tells which of them a library of the device computes instead; `by_emitter` which instructions without element
    code an emitter computes, in a kernel around them; `by_solver` which a function of C computes by itself.
    """

    def __init__(
        self,
        in_library: Callable[[Instruction], bool] = lambda _: False,
        by_emitter: Callable[[Instruction], bool] = lambda _: False,
        by_solver: Callable[[Instruction], bool] = lambda _: False,
    ) -> None:
        """Start with no answers; they are memoized by computation."""
        self.in_library, self._by_emitter, self.by_solver = in_library, by_emitter, by_solver
        self._known: dict[Computation, bool] = {}

    def instruction(self, instruction: Instruction) -> bool:
        """Whether a kernel can compute the instruction; constant arrays are passed to kernels instead."""
        op = traits_of(instruction)
        if op.element is None or op.calls in ("fused", "inlined", "branches", "loops", "starts") or op.kind == "alias":
            return False
        if instruction.is_constant and (instruction.shape.is_tuple or instruction.shape.element_count != 1):
            return False
        return all(map(self.computation, instruction.called)) and not self.in_library(instruction)

    def around(self, instruction: Instruction) -> bool:
        """Whether a kernel around the instruction computes it, although it has no element code."""
        return self._by_emitter(instruction) and all(map(self.computation, instruction.called))

    def computation(self, computation: Computation) -> bool:
        """Whether a kernel can compute every instruction of a computation."""

        def unknown(computations: Iterable[Computation]) -> Iterator[Computation]:
            return (c for c in computations if c not in self._known)

        for c in post_order(unknown([computation]), lambda c: unknown(c.called)):
            has_code = all(map(_has_element_code, c.instructions.values()))
            self._known[c] = has_code and all(self._known[called] for called in c.called)
        return self._known[computation]


def _has_element_code(instruction: Instruction) -> bool:
    op = traits_of(instruction)
    return op.kind == "alias" or instruction.is_parameter or op.element is not None
