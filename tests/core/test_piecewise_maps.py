"""Relations by pieces, held against sets of pairs and against isl; and on domains too large to list."""

import itertools
import pickle

import islpy
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import indexing as ix
from indexing.convert import to_isl
from random_maps import Parts, Point, graph, parts

Pairs = frozenset[tuple[Point, Point]]


def read(text: str) -> ix.IndexingMap:
    return ix.IndexingMap.parse(text)


def pairs_of(p: Parts) -> Pairs:
    """The pairs of a point, its dimensions and runtime variables, and results."""
    dims, ranges = len(p.dims), len(p.ranges)
    return frozenset((x[:dims] + x[dims + ranges :], y) for x, y in p.graph().items())


def pairs(relation: ix.PiecewiseMap) -> Pairs:
    """The same, as the pieces tell."""
    result = set()
    for m in relation.pieces:
        symbols = m.num_dims + m.num_ranges
        result |= {(x[: m.num_dims] + x[symbols:], y) for x, y in graph(m).items()}
    return frozenset(result)


def relation(some: list[Parts]) -> tuple[ix.PiecewiseMap, Pairs]:
    return ix.PiecewiseMap([p.map() for p in some]), frozenset().union(*map(pairs_of, some))


FUNCTIONS = st.lists(parts(ranges=0, results=1), min_size=1, max_size=3)
RELATIONS = st.lists(st.one_of(parts(ranges=0, results=1), parts(results=1)), min_size=1, max_size=2)


@settings(max_examples=60, deadline=None)
@given(st.one_of(FUNCTIONS, RELATIONS), st.one_of(FUNCTIONS, RELATIONS))
def test_answers_are_those_of_the_sets_of_pairs(some: list[Parts], others: list[Parts]) -> None:
    (a, of_a), (b, of_b) = relation(some), relation(others)
    assert pairs(a) == of_a
    assert pairs(a.union(b)) == of_a | of_b and a.union(b) == b.union(a)
    assert pairs(a.intersect(b)) == of_a & of_b
    assert a.is_disjoint(b) == of_a.isdisjoint(of_b)
    assert a.is_empty() == (not of_a)
    assert a.count() == len(of_a)
    assert a.image_count() == len({y for _, y in of_a})
    assert a.is_function() == (len({x for x, _ in of_a}) == len(of_a))
    assert pairs(a.inverse()) == {(y + x[2:], x[:2]) for x, y in of_a}
    try:
        rest = a.subtract(b)
        covered, same = a.covers(b), a.equivalent(b)
    except ix.Undecided:
        assert any(m.ranges for m in (*a.pieces, *b.pieces))
        return
    assert pairs(rest) == of_a - of_b
    assert covered == (of_b <= of_a)
    assert bool(same) == (of_a == of_b)
    if same.counterexample is not None:
        point = same.counterexample[0] + same.counterexample[1]
        assert {y for x, y in of_a if x == point} != {y for x, y in of_b if x == point}


@settings(max_examples=60, deadline=None)
@given(st.one_of(FUNCTIONS, RELATIONS))
def test_simplified_relations_are_the_same_in_no_more_pieces(some: list[Parts]) -> None:
    a, of_a = relation(some)
    simple = a.simplify()
    assert pairs(simple) == of_a
    assert len(simple.pieces) <= len(a.pieces)
    assert simple.simplify() == simple


@settings(max_examples=60, deadline=None)
@given(FUNCTIONS)
def test_values_are_those_of_the_piece_that_has_the_point(some: list[Parts]) -> None:
    a, of_a = relation(some)
    if not a.pieces:
        return
    by_point: dict[Point, set[Point]] = {}
    for x, y in of_a:
        by_point.setdefault(x, set()).add(y)
    points = list(itertools.product(range(-9, 15, 2), range(-8, 14, 3), range(-8, 10)))
    columns = [np.array(c) for c in zip(*points, strict=True)]
    assert a.contains(columns[:2], columns[2:]).tolist() == [p in by_point for p in points]
    for x, actual in list(by_point.items())[:20]:
        assert a.contains(x[:2], x[2:])
        if len(actual) == 1:
            assert {a.evaluate(x[:2], x[2:])} == actual
        else:
            with pytest.raises(ix.InvalidMap, match="disagree"):
                a.evaluate(x[:2], x[2:])
    unique = [x for x, actual in by_point.items() if len(actual) == 1]
    if unique:
        columns = [np.array(c) for c in zip(*unique, strict=True)]
        expected = [next(iter(by_point[x]))[0] for x in unique]
        assert a.evaluate(columns[:2], columns[2:])[0].tolist() == expected


@settings(max_examples=60, deadline=None)
@given(st.one_of(FUNCTIONS, RELATIONS))
def test_text_and_pickle_keep_relations(some: list[Parts]) -> None:
    a, _ = relation(some)
    assert ix.PiecewiseMap.parse(str(a)) == a == pickle.loads(pickle.dumps(a))
    assert hash(a) == hash(ix.PiecewiseMap(reversed(a.pieces)))
    assert str(a) == str(ix.PiecewiseMap(reversed(a.pieces)))


# ---------------------------------------------------------------- large domains, by isl


@st.composite
def affine_pieces(draw: st.DrawFn) -> list[ix.IndexingMap]:
    """Maps of two dimensions on large boxes, with quotients, remainders and range variables."""
    some = []
    for _ in range(draw(st.integers(1, 2))):
        low = [draw(st.integers(-50, 900)) for _ in range(2)]
        box = [f"d{k} in [{n}, {n + draw(st.integers(0, 900))}]" for k, n in enumerate(low)]
        ranges = draw(st.booleans())
        result = draw(st.sampled_from(["d0 * 4", "d0 floordiv 8", "d1 - d0", "(d0 + d1) mod 16", "d1 floordiv 3 + d0"]))
        bound = draw(st.sampled_from([None, "d0 mod 6", "d0 + d1 * 2", "d0 floordiv 4 - d1", "(d1 + 3) floordiv 7"]))
        step = draw(st.sampled_from([1, 1, 3]))
        domain = box + ([f"s0 in [0, {draw(st.integers(0, 5))}]"] if ranges else [])
        if bound:
            first = draw(st.integers(-5, 20))
            domain.append(f"{bound} in [{first}, {first + draw(st.integers(0, 300))}]")
        added = f" + s0 * {step}" if ranges else ""
        some.append(f"(d0, d1){'[s0]' if ranges else ''} -> ({result}{added}), domain: {', '.join(domain)}")
    return [read(text) for text in some]


def isl_of(some: list[ix.IndexingMap]) -> islpy.UnionMap:
    result = islpy.Map("{ [d0, d1] -> [o] : 1 = 0 }").to_union_map()
    for m in some:
        if not m.is_known_empty:
            result = result.union(islpy.Map(to_isl(m)).to_union_map())
    return result


@settings(max_examples=80, deadline=None)
@given(affine_pieces(), affine_pieces())
def test_answers_on_large_domains_are_those_of_isl(some: list[ix.IndexingMap], others: list[ix.IndexingMap]) -> None:
    a, b = ix.PiecewiseMap(some), ix.PiecewiseMap(others)
    of_a, of_b = isl_of(some), isl_of(others)
    try:
        assert isl_of(a.subtract(b).pieces).is_equal(of_a.subtract(of_b))
        assert a.covers(b) == of_b.is_subset(of_a)
        assert bool(a.equivalent(b)) == of_a.is_equal(of_b)
    except ix.Undecided:
        assert any(m.ranges for m in b.pieces)
    try:
        assert a.is_disjoint(b) == of_a.intersect(of_b).is_empty()
        assert a.is_function() == of_a.is_single_valued()
    except ix.Undecided:
        assert any(m.ranges for m in (*a.pieces, *b.pieces))
    assert isl_of(a.intersect(b).pieces).is_equal(of_a.intersect(of_b))
    assert isl_of(a.simplify().pieces).is_equal(of_a)
    assert isl_of(a.union(b).pieces).is_equal(of_a.union(of_b))
    assert isl_of(a.inverse().pieces).is_equal(of_a.reverse())


def test_a_padded_row_is_two_pieces_and_a_middle() -> None:
    """10^9 elements of padding on either side of 10^10, in closed form."""
    row = read("(d0) -> (d0 - 1000000000), domain: d0 in [0, 11999999999], d0 - 1000000000 in [0, 9999999999]")
    whole = read("(d0) -> (d0 - 1000000000), domain: d0 in [0, 11999999999]")
    padding = whole.subtract(row)
    assert str(padding) == (
        "(d0) -> (d0 - 1000000000), domain: d0 in [0, 999999999]; "
        "(d0) -> (d0 - 1000000000), domain: d0 in [11000000000, 11999999999]"
    )
    assert padding.count() == 2 * 10**9 and padding.is_disjoint(row)
    assert padding.union(row).simplify() == ix.PiecewiseMap([whole])
    assert whole.covers(padding) and not padding.covers(whole)


def test_pieces_of_a_concatenation_are_one_function() -> None:
    first = read("(d0, d1) -> (d0, d1), domain: d0 in [0, 3], d1 in [0, 99]")
    second = read("(d0, d1) -> (d0, d1), domain: d0 in [4, 9], d1 in [0, 99]")
    overlap = read("(d0, d1) -> (d0, d1), domain: d0 in [2, 6], d1 in [50, 149]")
    both = first.union(second)
    assert both.simplify().pieces == (read("(d0, d1) -> (d0, d1), domain: d0 in [0, 9], d1 in [0, 99]"),)
    assert both.union(overlap).count() == 1000 + 5 * 50
    assert both.union(overlap).is_function()
    assert not both.union(read("(d0, d1) -> (d1, d0), domain: d0 in [0, 3], d1 in [0, 3]")).is_function()
    assert (both * read("(d0, d1) -> (d0 * 100 + d1), domain: d0 in [3, 4], d1 in [0, 99]")).image_count() == 200


def test_range_variables_are_what_a_point_reads() -> None:
    """A window of three reads the elements of a shift by each of its offsets, and no others."""
    window = read("(d0)[s0] -> (d0 + s0), domain: d0 in [0, 999999], s0 in [0, 2]")
    shifts = [read(f"(d0) -> (d0 + {k}), domain: d0 in [0, 999999]") for k in range(3)]
    assert window.covers(shifts[1]) and not shifts[1].covers(window)
    assert ix.PiecewiseMap(shifts).covers(window)
    assert ix.PiecewiseMap(shifts).equivalent(window)
    assert window.union(shifts[2]).count() == 3 * 10**6
    assert window.union(shifts[2]).image_count() == 10**6 + 2
    assert not window.union(shifts[2]).is_function()
    with pytest.raises(ix.InvalidMap, match="range variables"):
        window.union(shifts[2]).evaluate([0])


@pytest.mark.parametrize(
    ("text", "error", "why"),
    [
        ("(d0) -> (d0), domain: d0 in [0, 3]; (d0 -> (1)", ix.ParseError, "column 41"),
        ("(d0) -> (d0), domain: d0 in [0, 3];", ix.ParseError, "column 36"),
        ("(d0) -> (d0), domain: d0 in [0, 3]; (d0) -> (d0, 1), domain: d0 in [0, 3]", ix.InvalidMap, "different kinds"),
        ("(d0) -> (d0), domain: d0 in [0, 3]; UNDEFINED", ix.InvalidMap, "undefined map"),
    ],
)
def test_what_is_no_relation_is_refused(text: str, error: type[ix.IndexingError], why: str) -> None:
    with pytest.raises(error, match=why):
        ix.PiecewiseMap.parse(text)


def test_a_relation_without_pieces() -> None:
    empty = ix.PiecewiseMap([])
    assert str(empty) == "KNOWN EMPTY" and ix.PiecewiseMap.parse("KNOWN EMPTY") == empty
    assert empty.is_empty() and empty.count() == 0 and empty.image_count() == 0 and empty.is_function()
    one = read("(d0) -> (d0), domain: d0 in [0, 3]")
    assert (
        one.subtract(one) == empty
        and one.covers(empty)
        and one.is_disjoint(empty)
        and one.union(empty).pieces == (one,)
    )
    with pytest.raises(ix.InvalidMap, match="without pieces"):
        empty.contains([1])


def test_pieces_beyond_the_limit_and_open_questions_are_named() -> None:
    one = read("(d0) -> (0), domain: d0 in [0, 99999]")
    points = ix.PiecewiseMap([read(f"(d0) -> (0), domain: d0 in [{20 * k}, {20 * k}]") for k in range(4096)])
    with pytest.raises(ix.Undecided, match="more than 4096 pieces"):
        points.union(read("(d0) -> (1), domain: d0 in [5, 5]"))
    quadratic = read("(d0)[s0] -> (0), domain: d0 in [0, 99999], s0 in [0, 99999], (d0 * s0) mod 65537 in [1, 1]")
    with pytest.raises(ix.Undecided):
        one.subtract(quadratic)
    with pytest.raises(TypeError, match="an IndexingMap or a PiecewiseMap, not an int"):
        one.union(3)
