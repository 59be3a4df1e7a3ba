"""The steps along the sum of a product of tiles: a tile of each operand is copied to shared memory, then multiplied."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from indexing._core import SymbolicExpr, constant
from indexing.kernels.ir.nodes import WaitCopies
from indexing.kernels.launch import guarded, loop_over

if TYPE_CHECKING:
    from collections.abc import Callable

    from indexing.kernels.function_builder import FunctionBuilder


@dataclass(frozen=True, slots=True)
class Steps:
    """Builds `count` steps with so many `stages` of shared memory, from `copy`, of the tiles of a step to a stage, and
    `multiply`, of the tiles of a step in a stage.
    """

    body: FunctionBuilder
    count: int
    stages: int
    copy: Callable[[SymbolicExpr, int], None]
    multiply: Callable[[SymbolicExpr, int], None]

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
            self.multiply(step, 0)
            if self.count > 1:
                self.body.barrier()

    def _in_turns(self) -> None:
        """Build the steps in turns of two stages: while a tile is multiplied, the next one is copied to the other stage.

        A barrier separates the copies of a tile from its products, and the products of the tile before from the copies of the
        next one.
        """
        turns, rest = divmod(self.count, 2)
        self.copy(constant(0), 0)
        if turns:
            with loop_over(self.body, turns, "turn") as turn:
                for stage in range(2):
                    self._step(turn * 2 + stage, stage)
        if rest:
            self._step(constant(self.count - 1), 0)

    def _step(self, step: SymbolicExpr, stage: int) -> None:
        body, last = self.body, self.count - 1
        body.add(WaitCopies())
        body.barrier()
        following = body.scope.simplify(step + 1)
        if body.range(following).lower <= last:
            with guarded(body, body.within(following, None, last)):
                self.copy(following, 1 - stage)
        self.multiply(step, stage)
