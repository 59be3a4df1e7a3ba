"""The check of a proof: each step from those that it names, then the two maps against the steps."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from itertools import chain
from math import inf

from indexing.certificates.checker.facts import Facts
from indexing.certificates.checker.forms import Form, Forms, Range, constant
from indexing.certificates.checker.laws import Comparison, compared, equations, letters_in, rows, value_of
from indexing.certificates.checker.table import MapValues, Table, made
from indexing.certificates.step import Refused, Step

__all__ = ["check_steps", "need"]

#: The claims that laws of a group make; the last are what equality itself gives, and premises, which have no row.
CLAIMS = {
    **dict.fromkeys(["rule", "operands", "chain"], ("equal",)),
    **dict.fromkeys(["range", "substituted", "given"], ("within",)),
    "constraint": ("within", "never"),
}
#: Laws of what a map states: its constraints, and that its divisors are not 0.
PREMISES = ("given", "constraint-divisor")
NOTHING = Facts(Forms())
UNSAFE = "a divisor may be 0 in one of the maps only"


def need(ok: bool, step: int | None, reason: str) -> None:
    """Raises Refused unless ok."""
    if not ok:
        raise Refused(step, reason)


def check_steps(
    table: Table,
    before: MapValues,
    after: MapValues,
    steps: Sequence[Step[int]] = (),
    results: tuple[int | None, ...] | None = None,
    by_reasons: bool = True,
) -> None:
    """Check that the steps prove two maps to be equal; without `by_reasons` all but that each follows from its reasons.

    The expressions of steps are nodes of the table. Raises Refused with the number of the step (None: the whole) and what is
    wrong.
    """
    if before.kind != "defined" or after.kind == "undefined":
        return need(before.kind == after.kind, None, "a map without domain stays as it is")
    need(after.kind != "defined" or before.variables == after.variables, None, "the maps have different variables")
    proof = Proof(table, before, after, steps)
    for place, step in enumerate(steps):
        try:
            proof.check_step(place, step, by_reasons)
        except (ArithmeticError, LookupError, ValueError) as error:
            raise Refused(step.number, f"an expression that has no value: {error}") from None
    if after.kind == "defined":
        proof.check_domain()
        return proof.check_results((None,) * len(after.results) if results is None else results)
    last = Facts(proof.forms, [*proof.domain, *chain(*proof.ranges[-1:])])
    is_empty = last.prove([proof.forms.range(constant(1), 0, 0)])
    return need(is_empty, None, "an empty map needs a last step that claims a contradiction")


class Proof:
    """Two maps, steps, and what these claim of forms."""

    def __init__(self, table: Table, before: MapValues, after: MapValues, steps: Sequence[Step[int]]) -> None:
        self.before, self.after, self.steps = before, after, steps
        self.table, self.forms = table, table.algebra
        #: By step so far: its claims, the sides of an equality, and that its divisors are not 0.
        self.ranges: list[list[Range]] = []
        self.sides: list[tuple[Form, Form] | None] = []
        self.nonzero: list[list[Range]] = []
        self.domain = self.ranges_of(before)
        self.own = self.domain[len(before.domain) :]
        #: That divisors are not 0, as far as that is known.
        self.safe = {*self.own}
        self.stated = Facts(self.forms, self.domain)

    def check_step(self, place: int, step: Step[int], by_reasons: bool) -> None:
        need(step.number == place, step.number, f"out of order: this is step {place}")
        for r in step.reasons:
            need(0 <= r < place, place, f"there is no step {r} before it")
        group = rows().get(step.law, (step.law,))[0]
        need(group in CLAIMS, place, f"there is no law {step.law!r}")
        need(step.claim in CLAIMS[group], place, f'{step.law} is no law of claims that are "{step.claim}"')
        claims = self.claims(step)
        if step.law == "given":
            is_stated = all(self.stated.imply(*r) for r in (*claims, *self.nonzero[place]))
            need(is_stated, place, "the map does not state what it claims")
        elif by_reasons:
            left = [*self.left(step, claims, group == "rule"), *(r for r in self.nonzero[place] if r not in self.safe)]
            is_proved = all(NOTHING.state(*r) for r in left) or self.reasons(step).prove(left)
            need(is_proved, place, f"it does not follow by {step.law}")
            self.safe.update(self.nonzero[place])

    def left(self, step: Step[int], claims: list[Range], is_rule: bool) -> list[Range]:
        """The proofs of claims, beside what equality itself and the row of a law give."""
        if step.law == "chain":
            links = (
                (side, sign) for k in step.reasons for side, sign in zip(self.sides[k] or (), (-1, 1), strict=False)
            )
            return [
                self.forms.range(Form.sum([*links, *zip(self.sides[step.number] or (), (1, -1), strict=False)]), 0, 0)
            ]
        if step.law == "operands" and step.before is not None:
            same = {self.steps[k].before: sides[1] for k in step.reasons if (sides := self.sides[k])}
            kind, numbers, operands = self.table.nodes[step.before]
            if operands:
                parts = [same.get(k, self.table.values[k]) for k in operands]
                apart = made(self.forms, kind, numbers, parts) - self.form(step.after)
                if apart and kind in ("floordiv", "mod") and (n := self.forms.ratio(*parts)) is not None:
                    apart = constant(n if kind == "floordiv" else 0) - self.form(step.after)
                    return [self.forms.nonzero(parts[1]), self.forms.range(apart, 0, 0)]
                return [self.forms.range(apart, 0, 0)]
        return self.by_row(step, claims) if is_rule and step.bindings else claims

    def reasons(self, step: Step[int]) -> Facts:
        """The facts from which a step follows: its reasons, and that divisors of the map in it and in these are not 0."""
        known = [*self.domain] if step.law in PREMISES else []
        for k in step.reasons:
            known += self.ranges[k]
        if self.safe:
            known += [r for k in (*step.reasons, step.number) for r in self.nonzero[k] if r in self.safe]
        return Facts(self.forms, known)

    def by_row(self, step: Step[int], claims: list[Range]) -> list[Range]:
        """The conditions of a law for the letters of a step, if it then gives the claim by equalities among the reasons."""
        letters = {letter: self.form(node) for letter, node in step.bindings}
        same = dict(sides for k in step.reasons if (sides := self.sides[k]))
        factor = letters.get("factor", constant(1))
        before, after = self.sides[step.number] or (Form(), Form())
        is_side = False
        for left, right, needs in equations(step.law):
            if self.forms.times(value_of(left, self.forms, letters), factor) == before:
                is_side = True
                if needs is not None:
                    new = value_of(right, self.forms, letters, same)
                    new = self.forms.times(new, factor)
                    needed = [r for of in needs for r in self.conditions(of, letters, dict(step.bindings))]
                    return [*needed, self.forms.range(same.get(new, new) - after, 0, 0)]
        need(is_side, step.number, f"no side of {step.law} is what it replaces, for these letters")
        return claims

    def conditions(self, of: Comparison, letters: Mapping[str, Form], nodes: Mapping[str, int]) -> list[Range]:
        """The ranges that say that a comparison of a law holds; that a product of letters is not 0, by each factor."""
        left, sign, right = of
        if sign is ast.NotEq:
            return [self.forms.nonzero(f) for letter in letters_in(left) for f in self.table.factors(nodes[letter])]
        return [compared(self.forms, value_of(left, self.forms, letters), sign, value_of(right, self.forms, letters))]

    def claims(self, step: Step[int]) -> list[Range]:
        """The claims of a step, as ranges of forms."""
        self.nonzero.append([])
        form, sides = constant(1) if step.claim == "never" else self.form(step.before), None
        lower, upper = step.lower, step.upper
        if step.claim == "equal":
            sides = form, self.form(step.after)
            form = form - sides[1]
        if step.claim != "within":
            lower = upper = 0  # of no point: 1 is 0
        ranges = [self.forms.range(form, -inf if lower is None else lower, inf if upper is None else upper)]
        if step.modulus > 1 and any(c % step.modulus for c in (form - step.residue).values()):
            rest = self.forms.remainder(form - step.residue, constant(step.modulus))
            ranges.append(self.forms.range(rest, 0, 0))
        self.ranges.append(ranges)
        self.sides.append(sides)
        return ranges

    def form(self, node: int | None) -> Form:
        """The form of an expression of the last step. Raises LookupError, or ZeroDivisionError."""
        value: Form = self.table.value(node)
        for divisor in self.table.divisors[node or 0]:
            self.nonzero[-1].append(self.forms.nonzero(divisor))
            if not divisor:
                raise ZeroDivisionError("a divisor is 0")
        return value

    def ranges_of(self, of: MapValues) -> list[Range]:
        """The domain of a map: its constraints, then that its divisors are not 0."""
        constraints = [self.forms.range(e, lower, upper) for e, lower, upper in of.domain]
        return [*constraints, *map(self.forms.nonzero, of.divisors)]

    def check_domain(self) -> None:
        """Both domains have the same points: each constraint of one follows from the other."""
        if (self.after.domain, self.after.divisors) == (self.before.domain, self.before.divisors):
            return
        final = self.ranges_of(self.after)
        facts, back = Facts(self.forms, chain(self.domain, *self.ranges)), Facts(self.forms, final)
        for k, r in enumerate(final):
            is_constraint = k < len(self.after.domain)
            need(facts.imply(*r), None, f"no step claims constraint {k} of the result" if is_constraint else UNSAFE)
        self.keep(back)
        need(all(back.imply(*r) for r in self.own), None, UNSAFE)
        for k, r in enumerate(self.domain):
            need(back.imply(*r), None, f"a constraint of the map is lost: constraint {k}")

    def keep(self, known: Facts) -> None:
        """Adds to the constraints of the result what steps claim on its domain: those whose divisors are not 0 there."""
        valid, size = set[int](), -1
        while size < len(valid) and not all(known.state(*r) for r in self.domain):
            size = len(valid)
            for s, claims, nonzero in zip(self.steps, self.ranges, self.nonzero, strict=True):
                follows = s.law not in PREMISES and valid.issuperset(s.reasons)
                if s.number in valid or not (follows or all(known.state(*r) for r in claims)):
                    continue
                if all(known.imply(*r) for r in nonzero):
                    valid.add(s.number)
                    known.add(claims)

    def check_results(self, places: tuple[int | None, ...]) -> None:
        """Each result of the map equals that of the other, by a step or as they stand."""
        are_as_many = len(places) == len(self.after.results) == len(self.before.results)
        need(are_as_many, None, "the maps have different numbers of results")
        for k, (old, new, place) in enumerate(zip(self.before.results, self.after.results, places, strict=True)):
            need(place is None or 0 <= place < len(self.steps), None, f"result {k}: there is no step {place}")
            if old != new:
                by_domain = place is None and self.stated.prove([self.forms.range(old - new, 0, 0)])
                is_same = by_domain or (place is not None and self.sides[place] == (old, new))
                need(is_same, place, f"result {k} changes without a step")
