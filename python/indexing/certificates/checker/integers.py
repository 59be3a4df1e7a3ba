"""Systems of linear equations and inequalities over the integers: whether one has no solution."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from itertools import count
from math import gcd
from typing import TypeAlias

__all__ = ["has_no_solution"]

#: Coefficients by unknown; that of `()` is the constant.
Row: TypeAlias = "dict[Hashable, int]"
Terms: TypeAlias = "Iterable[tuple[Hashable, int]]"
#: Rows by the coefficients of their unknowns, each with its greatest constant.
Rows: TypeAlias = "dict[frozenset[tuple[Hashable, int]], int]"

MAX_ROWS = 200
MAX_ROUNDS = 60


def has_no_solution(equal: Iterable[Terms], at_most: Iterable[Terms]) -> bool:
    """Whether no integers solve `row = 0` for the first and `row <= 0` for the other rows; False if that is not found.

    A row has the terms of its unknowns, none with coefficient 0; `()` is that of the constant.

    Equations are solved as in the Omega test, inequalities by Fourier and Motzkin's elimination with rounding.
    """
    try:
        rows = solved([dict(row) for row in equal], [dict(row) for row in at_most])
        for _ in range(MAX_ROUNDS):
            if not rows or len(rows) > MAX_ROWS:
                return False
            rows = eliminated(rows)
    except Contradiction:
        return True
    return False


class Contradiction(Exception):
    """A row that no integers solve."""


def solved(equal: list[Row], rows: list[Row]) -> Rows:
    """The rows after all equations are solved, also those that two opposite rows are. Raises Contradiction."""
    while True:
        while equal:
            solve(equal.pop(), equal, rows)
        table: Rows = {}
        for row in rows:
            put(table, row)
        equal = [dict(key) | {(): c} for key, c in table.items() if table.get(opposite(key)) == -c]
        if not equal:
            return table
        rows = [dict(key) | {(): c} for key, c in table.items() if table.get(opposite(key)) != -c]


def opposite(key: frozenset[tuple[Hashable, int]]) -> frozenset[tuple[Hashable, int]]:
    return frozenset((u, -c) for u, c in key)


def solve(zero: Row, *systems: list[Row]) -> None:
    """Replaces an unknown of `zero = 0` in all rows; what is left of the equation joins the first system."""
    constant = zero.pop((), 0)
    g = gcd(*zero.values())
    if constant % g if g else constant:
        raise Contradiction
    if not g:
        return
    unknown = min(zero, key=lambda u: (abs(zero[u]), str(u)))
    a = zero.pop(unknown)
    # a * unknown + sum of c * u = 0, so unknown = new - sum of (c // a) * u, where a * new + sum of (c % a) * u = 0
    zero[()] = constant
    by: Row = {u: -(c // a) for u, c in zero.items() if c // a}
    rest: Row = {u: c % a for u, c in zero.items() if c % a}
    if rest:
        new = ("new", next(NUMBERS))
        by[new] = 1
        systems[0].append({**rest, new: a})
    for row in (row for system in systems for row in system):
        c = row.pop(unknown, 0)
        if c:
            add_to(row, by, c)


NUMBERS = count()


def add_to(row: Row, other: Row, factor: int) -> None:
    for u, c in other.items():
        total = row.pop(u, 0) + factor * c
        if total:
            row[u] = total


def put(table: Rows, row: Row) -> None:
    """Adds `row <= 0`, divided by the common factor of its coefficients, with the constant rounded up."""
    constant = row.pop((), 0)
    g = gcd(*row.values())
    if not g:
        if constant > 0:
            raise Contradiction
        return
    key = frozenset((u, c // g) for u, c in row.items())
    constant = -(-constant // g)
    table[key] = max(constant, table.get(key, constant))
    other = table.get(opposite(key))
    if other is not None and other + table[key] > 0:
        raise Contradiction


def eliminated(table: Rows) -> Rows:
    """The rows without one unknown: one that loses no integers, if there is one, and gives the fewest. Raises Contradiction."""
    sides: dict[Hashable, tuple[list[Row], list[Row]]] = {}
    for key, constant in table.items():
        row = {**dict(key), (): constant}
        for u, c in key:
            sides.setdefault(u, ([], []))[c < 0].append(row)
    unknown = min(sides, key=lambda u: (is_rounded(u, *sides[u]), len(sides[u][0]) * len(sides[u][1]), str(u)))
    kept: Rows = {key: c for key, c in table.items() if all(u != unknown for u, _ in key)}
    for p in sides[unknown][0]:
        for q in sides[unknown][1]:
            a, b = p[unknown], -q[unknown]
            row = {u: c * (b // gcd(a, b)) for u, c in p.items()}
            add_to(row, q, a // gcd(a, b))
            put(kept, row)
    return kept


def is_rounded(unknown: Hashable, above: list[Row], below: list[Row]) -> bool:
    """Whether the rows without an unknown have solutions for which it is no integer: there is no side with coefficients 1."""
    return any(row[unknown] != 1 for row in above) and any(row[unknown] != -1 for row in below)
