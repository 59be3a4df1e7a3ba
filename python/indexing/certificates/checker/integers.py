"""Systems of linear equations and inequalities over the integers: whether one has no solution."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from itertools import count, product
from math import gcd
from typing import TypeAlias

__all__ = ["has_no_solution"]

#: Coefficients by unknown; that of `()` is the constant.
Row: TypeAlias = "dict[Hashable, int]"
Terms: TypeAlias = "Iterable[tuple[Hashable, int]]"
#: Rows by the coefficients of their unknowns, each with its greatest constant.
Rows: TypeAlias = "dict[frozenset[tuple[Hashable, int]], int]"

MAX_ROWS = 200
NUMBERS = count()


class Contradiction(Exception):
    """A row that no integers solve."""


def has_no_solution(equal: Iterable[Terms], at_most: Iterable[Terms]) -> bool:
    """Whether no integers solve `row = 0` for the first and `row <= 0` for the other rows; False if that is not found.

    A row has the terms of its unknowns, none with coefficient 0; `()` is that of the constant. Equations are solved as in the
    Omega test, inequalities by Fourier and Motzkin's elimination with rounding.
    """
    zeros, rows = [dict(row) for row in equal], [dict(row) for row in at_most]
    table: Rows = {}
    try:
        while zeros:
            solve(zeros.pop(), zeros, rows)
        for row in rows:
            put(table, row)
        while table and len(table) <= MAX_ROWS:
            table = eliminated(table)
    except Contradiction:
        return True
    return False


def solve(zero: Row, zeros: list[Row], rows: list[Row]) -> None:
    """Replaces an unknown of `zero = 0` in all rows; what is left of the equation joins the others."""
    constant = zero.pop((), 0)
    g = gcd(*zero.values())
    if constant % g if g else constant:
        raise Contradiction
    if not g:
        return
    unknown = min(zero, key=lambda u: (abs(zero[u]), str(u)))
    a = zero.pop(unknown)
    zero[()] = constant
    # a * unknown + sum of c * u = 0, so unknown = new - sum of (c // a) * u, where a * new + sum of (c % a) * u = 0
    by: Row = {u: -(c // a) for u, c in zero.items()}
    rest: Row = {u: c % a for u, c in zero.items() if c % a}
    if rest:
        new = ("new", next(NUMBERS))
        by[new] = 1
        zeros.append({**rest, new: a})
    for row in (*zeros, *rows):
        add(row, by, row.pop(unknown, 0))


def add(row: Row, other: Row, factor: int) -> None:
    """Adds a multiple of another row."""
    for u, c in other.items() if factor else ():
        total = row.pop(u, 0) + factor * c
        if total:
            row[u] = total


def put(table: Rows, row: Row) -> None:
    """Adds `row <= 0`, divided by the common factor of its coefficients, with the constant rounded up."""
    constant = row.pop((), 0)
    g = gcd(*row.values())
    if not g and constant > 0:
        raise Contradiction
    if g:
        key = frozenset((u, c // g) for u, c in row.items())
        table[key] = max(-(-constant // g), table.get(key, -(-constant // g)))
        if table[key] + table.get(frozenset((u, -c) for u, c in key), -table[key]) > 0:
            raise Contradiction


def eliminated(table: Rows) -> Rows:
    """The rows without one unknown: one that loses no integers, if there is one, and gives the fewest. Raises Contradiction."""
    sides: dict[Hashable, tuple[list[Row], list[Row]]] = {}
    for key, constant in table.items():
        for u, c in key:
            sides.setdefault(u, ([], []))[c < 0].append({**dict(key), (): constant})

    def cost(u: Hashable) -> tuple[bool, int, str]:
        is_rounded = all(any(abs(row[u]) > 1 for row in side) for side in sides[u])
        return is_rounded, len(sides[u][0]) * len(sides[u][1]), str(u)

    unknown = min(sides, key=cost)
    kept = {key: c for key, c in table.items() if all(u != unknown for u, _ in key)}
    for p, q in product(*sides[unknown]):
        g = gcd(p[unknown], q[unknown])
        row = {u: c * (-q[unknown] // g) for u, c in p.items()}
        add(row, q, p[unknown] // g)
        put(kept, row)
    return kept
