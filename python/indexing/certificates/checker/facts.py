"""Consequences of ranges of forms: by intervals, else by cases of what defines the unknowns, and linear integer arithmetic."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import reduce
from itertools import combinations, combinations_with_replacement
from math import gcd, inf

from indexing.certificates.checker.forms import Ends, Form, Forms, Range, constant, floored
from indexing.certificates.checker.reader import Bound

__all__ = ["Facts"]

ANY = (-inf, inf)
MAX_CASES = 1000
MAX_RANGES = 100
#: As many sides of ranges are multiplied.
MAX_SIDES = 24
#: Remainders modulo, and unknowns with, at most as many values are tried one by one.
MAX_VALUES = 64


def added(ends: Ends, times: int, to: Ends) -> Ends:
    """The bounds of a sum with a multiple of what is in other bounds."""
    (a, b), (low, high) = ends, to
    if not times:
        return to
    return (low + times * a, high + times * b) if times > 0 else (low + times * b, high + times * a)


def multiplied(a: Ends, b: Ends) -> Ends:
    """The bounds of a product of what is in finite bounds."""
    corners = [x * y for x in a for y in b]
    return min(corners), max(corners)


class Facts:
    """Ranges that hold."""

    def __init__(self, forms: Forms, ranges: Iterable[Range] = ()) -> None:
        self.forms, self.is_impossible = forms, False
        self.ranges: dict[frozenset[tuple[int, int]], Ends] = {frozenset(): (0, 0)}
        self.add(ranges)

    def add(self, ranges: Iterable[Range]) -> None:
        """States ranges."""
        #: Bounds of unknowns.
        self.spans: dict[int, Ends] = {0: (1, 1)}
        for terms, lower, upper in ranges:
            if terms in self.ranges:
                low, high = self.ranges[terms]
                lower, upper = max(lower, low), min(upper, high)
            self.ranges[terms] = lower, upper
            if lower > upper:
                self.is_impossible = True

    def __iter__(self) -> Iterator[Range]:
        return ((terms, *ends) for terms, ends in self.ranges.items())

    def state(self, terms: frozenset[tuple[int, int]], lower: Bound, upper: Bound) -> bool:
        """Whether a range is stated, or a wider one."""
        low, high = self.ranges.get(terms, ANY)
        return (lower <= low and high <= upper) or self.is_impossible

    def imply(self, terms: frozenset[tuple[int, int]], lower: Bound, upper: Bound, by_systems: bool = True) -> bool:
        """Whether a range follows: as stated, by intervals, or, by systems, since the form can't lie above or below it."""
        if self.state(terms, lower, upper):
            return True
        low, high = self.span(Form(terms))
        above = high <= upper or (by_systems and self.exclude((terms, upper + 1, inf)))
        return above and (lower <= low or (by_systems and self.exclude((terms, -inf, lower - 1))))

    # ------------------------------------------------------------------ by intervals

    def span(self, form: Form) -> Ends:
        """Bounds of a form: those stated, or of the unknowns in a multiple with remainders for quotients."""
        low, high = self.stated(form)
        if high - low < inf:
            return low, high
        ends: Ends = (0, 0)
        scale = 1
        for k in sorted(form.keys() & self.forms.rests.keys(), reverse=True):
            if c := form.get(k):
                rest, m = self.forms.rests[k]
                g = m // gcd(m, c)
                form, scale = (form * g if g > 1 else form).plus(rest, c * g // m), scale * g
                a, b = self.stated(rest)
                ends = added((max(a, 0), min(b, m - 1)), -c * g // m, (ends[0] * g, ends[1] * g))
        of_form = self.stated(form) if scale > 1 else ANY
        if of_form[1] - of_form[0] == inf:
            of_form = 0, 0
            for k, c in form.items():
                of_form = added(self.spans.get(k) or self.span_of_unknown(k), c, of_form)
        a, b = added(of_form, 1, ends)
        return max(low, -floored(-a, scale)), min(high, floored(b, scale))

    def stated(self, form: Form) -> Ends:
        """The bounds of a form that are known at once."""
        terms, factor, constant = self.forms.normal(form)
        return added(self.ranges.get(terms, ANY), factor, (constant, constant))

    def span_of_unknown(self, k: int) -> Ends:
        """Bounds of an unknown, from those stated, and those of its parts."""
        kind, parts = self.forms.unknowns[k]
        ends = self.stated(self.forms.owns[k])
        if ends[1] - ends[0] == inf:
            if k in self.forms.rests:
                ends = self.span(self.forms.owns[k])
            elif kind in ("*", "min"):
                spans = [self.span(part) for part in parts]
                if kind == "min":
                    ends = min(a for a, _ in spans), min(b for _, b in spans)
                elif all(b - a < inf for a, b in spans):
                    ends = reduce(multiplied, spans)
        self.spans[k] = ends
        return ends

    # ------------------------------------------------------------------ by equal forms, and by cases

    def prove(self, claims: list[Range], by_operands: bool = False) -> bool:
        """Whether all ranges follow: as they stand, else by cases; by operands, first with equal forms put for others."""
        if not by_operands and all(self.imply(*r, by_systems=False) for r in claims):
            return True
        return self.prove_by_cases(claims, frozenset(), iter(range(MAX_CASES)))

    def prove_by_cases(self, claims: list[Range], decided: frozenset[int], budget: Iterator[int]) -> bool:
        """Whether all ranges follow with equal forms put for others, or so in each case of what is not decided."""
        if self.is_impossible or next(budget, None) is None:
            return self.is_impossible
        zeros, known = self.zeros(), dict[int, Form]()

        def moved(ranges: Iterable[Range]) -> list[Range]:
            return [self.forms.range(self.forms.at(Form(t), zeros, known), *ends) for t, *ends in ranges]

        wanted = moved(claims)
        if all(NOTHING.state(*r) for r in wanted):
            return True
        facts = Facts(self.forms, moved(self))
        if all(facts.imply(*r, by_systems=False) for r in wanted):
            return True
        facts.add(self.forms.range(zero, 0, 0) for zero in zeros.values())
        if all(facts.imply(*r) for r in wanted):
            return True
        asked = self.forms.below(Form(terms) for terms, *_ in wanted)
        below = (asked | self.forms.below(map(Form, facts.ranges))) - decided
        cases_of = {k: cases for k in sorted(below) if (cases := facts.cases(k))}
        k = min(cases_of, key=lambda k: (k not in asked, len(cases_of[k])), default=0)
        return k > 0 and all(
            Facts(self.forms, [*facts, *case]).prove_by_cases(wanted, decided | {k}, budget) for case in cases_of[k]
        )

    def zeros(self) -> dict[int, Form]:
        """The forms that are 0 by the ranges of one value, by the last unknown in each."""
        zeros: dict[int, Form] = {}
        for terms, (lower, upper) in self.ranges.items():
            if lower == upper and terms:
                zero = self.forms.at(Form(terms) - int(lower), zeros, {})
                if zero.number is None:
                    zeros[max(zero)] = zero
        return zeros

    def cases(self, k: int) -> list[list[Range]]:
        """The cases of which one holds of an unknown, by what defines it or by its bounds."""
        (kind, parts), own, within = self.forms.unknowns[k], self.forms.owns[k], self.forms.range
        low, high = self.stated(own)
        if kind == "min":
            return [[within(own - p, 0, 0)] for p in parts]
        if k in self.forms.rests:
            rest, m = self.forms.rests[k]
            return [[within(rest, r, r)] for r in range(m)] if m <= MAX_VALUES else []
        if 0 < high - low <= MAX_VALUES:
            return [[within(own, v, v)] for v in range(int(low), int(high) + 1)]
        if kind not in ("/", "%"):
            return []
        (n, d), cases = parts, [[within(parts[1], 0, 0)]]
        for sign in (1, -1):
            size, q = d * sign, own if kind == "/" else self.forms.quotient(n, d * sign)
            rest = (n * sign if kind == "/" else n) - self.forms.times(size, q)
            always = [within(size, 1, inf), within(rest, 0, inf), within(size - rest, 1, inf)]
            always += [within(rest - own, 0, 0)] if kind == "%" else []
            cases += [[*always, within(q, *ends)] for ends in ((1, inf), (0, 0), (-inf, -1))]
        return cases

    # ------------------------------------------------------------------ by linear arithmetic

    def exclude(self, *ranges: Range) -> bool:
        """Whether no integers satisfy the facts, and these; False if that is not found."""
        facts = Facts(self.forms, [*self, *ranges])
        for k in self.forms.below(map(Form, facts.ranges)):
            kind, parts = self.forms.unknowns[k]
            if k in self.forms.rests:
                rest, m = self.forms.rests[k]
                facts.add([self.forms.range(rest, 0, m - 1)])
            elif kind == "min":
                facts.add(self.forms.range(self.forms.owns[k] - part, -inf, 0) for part in parts)
        if facts.has_no_solution():
            return True
        products = [*facts.products()]
        return bool(products) and Facts(self.forms, [*facts, *products]).has_no_solution()

    def products(self) -> Iterator[Range]:
        """Products of two sides of ranges that have no unknowns but those of the ranges."""
        met = {0, *self.forms.below(map(Form, self.ranges))}
        if all(self.forms.unknowns[k][0] != "*" for k in met):
            return
        sides = [Form(t) - int(low) for t, low, high in self if -inf < low < high]
        sides += [constant(int(high)) - Form(t) for t, low, high in self if low < high < inf]
        if len(sides) <= MAX_SIDES:
            for p, q in combinations_with_replacement(sides, 2):
                f = self.forms.times(p, q)
                if f.keys() <= met:
                    yield self.forms.range(f, 0, inf)

    def has_no_solution(self) -> bool:
        """Whether no integers satisfy the facts, with each unknown as a variable; False if that is not found.

        Equations are solved as in the Omega test, inequalities by Fourier and Motzkin's elimination with rounding.
        """
        facts = self
        while not facts.is_impossible and 1 < len(facts.ranges) <= MAX_RANGES:
            equal = [(abs(c), k, i) for i, (t, low, high) in enumerate(facts) if low == high for k, c in t]
            facts = Facts(self.forms, facts.solved(*min(equal)[1:]) if equal else facts.eliminated())
        return facts.is_impossible

    def solved(self, unknown: int, place: int) -> Iterator[Range]:
        """The ranges with an unknown replaced as the equation in a place says, and what is left of that."""
        ranges = [*self]
        equation, value, _ = ranges.pop(place)
        zero = Form(equation) - int(value)
        # a * unknown + sum of c * u = 0, so unknown = new - sum of (c // a) * u, where a * new + sum of (c % a) * u = 0
        a = zero[unknown]
        by = Form({u: -(c // a) for u, c in zero.items() if c // a})
        if rest := Form({u: c % a for u, c in zero.items() if c % a}):
            new = self.forms.unknown("new", constant(len(self.forms.owns)))
            by = by.plus(new, 1)
            yield self.forms.range(rest.plus(new, a), 0, 0)
        for terms, *ends in ranges:
            form = Form(terms)
            yield self.forms.range(form.plus(by, form[unknown]), *ends) if unknown in form else (terms, *ends)

    def eliminated(self) -> Iterator[Range]:
        """The ranges without one unknown: with the least coefficients, as 1 loses no integers, and in the fewest ranges."""
        sides = defaultdict[int, list[tuple[Form, Ends]]](list)
        for terms, low, high in self:
            for k, _ in terms:
                sides[k].append((Form(terms), (low, high)))
        unknown = min(sides, key=lambda k: (max(abs(form[k]) for form, _ in sides[k]), len(sides[k]), k))
        yield from (r for r in self if all(k != unknown for k, _ in r[0]))
        for (p, of_p), (q, of_q) in combinations(sides[unknown], 2):
            g = gcd(p[unknown], q[unknown])
            a, b = q[unknown] // g, -p[unknown] // g
            ends = added(of_p, a, added(of_q, b, (0, 0)))
            if ends != ANY:
                yield self.forms.range((p * a).plus(q, b), *ends)


NOTHING = Facts(Forms())
