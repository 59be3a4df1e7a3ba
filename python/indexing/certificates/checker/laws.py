"""The laws of docs/rules.md as rows: what each equates, as tables of nodes, and the conditions under which it does."""

from __future__ import annotations

import ast
import re
from functools import cache
from importlib.resources import files
from math import inf
from typing import Any, TypeAlias

from indexing.certificates.checker.forms import Ends, Form, Forms, Range

__all__ = ["compared", "equations", "rows"]

#: The bounds of the left side minus the right one; of "divides", of what is left of the right one by the left one.
ENDS: dict[type[ast.cmpop], Ends] = {
    ast.LtE: (-inf, 0),
    ast.Lt: (-inf, -1),
    ast.Gt: (1, inf),
    ast.Eq: (0, 0),
    ast.In: (0, 0),
}
OPERATORS: dict[type[ast.operator], Any] = {
    ast.Add: ("sum", (0, 1, 1)),
    ast.Sub: ("sum", (0, 1, -1)),
    ast.Mult: ("product", ()),
    ast.Div: ("floordiv", ()),
    ast.Mod: ("mod", ()),
}
#: As Python has them.
SIGNS = {" = ": " == ", " divides ": " in "}
DUALS = {"min": "max", "max": "min"}
ALIKE = "(max alike)"
#: A side of a law as a table, whose variables are letters.
Side: TypeAlias = "tuple[Any, ...]"
#: Two sides, and the sign between them.
Comparison: TypeAlias = "tuple[Side, type[ast.cmpop], Side]"


@cache
def rows() -> dict[str, tuple[str, str, str]]:
    """The group, the law and the condition of each law, by id; a test compares them with those of the core."""
    lines = files(__package__).joinpath("laws.txt").read_text(encoding="utf-8").splitlines()
    return {name: (group, law, condition) for group, name, law, condition in (line.split(" | ") for line in lines)}


@cache
def equations(name: str) -> tuple[tuple[Side, Side, tuple[Comparison, ...] | None], ...]:
    """The equations of a law, either way, each with the comparisons that it needs; None where these are words.

    Where max is alike also with min and max exchanged, and with the order of what is no number turned round.
    """
    _, law, condition = rows()[name]
    stated = condition.removesuffix(ALIKE).strip().removesuffix(" on the domain")
    is_words, needs = re.search(r"\b(?!divides|none)[a-z]{2}", stated), tuple[Comparison, ...]()
    if not is_words and stated != "none":
        needs = comparisons(stated)
    equal = [(left, right, needs) for left, _, right in comparisons(law)]
    if ALIKE in condition:
        turned = tuple((b, sign, a) if is_order(a, sign, b) else (a, sign, b) for a, sign, b in needs)
        dual = comparisons(re.sub("min|max", lambda m: DUALS[m[0]], law))
        equal += [(left, right, turned) for left, _, right in dual]
    equal += [(right, left, own) for left, right, own in equal]
    return tuple((left, right, None if is_words else own) for left, right, own in equal)


def is_order(a: Side, sign: type[ast.cmpop], b: Side) -> bool:
    """Whether a comparison orders two sides that are no numbers."""
    return sign in (ast.LtE, ast.Lt, ast.Gt) and not any(side[-1][0] == "constant" for side in (a, b))


def comparisons(text: str) -> tuple[Comparison, ...]:
    """The comparisons in a list, which is written in Python but for the signs, and the meaning of /."""
    for sign, python in SIGNS.items():
        text = text.replace(sign, python)
    made: list[Comparison] = []
    for compare in ast.parse(f"({text},)", mode="eval").body.elts:  # type: ignore[attr-defined]
        sides = [side(tree) for tree in (compare.left, *compare.comparators)]
        made += zip(sides, map(type, compare.ops), sides[1:], strict=False)
    return tuple(made)


def side(of: ast.expr) -> Side:
    """A side of a law as a table."""
    nodes: list[Any] = []

    def node(tree: ast.expr) -> int:
        match tree:
            case ast.Name(letter):
                made: Any = "variable", (letter,), ()
            case ast.Constant(number):
                made = "constant", (number,), ()
            case ast.UnaryOp(ast.USub(), operand):
                made = "sum", (0, -1), (node(operand),)
            case ast.BinOp(left, operator, right):
                made = *OPERATORS[type(operator)], (node(left), node(right))
            case ast.Call(ast.Name(kind), arguments):
                made = kind, (), tuple(map(node, arguments))
        nodes.append(made)
        return len(nodes) - 1

    node(of)
    return tuple(nodes)


def compared(forms: Forms, left: Form, sign: type[ast.cmpop], right: Form) -> Range:
    """The range that says that a comparison holds."""
    if sign is ast.NotEq:
        return forms.nonzero(left - right)
    return forms.range(forms.remainder(right, left) if sign is ast.In else left - right, *ENDS[sign])
