"""Exact answers about domains and images; held against enumeration, and on domains too large to list."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings

import indexing as ix
from random_maps import Parts, graph, parts


def read(text: str) -> ix.IndexingMap:
    return ix.IndexingMap.parse(text)


@settings(max_examples=120, deadline=None)
@given(parts())
def test_counts_are_those_of_the_points(p: Parts) -> None:
    m, points = p.map(), p.graph()
    assert m.is_empty() == (not points)
    assert m.count() == len(points)
    assert m.image_count() == len(set(points.values()))
    assert m.is_injective() == (len(set(points.values())) == len(points))
    sizes = [max([y[k] for y in points.values()], default=0) + 1 for k in range(2)]
    elements = {(i, j) for i in range(sizes[0]) for j in range(sizes[1])}
    exact = sorted(points.values()) == sorted(elements)
    if len(elements) < 10_000:
        assert m.is_bijection_onto(sizes) == exact


@settings(max_examples=100, deadline=None)
@given(parts())
def test_the_inverse_is_the_inverse_relation(p: Parts) -> None:
    m = p.map()
    expected = {(y, x[:2], x[3:]) for x, y in p.graph().items()}
    inverse = m.inverse()
    actual = graph(inverse)
    runtime = len(p.runtimes)
    assert {(x[:2], y, x[len(x) - runtime :]) for x, y in actual.items()} == expected


@settings(max_examples=80, deadline=None)
@given(parts(), parts())
def test_comparisons(p: Parts, q: Parts) -> None:
    m, other = p.map(), q.map()
    a, b = p.graph(), q.graph()
    assert m.equivalent(m.simplify())
    if m.is_known_empty or other.is_known_empty:
        return
    equivalence = m.equivalent(other)
    assert bool(equivalence) == (a == b) == (equivalence.counterexample is None)
    if equivalence.counterexample is not None:
        point = equivalence.counterexample[0] + equivalence.counterexample[1]
        assert a.get(point) != b.get(point)
    assert graph(m.intersect(other)) == {x: y for x, y in a.items() if b.get(x) == y}


@settings(max_examples=60, deadline=None)
@given(parts())
def test_index_bits_hold_all_values(p: Parts) -> None:
    m = p.map()
    if m.is_known_empty:
        return
    bits = m.index_bits()
    assert bits in (32, 64)
    for point in p.graph():
        for e in m.results:
            for node in e.postorder():
                assert abs(node.evaluate(list(point))) < 2 ** (bits - 1)


@pytest.mark.parametrize(
    ("text", "count", "image"),
    [
        ("(d0, d1) -> (d0 * 1000000 + d1), domain: d0 in [0, 999999], d1 in [0, 999999]", 10**12, 10**12),
        ("(d0) -> (d0 floordiv 64, d0 mod 64), domain: d0 in [0, 999999999999]", 10**12, 10**12),
        ("(d0) -> (d0 floordiv 8), domain: d0 in [0, 799999999999]", 8 * 10**11, 10**11),
        ("(d0) -> (), domain: d0 in [0, 999999999999]", 10**12, 1),
        ("(d0) -> (d0 mod 7), domain: d0 in [0, 999999999999]", 10**12, 7),
        ("(d0)[s0] -> (d0 * 2 + s0), domain: d0 in [0, 999999999], s0 in [0, 2]", 3 * 10**9, 2 * 10**9 + 1),
        # 10^12 = 7 * 142857142857 + 1: residues 2, 3, 4 of each full period.
        ("(d0) -> (d0), domain: d0 in [0, 999999999999], d0 mod 7 in [2, 4]", 3 * 142857142857, 3 * 142857142857),
        (
            # A triangle.
            "(d0, d1) -> (d0, d1), domain: d0 in [0, 99999], d1 in [0, 99999], d0 + d1 in [0, 99999]",
            100_000 * 100_001 // 2,
            100_000 * 100_001 // 2,
        ),
        (
            "(d0, d1)[s0, s1] -> (d0 + s0 - 1, d1 + s1 - 1), domain: d0 in [0, 55], d1 in [0, 55], s0 in [0, 2], s1 in [0, 2], "
            "d0 + s0 in [1, 56], d1 + s1 in [1, 56]",
            166**2,
            56**2,
        ),
    ],
)
def test_large_domains_are_counted_by_structure(text: str, count: int, image: int) -> None:
    m = read(text)
    assert m.count() == count
    assert m.image_count() == image
    assert m.is_injective() == (count == image)
    assert not m.is_empty()


def test_bijections() -> None:
    m = read("(d0, d1) -> (d0 * 1000000 + d1), domain: d0 in [0, 999999], d1 in [0, 999999]")
    assert m.is_bijection_onto([10**12])
    assert not m.is_bijection_onto([10**12 + 1])
    assert not m.is_bijection_onto([10**6, 10**6])
    shifted = read("(d0) -> (d0 - 1), domain: d0 in [0, 9]")
    assert not shifted.is_bijection_onto([10])
    assert ix.IndexingMap.identity([2, 0]).is_bijection_onto([2, 0])
    threads = read(
        "(th_x, bl_x)[i] -> ((bl_x * 128 + th_x) floordiv 50, ((bl_x * 128 + th_x) mod 50) * 4 + i), "
        "domain: th_x in [0, 127], bl_x in [0, 24], i in [0, 3]"
    )
    assert threads.is_bijection_onto([64, 200])
    assert not threads.is_bijection_onto([200, 64])


def test_inverses_by_structure() -> None:
    linear = read("(d0, d1) -> (d0 * 1000 + d1), domain: d0 in [0, 99], d1 in [0, 999]")
    assert str(linear.inverse()) == "(d0) -> (d0 floordiv 1000, d0 mod 1000), domain: d0 in [0, 99999]"
    assert linear.inverse().inverse() == linear
    broadcast = read("(d0, d1) -> (d1), domain: d0 in [0, 5], d1 in [0, 6]")
    assert str(broadcast.inverse()) == "(d0)[s0] -> (s0, d0), domain: d0 in [0, 6], s0 in [0, 5]"
    groups = read("(d0) -> (d0 floordiv 8), domain: d0 in [0, 79]")
    assert str(groups.inverse()) == "(d0)[s0] -> (d0 * 8 + s0), domain: d0 in [0, 9], s0 in [0, 7]"
    dynamic = read("(d0){rt0} -> (d0 + rt0), domain: d0 in [0, 9], rt0 in [0, 5]")
    assert str(dynamic.inverse()) == (
        "(d0){rt0} -> (d0 - rt0), domain: d0 in [0, 14], rt0 in [0, 5], d0 - rt0 in [0, 9]"
    )


def test_equivalence_on_domains_too_large_to_list() -> None:
    a = read("(d0) -> (d0 mod 8), domain: d0 in [0, 1000000000000]")
    assert a.equivalent(read("(x) -> (x - (x floordiv 8) * 8), domain: x in [0, 1000000000000]"))
    equivalence = a.equivalent(read("(d0) -> (d0 mod 8), domain: d0 in [0, 999999999999]"))
    assert not equivalence and equivalence.counterexample == ((10**12,), ())
    # They differ at one point of 10^12, which no drawing of points would find.
    b = read("(d0) -> (max(d0 mod 8, d0 - 999999999995)), domain: d0 in [0, 1000000000002]")
    c = read("(d0) -> (d0 mod 8), domain: d0 in [0, 1000000000002]")
    equivalence = c.equivalent(b)
    assert not equivalence and equivalence.counterexample is not None
    assert c.evaluate(*equivalence.counterexample) != b.evaluate(*equivalence.counterexample)
    assert a.equivalent(ix.IndexingMap.known_empty()).counterexample == ((0,), ())


def test_the_answer_to_equivalence_is_a_value() -> None:
    one, two = (
        read("(d0)[s0] -> (d0), domain: d0 in [0, 3], s0 in [0, 1]"),
        read("(d0)[s0] -> (d0), domain: d0 in [0, 2], s0 in [0, 1]"),
    )
    same, other = one.equivalent(one), one.equivalent(two)
    assert same and not other
    assert repr(same) == "Equivalence(counterexample=None)"
    assert repr(other) == "Equivalence(counterexample=((3,), (0,)))"
    for answer in (same, other):
        copy = pickle.loads(pickle.dumps(answer))
        assert copy == answer == eval(repr(answer), {"Equivalence": ix.Equivalence})
        assert (hash(copy), bool(copy), copy.counterexample) == (hash(answer), bool(answer), answer.counterexample)
    assert same != other


def test_index_width() -> None:
    assert read("(d0, d1) -> (d0 * 65536 + d1), domain: d0 in [0, 32767], d1 in [0, 65535]").index_bits() == 32
    assert read("(d0, d1) -> (d0 * 65536 + d1), domain: d0 in [0, 32768], d1 in [0, 65535]").index_bits() == 64
    # The result fits, what is computed on the way does not.
    assert read("(d0) -> ((d0 * 65537) floordiv 65536), domain: d0 in [0, 65535]").index_bits() == 64
    with pytest.raises(ix.Overflow):
        read("(d0) -> (d0 * 9000000000), domain: d0 in [0, 9000000000]").index_bits()


def test_what_is_not_known_is_said() -> None:
    with pytest.raises(ix.InvalidMap, match="undefined"):
        ix.IndexingMap.undefined().count()
    with pytest.raises(ix.InvalidMap, match="different kinds"):
        ix.IndexingMap.identity([2]).equivalent(ix.IndexingMap.identity([2, 2]))
    hard = read(
        "(d0, d1) -> ((d0 * d1) mod 1009), domain: d0 in [0, 999999], d1 in [0, 999999], (d0 * d0 + d1) mod 997 in [3, 5]"
    )
    with pytest.raises(ix.Undecided, match="not known"):
        hard.image_count()


def test_rows_of_many_results_differ() -> None:
    # By the Chinese remainder theorem, as the least common multiple of the divisors is beyond the bound.
    residues = ", ".join(f"a mod {k}" for k in range(3, 87))
    assert read(f"(a) -> ({residues}), domain: a in [0, 2097150]").is_injective()
    assert not read("(a) -> (a mod 4, a mod 6), domain: a in [0, 12]").is_injective()


def test_a_map_without_points_contains_none() -> None:
    empty = read("(d0)[s0] -> (d0), domain: d0 in [0, 3], s0 in [0, 3], d0 in [5, 6]")
    assert empty.is_known_empty
    assert empty.contains([1], [2]) is False
    assert empty.contains([np.arange(3)], [1]).tolist() == [False] * 3


def test_where_a_divisor_at_the_ends_of_int64_is_0_there_is_no_point() -> None:
    """That the divisor isn't 0 can't be stated as a condition: four times `d0` leaves int64."""
    m = ix.IndexingMap.parse(
        "(d0, d1) -> (d1), domain: d0 in [9223372036854775807, 9223372036854775807], d1 in [-1, 0], "
        "(d0 - 3) floordiv ((d0 + d1) * 4 + 2) in [1, 1]"
    )
    assert (m.count(), m.is_empty(), m.image_count(), list(m.points())) == (0, True, 0, [])
