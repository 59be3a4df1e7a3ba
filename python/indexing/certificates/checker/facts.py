"""Consequences of claims: linear integer arithmetic over products of atoms, with what defines the atoms, and cases of it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from itertools import combinations, product
from math import gcd, inf, prod
from typing import TypeAlias

from indexing.certificates.checker.forms import Forms, Range, floored
from indexing.certificates.checker.integers import Form, constant, has_no_solution, own
from indexing.certificates.checker.reader import Bound

__all__ = ["Facts"]

Ends: TypeAlias = "tuple[Bound, Bound]"
#: Forms that are 0, and forms that are at most 0.
System: TypeAlias = "tuple[list[Form], list[Form]]"

MAX_SYSTEMS = 1000
MAX_ROWS = 24
#: Remainders modulo, and variables with, at most as many values are tried one by one.
MAX_VALUES = 64
ANY = (-inf, inf)


def added(ends: Ends, times: int, to: Ends) -> Ends:
    """The bounds of a sum with a multiple of what is in other bounds."""
    (a, b), (low, high) = ends, to
    if not times:
        return to
    return (low + times * a, high + times * b) if times > 0 else (low + times * b, high + times * a)


def of_multiple(ends: Ends, by: int) -> Ends:
    """The bounds of an integer, a positive multiple of which has these bounds."""
    return ends if by == 1 else (-floored(-ends[0], by), floored(ends[1], by))


class Facts:
    """Ranges that hold, and divisors that are not 0."""

    def __init__(self, forms: Forms, ranges: Iterable[Range] = (), nonzero: Collection[Form] = ()) -> None:
        self.forms, self.nonzero, self.budget = forms, nonzero, 0
        #: Bounds of normal forms, and of products of atoms.
        self.ranges: dict[int, Ends] = {}
        self.spans: dict[tuple[int, ...], Ends] = {}
        self.is_impossible = False
        self.add(ranges)

    def add(self, ranges: Iterable[Range]) -> None:
        """States ranges."""
        self.spans = {(): (1, 1)}
        for form, lower, upper in ranges:
            low, high = self.stated(form)
            low, high = self.ranges[form] = max(lower, low), min(upper, high)
            self.is_impossible |= low > high

    def stated(self, form: int) -> Ends:
        """The bounds of a normal form that are known at once."""
        return self.ranges.get(form) or self.forms.always.get(form, ANY)

    def imply(self, of: int, lower: Bound, upper: Bound, by_intervals: bool = False) -> bool:
        """Whether a range follows: by intervals, or, unless by these alone, since the form can't lie above or below it."""
        low, high = self.stated(of)
        if (lower <= low and high <= upper) or self.is_impossible:
            return True
        form = self.forms.normals[of]
        low, high = self.span(form)
        if by_intervals or (lower <= low and high <= upper):
            return lower <= low and high <= upper
        above = high <= upper or self.exclude((form, upper + 1, inf))
        return above and (lower <= low or self.exclude((form, -inf, lower - 1)))

    def prove(self, claims: list[Range]) -> bool:
        """Whether all ranges follow."""
        if all(self.imply(*r, by_intervals=True) for r in claims):
            return True
        return any(all(self.at(case, claims, quick) for case in cases) for cases, quick in self.ways(claims))

    def ways(self, claims: list[Range]) -> Iterator[tuple[Iterable[dict[int, Form]], bool]]:
        """Cases of which one holds, each with the forms that atoms have then; whether to prove claims by intervals alone."""
        equal = self.equal()
        yield [equal], True
        if all(a == b for _, a, b in claims):
            yield from ((values, True) for values in self.values())
        yield [equal], False
        yield [{}], False
        yield [self.congruent(claims)], False
        yield from ((values, False) for values in self.values())

    def at(self, known: dict[int, Form], claims: list[Range], by_intervals: bool) -> bool:
        """Whether all ranges follow where atoms have the forms that are known; by intervals, from the facts as they stand."""
        at, facts = {**known}, self

        def moved(ranges: Iterable[Range]) -> Iterator[Range]:
            return (self.forms.range(self.forms.at(self.forms.normals[f], at), a, b) for f, a, b in ranges)

        if known and not by_intervals:
            nonzero = {self.forms.at(d, at) for d in self.nonzero}
            facts = Facts(self.forms, moved((f, *ends) for f, ends in self.ranges.items()), nonzero)
        return all(facts.imply(*r, by_intervals) for r in moved(claims))

    def equal(self) -> dict[int, Form]:
        """The forms that atoms equal by the ranges of one value: of each the last atom, if its coefficient is 1 or -1."""
        equal: dict[int, Form] = {}
        for number, (lower, upper) in self.ranges.items():
            if lower == upper:
                zero = self.forms.at(self.forms.normals[number], {**equal}) - int(lower)
                last = max(zero, key=lambda k: max(k, default=-1), default=())
                if len(last) == 1 and (c := zero[last]) in (1, -1):
                    equal[last[0]] = (zero - own(last[0]) * c) * -c
        return equal

    def congruent(self, claims: list[Range]) -> dict[int, Form]:
        """The forms of atoms, that have expressions as divisors, of which the parts equal those of others."""
        equal, atoms = dict[int, Form](), self.forms.below(self.forms.normals[f] for f, _, _ in claims)
        for a, b in combinations(
            [a for a in atoms if self.forms.atoms[a][0] in "/%" and (a,) not in self.forms.rests], 2
        ):
            (kind, parts), (other, others) = self.forms.atoms[a], self.forms.atoms[b]
            pairs = [self.forms.range(p - q, 0, 0) for p, q in zip(parts, others, strict=False)]
            if kind == other and b not in equal and all(self.imply(*r) for r in pairs):
                equal[b] = self.forms.owns[a]
        return equal

    def values(self) -> Iterator[Iterator[dict[int, Form]]]:
        """The values of each variable that has few."""
        for number, (lower, upper) in self.ranges.items():
            (k, *others) = self.forms.normals[number] or [()]
            if len(k) == 1 and not others and not self.forms.atoms[k[0]][1] and upper - lower <= MAX_VALUES:
                yield ({k[0]: constant(v)} for v in range(int(lower), int(upper) + 1))

    def span(self, form: Form) -> Ends:
        """Bounds of a form, from those stated, else from those of a multiple of it with remainders for quotients."""
        low, high = self.stated_of(form)
        if high - low < inf:
            return low, high
        ends: Ends = (0, 0)
        scale = 1
        for k in sorted(form.keys() & self.forms.rests.keys(), reverse=True):
            if c := form.get(k):
                rest, m = self.forms.rests[k]
                g = m // gcd(m, c)
                form, scale = (form * g if g > 1 else form).plus(rest, c * g // m), scale * g
                ends = added(self.stated_of(rest), -c * g // m, (ends[0] * g, ends[1] * g))
        of_form = self.stated_of(form)
        if of_form[1] - of_form[0] == inf:
            of_form = 0, 0
            for k, c in form.items():
                of_form = added(self.spans.get(k) or self.span_of_product(k), c, of_form)
        ends = of_multiple(added(of_form, 1, ends), scale)
        return max(low, ends[0]), min(high, ends[1])

    def stated_of(self, form: Form) -> Ends:
        """The bounds of a form that are known at once."""
        number, factor, constant = self.forms.normal(form)
        return added(self.stated(number), factor, (constant, constant))

    def span_of_product(self, atoms: tuple[int, ...]) -> Ends:
        """Bounds of a product of atoms, from those stated, and those of its factors, or of the parts of an atom."""
        kind, parts = self.forms.atoms[atoms[0]]
        ends = ANY
        if len(atoms) > 1:
            factors = [self.span(self.forms.owns[a]) for a in atoms]
            if all(b - a < inf for a, b in factors):
                corners = [prod(corner) for corner in product(*factors)]
                ends = min(corners), max(corners)
        elif atoms in self.forms.rests:
            (low, high), m = self.span(parts[0]), self.forms.rests[atoms][1]
            ends = floored(low, m), floored(high, m)
        elif parts and kind == "min":
            spans = [self.span(part) for part in parts]
            ends = min(a for a, _ in spans), min(b for _, b in spans)
        low, high = self.stated_of(self.forms.owns[atoms[0]] if len(atoms) == 1 else Form({atoms: 1}))
        self.spans[atoms] = max(low, ends[0]), min(high, ends[1])
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
        return self.fail(zeros, rows, sorted((cases for a in atoms for cases in self.defined(a, rows)), key=len))

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
            if (m := d.number) is not None:
                rest = n - own(a) * m
                rows += [-rest, rest - m + 1]
                if m <= MAX_VALUES:
                    yield [([rest - r], []) for r in range(m)]
                return
            cases = [divided(n, d, sign, q, own(a)) for sign in (1, -1)]
            yield cases if d in self.nonzero else [*cases, ([d], [])]
            yield [([], [q * -1]), ([], [q + 1])]


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

    def multiplied(forms: Iterable[Form], by: Iterable[Form]) -> Iterator[Form]:
        pairs = ((p, q) for p in forms for q in by)
        return (p * q for p, q in pairs if all(not j or not k or tuple(sorted(j + k)) in parts for j in p for k in q))

    products, new = set(rows), rows
    for _ in range(max(map(len, largest)) - 1):
        new = [-f for f in multiplied(rows, new) if -f not in products]
        products.update(new)
    return [*zeros, *multiplied(zeros, [Form({k: 1}) for k in sorted(parts)])], [*products]
