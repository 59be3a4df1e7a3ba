"""Expressions as polynomials over atoms: variables, quotients, minima, and remainders by expressions.

`x mod m` is `x - m * (x floordiv m)`, so that no law about it is needed.
"""

from __future__ import annotations

from functools import reduce

from indexing.certificates.checker.integers import Form, constant, own
from indexing.certificates.checker.reader import Expr

__all__ = ["Forms"]


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
                return reduce(Form.__add__, parts)
            case "*":
                return parts[0] * parts[1]
            case "/":
                return self.quotient(*parts)
            case "%":
                return self.remainder(*parts)
            case "max":
                return self.minimum([part * -1 for part in parts]) * -1
        return self.minimum(parts)

    def minimum(self, parts: list[Form]) -> Form:
        """The least of forms: what all have in common stands outside."""
        keys = {k for part in parts for k in part}
        outside = Form({k: c for k in keys if (c := min(part.get(k, 0) for part in parts))})
        inside = sorted({part - outside for part in parts}, key=lambda f: sorted(f.items()))
        return outside + self.atom("min", *inside) if len(inside) > 1 else parts[0]

    def quotient(self, n: Form, d: Form) -> Form:
        """`n floordiv d`; multiples of a number are moved out."""
        m = d.number
        if m is None:
            return self.atom("/", n, d)
        if m == 0:
            raise ZeroDivisionError("a divisor is 0")
        # What is left has the least coefficients.
        whole = Form({k: w for k, c in n.items() if (w := (c + (m - 1) // 2 if k else c) // m)})
        rest = n - whole * m
        if rest.number is not None:
            return whole
        return whole + self.atom("/", *((rest, d) if m > 0 else (rest * -1, d * -1)))

    def remainder(self, n: Form, d: Form) -> Form:
        """`n mod d`, in [0, |d|)."""
        if d.number is None:
            return Form() if n == d else self.atom("%", n, d)  # the remainder by 0 is any number: 0 serves
        m = abs(d.number)
        return n - self.quotient(n, constant(m)) * m

    def solved(self, zero: Form) -> dict[Expr, Form]:
        """The last variable of coefficient 1 or -1 in a form that is 0, with what it equals."""
        for k in sorted(zero, reverse=True):
            if len(k) == 1 and not self.atoms[k[0]][1] and zero[k] in (1, -1):
                return {self.atoms[k[0]][0]: (zero - own(k[0]) * zero[k]) * -zero[k]}
        return {}

    def below(self, forms: list[Form]) -> list[int]:
        """The atoms of forms, and those inside of them."""
        atoms, todo = set[int](), [*forms]
        while todo:
            new = {a for k in todo.pop() for a in k} - atoms
            atoms |= new
            todo += [part for a in new for part in self.atoms[a][1]]
        return sorted(atoms)
