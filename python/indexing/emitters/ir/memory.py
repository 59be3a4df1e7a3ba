"""Which memory statements read and write: by whatever name, themselves or in the functions that they call."""

from __future__ import annotations

from collections.abc import Iterator

from indexing.emitters.ir.nodes import (
    AtomicUpdate,
    Barrier,
    CallFunction,
    Copy,
    Fence,
    FetchAdd,
    Function,
    Kernel,
    Load,
    Shuffle,
    Statement,
    Store,
    TeamReduce,
    Value,
    statements,
)
from indexing.emitters.ir.traversal import subvalues, values_of


class Memory:
    """A buffer that lives in another's memory has the other's name here."""

    def __init__(self, kernel: Kernel) -> None:
        self._names = {b.name: b.alias_of or b.name for b in kernel.buffers}
        self._read: dict[str, frozenset[str]] = {}
        for f in kernel.functions:
            self._read[f.name] = frozenset(self._function(f))

    def _function(self, f: Function) -> Iterator[str]:
        for s in statements(f.body):
            yield from self.read(s)
        for r in f.results:
            yield from self._loads(r)

    def of(self, buffer: str) -> str:
        """The memory that a buffer lives in."""
        return self._names.get(buffer, buffer)

    def _loads(self, value: Value) -> Iterator[str]:
        return (self.of(v.buffer) for v in subvalues(value) if isinstance(v, Load))

    def read(self, s: Statement) -> Iterator[str]:
        """The places that a statement itself reads, blocks within left out."""
        for value in values_of(s):
            yield from self._loads(value)
        if isinstance(s, Copy):
            yield self.of(s.source)
        elif isinstance(s, CallFunction):
            yield from self._read[s.function]

    def written(self, s: Statement) -> Iterator[str]:
        """The places that a statement itself writes."""
        if isinstance(s, Store | AtomicUpdate | FetchAdd):
            yield self.of(s.buffer)
        elif isinstance(s, Copy):
            yield self.of(s.destination)


def orders_memory(s: Statement) -> bool:
    """Whether a statement is about what other threads do: behind it memory may have changed."""
    return isinstance(s, Barrier | TeamReduce | Fence | Shuffle | FetchAdd)
