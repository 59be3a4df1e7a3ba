"""The check of a proof: each step from those that it names, then the two maps against the steps."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache
from importlib.resources import files
from itertools import chain

from indexing.certificates.checker.facts import MAX_VALUES, Facts, Range
from indexing.certificates.checker.forms import Forms
from indexing.certificates.checker.integers import Form, constant
from indexing.certificates.checker.reader import Expr, MapText, parts, read_expr, replaced
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
#: That 1 is 0, where there is no point.
NEVER = (constant(1), 0, 0)


@cache
def rows() -> dict[str, tuple[str, str, str]]:
    """The group, the law and the condition of each law, by id; a test compares them with those of the core."""
    lines = files(__package__).joinpath("laws.txt").read_text(encoding="utf-8").splitlines()
    return {name: (group, law, condition) for group, name, law, condition in (line.split(" | ") for line in lines)}


def need(ok: bool, step: int | None, reason: str) -> None:
    """Raises Refused unless ok."""
    if not ok:
        raise Refused(step, reason)


def check_steps(
    before: MapText,
    after: MapText,
    steps: Sequence[Step] = (),
    results: tuple[int | None, ...] | None = None,
    by_reasons: bool = True,
) -> None:
    """Check that the steps prove two maps to be equal; without `by_reasons` all but that each follows from its reasons.

    Raises Refused with the number of the step (None: the whole) and what is wrong.
    """
    if before.kind != "defined" or after.kind == "UNDEFINED":
        need(before == after, None, "a map without domain stays as it is")
        return
    need(after.kind != "defined" or before.names == after.names, None, "the maps have different variables")
    try:
        proof = Proof(before, after, steps)
    except ZeroDivisionError:
        need(after.kind != "defined", None, "a divisor is 0 at all points")
        return
    for place, step in enumerate(steps):
        try:
            proof.check_step(place, step, by_reasons)
        except (ArithmeticError, RecursionError, ValueError) as error:
            raise Refused(step.number, f"an expression that has no value: {error}") from None
    if after.kind == "defined":
        proof.check_domain()
        proof.check_results((None,) * len(after.results) if results is None else results)
    else:
        last = Facts(proof.forms, [*proof.stated, *chain(*proof.ranges[-1:])])
        need(last.exclude(), None, "an empty map needs a last step that claims a contradiction")


class Proof:
    """Two maps, steps, and the forms of their expressions."""

    def __init__(self, before: MapText, after: MapText, steps: Sequence[Step]) -> None:
        self.before, self.after, self.steps = before, after, steps
        self.forms = Forms()
        self.texts: dict[str, Expr] = {}
        #: Claims of the steps so far.
        self.ranges: list[list[Range]] = []
        self.own = self.divisors(before.expressions())
        self.nonzero = {*self.own}
        self.stated = self.domain(before)
        self.results = [self.forms.of(e) for e in before.results]

    def check_step(self, place: int, step: Step, by_reasons: bool) -> None:
        need(step.number == place, step.number, f"out of order: this is step {place}")
        wrong = next((r for r in step.reasons if not 0 <= r < place), None)
        need(wrong is None, place, f"there is no step {wrong} before it")
        self.check_law(step)
        self.ranges.append(self.claims(step))
        known = self.stated if step.law == "given" else [r for k in step.reasons for r in self.ranges[k]]
        if step.law == "constraint-divisor":
            need(self.is_condition(step, known), place, "no divisor of the map gives this condition")
        elif by_reasons or step.law == "given":
            need(self.is_proved(step, known), place, f"{step.text} does not follow by {step.law}")
        if step.claim == "within" and ((step.lower or 0) > 0 or (step.upper or 0) < 0):
            self.nonzero.add(self.form(step.before))

    def check_law(self, step: Step) -> None:
        """Check that the law of a step makes claims like its, and with the law's letters is about its left side."""
        need(step.law in rows() or step.law in CLAIMS, step.number, f"there is no law {step.law!r}")
        group, law, _ = rows().get(step.law, (step.law, "", ""))
        need(step.claim in CLAIMS[group], step.number, f'{step.law} is no law of claims that are "{step.claim}"')
        letters = {letter: self.read(text) for letter, text in step.bindings}
        sides = [side for part in re.split(r", (?![^()]*\))", law) for side in part.split(" = ")] if letters else []
        apart = [self.forms.of(replaced(read_expr(side), letters)) - self.form(step.before) for side in sides]
        is_side = not letters or Form() in apart or any(Facts(self.forms).imply(d, 0, 0) for d in apart)
        need(is_side, step.number, f"{step.before} is no side of {law} for these letters")

    def is_proved(self, step: Step, known: list[Range]) -> bool:
        """Whether the claim of a step follows from its reasons: with equal forms for parts of expressions, as they stand, or at
        each value of a variable."""
        equal, reasons = dict[Expr, Form](), [self.steps[k] for k in step.reasons]
        for s in reasons:
            if s.claim == "equal":
                equal[self.read(s.before)] = self.form(s.after)
            elif s.lower is not None and s.lower == s.upper:
                equal |= self.forms.solved(self.form(s.before) - s.lower)
        ways = [*([equal] if equal else []), {}]
        values = filter(None, map(self.values, reasons))
        return any(self.is_proved_at(step, known, at) for at in ways) or any(
            all(self.is_proved_at(step, known, at) for at in cases) for cases in values
        )

    def values(self, step: Step) -> list[dict[Expr, Form]]:
        """The values of a variable of which a step claims that they are few."""
        if not step.before.isidentifier() or step.lower is None or step.upper is None:
            return []
        values = range(step.lower, min(step.upper, step.lower + MAX_VALUES) + 1)
        return [{step.before: constant(v)} for v in values] if step.upper in values else []

    def is_proved_at(self, step: Step, known: list[Range], at: dict[Expr, Form]) -> bool:
        """Whether the claim of a step follows from its reasons, where expressions have these forms."""
        alike = [r for k in step.reasons for r in self.claims(self.steps[k], at)] if at else []
        facts = Facts(self.forms, [*known, *(r for r in alike if r not in known)], self.nonzero)
        return all(facts.imply(*r) for r in self.claims(step, at))

    def is_condition(self, step: Step, known: list[Range]) -> bool:
        """Whether a step says that a divisor of the map is not 0: it does where that is less, and greater, than 0."""
        sides = [[Facts(self.forms, [*known, r]) for r in ((d, None, -1), (d, 1, None))] for d in self.nonzero]
        return any(all(facts.imply(*r) for facts in both for r in self.ranges[step.number]) for both in sides)

    def claims(self, step: Step, equal: dict[Expr, Form] | None = None) -> list[Range]:
        """The claims of a step, as ranges of forms; parts of its expressions have the form that `equal` says."""
        if step.claim == "never":
            return [NEVER]
        memo = {**equal} if equal else None
        form = self.forms.of(self.read(step.before), memo)
        if step.claim == "equal":
            return [(form - self.forms.of(self.read(step.after), memo), 0, 0)]
        claimed: list[Range] = [(form, step.lower, step.upper)]
        if step.modulus > 1:
            claimed.append((self.forms.remainder(form - step.residue, constant(step.modulus)), 0, 0))
        return claimed

    def read(self, text: str) -> Expr:
        if text not in self.texts:
            self.texts[text] = read_expr(text)
        return self.texts[text]

    def form(self, text: str) -> Form:
        return self.forms.of(self.read(text))

    def domain(self, of: MapText) -> list[Range]:
        return [(self.forms.of(e), lower, upper) for e, lower, upper in of.domain]

    def divisors(self, of: Iterable[Expr]) -> set[Form]:
        """The divisors in expressions that are no numbers."""
        terms = {self.forms.of(e[1][1]) for e in parts([*of]) if isinstance(e, tuple) and e[0] in "/%"}
        return {f for f in terms if f.number is None}

    def check_domain(self) -> None:
        """Both domains have the same points: each constraint of one, and that no divisor is 0, follows from the other."""
        final, safe = self.domain(self.after), self.divisors(self.after.expressions())
        facts = Facts(self.forms, [*self.stated, *chain(*self.ranges)])
        for k, r in enumerate(final):
            need(facts.imply(*r), None, f"no step claims constraint {k} of the result")
        back = self.kept(final, safe)
        unsafe = [*((facts, d) for d in safe - self.own), *((back, d) for d in self.own - safe)]
        need(all(f.exclude((d, 0, 0)) for f, d in unsafe), None, "a divisor may be 0 in one of the maps only")
        for k, r in enumerate(self.stated):
            need(back.imply(*r), None, f"a constraint of the map is lost: constraint {k}")

    def kept(self, final: list[Range], safe: set[Form]) -> Facts:
        """The facts on the domain of the result by its constraints alone: of steps whose divisors are not 0 there."""
        known, valid, size = Facts(self.forms, final), set[int](), -1
        while size < len(valid):
            size = len(valid)
            for s in self.steps:
                follows = s.law not in PREMISES and valid.issuperset(s.reasons)
                if s.number in valid or not (follows or all(known.state(*r) for r in self.ranges[s.number])):
                    continue
                if all(known.exclude((d, 0, 0)) for d in self.divisors(map(self.read, s.texts)) - safe):
                    valid.add(s.number)
                    known.ranges += self.ranges[s.number]
        return known

    def check_results(self, places: tuple[int | None, ...]) -> None:
        """Each result of the map equals that of the other, by a step or as they stand."""
        are_as_many = len(places) == len(self.after.results) == len(self.results)
        need(are_as_many, None, "the maps have different numbers of results")
        for k, (form, new, place) in enumerate(zip(self.results, self.after.results, places, strict=True)):
            need(place is None or 0 <= place < len(self.steps), None, f"result {k}: there is no step {place}")
            facts = Facts(self.forms, self.stated if place is None else self.ranges[place])
            need(facts.imply(form - self.forms.of(new), 0, 0), place, f"result {k} changes without a step")
