"""Waits of warps for loads. Loads that are under way together are waited for once: those of statements that follow each other,
and of the iterations that a compiler unrolls, unless the index of one depends on the value of another (the parallelism of
memory accesses in Little's law, as Volkov counts it in "Understanding Latency Hiding on GPUs", 2016).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from indexing._core import SymbolicExpr
from indexing.kernels.ir import nodes as ir


@dataclass(frozen=True, slots=True)
class StatementLoads:
    """The index variables of each load of a statement, all variables and values that it uses, and what it defines."""

    loads: tuple[tuple[int, ...], ...]
    used: tuple[int | str, ...]
    defined: tuple[int | str, ...]


def loads_of(
    s: ir.Statement, values: Sequence[ir.Value], expressions: Sequence[SymbolicExpr], buffers: Collection[str]
) -> StatementLoads:
    """The loads of a statement, which has these values and index expressions, from these buffers."""
    loads = [v.index for v in values if isinstance(v, ir.Load) and v.buffer in buffers]
    if isinstance(s, ir.Copy | ir.CopyAsync) and s.source in buffers:
        loads.append((s.source_index,))
    if isinstance(s, ir.FetchAdd) and s.buffer in buffers:
        loads.append(s.index)
    named = (v.name for v in values if isinstance(v, ir.Ref))
    return StatementLoads(tuple(map(_used, loads)), (*_used(expressions), *named), _defined(s))


@dataclass(slots=True)
class LoadRun:
    """The loads of a run of statements without a barrier, a branch or a loop between them, which is executed so many `times`:
    their number, and the length of the longest chain in which each depends on the one before.
    """

    times: float
    loads: float = 0.0
    chain: int = 0
    _lengths: dict[str | int, int] = field(default_factory=dict)

    def add(self, s: StatementLoads, times: float) -> None:
        """Add a statement that is executed so often."""
        if not (s.loads or self._lengths):
            return
        of_loads = [1 + self._length(index) for index in s.loads]
        self.loads += len(s.loads) * times / self.times
        self.chain = max([self.chain, *of_loads])
        length = max([self._length(s.used), *of_loads])
        if length:
            self._lengths.update(dict.fromkeys(s.defined, length))

    def _length(self, used: Sequence[int | str]) -> int:
        """The length of the longest chain that ends in one of these variables or values."""
        return max((self._lengths.get(name, 0) for name in used), default=0)

    def end(self, under_way: int) -> float:
        """The waits of the run, of whose loads so many are under way at most; then nothing is left of it."""
        waits = self.times * max(self.chain, self.loads / under_way)
        self.loads, self.chain = 0.0, 0
        self._lengths.clear()
        return waits


def _used(index: Sequence[SymbolicExpr]) -> tuple[int, ...]:
    return tuple({k for e in index for k in e.used_variables()})


def _defined(s: ir.Statement) -> tuple[int | str, ...]:
    """The name of the value, or the number of the index variable, that a statement defines."""
    if isinstance(s, ir.LetIndex):
        return (s.variable,)
    return (s.name,) if isinstance(s, ir.Let | ir.Var | ir.Assign | ir.FetchAdd | ir.Shuffle) else ()
