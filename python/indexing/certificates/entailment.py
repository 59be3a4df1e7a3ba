"""Consequences of claims, by linear arithmetic over the integers: intervals, elimination, congruences, cases of minima."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from math import gcd, inf
from typing import TypeAlias

from indexing.certificates.forms import Form, Forms, add, constant, made, scale, value, without
from indexing.certificates.reader import Expr

__all__ = ["Known", "Range"]

#: Inclusive bounds; None where there is none.
Bounds: TypeAlias = "tuple[int | None, int | None]"

MAX_ROWS = 300
MAX_ATOMS = 40
MAX_CASES = 64
#: As many pairs of bounds of an unknown are always joined.
MAX_JOINED = 30


@dataclass(frozen=True)
class Range:
    """`form` lies in [lower, upper], where None is unbounded, and is `residue` modulo `modulus` (1: anything)."""

    form: Form
    lower: int | None
    upper: int | None
    modulus: int = 1
    residue: int = 0

    def is_point(self) -> bool:
        """Whether the form has one value."""
        return self.lower is not None and self.lower == self.upper


@dataclass
class Known:
    """Claims that hold: ranges of forms, and forms that are 0."""

    forms: Forms
    ranges: list[Range] = field(default_factory=list)
    zeros: list[Form] = field(default_factory=list)

    # ------------------------------------------------------------------ equality

    def is_zero(self, form: Form) -> bool:
        """Whether the form is 0: a combination of forms that are, or by its bounds."""
        if not form:
            return True
        points = [add(r.form, constant(-r.lower)) for r in self.ranges if r.is_point() and r.lower is not None]
        if is_combination(form, [*self.zeros, *points]):
            return True
        return self.is_at_most(form, 0) and self.is_at_most(scale(form, -1), 0)

    # ------------------------------------------------------------------ bounds

    def is_at_most(self, form: Form, upper: int) -> bool:
        """Whether `form <= upper` follows."""
        bound = self.interval(form)[1]
        if bound is not None and bound <= upper:
            return True
        return self.is_impossible([add(constant(upper + 1), form, -1)])

    def is_impossible(self, rows: list[Form]) -> bool:
        """Whether no integers satisfy the claims and `row <= 0` for these rows; False if that is not found."""
        rows = [*rows, *self.rows()]
        return all(self.has_no_points(case) for case in self.cases(rows, MAX_CASES))

    def rows(self) -> list[Form]:
        """The claims as forms that are at most 0."""
        rows = []
        for r in self.ranges:
            lower, upper = self.stated(r)
            if upper is not None:
                rows.append(add(r.form, constant(-upper)))
            if lower is not None:
                rows.append(add(constant(lower), r.form, -1))
        return rows + [f for z in self.zeros for f in (z, scale(z, -1))]

    def stated(self, r: Range) -> Bounds:
        """The bounds of a range, moved inwards to values with its residue."""
        if r.modulus <= 1:
            return r.lower, r.upper
        lower = None if r.lower is None else r.lower + (r.residue - r.lower) % r.modulus
        upper = None if r.upper is None else r.upper - (r.upper - r.residue) % r.modulus
        return lower, upper

    def cases(self, rows: list[Form], budget: int) -> Iterator[list[Form]]:
        """The rows where each minimum in them is one of its arguments, in all possible ways."""
        atoms = {a for row in rows for a in self.forms.below(row)}
        minimum = next((a for a in sorted(atoms) if self.forms.atoms[a][0] == "min"), None)
        if minimum is None:
            yield rows
            return
        arguments = self.forms.arguments(minimum)
        if budget < len(arguments):
            yield []  # has points: nothing is found
            return
        for least in arguments:
            others = [add(least, other, -1) for other in arguments if other != least]
            memo: dict[int, Form] = {}
            case = [self.forms.substituted(row, minimum, least, memo) for row in [*rows, *others]]
            yield from self.cases(case, budget // len(arguments))

    def has_no_points(self, rows: list[Form]) -> bool:
        """Whether no integers satisfy `row <= 0` for all rows: products and quotients are taken as unknowns."""
        rows = rows + self.definitions(rows)
        unknowns = {k for row in rows for k, _ in row if k}
        if len(unknowns) > MAX_ATOMS:
            return False
        return eliminate({tightened(row) for row in rows})

    def definitions(self, rows: list[Form]) -> list[Form]:
        """Rows that hold of each quotient by definition, and of each product by the bounds of its factors."""
        made = []
        for a in {a for row in rows for a in self.forms.below(row)}:
            match self.forms.atoms[a]:
                case ("/", tuple() as n, int(m)):
                    low = add(n, (((a,), 1),), -m)  # n - m * q is in [0, m - 1]
                    made += [scale(low, -1), add(low, constant(1 - m))]
                case ("quotient" | "remainder", *_):
                    made += self.bounded((((a,), 1),))
        for k in {k for row in rows for k, _ in row if len(k) > 1}:
            made += self.bounded(((k, 1),))
        return made

    def bounded(self, form: Form) -> list[Form]:
        """The bounds of a form by intervals, as rows."""
        lower, upper = self.interval(form)
        rows = [] if upper is None else [add(form, constant(-upper))]
        return rows if lower is None else [*rows, add(constant(lower), form, -1)]

    def interval(self, form: Form) -> Bounds:
        """Bounds of a form: those that are claimed, and the sum of those of its products."""
        lower, upper = self.claimed(form)
        low: int | None = 0
        high: int | None = 0
        for k, c in form:
            part = (c, c) if not k else _scaled(self.product(k), c)
            low = None if low is None or part[0] is None else low + part[0]
            high = None if high is None or part[1] is None else high + part[1]
        factored = [self.factored(form, a) for a in {a for k, _ in form if len(k) > 1 for a in k}]
        return _most([lower, low, *(f[0] for f in factored)]), _least([upper, high, *(f[1] for f in factored)])

    def of_expr(self, e: Expr) -> Bounds:
        """Bounds of an expression as it stands, from those that are claimed of its parts."""
        lower, upper = self.interval(self.forms.of(e))
        if not isinstance(e, tuple):
            return lower, upper
        a, b = self.of_expr(e[1]), self.of_expr(e[2])
        low, high = None, None
        match e[0]:
            case "*":
                low, high = _times(a, b)
            case "+":
                low = None if a[0] is None or b[0] is None else a[0] + b[0]
                high = None if a[1] is None or b[1] is None else a[1] + b[1]
            case "/" if value(self.forms.of(e[2])) is None:
                low, high = _quotients(a, b)
            case "%":
                low, high = 0, _largest_remainder(a, b)
        return _most([lower, low]), _least([upper, high])

    def factored(self, form: Form, a: int) -> Bounds:
        """The bounds of `form = a * x + y` by those of `a`, `x` and `y`, for an atom `a`."""
        inside = made({without(k, a): c for k, c in form if a in k})
        product = _times(self.of_atom(a), self.interval(inside))
        rest = self.interval(tuple(t for t in form if a not in t[0]))
        low = None if product[0] is None or rest[0] is None else product[0] + rest[0]
        return low, None if product[1] is None or rest[1] is None else product[1] + rest[1]

    def claimed(self, form: Form) -> Bounds:
        """The bounds that are claimed of a form."""
        own = [self.stated(r) for r in self.ranges if r.form == form]
        turned = [_scaled(self.stated(r), -1) for r in self.ranges if r.form == scale(form, -1)]
        return _most(b[0] for b in own + turned), _least(b[1] for b in own + turned)

    def product(self, k: tuple[int, ...]) -> Bounds:
        """Bounds of a product of atoms."""
        lower, upper = self.claimed(((k, 1),))
        found = self.of_atom(k[0])
        for a in k[1:]:
            found = _times(found, self.of_atom(a))
        if len(k) == 2 and k[0] == k[1]:
            found = (_most([found[0], 0]), found[1])
        return _most([lower, found[0]]), _least([upper, found[1]])

    def of_atom(self, a: int) -> Bounds:
        """Bounds of an atom, from those of what it is made of."""
        lower, upper = self.claimed((((a,), 1),))
        low, high = None, None
        match self.forms.atoms[a]:
            case ("/", tuple() as n, int(m)):
                low, high = self.interval(n)
                low, high = None if low is None else low // m, None if high is None else high // m
            case ("min", _):
                parts = [self.interval(f) for f in self.forms.arguments(a)]
                low = None if any(p[0] is None for p in parts) else min(p[0] for p in parts if p[0] is not None)
                high = _least(p[1] for p in parts)
            case ("quotient", tuple() as n, tuple() as d):
                low, high = _quotients(self.interval(n), self.interval(d))
            case ("remainder", tuple() as n, tuple() as d):
                low, high = 0, _largest_remainder(self.interval(n), self.interval(d))
        return _most([lower, low]), _least([upper, high])

    # ------------------------------------------------------------------ congruences

    def has_residue(self, form: Form, modulus: int, residue: int) -> bool:
        """Whether `form = residue` modulo `modulus` follows."""
        rest = _reduced(add(form, constant(-residue)), modulus)
        known = [(add(r.form, constant(-r.residue)), r.modulus) for r in self.ranges if r.modulus > 1]
        known += [(add(r.form, constant(-(r.lower or 0))), 0) for r in self.ranges if r.is_point()]
        known += [(z, 0) for z in self.zeros]
        for _ in range(len(known)):
            for f, m in known:
                rest = self.without(rest, f, m, modulus)
            if not rest:
                return True
        return not rest

    def without(self, rest: Form, f: Form, m: int, modulus: int) -> Form:
        """`rest` less a multiple of `f`, which is 0 modulo `m`, such that a product of `f` cancels."""
        for k, c in f:
            t = dict(rest).get(k, 0)
            if not k or not t:
                continue
            for factor in _factors(t, c, modulus):
                if (factor * m) % modulus == 0:
                    return _reduced(add(rest, f, -factor), modulus)
        return rest


def _factors(t: int, c: int, modulus: int) -> Iterator[int]:
    """Numbers with `factor * c = t` modulo `modulus`."""
    g = gcd(c, modulus)
    if t % g == 0:
        step = modulus // g
        yield (t // g * pow(c // g, -1, step)) % modulus if step > 1 else 0
        if t % c == 0:
            yield t // c


def _reduced(form: Form, modulus: int) -> Form:
    return tuple((k, c % modulus) for k, c in form if c % modulus)


def _most(bounds: Iterable[int | None]) -> int | None:
    return max((b for b in bounds if b is not None), default=None)


def _least(bounds: Iterable[int | None]) -> int | None:
    return min((b for b in bounds if b is not None), default=None)


def _scaled(bounds: Bounds, c: int) -> Bounds:
    low, high = (None if b is None else b * c for b in bounds)
    return (low, high) if c > 0 else (high, low)


def _times(a: Bounds, b: Bounds) -> Bounds:
    """The bounds of a product."""
    ends = [_end(x, i, y, j) for i, x in enumerate(a) for j, y in enumerate(b)]
    low = None if any(e == -inf for e in ends) else min(ends)
    high = None if any(e == inf for e in ends) else max(ends)
    return None if low is None else int(low), None if high is None else int(high)


def _end(x: int | None, i: int, y: int | None, j: int) -> int | float:
    """The product of two ends, the lower (0) or the upper (1) ones; None is infinite."""
    if x is not None and y is not None:
        return x * y
    signs = [(1 if end else -1) if z is None else (z > 0) - (z < 0) for z, end in ((x, i), (y, j))]
    return inf * (signs[0] * signs[1]) if signs[0] and signs[1] else 0


def _quotients(n: Bounds, d: Bounds) -> Bounds:
    """The bounds of a quotient whose divisor is not 0."""
    first, last = d
    if n[0] is None or n[1] is None:
        return (0, None) if n[0] is not None and n[0] >= 0 and (first or 0) > 0 else (None, None)
    inside = [e for e in (first, last, 1, -1) if e and (first is None or first <= e) and (last is None or e <= last)]
    found = [x // e for x in (n[0], n[1]) for e in inside]
    found += [-1 if x > 0 else 0 for x in (n[0], n[1]) if first is None]
    found += [0 if x >= 0 else -1 for x in (n[0], n[1]) if last is None]
    return (min(found), max(found)) if found else (None, None)


def _largest_remainder(n: Bounds, d: Bounds) -> int | None:
    largest = None if d[0] is None or d[1] is None else max(abs(d[0]), abs(d[1])) - 1
    return _least([largest, n[1] if n[0] is not None and n[0] >= 0 else None])


def tightened(row: Form) -> Form:
    """`row <= 0` divided by the common factor of its coefficients, with the constant rounded up."""
    g = gcd(*(c for k, c in row if k))
    return row if g <= 1 else tuple(t for t in ((k, c // g if k else -(-c // g)) for k, c in row) if t[1])


def eliminate(rows: set[Form]) -> bool:
    """Whether `row <= 0` for all rows has no solution, by Fourier and Motzkin's elimination; False if that is not found."""
    while True:
        numbers = [value(row) for row in rows]
        if any(n is not None and n > 0 for n in numbers):
            return True
        rows = {row for row, n in zip(rows, numbers, strict=True) if n is None}
        if not rows or len(rows) > MAX_ROWS:
            return False
        equal = next(((r, t) for r in rows if scale(r, -1) in rows for t in r if t[0] and t[1] in (1, -1)), None)
        if equal is not None:
            rows = {tightened(_substituted(row, *equal)) for row in rows}
            continue
        unknowns = {k for row in rows for k, _ in row if k}
        # quotients, which are met after their dividends, last: a bound of a quotient can be rounded
        sides = [_sides(rows, k) for k in sorted(unknowns)]
        above, below, rest = min(sides, key=lambda s: max(len(s[0]) * len(s[1]), MAX_JOINED))
        rows = rest | {tightened(_joined(p, q)) for p in above for q in below}


Side: TypeAlias = "list[tuple[int, Form]]"


def _sides(rows: set[Form], k: tuple[int, ...]) -> tuple[Side, Side, set[Form]]:
    """The rows that bound a product from above, from below, and those without it."""
    above, below, rest = [], [], set()
    for row in rows:
        c = dict(row).get(k, 0)
        if c > 0:
            above.append((c, row))
        elif c < 0:
            below.append((-c, row))
        else:
            rest.add(row)
    return above, below, rest


def _substituted(row: Form, zero: Form, term: tuple[tuple[int, ...], int]) -> Form:
    """The row without a term that has the coefficient 1 or -1 in a form that is 0."""
    return add(row, zero, -term[1] * dict(row).get(term[0], 0))


def _joined(p: tuple[int, Form], q: tuple[int, Form]) -> Form:
    g = gcd(p[0], q[0])
    return add(scale(p[1], q[0] // g), q[1], p[0] // g)


def is_combination(form: Form, zeros: list[Form]) -> bool:
    """Whether a multiple of the form is a sum of multiples of forms that are 0, by elimination over the integers."""
    basis: list[tuple[tuple[int, ...], Form]] = []
    for z in zeros:
        z = _less(z, basis)
        if z:
            basis.append((z[-1][0], z))
    return not _less(form, basis)


def _less(form: Form, basis: list[tuple[tuple[int, ...], Form]]) -> Form:
    """A multiple of the form, less multiples of the basis."""
    for k, b in basis:
        c, own = dict(form).get(k, 0), dict(b)[k]
        if c:
            g = gcd(c, own)
            form = add(scale(form, own // g), b, -(c // g))
    return form
