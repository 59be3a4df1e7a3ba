"""The check of a certificate: each step from those that it names, then the two maps against the steps."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

from indexing.certificates.checker.facts import Facts
from indexing.certificates.checker.forms import Form, Forms, add, apart, constant, scale, value
from indexing.certificates.checker.laws import check_law
from indexing.certificates.checker.reader import UNBOUNDED, Expr, MapText, TextError, read_expr
from indexing.certificates.step import Refused, Step

__all__ = ["check_steps"]

#: A form, its bounds (None where there is none), its modulus and its residue.
Range: TypeAlias = "tuple[Form, int | None, int | None, int, int]"


def check_steps(
    before: MapText,
    after: MapText,
    steps: tuple[Step, ...] = (),
    results: tuple[int | None, ...] | None = None,
    by_reasons: bool = True,
) -> None:
    """Check that the steps prove two maps to be equal; without `by_reasons` all but that each follows from its reasons.

    Raises Refused with the number of the step (None: the whole) and what is wrong.
    """
    if "UNDEFINED" in (before.kind, after.kind) or before.kind != "defined":
        if before != after:
            raise Refused(None, "a map without domain stays as it is")
        return
    if after.kind == "defined" and before.names != after.names:
        raise Refused(None, "the maps have different variables")
    try:
        checker = Checker(before, after, steps)
    except ZeroDivisionError:
        if after.kind == "defined":
            raise Refused(None, "a divisor is 0 at all points") from None
        return
    checker.check(results, by_reasons)


class Checker:
    """Two maps, steps, and the forms of their expressions."""

    def __init__(self, before: MapText, after: MapText, steps: tuple[Step, ...]) -> None:
        self.before, self.after, self.steps = before, after, steps
        self.forms = Forms()
        self.texts: dict[str, Expr] = {}
        self.nonzero = self.forms.nonzero
        self.nonzero |= self.divisors(before.expressions())
        self.forms.memo.clear()
        self.stated = self.domain(before)

    def check(self, results: tuple[int | None, ...] | None, by_reasons: bool) -> None:
        for place, step in enumerate(self.steps):
            self.check_references(place, step)
            try:
                self.check_step(step, by_reasons)
            except TextError as error:
                raise Refused(step.number, str(error)) from None
            except (ZeroDivisionError, RecursionError, ValueError) as error:
                raise Refused(step.number, f"an expression that has no value: {error}") from None
        if self.after.kind == "defined":
            self.check_domain()
            self.check_results((None,) * len(self.after.results) if results is None else results)
        elif not (self.steps and self.steps[-1].claim == "never") and not self.facts(self.stated).is_impossible():
            raise Refused(None, "an empty map needs a last step that claims a contradiction")

    # ------------------------------------------------------------------ steps

    def check_references(self, place: int, step: Step) -> None:
        if step.number != place:
            raise Refused(step.number, f"out of order: this is step {place}")
        wrong = next((r for r in step.reasons if not 0 <= r < place), None)
        if wrong is not None:
            raise Refused(step.number, f"there is no step {wrong} before it")

    def check_step(self, step: Step, by_reasons: bool) -> None:
        if step.law == "given":
            if step.claim != "within" or not self.follows(self.range_of(step), self.stated):
                raise Refused(step.number, "the map does not state this")
        elif step.law == "constraint-divisor":
            if step.claim != "within" or not self.is_condition(self.range_of(step), step.reasons):
                raise Refused(step.number, "no divisor of the map gives this condition")
        else:
            check_law(step, self.forms)
            if by_reasons and not self.is_proved(step):
                raise Refused(step.number, f"{step.text} does not follow by {step.law}")
        if step.claim == "within" and ((step.lower or 0) > 0 or (step.upper or 0) < 0):
            self.nonzero.add(self.form(step.before))

    def read(self, text: str) -> Expr:
        if text not in self.texts:
            self.texts[text] = read_expr(text)
        return self.texts[text]

    def form(self, text: str, equal: dict[Form, Form] | None = None) -> Form:
        return self.forms.of(self.read(text), equal, {} if equal else None)

    def range_of(self, step: Step) -> Range:
        return self.form(step.before), step.lower, step.upper, step.modulus, step.residue

    def facts(self, ranges: Iterable[Range], zeros: Iterable[Form] = ()) -> Facts:
        facts = Facts(self.forms, list(zeros), nonzero=frozenset(self.nonzero))
        for r in ranges:
            facts.claim(*r)
        return facts

    def reasons(self, step: Step, equal: dict[Form, Form] | None = None) -> Facts:
        """The claims of the reasons of a step, with forms replaced by equal ones."""
        named = [self.steps[k] for k in step.reasons]
        zeros = [add(self.form(r.before), self.form(r.after), -1) for r in named if r.claim == "equal"]
        ranges = [(self.form(r.before, equal), *self.range_of(r)[1:]) for r in named if r.claim == "within"]
        return self.facts(ranges, zeros)

    def rewriting(self, step: Step) -> dict[Form, Form]:
        """The forms that the reasons replace: those of equalities, and variables by what they are equal to."""
        equal: dict[Form, Form] = {}
        for r in (self.steps[k] for k in step.reasons):
            if r.claim == "equal":
                rest, shift = apart(self.form(r.before))
                equal[rest] = add(self.form(r.after), constant(-shift))
            elif r.claim == "within" and r.lower is not None and r.lower == r.upper:
                equal |= self.solved(add(self.form(r.before), constant(-r.lower)))
        return {k: equal.get(f, f) for k, f in equal.items()}

    def solved(self, zero: Form) -> dict[Form, Form]:
        """The last variable of coefficient 1 or -1 in a form that is 0, with what it equals."""
        for k, c in reversed(zero):
            if len(k) == 1 and c in (1, -1) and self.forms.atoms[k[0]][0] == "variable":
                return {((k, 1),): scale(add(zero, ((k, c),), -1), -c)}
        return {}

    def is_proved(self, step: Step) -> bool:
        """Whether the claim of a step follows from its reasons."""
        facts = self.reasons(step)
        if step.claim == "never":
            return facts.is_impossible()
        if step.claim == "within":
            own, equal = self.range_of(step), self.rewriting(step)
            new = (self.form(step.before, equal), *own[1:])
            return facts.is_within(*own) or facts.is_within(*new) or self.reasons(step, equal).is_within(*new)
        plain = add(self.form(step.before), self.form(step.after), -1)
        if not plain:
            return True
        before, after = (self.form(text, self.rewriting(step)) for text in (step.before, step.after))
        both = [add(before, after, -1), add(before, self.form(step.after), -1)]
        return () in both or any(facts.is_zero(d) for d in dict.fromkeys([plain, *both]))

    def is_condition(self, own: Range, reasons: Iterable[int]) -> bool:
        """Whether a range says that a divisor of the map is not 0: it does where that is less, and greater, than 0."""
        known = [self.range_of(self.steps[k]) for k in reasons if self.steps[k].claim == "within"]
        return any(
            self.facts([*known, (d, None, -1, 1, 0)]).is_within(*own)
            and self.facts([*known, (d, 1, None, 1, 0)]).is_within(*own)
            for d in self.nonzero
        )

    # ------------------------------------------------------------------ maps

    def domain(self, of: MapText) -> list[Range]:
        """The bounds and constraints of a map."""
        ranges: list[Range] = []
        for e, a, b in of.domain:
            is_bounded = isinstance(e, str) or a == b
            ends = (a if is_bounded or a >= -UNBOUNDED else None, b if is_bounded or b < UNBOUNDED else None)
            ranges.append((self.forms.of(e), *ends, 1, 0))
        return ranges

    def divisors(self, todo: list[Expr]) -> set[Form]:
        """The divisors in expressions that are no numbers."""
        terms: set[Form] = set()
        while todo:
            e = todo.pop()
            if isinstance(e, tuple):
                todo += e[1]
                terms |= {self.forms.of(e[1][1])} if e[0] in "/%" else set()
        return {f for f in terms if value(f) is None}

    def follows(self, own: Range, ranges: Iterable[Range]) -> bool:
        """Whether a range follows from those of the same form."""
        form, lower, upper, modulus, residue = own
        number = value(form)
        same = [r for r in ranges if r[0] == form]
        same += [] if number is None else [(form, number, number, 0, number)]
        below = lower is None or any(r[1] is not None and r[1] >= lower for r in same)
        above = upper is None or any(r[2] is not None and r[2] <= upper for r in same)
        fits = modulus == 1 or any(r[3] % modulus == 0 and (r[4] - residue) % modulus == 0 for r in same)
        return below and above and fits

    def check_domain(self) -> None:
        """Both domains have the same points: each constraint of one follows from those of the other."""
        ranges = {s.number: self.range_of(s) for s in self.steps if s.claim == "within"}
        final = self.domain(self.after)
        everything = [*self.stated, *ranges.values()]
        for k, r in enumerate(final):
            if (
                not self.follows(r, everything)
                and not self.facts(everything).is_within(*r)
                and not self.is_condition(r, ranges)
            ):
                raise Refused(None, f"no step claims constraint {k} of the result")
        back = [*final, *(ranges[k] for k in self.valid(ranges, final) & ranges.keys())]
        for k, r in enumerate(self.stated):
            if not self.follows(r, back) and not self.facts(back).is_within(*r):
                raise Refused(None, f"a constraint of the map is lost: constraint {k}")
        kept = self.divisors(self.after.expressions())
        used = self.nonzero & self.divisors([*self.texts.values(), *self.before.expressions()])
        plain = [*final, *(ranges[k] for k in self.valid(ranges, final, False) & ranges.keys())]
        for d, known in [*((d, everything) for d in kept - self.nonzero), *((d, plain) for d in used - kept)]:
            if not self.facts(known, [d]).is_impossible():
                raise Refused(None, "a divisor may be 0 in one of the maps only")

    def valid(self, ranges: dict[int, Range], final: list[Range], divides: bool = True) -> set[int]:
        """The steps that hold on the domain of the result, by its constraints alone; of those that divide by no expression
        without `divides`."""
        valid: set[int] = set()
        known = list(final)
        grows = True
        while grows:
            grows = False
            for s in self.steps:
                own = ranges.get(s.number)
                derived = s.law not in ("given", "constraint-divisor") and valid.issuperset(s.reasons)
                derived = derived and (divides or not self.divisors([self.read(t) for t in (s.before, s.after) if t]))
                if s.number not in valid and (derived or (own and self.follows(own, known))):
                    valid.add(s.number)
                    known += [own] if own else []
                    grows = True
        return valid

    def check_results(self, places: tuple[int | None, ...]) -> None:
        """Each result of the map equals that of the other, by a step or as they stand."""
        if not len(places) == len(self.after.results) == len(self.before.results):
            raise Refused(None, "the maps have different numbers of results")
        for k, (e, new, place) in enumerate(zip(self.before.results, self.after.results, places, strict=True)):
            before, after = self.forms.of(e), self.forms.of(new)
            if place is None and not self.facts(self.stated).is_zero(add(before, after, -1)):
                raise Refused(None, f"result {k} changes without a step")
            if place is not None:
                if not 0 <= place < len(self.steps) or self.steps[place].claim != "equal":
                    raise Refused(None, f"result {k}: there is no equality {place}")
                if (before, after) != (self.form(self.steps[place].before), self.form(self.steps[place].after)):
                    raise Refused(place, f"it is not about result {k}")
