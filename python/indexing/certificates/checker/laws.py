"""The laws of docs/rules.md as rows: what each equates, and the conditions under which it does."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from math import inf
from typing import Any, TypeAlias

from indexing.certificates.checker.forms import Form, Forms, Range
from indexing.certificates.checker.table import made

__all__ = ["compared", "equations", "rows", "value_of"]

#: The bounds of the left side minus the right one; of "divides", of what is left of the right one by the left one.
ENDS = {ast.LtE: (-inf, 0), ast.Lt: (-inf, -1), ast.Gt: (1, inf), ast.Eq: (0, 0), ast.In: (0, 0)}
#: Operators as nodes: their kinds and numbers.
NODES = {
    ast.Add: ("sum", (0, 1, 1)),
    ast.Sub: ("sum", (0, 1, -1)),
    ast.Mult: ("product", ()),
    ast.Div: ("floordiv", ()),
    ast.Mod: ("mod", ()),
}
DUALS = {"min": "max", "max": "min"}
ALIKE = "(max alike)"
NO_EQUALITIES: Mapping[Any, Any] = {}
#: Two sides, and the sign between them.
Comparison: TypeAlias = "tuple[ast.expr, type[ast.cmpop], ast.expr]"


@cache
def rows() -> dict[str, tuple[str, str, str]]:
    """The group, the law and the condition of each law, by id; a test compares them with those of the core."""
    lines = files(__package__).joinpath("laws.txt").read_text(encoding="utf-8").splitlines()
    return {name: (group, law, condition) for group, name, law, condition in (line.split(" | ") for line in lines)}


@cache
def equations(name: str) -> tuple[tuple[ast.expr, ast.expr, tuple[Comparison, ...] | None], ...]:
    """The equations of a law, either way, each with the comparisons that it needs; None where these are words.

    Where max is alike also with min and max exchanged, and with the order of what is no number turned round.
    """
    _, law, condition = rows()[name]
    stated = condition.removesuffix(ALIKE).strip().removesuffix(" on the domain")
    is_words = re.search(r"\b(?!divides|none|min|max)[a-z]{2}", stated)
    needs = None if is_words else () if stated == "none" else comparisons(stated)
    equal = [(left, right, needs) for left, _, right in comparisons(law)]
    if ALIKE in condition:
        law, stated = (re.sub("min|max", lambda m: DUALS[m[0]], text) for text in (law, stated))
        own = comparisons(stated) if needs else ()
        turned = needs and tuple((b, sign, a) if is_order(a, sign, b) else (a, sign, b) for a, sign, b in own)
        equal += [(left, right, turned) for left, _, right in comparisons(law)]
    return (*equal, *((right, left, needs) for left, right, needs in equal))


def is_order(a: ast.expr, sign: type[ast.cmpop], b: ast.expr) -> bool:
    """Whether a comparison orders two sides that are no numbers."""
    return sign in (ast.LtE, ast.Lt, ast.Gt) and not isinstance(a, ast.Constant) and not isinstance(b, ast.Constant)


def comparisons(text: str) -> tuple[Comparison, ...]:
    """The comparisons in a list, which is written in Python but for the signs, and the meaning of /.

    Without those that say that a divisor is not 0, as that is proved of what a law replaces anyhow.
    """
    tree: Any = ast.parse(f"({text.replace(' = ', ' == ').replace(' divides ', ' in ')},)", mode="eval").body
    sides = ((compare, (compare.left, *compare.comparators)) for compare in tree.elts)
    every = ((a, type(op), b) for compare, of in sides for a, op, b in zip(of, compare.ops, of[1:], strict=False))
    return tuple((a, sign, b) for a, sign, b in every if sign is not ast.NotEq)


def value_of(tree: Any, algebra: Any, letters: Mapping[str, Any], same: Mapping[Any, Any] = NO_EQUALITIES) -> Any:
    """The value of a side of a law for its letters, where values within it are replaced by the same ones."""
    if isinstance(tree, ast.Constant):
        return algebra.number(tree.value)
    if isinstance(tree, ast.Name):
        value = letters[tree.id]
    else:
        kind, numbers, parts = node_of(tree)
        value = made(algebra, kind, numbers, [value_of(part, algebra, letters, same) for part in parts])
    return same.get(value, value) if same else value


def node_of(tree: Any) -> tuple[str, tuple[int, ...], Sequence[ast.expr]]:
    """The kind, the numbers and the operands of an expression as a node."""
    if isinstance(tree, ast.Call):
        return tree.func.id, (), tree.args  # type: ignore[attr-defined]
    if isinstance(tree, ast.UnaryOp):
        return "sum", (0, -1), (tree.operand,)
    return *NODES[type(tree.op)], (tree.left, tree.right)


def compared(
    forms: Forms, letters: Mapping[str, Form], left: ast.expr, sign: type[ast.cmpop], right: ast.expr
) -> Range:
    """The range that says that a comparison of a law holds for its letters."""
    a, b = value_of(left, forms, letters), value_of(right, forms, letters)
    return forms.range(forms.remainder(b, a) if sign is ast.In else a - b, *ENDS[sign])
