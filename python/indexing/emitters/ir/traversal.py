"""Rewriting of kernels: each pass says what becomes of a value or a statement, the walk over all of them stands here once.

Nesting of blocks is bounded by the builder, so that recursion over them is; values are trees of the size of an op's formula.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

from indexing._core import SymbolicExpr
from indexing.emitters.ir.nodes import (
    Assign,
    AtomicUpdate,
    Block,
    Break,
    CallFunction,
    Copy,
    FetchAdd,
    For,
    Function,
    If,
    IndexValue,
    Kernel,
    Let,
    LetIndex,
    Load,
    Op,
    Shuffle,
    Statement,
    Store,
    Var,
    Within,
)

if TYPE_CHECKING:
    from indexing.emitters.ir.nodes import Value

OnValue: TypeAlias = "Callable[[Value], Value]"
OnIndex: TypeAlias = "Callable[[SymbolicExpr], SymbolicExpr]"
OnBlock: TypeAlias = "Callable[[Block], Block]"


def same_index(expression: SymbolicExpr) -> SymbolicExpr:
    """The expression itself."""
    return expression


def rewrite_value(value: Value, on_value: OnValue, on_index: OnIndex = same_index) -> Value:
    """`value` with its index expressions rewritten, then its operands, then itself."""
    if isinstance(value, Op):
        operands = tuple(rewrite_value(o, on_value, on_index) for o in value.operands)
        return on_value(value if operands == value.operands else replace(value, operands=operands))
    if isinstance(value, Load):
        return on_value(replace(value, index=tuple(map(on_index, value.index))))
    if isinstance(value, IndexValue | Within):
        return on_value(replace(value, expression=on_index(value.expression)))
    return on_value(value)


def rewrite_statement(statement: Statement, on_value: OnValue, on_index: OnIndex = same_index) -> Statement:
    """`statement` with its own values and index expressions rewritten; blocks within stay as they are."""

    def value(v: Value) -> Value:
        return rewrite_value(v, on_value, on_index)

    def index(i: Sequence[SymbolicExpr]) -> tuple[SymbolicExpr, ...]:
        return tuple(map(on_index, i))

    match statement:
        case Let() | Assign() | Shuffle():
            return replace(statement, value=value(statement.value))
        case Var():
            return replace(statement, initial=value(statement.initial))
        case LetIndex():
            given = statement.value
            return replace(statement, value=on_index(given) if isinstance(given, SymbolicExpr) else value(given))
        case CallFunction():
            return replace(statement, index=index(statement.index), arguments=tuple(map(value, statement.arguments)))
        case Store() | AtomicUpdate() | FetchAdd():
            return replace(statement, index=index(statement.index), value=value(statement.value))
        case Copy():
            places = on_index(statement.destination_index), on_index(statement.source_index)
            return replace(statement, destination_index=places[0], source_index=places[1])
        case For():
            return replace(statement, start=on_index(statement.start), stop=on_index(statement.stop))
        case If() | Break():
            return replace(statement, conditions=tuple(map(value, statement.conditions)))
        case _:
            return statement


def rewrite_blocks(block: Block, on_block: OnBlock) -> Block:
    """`block` with the blocks within rewritten, innermost first, then itself."""
    out: list[Statement] = []
    for statement in block:
        if isinstance(statement, For):
            statement = replace(statement, body=rewrite_blocks(statement.body, on_block))
        elif isinstance(statement, If):
            then, otherwise = (rewrite_blocks(b, on_block) for b in (statement.then, statement.otherwise))
            statement = replace(statement, then=then, otherwise=otherwise)
        out.append(statement)
    return on_block(tuple(out))


def rewrite_values(block: Block, on_value: OnValue, on_index: OnIndex = same_index) -> Block:
    """All values and index expressions of a block and of the blocks within, rewritten."""
    return rewrite_blocks(block, lambda b: tuple(rewrite_statement(s, on_value, on_index) for s in b))


def rewrite_bodies(kernel: Kernel, on_body: Callable[[Function | Kernel], Block]) -> Kernel:
    """The kernel with the bodies of its functions and its entry replaced."""
    functions = tuple(replace(f, body=on_body(f)) for f in kernel.functions)
    return replace(kernel, functions=functions, body=on_body(kernel))


def values_of(statement: Statement) -> tuple[Value, ...]:
    """The values that a statement itself names, blocks within left out."""
    match statement:
        case Let() | Assign() | Shuffle() | Store() | AtomicUpdate() | FetchAdd():
            return (statement.value,)
        case Var():
            return (statement.initial,)
        case LetIndex():
            return () if isinstance(statement.value, SymbolicExpr) else (statement.value,)
        case CallFunction():
            return statement.arguments
        case If() | Break():
            return statement.conditions
        case _:
            return ()


def indices_of(statement: Statement) -> tuple[SymbolicExpr, ...]:
    """The index expressions that a statement itself names, those of its values left out."""
    match statement:
        case LetIndex():
            return (statement.value,) if isinstance(statement.value, SymbolicExpr) else ()
        case CallFunction() | Store() | AtomicUpdate() | FetchAdd():
            return statement.index
        case Copy():
            return (statement.destination_index, statement.source_index)
        case For():
            return (statement.start, statement.stop)
        case _:
            return ()


def subvalues(value: Value) -> Iterator[Value]:
    """The value and all values within, operands first."""
    if isinstance(value, Op):
        for operand in value.operands:
            yield from subvalues(operand)
    yield value


def expressions_of(value: Value) -> tuple[SymbolicExpr, ...]:
    """The index expressions of one value, operands left out."""
    if isinstance(value, Load):
        return value.index
    return (value.expression,) if isinstance(value, IndexValue | Within) else ()


def may_leave(block: Block) -> bool:
    """Whether a block, that of a loop, may leave the loop early."""
    return any(isinstance(s, Break) or (isinstance(s, If) and may_leave((*s.then, *s.otherwise))) for s in block)
