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

__all__ = ["Ends", "Form", "Forms", "Range", "Terms", "constant", "floored"]

#: A lower and an upper bound.
Ends: TypeAlias = "tuple[Bound, Bound]"
#: The terms of a form with coprime coefficients, the first of them positive, and no constant, with its bounds.
Range: TypeAlias = "tuple[Terms, Bound, Bound]"
Terms: TypeAlias = "frozenset[tuple[int, int]]"

VALUES: dict[str, Callable[..., int]] = {
    "1": lambda: 1,
    "*": lambda *factors: prod(factors),
    "/": lambda n, d: n // d,
    "%": lambda n, d: n % abs(d),
    "min": min,
}
#: Products of forms have at most as many terms before they are added, each of at most as many factors; what is multiplied or
#: divided by has at most as many bits.
MAX_TERMS, MAX_FACTORS, MAX_BITS = 10_000, 1_000, 4_000


class Form(dict[int, int]):
    """Unknowns with their coefficients, none of them 0; unknown 0 is the number 1. A form does not change once it is made."""

    #: The result of `Forms.normal`, once it was asked for.
    normal: tuple[Terms, int, int] | None = None

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
        self.factored: dict[Terms, tuple[Form, Form, Form]] = {}
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

    def times(self, a: Form, b: Form) -> Form:
        """The product."""
        limited("a product has too many terms", len(a) * len(b), MAX_TERMS)
        for number in (*a.values(), *b.values()):
            limited("a number has too many bits", number.bit_length(), MAX_BITS)
        product = Form.sum((self.monomial(j, k), c * d) for j, c in a.items() for k, d in b.items())
        if len(product) > 1 and a.number is None and b.number is None:
            self.factored[self.normal(product)[0]] = product, a, b
        return product

    def monomial(self, *unknowns: int) -> Form:
        """The form of a product of unknowns."""
        parts = (self.unknowns[k][1] if self.unknowns[k][0] == "*" else (self.owns[k],) for k in unknowns if k)
        factors = sorted(chain(*parts), key=max)
        limited("a product has too many factors", len(factors), MAX_FACTORS)
        return self.unknown("*", *factors) if len(factors) > 1 else factors[0] if factors else self.owns[0]

    def least(self, parts: list[Form]) -> Form:
        """The least of forms; what all have in common stands outside."""
        keys = {k for part in parts for k in part}
        outside = Form({k: c for k in keys if (c := min(part.get(k, 0) for part in parts))})
        inside = {part - outside for part in parts}
        g = gcd(*(c for part in inside for c in part.values()))
        if len(inside) == 1:
            return outside
        scaled = sorted(
            (Form({k: c // g for k, c in part.items()}) for part in inside), key=lambda f: sorted(f.items())
        )
        return outside.plus(self.unknown("min", *scaled), g)

    def quotient(self, n: Form, d: Form) -> Form:
        """`n floordiv d`; multiples of a number are moved out."""
        m = d.number
        if m is None:
            n, d = (-n, -d) if d[max(d)] < 0 else (n, d)
            whole, rest = self.divided(n, d)
            return self.unknown("/", n, d) if rest else whole
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
        (k, _), *more = ((k, c) for k, c in rest.items() if k)
        if not more and rest[k] == 1 and k in self.rests:  # (x / b + c) / m = (x + c * b) / (b * m)
            inner, b = self.unknowns[k][1][0], self.rests[k][1]
            return whole.plus(self.quotient(inner.plus(rest - self.owns[k], b), constant(b * m)), 1)
        # n / m = -((m - 1 - n) / m): the first coefficient is positive that isn't m / 2, else of (x + 1) / 2 there is none.
        if next((c for k, c in sorted(rest.items()) if k and 2 * c != m), -rest.get(0, 0)) < 0:
            return whole - self.quotient(constant(m - 1) - rest, constant(m))
        return whole.plus(self.unknown("/", rest, constant(m)), 1)

    def remainder(self, n: Form, d: Form) -> Form:
        """`n mod d`, in [0, |d|)."""
        if d.number is None:
            d = -d if d[max(d)] < 0 else d
            rest = self.divided(n, d)[1]
            return self.unknown("%", rest, d) if rest else rest
        m = abs(d.number)
        return n.plus(self.quotient(n, constant(m)), -m)

    def divided(self, n: Form, d: Form) -> tuple[Form, Form]:
        """A number of times that a form that is no number is contained in another, and what is left."""
        whole = n.get(max(d), 0) // d[max(d)]
        return constant(whole), n - d * whole

    def normal(self, of: Form) -> tuple[Terms, int, int]:
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
