"""Dead code: names that nothing reads, branches and loops that do nothing, buffers and functions that nobody uses."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from indexing.emitters.ir.nodes import (
    Assign,
    AtomicUpdate,
    Block,
    CallFunction,
    Copy,
    FetchAdd,
    For,
    Function,
    If,
    Kernel,
    Let,
    LetIndex,
    Load,
    Ref,
    Statement,
    Store,
    TeamReduce,
    Var,
    statements,
)
from indexing.emitters.ir.traversal import expressions_of, indices_of, rewrite_blocks, subvalues, values_of

if TYPE_CHECKING:
    from indexing.emitters.ir.nodes import Value


def remove_dead_code(kernel: Kernel) -> Kernel:
    """The kernel without what has no effect."""
    functions = tuple(replace(f, body=_live(f.body, f.results)) for f in kernel.functions)
    body = _live(kernel.body, ())
    return _without_unused(replace(kernel, functions=functions, body=body))


def _live(body: Block, results: Iterable[Value]) -> Block:
    """Names that only dead code reads are dead too: again until nothing more goes."""
    while True:
        uses = _uses(body, results)
        found = rewrite_blocks(body, lambda block: tuple(s for s in block if _has_effect(s, uses)))  # noqa: B023
        if found == body:
            return body
        body = found


def _uses(body: Block, results: Iterable[Value]) -> Counter[str | int]:
    """The number of reads of each name and each index variable; assigning to a variable does not read it."""
    uses: Counter[str | int] = Counter()

    def count(value: Value) -> None:
        for v in subvalues(value):
            if isinstance(v, Ref):
                uses[v.name] += 1
            elif isinstance(v, Load):
                uses[v.buffer] += 1
            for e in expressions_of(v):
                uses.update(e.used_variables())

    for result in results:
        count(result)
    for statement in statements(body):
        for value in values_of(statement):
            count(value)
        for e in indices_of(statement):
            uses.update(e.used_variables())
        if isinstance(statement, TeamReduce):
            uses.update(statement.names)
        if isinstance(statement, Copy):
            uses[statement.source] += 1
    return uses


def _has_effect(statement: Statement, uses: Counter[str | int]) -> bool:
    if isinstance(statement, Let | Var | Assign):
        return uses[statement.name] > 0
    if isinstance(statement, LetIndex):
        return uses[statement.variable] > 0
    if isinstance(statement, CallFunction):
        return any(uses[name] for name in statement.names)
    if isinstance(statement, If):
        return bool(statement.then or statement.otherwise)
    return bool(statement.body) if isinstance(statement, For) else True


def _without_unused(kernel: Kernel) -> Kernel:
    """Functions that are not called, and buffers other than outputs that are not named, leave."""
    called: set[str] = set()
    kept: list[Function] = []
    _called(kernel.body, called)
    for function in reversed(kernel.functions):
        if function.name in called:
            kept.append(function)
            _called(function.body, called)
    named = {n for body in (*(f.body for f in kept), kernel.body) for n in _buffers(body)}
    named |= {n for f in kept for r in f.results for v in subvalues(r) if isinstance(v, Load) for n in (v.buffer,)}
    named |= {b.alias_of for b in kernel.buffers if b.alias_of}
    buffers = tuple(b for b in kernel.buffers if b.role == "output" or b.name in named)
    return replace(kernel, functions=tuple(reversed(kept)), buffers=buffers)


def _called(body: Block, into: set[str]) -> None:
    for s in statements(body):
        if isinstance(s, CallFunction):
            into.add(s.function)
        elif isinstance(s, AtomicUpdate | TeamReduce):
            into.add(s.combiner)


def _buffers(body: Block) -> Iterable[str]:
    for s in statements(body):
        if isinstance(s, Store | AtomicUpdate | FetchAdd):
            yield s.buffer
        elif isinstance(s, Copy):
            yield from (s.destination, s.source)
        for value in values_of(s):
            yield from (v.buffer for v in subvalues(value) if isinstance(v, Load))
