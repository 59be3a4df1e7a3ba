"""Dead code elimination: unused names, empty branches and loops, unused buffers and functions."""

from __future__ import annotations

from collections.abc import Iterable
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
class _Uses:
    """The names, index variables (by number) and buffers that a body and its results read, the functions that they call, and
    the buffers that they write. Assigning to a variable is not a use of it.
    """

    names: set[str] = field(default_factory=set)
    variables: set[int] = field(default_factory=set)
    buffers: set[str] = field(default_factory=set)
    functions: set[str] = field(default_factory=set)

    @classmethod
    def of(cls, body: ir.Block, results: Iterable[ir.Value]) -> _Uses:
        uses = cls()
        uses._values(results)
        for statement in ir.statements(body):
            uses._statement(statement)
        return uses

    def _values(self, values: Iterable[ir.Value]) -> None:
        for v in (part for value in values for part in subvalues(value)):
            if isinstance(v, ir.Ref):
                self.names.add(v.name)
            elif isinstance(v, ir.Load):
                self.buffers.add(v.buffer)
            for e in expressions_of(v):
                self.variables.update(e.used_variables())

    def _statement(self, s: ir.Statement) -> None:
        self._values(values_of(s))
        for e in indices_of(s):
            self.variables.update(e.used_variables())
        if isinstance(s, WRITING):
            self.buffers.add(s.buffer)
        self.buffers.update(m.buffer for m in moves(s))
        if isinstance(s, ir.CallFunction):
            self.functions.add(s.function)
        elif isinstance(s, ir.GroupReduce):
            self.names.update(s.names)
        if isinstance(s, COMBINING):
            self.functions.add(s.combiner)


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
    """The live part of a body, and its uses. Names that only dead code reads are dead, too, hence a fixed point."""
    while True:
        uses = _Uses.of(body, results)
        kept = _without_unused(body, uses)
        if kept is body:
            return body, uses
        body = kept


def _without_unused(body: ir.Block, uses: _Uses) -> ir.Block:
    return rewrite_blocks(body, lambda block: same_block(block, [s for s in block if _has_effect(s, uses)]))


def _has_effect(statement: ir.Statement, uses: _Uses) -> bool:
    if isinstance(statement, NAMING):
        return statement.name in uses.names
    if isinstance(statement, ir.LetIndex):
        return statement.variable in uses.variables
    if isinstance(statement, ir.CallFunction):
        return not uses.names.isdisjoint(statement.names)
    if isinstance(statement, ir.If):
        return bool(statement.then or statement.otherwise)
    return bool(statement.body) if isinstance(statement, ir.For) else True
