"""The check of a certificate: each step from those before it, then the two maps against the steps."""

from __future__ import annotations

from math import gcd

from indexing.certificates.entailment import Known, Range
from indexing.certificates.enumeration import is_equal_everywhere
from indexing.certificates.forms import Form, Forms, add, apart, constant, scale, value
from indexing.certificates.laws import LAWS, instances
from indexing.certificates.reader import UNBOUNDED, MapText, TextError, read_expr, read_map
from indexing.certificates.step import Step
from indexing.errors import Refuted, Undecided

__all__ = ["UNDECIDED", "check"]

#: Laws of which some applications are beyond the checker, which then says so: sums over all residues, products of bits.
UNDECIDED = frozenset({"product-with-bit", "quotients-complete", "remainders-complete"})


def check(
    before: str, after: str, steps: tuple[Step, ...], results: tuple[int | None, ...], by_reasons: bool = True
) -> None:
    """Check that the steps prove two maps to be equal; without `by_reasons` all but that each follows from its reasons.

    Raises Refuted; Undecided for a step by a law that this arithmetic can't follow (`UNDECIDED`).
    """
    Checker(before, after, steps, results).check(by_reasons)


class Checker:
    """Two maps, steps, and the forms of their expressions."""

    def __init__(self, before: str, after: str, steps: tuple[Step, ...], results: tuple[int | None, ...]) -> None:
        self.steps = steps
        self.results = results
        self.forms = Forms()
        self.is_same = before == after
        self.before = self.read(before)
        self.after = self.read(after)

    def read(self, text: str) -> MapText:
        try:
            return read_map(text)
        except TextError as error:
            raise Refuted(None, f"{error.message} at character {error.at} of the map {text[:100]!r}") from None

    def check(self, by_reasons: bool) -> None:
        if self.before.kind != "defined":
            if not self.is_same:
                raise Refuted(None, "a map without domain stays as it is")
            return
        self.check_references()
        self.forms.nonzero = self.divisors(self.before)
        for step in self.steps:
            try:
                self.check_step(step, by_reasons)
            except TextError as error:
                raise Refuted(step.number, f"{error.message} at character {error.at}") from None
            except (ZeroDivisionError, RecursionError) as error:
                raise Refuted(step.number, f"an expression that has no value: {error}") from None
        if self.after.kind == "known empty":
            if not self.steps or self.steps[-1].claim != "never":
                raise Refuted(None, "an empty map needs a last step that claims a contradiction")
        else:
            self.check_domain()
            self.check_results()

    def check_references(self) -> None:
        for place, step in enumerate(self.steps):
            if step.number != place:
                raise Refuted(step.number, f"out of order: this is step {place}")
            wrong = next((r for r in step.reasons if not 0 <= r < place), None)
            if wrong is not None:
                raise Refuted(step.number, f"there is no step {wrong} before it")

    # ------------------------------------------------------------------ steps

    def form(self, text: str, equal: dict[Form, Form] | None = None) -> Form:
        return self.forms.of(read_expr(text), equal)

    def range_of(self, step: Step) -> Range:
        return Range(self.form(step.before), step.lower, step.upper, step.modulus, step.residue)

    def check_step(self, step: Step, by_reasons: bool) -> None:
        if step.law == "given":
            self.check_given(step)
        elif step.law == "constraint-divisor" and self.is_condition(step):
            return
        elif step.law not in LAWS:
            raise Refuted(step.number, f"there is no law {step.law!r}")
        elif by_reasons and not self.follows(step):
            if step.law in UNDECIDED:
                what = f"step {step.number} by {step.law} is beyond this checker's arithmetic: {step}"
                raise Undecided(f"{what}; use check(solver='z3')")
            raise Refuted(step.number, f"{step} does not follow")

    def check_given(self, step: Step) -> None:
        own = self.range_of(step)
        if step.claim != "within" or not any(self.covers(own, r) for r in self.domain(self.before)):
            raise Refuted(step.number, "the map does not state this")

    def domain(self, of: MapText) -> list[Range]:
        """The bounds and constraints of a map."""
        found = []
        for e, lower, upper in of.domain:
            ends = (None if lower < -UNBOUNDED else lower, None if upper >= UNBOUNDED else upper)
            found.append(Range(self.forms.of(e), *(ends if lower < upper else (lower, upper))))
        return found

    def is_condition(self, step: Step) -> bool:
        """Whether the step claims that a divisor of the map is not 0."""
        if step.claim != "within" or step.modulus != 1:
            return False
        own = self.range_of(step)
        known = self.known(step)
        for d in self.forms.nonzero:
            minus = scale(d, -1)
            if (step.lower, step.upper) == (1, None):
                if own.form == scale(self.forms.minimum([d, minus]), -1):
                    return True
                if own.form == d and known.is_at_most(minus, 0):
                    return True
            if (step.lower, step.upper) == (None, -1) and own.form == d and known.is_at_most(d, 0):
                return True
        return False

    def known(self, step: Step) -> Known:
        """The claims of the reasons of a step."""
        known = Known(self.forms)
        for r in (self.steps[k] for k in step.reasons):
            if r.claim == "equal":
                known.zeros.append(add(self.form(r.before), self.form(r.after), -1))
            elif r.claim == "within":
                known.ranges.append(self.range_of(r))
        return known

    def rewriting(self, step: Step) -> dict[Form, Form]:
        """The forms that the reasons replace: those of equalities, and variables that have another value."""
        equal: dict[Form, Form] = {}
        for r in (self.steps[k] for k in step.reasons):
            if r.claim == "equal":
                rest, shift = apart(self.form(r.before))
                equal[rest] = add(self.form(r.after), shift, -1)
            elif r.claim == "within" and r.lower is not None and r.lower == r.upper:
                equal.update(self.solved(add(self.form(r.before), constant(-r.lower))))
        return equal

    def solved(self, zero: Form) -> dict[Form, Form]:
        """The variables with coefficient 1 or -1 in a form that is 0, each with what it equals; the last one alone."""
        for k, c in reversed(zero):
            if len(k) == 1 and c in (1, -1) and self.forms.atoms[k[0]][0] == "variable":
                return {((k, 1),): scale(add(zero, ((k, c),), -1), -c)}
        return {}

    def follows(self, step: Step) -> bool:
        """Whether the claim of a step follows from its reasons and its law."""
        known = self.known(step)
        if step.bindings:
            for letters, conditions in instances(step.law, dict(step.bindings), self.forms, self.rewriting(step)):
                if not all(condition(known) for condition in conditions):
                    raise Refuted(step.number, f"the condition of {step.law} does not follow")
                known.zeros += letters
        if step.claim == "never":
            return self.is_contradiction(known)
        if step.claim == "equal":
            return self.is_equal(step, known)
        return self.is_within(step, known)

    def is_equal(self, step: Step, known: Known) -> bool:
        plain = add(self.form(step.before), self.form(step.after), -1)
        if not plain or known.is_zero(plain):
            return True
        equal = self.rewriting(step)
        before, after = (self.form(text, equal) for text in (step.before, step.after))
        both = add(before, after, -1)
        if known.is_zero(both) or known.is_zero(add(before, self.form(step.after), -1)):
            return True
        return is_equal_everywhere(read_expr(step.before), read_expr(step.after), self.stated_bounds(step))

    def stated_bounds(self, step: Step) -> dict[str, tuple[int, int]]:
        """The bounds of variables among the reasons of a step."""
        reasons = (self.steps[k] for k in step.reasons)
        named = (
            (r.before, r.lower, r.upper)
            for r in reasons
            if r.claim == "within" and isinstance(read_expr(r.before), str)
        )
        return {e: (lower, upper) for e, lower, upper in named if lower is not None and upper is not None}

    def is_within(self, step: Step, known: Known) -> bool:
        own = self.range_of(step)
        lower, upper = known.of_expr(read_expr(step.before))
        if own.modulus == 1 and self.covers(own, Range(own.form, lower, upper)):
            return True
        return self.has_range(own, known) or self.has_range(
            Range(self.form(step.before, self.rewriting(step)), own.lower, own.upper, own.modulus, own.residue),
            self.rewritten(step, known),
        )

    def rewritten(self, step: Step, known: Known) -> Known:
        """The claims of the reasons, with the equalities among them used in them."""
        equal = self.rewriting(step)
        also = Known(self.forms, list(known.ranges), list(known.zeros))
        for r in (self.steps[k] for k in step.reasons):
            if r.claim == "within":
                form = self.form(r.before, equal)
                also.ranges.append(Range(form, r.lower, r.upper, r.modulus, r.residue))
        return also

    def has_range(self, own: Range, known: Known) -> bool:
        if own.modulus > 1 and not known.has_residue(own.form, own.modulus, own.residue):
            return False
        single = own.is_point() and self.as_remainder(own.form)
        if single and own.lower is not None and self.has_remainder(own, single, known):
            return True
        above = own.upper is None or self.is_at_most(own, own.upper, 1, known)
        return above and (own.lower is None or self.is_at_most(own, -own.lower, -1, known))

    def is_at_most(self, own: Range, upper: int, sign: int, known: Known) -> bool:
        """Whether `sign * form <= upper`, of a form that may be known to have a residue."""
        for modulus in {1, own.modulus, *(r.modulus for r in known.ranges)}:
            residue = self.residue(own, modulus, known)
            if residue is not None:
                slack = (sign * residue - upper - 1) % modulus
                if known.is_at_most(scale(own.form, sign), upper + slack):
                    return True
        return False

    def residue(self, own: Range, modulus: int, known: Known) -> int | None:
        """The residue of a form, if the claims give one."""
        if modulus == 1:
            return 0
        same = [r.residue for r in known.ranges if r.form == own.form and r.modulus == modulus]
        if same:
            return same[0]
        return own.residue if own.modulus == modulus else None

    def as_remainder(self, form: Form) -> tuple[Form, int] | None:
        """`(x, m)` of `x - m * (x / m)`, up to what cancels."""
        for k, c in form:
            if len(k) == 1 and c < -1:
                match self.forms.atoms[k[0]]:
                    case ("/", tuple(), int(m)) if -c % m == 0:
                        return add(form, ((k, c),), -1), -c
        return None

    def has_remainder(self, own: Range, parts: tuple[Form, int], known: Known) -> bool:
        """Whether `x mod m = r`, for r in [0, m): x has this residue."""
        x, m = parts
        lower = own.lower or 0
        inside = 0 <= lower < m and not add(own.form, self.forms.remainder(x, constant(m)), -1)
        return inside and known.has_residue(x, m, lower)

    def is_contradiction(self, known: Known) -> bool:
        if known.is_impossible([]):
            return True
        for r in known.ranges:
            for o in known.ranges:
                if r.modulus > 1 and o.is_point() and o.form == r.form and ((o.lower or 0) - r.residue) % r.modulus:
                    return True
        return contradictory_residues(self, known)

    # ------------------------------------------------------------------ maps

    def covers(self, wide: Range, narrow: Range) -> bool:
        """Whether a range of a form implies another one of it."""
        if wide.form != narrow.form:
            return False
        above = wide.upper is None or (narrow.upper is not None and narrow.upper <= wide.upper)
        below = wide.lower is None or (narrow.lower is not None and narrow.lower >= wide.lower)
        residue = (narrow.residue - wide.residue) % wide.modulus == 0 and narrow.modulus % wide.modulus == 0
        point = narrow.is_point() and ((narrow.lower or 0) - wide.residue) % wide.modulus == 0
        return above and below and (wide.modulus == 1 or residue or point)

    def check_domain(self) -> None:
        """Both domains have the same points: each constraint of one follows from those of the other."""
        ranges = {s.number: self.range_of(s) for s in self.steps if s.claim == "within"}
        final = self.domain(self.after)
        for r, (_, lower, upper) in zip(final, self.after.domain, strict=True):
            proved = any(self.covers(r, own) for own in ranges.values())
            if not proved and not self.is_stated(r):
                raise Refuted(None, f"no step claims that the bounds [{lower}, {upper}] of the result hold")
        valid = self.valid(ranges, final)
        for r in self.domain(self.before):
            if not any(self.covers(r, ranges[k]) for k in valid & ranges.keys()) and not self.is_in(r, final):
                raise Refuted(None, f"a constraint of the map is lost: {self.named(r)}")
        kept = self.divisors(self.after)
        for d in self.divisors(self.before) - kept:
            if not any(self.excludes_zero(ranges[k], d) for k in valid & ranges.keys()):
                raise Refuted(None, "it is lost that a divisor of the map is not 0")
        for d in kept - self.divisors(self.before):
            if not any(self.excludes_zero(r, d) for r in ranges.values()):
                raise Refuted(None, "the result divides by what may be 0")

    def is_stated(self, r: Range) -> bool:
        return self.is_in(r, self.domain(self.before))

    def is_in(self, r: Range, ranges: list[Range]) -> bool:
        number = value(r.form)
        trivial = number is not None and (r.lower or number) <= number <= (r.upper or number)
        return trivial or (r.lower is None and r.upper is None) or any(self.covers(r, own) for own in ranges)

    def named(self, r: Range) -> str:
        place = self.domain(self.before).index(r)
        return f"constraint {place}"

    def valid(self, ranges: dict[int, Range], final: list[Range]) -> set[int]:
        """The steps that hold on the domain of the result, by its constraints alone."""
        valid: set[int] = set()
        by_form: dict[Form, list[Range]] = {}
        for r in final:
            by_form.setdefault(r.form, []).append(r)
        grows = True
        while grows:
            grows = False
            for s in self.steps:
                if s.number in valid:
                    continue
                own = ranges.get(s.number)
                derived = s.law not in ("given", "constraint-divisor") and all(k in valid for k in s.reasons)
                if derived or (own and any(self.covers(own, r) for r in by_form.get(own.form, []))):
                    valid.add(s.number)
                    grows = True
                    if own:
                        by_form.setdefault(own.form, []).append(own)
        return valid

    def divisors(self, of: MapText) -> set[Form]:
        """The divisors of a map that are no numbers."""
        found: set[Form] = set()
        todo = [*of.results, *(e for e, _, _ in of.domain)]
        while todo:
            e = todo.pop()
            if isinstance(e, tuple):
                todo += e[1:]
                if e[0] in "/%":
                    found.add(self.forms.of(e[2]))
        return {f for f in found if value(f) is None}

    def excludes_zero(self, r: Range, d: Form) -> bool:
        """Whether a range implies that `d` is not 0."""
        outside = (r.lower or 0) > 0 or (r.upper or 0) < 0 or r.residue % r.modulus != 0
        least = self.forms.minimum([d, scale(d, -1)])
        size = (r.form == scale(least, -1) and (r.lower or 0) > 0) or (r.form == least and (r.upper or 0) < 0)
        return size or (outside and r.form in (d, scale(d, -1)))

    def check_results(self) -> None:
        """Each result of the map equals that of the other, by a step or as they stand."""
        found, results = self.results, self.after.results
        if len(found) != len(results) or len(results) != len(self.before.results):
            raise Refuted(None, "the maps have different numbers of results")
        for k, (e, new, place) in enumerate(zip(self.before.results, results, found, strict=True)):
            before, after = self.forms.of(e), self.forms.of(new)
            if place is not None:
                if not 0 <= place < len(self.steps) or self.steps[place].claim != "equal":
                    raise Refuted(None, f"result {k}: there is no equality {place}")
                step = self.steps[place]
                before = add(before, self.form(step.before), -1)
                after = add(after, self.form(step.after), -1)
                if before or after:
                    raise Refuted(place, f"it is not about result {k}")
            elif before != after:
                raise Refuted(None, f"result {k} changes without a step")


def contradictory_residues(checker: Checker, known: Known) -> bool:
    """Whether two congruences of one expression contradict each other."""
    residues = [p for r in known.ranges if r.is_point() and (p := checker.as_remainder(r.form))]
    values = [r.lower or 0 for r in known.ranges if r.is_point() and checker.as_remainder(r.form)]
    for (x, m), r in zip(residues, values, strict=True):
        for (y, n), q in zip(residues, values, strict=True):
            apart = add(x, y, -1)
            if value(apart) is not None and (r - q - (value(apart) or 0)) % gcd(m, n):
                return True
    return False
