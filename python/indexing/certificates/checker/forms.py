"""Expressions as polynomials over atoms: variables, quotients, minima, and remainders by expressions.

`x mod m` is `x - m * (x floordiv m)`, so that no law about it is needed.
"""

from __future__ import annotations

from functools import reduce
from math import gcd
from typing import TypeAlias

from indexing.certificates.checker.integers import Form, constant, own
from indexing.certificates.checker.reader import Bound, Table

__all__ = ["Forms", "Range", "floored"]

#: The number of a normal form, and its bounds.
Range: TypeAlias = "tuple[int, Bound, Bound]"


class Forms:
    """The atoms met so far, and the forms of expressions over them."""

    def __init__(self, table: Table) -> None:
        self.table = table
        #: The kind of each atom, `/`, `%`, `min` or the name of a variable, and its parts.
        self.atoms: list[tuple[str, tuple[Form, ...]]] = []
        self.owns: list[Form] = []
        self.ids: dict[tuple[str, tuple[Form, ...]], int] = {}
        self.memo: dict[int, Form] = {}
        #: By quotient by a number, what it leaves, and the number.
        self.rests: dict[tuple[int, ...], tuple[Form, int]] = {}
        self.minima: dict[tuple[int, ...], tuple[Form, ...]] = {}
        #: Normal forms, by number: of coprime coefficients, the first of them positive, and without a constant.
        self.normals: list[Form] = [Form()]
        self.numbers: dict[Form, int] = {Form(): 0}

    def atom(self, kind: str, *parts: Form) -> Form:
        """The form of one atom."""
        new = len(self.atoms)
        number = self.ids.setdefault((kind, parts), new)
        if number == new:
            self.atoms.append((kind, parts))
            self.owns.append(own(new))
            if kind == "/" and (m := parts[1].number):
                self.rests[(new,)] = parts[0] - own(new) * m, m
            if kind == "min":
                self.minima[(new,)] = parts
        return self.owns[number]

    def range(self, of: Form, lower: Bound, upper: Bound) -> Range:
        """The range of a normal form that says that a form has these bounds."""
        form, factor, constant = self.normal(of)
        lower, upper = lower - constant, upper - constant
        if factor < 0:
            lower, upper, factor = -upper, -lower, -factor
        return (form, lower, upper) if factor == 1 else (form, -floored(-lower, factor), floored(upper, factor))

    def normal(self, of: Form) -> tuple[int, int, int]:
        """The number of a normal form, and by which numbers it is to be multiplied, and then increased."""
        try:
            return of.normal
        except AttributeError:
            constant = of.get((), 0)
            form = Form({k: c for k, c in of.items() if k}) if constant else of
            factor = gcd(*form.values()) or 1
            if form and form[min(form)] < 0:
                factor = -factor
            if factor != 1:
                form = Form({k: c // factor for k, c in form.items()})
            number = self.numbers.setdefault(form, len(self.normals))
            if number == len(self.normals):
                self.normals.append(form)
            of.normal = number, factor, constant
            return of.normal

    def of(self, number: int, memo: dict[int, Form] | None = None) -> Form:
        """The form of an expression; parts of it have the form that `memo` says."""
        memo = self.memo if memo is None else memo
        if number not in memo:
            memo[number] = self.made(number, memo)
        return memo[number]

    def made(self, number: int, memo: dict[int, Form]) -> Form:
        """The form of an expression from those of its operands."""
        node = self.table.nodes[number]
        if not isinstance(node, tuple):
            return constant(node) if isinstance(node, int) else self.atom(node)
        parts = [self.of(o, memo) for o in node[1]]
        match node[0]:
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
            return self.atom("/", n, d) if n else n  # of 0 by 0 it is any number: 0 serves
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

    def solved(self, zero: Form) -> dict[int, Form]:
        """The last variable of coefficient 1 or -1 in a form that is 0, with what it equals."""
        for k in sorted(zero, reverse=True):
            if len(k) == 1 and not self.atoms[k[0]][1] and zero[k] in (1, -1):
                return {self.table.add(self.atoms[k[0]][0]): (zero - own(k[0]) * zero[k]) * -zero[k]}
        return {}

    def below(self, forms: list[Form]) -> list[int]:
        """The atoms of forms, and those inside of them."""
        atoms, todo = set[int](), [*forms]
        while todo:
            new = {a for k in todo.pop() for a in k} - atoms
            atoms |= new
            todo += [part for a in new for part in self.atoms[a][1]]
        return sorted(atoms)


def floored(end: Bound, m: int) -> Bound:
    """The quotient of a bound."""
    return end // m if isinstance(end, int) else end
