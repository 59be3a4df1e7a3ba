"""The laws of docs/rules.md as rows: what each equates, and the conditions under which it does."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from math import inf
from typing import TypeAlias

from indexing.certificates.checker.forms import Ends, Form, Forms, Range
from indexing.certificates.checker.reader import items

__all__ = ["compared", "equations", "rows"]

COMPARISON = re.compile(r" (<=|<|>|=|!=|divides) ")
#: The bounds of the left side minus the right one.
ENDS: dict[str, Ends] = {"<=": (-inf, 0), "<": (-inf, -1), ">": (1, inf), "=": (0, 0)}
DUALS = {"min": "max", "max": "min"}
ALIKE = "(max alike)"
#: Two equal expressions, with the comparisons that they need: (left, operator, right); None where these are words.
Equation: TypeAlias = "tuple[str, str, tuple[tuple[str, str, str], ...] | None]"


@cache
def rows() -> dict[str, tuple[str, str, str]]:
    """The group, the law and the condition of each law, by id; a test compares them with those of the core."""
    lines = files(__package__).joinpath("laws.txt").read_text(encoding="utf-8").splitlines()
    return {name: (group, law, condition) for group, name, law, condition in (line.split(" | ") for line in lines)}


@cache
def equations(name: str) -> tuple[Equation, ...]:
    """The equations of a law, either way; where max is alike also with min and max exchanged and the order turned round."""
    _, law, condition = rows()[name]
    stated = condition.removesuffix(ALIKE).strip().removesuffix(" on the domain")
    made = list[Equation]()
    for is_dual in (False, True) if ALIKE in condition else (False,):
        needs = None if re.search(r"\b(?!divides|none)[a-z]{2}", stated) else tuple(comparisons(stated, is_dual))
        for text in items(re.sub("min|max", lambda m: DUALS[m[0]], law) if is_dual else law):
            left, _, right = text.partition(" = ")
            made += [(left, right, needs), (right, left, needs)]
    return tuple(made)


def comparisons(condition: str, is_dual: bool) -> Iterator[tuple[str, str, str]]:
    """The comparisons that a condition states, with the order of what is no number turned round in a dual."""
    for text in items(condition if condition != "none" else ""):
        parts = COMPARISON.split(text)
        for left, operator, right in zip(parts[::2], parts[1::2], parts[2::2], strict=False):
            is_turned = is_dual and operator in ("<=", "<", ">") and not (left.isdecimal() or right.isdecimal())
            yield (right, operator, left) if is_turned else (left, operator, right)


def compared(forms: Forms, left: Form, operator: str, right: Form) -> Range:
    """The range that says that a comparison holds."""
    if operator == "!=":
        return forms.nonzero(left - right)
    if operator == "divides":
        return forms.range(forms.remainder(right, left), 0, 0)
    return forms.range(left - right, *ENDS[operator])
