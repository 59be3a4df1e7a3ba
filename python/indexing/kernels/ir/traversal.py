"""Rewriting of kernels: passes supply functions that rewrite values or statements; the traversal is here.

The builder bounds the nesting of blocks, and so the recursion over them; values are trees of the size of an op's formula.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter, is_
from typing import Any, TypeAlias

from indexing._core import SymbolicExpr
from indexing.kernels.ir import nodes as ir

OnValue: TypeAlias = "Callable[[ir.Value], ir.Value]"
OnIndex: TypeAlias = "Callable[[SymbolicExpr], SymbolicExpr]"
OnBlock: TypeAlias = "Callable[[ir.Block], ir.Block]"
OnStatement: TypeAlias = "Callable[[ir.Statement], Iterable[ir.Statement]]"
OnLoop: TypeAlias = "Callable[[ir.For], Iterable[ir.Statement]]"


_WITH_EXPRESSION = (ir.IndexValue, ir.Within)


def same_index(expression: SymbolicExpr) -> SymbolicExpr:
    """The expression itself."""
    return expression


def rewrite_value(value: ir.Value, on_value: OnValue, on_index: OnIndex = same_index) -> ir.Value:
    """`value` with its index expressions rewritten, then its operands, then itself; the same object if nothing changes."""
    if isinstance(value, ir.Op):
        operands = tuple([rewrite_value(o, on_value, on_index) for o in value.operands])
        if not all(map(is_, operands, value.operands)):
            value = ir.Op(value.opcode, value.type, operands, value.format)
    elif on_index is not same_index:
        if isinstance(value, ir.Load):
            index = tuple(map(on_index, value.index))
            if not all(map(is_, index, value.index)):
                value = ir.Load(value.type, value.buffer, index)
        elif isinstance(value, _WITH_EXPRESSION):
            expression = on_index(value.expression)
            if expression is not value.expression:
                value = replace(value, expression=expression)
    return on_value(value)


def rewrite_statement(statement: ir.Statement, on_value: OnValue, on_index: OnIndex = same_index) -> ir.Statement:
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


def rewrite_blocks(block: ir.Block, on_block: OnBlock) -> ir.Block:
    """`block` with nested blocks rewritten, innermost first, then itself."""
    out: list[ir.Statement] = []
    for statement in block:
        if isinstance(statement, ir.For):
            body = rewrite_blocks(statement.body, on_block)
            statement = statement if body is statement.body else replace(statement, body=body)
        elif isinstance(statement, ir.If):
            then, otherwise = rewrite_blocks(statement.then, on_block), rewrite_blocks(statement.otherwise, on_block)
            if then is not statement.then or otherwise is not statement.otherwise:
                statement = ir.If(statement.conditions, then, otherwise)
        out.append(statement)
    return on_block(same_block(block, out))


def same_block(block: ir.Block, rewritten: Sequence[ir.Statement]) -> ir.Block:
    """The rewritten statements of a block; the block itself if each is the same object."""
    is_same = len(block) == len(rewritten) and all(map(is_, block, rewritten))
    return block if is_same else tuple(rewritten)


def replace_statements(block: ir.Block, on_statement: OnStatement) -> ir.Block:
    """`block` with each statement replaced by others, those nested in it first."""
    return rewrite_blocks(block, lambda b: same_block(b, [t for s in b for t in on_statement(s)]))


def replace_loops(block: ir.Block, on_loop: OnLoop) -> ir.Block:
    """`block` with each loop replaced by other statements, those nested in it first."""
    return replace_statements(block, lambda s: on_loop(s) if isinstance(s, ir.For) else (s,))


def rewrite_values(block: ir.Block, on_value: OnValue, on_index: OnIndex = same_index) -> ir.Block:
    """A block with all values and index expressions rewritten, also in nested blocks."""
    return replace_statements(block, lambda s: (rewrite_statement(s, on_value, on_index),))


def rewrite_indices(block: ir.Block, on_index: OnIndex) -> ir.Block:
    """A block with all index expressions rewritten, also in nested blocks."""
    return rewrite_values(block, lambda value: value, on_index)


def rewrite_bodies(
    kernel: ir.Kernel, on_body: Callable[[ir.Function | ir.Kernel], tuple[ir.Block, Iterable[ir.Value]]]
) -> ir.Kernel:
    """The kernel with the bodies and the results of its functions rewritten, and the body of its entry."""
    functions = tuple(with_body(f, *on_body(f)) for f in kernel.functions)
    return replace(kernel, functions=functions, body=on_body(kernel)[0])


def with_body(function: ir.Function, body: ir.Block, values: Iterable[ir.Value]) -> ir.Function:
    """The function with another body and other results; the function itself if they are the same objects."""
    results = tuple(values)
    if body is function.body and all(map(is_, results, function.results)):
        return function
    return replace(function, body=body, results=results)


def values_of(statement: ir.Statement) -> tuple[ir.Value, ...]:
    """The values of a statement itself, nested blocks excluded."""
    parts = _PARTS.get(type(statement))
    return () if parts is None else parts.values(statement)


def all_values(statement: ir.Statement) -> Iterator[ir.Value]:
    """The values of a statement itself, and those in them."""
    for value in values_of(statement):
        yield from subvalues(value)


def loads_of(statement: ir.Statement) -> Iterator[ir.Load]:
    """The loads in the values of a statement itself."""
    return (v for v in all_values(statement) if isinstance(v, ir.Load))


def names_in(values: Iterable[ir.Value]) -> Iterator[str]:
    """The names that values read."""
    return (v.name for value in values for v in subvalues(value) if isinstance(v, ir.Ref))


def variables_in(values: Iterable[ir.Value]) -> Iterator[int]:
    """The index variables that values read."""
    return (k for value in values for v in subvalues(value) for e in expressions_of(v) for k in e.used_variables())


def indices_of(statement: ir.Statement) -> tuple[SymbolicExpr, ...]:
    """The index expressions of a statement itself, those of its values excluded."""
    parts = _PARTS.get(type(statement))
    return () if parts is None else parts.indices(statement)


@dataclass(frozen=True, slots=True)
class _Parts:
    """Access to the values and index expressions of a kind of statement, and their replacement."""

    values: Callable[[Any], tuple[ir.Value, ...]]
    indices: Callable[[Any], ir.Index]
    with_parts: Callable[[Any, tuple[ir.Value, ...], ir.Index], ir.Statement]


def _none(statement: ir.Statement) -> tuple[()]:
    return ()


def _value(
    statement: ir.Let | ir.Assign | ir.Shuffle | ir.Store | ir.FetchAdd,
) -> tuple[ir.Value, ...]:
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
    ir.Let: _Parts(_value, _none, lambda s, v, i: ir.Let(s.name, *v)),
    ir.Assign: _Parts(_value, _none, lambda s, v, i: ir.Assign(s.name, *v)),
    ir.Shuffle: _Parts(_value, _none, lambda s, v, i: ir.Shuffle(s.name, v[0], s.offset, s.group)),
    ir.Var: _Parts(lambda s: (s.initial,), _none, lambda s, v, i: ir.Var(s.name, s.type, *v)),
    ir.LetIndex: _Parts(
        lambda s: () if isinstance(s.value, SymbolicExpr) else (s.value,),
        lambda s: (s.value,) if isinstance(s.value, SymbolicExpr) else (),
        lambda s, v, i: ir.LetIndex(s.variable, (i or v)[0], s.promise),
    ),
    ir.CallFunction: _Parts(
        attrgetter("arguments"), _index, lambda s, v, i: ir.CallFunction(s.names, s.function, i, v)
    ),
    ir.Store: _Parts(_value, _index, lambda s, v, i: ir.Store(s.buffer, i, *v)),
    ir.AtomicUpdate: _Parts(attrgetter("values"), _index, lambda s, v, i: replace(s, index=i, values=v)),
    ir.FetchAdd: _Parts(_value, _index, lambda s, v, i: ir.FetchAdd(s.name, s.buffer, i, *v)),
    ir.Copy: _ENDS,
    ir.CopyAsync: _ENDS,
    ir.LoadMatrices: _ENDS,
    ir.MatrixMultiply: _FACTORS,
    ir.MultiplyPanels: _FACTORS,
    ir.For: _Parts(_none, attrgetter("start", "stop"), lambda s, v, i: replace(s, start=i[0], stop=i[1])),
    ir.If: _Parts(_conditions, _none, lambda s, v, i: ir.If(v, s.then, s.otherwise)),
    ir.Break: _Parts(_conditions, _none, lambda s, v, i: ir.Break(v)),
}


def subvalues(value: ir.Value) -> Iterable[ir.Value]:
    """The value and all nested values, operands first."""
    if not isinstance(value, ir.Op):
        return (value,)
    nested = [v for operand in value.operands for v in subvalues(operand)]
    nested.append(value)
    return nested


def expressions_of(value: ir.Value) -> tuple[SymbolicExpr, ...]:
    """The index expressions of one value, those of its operands excluded."""
    if isinstance(value, ir.Load):
        return value.index
    return (value.expression,) if isinstance(value, _WITH_EXPRESSION) else ()


def expressions_in(statement: ir.Statement) -> Sequence[SymbolicExpr]:
    """The index expressions of a statement, including those of its values, nested blocks excluded."""
    expressions = list(indices_of(statement))
    for part in all_values(statement):
        expressions += expressions_of(part)
    return expressions


def may_leave(block: ir.Block) -> bool:
    """Whether the block of a loop may leave the loop early."""
    return any(isinstance(s, ir.Break) or (isinstance(s, ir.If) and may_leave((*s.then, *s.otherwise))) for s in block)


def keeps_best(statements: Iterable[ir.Statement]) -> bool:
    """Whether the statements of a loop choose several variables that they assign, as the best element with its place."""
    every = list(statements)
    values = (part for s in every for part in all_values(s))
    chooses = any(isinstance(v, ir.Op) and v.opcode == "select" for v in values)
    return chooses and sum(isinstance(s, ir.Assign) for s in every) > 1
