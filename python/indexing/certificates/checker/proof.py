"""The check of a proof: each step from those that it names, then the two maps against the steps."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from math import inf
from typing import NamedTuple

from indexing.certificates.checker.facts import Facts
from indexing.certificates.checker.forms import Form, Forms, Range, constant
from indexing.certificates.checker.laws import compared, equations, rows, value_of
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
    last = Facts(proof.forms, [*proof.domain, *chain(*(of.ranges for of in proof.claimed[-1:]))])
    is_empty = last.prove([proof.forms.range(constant(1), 0, 0)])
    return need(is_empty, None, "an empty map needs a last step that claims a contradiction")


class Claimed(NamedTuple):
    """The claim of a step: ranges, the sides of an equality, and that the divisors in it and in its letters are not 0."""

    ranges: list[Range]
    sides: tuple[Form, ...]
    nonzero: list[Range]


class Proof:
    """Two maps, steps, and what these claim of forms."""

    def __init__(self, table: Table, before: MapValues, after: MapValues, steps: Sequence[Step[int]]) -> None:
        self.before, self.after, self.steps = before, after, steps
        self.table, self.forms = table, table.algebra
        self.claimed: list[Claimed] = []
        self.domain = self.ranges_of(before)
        self.stated = Facts(self.forms, self.domain)
        #: That divisors are not 0, as far as that is known: at first, of those of the map.
        self.safe = {*self.domain[len(before.domain) :]}

    def check_step(self, place: int, step: Step[int], by_reasons: bool) -> None:
        need(step.number == place, step.number, f"out of order: this is step {place}")
        for r in step.reasons:
            need(0 <= r < place, place, f"there is no step {r} before it")
        group = rows().get(step.law, (step.law,))[0]
        need(group in CLAIMS, place, f"there is no law {step.law!r}")
        need(step.claim in CLAIMS[group], place, f'{step.law} is no law of claims that are "{step.claim}"')
        claim = self.claim(step)
        self.claimed.append(claim)
        unsafe = [r for r in claim.nonzero if r not in self.safe]
        if step.law == "given":
            is_stated = all(self.stated.imply(*r) for r in (*claim.ranges, *unsafe))
            need(is_stated, place, "the map does not state what it claims")
        elif by_reasons:
            left = [*self.left(step, claim, group == "rule"), *unsafe]
            is_proved = all(NOTHING.state(*r) for r in left) or self.reasons(step).prove(left)
            need(is_proved, place, f"it does not follow by {step.law}")
        self.safe.update(unsafe)

    def claim(self, step: Step[int]) -> Claimed:
        """The claim of a step, of forms. Raises LookupError."""
        nodes = [node for node in (step.before, step.after) if node is not None]
        form, *other = [*map(self.table.value, nodes)] or [constant(1)]
        nodes += (node for _, node in step.bindings)
        nonzero = [self.forms.nonzero(d) for node in nodes for d in self.table.divisors[node]]
        lower, upper = step.lower, step.upper
        sides: tuple[Form, ...] = (form, other[0]) if step.claim == "equal" else ()
        if step.claim != "within":  # of no point: 1 is 0
            form, lower, upper = form - other[0] if sides else form, 0, 0
        ranges = [self.forms.range(form, -inf if lower is None else lower, inf if upper is None else upper)]
        if step.modulus > 1 and any(c % step.modulus for c in (form - step.residue).values()):
            rest = self.forms.remainder(form - step.residue, constant(step.modulus))
            ranges.append(self.forms.range(rest, 0, 0))
        return Claimed(ranges, sides, nonzero)

    def left(self, step: Step[int], claim: Claimed, is_rule: bool) -> list[Range]:
        """The proofs of a claim, beside what equality itself and the row of a law give."""
        if step.law == "chain":
            links = [zip(self.claimed[k].sides, (-1, 1), strict=False) for k in step.reasons]
            return [self.forms.range(Form.sum([*chain(*links), *zip(claim.sides, (1, -1), strict=True)]), 0, 0)]
        if step.law == "operands" and step.before is not None:
            same = {self.steps[k].before: sides[1] for k in step.reasons if (sides := self.claimed[k].sides)}
            kind, numbers, operands = self.table.nodes[step.before]
            if operands:
                parts = [same.get(k, self.table.values[k]) for k in operands]
                return [self.forms.range(made(self.forms, kind, numbers, parts) - claim.sides[1], 0, 0)]
        return self.by_row(step, claim) if is_rule and step.bindings else claim.ranges

    def reasons(self, step: Step[int]) -> Facts:
        """The facts from which a step follows: its reasons, and that divisors in it and in these are not 0 where known."""
        known = [*self.domain] if step.law in PREMISES else []
        for k in step.reasons:
            known += self.claimed[k].ranges
        known += (r for k in (*step.reasons, step.number) for r in self.claimed[k].nonzero if r in self.safe)
        return Facts(self.forms, known)

    def by_row(self, step: Step[int], claim: Claimed) -> list[Range]:
        """The conditions of a law for the letters of a step, if it then gives the claim by equalities among the reasons."""
        letters = {letter: self.table.value(node) for letter, node in step.bindings}
        same = {sides[0]: sides[1] for k in step.reasons if (sides := self.claimed[k].sides)}
        factor = letters.get("factor", constant(1))
        before, after = claim.sides
        for left, right, needs in equations(step.law):
            if self.forms.times(value_of(left, self.forms, letters), factor) == before:
                if needs is None:
                    return claim.ranges
                new = self.forms.times(value_of(right, self.forms, letters, same), factor)
                needed = (compared(self.forms, letters, *of) for of in needs)
                return [*needed, self.forms.range(same.get(new, new) - after, 0, 0)]
        raise Refused(step.number, f"no side of {step.law} is what it replaces, for these letters")

    def ranges_of(self, of: MapValues) -> list[Range]:
        """The domain of a map: its constraints, then that its divisors are not 0."""
        constraints = [self.forms.range(e, lower, upper) for e, lower, upper in of.domain]
        return [*constraints, *map(self.forms.nonzero, of.divisors)]

    def check_domain(self) -> None:
        """Both domains have the same points: each constraint of one follows from the other."""
        if (self.after.domain, self.after.divisors) == (self.before.domain, self.before.divisors):
            return
        final = self.ranges_of(self.after)
        claimed = (of.ranges for of in self.claimed)
        facts, back = Facts(self.forms, chain(self.domain, *claimed)), Facts(self.forms, final)
        for k, r in enumerate(final):
            is_constraint = k < len(self.after.domain)
            need(facts.imply(*r), None, f"no step claims constraint {k} of the result" if is_constraint else UNSAFE)
        self.keep(back)
        for k, r in reversed([*enumerate(self.domain)]):
            is_constraint = k < len(self.before.domain)
            need(back.imply(*r), None, f"a constraint of the map is lost: constraint {k}" if is_constraint else UNSAFE)

    def keep(self, known: Facts) -> None:
        """Adds to the constraints of the result what steps claim on its domain: those whose divisors are not 0 there."""
        valid, size = set[int](), -1
        while size < len(valid) and not all(known.state(*r) for r in self.domain):
            size = len(valid)
            for s, (claims, _, nonzero) in zip(self.steps, self.claimed, strict=True):
                holds = (s.law not in PREMISES and valid.issuperset(s.reasons)) or all(known.state(*r) for r in claims)
                if holds and s.number not in valid and all(known.imply(*r) for r in nonzero):
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
                is_same = by_domain or (place is not None and self.claimed[place].sides == (old, new))
                need(is_same, place, f"result {k} changes without a step")
