"""Equality at every point: of expressions whose variables have few values."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from math import prod

from indexing.certificates.reader import Expr

__all__ = ["is_equal_everywhere"]

MAX_POINTS = 4096


def is_equal_everywhere(left: Expr, right: Expr, bounds: Mapping[str, tuple[int, int]]) -> bool:
    """Whether both sides are equal at all values of their variables, each with inclusive bounds; False if that isn't known."""
    names = sorted(variables(left) | variables(right))
    if any(name not in bounds for name in names):
        return False
    ranges = [range(bounds[name][0], bounds[name][1] + 1) for name in names]
    if prod(map(len, ranges)) > MAX_POINTS:
        return False
    points = (dict(zip(names, values, strict=True)) for values in product(*ranges))
    return all(value_at(left, point) == value_at(right, point) for point in points)


def variables(e: Expr) -> set[str]:
    """The names in an expression."""
    if isinstance(e, str):
        return {e}
    return set() if isinstance(e, int) else variables(e[1]) | variables(e[2])


def value_at(e: Expr, point: Mapping[str, int]) -> int:
    """The value of an expression. Raises ZeroDivisionError."""
    if isinstance(e, int):
        return e
    if isinstance(e, str):
        return point[e]
    a, b = value_at(e[1], point), value_at(e[2], point)
    match e[0]:
        case "+":
            return a + b
        case "*":
            return a * b
        case "/":
            return a // b
        case "%":
            return a % abs(b)
        case "min":
            return min(a, b)
    return max(a, b)
