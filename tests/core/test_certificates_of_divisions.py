"""Certificates of maps that divide: what is divided by may not be 0, in any step or result."""

from __future__ import annotations

from dataclasses import replace

import indexing as ix
from certificate_texts import certificate, forged, refused, with_map
from indexing.certificates import Certificate, Step


def test_a_divisor_may_not_become_0() -> None:
    made = certificate("(d0, d1) -> ((d0 * d1) floordiv d1, d1), domain: d0 in [0, 3], d1 in [-2, 2]")
    assert made.check()
    assert ", max(d1, -d1) in [1, 2]" in made.after or "d1" in made.after
    lost = "(d0, d1) -> (d0, d1), domain: d0 in [0, 3], d1 in [-2, 2]"
    refused(with_map(made, -1, lost), "may be 0")


def test_steps_about_quotients_need_their_divisors_in_the_result_too() -> None:
    text = "(d0) -> (d0 floordiv d0 + d0), domain: d0 in [0, 3]"
    steps = (
        Step(0, "within", "given", "d0", lower=0, upper=3),
        Step(1, "equal", "operands", "d0 floordiv d0", "1", reasons=(0,)),
        Step(2, "within", "constraint-bounds-term", "d0", lower=1, upper=3, reasons=(0, 1)),
        Step(3, "equal", "operands", "d0 floordiv d0 + d0", "d0 + 1", reasons=(1,)),
    )
    for lower in (0, 1):
        made = forged(text, f"(d0) -> (d0 + 1), domain: d0 in [{lower}, 3]", steps, (3,))
        assert bool(made.check()) is (lower == 1), made.check()
    refused(with_map(made, -1, "(d0) -> (d0 + 1), domain: d0 in [0, 3]"), "may be 0")


def test_a_divisor_that_only_a_step_has_may_be_0() -> None:
    text = "(d0, d1) -> (d0, d1 floordiv d1), domain: d0 in [0, 3], d1 in [1, 5]"
    given = Step(0, "within", "given", "d0", lower=0, upper=3)
    for divisor in ("d0", "d1", "0"):
        same = f"d0 + d0 floordiv {divisor} - d0 floordiv {divisor}"
        wrong = Step(1, "within", "constraint-bounds-term", same, lower=1, upper=3, reasons=(0,))
        made = forged(text, text.replace("d0 in [0", "d0 in [1"), (given, wrong), (None, None))
        assert refused(made, "does not follow").step == 1


def test_what_a_step_divides_by_is_proved_not_to_be_0() -> None:
    """Bounds of quotients and remainders hold where these are defined: else a divisor that is 0 would be a contradiction."""
    text = "(d0, d1) -> (d0), domain: d0 in [3, 9], d1 in [0, {}]"
    given = (Step(0, "within", "given", "d0", lower=3, upper=9), Step(1, "within", "given", "d1", lower=0, upper=0))
    for law, claim, ends in (
        ("range-of-remainder-by-expression", "d0 mod d1", (0, -1)),
        ("range-of-quotient-by-expression", "d0 floordiv max(d1, -d1)", (3, 9)),
        ("range-of-quotient-by-expression", "d0 * 2 + d0 floordiv (d1 * 3)", (0, 99)),
    ):
        claimed = Step(2, "within", law, claim, lower=ends[0], upper=ends[1], reasons=(0, 1))
        never = Step(3, "never", "constraints-contradict", reasons=(2,))
        made = forged(text.format(0), "KNOWN EMPTY", (*given, claimed, never), ())
        assert refused(made, "does not follow").step == 2
    same = Step(0, "equal", "known-equal", "d0", "d0", bindings=(("e", "d0"), ("f", "d0 + (d1 mod d0) * 0")))
    zero = text.replace("[3, 9]", "[0, 9]").format(1)
    assert refused(forged(zero, zero, (same,), (0,)), "does not follow").step == 0


def test_a_composition_keeps_the_divisors_of_the_first_map() -> None:
    first = ix.IndexingMap.parse("(d0, d1) -> (d0 floordiv d1), domain: d0 in [0, 3], d1 in [0, 2]")
    made = ix.compose(first, ix.IndexingMap.parse("(d0) -> (d0 - d0), domain: d0 in [-9, 9]"), certificate=True)[1]
    assert made.check()
    refused(with_map(made, -1, "(d0, d1) -> (0), domain: d0 in [0, 3], d1 in [0, 2]"), "may be 0")


def test_a_point_at_which_a_divisor_is_0_is_none() -> None:
    text = "(d0) -> (d0 floordiv d0 - d0 floordiv d0), domain: d0 in [0, 3]"
    one = forged(text, text)
    made = Certificate("is_empty", one.nodes, one.maps[:1], (), False, point=(1,))
    assert made.check() and not replace(made, point=(0,)).check()


def test_a_division_by_0_is_no_result() -> None:
    made = certificate("(d0) -> (0), domain: d0 in [0, 3]")
    assert made.check() and not with_map(made, -1, made.after.replace("(0)", "(0 floordiv 0)")).check()


def test_a_remainder_by_itself_is_0_where_it_is_defined() -> None:
    text = "(d0, d1) -> ({}, d1), domain: d0 in [{}, {}], d1 in [0, 1]"
    for lower, upper in ((-3, -1), (1, 3), (-3, 3)):
        zero = certificate(text.format(0, lower, upper))
        itself = text.format("d0 mod d0", lower, upper)
        for made in (with_map(zero, 0, itself), with_map(zero, -1, itself)):
            assert bool(made.check()) is not (lower <= 0 <= upper)
    refused(made, "may be 0")
