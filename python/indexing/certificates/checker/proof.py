"""The check of a proof: each step from those that it names, then the two maps against the steps."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from math import inf

from indexing.certificates.checker.facts import Facts
from indexing.certificates.checker.forms import Form, Range, constant
from indexing.certificates.checker.laws import compared, equations, rows
from indexing.certificates.checker.reader import MapText, Reader
from indexing.certificates.step import Refused, Step

__all__ = ["check_steps", "need"]

#: The claims that laws of a group make; the last are what equality itself gives, and premises, which have no row.
CLAIMS = {
    **dict.fromkeys(["rule", "constructor", "operands", "chain"], ("equal",)),
    **dict.fromkeys(["range", "substituted", "given"], ("within",)),
    "constraint": ("within", "never"),
}
#: Laws of what a map states: its constraints, and that its divisors are not 0.
PREMISES = ("given", "constraint-divisor")
UNSAFE = "a divisor may be 0 in one of the maps only"


def need(ok: bool, step: int | None, reason: str) -> None:
    """Raises Refused unless ok."""
    if not ok:
        raise Refused(step, reason)


def check_steps(
    reader: Reader,
    before: MapText,
    after: MapText,
    steps: Sequence[Step] = (),
    results: tuple[int | None, ...] | None = None,
    by_reasons: bool = True,
) -> None:
    """Check that the steps prove two maps to be equal; without `by_reasons` all but that each follows from its reasons.

    `reader` reads expressions as forms, with the variables of the first map. Raises Refused with the number of the step
    (None: the whole) and what is wrong.
    """
    if before.kind != "defined" or after.kind == "UNDEFINED":
        return need(before.kind == after.kind, None, "a map without domain stays as it is")
    need(after.kind != "defined" or before.names == after.names, None, "the maps have different variables")
    proof = Proof(reader, before, after, steps)
    for place, step in enumerate(steps):
        try:
            proof.check_step(place, step, by_reasons)
        except (ArithmeticError, RecursionError, ValueError) as error:
            raise Refused(step.number, f"an expression that has no value: {error}") from None
    if after.kind == "defined":
        proof.check_domain()
        return proof.check_results((None,) * len(after.results) if results is None else results)
    last = Facts(proof.forms, [*proof.domain, *chain(*proof.ranges[-1:])])
    is_empty = last.prove([proof.forms.range(constant(1), 0, 0)])
    return need(is_empty, None, "an empty map needs a last step that claims a contradiction")


class Proof:
    """Two maps, steps, and the forms of their expressions."""

    def __init__(self, reader: Reader, before: MapText, after: MapText, steps: Sequence[Step]) -> None:
        self.before, self.after, self.steps = before, after, steps
        self.reader, self.forms = reader, reader.algebra
        #: By step so far: its claims, what is 0 by an equality as it stands, and that its divisors are not 0.
        self.ranges: list[list[Range]] = []
        self.differences: list[Form | None] = []
        self.nonzero: list[list[Range]] = []
        self.domain = self.ranges_of(before)
        self.own = self.domain[len(before.domain) :]
        self.stated = Facts(self.forms, self.domain)

    def check_step(self, place: int, step: Step, by_reasons: bool) -> None:
        if step.number != place:
            raise Refused(step.number, f"out of order: this is step {place}")
        for r in step.reasons:
            if not 0 <= r < place:
                raise Refused(place, f"there is no step {r} before it")
        claims = self.by_law(step, self.claims(step))
        if step.law == "given":
            is_proved = all(self.stated.imply(*r) for r in claims)
        elif step.law == "chain":
            links = [self.differences[k] for k in step.reasons]
            is_proved = Form.sum((link, 1) for link in links if link is not None) == self.differences[place]
        else:
            is_proved = not by_reasons
        if not (is_proved or self.reasons(step).prove(claims, step.law == "operands")):
            raise Refused(place, f"{step.text} does not follow by {step.law}")

    def reasons(self, step: Step) -> Facts:
        """The facts from which a step follows: its reasons, and that divisors of the map in it and in these are not 0."""
        known = [*self.domain] if step.law in PREMISES else []
        for k in step.reasons:
            known += self.ranges[k]
        if self.own:
            known += [r for k in (*step.reasons, step.number) for r in self.nonzero[k] if r in self.own]
        return Facts(self.forms, known)

    def by_law(self, step: Step, claims: list[Range]) -> list[Range]:
        """The claims that are left to prove of a step: by a law with letters what it needs, and that its sides are those."""
        group = rows().get(step.law, (step.law,))[0]
        if group not in CLAIMS:
            raise Refused(step.number, f"there is no law {step.law!r}")
        if step.claim not in CLAIMS[group]:
            raise Refused(step.number, f'{step.law} is no law of claims that are "{step.claim}"')
        if not step.bindings:
            return claims
        for letter, _ in step.bindings:
            need(letter.isalpha(), step.number, f"{letter!r} is no letter")
        letters = Reader(self.forms, {letter: self.reader.expression(text) for letter, text in step.bindings})
        form, read = self.form(step.before), letters.expression
        for left, right, needs in equations(step.law):
            if needs is not None and read(left) == form:
                needed = [compared(self.forms, read(a), operator, read(b)) for a, operator, b in needs]
                return [*needed, self.forms.range(read(right) - self.form(step.after), 0, 0)]
        sides = ([self.forms.range(read(left) - form, 0, 0)] for left, _, _ in equations(step.law))
        is_side = any(Facts(self.forms).prove(side) for side in sides)
        need(is_side, step.number, f"{step.before} is no side of {step.law} for these letters")
        return claims

    def claims(self, step: Step) -> list[Range]:
        """The claims of a step, as ranges of forms."""
        self.nonzero.append([])
        form, difference = constant(1) if step.claim == "never" else self.form(step.before), None
        lower, upper = step.lower, step.upper
        if step.claim == "equal":
            form = difference = form - self.form(step.after)
        if step.claim != "within":
            lower = upper = 0  # of no point: 1 is 0
        ranges = [self.forms.range(form, -inf if lower is None else lower, inf if upper is None else upper)]
        if step.modulus > 1 and any(c % step.modulus for c in (form - step.residue).values()):
            rest = self.forms.remainder(form - step.residue, constant(step.modulus))
            ranges.append(self.forms.range(rest, 0, 0))
        self.ranges.append(ranges)
        self.differences.append(difference)
        return ranges

    def form(self, text: str) -> Form:
        """The form of an expression of the last step. Raises ZeroDivisionError."""
        value: Form = self.reader.expression(text)
        for divisor in self.reader.divisors.get(text, ()):
            self.nonzero[-1].append(self.forms.nonzero(divisor))
            if not divisor:
                raise ZeroDivisionError("a divisor is 0")
        return value

    def ranges_of(self, of: MapText) -> list[Range]:
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
            if apart := old - new:
                by_domain = place is None and self.stated.prove([self.forms.range(apart, 0, 0)])
                is_same = by_domain or (place is not None and apart == self.differences[place])
                need(is_same, place, f"result {k} changes without a step")
