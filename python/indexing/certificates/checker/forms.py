"""Expressions as integer linear combinations of unknowns: variables, quotients, minima, and products of these.

`x mod m` is `x - m * (x floordiv m)`, and a maximum a negated minimum, so that no law about them is needed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import chain
from math import gcd, inf, prod
from typing import TypeAlias

from indexing.certificates.checker.table import Bound
from indexing.certificates.step import Refused

__all__ = ["Ends", "Form", "Forms", "Range", "constant", "floored"]

#: A lower and an upper bound.
Ends: TypeAlias = "tuple[Bound, Bound]"
#: The terms of a form with coprime coefficients, the first of them positive, and no constant, with its bounds.
Range: TypeAlias = "tuple[frozenset[tuple[int, int]], Bound, Bound]"

VALUES: dict[str, Callable[..., int]] = {
    "1": lambda: 1,
    "*": lambda *factors: prod(factors),
    "/": lambda n, d: n // d,
    "%": lambda n, d: n % abs(d),
    "min": min,
}
#: Products of forms have at most as many terms before they are added, each of at most as many factors; minima have at most
#: as many arguments, and what is multiplied or divided by has at most as many bits.
MAX_TERMS, MAX_FACTORS, MAX_ARGUMENTS, MAX_BITS = 10_000, 1_000, 200, 4_000


class Form(dict[int, int]):
    """Unknowns with their coefficients, none of them 0; unknown 0 is the number 1. A form does not change once it is made."""

    #: The result of `Forms.normal`, once it was asked for.
    normal: tuple[frozenset[tuple[int, int]], int, int] | None = None

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(frozenset(self.items()))

    @classmethod
    def sum(cls, terms: Iterable[tuple[Form, int]]) -> Form:
        """The sum of multiples of forms."""
        total: dict[int, int] = {}
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

    def __sub__(self, other: Form | int) -> Form:
        return self.plus(constant(other), -1)

    def __neg__(self) -> Form:
        return Form({k: -c for k, c in self.items()})

    def __mul__(self, factor: int) -> Form:
        return Form({k: c * factor for k, c in self.items()}) if factor else Form()

    @property
    def number(self) -> int | None:
        """The number that it is, if it is one."""
        return self.get(0, 0) if len(self) == (0 in self) else None


def constant(number: Form | int) -> Form:
    """The form of a number."""
    return number if isinstance(number, Form) else Form({0: number} if number else {})


def floored(end: Bound, m: int) -> Bound:
    """The quotient of a bound."""
    return end // m if isinstance(end, int) else end


def limited(what: str, size: int, most: int) -> None:
    """Raises Refused where an expression would grow beyond a limit."""
    if size > most:
        raise Refused(None, f"undecided: {what}")


class Forms:
    """The unknowns met so far, the forms of expressions over them, and their values."""

    def __init__(self) -> None:
        self.number, self.sum = constant, Form.sum
        #: The kind of each unknown, and its parts.
        self.unknowns: list[tuple[str, tuple[Form, ...]]] = []
        self.owns: list[Form] = []
        self.numbers: dict[tuple[str, tuple[Form, ...]], int] = {}
        #: By quotient by a number, what it leaves, and the number.
        self.rests: dict[int, tuple[Form, int]] = {}
        #: By terms of a product that is a sum, the product and its factors.
        self.factored: dict[frozenset[tuple[int, int]], tuple[Form, Form, Form]] = {}
        self.unknown("1")

    def variables(self, count: int) -> list[Form]:
        """The forms of as many variables."""
        return [self.unknown(f"variable {place}") for place in range(count)]

    def unknown(self, kind: str, *parts: Form) -> Form:
        """The form of one unknown."""
        number = self.numbers.setdefault((kind, parts), len(self.owns))
        if number == len(self.owns):
            self.unknowns.append((kind, parts))
            self.owns.append(Form({number: 1}))
            if kind == "/" and (m := parts[1].number):
                self.rests[number] = parts[0].plus(self.owns[number], -m), m
        return self.owns[number]

    def factors(self, k: int) -> list[int]:
        """The unknowns that an unknown is the product of."""
        kind, parts = self.unknowns[k]
        return [next(iter(part)) for part in parts] if kind == "*" else [k] if k else []

    def without(self, factor: int, k: int) -> int | None:
        """The unknown that an unknown is a product of with a factor, if it is one."""
        others = self.factors(k)
        if factor not in others:
            return None
        others.remove(factor)
        return next(iter(self.monomial(*others)), 0) if others else 0

    def times(self, a: Form, b: Form) -> Form:
        """The product."""
        limited("a product has too many terms", len(a) * len(b), MAX_TERMS)
        for number in (*a.values(), *b.values()):
            limited("a number has too many bits", number.bit_length(), MAX_BITS)
        if len(b) == (0 in b):
            return a * b.get(0, 0)
        product = Form.sum((self.monomial(j, k), c * d) for j, c in a.items() for k, d in b.items())
        if len(product) > 1:
            self.factored[self.normal(product)[0]] = product, a, b
        return product

    def monomial(self, *unknowns: int) -> Form:
        """The form of a product of unknowns."""
        factors = sorted(f for k in unknowns for f in self.factors(k))
        limited("a product has too many factors", len(factors), MAX_FACTORS)
        if len(factors) < 2:
            return self.owns[sum(factors)]
        return self.unknown("*", *(self.owns[f] for f in factors))

    def arguments(self, part: Form) -> list[Form]:
        """Forms of which an argument of a minimum is the least: itself, or what it adds to a minimum, for each of that."""
        inner = [(k, c) for k, c in part.items() if self.unknowns[k][0] == "min"]
        if len(inner) != 1 or inner[0][1] < 0:
            return [part]
        (k, c) = inner[0]
        return [part.plus(self.owns[k], -c).plus(x, c) for x in self.unknowns[k][1]]

    def least(self, parts: list[Form]) -> Form:
        """The least of forms: what all have in common stands outside, and of those that differ by a number one is left."""
        parts = sorted(chain(*map(self.arguments, parts)), key=lambda part: -part.get(0, 0))
        limited("a minimum has too many arguments", len(parts), MAX_ARGUMENTS)
        parts = [*{frozenset((k, c) for k, c in part.items() if k): part for part in parts}.values()]
        if len(parts) == 1:
            return parts[0]
        keys = {k for part in parts for k in part}
        outside = Form({k: c for k in keys if (c := min(part.get(k, 0) for part in parts))})
        inside = [part - outside for part in parts]
        g = gcd(*(c for part in inside for c in part.values()))
        scaled = sorted(
            (Form({k: c // g for k, c in part.items()}) for part in inside), key=lambda f: sorted(f.items())
        )
        return outside.plus(self.unknown("min", *scaled), g)

    def ratio(self, n: Form, d: Form) -> int | None:
        """The number by which a form that is no number is multiplied in another, if it is one."""
        ratio = n.get(k := max(d), 0) // d[k] if d.number is None else 0
        return ratio if ratio and n == d * ratio else None

    def quotient(self, n: Form, d: Form) -> Form:
        """`n floordiv d`; multiples of a number are moved out."""
        m = d.number
        if m is None:
            n, d = (-n, -d) if d[max(d)] < 0 else (n, d)
            return self.unknown("/", n, d) if n else n  # of 0 by 0 it is any number: 0 serves
        if m == 0:
            return Form()  # it has no value
        limited("a divisor has too many bits", m.bit_length(), MAX_BITS)
        # What is left has the least coefficients.
        whole = Form({k: w for k, c in n.items() if (w := (c + (m - 1) // 2 if k else c) // m)})
        rest = n.plus(whole, -m) if whole else n
        if rest.number is not None:
            return whole
        g = gcd(m, *(c for k, c in rest.items() if k))
        g = g if m > 0 else -g
        rest, m = Form({k: new for k, c in rest.items() if (new := c // g)}) if g != 1 else rest, m // g
        # n / m = -((m - 1 - n) / m): the inner quotient is not negated; without one, the first coefficient is positive that
        # isn't m / 2, else of (x + 1) / 2 there is none.
        inner = min((k for k, c in rest.items() if abs(c) == 1 and k in self.rests), default=0)
        sign = rest[inner] if inner else next((c for k, c in sorted(rest.items()) if k and 2 * c != m), -rest.get(0, 0))
        if sign < 0:
            return whole - self.quotient(constant(m - 1) - rest, constant(m))
        if inner:  # (x / b + y) / m = (x + b * y) / (b * m)
            x, b = self.unknowns[inner][1][0], self.rests[inner][1]
            rest, m = x.plus(rest - self.owns[inner], b), b * m
            return whole.plus(self.quotient(rest, constant(m)), 1)
        return whole.plus(self.unknown("/", rest, constant(m)), 1)

    def remainder(self, n: Form, d: Form) -> Form:
        """`n mod d`, in [0, |d|)."""
        if d.number is None:
            last = max(d)
            d = -d if d[last] < 0 else d
            n -= d * (n.get(last, 0) // d[last])
            return self.unknown("%", n, d) if n else n  # of 0 by 0 it is any number: 0 serves
        m = abs(d.number)
        return n.plus(self.quotient(n, constant(m)), -m)

    def normal(self, of: Form) -> tuple[frozenset[tuple[int, int]], int, int]:
        """The terms of a form as in Range, and by which numbers they are to be multiplied, and then increased."""
        if of.normal:
            return of.normal
        constant = of.get(0, 0)
        form = {k: c for k, c in of.items() if k} if constant else of
        factor = gcd(*form.values()) or 1
        if form and form[min(form)] < 0:
            factor = -factor
        terms = form.items() if factor == 1 else [(k, c // factor) for k, c in form.items()]
        of.normal = frozenset(terms), factor, constant
        return of.normal

    def range(self, of: Form, lower: Bound, upper: Bound) -> Range:
        """The range that says that a form has these bounds."""
        terms, factor, constant = self.normal(of)
        lower, upper = lower - constant, upper - constant
        if factor < 0:
            lower, upper, factor = -upper, -lower, -factor
        return (terms, lower, upper) if factor == 1 else (terms, -floored(-lower, factor), floored(upper, factor))

    def nonzero(self, divisor: Form) -> Range:
        """The range that says that a divisor is not 0: the greater of it and its negative is positive."""
        return self.range(self.least([divisor, -divisor]), -inf, -1)

    def value(self, form: Form, at: dict[int, int]) -> int:
        """The value of a form, where `at` has those of the variables, and gets all. Raises ZeroDivisionError."""
        for k in form.keys() - at.keys():
            kind, parts = self.unknowns[k]
            at[k] = VALUES[kind](*(self.value(part, at) for part in parts))
        return sum(c * at[k] for k, c in form.items())

    def below(self, forms: Iterable[Form]) -> set[int]:
        """The unknowns in forms, and inside of them."""
        met, new = set[int](), {k for form in forms for k in form}
        while new:
            met |= new
            new = {j for k in new for part in self.unknowns[k][1] for j in part} - met
        return met
