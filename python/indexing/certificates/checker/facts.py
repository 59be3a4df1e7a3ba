"""Consequences of ranges of forms: by intervals, by linear integer arithmetic, by the values of few variables."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import reduce
from itertools import combinations, product
from math import gcd, inf, prod

from indexing.certificates.checker.forms import Ends, Form, Forms, Range, constant, floored
from indexing.certificates.checker.table import Bound

__all__ = ["Facts"]

ANY = (-inf, inf)
MAX_RANGES = 100
#: As many points are tried one by one.
MAX_POINTS = 1000
#: Quotients with at most as many values are tried one by one.
MAX_VALUES = 8
#: As many cases of what minima and quotients are equal to are told apart.
MAX_CASES = 100


def added(ends: Ends, times: int, to: Ends) -> Ends:
    """The bounds of a sum with a multiple of what is in other bounds."""
    (a, b), (low, high) = ends, to
    if not times:
        return to
    return (low + times * a, high + times * b) if times > 0 else (low + times * b, high + times * a)


def multiplied(a: Ends, b: Ends) -> Ends:
    """The bounds of a product."""
    if not are_finite([a, b]):
        return ANY
    corners = [x * y for x in a for y in b]
    return min(corners), max(corners)


def are_finite(spans: list[Ends]) -> bool:
    """Whether all bounds are numbers."""
    return all(b - a < inf for a, b in spans)


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

    def imply(self, terms: frozenset[tuple[int, int]], lower: Bound, upper: Bound) -> bool:
        """Whether a range follows: as stated, by intervals, or since the form can't lie above or below it."""
        if self.state(terms, lower, upper):
            return True
        low, high = self.span(Form(terms))
        above = high <= upper or self.exclude((terms, upper + 1, inf))
        return above and (lower <= low or self.exclude((terms, -inf, lower - 1)))

    def prove(self, claims: list[Range]) -> bool:
        """Whether all ranges follow, or hold at each point of a small box."""
        return all(self.imply(*r) or self.hold_everywhere(*r) for r in claims)

    # ------------------------------------------------------------------ by intervals

    def span(self, form: Form) -> Ends:
        """Bounds of a form: those stated, of factors, or of the unknowns in a multiple with remainders for quotients."""
        low, high = self.stated(form)
        if high - low < inf:
            return low, high
        low, high = self.by_factors(form, (low, high))
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

    def by_factors(self, form: Form, ends: Ends) -> Ends:
        """Bounds of a product that is a sum, by those of factors, or of one that all its terms have."""
        terms, factor, constant = self.forms.normal(form)
        if (known := self.forms.factored.pop(terms, None)) is not None:
            _, *of = self.forms.range(known[0], *multiplied(*map(self.span, known[1:])))
            low, high = added((of[0], of[1]), factor, (constant, constant))
            ends, self.forms.factored[terms] = (max(low, ends[0]), min(high, ends[1])), known
        elif len(form) > 1 and 0 not in form:
            for f in self.forms.factors(min(form)):
                rest = [(j, c) for k, c in form.items() if (j := self.forms.without(f, k)) is not None]
                if len(rest) == len(form):
                    other = Form(rest)
                    low, high = multiplied(self.span(self.forms.owns[f]), self.span(other))
                    ends = max(low, ends[0]), min(high, ends[1])
        return ends

    def stated(self, form: Form) -> Ends:
        """The bounds of a form that are known at once."""
        terms, factor, constant = self.forms.normal(form)
        return added(self.ranges.get(terms, ANY), factor, (constant, constant))

    def span_of_unknown(self, k: int) -> Ends:
        """Bounds of an unknown, from those stated, and those of its parts."""
        kind, parts = self.forms.unknowns[k]
        low, high = self.stated(self.forms.owns[k])
        if high - low == inf:
            a, b = self.span(self.forms.owns[k]) if k in self.forms.rests else self.by_parts(kind, parts)
            low, high = max(a, low), min(b, high)
        self.spans[k] = low, high
        return low, high

    def by_parts(self, kind: str, parts: tuple[Form, ...]) -> Ends:
        """Bounds by definition: of a minimum, a product, or a quotient or remainder by an expression."""
        spans = [self.span(part) for part in parts]
        if kind == "min":
            return min(a for a, _ in spans), min(b for _, b in spans)
        if kind == "%":
            n, d = parts  # the dividend may have been a multiple of the divisor more or less
            least = [high for low, high in map(self.span, (n, n.plus(d, 1), n - d)) if low >= 0]
            return 0, min([*least, max(map(abs, spans[1])) - 1])
        if kind == "*":
            return reduce(multiplied, spans)
        if kind != "/" or not are_finite(spans):
            return ANY
        divisors = [d for d in {*map(int, spans[1]), -1, 1} if d and spans[1][0] <= d <= spans[1][1]]
        corners = [n // d for n in map(int, spans[0]) for d in divisors]
        return (min(corners), max(corners)) if corners else ANY

    # ------------------------------------------------------------------ by linear arithmetic

    def exclude(self, *ranges: Range) -> bool:
        """Whether no integers satisfy the facts, and these; False if that is not found."""
        facts = Facts(self.forms, [*self, *ranges])
        cases = list[list[Range]]()
        for k in sorted(self.forms.below(map(Form, facts.ranges))):
            kind, parts = self.forms.unknowns[k]
            if k in self.forms.rests:
                rest, m = self.forms.rests[k]
                facts.add([self.forms.range(rest, 0, m - 1)])
                low, high = self.spans.get(k) or self.span_of_unknown(k)
                if high - low < MAX_VALUES:
                    values = range(int(low), int(high) + 1)
                    cases.append([self.forms.range(self.forms.owns[k], v, v) for v in values])
            elif kind == "min":
                above = [self.forms.owns[k] - part for part in parts]
                facts.add(self.forms.range(form, -inf, 0) for form in above)
                cases.append([self.forms.range(form, 0, 0) for form in above])
            elif kind == "%" and self.span(parts[1])[0] > 0:
                facts.add([self.forms.range(self.forms.owns[k] - parts[1], -inf, -1)])
        return facts.has_no_solution() or (
            0 < prod(map(len, cases)) <= MAX_CASES
            and all(Facts(self.forms, [*facts, *case]).has_no_solution() for case in product(*cases))
        )

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

    # ------------------------------------------------------------------ by values

    def hold_everywhere(self, terms: frozenset[tuple[int, int]], lower: Bound, upper: Bound) -> bool:
        """Whether a range holds at each point within the bounds of its variables that has the facts; False for too many."""
        form = Form(terms)
        names = self.variables_below(form)
        spans = [self.stated(self.forms.owns[k]) for k in names]
        if not are_finite(spans) or prod(b - a + 1 for a, b in spans) > MAX_POINTS:
            return False
        points = product(*(range(int(a), int(b) + 1) for a, b in spans))
        try:
            at_points = (dict(zip(names, point, strict=True)) for point in points)
            return all(lower <= self.forms.value(form, at) <= upper or self.exclude_point(at) for at in at_points)
        except ZeroDivisionError:
            return False

    def exclude_point(self, at: dict[int, int]) -> bool:
        """Whether a fact about these variables alone does not hold at a point."""
        about = ((Form(terms), ends) for terms, ends in self.ranges.items())
        known = (of for of in about if at.keys() >= {*self.variables_below(of[0])})
        return any(not low <= self.forms.value(form, at) <= high for form, (low, high) in known)

    def variables_below(self, form: Form) -> list[int]:
        """The variables in a form."""
        return [k for k in self.forms.below([form]) if self.forms.unknowns[k][0].startswith("variable")]
