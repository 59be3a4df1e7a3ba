"""Every law of the simplifier: named once, proved, shown to apply where it says, and not where its precondition breaks."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import pytest
import z3

import indexing as ix
from constructor_examples import CONSTRUCTORS
from domain_examples import DOMAINS
from exact_maps import Map, evaluate, read
from indexing import _core
from law_claims import Open, claims
from proofs_by_hand import IN_STEPS, OF_WORDS
from range_examples import RANGES
from rule_examples import RULES
from rules_docs import BY_HAND, DOCUMENT, PROOFS, rules_table
from solver import Proof, Refuted, Writer

LAWS = {law.name: law for law in _core.rules()}
MADE_ON = range(-7, 8)  # values of d0, d1, .. for expressions without a domain


def names(group: str) -> set[str]:
    return {law.name for law in LAWS.values() if law.group == group}


def test_names_are_different() -> None:
    assert len(LAWS) == len(_core.rules())


def test_proofs_by_hand_are_of_laws_and_say_why() -> None:
    assert set(BY_HAND) <= set(LAWS)
    for name in OF_WORDS:
        with pytest.raises(Open):
            claims(LAWS[name].law, LAWS[name].precondition)
    for name in IN_STEPS:
        claims(LAWS[name].law, LAWS[name].precondition)


@pytest.mark.parametrize(
    ("law", "precondition"),
    [
        ("n / m = (n - r) / m", "m > 0, g divides m, g divides n - r, 0 <= r <= g"),
        ("min(a, b) = b", "a <= b (max alike)"),
        ("x + y in [a, b] implies x in [a - u, b - v]", "u <= y <= v"),
        ("(x + 1) / 2 = x / 2, x % 2 = x - 2 * (x / 2)", "none"),
    ],
)
def test_wrong_texts_are_refuted(law: str, precondition: str) -> None:
    with pytest.raises(Refuted):
        Proof(claims(law, precondition)).check()


@pytest.mark.parametrize(
    ("group", "examples"),
    [("rule", RULES), ("constructor", CONSTRUCTORS), ("constraint", DOMAINS), ("range", RANGES)],
    ids=lambda x: x if isinstance(x, str) else "",
)
def test_every_law_has_examples(group: str, examples: dict[str, object]) -> None:
    assert set(examples) == names(group)


def test_every_law_with_a_precondition_has_an_example_without() -> None:
    for name, example in {**RULES, **CONSTRUCTORS}.items():
        assert example.idle, name
    for name, example in {**DOMAINS, **RANGES}.items():
        stands = LAWS[name].precondition.split(";")[0]
        always = stands.startswith("none") or name in {
            "range-of-sum",
            "range-of-multiple",
            "range-of-extremum",
            "range-of-product",
        }
        assert always or example.idle, name


@pytest.mark.parametrize("name", PROOFS)
def test_law_holds(name: str) -> None:
    try:
        PROOFS[name].check()
    except Refuted as refuted:
        law = LAWS[name]
        pytest.fail(f"{name}: {law.law} where {law.precondition}\n{refuted}", pytrace=False)


@pytest.mark.parametrize("name", PROOFS)
def test_proof_says_something(name: str) -> None:
    PROOFS[name].check_hypotheses()


def wrong_split(w: Writer) -> Iterator[tuple[z3.BoolRef, z3.BoolRef]]:
    # A remainder as large as the granule.
    t, r = w.integers("t r")
    g, k = w.small("g k")
    n = g * t + r
    yield z3.And(r >= 0, r <= g), w.positive_div(n, g * k) == w.positive_div(n - r, g * k)


def wrong_sign(w: Writer) -> Iterator[tuple[z3.BoolRef, z3.BoolRef]]:
    # Rounded towards zero.
    x, m = w.integers("x m")
    yield m > 0, w.div(-x, m) == -w.div(x, m)


@pytest.mark.parametrize("proof", [Proof(wrong_split), Proof(wrong_split, values=(1, 2, 3)), Proof(wrong_sign)])
def test_wrong_laws_are_refuted(proof: Proof) -> None:
    with pytest.raises(Refuted, match=r"claim 0 with .*: \["):
        proof.check()


def test_a_proof_may_take_small_parameters() -> None:
    proof = Proof(PROOFS["quotient-of-digit"].build, values=(1, 2))
    assert proof.manner == "z3 for each parameter in {1, 2}"
    proof.check()


# ---- examples


def pairs(examples: dict[str, object], kind: str) -> list[object]:
    result = []
    for name, example in examples.items():
        for k, case in enumerate(getattr(example, kind)):
            result.append(pytest.param(name, case, id=f"{name}-{k}"))
    return result


def value(e: object, point: dict[str, int]) -> int | None:
    try:
        return evaluate(e, point)  # type: ignore[arg-type]
    except ZeroDivisionError:
        return None


def same_values(before: Map, after_text: str) -> None:
    """The simplified map has the values of the map as written at every point of its domain, and the same domain."""
    inside = [point for point in before.box() if before.contains(point)]
    if after_text == "KNOWN EMPTY":
        assert not inside
        return
    after = read(after_text)
    members = 0
    for point in before.box():
        assert after.contains(point) == before.contains(point), f"{point} is in one domain only"
        if before.contains(point):
            members += 1
            assert after.at(point) == before.at(point), point
    assert members == len(inside) > 0


@pytest.mark.parametrize(("name", "text"), pairs(RULES, "applies"))
def test_rule_applies(name: str, text: str) -> None:
    steps = ix.IndexingMap.parse(text).explain()
    assert name in [step.rule for step in steps]
    for step in steps:
        assert step.rule != name or step.before != step.after
    same_values(read(text), str(ix.IndexingMap.parse(text).simplify()))


@pytest.mark.parametrize(("name", "text"), pairs(RULES, "idle"))
def test_rule_does_not_apply(name: str, text: str) -> None:
    assert name not in [step.rule for step in ix.IndexingMap.parse(text).explain()]
    same_values(read(text), str(ix.IndexingMap.parse(text).simplify()))


def made(text: str) -> str:
    return ix.SymbolicExpr.parse(text, num_dims=4).to_text(num_dims=4)


@pytest.mark.parametrize(("name", "case"), pairs(CONSTRUCTORS, "applies"))
def test_constructor_applies(name: str, case: tuple[str, str]) -> None:
    before, after = case
    assert made(before) == after != before
    head = "(d0, d1, d2, d3) -> "
    (written,), (built,) = (read(f"{head}({text})").results for text in case)
    used = sorted({d for d in ("d0", "d1", "d2", "d3") if d in before})
    for values in itertools.product(MADE_ON, repeat=len(used)):
        point = dict(zip(used, values, strict=True))
        expected = value(written, point)
        assert expected is None or value(built, point) == expected, point


@pytest.mark.parametrize(("name", "text"), pairs(CONSTRUCTORS, "idle"))
def test_constructor_does_not_apply(name: str, text: str) -> None:
    assert made(text) == text


@pytest.mark.parametrize(("name", "case"), [*pairs(DOMAINS, "applies"), *pairs(DOMAINS, "idle")])
def test_constraint(name: str, case: tuple[str, str]) -> None:
    before, after = case
    assert str(ix.IndexingMap.parse(before).simplify()) == after
    same_values(read(before), after)


@pytest.mark.parametrize(("name", "case"), pairs(DOMAINS, "applies"))
def test_explain_names_laws_of_constraints(name: str, case: tuple[str, str]) -> None:
    steps = [step for step in ix.IndexingMap.parse(case[0]).explain() if step.rule == name]
    assert steps and all(step.facts for step in steps)


@pytest.mark.parametrize(("name", "case"), [*pairs(RANGES, "applies"), *pairs(RANGES, "idle")])
def test_range(name: str, case: tuple[str, str, tuple[int, int]]) -> None:
    text, domain, expected = case
    dims = ", ".join(d for d in ("d0", "d1") if d in domain)
    whole = f"({dims}) -> ({text}), domain: {domain}"
    m = ix.IndexingMap.parse(whole)
    bounds = m.range(m.results[0])
    assert (bounds.lower, bounds.upper) == expected
    written = read(whole)
    values = [written.at(point)[0] for point in written.box() if written.contains(point)]
    assert expected[0] <= min(values) and max(values) <= expected[1]


def test_a_step_names_the_facts_that_it_uses() -> None:
    text = (
        "(d0, d1, d2) -> ((d0 + d1) floordiv 10), domain: d0 in [0, 9], d1 in [0, 9], d2 in [0, 5], d0 + d1 in [2, 9]"
    )
    step = ix.IndexingMap.parse(text).explain()[-1]
    assert (step.rule, step.before, step.after) == ("single-value", "(d0 + d1) floordiv 10", "0")
    assert step.facts == ("(d0 + d1) floordiv 10 in [0, 0]",)
    assert str(step).startswith(f"{step.number}. (d0 + d1) floordiv 10 = 0  [single-value by ")
    step = ix.IndexingMap.parse(RULES["halves-recombine"].applies[0]).explain()[-1]
    assert step.rule == "halves-recombine" and step.facts == ()


def test_steps_of_a_constraint_say_what_became_of_it() -> None:
    text = "(d0) -> (d0), domain: d0 in [-9, 9], (d0 * 4 - 3) floordiv 2 in [-1, 7], d0 floordiv 5 in [-2, 1]"
    steps = {(s.rule, s.text): s.facts for s in ix.IndexingMap.parse(text).explain()}
    assert "d0 in [-9, 9]" in steps["constraint-implied", "d0 floordiv 5 in [-2, 1]"]
    assert "d0 * 2 - 2 in [-1, 7]" in steps["constraint-normal-form", "d0 in [1, 4]"]
    assert "d0 in [1, 4]" in steps["constraint-normal-form", "d0 * 2 - 2 in [-1, 7]"]
    never = ix.IndexingMap.parse("(d0) -> (d0), domain: d0 in [0, 9], d0 * 2 + d0 mod 2 in [40, 50]").explain()
    assert (never[-1].rule, never[-1].text) == ("constraint-impossible", "no point")


# ---- the document


def test_document_is_current() -> None:
    assert DOCUMENT.read_text() == rules_table(), "run make docs"
