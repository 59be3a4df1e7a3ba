"""The check of a proof: each step from those that it names, then the two maps against the steps."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from itertools import chain
from math import inf

from indexing.certificates.checker.facts import Facts
from indexing.certificates.checker.forms import Range
from indexing.certificates.checker.integers import Form, constant
from indexing.certificates.checker.reader import Expr, MapText, Reader
from indexing.certificates.step import Refused, Step

__all__ = ["check_steps", "need", "rows"]

#: The claims that laws of a group make; the last are what equality itself gives, and premises, which have no row.
CLAIMS = {
    **dict.fromkeys(["rule", "constructor", "operands", "chain"], ("equal",)),
    **dict.fromkeys(["range", "substituted", "given"], ("within",)),
    "constraint": ("within", "never"),
}
#: Laws of what a map states: its constraints, and that its divisors are not 0.
PREMISES = ("given", "constraint-divisor")


@cache
def rows() -> dict[str, tuple[str, str, str]]:
    """The group, the law and the condition of each law, by id; a test compares them with those of the core."""
    lines = files(__package__).joinpath("laws.txt").read_text(encoding="utf-8").splitlines()
    return {name: (group, law, condition) for group, name, law, condition in (line.split(" | ") for line in lines)}


@cache
def sides(law: str) -> list[str]:
    """The expressions that a law equates."""
    law = rows()[law][1] if law in rows() else ""
    return [side for part in re.split(r", (?![^()]*\))", law) for side in part.split(" = ")]


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
    if Form() in before.divisors:
        return need(after.kind != "defined", None, "a divisor is 0 at all points")
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
    return need(last.exclude(), None, "an empty map needs a last step that claims a contradiction")


class Proof:
    """Two maps, steps, and the forms of their expressions."""

    def __init__(self, reader: Reader, before: MapText, after: MapText, steps: Sequence[Step]) -> None:
        self.before, self.after, self.steps = before, after, steps
        self.reader, self.forms = reader, reader.algebra
        #: Claims of the steps so far.
        self.ranges: list[list[Range]] = []
        self.own = self.divisors(before)
        self.nonzero = {*self.own}
        self.domain = self.ranges_of(before)
        self.stated = Facts(self.forms, self.domain)

    def check_step(self, place: int, step: Step, by_reasons: bool) -> None:
        if step.number != place:
            raise Refused(step.number, f"out of order: this is step {place}")
        for r in step.reasons:
            if not 0 <= r < place:
                raise Refused(place, f"there is no step {r} before it")
        self.check_law(step)
        claims = self.claims(step)
        self.ranges.append(claims)
        if step.law == "given":
            is_proved = all(self.stated.imply(*r) for r in claims)
        elif step.law == "constraint-divisor":
            is_proved = self.is_condition(step)
        else:
            reasons = chain(*(self.ranges[k] for k in step.reasons))
            is_proved = not by_reasons or Facts(self.forms, reasons, self.nonzero).prove(claims)
        if not is_proved:
            raise Refused(place, f"{step.text} does not follow by {step.law}")
        if step.claim == "within" and ((step.lower or 0) > 0 or (step.upper or 0) < 0):
            self.nonzero.add(self.form(step.before))

    def check_law(self, step: Step) -> None:
        """Check that the law of a step makes claims like its, and with the law's letters is about its left side."""
        group = rows()[step.law][0] if step.law in rows() else step.law
        if group not in CLAIMS:
            raise Refused(step.number, f"there is no law {step.law!r}")
        if step.claim not in CLAIMS[group]:
            raise Refused(step.number, f'{step.law} is no law of claims that are "{step.claim}"')
        if step.bindings:
            letters = Reader(self.forms, {letter: self.reader.expression(text) for letter, text in step.bindings})
            apart = [letters.expression(side).value - self.form(step.before) for side in sides(step.law)]
            is_side = Form() in apart or any(Facts(self.forms).imply(*self.forms.range(d, 0, 0)) for d in apart)
            need(is_side, step.number, f"{step.before} is no side of {step.law} for these letters")

    def is_condition(self, step: Step) -> bool:
        """Whether a step says that a divisor of the map is not 0: it does where that is less, and greater, than 0."""
        known = [r for k in step.reasons for r in self.ranges[k]]
        signs = [[self.forms.range(d, *r) for r in ((-inf, -1), (1, inf))] for d in self.nonzero]
        wanted = self.ranges[step.number]
        return any(all(Facts(self.forms, [*known, s]).imply(*r) for s in both for r in wanted) for both in signs)

    def claims(self, step: Step) -> list[Range]:
        """The claims of a step, as ranges of forms."""
        if step.claim == "never":
            return [self.forms.range(constant(1), 0, 0)]  # no point: 1 is 0
        form = self.form(step.before)
        if step.claim == "equal":
            other = self.form(step.after)
            return [] if form == other else [self.forms.range(form - other, 0, 0)]
        lower, upper = (-inf if step.lower is None else step.lower), (inf if step.upper is None else step.upper)
        claimed = [self.forms.range(form, lower, upper)]
        if step.modulus > 1:
            claimed.append(self.forms.range(self.forms.remainder(form - step.residue, constant(step.modulus)), 0, 0))
        return claimed

    def form(self, text: str) -> Form:
        """The form of an expression. Raises ZeroDivisionError."""
        read = self.reader.expression(text)
        if read.divisors and Form() in read.divisors:
            raise ZeroDivisionError("a divisor is 0")
        value: Form = read.value
        return value

    def ranges_of(self, of: MapText) -> list[Range]:
        return [self.forms.range(e.value, lower, upper) for e, lower, upper in of.domain]

    def divisors(self, of: MapText | Expr) -> set[Form]:
        """The divisors in expressions that are no numbers but 0."""
        return {f for f in of.divisors if not f.number}

    def check_domain(self) -> None:
        """Both domains have the same points: each constraint of one, and that no divisor is 0, follows from the other."""
        final, safe = self.ranges_of(self.after), self.divisors(self.after)
        facts, back = Facts(self.forms, chain(self.domain, *self.ranges)), Facts(self.forms, final)
        for k, r in enumerate(final):
            need(facts.imply(*r), None, f"no step claims constraint {k} of the result")
        self.keep(back, safe)
        unsafe = [*((facts, d) for d in safe - self.own), *((back, d) for d in self.own - safe)]
        need(all(f.exclude((d, 0, 0)) for f, d in unsafe), None, "a divisor may be 0 in one of the maps only")
        for k, r in enumerate(self.domain):
            need(back.imply(*r), None, f"a constraint of the map is lost: constraint {k}")

    def keep(self, known: Facts, safe: set[Form]) -> None:
        """Adds to the constraints of the result what steps claim on its domain: those whose divisors are not 0 there."""
        valid, size = set[int](), -1
        while size < len(valid) and (
            self.own - safe or not all(known.imply(*r, by_intervals=True) for r in self.domain)
        ):
            size = len(valid)
            for s, claims in zip(self.steps, self.ranges, strict=True):
                follows = s.law not in PREMISES and valid.issuperset(s.reasons)
                if s.number in valid or not (follows or all(known.imply(*r, by_intervals=True) for r in claims)):
                    continue
                divisors = set[Form]().union(*(self.divisors(self.reader.expression(text)) for text in s.texts))
                if all(known.exclude((d, 0, 0)) for d in divisors - safe):
                    valid.add(s.number)
                    known.add(claims)

    def check_results(self, places: tuple[int | None, ...]) -> None:
        """Each result of the map equals that of the other, by a step or as they stand."""
        are_as_many = len(places) == len(self.after.results) == len(self.before.results)
        need(are_as_many, None, "the maps have different numbers of results")
        for k, (old, new, place) in enumerate(zip(self.before.results, self.after.results, places, strict=True)):
            need(place is None or 0 <= place < len(self.steps), None, f"result {k}: there is no step {place}")
            facts = self.stated if place is None else Facts(self.forms, self.ranges[place])
            same = old.value == new.value or facts.imply(*self.forms.range(old.value - new.value, 0, 0))
            need(same, place, f"result {k} changes without a step")
