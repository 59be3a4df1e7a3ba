"""Certificates of simplification: each step is checked by something that isn't the simplifier, and wrong ones are refused."""

from __future__ import annotations

import json
import pickle
import random
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

import indexing as ix
from certificate_texts import certificate, forged, refused, with_map, with_step
from exact_maps import Style, random_map
from indexing.certificates import Certificate, Step
from indexing.certificates.certificate import with_texts
from indexing.certificates.checker.forms import Forms
from indexing.certificates.checker.laws import rows
from indexing.certificates.checker.questions import box, outcome, read
from indexing.certificates.checker.table import MapValues, Table
from indexing.certificates.step import Refused
from indexing.certificates.text import texts
from indexing.errors import ParseError
from rule_examples import RULES

SPLIT = "(d0, d1) -> ((d0 * 8 + d1) floordiv 8, (d0 * 8 + d1) mod 8), domain: d0 in [0, 63], d1 in [0, 7]"
EMPTY = "(d0) -> (d0), domain: d0 in [0, 9], d0 * 2 + d0 mod 2 in [40, 50]"
BOUNDED = "(d0, d1) -> (d0), domain: d0 in [0, 63], d1 in [0, 3], d0 * 4 + d1 in [3, 50]"
EQUATED = "(d0)[s0] -> (s0), domain: d0 in [-4, 3], s0 in [-4, 2], min(d0 + s0, d0 ceildiv 6) * (s0 + 8) in [-2, 1], s0 - d0 in [0, 0]"
SAME = "()[s0, s1] -> ((s0 + s1) mod s1), domain: s0 in [0, 0], s1 in [11, 17]"
ZERO = "(d0){rt0} -> ((rt0 floordiv 7) floordiv rt0), domain: d0 in [0, 8], rt0 in [3, 4], rt0 - d0 in [0, 0]"
DIVIDED = "(d0){rt0} -> (d0 mod rt0), domain: d0 in [0, 63], rt0 in [-3, 100]"


def in_words(made: Certificate) -> list[Step[str]]:
    """The steps with texts."""
    written = texts(made.nodes, [name for group in made.maps[0].names for name in group])
    return [with_texts(step, written) for step in made.steps]


@pytest.mark.parametrize("text", [SPLIT, EMPTY, BOUNDED, EQUATED, DIVIDED, SAME, "KNOWN EMPTY", "() -> (3)"])
def test_certificates_hold_and_read_back(text: str) -> None:
    simple, made = ix.IndexingMap.parse(text).simplify(certificate=True)
    assert simple == ix.IndexingMap.parse(text).simplify()
    assert ix.IndexingMap.parse(made.after) == simple
    assert made.check() and str(made.check()) == "holds"
    again = Certificate.from_json(made.to_json())
    assert again == made == certificate(text) == pickle.loads(pickle.dumps(made))
    assert again.check() and hash(again) == hash(made)


def test_what_the_map_states_is_a_step_only_if_another_follows_from_it() -> None:
    for number in range(100):
        steps = certificate(str(random_map(random.Random(f"certificates/{number}"), Style()))).steps
        used = {k for step in steps for k in step.reasons}
        assert all(step.number in used for step in steps if step.law == "given"), number


def test_maps_and_steps_are_written_when_they_are_read() -> None:
    made = certificate(SPLIT)
    assert "steps" not in made.__dict__ and len(made.steps) > 1 and made.steps is made.steps
    assert made == pickle.loads(pickle.dumps(made)) and ix.IndexingMap.parse(made.before) == ix.IndexingMap.parse(SPLIT)
    with pytest.raises(AttributeError, match="'Certificate' object has no attribute 'other'"):
        _ = made.other


def test_the_rows_are_those_of_the_core() -> None:
    assert {row.name: (row.group, row.law, row.precondition) for row in ix._core.rules()} == rows(), "run: make docs"


def test_an_empty_domain_ends_in_a_contradiction() -> None:
    last = certificate(EMPTY).steps[-1]
    assert (last.claim, last.law) == ("never", "constraint-impossible") and last.reasons


@pytest.mark.parametrize("name", sorted(RULES))
def test_examples_of_rules_have_certificates(name: str) -> None:
    for text in RULES[name].applies:
        assert certificate(text).check()


def test_random_maps_have_certificates() -> None:
    for number in range(300):
        assert certificate(str(random_map(random.Random(f"certificates/{number}"), Style()))).check(), number


@pytest.mark.parametrize(
    "text",
    [
        "(d0) -> (max(d0, (d0 * 3) ceildiv 8)), domain: d0 in [{M}, {M}]",
        "(d0) -> (d0), domain: d0 in [{M}, {M}], (d0 + 8) mod 16 in [3, 7]",
        "(d0, d1) -> (d1), domain: d0 in [3, {M}], d1 in [{M}, {M}], min(d1, d0) - d0 in [{M}, {M}]",
        "(d0, d1) -> (d0), domain: d0 in [0, 9], d1 in [4, {M}], min(d1 + d0, d1) in [99, {M}]",
        "(d0) -> (min(d0 - 9, d0 mod 5) floordiv 16), domain: d0 in [3, {M}]",
    ],
)
def test_maps_at_the_end_of_int64_have_certificates(text: str) -> None:
    verdict = certificate(text.replace("{M}", str(2**63 - 1))).check()
    assert verdict, verdict


@pytest.mark.parametrize(
    "text",
    [
        "(d0){rt0} -> ((min(d0, rt0) floordiv d0) floordiv 38), domain: d0 in [4, 12], rt0 in [0, 8], (rt0 ceildiv 2) mod 6 in [3, 5], rt0 - d0 in [0, 0]",
        "(d0)[s0] -> ((s0 mod 2) mod d0), domain: d0 in [{m}, {m} + 5], s0 in [5, 11], (d0 + s0) mod 5 in [2, 4]",
        "(d0)[s0] -> (((6 - s0 - d0 mod {M}) mod 38) mod 12), domain: d0 in [0, 4], s0 in [0, 4], s0 - d0 in [0, 0]",
        "(d0){rt0} -> (d0), domain: d0 in [-3, 2], rt0 in [0, 5], ((min(d0, rt0) * 2) mod 1431655765) * 3 in [1, 31]",
        "(d0, d1) -> ((d0 + d1) * (min(d0, d1) mod 23 + min(d0, d1))), domain: d0 in [0, 1], d1 in [-1, -1]",
        "(d0) -> (d0), domain: d0 in [11, 99], d0 mod 2 in [1, 1], max(-(5 floordiv d0), d0 mod 3) in [-3, 0]",
        "(d0)[s0] -> (((d0 mod 5) mod 4) * (d0 + s0 + d0 * d0) * -7), domain: d0 in [0, 4], s0 in [0, 6], s0 + 4 in [6, 9]",
        "(d0)[s0]{rt0} -> (s0), domain: d0 in [0, 6], s0 in [0, 2], rt0 in [-11, -9], -((s0 * rt0 * max(d0, s0)) ceildiv 8) in [-6, -6]",
        "()[s0, s1] -> (s1, (min(s0, 16) mod 43) floordiv s0), domain: s0 in [5, 8], s1 in [0, 3]",
        "(d0)[s0] -> ((d0 + s0) mod 63), domain: d0 in [0, 2], s0 in [0, 0], max(s0, 5) * (d0 + s0) in [-2, -2]",
        "(d0, d1) -> (((-((d0 - d1) floordiv 8)) mod 3) * (d0 + d1)), domain: d0 in [0, 8], d1 in [1, 1]",
        "(d0)[s0] -> (d0), domain: d0 in [0, 3], s0 in [-7, -6], max(s0, s0 * (d0 floordiv 2)) in [-3, 27]",
        "(d0) -> ((((d0 + 1) floordiv 2) * 3 + 4) floordiv 7), domain: d0 in [0, 3]",
        "()[s0] -> (s0), domain: s0 in [0, 9], s0 mod 3 in [1, 1], (s0 mod 3) mod 8 in [2, 7]",
        "(d0, d1)[s0] -> (((d0 * 12 + s0) ceildiv 8) * ((d1 floordiv 2) * 56 + d0 * s0 + 4)), domain: d0 in [0, 0], d1 in [8, 8], s0 in [0, 7]",
        "(d0, d1)[s0] -> (min((55 + s0) * (d0 * d1) * 3, d1 + d1)), domain: d0 in [11, 12], d1 in [{M} - 4, {M}], s0 in [-3, 2], min(8, s0) mod 5 in [4, 4]",
        "(d0, d1)[s0] -> (min(max(min(d1 + 3, -((-32) floordiv s0)), min(d0 + d1, d0 floordiv 8)), -3)), domain: d0 in [-2, 1], d1 in [0, 8], s0 in [5, 9]",
        "(s0) -> (s0), domain: s0 in [-5, 3], s0 + (s0 mod 38) * 63 in [10, 40]",
        "()[s0, s1] -> (max(s1 ceildiv 2, 20), (s0 - min(s1, 0)) floordiv s1), domain: s0 in [0, 6], s1 in [3, 11], s1 - s0 in [0, 0]",
    ],
)
def test_maps_whose_proofs_need_each_kind_of_arithmetic_have_certificates(text: str) -> None:
    named = {"{M} - 4": str(2**63 - 5), "{m} + 5": str(5 - 2**63), "{m}": str(-(2**63)), "{M}": str(2**63 - 1)}
    for name, value in named.items():
        text = text.replace(name, value)
    verdict = certificate(text).check()
    assert verdict, verdict


def test_bounds_of_a_product_do_not_grow_with_its_degree() -> None:
    power = " * ".join(["d0"] * 60)
    given = Step(0, "within", "given", "d0", lower=-9, upper=9)
    bound = Step(1, "within", "range-of-product", power, lower=-(9**60), upper=9**60, reasons=(0,))
    text = f"(d0) -> ({power}), domain: d0 in [-9, 9]"
    assert forged(text, text, (given, bound), [None]).check()
    assert not forged(text, text, (given, bound._replace(upper=0)), [None]).check()


# ------------------------------------------------------------------ other questions


def test_compositions_have_certificates() -> None:
    first = ix.IndexingMap.parse(
        "(d0)[s0]{rt0} -> (d0 * 4 + s0, rt0), domain: d0 in [0, 7], s0 in [0, 3], rt0 in [0, 9]"
    )
    second = ix.IndexingMap.parse(
        "(d0, d1)[s0] -> (d0 floordiv 4 + s0, d1), domain: d0 in [0, 20], d1 in [1, 5], s0 in [0, 1]"
    )
    composed, made = ix.compose(first, second, certificate=True)
    assert composed == ix.compose(first, second) == first.compose(second, certificate=True)[0]
    assert made.check() and Certificate.from_json(made.to_json()) == made
    for changed in (
        replace(made, maps=(*made.maps[1::-1], made.maps[2])),
        with_map(made, 2, made.after.replace("[1, 5]", "[0, 5]")),
        with_map(made, 2, made.after.replace("[s0, s1]", "[s1, s0]")),
        with_map(made, 2, "KNOWN EMPTY"),
    ):
        assert changed != made and not changed.check()


@pytest.mark.parametrize("seed", range(60))
def test_random_compositions_have_certificates(seed: int) -> None:
    chosen = random.Random(f"compose/{seed}")
    while True:
        maps = [ix.IndexingMap.parse(str(random_map(chosen, Style()))) for _ in range(2)]
        if len(maps[0].results) == len(maps[1].dims):
            break
    composed, made = ix.compose(*maps, certificate=True)
    assert made.check(), made
    assert composed.simplify(certificate=True)[1].check()


def test_instances_have_certificates() -> None:
    stated = "(d0, T) -> (d0 floordiv T, d0 mod T), domain: d0 in [0, 63], T in [1, 64]"
    tiled = ix.IndexingMap.parse(stated).with_parameters(T=ix.Interval(1, 64))
    simple, made = tiled.instantiate(T=16, certificate=True)
    assert simple == tiled.instantiate(T=16) and dict(made.values) == {"T": 16}
    assert made.check() and Certificate.from_json(made.to_json()) == made
    refused(replace(made, values=(("T", 8),)), "result 0 changes without a step")
    with pytest.raises(ix.InvalidMap, match="give each parameter one value"):
        tiled.instantiate(T=[1, 2], certificate=True)


def test_emptiness_has_certificates() -> None:
    for text, expected in ((EMPTY, True), ("KNOWN EMPTY", True), (BOUNDED, False)):
        answer, made = ix.IndexingMap.parse(text).is_empty(certificate=True)
        assert answer is expected and made.check() and Certificate.from_json(made.to_json()) == made
    refused(replace(made, point=(99, 0)), "no point of the domain")
    refused(replace(made, answer=True, point=()), "the domain has a point")


def test_emptiness_by_a_search_is_repeated_up_to_a_limit() -> None:
    text = "(d0, d1) -> (d0), domain: d0 in [0, {0}], d1 in [0, {0}], (d0 * d0 + d1 * d1) mod 4 in [3, 3]"
    for size in (9, 99):
        answer, made = ix.IndexingMap.parse(text.replace("{0}", str(size))).is_empty(certificate=True)
        assert answer
        verdict = made.check()
        assert (verdict or verdict.is_undecided) and bool(verdict) is (size == 9 or bool(made.steps)), verdict


def test_equivalence_has_certificates() -> None:
    row = ix.IndexingMap.parse("(d0) -> (d0 floordiv 4), domain: d0 in [0, 7]")
    for other, expected in (
        ("(d0) -> ((d0 * 3) floordiv 12), domain: d0 in [0, 7], d0 * 2 in [-1, 15]", True),
        ("(d5) -> (min(d5 floordiv 4, 3)), domain: d5 in [0, 7]", True),
        ("(d0) -> (min(d0 floordiv 3, 1)), domain: d0 in [0, 7]", False),
        ("(d0) -> (d0 floordiv 4), domain: d0 in [0, 6]", False),
    ):
        answer, made = row.equivalent(ix.IndexingMap.parse(other), certificate=True)
        assert bool(answer) is expected and made.check() and Certificate.from_json(made.to_json()) == made
        assert not replace(made, answer=not expected).check()
    refused(replace(made, point=(0,)), "the maps do not differ at (0,)")


# ------------------------------------------------------------------ the solver


def test_the_solver_proves_each_step() -> None:
    pytest.importorskip("z3")
    for text in (SPLIT, EMPTY, BOUNDED, DIVIDED, ZERO):
        assert certificate(text).check(solver="z3")


def test_the_solver_refuses_a_wrong_step() -> None:
    pytest.importorskip("z3")
    made = certificate(SPLIT)
    for step in in_words(made):
        if step.claim == "equal":
            made = with_step(made, step._replace(after=f"{step.after} + 1"))
    actual = refused(replace(made, results=(None, None)), "is wrong where", "z3")
    assert actual.step is not None and made.steps[actual.step].claim == "equal" and not actual.is_undecided


# ------------------------------------------------------------------ wrong certificates


def test_wrong_certificates_are_refused_with_the_step() -> None:
    made = certificate(SPLIT)
    place = next(s.number for s in made.steps if s.claim == "equal")
    step = in_words(made)[place]

    def altered(**fields: object) -> Certificate:
        if "number" not in fields:
            return with_step(made, step._replace(**fields))  # type: ignore[arg-type]
        steps = (*made.steps[:place], made.steps[place]._replace(**fields), *made.steps[place + 1 :])  # type: ignore[arg-type]
        return replace(made, steps=steps)

    for wrong, message in [
        (altered(after="d0 + 1"), "does not follow"),
        (altered(reasons=()), "does not follow"),
        (altered(reasons=(place,)), f"there is no step {place} before it"),
        (altered(law="no-law"), "there is no law 'no-law'"),
        (altered(law="quotient-sign"), "there is no law 'quotient-sign'"),
        (altered(law="range-of-sum"), 'range-of-sum is no law of claims that are "equal"'),
        (altered(number=place + 1), "out of order"),
        (altered(before="d0 floordiv 0"), "does not follow"),
        (altered(law="given"), 'given is no law of claims that are "equal"'),
        (altered(law="given", claim="within", after=None, lower=99), "the map does not state"),
    ]:
        assert refused(wrong, message).step == (place + 1 if message == "out of order" else place)


def test_tables_that_are_none_are_refused() -> None:
    made = certificate(SPLIT)
    last = len(made.nodes)
    step = next(s for s in made.steps if s.claim == "equal")

    def altered(node: object, before: int = last) -> Certificate:
        steps = (*made.steps[: step.number], step._replace(before=before), *made.steps[step.number + 1 :])
        return replace(made, nodes=(*made.nodes, node), steps=steps)

    for wrong, message in [
        (altered(("mod", (), (0, last))), f"node {last} has an operand that is no earlier node"),
        (altered(("mod", (), (0, -1))), f"node {last} has an operand that is no earlier node"),
        (altered(("power", (), (0, 0))), "no node has the kind 'power', 0 numbers and 2 operands"),
        (altered(("mod", (), (0,))), "no node has the kind 'mod', 0 numbers and 1 operands"),
        (altered(("sum", (0, 1), (0, 0))), "no node has the kind 'sum', 2 numbers and 2 operands"),
        (altered(("variable", (9,), ())), f"the map has no expression that is node {last}"),
        (altered(("constant", (3,), ()), last + 1), f"the map has no expression that is node {last + 1}"),
        (altered(("constant", (3,), ()), -1), "the map has no expression that is node -1"),
    ]:
        refused(wrong, message)


def false_claims(step: Step[str]) -> Iterator[Step[str]]:
    """Claims like a step's, that may be false."""
    yield step._replace(claim="never", law="constraints-contradict", before=None, after=None, bindings=())
    if step.claim == "equal":
        yield from (step._replace(after=f"({step.after}) {end}") for end in ("+ 1", "* 2", "floordiv 2"))
    if step.claim == "within":
        yield step._replace(modulus=step.modulus * 2)
        yield step._replace(lower=None if step.lower is None else step.lower + 1)
        yield step._replace(upper=None if step.upper is None else step.upper - 1)


def is_true(step: Step[int], table: Table, at: dict[int, int]) -> bool:
    claimed = (step.before, step.after)
    values = [table.algebra.value(table.value(node), {**at}) for node in claimed if node is not None]
    if step.claim != "within":
        return step.claim == "equal" and values[0] == values[1]
    above, below = step.lower is None or step.lower <= values[0], step.upper is None or values[0] <= step.upper
    return above and below and (values[0] - step.residue) % step.modulus == 0


def points_of(forms: Forms, of: MapValues) -> list[tuple[int, ...]]:
    """Those of a map; none of one with too many."""
    try:
        return [p for p in box(of) if outcome(forms, of, p) is not None]
    except Refused:
        return []


def test_false_claims_are_refused() -> None:
    false = 0
    for number in range(50):
        made = certificate(str(random_map(random.Random(f"certificates/{number}"), Style())))
        inside = points_of(forms := Forms(), read(made, 0, forms)[1])
        for step in in_words(made) if inside else ():
            for claim in false_claims(step):
                wrong = with_step(made, claim)
                table = read(wrong, 0, forms)[0]
                with suppress(ZeroDivisionError):
                    points = (dict(enumerate(p, 1)) for p in inside)
                    if not all(is_true(wrong.steps[step.number], table, at) for at in points):
                        false += 1
                        assert not wrong.check(), claim
    assert false > 300


def test_a_step_by_the_letters_of_a_law_needs_what_its_row_needs() -> None:
    text = "(d0, d1) -> ((d0 * 8 + d1) floordiv 4), domain: d0 in [0, 9], d1 in [0, {}]"
    letters = (("n", "d0 * 8 + d1"), ("m", "4"), ("r", "d1"), ("g", "8"))
    given = Step(0, "within", "given", "d1", lower=0, upper=3)

    def made(upper: int = 3, **changed: str) -> Certificate:
        stated = text.format(upper)
        bound = tuple((letter, changed.get(letter, value)) for letter, value in letters)
        split = Step(1, "equal", "quotient-split", "(d0 * 8 + d1) floordiv 4", "d0 * 2", bindings=bound, reasons=(0,))
        steps = (given._replace(upper=upper), split)
        return forged(stated, stated.replace("((d0 * 8 + d1) floordiv 4)", "(d0 * 2)"), steps, (1,))

    assert made(g="4").check()
    for wrong, message in [
        (made(), "does not follow by quotient-split"),  # 8 does not divide 4
        (made(upper=4, g="4"), "does not follow by quotient-split"),  # d1 may be g
        (made(g="4", r="d1 - 1"), "does not follow by quotient-split"),
        (made(g="4", m="8"), "no side of quotient-split is what it replaces"),
        (made(g="4", n="d0 * 8"), "no side of quotient-split is what it replaces"),
    ]:
        assert refused(wrong, message).step == 1


def test_a_law_of_a_minimum_has_letters() -> None:
    made = certificate("(b, t) -> (max(min(b * 4 + t, 100), 2) floordiv 4), domain: b in [0, 26], t in [0, 3]")
    assert made.check()
    steps = {step.law: step for step in in_words(made) if step.bindings}
    assert {letter for letter, _ in steps["quotient-of-extremum"].bindings} == {"a", "b", "m"}
    redundant = steps["argument-redundant"]
    swapped = redundant._replace(bindings=tuple(zip("ba", (v for _, v in redundant.bindings), strict=True)))
    assert refused(with_step(made, swapped), "does not follow by argument-redundant").step == swapped.number


def test_laws_of_factors_have_letters() -> None:
    for text, law in (
        ("(d0, d1) -> ((d0 mod 2 - 1) * (d0 mod 2 - 1) * d1), domain: d0 in [-99, 99], d1 in [-9, 9]", "square-of-bit"),
        ("(d0) -> (d0 * d0), domain: d0 in [0, 1]", "product-with-bit"),
        ("(d0, d1) -> (min(d0, d1) * max(d0, d1)), domain: d0 in [-4, 4], d1 in [-4, 4]", "product-of-extremes"),
        ("(d0, d1) -> ((d0 * d1 + d1) mod d0), domain: d0 in [-3, -1], d1 in [-9, 9]", "remainder-of-multiple"),
        ("(d0) -> ((d0 * d0) floordiv d0), domain: d0 in [-9, 5]", "quotient-of-multiple"),
    ):
        made = certificate(text)
        step = next(s for s in in_words(made) if s.law == law)
        assert made.check() and step.bindings
        first, (letter, value), *_ = step.bindings
        wrong = step._replace(bindings=(first, (letter, f"{value} + 3"), *step.bindings[2:]))
        assert not with_step(made, wrong).check() or law == "square-of-bit"
        assert not with_step(made, step._replace(after=f"{step.after} + 1")).check()


def test_equal_variables_are_replaced_node_by_node() -> None:
    text = "(d0, d1) -> (((-d0) floordiv d1) * 31), domain: d0 in [1, 5], d1 in [1, 6], d0 - d1 in [0, 0]"
    made = certificate(text)
    assert made.check() and "operands" in {step.law for step in made.steps}


def test_bounds_are_no_equalities() -> None:
    text = "(d0) -> (d0), domain: d0 in [0, 9]"
    zero, given = text.replace("-> (d0)", "-> (0)"), Step(0, "within", "given", "d0", lower=0, upper=9)
    refused(forged(text, zero, (given,), (0,)), "result 0 changes without a step")
    chain = Step(1, "equal", "chain", "d0", "0", reasons=(0,))
    assert refused(forged(text, zero, (given, chain), (1,)), "does not follow by chain").step == 1


def test_certificates_of_other_maps_are_refused() -> None:
    made = certificate(SPLIT)
    for wrong in (
        with_map(made, 1, made.after.replace("-> (d0, d1)", "-> (d1, d1)")),
        with_map(made, 0, made.before.replace("[0, 63]", "[0, 64]")),
        with_map(made, 1, made.after.replace("[0, 63]", "[0, 62]")),
        with_map(made, 1, made.after.replace("(d0, d1) ->", "(d1, d0) ->")),
        replace(made, question="compose"),
        replace(made, maps=made.maps[:1]),
    ):
        assert wrong != made and not wrong.check()
    empty = certificate(EMPTY)
    assert not with_map(empty, 0, empty.before.replace("[40, 50]", "[10, 50]")).check()


def test_a_constraint_that_is_dropped_must_follow() -> None:
    made = certificate(BOUNDED)
    lost = made.after[: made.after.rindex(", ", 0, made.after.index("[3, 50]") - 4)]
    assert lost.endswith("d1 in [0, 3]")
    refused(with_map(made, 1, lost), "a constraint of the map is lost")


def test_the_end_of_int64_bounds_no_sum() -> None:
    made = certificate(f"(d0) -> (d0), domain: d0 in [0, 9], d0 * {2**62} in [0, {2**63 - 1}]")
    refused(with_map(made, -1, "(d0) -> (d0), domain: d0 in [0, 1]"), "no step claims constraint 0")


def test_malformed_certificates_are_refused_with_their_place() -> None:
    text = certificate(SPLIT).to_json()
    data = json.loads(text)
    for damaged, message in [
        ("", "not JSON"),
        (text[:-5], "not JSON"),
        ("[" * 100_000, "nested too deeply|not JSON"),
        ("[]", 'certificate: expected "format"'),
        (json.dumps({**data, "steps": 3}), "steps: expected a list"),
        (json.dumps({**data, "question": "why"}), "question: expected one of simplify"),
        (json.dumps({**data, "parts": [data]}), r"parts\[0\].format: expected no further field"),
        (text.replace('"step": 0', '"step": ' + "6" * 5000), "limit"),
        (json.dumps({**data, "results": ["a"]}), "results: expected"),
        (json.dumps({**data, "steps": [{}]}), r"steps\[0\].step: expected the number 0"),
        (text.replace('"law": "given"', '"law": 3', 1), r"steps\[0\].law: expected a law's id"),
        (text.replace('"by": []', '"by": [true]', 1), r"steps\[0\].by: expected a list of numbers"),
        (text.replace('"by": []', '"by": [], "more": 1', 1), r"steps\[0\].more: expected no further field"),
        (text.replace('["variable", [0], []]', '["variable", 0, []]'), r"nodes\[\d+\]: expected a kind, numbers"),
        (text.replace('"kind": "defined"', '"kind": 1', 1), r"maps\[0\].kind: expected the kind of a map"),
        (
            text.replace('"names": [["d0", "d1"], [], []]', '"names": [["d0"], []]', 1),
            r"maps\[0\].names: expected three",
        ),
        (json.dumps({**data, "answer": 3}), "answer: expected true or false"),
    ]:
        with pytest.raises(ParseError, match=message) as error:
            Certificate.from_json(damaged)
        assert error.value.line >= 1 and error.value.column >= 1


# ------------------------------------------------------------------ wrong changes that other tests would not find


def test_the_checker_uses_nothing_of_the_core() -> None:
    folder = Path(ix.__file__).parent / "certificates"
    for file in folder.glob("**/*.py"):
        assert "_core" not in file.read_text(encoding="utf-8"), file
