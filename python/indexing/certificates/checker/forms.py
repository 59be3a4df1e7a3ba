"""Expressions as integer polynomials over atoms: variables, quotients, minima, and remainders by expressions.

`x mod m` is `x - m * (x floordiv m)`, so that no law about it is needed.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeAlias

from indexing.certificates.checker.reader import Expr

__all__ = ["Form", "Forms", "constant", "own"]

#: Products of atoms, by id, each with its coefficient; `()` is the product of none.
Terms: TypeAlias = "Iterable[tuple[tuple[int, ...], int]]"


@dataclass(unsafe_hash=True, slots=True)  # not frozen: making one would take twice the time
class Form:
    """A sum of terms, in order."""

    terms: tuple[tuple[tuple[int, ...], int], ...] = ()

    def __add__(self, other: Form | int) -> Form:
        return made((*self.terms, *constant(other).terms))

    def __sub__(self, other: Form | int) -> Form:
        return made((*self.terms, *((k, -c) for k, c in constant(other).terms)))

    def __mul__(self, other: Form | int) -> Form:
        if isinstance(other, int):
            return Form(tuple((k, c * other) for k, c in self.terms) if other else ())
        return made((tuple(sorted(k + j)), c * d) for k, c in self.terms for j, d in other.terms)

    @property
    def number(self) -> int | None:
        """The number that it is, if it is one."""
        return None if any(k for k, _ in self.terms) else sum(c for _, c in self.terms)


def made(terms: Terms) -> Form:
    """The sum of terms."""
    total: dict[tuple[int, ...], int] = {}
    for k, c in terms:
        total[k] = total.get(k, 0) + c
    return Form(tuple(sorted((k, c) for k, c in total.items() if c)))


def constant(number: Form | int) -> Form:
    """The form of a number."""
    return number if isinstance(number, Form) else Form((((), number),) if number else ())


def own(atom: int) -> Form:
    """The form of an atom."""
    return Form((((atom,), 1),))


class Forms:
    """The atoms met so far, and the forms of expressions over them."""

    def __init__(self) -> None:
        #: The kind of each atom, `/`, `%`, `min` or the name of a variable, and its parts.
        self.atoms: list[tuple[str, tuple[Form, ...]]] = []
        self.ids: dict[tuple[str, tuple[Form, ...]], int] = {}
        self.memo: dict[Expr, Form] = {}

    def atom(self, kind: str, *parts: Form) -> Form:
        """The form of one atom."""
        if (kind, parts) not in self.ids:
            self.ids[kind, parts] = len(self.atoms)
            self.atoms.append((kind, parts))
        return own(self.ids[kind, parts])

    def of(self, e: Expr, memo: dict[Expr, Form] | None = None) -> Form:
        """The form of an expression; parts of it have the form that `memo` says."""
        memo = self.memo if memo is None else memo
        if e not in memo:
            memo[e] = self.made(e, memo)
        return memo[e]

    def made(self, e: Expr, memo: dict[Expr, Form]) -> Form:
        """The form of an expression from those of its operands."""
        if not isinstance(e, tuple):
            return constant(e) if isinstance(e, int) else self.atom(e)
        parts = [self.of(o, memo) for o in e[1]]
        match e[0]:
            case "+":
                return made(t for part in parts for t in part.terms)
            case "*":
                return parts[0] * parts[1]
            case "/":
                return self.quotient(*parts)
            case "%":
                return self.remainder(*parts)
        tables = [dict(part.terms) for part in parts]
        outside = made((k, min(t.get(k, 0) for t in tables)) for k in set[tuple[int, ...]]().union(*tables))
        inside = sorted({part - outside for part in parts}, key=lambda f: f.terms)
        return outside + self.atom("min", *inside) if len(inside) > 1 else parts[0]

    def quotient(self, n: Form, d: Form) -> Form:
        """`n floordiv d`; multiples of a number are moved out."""
        m = d.number
        if m is None:
            return self.atom("/", n, d)
        # What is left has the least coefficients.
        whole = made((k, (c + (m - 1) // 2 if k else c) // m) for k, c in n.terms)
        rest = n - whole * m
        return (
            whole if rest.number is not None else whole + self.atom("/", *((rest, d) if m > 0 else (rest * -1, d * -1)))
        )

    def remainder(self, n: Form, d: Form) -> Form:
        """`n mod d`, in [0, |d|)."""
        if d.number is None:
            return Form() if n == d else self.atom("%", n, d)
        m = abs(d.number)
        return n - self.quotient(n, constant(m)) * m

    def solved(self, zero: Form) -> dict[Expr, Form]:
        """The last variable of coefficient 1 or -1 in a form that is 0, with what it equals."""
        for k, c in reversed(zero.terms):
            if c in (1, -1) and len(k) == 1 and not self.atoms[k[0]][1]:
                return {self.atoms[k[0]][0]: (zero - own(k[0]) * c) * -c}
        return {}

    def below(self, forms: Iterable[Form]) -> list[int]:
        """The atoms of forms, and those inside of them."""
        atoms, todo = set[int](), list(forms)
        while todo:
            new = {a for k, _ in todo.pop().terms for a in k} - atoms
            atoms |= new
            todo += [part for a in new for part in self.atoms[a][1]]
        return sorted(atoms)
