"""Certificates of simplification: each step is checked by something that isn't the simplifier, and wrong ones are refused."""

from __future__ import annotations

import json
import random
from contextlib import nullcontext, suppress
from dataclasses import replace
from pathlib import Path

import pytest

import indexing as ix
from exact_maps import Style, random_map
from indexing.certificates import Certificate
from indexing.certificates.checker import UNDECIDED
from indexing.certificates.entailment import Known, Range
from indexing.certificates.forms import Form, Forms
from indexing.certificates.reader import Expr
from indexing.certificates.rows import ROWS
from indexing.errors import ParseError, Refuted
from rule_examples import RULES

SPLIT = "(d0, d1) -> ((d0 * 8 + d1) floordiv 8, (d0 * 8 + d1) mod 8), domain: d0 in [0, 63], d1 in [0, 7]"
EMPTY = "(d0) -> (d0), domain: d0 in [0, 9], d0 * 2 + d0 mod 2 in [40, 50]"
BOUNDED = "(d0, d1) -> (d0), domain: d0 in [0, 63], d1 in [0, 3], d0 * 4 + d1 in [3, 50]"
DIVIDED = "(d0){rt0} -> (d0 mod rt0), domain: d0 in [0, 63], rt0 in [-3, 100]"


def certificate(text: str) -> Certificate:
    return ix.IndexingMap.parse(text).simplify(certificate=True)[1]


@pytest.mark.parametrize("text", [SPLIT, EMPTY, BOUNDED, DIVIDED, "KNOWN EMPTY", "() -> (3)"])
def test_certificates_hold_and_read_back(text: str) -> None:
    simple, made = ix.IndexingMap.parse(text).simplify(certificate=True)
    assert simple == ix.IndexingMap.parse(text).simplify()
    assert str(simple) == made.after
    made.check()
    again = Certificate.from_json(made.to_json())
    assert again == made == certificate(text)
    again.check()


def test_an_empty_domain_ends_in_a_contradiction() -> None:
    last = certificate(EMPTY).steps[-1]
    assert (last.claim, last.law) == ("never", "constraint-impossible") and last.reasons


def test_the_rows_are_those_of_the_core() -> None:
    assert {row.name: (row.law, row.precondition) for row in ix._core.rules()} == ROWS


@pytest.mark.parametrize("name", sorted(RULES))
def test_examples_of_rules_have_certificates(name: str) -> None:
    for text in RULES[name].applies:
        with nullcontext() if name not in UNDECIDED else suppress(ix.Undecided):
            certificate(text).check()


def test_random_maps_have_certificates() -> None:
    undecided = 0
    for number in range(300):
        found = certificate(str(random_map(random.Random(f"certificates/{number}"), Style())))
        try:
            found.check()
        except ix.Undecided:
            undecided += 1
    assert undecided <= 3  # sums over all residues


def test_the_solver_proves_each_step() -> None:
    pytest.importorskip("z3")
    for text in (SPLIT, EMPTY, BOUNDED, DIVIDED):
        certificate(text).check(solver="z3")


def test_the_solver_refuses_a_wrong_step() -> None:
    pytest.importorskip("z3")
    made = certificate(SPLIT)
    steps = [replace(s, after=s.after + " + 1") if s.claim == "equal" else s for s in made.steps]
    with pytest.raises(Refuted, match="is wrong where"):
        replace(made, steps=tuple(steps)).check(solver="z3")


def test_wrong_certificates_are_refused_with_the_step() -> None:
    made = certificate(SPLIT)
    place = next(s.number for s in made.steps if s.claim == "equal")
    step = made.steps[place]

    def altered(**fields: object) -> Certificate:
        steps = list(made.steps)
        steps[place] = replace(step, **fields)  # type: ignore[arg-type]
        return replace(made, steps=tuple(steps))

    for wrong, message in [
        (altered(after="d0 + 1"), "does not follow"),
        (altered(reasons=()), "does not follow"),
        (altered(reasons=(place,)), f"there is no step {place} before it"),
        (altered(law="no-law"), "there is no law 'no-law'"),
        (altered(number=place + 1), "out of order"),
        (altered(before="d0 +"), "expected a number, a name or a bracket at character 4"),
        (altered(before="(" * 500 + "d0" + ")" * 500), "nested deeper than 100"),
        (altered(law="given"), "the map does not state this"),
    ]:
        with pytest.raises(Refuted, match=message) as refused:
            wrong.check()
        assert refused.value.step == (place + 1 if message == "out of order" else place)


def test_certificates_of_other_maps_are_refused() -> None:
    made = certificate(SPLIT)
    for wrong in (
        replace(
            made,
            after=made.after.replace("(d0, d1) ->", "(d0, d1) -> ")
            .replace("-> (d0,", "-> (d1,")
            .replace(" (d0, d1)", " (d1, d1)", 1),
        ),
        replace(made, before=made.before.replace("[0, 63]", "[0, 64]")),
        replace(made, after=made.after.replace("[0, 63]", "[0, 62]")),
        replace(made, results=(None, None)),
    ):
        with pytest.raises(Refuted):
            wrong.check()
    empty = certificate(EMPTY)
    with pytest.raises(Refuted):
        replace(empty, steps=empty.steps[:-1]).check()


def test_a_constraint_that_is_dropped_must_follow() -> None:
    made = certificate(BOUNDED)
    lost = made.after.replace(", d0 * 4 + d1 in [3, 50]", "")
    assert lost != made.after
    with pytest.raises(Refuted, match="a constraint of the map is lost"):
        replace(made, after=lost).check()


def test_malformed_certificates_are_refused_with_their_place() -> None:
    text = certificate(SPLIT).to_json()
    data = json.loads(text)
    for damaged, message in [
        ("", "not JSON"),
        (text[:-5], "not JSON"),
        ("[" * 100_000, "nested too deeply|not JSON"),
        ("[]", "expected an object"),
        (json.dumps({**data, "steps": 3}), "steps: expected a list"),
        (json.dumps({**data, "results": ["a"]}), "results: expected"),
        (json.dumps({**data, "steps": [{}]}), r"steps\[0\].step: expected the number 0"),
        (text.replace('"law": "given"', '"law": 3', 1), r"steps\[0\].law: expected a law's id"),
        (text.replace('"by": []', '"by": [true]', 1), r"steps\[0\].by: expected a list of numbers"),
        (text.replace('"by": []', '"by": [], "more": 1', 1), r"steps\[0\].more: expected no further field"),
    ]:
        with pytest.raises(ParseError, match=message) as error:
            Certificate.from_json(damaged)
        assert error.value.line >= 1 and error.value.column >= 1


# ------------------------------------------------------------------ the checker's own arithmetic


def value_of(e: Expr, at: dict[str, int]) -> int:
    if isinstance(e, int):
        return e
    if isinstance(e, str):
        return at[e]
    a, b = value_of(e[1], at), value_of(e[2], at)
    match e[0]:
        case "+":
            return a + b
        case "*":
            return a * b
        case "/":
            return a // b
        case "%":
            return a % abs(b)
    return min(a, b) if e[0] == "min" else max(a, b)


def value_of_form(forms: Forms, form: Form, at: dict[str, int]) -> int:
    total = 0
    for atoms, coefficient in form:
        for a in atoms:
            coefficient *= value_of_atom(forms, a, at)
        total += coefficient
    return total


def value_of_atom(forms: Forms, atom: int, at: dict[str, int]) -> int:
    parts = [value_of_form(forms, f, at) for f in forms.parts(atom)]
    match forms.atoms[atom]:
        case ("variable", str(name)):
            return at[name]
        case ("/", _, int(m)):
            return parts[0] // m
        case ("min", _):
            return min(parts)
        case ("quotient", *_):
            return parts[0] // parts[1]
    return parts[0] % abs(parts[1])


def random_expr(chosen: random.Random, depth: int) -> Expr:
    if depth == 0 or chosen.random() < 0.2:
        return chosen.choice(["x", "y", "z", chosen.randint(-9, 9)])
    name = chosen.choice(["+", "*", "/", "%", "min", "max", "/", "%"])
    left = random_expr(chosen, depth - 1)
    divisors = [-7, -3, -2, 2, 3, 4, 6, 8, 12]
    right = chosen.choice(divisors) if name in "/%" or chosen.random() < 0.3 else random_expr(chosen, depth - 1)
    return (name, left, right)


def test_forms_have_the_values_of_expressions() -> None:
    chosen = random.Random(1)
    for _ in range(3000):
        e = random_expr(chosen, chosen.randint(1, 5))
        forms = Forms()
        form = forms.of(e)
        at = {name: chosen.randint(-40, 40) for name in "xyz"}
        assert value_of_form(forms, form, at) == value_of(e, at), e


def test_what_follows_holds_at_every_point() -> None:
    chosen = random.Random(2)
    box = [(x, y) for x in range(-4, 5) for y in range(-4, 5)]
    for _ in range(400):
        e = random_expr(chosen, chosen.randint(1, 4))
        forms = Forms()
        bounds = {name: tuple(sorted((chosen.randint(-4, 4), chosen.randint(-4, 4)))) for name in "xy"}
        ranges = [Range(forms.of(name), *ends) for name, ends in bounds.items()]
        known = Known(forms, [*ranges, Range(forms.of("z"), 0, 0)])
        inside = [p for p in box if all(low <= v <= high for v, (low, high) in zip(p, bounds.values(), strict=True))]
        values = [value_of(e, {"x": x, "y": y, "z": 0}) for x, y in inside]
        form = forms.of(e)
        for bound in {min(values) - 1, max(values) - 1, max(values), 0}:
            if known.is_at_most(form, bound):
                assert max(values) <= bound, (e, bounds, bound)
        for m in (2, 3, 4):
            if known.has_residue(form, m, 1):
                assert all(v % m == 1 for v in values), (e, bounds)
        low, high = known.of_expr(e)
        assert (low is None or low <= min(values)) and (high is None or max(values) <= high), (e, bounds)


# ------------------------------------------------------------------ wrong changes that other tests would not find


def test_a_remainder_inside_a_quotient_is_expanded_only_if_its_multiples_move_out() -> None:
    text = "(d0, d1) -> ((d1 + (d0 mod 4) * 3) floordiv 8 + d0 floordiv 4), domain: d0 in [0, 31], d1 in [0, 31]"
    simple, made = ix.IndexingMap.parse(text).simplify(certificate=True)
    made.check()
    for x in range(32):
        for y in range(32):
            assert simple.evaluate((x, y)) == ((y + x % 4 * 3) // 8 + x // 4,)


def test_a_congruence_keeps_its_modulus_if_a_remainder_has_a_smaller_one() -> None:
    text = "(d0) -> (d0), domain: d0 in [0, 31], ((d0 mod 4) * 3 + 1) mod 8 in [7, 7]"
    simple, made = ix.IndexingMap.parse(text).simplify(certificate=True)
    made.check()
    assert [p[0][0] for p in simple.points()] == [x for x in range(32) if (x % 4 * 3 + 1) % 8 == 7]


def test_the_checker_uses_nothing_of_the_core() -> None:
    folder = Path(ix.__file__).parent / "certificates"
    for file in folder.glob("*.py"):
        assert "_core" not in file.read_text(encoding="utf-8"), file
