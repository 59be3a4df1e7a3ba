"""Where a map is defined, what leaves int64, and texts at its ends: one definition, before and after `simplify`."""

import itertools
import re

import numpy as np
import pytest

import indexing as ix
from exact_maps import evaluate, read

# Divisors that may be 0, in constraints and in results: of one sign and of both, nested, cancelling.
DIVIDED = [
    "(d0) -> (d0), domain: d0 in [0, 3], (-2) floordiv d0 in [-7, 33]",
    "(d0) -> (d0), domain: d0 in [-3, 0], (-2) floordiv d0 in [-7, 33]",
    "(d0, d1) -> (d0), domain: d0 in [0, 3], d1 in [0, 3], d0 mod d1 in [0, 3]",
    "(d0, d1) -> (d0), domain: d0 in [0, 3], d1 in [0, 3], (d0 * d1) floordiv d1 in [0, 2]",
    "(d0, d1) -> (d0), domain: d0 in [0, 3], d1 in [-2, 3], (d0 * d1) mod d1 in [0, 2]",
    "(d0, d1) -> ((d0 * d1 + d0) floordiv d1), domain: d0 in [0, 3], d1 in [-2, 3]",
    "(d0, d1) -> ((d0 * d1) mod d1, d0), domain: d0 in [0, 3], d1 in [-2, 3]",
    "(d0, d1) -> (min(d0, 9 + d1 floordiv d0)), domain: d0 in [-1, 3], d1 in [0, 3]",
    "(d0, d1) -> ((5 floordiv (d0 - d1)) floordiv (d0 mod 3)), domain: d0 in [0, 4], d1 in [0, 3]",
    "(d0, d1) -> (d0 mod (d1 - 2)), domain: d0 in [0, 3], d1 in [0, 3], d0 - d1 in [0, 0]",
    "(d0) -> (d0), domain: d0 in [0, 0], 3 mod d0 in [0, 9]",
    "(d0) -> ((-1) mod d0), domain: d0 in [-9223372036854775808, -9223372036854775806], 7 mod d0 in [0, 9]",
    # Other constraints imply that a divisor is not 0 before its bounds end there.
    "(d0, d1, d2) -> (min((-2) floordiv d0, d2 + d0)), domain: d0 in [0, 4], d1 in [1, 7], d2 in [0, 3], "
    "((3 + d0 + d1 * 5 + d2 * 5) floordiv 20) * 4 + (3 + d0 + d1 * 5 + d2 * 5) floordiv 3 in [7, 10], "
    "((d0 * 3 - d1 * 15 + d2 * 105) floordiv 2) mod 12 + ((d0 * 3 - d1 * 15 + d2 * 105) mod 5040) floordiv 420 in [2, 5], "
    "d1 - d2 in [0, 5]",
    "(d0) -> ((d0 * 3) mod 144, ((d0 floordiv 3 - d0 mod 12) * 4 + d0 mod 2) ceildiv d0), domain: d0 in [0, 3], "
    "(d0 * 2 - d0 * d0) ceildiv 3 in [2, 32], (min(-6, d0) mod d0) mod d0 in [0, 10]",
]


def points_of(text: str) -> dict[tuple[int, ...], tuple[int, ...]]:
    """The results at each point of the domain."""
    source = read(text)
    return {tuple(p[n] for n in source.names): source.at(p) for p in source.box() if source.contains(p)}


@pytest.mark.parametrize("text", DIVIDED)
def test_a_point_that_divides_by_zero_is_not_in_the_domain(text: str) -> None:
    want = points_of(text)
    m = ix.IndexingMap.parse(text)
    box = itertools.product(*(range(i.lower, i.upper + 1) for i in (v.interval for v in m.dims)))
    simplified = m.simplify()
    for point in box:
        assert m.contains(point) == (point in want), point
        if not simplified.is_known_empty:
            assert simplified.contains(point) == (point in want), point
    for form in (m, simplified):
        assert {p for p, _ in form.points()} == set(want)
        assert form.count() == len(want)
        assert form.image_count() == len(set(want.values()))
        assert form.is_empty() == (not want)
    assert all(simplified.evaluate(point) == results for point, results in want.items())
    assert m.equivalent(simplified)
    assert m.intersect(simplified).count() == len(want)
    assert simplified.simplify() == simplified


def test_maps_that_divide_by_zero_elsewhere_differ() -> None:
    first = ix.IndexingMap.parse("(d0, d1) -> (d0 - d0 floordiv d1), domain: d0 in [0, 3], d1 in [0, 3]")
    second = ix.IndexingMap.parse("(d0, d1) -> (d0 - d0 floordiv d1), domain: d0 in [0, 3], d1 in [1, 3]")
    third = ix.IndexingMap.parse("(d0, d1) -> (d0 - d0 floordiv d1), domain: d0 in [0, 3], d1 in [2, 3]")
    assert first.equivalent(second)
    assert not first.equivalent(third)


@pytest.mark.parametrize(
    ("first", "count"),
    [
        # What is divided cancels once the dimensions are replaced; the divisor is 0 at a point, at all, or at none.
        ("(d0) -> (7, 7, d0), domain: d0 in [0, 3]", 3),
        ("(d0) -> (7, 7, d0), domain: d0 in [-3, 3]", 6),
        ("(d0) -> (7, 7, 0), domain: d0 in [0, 3]", 0),
        ("(d0) -> (7, 7, d0), domain: d0 in [1, 3]", 3),
    ],
)
def test_divisors_that_cancel_when_composed(first: str, count: int) -> None:
    second = ix.IndexingMap.parse(
        "(d0, d1, d2) -> (d0 floordiv d2 - d1 floordiv d2), domain: d0 in [0, 9], d1 in [0, 9], d2 in [-3, 3]"
    )
    composed = ix.IndexingMap.parse(first) * second
    assert composed.count() == count
    assert composed.simplify().count() == count


def test_an_inverse_whose_elements_leave_int64() -> None:
    m = ix.IndexingMap.parse(
        "(d0, d1) -> ((d0 + d1) * -4, d1), domain: d0 in [-9223372036854775807, -9223372036854775796], d1 in [-3, 3]"
    )
    with pytest.raises(ix.Overflow):
        m.inverse()
    at_the_end = ix.IndexingMap.parse("(d0) -> (d0 - 9223372036854775807 - 1), domain: d0 in [0, 3]").inverse()
    assert at_the_end.count() == 4
    unbounded = "domain: d0 in [-9223372036854775808, 9223372036854775807]"
    assert str(ix.IndexingMap.parse(f"(d0) -> (d0 + 1), {unbounded}").inverse()) == f"(d0) -> (d0 - 1), {unbounded}"


@pytest.mark.parametrize(
    "text",
    [
        "(d0) -> ((d0 mod 9223372036854775807 - max(d0, -3)) * -4), domain: d0 in [-3, 0]",
        "(d0) -> (max(d0, -3) * 16777216 - (d0 mod 1099511627776) * 16777216), domain: d0 in [-3, 0]",
        "(d0, d1) -> (max(d0 + d1 - 9223372036854775806, 4611686018427387904) + 17), domain: d0 in [0, 9], d1 in [0, 9]",
        "(d0, d1) -> (min(d0 * 2 + 9223372036854775800, d1 - 9223372036854775800) - 5), domain: d0 in [0, 9], d1 in [0, 9]",
        "(d0) -> (((d0 mod 6) + 59 * d0) mod 12), domain: d0 in [0, 99]",
        "(d0) -> (d0 * -9223372036854775808, -9223372036854775808 - d0, max(d0 + -9223372036854775808, 3)), domain: d0 in [0, 9]",
        "(d, min_0, in_)[mod1]{x.y} -> (min_0 + in_ * mod1, d mod 3 - x.y), domain: d in [0, 3], min_0 in [0, 3], "
        "in_ in [0, 3], mod1 in [0, 9], x.y in [0, 3]",
    ],
)
def test_texts_are_read_as_what_was_printed(text: str) -> None:
    m = ix.IndexingMap.parse(text)
    for form in (m, m.simplify()):
        assert ix.IndexingMap.parse(str(form)) == form
        assert ix.IndexingMap.parse(str(form)).simplify() == m.simplify()


def test_shifted_extrema_have_one_form() -> None:
    far, near = 9223372036854775806, 4611686018427387904
    domain = "domain: d0 in [0, 9], d1 in [0, 9]"
    texts = [f"(d0, d1) -> (max(d0 + d1 - {far - k}, {near + k}) - {k}), {domain}" for k in (0, 1, 17, 4000)]
    assert len({ix.IndexingMap.parse(text) for text in texts}) == 1


@pytest.mark.parametrize("bound", [1000, 300_000_000, 10**18])
def test_simplify_needs_no_wider_integers(bound: int) -> None:
    for c, k in itertools.product((3, 4, 7), (-6, 5, 9)):
        if abs(k) * bound >= 2**62:
            continue
        text = f"(d0) -> ((d0 + 5) floordiv {c} + d0 * ({k})), domain: d0 in [0, {bound}]"
        m = ix.IndexingMap.parse(text)
        assert m.simplify().index_bits() <= m.index_bits(), text
    open_below = ix.IndexingMap.parse("(d0) -> ((d0 + 5) floordiv 4 - d0 * 6), domain: d0 in [-9223372036854775808, 9]")
    point = [-(10**18)]
    assert open_below.simplify().evaluate(point) == open_below.evaluate(point)


def test_a_text_is_as_narrow_as_its_map() -> None:
    text = "(d0, d1) -> (-((d0 * 2 - d1 + ((d0 * 2) floordiv 7) mod 12 + 8) floordiv 5)), domain: d0 in [0, 4095], "
    for value in (7, 2**20, 2**31 - 1):
        m = ix.IndexingMap.parse(f"{text}d1 in [{value}, {value}]").simplify()
        assert m.index_bits() == 32
        assert all(int(number) < 2**31 for number in re.findall(r"\d+", str(m).split(", domain")[0])), str(m)


@pytest.mark.parametrize("d0", [2**63 - 2, 2**63 - 7, -(2**63), -(2**63) + 5])
def test_values_in_between_may_leave_int64(d0: int) -> None:
    # Constructors join the quotients, and move the sign into one.
    for text in ("(d0 floordiv 2 + 5) floordiv 3", "(d0 floordiv 2 - 5) floordiv 3 + 1", "-(d0 floordiv 7)"):
        m = ix.IndexingMap.parse(f"(d0) -> ({text}), domain: d0 in [-9223372036854775808, 9223372036854775806]")
        expected = evaluate(read(f"(d0) -> ({text})").results[0], {"d0": d0})
        assert m.evaluate([d0]) == (expected,)
        assert m.evaluate([np.array([0, d0])])[0].tolist()[1] == expected
