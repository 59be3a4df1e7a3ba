"""Dead code elimination: unused names, empty branches and loops, unused buffers and functions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from indexing.kernels.ir import nodes as ir
from indexing.kernels.ir.memory import moves
from indexing.kernels.ir.traversal import (
    expressions_of,
    indices_of,
    rewrite_blocks,
    same_block,
    subvalues,
    values_of,
    with_body,
)

NAMING, WRITING, COMBINING = (
    (ir.Let, ir.Var, ir.Assign),
    (ir.Store, ir.AtomicUpdate, ir.FetchAdd),
    (ir.AtomicUpdate, ir.GroupReduce),
)


@dataclass(slots=True)
class _Place:
    """A statement of a body, and the loop or branch around it."""

    statement: ir.Statement
    outer: _Place | None
    is_live: bool = False


@dataclass(slots=True)
class _Uses:
    """The reads of a body's live statements and of its results (names, and index variables by number), the buffers that they
    read or write, and the functions that they call. Assigning to a variable is not a use of it.
    """

    read: set[str | int] = field(default_factory=set)
    buffers: set[str] = field(default_factory=set)
    functions: set[str] = field(default_factory=set)
    _pending: list[_Place] = field(default_factory=list)  # live statements whose uses are not counted yet
    _waiting: dict[str | int, list[_Place]] = field(default_factory=dict)  # live once what they define is read

    @classmethod
    def of(cls, body: ir.Block, results: Iterable[ir.Value]) -> _Uses:
        """The uses of what has an effect, of what defines what that reads, and so on."""
        uses = cls()
        uses._place(body)
        uses._values(results)
        while uses._pending:
            place = uses._pending.pop()
            if not place.is_live:
                place.is_live = True
                uses._statement(place.statement)
                if place.outer is not None:
                    uses._pending.append(place.outer)
        return uses

    def _place(self, body: ir.Block) -> None:
        """Look at all statements once: those with an effect are live, others wait for readers of what they define."""
        places = [_Place(s, None) for s in body]
        while places:
            place = places.pop()
            inner = [_Place(s, place) for block in ir.blocks_of(place.statement) for s in block]
            defined = _defined(place.statement)
            if defined is None:
                self._pending.append(place)
            for name in defined or ():
                self._waiting.setdefault(name, []).append(place)
            places += inner

    def _reads(self, names: Iterable[str | int]) -> None:
        for name in names:
            if name not in self.read:
                self.read.add(name)
                self._pending += self._waiting.pop(name, ())

    def _values(self, values: Iterable[ir.Value]) -> None:
        for v in (part for value in values for part in subvalues(value)):
            if isinstance(v, ir.Ref):
                self._reads((v.name,))
            elif isinstance(v, ir.Load):
                self.buffers.add(v.buffer)
            for e in expressions_of(v):
                self._reads(e.used_variables())

    def _statement(self, s: ir.Statement) -> None:
        self._values(values_of(s))
        for e in indices_of(s):
            self._reads(e.used_variables())
        if isinstance(s, WRITING):
            self.buffers.add(s.buffer)
        self.buffers.update(m.buffer for m in moves(s))
        if isinstance(s, ir.CallFunction):
            self.functions.add(s.function)
        elif isinstance(s, ir.GroupReduce):
            self._reads(s.names)
        if isinstance(s, COMBINING):
            self.functions.add(s.combiner)


def _defined(statement: ir.Statement) -> Sequence[str | int] | None:
    """The names that a statement defines alone, or, of a loop or a branch, for what is in it; None if it has other effects."""
    if isinstance(statement, NAMING):
        return (statement.name,)
    if isinstance(statement, ir.LetIndex):
        return (statement.variable,)
    if isinstance(statement, ir.CallFunction):
        return statement.names
    return () if isinstance(statement, (ir.For, ir.If)) else None


def remove_dead_code(kernel: ir.Kernel) -> ir.Kernel:
    """The kernel without statements that have no effect, functions that are not called, and unused buffers except outputs."""
    body, uses = _live(kernel.body, ())
    called, named = uses.functions, uses.buffers
    functions: list[ir.Function] = []
    for f in reversed(kernel.functions):
        if f.name in called:
            live, uses = _live(f.body, f.results)
            functions.append(with_body(f, live, f.results))
            called |= uses.functions
            named |= uses.buffers
    named.update(b.alias_of for b in kernel.buffers if b.alias_of)
    buffers = tuple(b for b in kernel.buffers if b.role == "output" or b.name in named)
    return replace(kernel, body=body, functions=tuple(reversed(functions)), buffers=buffers)


def _live(body: ir.Block, results: Iterable[ir.Value]) -> tuple[ir.Block, _Uses]:
    """The live part of a body, and its uses."""
    uses = _Uses.of(body, results)
    return rewrite_blocks(body, lambda block: same_block(block, [s for s in block if _is_live(s, uses)])), uses


def _is_live(statement: ir.Statement, uses: _Uses) -> bool:
    if isinstance(statement, (ir.For, ir.If)):
        return any(ir.blocks_of(statement))
    defined = _defined(statement)
    return defined is None or not uses.read.isdisjoint(defined)
