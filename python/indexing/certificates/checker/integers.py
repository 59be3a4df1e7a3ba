"""Polynomials with integer coefficients, and whether linear equations and inequalities between them have no solution."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import count, product
from math import gcd
from typing import TypeAlias

__all__ = ["Form", "constant", "has_no_solution", "own"]

#: Rows by the coefficients of their unknowns, each with its greatest constant.
Rows: TypeAlias = "dict[frozenset[tuple[tuple[int, ...], int]], int]"

MAX_ROWS = 200
NUMBERS = count(1)


class Form(dict[tuple[int, ...], int]):
    """Products of unknowns, by their numbers in order, each with its coefficient; `()` is the product of none.

    No coefficient is 0. A form does not change once it is made.
    """

    __slots__ = ("normal",)

    #: The result of `Forms.normal`, once it was asked for.
    normal: tuple[int, int, int]

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(frozenset(self.items()))

    @classmethod
    def sum(cls, terms: Iterable[tuple[Form, int]]) -> Form:
        """The sum of multiples of forms."""
        total: dict[tuple[int, ...], int] = {}
        for form, factor in terms:
            for k, c in form.items():
                total[k] = total.get(k, 0) + c * factor
        return cls({k: c for k, c in total.items() if c})

    def plus(self, other: Form, factor: int) -> Form:
        """`self + other * factor`, for a factor that is not 0."""
        total = Form(self)
        for k, c in other.items():
            if new := total.get(k, 0) + c * factor:
                total[k] = new
            else:
                del total[k]
        return total

    def __add__(self, other: Form | int) -> Form:
        return self.plus(constant(other), 1)

    def __sub__(self, other: Form | int) -> Form:
        return self.plus(constant(other), -1)

    def __neg__(self) -> Form:
        return Form({k: -c for k, c in self.items()})

    def __mul__(self, other: Form | int) -> Form:
        if isinstance(other, int):
            return Form({k: c * other for k, c in self.items()}) if other else Form()
        return Form.sum(
            (Form({tuple(sorted(k + j)) if j else k: c for k, c in self.items()}), d) for j, d in other.items()
        )

    @property
    def number(self) -> int | None:
        """The number that it is, if it is one."""
        return self.get((), 0) if len(self) == (() in self) else None


def constant(number: Form | int) -> Form:
    """The form of a number."""
    return number if isinstance(number, Form) else Form({(): number} if number else {})


def own(unknown: int) -> Form:
    """The form of an unknown."""
    return Form({(unknown,): 1})


class Contradiction(Exception):
    """A row that no integers solve."""


def has_no_solution(zeros: Iterable[Form], rows: Iterable[Form]) -> bool:
    """Whether no integers solve `form = 0` for the first and `form <= 0` for the others, with each product as an unknown.

    False if that is not found. Equations are solved as in the Omega test, inequalities by Fourier and Motzkin's elimination
    with rounding.
    """
    zeros, rows = [*zeros], [*rows]
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


def solve(zero: Form, zeros: list[Form], rows: list[Form]) -> None:
    """Replaces an unknown of `zero = 0` in all rows; what is left of the equation joins the others."""
    unknowns = [k for k in zero if k]
    g = gcd(*(zero[k] for k in unknowns))
    if zero.get((), 0) % g if g else zero:
        raise Contradiction
    if not g:
        return
    unknown = min(unknowns, key=lambda k: (abs(zero[k]), k))
    # a * unknown + sum of c * u = 0, so unknown = new - sum of (c // a) * u, where a * new + sum of (c % a) * u = 0
    a = zero[unknown]
    by = Form({u: -(c // a) for u, c in zero.items() if c // a and u != unknown})
    if rest := Form({u: c % a for u, c in zero.items() if c % a}):
        new = own(-next(NUMBERS))
        by, rest = by.plus(new, 1), rest.plus(new, a)
        zeros.append(rest)
    for group in (zeros, rows):
        group[:] = [row.plus(Form({**by, unknown: -1}), row[unknown]) if unknown in row else row for row in group]


def put(table: Rows, row: Form) -> None:
    """Adds `row <= 0`, divided by the common factor of its coefficients, with the constant rounded up."""
    constant, terms = row.get((), 0), [term for term in row.items() if term[0]]
    if not terms and constant > 0:
        raise Contradiction
    if terms:
        g = gcd(*(c for _, c in terms))
        key = frozenset(terms if g == 1 else ((k, c // g) for k, c in terms))
        table[key] = max(-(-constant // g), table.get(key, -(-constant // g)))
        if table[key] + table.get(frozenset((k, -c) for k, c in key), -table[key]) > 0:
            raise Contradiction


def eliminated(table: Rows) -> Rows:
    """The rows without one unknown: one that loses no integers, if there is one, and gives the fewest. Raises Contradiction."""
    sides: dict[tuple[int, ...], tuple[list[Form], list[Form]]] = {}
    for key, constant in table.items():
        row = Form((*key, ((), constant)) if constant else key)
        for u, c in key:
            sides.setdefault(u, ([], []))[c < 0].append(row)

    def cost(u: tuple[int, ...]) -> tuple[bool, int, tuple[int, ...]]:
        is_rounded = all(any(abs(row[u]) > 1 for row in side) for side in sides[u])
        return is_rounded, len(sides[u][0]) * len(sides[u][1]), u

    unknown = min(sides, key=cost)
    kept = {key: c for key, c in table.items() if all(u != unknown for u, _ in key)}
    for p, q in product(*sides[unknown]):
        g = gcd(p[unknown], q[unknown])
        put(kept, (p * (-q[unknown] // g)).plus(q, p[unknown] // g))
    return kept
