"""Rewriting of kernels: passes supply functions that rewrite values or statements; the traversal is here.

The builder bounds the nesting of blocks, and so the recursion over them; values are trees of the size of an op's formula.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter, is_
from typing import TYPE_CHECKING, Any, TypeAlias

from indexing._core import SymbolicExpr
from indexing.kernels.ir.nodes import (
    Assign,
    AtomicUpdate,
    Block,
    Break,
    CallFunction,
    Copy,
    CopyAsync,
    FetchAdd,
    For,
    Function,
    If,
    IndexValue,
    Kernel,
    Let,
    LetIndex,
    Load,
    LoadMatrices,
    MatrixMultiply,
    MultiplyPanels,
    Op,
    Shuffle,
    Statement,
    Store,
    Var,
    Within,
)

if TYPE_CHECKING:
    from indexing.kernels.ir.nodes import Index, Value

OnValue: TypeAlias = "Callable[[Value], Value]"
OnIndex: TypeAlias = "Callable[[SymbolicExpr], SymbolicExpr]"
OnBlock: TypeAlias = "Callable[[Block], Block]"


_WITH_EXPRESSION = (IndexValue, Within)


def same_index(expression: SymbolicExpr) -> SymbolicExpr:
    """The expression itself."""
    return expression


def rewrite_value(value: Value, on_value: OnValue, on_index: OnIndex = same_index) -> Value:
    """`value` with its index expressions rewritten, then its operands, then itself; the same object if nothing changes."""
    if isinstance(value, Op):
        operands = tuple([rewrite_value(o, on_value, on_index) for o in value.operands])
        if not all(map(is_, operands, value.operands)):
            value = Op(value.opcode, value.type, operands, value.format)
    elif on_index is not same_index:
        if isinstance(value, Load):
            index = tuple(map(on_index, value.index))
            if not all(map(is_, index, value.index)):
                value = Load(value.type, value.buffer, index)
        elif isinstance(value, _WITH_EXPRESSION):
            expression = on_index(value.expression)
            if expression is not value.expression:
                value = replace(value, expression=expression)
    return on_value(value)


def rewrite_statement(statement: Statement, on_value: OnValue, on_index: OnIndex = same_index) -> Statement:
    """`statement` with its own values and index expressions rewritten; the same object if nothing changes. Nested blocks are
    unchanged.
    """
    parts = _PARTS.get(type(statement))
    if parts is None:
        return statement
    values, indices = parts.values(statement), parts.indices(statement)
    rewritten = tuple([rewrite_value(v, on_value, on_index) for v in values])
    places = indices if on_index is same_index else tuple(map(on_index, indices))
    if all(map(is_, rewritten, values)) and all(map(is_, places, indices)):
        return statement
    return parts.with_parts(statement, rewritten, places)


def rewrite_blocks(block: Block, on_block: OnBlock) -> Block:
    """`block` with nested blocks rewritten, innermost first, then itself."""
    out: list[Statement] = []
    for statement in block:
        if isinstance(statement, For):
            body = rewrite_blocks(statement.body, on_block)
            statement = statement if body is statement.body else replace(statement, body=body)
        elif isinstance(statement, If):
            then, otherwise = rewrite_blocks(statement.then, on_block), rewrite_blocks(statement.otherwise, on_block)
            if then is not statement.then or otherwise is not statement.otherwise:
                statement = If(statement.conditions, then, otherwise)
        out.append(statement)
    return on_block(same_block(block, out))


def same_block(block: Block, rewritten: Sequence[Statement]) -> Block:
    """The rewritten statements of a block; the block itself if each is the same object."""
    is_same = len(block) == len(rewritten) and all(map(is_, block, rewritten))
    return block if is_same else tuple(rewritten)


def rewrite_values(block: Block, on_value: OnValue, on_index: OnIndex = same_index) -> Block:
    """A block with all values and index expressions rewritten, also in nested blocks."""
    return rewrite_blocks(block, lambda b: same_block(b, [rewrite_statement(s, on_value, on_index) for s in b]))


def rewrite_bodies(kernel: Kernel, on_body: Callable[[Function | Kernel], Block]) -> Kernel:
    """The kernel with the bodies of its functions and of its entry rewritten."""
    functions = tuple(with_body(f, on_body(f)) for f in kernel.functions)
    return replace(kernel, functions=functions, body=on_body(kernel))


def with_body(function: Function, body: Block, results: tuple[Value, ...] | None = None) -> Function:
    """The function with another body and, if given, other results; the function itself if they are the same objects."""
    results = function.results if results is None else results
    if body is function.body and all(map(is_, results, function.results)):
        return function
    return replace(function, body=body, results=results)


def values_of(statement: Statement) -> tuple[Value, ...]:
    """The values of a statement itself, nested blocks excluded."""
    parts = _PARTS.get(type(statement))
    return () if parts is None else parts.values(statement)


def indices_of(statement: Statement) -> tuple[SymbolicExpr, ...]:
    """The index expressions of a statement itself, those of its values excluded."""
    parts = _PARTS.get(type(statement))
    return () if parts is None else parts.indices(statement)


@dataclass(frozen=True, slots=True)
class _Parts:
    """Access to the values and index expressions of a kind of statement, and their replacement."""

    values: Callable[[Any], tuple[Value, ...]]
    indices: Callable[[Any], Index]
    with_parts: Callable[[Any, tuple[Value, ...], Index], Statement]


def _none(statement: Statement) -> tuple[()]:
    return ()


def _value(statement: Let | Assign | Shuffle | Store | AtomicUpdate | FetchAdd) -> tuple[Value, ...]:
    return (statement.value,)


_index, _conditions = attrgetter("index"), attrgetter("conditions")
_ENDS = _Parts(
    _none,
    attrgetter("destination_index", "source_index"),
    lambda s, v, i: replace(s, destination_index=i[0], source_index=i[1]),
)
_FACTORS = _Parts(
    _none,
    attrgetter("accumulator_index", "left_index", "right_index"),
    lambda s, v, i: replace(s, accumulator_index=i[0], left_index=i[1], right_index=i[2]),
)
_PARTS: Mapping[type, _Parts] = {
    Let: _Parts(_value, _none, lambda s, v, i: Let(s.name, *v)),
    Assign: _Parts(_value, _none, lambda s, v, i: Assign(s.name, *v)),
    Shuffle: _Parts(_value, _none, lambda s, v, i: Shuffle(s.name, v[0], s.offset, s.group)),
    Var: _Parts(lambda s: (s.initial,), _none, lambda s, v, i: Var(s.name, s.type, *v)),
    LetIndex: _Parts(
        lambda s: () if isinstance(s.value, SymbolicExpr) else (s.value,),
        lambda s: (s.value,) if isinstance(s.value, SymbolicExpr) else (),
        lambda s, v, i: LetIndex(s.variable, (i or v)[0], s.promise),
    ),
    CallFunction: _Parts(attrgetter("arguments"), _index, lambda s, v, i: CallFunction(s.names, s.function, i, v)),
    Store: _Parts(_value, _index, lambda s, v, i: Store(s.buffer, i, *v)),
    AtomicUpdate: _Parts(_value, _index, lambda s, v, i: AtomicUpdate(s.buffer, i, s.combiner, v[0], s.opcode)),
    FetchAdd: _Parts(_value, _index, lambda s, v, i: FetchAdd(s.name, s.buffer, i, *v)),
    Copy: _ENDS,
    CopyAsync: _ENDS,
    LoadMatrices: _ENDS,
    MatrixMultiply: _FACTORS,
    MultiplyPanels: _FACTORS,
    For: _Parts(_none, attrgetter("start", "stop"), lambda s, v, i: replace(s, start=i[0], stop=i[1])),
    If: _Parts(_conditions, _none, lambda s, v, i: If(v, s.then, s.otherwise)),
    Break: _Parts(_conditions, _none, lambda s, v, i: Break(v)),
}


def subvalues(value: Value) -> Iterable[Value]:
    """The value and all nested values, operands first."""
    if not isinstance(value, Op):
        return (value,)
    nested = [v for operand in value.operands for v in subvalues(operand)]
    nested.append(value)
    return nested


def expressions_of(value: Value) -> tuple[SymbolicExpr, ...]:
    """The index expressions of one value, those of its operands excluded."""
    if isinstance(value, Load):
        return value.index
    return (value.expression,) if isinstance(value, _WITH_EXPRESSION) else ()


def expressions_in(statement: Statement) -> Sequence[SymbolicExpr]:
    """The index expressions of a statement, including those of its values, nested blocks excluded."""
    expressions = list(indices_of(statement))
    for value in values_of(statement):
        for part in subvalues(value):
            expressions += expressions_of(part)
    return expressions


def may_leave(block: Block) -> bool:
    """Whether the block of a loop may leave the loop early."""
    return any(isinstance(s, Break) or (isinstance(s, If) and may_leave((*s.then, *s.otherwise))) for s in block)
