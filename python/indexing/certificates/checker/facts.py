"""Consequences of claims: linear integer arithmetic over products of atoms, with what defines the atoms, and cases of it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from itertools import combinations
from typing import TypeAlias

from indexing.certificates.checker.forms import Forms
from indexing.certificates.checker.integers import Form, constant, has_no_solution, own

__all__ = ["MAX_VALUES", "Facts", "Range"]

#: A form and its bounds, None where there is none.
Range: TypeAlias = "tuple[Form, int | None, int | None]"
#: Forms that are 0, and forms that are at most 0.
System: TypeAlias = "tuple[list[Form], list[Form]]"

MAX_SYSTEMS = 1000
MAX_ROWS = 24
#: Remainders modulo, and variables with, at most as many values are tried one by one.
MAX_VALUES = 64


class Facts:
    """Ranges that hold, and divisors that are not 0."""

    def __init__(self, forms: Forms, ranges: Iterable[Range] = (), nonzero: Collection[Form] = ()) -> None:
        self.forms, self.ranges, self.nonzero, self.budget = forms, [*ranges], nonzero, 0

    def state(self, form: Form, lower: int | None, upper: int | None) -> bool:
        """Whether a range is one of these, or wider."""
        same = [(a, b) for f, a, b in self.ranges if f == form]
        above = lower is None or any(a is not None and a >= lower for a, _ in same)
        return bool(same) and above and (upper is None or any(b is not None and b <= upper for _, b in same))

    def imply(self, form: Form, lower: int | None, upper: int | None) -> bool:
        """Whether a range follows: it is stated, or that the form lies above or below it is impossible."""
        value = form.number
        is_within = value is not None and (lower is None or lower <= value) and (upper is None or value <= upper)
        if is_within or self.state(form, lower, upper):
            return True
        above = upper is None or self.exclude((form, upper + 1, None))
        return above and (lower is None or self.exclude((form, None, lower - 1)))

    def exclude(self, *ranges: Range) -> bool:
        """Whether no integers satisfy the facts, and these; False if that is not found."""
        zeros, rows = [], []
        for form, lower, upper in (*self.ranges, *ranges):
            is_zero = lower is not None and lower == upper
            zeros += [form - lower] if is_zero and lower is not None else []
            rows += [form - upper] if upper is not None and not is_zero else []
            rows += [constant(lower) - form] if lower is not None and not is_zero else []
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
