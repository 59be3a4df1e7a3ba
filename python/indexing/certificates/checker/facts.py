"""Consequences of ranges of forms: by intervals, by linear integer arithmetic, by the values of few variables."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import reduce
from itertools import combinations, product
from math import gcd, inf, prod

from indexing.certificates.checker.forms import Ends, Form, Forms, Range, Terms, constant
from indexing.certificates.checker.table import Bound

__all__ = ["Facts"]

ANY = (-inf, inf)
MAX_RANGES = 100
#: As many points are tried one by one.
MAX_POINTS = 1000
#: As many cases of what minima are equal to are told apart.
MAX_CASES = 1000
#: Quotients with at most as many values, and as many cases of these, are tried one by one.
MAX_VALUES = 8
MAX_CASES_OF_QUOTIENTS = 100


def added(ends: Ends, times: int, to: Ends) -> Ends:
    """The bounds of a sum with a multiple of what is in other bounds."""
    (a, b), (low, high) = ends, to
    if not times:
        return to
    return (low + times * a, high + times * b) if times > 0 else (low + times * b, high + times * a)


def multiplied(a: Ends, b: Ends) -> Ends:
    """The bounds of a product."""
    corners = [x * y if x and y else 0 for x in a for y in b]
    return min(corners), max(corners)


def are_finite(spans: list[Ends]) -> bool:
    """Whether all bounds are numbers."""
    return all(b - a < inf for a, b in spans)


class Facts:
    """Ranges that hold."""

    def __init__(self, forms: Forms, ranges: Iterable[Range] = ()) -> None:
        self.forms, self.is_impossible = forms, False
        self.ranges: dict[Terms, Ends] = {frozenset(): (0, 0)}
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

    def state(self, terms: Terms, lower: Bound, upper: Bound) -> bool:
        """Whether a range is stated, or a wider one."""
        low, high = self.ranges.get(terms, ANY)
        return (lower <= low and high <= upper) or self.is_impossible

    def imply(self, terms: Terms, lower: Bound, upper: Bound) -> bool:
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
        """Bounds of a form: those stated, of its factors, or of its unknowns."""
        low, high = self.stated(form)
        if high - low == inf:
            for a, b in (self.by_factors(form), self.by_terms(form)):
                low, high = max(low, a), min(high, b)
        return low, high

    def by_terms(self, form: Form) -> Ends:
        """Bounds of a sum, by those of its unknowns."""
        ends: Ends = (0, 0)
        for k, c in form.items():
            ends = added(self.span_of_unknown(k), c, ends)
        return ends

    def stated(self, form: Form) -> Ends:
        """The bounds of a form that are known at once."""
        terms, factor, constant = self.forms.normal(form)
        return added(self.ranges.get(terms, ANY), factor, (constant, constant))

    def by_factors(self, form: Form) -> Ends:
        """Bounds of a product that is a sum, by those of its factors."""
        terms, factor, constant = self.forms.normal(form)
        if (known := self.forms.factored.pop(terms, None)) is None:
            return ANY
        product, *factors = known
        _, *ends = self.forms.range(product, *multiplied(*map(self.span, factors)))
        self.forms.factored[terms] = known
        return added((ends[0], ends[1]), factor, (constant, constant))

    def span_of_unknown(self, k: int) -> Ends:
        """Bounds of an unknown, from those stated, and those of its parts."""
        if k not in self.spans:
            low, high = self.stated(self.forms.owns[k])
            if high - low == inf:
                a, b = self.by_parts(*self.forms.unknowns[k])
                low, high = max(a, low), min(b, high)
            self.spans[k] = low, high
        return self.spans[k]

    def by_parts(self, kind: str, parts: tuple[Form, ...]) -> Ends:
        """Bounds by definition: of a minimum, a product, a quotient, or a remainder by an expression."""
        spans = [self.span(part) for part in parts]
        if kind == "min":
            return min(a for a, _ in spans), min(b for _, b in spans)
        if kind == "*":
            return reduce(multiplied, spans)
        if kind == "%":
            n, d = parts  # the dividend may have been a multiple of the divisor more or less
            least = [high for low, high in map(self.span, (n, n.plus(d, 1), n - d)) if low >= 0]
            return 0, min([*least, max(map(abs, spans[1])) - 1])
        if kind != "/" or not are_finite(spans[1:]):
            return ANY
        divisors = [d for d in {*map(int, spans[1]), -1, 1} if d and spans[1][0] <= d <= spans[1][1]]
        corners = [n // d if abs(n) < inf else n * d for n in spans[0] for d in divisors]
        return (min(corners), max(corners)) if corners else ANY

    # ------------------------------------------------------------------ by linear arithmetic

    def exclude(self, *ranges: Range) -> bool:
        """Whether no integers satisfy the facts, and these; False if that is not found."""
        facts = Facts(self.forms, [*self, *ranges])
        cases, values = list[list[Range]](), list[list[Range]]()
        for k in sorted(self.forms.below(map(Form, facts.ranges))):
            own, (kind, parts) = self.forms.owns[k], self.forms.unknowns[k]
            if k in self.forms.rests:
                rest, m = self.forms.rests[k]
                facts.add([self.forms.range(rest, 0, m - 1)])
                low, high = self.span_of_unknown(k)
                if high - low < MAX_VALUES:
                    values.append([self.forms.range(own, v, v) for v in range(int(low), int(high) + 1)])
            elif kind == "min":
                above = [own - part for part in parts]
                facts.add(self.forms.range(form, -inf, 0) for form in above)
                cases.append([self.forms.range(form, 0, 0) for form in above])
            elif kind == "%" and self.span(parts[1])[0] > 0:
                facts.add([self.forms.range(own - parts[1], -inf, -1)])
        for of_quotient in values:
            if prod(map(len, [*cases, of_quotient])) <= MAX_CASES_OF_QUOTIENTS:
                cases.append(of_quotient)
        are_few = bool(cases) and prod(map(len, cases)) <= MAX_CASES
        return facts.has_no_solution() or (
            are_few and all(Facts(self.forms, [*facts, *case]).has_no_solution() for case in product(*cases))
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

    def hold_everywhere(self, terms: Terms, lower: Bound, upper: Bound) -> bool:
        """Whether a range holds at each point within the bounds of its variables that has the facts; False for too many.

        A contradiction has the variables of the facts.
        """
        form = Form(terms)
        names = self.variables_below([form] if terms else map(Form, self.ranges))
        spans = [self.stated(self.forms.owns[k]) for k in names]
        if not are_finite(spans) or prod(b - a + 1 for a, b in spans) > MAX_POINTS:
            return False
        about = [(Form(t), ends) for t, *ends in self if {*names}.issuperset(self.variables_below([Form(t)]))]
        points = product(*(range(int(a), int(b) + 1) for a, b in spans))
        value = self.forms.value
        try:
            return all(
                lower <= value(form, at) <= upper or not all(low <= value(f, at) <= high for f, (low, high) in about)
                for at in (dict(zip(names, point, strict=True)) for point in points)
            )
        except ZeroDivisionError:
            return False

    def variables_below(self, forms: Iterable[Form]) -> list[int]:
        """The variables in forms."""
        return [k for k in self.forms.below(forms) if self.forms.unknowns[k][0].startswith("variable")]
