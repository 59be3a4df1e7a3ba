"""Consequences of ranges of forms: by intervals, else by cases of what defines the unknowns, and linear integer arithmetic."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import reduce
from itertools import chain, combinations, combinations_with_replacement
from math import gcd, inf

from indexing.certificates.checker.forms import Ends, Form, Forms, Range, constant, floored
from indexing.certificates.checker.reader import Bound

__all__ = ["Facts"]

ANY = (-inf, inf)
MAX_SYSTEMS = 1000
MAX_RANGES = 100
#: As many sides of ranges are multiplied.
MAX_SIDES = 24
#: Remainders modulo, and variables with, at most as many values are tried one by one.
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
            low, high = self.ranges.get(terms, ANY)
            low, high = self.ranges[terms] = max(lower, low), min(upper, high)
            self.is_impossible |= low > high

    def __iter__(self) -> Iterator[Range]:
        return ((terms, *ends) for terms, ends in self.ranges.items())

    # ------------------------------------------------------------------ by intervals

    def imply(self, terms: frozenset[tuple[int, int]], lower: Bound, upper: Bound, by_intervals: bool = False) -> bool:
        """Whether a range follows: by intervals, or, unless by these alone, since the form can't lie above or below it."""
        low, high = self.ranges.get(terms, ANY)
        if (lower <= low and high <= upper) or self.is_impossible:
            return True
        for ends in self.bounds(Form(terms)):
            low, high = max(low, ends[0]), min(high, ends[1])
            if lower <= low and high <= upper:
                return True
        if by_intervals:
            return False
        above = high <= upper or self.exclude((terms, upper + 1, inf))
        return above and (lower <= low or self.exclude((terms, -inf, lower - 1)))

    def bounds(self, form: Form) -> Iterator[Ends]:
        """Bounds of a form: with remainders for quotients, without, and with the parts of a minimum for it."""
        yield self.span(form)
        yield self.span(form, is_expanded=False)
        for k in form:
            kind, parts = self.forms.unknowns[k]
            if kind == "min":
                cases = [self.span(form.plus(part - self.forms.owns[k], form[k])) for part in parts]
                pick = min if form[k] > 0 else max
                yield pick(low for low, _ in cases), pick(high for _, high in cases)

    def span(self, form: Form, is_expanded: bool = True) -> Ends:
        """Bounds of a form: those stated, or of its unknowns; if expanded, of a multiple with remainders for quotients."""
        low, high = self.stated(form)
        if high - low < inf:
            return low, high
        ends: Ends = (0, 0)
        scale = 1
        for k in sorted(form.keys() & self.forms.rests.keys(), reverse=True) if is_expanded else ():
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

    # ------------------------------------------------------------------ by equal forms, and by values

    def prove(self, claims: list[Range]) -> bool:
        """Whether all ranges follow: as they stand, with equal forms put for others, or at each value of a variable."""
        if all(self.imply(*r, by_intervals=True) for r in claims):
            return True
        zeros = self.zeros()
        ways: Iterable[Iterable[dict[int, Form]]] = chain([[zeros]], self.values())
        by_intervals = any(all(self.at(case, claims, by_intervals=True) for case in cases) for cases in ways)
        return by_intervals or self.at(zeros, claims)

    def at(self, zeros: dict[int, Form], claims: list[Range], by_intervals: bool = False) -> bool:
        """Whether all ranges follow where forms are 0, by the last unknown in each."""
        known = dict[int, Form]()

        def moved(ranges: Iterable[Range]) -> Iterator[Range]:
            return (self.forms.range(self.forms.at(Form(t), zeros, known), *ends) for t, *ends in ranges)

        kept = [] if by_intervals else [*self, *(self.forms.range(zero, 0, 0) for zero in zeros.values())]
        facts = Facts(self.forms, [*kept, *moved(self)])
        return all(facts.imply(*r, by_intervals) for r in moved(claims))

    def zeros(self) -> dict[int, Form]:
        """The forms that are 0 by the ranges of one value, by the last unknown in each."""
        zeros = dict[int, Form]()
        for terms, (lower, upper) in self.ranges.items():
            if lower == upper and terms:
                zero = self.forms.at(Form(terms) - int(lower), zeros, {})
                if zero.number is None:
                    zeros[max(zero)] = zero
        return zeros

    def values(self) -> Iterator[Iterator[dict[int, Form]]]:
        """For each variable that has few values, the form that is 0 at each of them."""
        for terms, (lower, upper) in self.ranges.items():
            if len(terms) == 1 and upper - lower <= MAX_VALUES:
                ((k, _),) = terms
                if not self.forms.unknowns[k][1]:
                    yield ({k: self.forms.owns[k] - v} for v in range(int(lower), int(upper) + 1))

    # ------------------------------------------------------------------ by cases, and linear arithmetic

    def exclude(self, *ranges: Range) -> bool:
        """Whether no integers satisfy the facts, and these; False if that is not found."""
        facts = Facts(self.forms, [*self, *ranges])
        if facts.has_no_solution():
            return True
        cases = []
        for k in self.forms.below(map(Form, facts.ranges)):
            always, choices = self.definition(k)
            facts.add(always)
            cases += choices
        return facts.fail(sorted(cases, key=len), iter(range(MAX_SYSTEMS)))

    def fail(self, cases: list[list[list[Range]]], budget: Iterator[int]) -> bool:
        """Whether the facts have no solution in all cases."""
        if next(budget, None) is None:
            return False
        if Facts(self.forms, [*self, *self.products()]).has_no_solution():
            return True
        return bool(cases) and all(Facts(self.forms, [*self, *c]).fail(cases[1:], budget) for c in cases[0])

    def definition(self, k: int) -> tuple[list[Range], list[list[list[Range]]]]:
        """The facts that always hold of an unknown, and the cases of which one holds."""
        (kind, parts), own, within = self.forms.unknowns[k], self.forms.owns[k], self.forms.range
        if kind == "min":
            return [within(own - p, -inf, 0) for p in parts], [[[within(own - p, 0, 0)] for p in parts]]
        if k in self.forms.rests:
            rest, m = self.forms.rests[k]
            return [within(rest, 0, m - 1)], [[[within(rest, r, r)] for r in range(m)]] if m <= MAX_VALUES else []
        if kind not in ("/", "%"):
            return [], []
        (n, d), cases = parts, []
        q = own if kind == "/" else self.forms.unknown("quotient", own)
        rest = n - self.forms.times(d, q)
        for sign in (1, -1):
            left = rest * sign if kind == "/" else own
            exact = [] if kind == "/" else [within(rest - own, 0, 0)]
            cases.append([within(d * sign, 1, inf), within(left, 0, inf), within(d * sign - left, 1, inf), *exact])
        return [], [[*cases, [within(d, 0, 0)]], [[within(q, 1, inf)], [within(q, 0, 0)], [within(q, -inf, -1)]]]

    def products(self) -> Iterator[Range]:
        """Products of two sides of ranges, and of equations, that have no unknowns but those of the ranges."""
        met = {0, *self.forms.below(map(Form, self.ranges))}
        if all(self.forms.unknowns[k][0] != "*" for k in met):
            return
        zeros = [Form(t) - int(low) for t, low, high in self if low == high]
        sides = [Form(t) - int(low) for t, low, high in self if -inf < low < high]
        sides += [constant(int(high)) - Form(t) for t, low, high in self if low < high < inf]
        pairs: list[tuple[Form, Form, Bound]] = [(zero, self.forms.owns[k], 0) for zero in zeros for k in met]
        if len(sides) <= MAX_SIDES:
            pairs += [(p, q, inf) for p, q in combinations_with_replacement(sides, 2)]
        for p, q, upper in pairs:
            f = self.forms.times(p, q)
            if f.keys() <= met:
                yield self.forms.range(f, 0, upper)

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
