"""Loop-invariant code motion: statements that compute the same in each iteration are moved in front of the loop."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from indexing._core import SymbolicExpr
from indexing.kernels.ir.copying import names_of
from indexing.kernels.ir.memory import Memory, orders_memory
from indexing.kernels.ir.nodes import (
    Assign,
    Block,
    CallFunction,
    For,
    GroupReduce,
    If,
    IndexVariable,
    Kernel,
    Let,
    LetIndex,
    Ref,
    Statement,
    Var,
    statements,
)
from indexing.kernels.ir.traversal import (
    expressions_of,
    indices_of,
    may_leave,
    rewrite_blocks,
    rewrite_bodies,
    same_block,
    subvalues,
    values_of,
)

if TYPE_CHECKING:
    from indexing.kernels.ir.nodes import Value


def hoist_invariants(kernel: Kernel) -> Kernel:
    """The kernel with loop-invariant definitions in front of their loops."""
    memory = Memory(kernel)
    return rewrite_bodies(kernel, lambda f: _hoisted(f.body, f.variables, memory))


def _hoisted(body: Block, variables: tuple[IndexVariable, ...], memory: Memory) -> Block:
    def on_block(block: Block) -> Block:
        out: list[Statement] = []
        for statement in block:
            if isinstance(statement, For):
                front, statement = _split(statement, _surely_runs(statement, variables), memory)
                out += front
            out.append(statement)
        return same_block(block, out)

    return rewrite_blocks(body, on_block)


def _surely_runs(loop: For, variables: tuple[IndexVariable, ...]) -> bool:
    """Whether the body provably runs at least once."""
    start = loop.start.range([v.interval for v in variables]).upper
    stop = loop.stop.constant_value
    return stop is not None and start < stop


def _split(loop: For, runs: bool, memory: Memory) -> tuple[list[Statement], For]:
    """The statements to move in front of the loop, and the loop without them."""
    changing = _ChangedNames(loop, memory)
    front: list[Statement] = []
    kept: list[Statement] = []
    for statement in loop.body:
        moves = isinstance(statement, Let | LetIndex | CallFunction) and changing.is_invariant(statement, runs)
        (front if moves else kept).append(statement)
        if runs and may_leave((statement,)):
            runs = False  # later statements may not run in the first iteration
        if not moves:
            changing.note(statement)
    return front, replace(loop, body=tuple(kept)) if front else loop


class _ChangedNames:
    """The names, index variables and memory that a loop changes."""

    def __init__(self, loop: For, memory: Memory) -> None:
        inner = list(statements(loop.body))
        self.memory = memory
        self.variables = {loop.variable}
        self.names: set[str] = set()
        self.written = {m for s in inner for m in memory.written(s)}
        self.anything = any(map(orders_memory, inner))
        for s in inner:
            if isinstance(s, Assign | Var):
                self.names.add(s.name)
            elif isinstance(s, GroupReduce):
                self.names.update(s.names)

    def note(self, statement: Statement) -> None:
        """Record the definitions and writes of a statement that stays in the loop."""
        inner = statements((statement,)) if isinstance(statement, For | If) else (statement,)
        for s in inner:
            self.names.update(names_of(s))
            if isinstance(s, LetIndex | For):
                self.variables.add(s.variable)

    def is_invariant(self, statement: Let | LetIndex | CallFunction, runs: bool) -> bool:
        """Whether the statement is loop-invariant; one with loads may move only if the loop runs at least once."""
        if not runs and isinstance(statement, CallFunction | LetIndex):
            return False
        read = set(self.memory.read(statement))
        if read and (not runs or self.anything or read & self.written):
            return False
        return all(map(self._same, indices_of(statement))) and all(map(self._same_value, values_of(statement)))

    def _same(self, expression: SymbolicExpr) -> bool:
        return not self.variables.intersection(expression.used_variables())

    def _same_value(self, value: Value) -> bool:
        for v in subvalues(value):
            if isinstance(v, Ref) and v.name in self.names:
                return False
            if not all(map(self._same, expressions_of(v))):
                return False
        return True
