"""Expressions as polynomials over atoms: variables, quotients, minima, and remainders by expressions.

`x mod m` is `x - m * (x floordiv m)`, so that no law about it is needed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import reduce
from math import gcd, prod
from typing import TypeAlias

from indexing.certificates.checker.integers import Form, constant, own
from indexing.certificates.checker.reader import Bound

__all__ = ["Forms", "Range", "floored"]

#: The number of a normal form, and its bounds.
Range: TypeAlias = "tuple[int, Bound, Bound]"

VALUES: dict[str, Callable[..., int]] = {"/": lambda a, b: a // b, "%": lambda a, b: a % abs(b), "min": min}
#: Products of forms have at most as many terms before they are added.
MAX_TERMS = 10_000
ONE = constant(1)


class Forms:
    """The atoms met so far, the forms of expressions over them, and their values."""

    def __init__(self) -> None:
        self.number, self.variable, self.sum = constant, self.atom, Form.sum
        #: The kind of each atom, `/`, `%`, `min` or the name of a variable, and its parts.
        self.atoms: list[tuple[str, tuple[Form, ...]]] = []
        self.owns: list[Form] = []
        #: Each atom with those that it is made of.
        self.inside: list[frozenset[int]] = []
        self.ids: dict[tuple[str, tuple[Form, ...]], int] = {}
        #: By quotient by a number, what it leaves, and the number; the bounds of what it leaves, as of its normal form.
        self.rests: dict[tuple[int, ...], tuple[Form, int]] = {}
        self.always: dict[int, tuple[Bound, Bound]] = {0: (0, 0)}
        #: Normal forms, by number: of coprime coefficients, the first of them positive, and without a constant.
        self.normals: list[Form] = [Form()]
        self.numbers: dict[Form, int] = {Form(): 0}

    def atom(self, kind: str, *parts: Form) -> Form:
        """The form of one atom."""
        number = self.ids.setdefault((kind, parts), len(self.atoms))
        if number == len(self.atoms):
            self.atoms.append((kind, parts))
            self.owns.append(own(number))
            self.inside.append(frozenset([number, *self.below(parts)]))
            if kind == "/" and (m := parts[1].number):
                rest = parts[0] - own(number) * m
                self.rests[(number,)] = rest, m
                form, *ends = self.range(rest, 0, m - 1)
                self.always[form] = ends[0], ends[1]
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

    def times(self, a: Form, b: Form) -> Form:
        """The product."""
        if len(a) * len(b) > MAX_TERMS:
            raise ValueError("a product has too many terms")
        return a * b if b.number is None else a * b.number

    def least(self, parts: list[Form]) -> Form:
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
            return Form()  # it has no value
        # What is left has the least coefficients.
        whole = Form({k: w for k, c in n.items() if (w := (c + (m - 1) // 2 if k else c) // m)})
        rest = n.plus(whole, -m) if whole else n
        if rest.number is not None:
            return whole
        g = gcd(m, *(c for k, c in rest.items() if k))
        g = g if m > 0 else -g
        rest = Form({k: new for k, c in rest.items() if (new := c // g)}) if g != 1 else rest
        return whole + self.atom("/", rest, constant(m // g))

    def remainder(self, n: Form, d: Form) -> Form:
        """`n mod d`, in [0, |d|)."""
        if d.number is None:
            return Form() if n == d else self.atom("%", n, d)  # the remainder by 0 is any number: 0 serves
        m = abs(d.number)
        return n - self.quotient(n, constant(m)) * m

    def at(self, form: Form, known: dict[int, Form]) -> Form:
        """The form where atoms have those that are known; the others that change become known."""
        changed = {a for k in form for a in k if not self.inside[a].isdisjoint(known)}
        for a in changed - known.keys():
            kind, parts = self.atoms[a]
            known[a] = self.made(kind, [self.at(part, known) for part in parts])
        if not changed:
            return form
        return Form.sum(
            (reduce(self.times, [known.get(a, self.owns[a]) for a in k] or [ONE]), c) for k, c in form.items()
        )

    def made(self, kind: str, parts: list[Form]) -> Form:
        """The form of what would be an atom of this kind."""
        if kind == "min":
            return self.least(parts)
        return self.quotient(*parts) if kind == "/" else self.remainder(*parts)

    def value(self, form: Form, at: dict[int, int]) -> int:
        """The value of a form, where `at` has those of the variables' atoms, and gets all. Raises ZeroDivisionError."""
        for a in {a for k in form for a in k} - at.keys():
            kind, parts = self.atoms[a]
            at[a] = VALUES[kind](*(self.value(part, at) for part in parts))
        return sum(c * prod(at[a] for a in k) for k, c in form.items())

    def below(self, forms: Iterable[Form]) -> list[int]:
        """The atoms of forms, and those inside of them."""
        return sorted({b for form in forms for k in form for a in k for b in self.inside[a]})


def floored(end: Bound, m: int) -> Bound:
    """The quotient of a bound."""
    return end // m if isinstance(end, int) else end
