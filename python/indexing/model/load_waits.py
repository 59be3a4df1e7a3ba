"""Waits of warps for loads. Loads that are under way together are waited for once: those of statements that follow each other,
and of the iterations that a compiler unrolls, unless the index of one depends on the value of another (the parallelism of
memory accesses in Little's law, as Volkov counts it in "Understanding Latency Hiding on GPUs", 2016).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from indexing._core import SymbolicExpr
from indexing.kernels.ir import nodes as ir
from indexing.kernels.ir.traversal import expressions_in, subvalues, values_of

__all__ = ["LoadRun"]


@dataclass(slots=True)
class LoadRun:
    """The loads of a run of statements without a barrier, a branch or a loop between them, which is executed so many `times`:
    their number, and the length of the longest chain in which each depends on the one before.
    """

    buffers: Collection[str]
    times: float
    loads: float = 0.0
    chain: int = 0
    _lengths: dict[str | int, int] = field(default_factory=dict)

    def add(self, s: ir.Statement, times: float) -> None:
        """Add a statement that is executed so often."""
        values = [v for value in values_of(s) for v in subvalues(value)]
        loads = [v.index for v in values if isinstance(v, ir.Load) and v.buffer in self.buffers]
        if isinstance(s, ir.Copy | ir.CopyAsync) and s.source in self.buffers:
            loads.append((s.source_index,))
        if isinstance(s, ir.FetchAdd) and s.buffer in self.buffers:
            loads.append(s.index)
        of_loads = [1 + self._length_of_index(index) for index in loads]
        self.loads += len(loads) * times / self.times
        self.chain = max([self.chain, *of_loads])
        named = (self._lengths.get(v.name, 0) for v in values if isinstance(v, ir.Ref))
        length = max([self._length_of_index(expressions_in(s)), *named, *of_loads])
        if length:
            self._lengths.update(dict.fromkeys(_defined(s), length))

    def _length_of_index(self, index: Sequence[SymbolicExpr]) -> int:
        return max((self._lengths.get(k, 0) for e in index for k in e.used_variables()), default=0)

    def end(self, under_way: int) -> float:
        """The waits of the run, of whose loads so many are under way at most; then nothing is left of it."""
        waits = self.times * max(self.chain, self.loads / under_way)
        self.loads, self.chain = 0.0, 0
        self._lengths.clear()
        return waits


def _defined(s: ir.Statement) -> tuple[str | int, ...]:
    """The name of the value, or the number of the index variable, that a statement defines."""
    if isinstance(s, ir.LetIndex):
        return (s.variable,)
    return (s.name,) if isinstance(s, ir.Let | ir.Var | ir.Assign | ir.FetchAdd | ir.Shuffle) else ()
