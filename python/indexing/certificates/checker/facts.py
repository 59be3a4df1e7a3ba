"""Consequences of claims: linear integer arithmetic over products of atoms, with what defines the atoms, and cases of it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from itertools import combinations, product
from math import gcd, inf, prod
from typing import TypeAlias

from indexing.certificates.checker.forms import Forms, Range, floored
from indexing.certificates.checker.integers import Form, constant, has_no_solution, own
from indexing.certificates.checker.reader import Bound

__all__ = ["MAX_VALUES", "Facts"]

Ends: TypeAlias = "tuple[Bound, Bound]"
#: Forms that are 0, and forms that are at most 0.
System: TypeAlias = "tuple[list[Form], list[Form]]"

MAX_SYSTEMS = 1000
MAX_ROWS = 24
#: Minima that are replaced by their operands, of a set of facts.
MAX_CASES = 64
#: Remainders modulo, and variables with, at most as many values are tried one by one.
MAX_VALUES = 64
ANY = (-inf, inf)


def added(ends: Ends, times: int, to: Ends) -> Ends:
    """The bounds of a sum with a multiple of what is in other bounds."""
    (a, b), (low, high) = ends, to
    return (a + times * low, b + times * high) if times > 0 else (a + times * high, b + times * low)


def of_multiple(ends: Ends, by: int) -> Ends:
    """The bounds of an integer, a positive multiple of which has these bounds."""
    return ends if by == 1 else (-floored(-ends[0], by), floored(ends[1], by))


class Facts:
    """Ranges that hold, and divisors that are not 0."""

    def __init__(self, forms: Forms, ranges: Iterable[Range] = (), nonzero: Collection[Form] = ()) -> None:
        self.forms, self.nonzero, self.budget, self.cases = forms, nonzero, 0, MAX_CASES
        #: Bounds of normal forms, and of products of atoms.
        self.ranges: dict[int, Ends] = {0: (0, 0)}
        self.spans: dict[tuple[int, ...], Ends] = {}
        self.is_impossible = False
        self.add(ranges)

    def add(self, ranges: Iterable[Range]) -> None:
        """States ranges."""
        self.spans = {(): (1, 1)}
        for form, lower, upper in ranges:
            if old := self.ranges.get(form):
                lower, upper = max(lower, old[0]), min(upper, old[1])
            self.ranges[form] = lower, upper
            self.is_impossible |= lower > upper

    def state(self, of: int, lower: Bound, upper: Bound) -> bool:
        """Whether a range is one of these, or wider, or they contradict each other."""
        low, high = self.ranges.get(of, ANY)
        return (lower <= low and high <= upper) or self.is_impossible

    def imply(self, of: int, lower: Bound, upper: Bound, by_intervals: bool = False) -> bool:
        """Whether a range follows: by intervals, or, unless by these alone, since the form can't lie above or below it."""
        if self.state(of, lower, upper):
            return True
        form = self.forms.normals[of]
        low, high = self.span(form)
        if by_intervals or (lower <= low and high <= upper):
            return lower <= low and high <= upper
        for a, b in (self.span(form, True), *self.spans_by_facts(form)):
            low, high = max(low, a), min(high, b)
        above = high <= upper or self.exclude((form, upper + 1, inf))
        return above and (lower <= low or self.exclude((form, -inf, lower - 1)))

    def spans_by_facts(self, form: Form) -> Iterator[Ends]:
        """Bounds of a form by those of a sum, which has a term of it, and of what the sum leaves."""
        for number, ends in self.ranges.items():
            fact = self.forms.normals[number]
            for k in form.keys() & fact.keys() if len(fact) > 1 else ():
                g = gcd(form[k], fact[k]) if fact[k] > 0 else -gcd(form[k], fact[k])
                left = (form * (fact[k] // g)).plus(fact, -form[k] // g)
                if len(left) < len(fact):
                    yield of_multiple(added(self.span(left), form[k] // g, ends), fact[k] // g)
                    break

    def span(self, form: Form, by_remainders: bool = False) -> Ends:
        """Bounds of a form from those of its minima, remainders and products; `by_remainders`: without quotients."""
        for k in form.keys() & self.forms.minima.keys() if self.cases > 0 else ():
            self.cases -= 1
            spans = [self.span(form.plus(part - self.forms.owns[k[0]], form[k])) for part in self.forms.minima[k]]
            least = min if form[k] > 0 else max
            return least(a for a, _ in spans), least(b for _, b in spans)
        ends, form, scale = self.without_quotients(form, by_remainders)
        low, high = self.stated(form, ANY)
        if high - low == inf:
            of_products: Ends = (0, 0)
            for k, c in form.items():
                of_products = added(of_products, c, self.spans.get(k) or self.span_of_product(k))
            low, high = max(low, of_products[0]), min(high, of_products[1])
        return of_multiple(added(ends, 1, (low, high)), scale)

    def without_quotients(self, form: Form, by_remainders: bool) -> tuple[Ends, Form, int]:
        """A multiple of a form, as a form with fewer quotients and the bounds of remainders; then the factor."""
        ends: Ends = (0, 0)
        scale = 1
        for k in sorted(form.keys() & self.forms.rests.keys(), reverse=True):
            if not (c := form.get(k)):
                continue
            (rest, m), own, dividend = self.forms.rests[k], self.forms.owns[k[0]], self.forms.atoms[k[0]][1][0]
            is_stated = self.forms.normal(own)[0] in self.ranges
            if is_stated or len(dividend) == 1 or self.forms.normal(dividend)[0] in self.ranges:
                low, high = self.spans.get(k) or self.span_of_product(k)
                if low == high:
                    form = form.plus(own - int(low), -c)
                    continue
            g = m // gcd(m, c)
            without = (form * g).plus(rest, c * g // m)
            is_shorter = len(without) < len(form) + (not is_stated)
            if by_remainders or is_shorter or self.forms.normal(without)[0] in self.ranges:
                ends = added((ends[0] * g, ends[1] * g), -c * g // m, self.stated(rest, (0, m - 1)))
                form, scale = without, scale * g
        return ends, form, scale

    def stated(self, form: Form, ends: Ends) -> Ends:
        """These bounds of a form, made tighter by what is stated of it."""
        number, factor, constant = self.forms.normal(form)
        stated = self.ranges.get(number)
        if not stated:
            return ends
        low, high = added((constant, constant), factor, stated)
        return max(ends[0], low), min(ends[1], high)

    def span_of_product(self, atoms: tuple[int, ...]) -> Ends:
        """Bounds of a product of atoms, from those stated and from those of its factors, or of a dividend."""
        form, ends = self.forms.owns[atoms[0]] if len(atoms) == 1 else Form({atoms: 1}), ANY
        if len(atoms) > 1:
            factors = [self.span(self.forms.owns[a]) for a in atoms]
            corners = [prod(corner) for corner in product(*factors)] if all(b - a < inf for a, b in factors) else ANY
            ends = min(corners), max(corners)
        elif atoms in self.forms.rests:
            (low, high), m = self.span(self.forms.atoms[atoms[0]][1][0]), self.forms.rests[atoms][1]
            ends = floored(low, m), floored(high, m)
        self.spans[atoms] = self.stated(form, ends)
        return self.spans[atoms]

    def exclude(self, *ranges: tuple[Form, Bound, Bound]) -> bool:
        """Whether no integers satisfy the facts, and these; False if that is not found."""
        if self.is_impossible:
            return True
        zeros, rows = [], []
        for form, lower, upper in (*((self.forms.normals[f], *ends) for f, ends in self.ranges.items()), *ranges):
            if lower == upper:
                zeros.append(form - int(lower))
            else:
                rows += [form - int(upper)] if upper < inf else []
                rows += [constant(int(lower)) - form] if lower > -inf else []
        if has_no_solution(zeros, rows):
            return True
        atoms, self.budget = self.forms.below([*zeros, *rows]), MAX_SYSTEMS
        choices = [cases for a in atoms for cases in self.defined(a, rows)]
        if self.fail(zeros, rows, choices):
            return True
        rests = [cases for a in atoms for cases in self.rests(a)]
        return bool(rests) and self.fail(zeros, rows, [*rests[:1], *choices, *rests[1:]])

    def fail(self, zeros: list[Form], rows: list[Form], choices: list[list[System]]) -> bool:
        """Whether a system has no solution in all cases."""
        self.budget -= 1
        if self.budget < 0 or has_no_solution(*with_products(zeros, rows)):
            return self.budget >= 0
        return bool(choices) and all(self.fail(zeros + z, rows + r, choices[1:]) for z, r in choices[0])

    def defined(self, a: int, rows: list[Form]) -> Iterator[list[System]]:
        """Adds what always holds of an atom to the rows; the cases of which one holds."""
        kind, parts = self.forms.atoms[a]
        if kind == "min":
            rows += [own(a) - f for f in parts]
            yield [([f - own(a)], []) for f in parts]
        elif parts:
            n, d = parts
            q = own(a) if kind == "/" else self.forms.atom("other", own(a))
            if d.number is not None:
                rest = n - own(a) * d.number
                rows += [rest * -1, rest - d.number + 1]
                return
            cases = [divided(n, d, sign, q, own(a)) for sign in (1, -1)]
            yield cases if d in self.nonzero else [*cases, ([d], [])]
            yield [([], [q * -1]), ([], [q + 1])]

    def rests(self, a: int) -> Iterator[list[System]]:
        """The cases of what a quotient by a small number leaves."""
        kind, parts = self.forms.atoms[a]
        m = parts[1].number if kind == "/" else None
        if m is not None and m <= MAX_VALUES:
            yield [([parts[0] - own(a) * m - r], []) for r in range(m)]


def divided(n: Form, d: Form, sign: int, q: Form, atom: Form) -> System:
    """The definition of a quotient or a remainder by a divisor of this sign."""
    zeros, rest = ([], (n - d * q) * sign) if q == atom else ([n - d * q * sign - atom], atom)
    return zeros, [rest * -1, rest - d * sign + 1, constant(1) - d * sign]


def with_products(zeros: list[Form], rows: list[Form]) -> System:
    """The system, and products of its rows that consist of the products in it and of parts of these."""
    largest = {k for f in (*zeros, *rows) for k in f if len(k) > 1}
    if not largest or len(rows) > MAX_ROWS:
        return zeros, rows
    parts = {part for k in largest for size in range(1, len(k) + 1) for part in combinations(k, size)}

    def fit(forms: Iterable[Form]) -> list[Form]:
        return [f for f in forms if all(len(k) < 2 or k in parts for k in f)]

    products, new = set(rows), rows
    for _ in range(max(map(len, largest)) - 1):
        new = [f for f in fit(p * q * -1 for p in rows for q in new) if f not in products]
        products.update(new)
    return zeros + fit(z * Form({k: 1}) for z in zeros for k in sorted(parts)), [*products]
