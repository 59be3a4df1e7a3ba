"""The check of last-block reductions: fences and barriers separate the writes of all blocks from the last block's reads."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

from indexing._core import variable
from indexing.kernels.ir import nodes as ir
from indexing.kernels.ir.memory import Memory
from indexing.kernels.verify.check import Check

Path: TypeAlias = "tuple[int, ...]"  # the statement's number in its block, the block's in its statement, ...


def check_last_block(kernel: ir.Kernel) -> Iterator[Check]:
    """One check for each counter."""
    if any(isinstance(s, ir.FetchAdd) for s in ir.statements(kernel.body)):
        placed = list(_placed(kernel.body))
        for path, s in placed:
            if isinstance(s, ir.FetchAdd):
                fault = _BlockCounter(kernel, placed, path, s).fault()
                subject = f"memory that blocks meet in, by the counter {s.buffer}"
                yield Check("race", subject, "refuted" if fault else "proved", fault)


def _placed(block: ir.Block, path: Path = ()) -> Iterator[tuple[Path, ir.Statement]]:
    """All statements in program order, with their paths."""
    for k, s in enumerate(block):
        yield (*path, k), s
        for n, inner in enumerate(ir.blocks_of(s)):
            yield from _placed(inner, (*path, k, n))


def _comes_first(a: Path, b: Path) -> bool:
    """Whether a statement always runs before another: no branch or loop contains only the first."""
    return a[:-1] == b[: len(a) - 1] and len(a) <= len(b) and a[-1] < b[len(a) - 1]


class _BlockCounter:
    """The increment of a counter, by one thread of a block, after the block has written its part."""

    def __init__(
        self, kernel: ir.Kernel, placed: list[tuple[Path, ir.Statement]], arrival: Path, statement: ir.FetchAdd
    ) -> None:
        self.kernel, self.placed, self.arrival, self.counter = kernel, placed, arrival, statement.buffer
        self.fences = [p for p, s in placed if isinstance(s, ir.Fence)]
        self.barriers = [p for p, s in placed if isinstance(s, ir.Barrier)]

    def fault(self) -> str:
        """The reason why the arrival is wrong; empty if it is correct."""
        memory = Memory(self.kernel)
        scratch = {b.name for b in self.kernel.buffers if b.role == "scratch"} - {self.counter}
        is_reset = False
        for path, s in self.placed:
            if path < self.arrival and scratch.intersection(memory.written(s)):
                if not self._is_between(self.fences, path, self.arrival):
                    return "no fence between the block's writes and the arrival"
                is_first = self._is_first_thread(path) and self._is_first_thread(self.arrival)
                is_one = is_first or self.kernel.block == (1, 1, 1)
                if not is_one and not self._is_between(self.barriers, path, self.arrival):
                    return "no barrier between the block's writes and the arrival"
            if path > self.arrival and scratch.intersection(memory.read(s)):
                if not self._is_between(self.fences, self.arrival, path):
                    return "no fence between the arrival and the last block's reads"
            if path > self.arrival and self.counter in memory.written(s):
                is_reset = isinstance(s, ir.Store) and s.value == ir.Constant("u32", 0)
        return "" if is_reset else "the counter is not reset for the next launch"

    def _is_between(self, paths: list[Path], first: Path, second: Path) -> bool:
        return any(first < p and _comes_first(p, second) for p in paths)

    def _is_first_thread(self, path: Path) -> bool:
        """Whether a condition around a statement selects the first thread of a one-dimensional block."""
        block: ir.Block = self.kernel.body
        for k, n in zip(path[0:-1:2], path[1::2], strict=True):
            s = block[k]
            if isinstance(s, ir.If) and n == 0 and any(map(_is_first, s.conditions)):
                return self.kernel.block[1:] == (1, 1)
            block = ir.blocks_of(s)[n]
        return False


def _is_first(condition: ir.Value) -> bool:
    return isinstance(condition, ir.Within) and condition.expression == variable(0) and condition.upper == 0
