"""The steps along the sum of a product of tiles: a tile of each operand is copied to shared memory, then multiplied."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from indexing._core import SymbolicExpr, constant
from indexing.kernels.function_builder import FunctionBuilder
from indexing.kernels.ir.nodes import WaitCopies
from indexing.kernels.launch import loop_over


@dataclass(frozen=True, slots=True)
class Steps:
    """Builds `count` steps with so many `stages` of shared memory, from `copy`, of the tiles of a step to a stage, and
    `multiply`, of the tiles of a step in a stage, which also builds the copies of a later step, where it likes.
    """

    body: FunctionBuilder
    count: int
    stages: int
    copy: Callable[[SymbolicExpr, int], None]
    multiply: Callable[[SymbolicExpr, int, Callable[[], None]], None]

    def build(self) -> None:
        """Build all steps."""
        if self.stages == 1:
            self._one_by_one()
        else:
            self._in_turns()

    def _one_by_one(self) -> None:
        """Build the steps so that a tile is copied, then multiplied."""
        with loop_over(self.body, self.count, "step") as step:
            self.copy(step, 0)
            self.body.barrier()
            self.multiply(step, 0, lambda: None)
            if self.count > 1:
                self.body.barrier()

    def _in_turns(self) -> None:
        """Build the steps in turns of the stages: while a tile is multiplied, the next ones are copied to the other stages.

        A barrier separates the copies of a tile from its products, and the products of the tile before from the copies of a
        later one. The last steps, of which some copy nothing, follow the loop.
        """
        turns = max(self.count - self.stages + 1, 0) // self.stages
        for step in range(self.stages - 1):
            if step:
                self._wait()
            if step < self.count:
                self.copy(constant(step), step)
        if turns:
            with loop_over(self.body, turns, "turn") as turn:
                for stage in range(self.stages):
                    self._step(turn * self.stages + stage, stage)
        for step in range(turns * self.stages, self.count):
            self._step(constant(step), step % self.stages)

    def _step(self, step: SymbolicExpr, stage: int) -> None:
        self._wait()
        self.body.barrier()
        self.multiply(step, stage, lambda: self._copy_later(step, (stage - 1) % self.stages))

    def _copy_later(self, step: SymbolicExpr, stage: int) -> None:
        """Copy the tiles of the step for which a stage is free at a step, if there is one."""
        body, last = self.body, self.count - 1
        later = body.scope.simplify(step + self.stages - 1)
        if body.range(later).upper <= last:
            self.copy(later, stage)

    def _wait(self) -> None:
        """Wait until a step's tiles are copied, but not those of the steps after it."""
        self.body.add(WaitCopies(self.stages - 2))
