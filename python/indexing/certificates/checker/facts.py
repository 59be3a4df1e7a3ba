"""Consequences of claims: integer arithmetic over products of atoms, with what defines the atoms, and cases of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import TypeAlias

from indexing.certificates.checker.forms import Form, Forms, add, constant, scale, times
from indexing.certificates.checker.integers import has_no_solution

__all__ = ["Facts"]

#: Forms that are 0, and forms that are at most 0.
System: TypeAlias = "tuple[list[Form], list[Form]]"

MAX_SYSTEMS = 400
MAX_ROWS = 24
#: Remainders modulo, and quotients and variables with, at most as many values are tried one by one.
MAX_VALUES = 64
ONE = constant(1)


@dataclass
class Facts:
    """Forms that are 0, forms that are at most 0, and forms that are not 0."""

    forms: Forms
    zeros: list[Form] = field(default_factory=list)
    rows: list[Form] = field(default_factory=list)
    nonzero: frozenset[Form] = frozenset()
    budget: int = 0

    def claim(self, form: Form, lower: int | None, upper: int | None, modulus: int = 1, residue: int = 0) -> None:
        """Adds that a form lies within bounds, and has a residue."""
        if modulus > 1:
            multiple = self.forms.atom(("multiple", form, modulus))
            self.zeros.append(add(add(form, constant(-residue)), multiple, -modulus))
        if lower is not None and lower == upper:
            self.zeros.append(add(form, constant(-lower)))
        else:
            self.rows += [] if upper is None else [add(form, constant(-upper))]
            self.rows += [] if lower is None else [add(constant(lower), form, -1)]

    def is_within(self, form: Form, lower: int | None, upper: int | None, modulus: int = 1, residue: int = 0) -> bool:
        """Whether a form lies within bounds, and has a residue."""
        if upper is not None and not self.is_impossible([], [add(constant(upper + 1), form, -1)]):
            return False
        if lower is not None and not self.is_impossible([], [add(form, constant(1 - lower))]):
            return False
        if modulus <= 1:
            return True
        multiple, rest = self.forms.atom(("multiple of", form)), self.forms.atom(("rest of", form))
        other = add(add(add(form, constant(-residue)), multiple, -modulus), rest, -1)
        return self.is_impossible([other], [add(ONE, rest, -1), add(rest, constant(1 - modulus))])

    def is_zero(self, form: Form) -> bool:
        """Whether a form is 0."""
        return not form or self.is_within(form, 0, 0)

    def is_impossible(self, zeros: Sequence[Form] = (), rows: Sequence[Form] = ()) -> bool:
        """Whether no integers satisfy the facts, and these; False if that is not found."""
        system = ([*self.zeros, *zeros], [*self.rows, *rows])
        if contradicts(system):
            return True
        choices = [c for a in sorted(self.forms.below([*system[0], *system[1]])) for c in self.defined(a, system)]
        self.budget = MAX_SYSTEMS
        if self.fails(system, choices):
            return True
        few = list(self.values(system))
        return bool(few) and self.fails(system, [*few[:1], *choices, *few[1:]])

    def fails(self, system: System, choices: list[list[System]]) -> bool:
        """Whether a system has no solution in all cases."""
        self.budget -= 1
        if self.budget < 0:
            return False
        if contradicts(with_products(system)):
            return True
        if not choices:
            return False
        first, *others = choices
        return all(self.fails((system[0] + zeros, system[1] + rows), others) for zeros, rows in first)

    def defined(self, a: int, system: System) -> Iterator[list[System]]:
        """Adds what always holds of an atom to the system; the cases of which one holds."""
        own = (((a,), 1),)
        match self.forms.atoms[a]:
            case ("/", tuple() as n, int(m)):
                rest = add(n, own, -m)
                system[1].extend([scale(rest, -1), add(rest, constant(1 - m))])
            case ("min", _):
                apart = [add(own, f, -1) for f in self.forms.parts(a)]
                system[1].extend(apart)
                yield [([f], []) for f in apart]
            case ("quotient" | "remainder" as kind, tuple() as n, tuple() as d):
                other = self.forms.atom(("other", n, d))
                parts = (own, other) if kind == "quotient" else (other, own)
                turned = scale(n, -1) if kind == "quotient" else n
                cases = [divided(n, d, *parts), divided(turned, scale(d, -1), *parts)]
                yield cases if d in self.nonzero else [*cases, ([d], [])]
                yield [([], [scale(parts[0], -1)]), ([], [add(parts[0], ONE)])]

    def values(self, system: System) -> Iterator[list[System]]:
        """The cases of remainders by small numbers, and of variables and quotients with few values."""
        for a in sorted(self.forms.below([*system[0], *system[1]])):
            own = (((a,), 1),)
            bounds = self.bounds(a, system[1])
            if bounds and bounds[1] - bounds[0] < MAX_VALUES:
                yield [([add(own, constant(-v))], []) for v in range(bounds[0], bounds[1] + 1)]
                continue
            match self.forms.atoms[a]:
                case ("/", tuple() as n, int(m)) if m <= MAX_VALUES:
                    yield [([add(add(n, own, -m), constant(-r))], []) for r in range(m)]

    def bounds(self, a: int, rows: list[Form]) -> tuple[int, int] | None:
        """The bounds of an atom: those that are claimed, or of a quotient those that follow from its only variable's."""
        own = [(dict(r)[(a,)], dict(r).get((), 0)) for r in rows if {k for k, _ in r if k} == {(a,)}]
        lower, upper = [-(k // c) for c, k in own if c < 0], [-k // c for c, k in own if c > 0]
        if lower and upper:
            return max(lower), min(upper)
        match self.forms.atoms[a]:
            case ("/", tuple() as n, int(m)):
                (*_, (product, c)), k = n, dict(n).get((), 0)
                inside = (
                    self.bounds(product[0], rows) if len(product) == 1 and add(n, n[-1:], -1) == constant(k) else None
                )
                ends = sorted((c * x + k) // m for x in inside or ())
                return (ends[0], ends[1]) if ends else None
        return None


def divided(n: Form, d: Form, quotient: Form, remainder: Form) -> System:
    """`n = d * quotient + remainder` for positive `d`."""
    zero = add(add(n, times(d, quotient), -1), remainder, -1)
    return [zero], [add(ONE, d, -1), scale(remainder, -1), add(add(remainder, d, -1), ONE)]


def contradicts(system: System) -> bool:
    """Whether no integers solve the system, where products are unknowns."""
    return has_no_solution(*system)


def with_products(system: System) -> System:
    """The system, and products of its rows that consist of the products in it and of parts of these."""
    zeros, rows = system
    largest = {k for f in (*zeros, *rows) for k, _ in f if len(k) > 1}
    if not largest or len(rows) > MAX_ROWS:
        return system
    parts = {part for k in largest for size in range(2, len(k) + 1) for part in combinations(k, size)}

    def fit(forms: Iterable[Form]) -> list[Form]:
        return [f for f in forms if all(len(k) < 2 or k in parts for k, _ in f)]

    factors = [((k, 1),) for k in sorted(parts | {(a,) for k in largest for a in k})]
    zeros = zeros + fit(times(z, f) for z in zeros for f in factors)
    products, new = set(rows), rows
    for _ in range(max(map(len, largest)) - 1):
        new = [f for f in fit(scale(times(p, q), -1) for p in rows for q in new) if f not in products]
        products.update(new)
    return zeros, list(products)
