"""Loop-invariant code: what a loop computes anew in each turn, although nothing changes, is computed in front of it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from indexing._core import SymbolicExpr
from indexing.emitters.ir.copying import names_of
from indexing.emitters.ir.nodes import (
    Assign,
    AtomicUpdate,
    Barrier,
    Block,
    Break,
    CallFunction,
    Copy,
    FetchAdd,
    For,
    If,
    IndexVariable,
    Kernel,
    Let,
    LetIndex,
    Load,
    Ref,
    Shuffle,
    Statement,
    Store,
    TeamReduce,
    Var,
    statements,
)
from indexing.emitters.ir.traversal import expressions_of, rewrite_blocks, subvalues

if TYPE_CHECKING:
    from indexing.emitters.ir.nodes import Value


def hoist_invariants(kernel: Kernel) -> Kernel:
    """The kernel with loop-invariant names in front of their loops."""
    functions = tuple(replace(f, body=_hoisted(f.body, f.variables)) for f in kernel.functions)
    return replace(kernel, functions=functions, body=_hoisted(kernel.body, kernel.variables))


def _hoisted(body: Block, variables: tuple[IndexVariable, ...]) -> Block:
    def on_block(block: Block) -> Block:
        out: list[Statement] = []
        for statement in block:
            if isinstance(statement, For):
                front, statement = _split(statement, _runs(statement, variables))
                out += front
            out.append(statement)
        return tuple(out)

    return rewrite_blocks(body, on_block)


def _runs(loop: For, variables: tuple[IndexVariable, ...]) -> bool:
    """Whether the body surely runs at least once."""
    start = loop.start.range([v.interval for v in variables]).upper
    stop = loop.stop.constant_value
    return stop is not None and start < stop


def _split(loop: For, runs: bool) -> tuple[list[Statement], For]:
    """What moves in front of the loop, and the loop without it."""
    changing = _Changing(loop)
    front: list[Statement] = []
    kept: list[Statement] = []
    for statement in loop.body:
        moves = isinstance(statement, Let | LetIndex | CallFunction) and changing.is_invariant(statement, runs)
        (front if moves else kept).append(statement)
        if isinstance(statement, Break):
            runs = False  # what follows may not run in the first turn
        if not moves:
            changing.note(statement)
    return front, replace(loop, body=tuple(kept))


class _Changing:
    """The names, index variables and buffers that a loop changes."""

    def __init__(self, loop: For) -> None:
        self.variables = {loop.variable}
        self.names: set[str] = set()
        self.buffers: set[str] = set()
        self.anything = False
        for s in statements(loop.body):
            if isinstance(s, Store | AtomicUpdate | FetchAdd):
                self.buffers.add(s.buffer)
            elif isinstance(s, Copy):
                self.buffers.add(s.destination)
            elif isinstance(s, Barrier):
                self.anything = True
            elif isinstance(s, Assign | Var):
                self.names.add(s.name)
            elif isinstance(s, TeamReduce):
                self.names.update(s.names)

    def note(self, statement: Statement) -> None:
        """A statement that stays in the loop: what it defines changes."""
        inner = statements((statement,)) if isinstance(statement, For | If) else (statement,)
        for s in inner:
            self.names.update(names_of(s))
            if isinstance(s, LetIndex | For):
                self.variables.add(s.variable)
            if isinstance(s, Shuffle):
                self.names.add(s.name)

    def is_invariant(self, statement: Let | LetIndex | CallFunction, runs: bool) -> bool:
        """Whether the statement means the same in front of the loop; what loads moves only where the loop surely runs."""
        if isinstance(statement, CallFunction):
            values, indices = statement.arguments, statement.index
            if self.anything or not runs:
                return False
        elif isinstance(statement, LetIndex) and isinstance(statement.value, SymbolicExpr):
            values, indices = (), (statement.value,)
        else:
            values, indices = (statement.value,), ()  # type: ignore[assignment]
        if isinstance(statement, LetIndex) and not runs:
            return False
        return all(map(self._same, indices)) and all(self._same_value(v, runs) for v in values)

    def _same(self, expression: SymbolicExpr) -> bool:
        return not self.variables.intersection(expression.used_variables())

    def _same_value(self, value: Value, runs: bool) -> bool:
        for v in subvalues(value):
            if isinstance(v, Ref) and v.name in self.names:
                return False
            if isinstance(v, Load) and (not runs or self.anything or v.buffer in self.buffers):
                return False
            if not all(map(self._same, expressions_of(v))):
                return False
        return True
