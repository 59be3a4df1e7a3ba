"""Parsing of values in a kernel's text: constants, names, index values, conditions, loads and operations."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from indexing.kernels.ir.nodes import Constant, Index, IndexValue, Load, Op, Ref, Within
from indexing.kernels.ir.opcodes import OPCODES
from indexing.ops.element_types import ELEMENT_TYPES
from ir_scanner import Line

if TYPE_CHECKING:
    from indexing._core import SymbolicExpr
    from indexing.kernels.ir.nodes import Value

MAX_DEPTH = 200  # operations are nested at most so deep


def read_place(line: Line, variables: Mapping[str, int]) -> Index:
    """Read an index in brackets."""
    line.expect("[")
    result: list[SymbolicExpr] = []
    while not line.takes("]"):
        if result:
            line.expect(",")
        result.append(line.expression(variables))
    return tuple(result)


def read_value(line: Line, variables: Mapping[str, int], types: Mapping[str, str], depth: int = 0) -> Value:
    """Read a value; `variables` are the index variables in scope, `types` the types of names."""
    if depth > MAX_DEPTH:
        line.fail(f"operations are nested too deeply; the limit is {MAX_DEPTH}")
    at = line.start()
    word = line.word("a value")
    if word == "within" and line.sees("("):
        return _within(line, variables)
    if line.takes("."):
        return _typed(line, word, at, variables, types, depth)
    if word in ELEMENT_TYPES and word not in types:
        return Constant(word, line.number_value())
    if word not in types:
        line.fail(f"there is no value {word} here", at)
    return Ref(types[word], word)


def _within(line: Line, variables: Mapping[str, int]) -> Within:
    line.expect("(")
    expression = line.expression(variables)
    line.expect(",")
    line.expect("[")
    lower = None if line.sees(",") else line.integer()
    line.expect(",")
    upper = None if line.sees("]") else line.integer()
    line.expect("]")
    line.expect(")")
    return Within(expression, lower, upper)


def _typed(line: Line, word: str, at: int, variables: Mapping[str, int], types: Mapping[str, str], depth: int) -> Value:
    """Read a value with a type suffix, `name.type`."""
    kind = line.one_of(ELEMENT_TYPES, "a type")
    if word == "load":
        return Load(kind, line.word("a buffer"), read_place(line, variables))
    if word == "index":
        line.expect("(")
        expression = line.expression(variables)
        line.expect(")")
        return IndexValue(expression, kind)
    if word not in OPCODES:
        line.fail(f"{word} is no operation", at)
    narrow = line.one_of(ELEMENT_TYPES, "an element type") if line.takes(".") else ""
    line.expect("(")
    operands: list[Value] = []
    while not line.takes(")"):
        if operands:
            line.expect(",")
        operands.append(read_value(line, variables, types, depth + 1))
    return Op(word, kind, tuple(operands), narrow)
