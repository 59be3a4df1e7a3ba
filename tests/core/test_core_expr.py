"""Expressions, symbolic maps and intervals: values, text, equality, substitution, ranges; held against Python's integers."""

import os
import pickle
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import indexing as ix
from exact_maps import Expr, text
from expressions import expression, meaning, trees

LARGE = 2**63 - 1
v = [ix.variable(i) for i in range(4)]
points = st.lists(st.lists(st.integers(-30, 30), min_size=3, max_size=3), min_size=4, max_size=4)


@settings(max_examples=150, deadline=None)
@given(trees(3), points)
def test_values_text_and_pickles(tree: Expr, at: list[list[int]]) -> None:
    e = expression(tree)
    assert [e.evaluate(p) for p in at] == [meaning(tree, p) for p in at]
    assert ix.SymbolicExpr.parse(str(e)) == e, str(e)
    assert ix.SymbolicExpr.parse(e.to_text(style="xla")) == e
    written = text(tree)
    for spelled in (written, written.replace("floordiv", "//").replace("mod", "%")):
        read = ix.SymbolicExpr.parse(spelled)
        assert [read.evaluate(p) for p in at] == [meaning(tree, p) for p in at]
    copy = pickle.loads(pickle.dumps(e))
    assert copy == e
    assert hash(copy) == hash(e)
    columns = list(np.array(at).T)
    assert list(e.evaluate(columns)) == [meaning(tree, p) for p in at]


@settings(max_examples=60, deadline=None)
@given(trees(3), st.lists(trees(2, leaves=4), min_size=3, max_size=3), points)
def test_substitution_is_evaluation_at_the_values(tree: Expr, new: list[Expr], at: list[list[int]]) -> None:
    e = expression(tree).replace_variables([expression(n) for n in new])
    for p in at:
        assert e.evaluate(p) == meaning(tree, [meaning(n, p) for n in new])


@settings(max_examples=80, deadline=None)
@given(trees(2), st.lists(st.tuples(st.integers(-9, 9), st.integers(0, 6)), min_size=2, max_size=2))
def test_ranges_hold_all_values_and_simplify_changes_none(tree: Expr, box: list[tuple[int, int]]) -> None:
    e = expression(tree)
    intervals = [ix.Interval(low, low + n) for low, n in box]
    values = {
        (a, b): meaning(tree, [a, b])
        for a in range(intervals[0].lower, intervals[0].upper + 1)
        for b in range(intervals[1].lower, intervals[1].upper + 1)
    }
    bounds = e.range(intervals)
    assert bounds.lower <= min(values.values())
    assert max(values.values()) <= bounds.upper
    simple = e.simplify(intervals)
    assert {p: simple.evaluate(p) for p in values} == values
    for factor in (2, 3, 4):
        if e.is_multiple_of(factor):
            assert all(value % factor == 0 for value in values.values())


@pytest.mark.parametrize(
    ("given", "printed"),
    [
        ("1 + (v0 + 3) floordiv 10", "(v0 + 13) floordiv 10"),
        ("(v0 + 7) floordiv 8", "v0 ceildiv 8"),
        ("v0 * 4 + v1 * 4 - v2 * 4", "(v0 + v1 - v2) * 4"),
        ("v0 * 4 + v1 * 4 + v2 * 8 + v3 * 8", "(v0 + v1) * 4 + (v2 + v3) * 8"),
        ("-v0 + v1", "v1 - v0"),
        ("5 - v0", "5 - v0"),
        ("-v0 - 5", "-v0 - 5"),
        ("-(v0 mod 3)", "-(v0 mod 3)"),
        ("(v0 mod 3) * -3", "(v0 mod 3) * -3"),
        ("min(v0 + 5, v1, 9)", "min(v0 + 5, v1, 9)"),
        ("min(v0 + v2, v1 + v2, v3)", "min(min(v0, v1) + v2, v3)"),
        ("max(v0 - v1 * 3, 5 - v1 * 3, v2, v3)", "max(max(v0, 5) - v1 * 3, v2, v3)"),
        ("min(v0 + v1, v1, v2)", "min(v0 + v1, v1, v2)"),
        ("v0 floordiv -4", "-(v0 ceildiv 4)"),
        ("2 - (max(v0, v1 + 8) + 3) floordiv 4", "-(max(v0 - 8, v1) ceildiv 4)"),
        ("v0 % -4", "v0 mod 4"),
        ("v0 // 4 / 2", "v0 floordiv 8"),
        ("v0 * v1 * 4", "v0 * v1 * 4"),
        ("v0 floordiv v1", "v0 floordiv v1"),
        ("- - v0", "v0"),
        ("-9223372036854775808", "-9223372036854775808"),
        ("(v0 + 1) * (v1 + 2)", "(v0 + 1) * (v1 + 2)"),
    ],
)
def test_the_cheapest_spelling_is_printed(given: str, printed: str) -> None:
    e = ix.SymbolicExpr.parse(given)
    assert str(e) == printed
    assert ix.SymbolicExpr.parse(printed) == e


def test_names_and_styles() -> None:
    e = ix.SymbolicExpr.parse("th_x floordiv 4 + min(bl_x, th_x, 3)", names={"th_x": 0, "bl_x": 2})
    assert e == v[0] // 4 + v[0].min(v[2]).min(3)
    assert e.to_text(names=["a", "b", "c"]) == "a floordiv 4 + min(a, c, 3)"
    assert e.to_text(num_dims=1, style="xla") == "d0 / 4 + min(min(d0, s1), 3)"
    assert ix.SymbolicExpr.parse("d1 + s0", num_dims=2) == v[1] + v[2]
    with pytest.raises(ix.ParseError, match="num_dims"):
        ix.SymbolicExpr.parse("s0")


def test_parts() -> None:
    e = (v[0] + 2) * (v[1] + 2)
    assert e.used_variables() == [0, 1]
    assert e.replace({v[0] + 2: v[0] + 5}) == (v[0] + 5) * (v[1] + 2)
    assert e.replace({ix.constant(2): ix.constant(5)}) == (v[0] + 5) * (v[1] + 5)
    assert e.replace({v[0]: v[1], v[1]: v[0]}) == e
    assert e.postorder()[-1] == e
    assert ix.constant(7).constant_value == 7
    assert v[3].variable_index == 3
    assert e.constant_value is None
    assert e.canonicalize() == e
    assert repr(v[0] + 1) == "SymbolicExpr(v0 + 1)"
    kinds = [kind for kind, _, _ in (v[0] // 2 + v[1] % 3).nodes()]
    assert kinds.count("floordiv") == kinds.count("mod") == 1


def test_other_types_are_refused() -> None:
    with pytest.raises(TypeError):
        v[0] + 1.5  # type: ignore[operator]
    with pytest.raises(TypeError):
        v[0].evaluate([np.array([0.5])])  # type: ignore[list-item]
    assert v[0] != 1
    with pytest.raises(ix.InvalidMap, match="no value"):
        v[2].evaluate([1])


def test_overflow_is_found_and_never_wraps() -> None:
    with pytest.raises(ix.Overflow):
        v[0] * LARGE * 2
    with pytest.raises(ix.Overflow):
        ix.constant(2**63)
    with pytest.raises(ix.Overflow):
        (v[0] * 2).evaluate([LARGE])
    with pytest.raises(ix.Overflow):
        (v[0] * 2).evaluate([np.array([1, LARGE])])
    with pytest.raises(ix.Overflow):
        (v[0] // v[1]).evaluate([-(2**63), -1])
    # Partial sums may leave int64 where the sum does not.
    assert (v[0] + v[1] - v[2]).evaluate([LARGE, LARGE, LARGE]) == LARGE
    assert list((v[0] + v[1] - v[2]).evaluate([np.array([LARGE, 1])] * 3)) == [LARGE, 1]


def test_division_by_zero_is_an_error() -> None:
    with pytest.raises(ix.InvalidMap, match="divisor"):
        v[0] // 0
    with pytest.raises(ix.InvalidMap, match="divisor"):
        (v[0] % v[1]).evaluate([1, 0])
    with pytest.raises(ix.InvalidMap, match=r"line 1, column"):
        ix.SymbolicExpr.parse("v0 + v1 floordiv 0")


def test_arrays_broadcast_and_unsigned_ones_are_checked() -> None:
    e = v[0] * 10 + v[1]
    values = e.evaluate([np.arange(3)[:, None], np.arange(4, dtype=np.uint8)])
    assert values.shape == (3, 4)
    assert (values == np.arange(3)[:, None] * 10 + np.arange(4)).all()
    assert e.evaluate([np.zeros((0, 2), int), 1]).shape == (0, 2)
    assert list(e.evaluate([np.array([1, 2], dtype=np.uint64), 0])) == [10, 20]
    with pytest.raises(ix.Overflow):
        e.evaluate([np.array([2**64 - 1], dtype=np.uint64), 0])
    with pytest.raises(ix.InvalidMap, match="shapes"):
        e.evaluate([np.arange(3), np.arange(4)])


@pytest.mark.parametrize("depth", [10, 100_000])
def test_no_depth_overflows_the_stack(depth: int) -> None:
    assert ix.SymbolicExpr.parse("(" * depth + "v0" + ")" * depth) == v[0]
    assert ix.SymbolicExpr.parse("-" * (2 * depth) + "v0") == v[0]
    with pytest.raises(ix.ParseError, match=f"column {depth + 3}: expected"):
        ix.SymbolicExpr.parse("(" * depth + "v0")
    deep = "v0"
    deep = "min(v1, " * 500 + deep + ")" * 500
    assert ix.SymbolicExpr.parse(deep) == v[0].min(v[1])


def test_a_deep_expression_can_be_used() -> None:
    e = v[0]
    for k in range(2000):
        e = (e * 3 + 1) % (1009 + k % 7)
    again = ix.SymbolicExpr.parse(str(e))
    assert again == e
    value = 5
    for k in range(2000):
        value = (value * 3 + 1) % (1009 + k % 7)
    assert e.evaluate([5]) == value


def test_text_that_would_be_exponentially_long_is_refused() -> None:
    e = v[0]
    for k in range(60):
        e = (e * e + v[k % 3]).max(e * v[1] + k)
    with pytest.raises(ix.Undecided, match="longer than"):
        str(e)


@settings(max_examples=300, deadline=None)
@given(st.text(alphabet="v01 +-*/%()min,axfloordiv\n", max_size=30))
def test_any_text_is_read_or_refused(source: str) -> None:
    try:
        e = ix.SymbolicExpr.parse(source)
    except ix.IndexingError as error:
        assert str(error)
        return
    assert ix.SymbolicExpr.parse(str(e)) == e


def test_hashes_are_the_same_in_every_process() -> None:
    code = "import indexing as ix; print(hash(ix.variable(0) * 3 + 1), hash(ix.IndexingMap.identity([2, 3])))"
    actual = set()
    for seed in ("1", "2"):
        env = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(sys.path)}
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=env)
        actual.add(done.stdout)
    assert len(actual) == 1


@settings(max_examples=60, deadline=None)
@given(trees(2), trees(2))
def test_equal_means_equal_text(a: Expr, b: Expr) -> None:
    x, y = expression(a), expression(b)
    assert (x == y) == (str(x) == str(y))
    if x == y:
        assert hash(x) == hash(y)
    assume(x != y)
    assert x - x == ix.constant(0)


def test_an_interval_is_true_where_it_holds_anything() -> None:
    everything = ix.Interval(-(2**63), 2**63 - 1)
    assert ix.Interval(0, 0) and everything and not ix.Interval(1, 0)
    assert len(ix.Interval(-3, 4)) == 8 and len(ix.Interval(1, 0)) == 0
    with pytest.raises(ix.Overflow):
        len(everything)
    with pytest.raises(ix.Overflow, match="int64"):
        ix.Interval(0, 1).contains(2**63)


def test_symbolic_maps() -> None:
    m = ix.SymbolicMap.parse("(d0, d1)[s0, s1] -> (d0 + s1, d0 * 2)")
    d0, d1 = ix.variable(0), ix.variable(1)
    assert m.unused_dims() == [1]
    assert m.unused_symbols() == [0]
    assert str(m.compress_dims()) == "(d0)[s0, s1] -> (d0 + s1, d0 * 2)"
    assert str(m.compress_symbols()) == "(d0, d1)[s0] -> (d0 + s0, d0 * 2)"
    assert str(m.sub_map([1])) == "(d0, d1)[s0, s1] -> (d0 * 2)"
    assert m.evaluate([3, 0], [0, 4]) == (7, 6)
    assert str(m.compose(ix.SymbolicMap.parse("(d0)[s0] -> (d0 - 10, d0 + s0)"))) == (
        "(d0)[s0, s1, s2] -> (d0 + s1 - 10, d0 * 2 - 20)"
    )
    assert str(m.replace_dims_and_symbols([d1, ix.constant(2)], [], 2, 2)) == "(d0, d1)[s0, s1] -> (d1 + s1, d1 * 2)"
    assert ix.SymbolicMap.identity(3).is_identity
    assert not m.is_identity
    assert ix.SymbolicMap(2, 0, [1, 2]).is_constant
    assert pickle.loads(pickle.dumps(m)) == m
    assert repr(ix.SymbolicMap.identity(1)) == "SymbolicMap((d0) -> (d0))"
    assert ix.SymbolicMap(1, 0, [d0]) == ix.SymbolicMap.identity(1)
    with pytest.raises(ix.InvalidMap):
        m.sub_map([2])
    with pytest.raises(ix.InvalidMap):
        m.compose(m.sub_map([0]))


def test_intervals() -> None:
    a = ix.Interval(-2, 5)
    assert a + 1 == ix.Interval(-1, 6)
    assert 1 - a == ix.Interval(-4, 3)
    assert a * (-1, 2) == ix.Interval(-5, 10)
    assert a.floordiv(2) == a // 2 == ix.Interval(-1, 2)
    assert (a.min(3), a.max(3)) == (ix.Interval(-2, 3), ix.Interval(3, 5))
    assert a.intersect((4, 9)).union(7) == ix.Interval(4, 7)
    assert a.gt(-3) is True
    assert a.lt(-2) is False
    assert a.eq(3) is None
    assert ix.Interval(3, 3).eq(3) is True
    assert 5 in a
    assert a.contains((0, 5))
    assert ix.Interval(3, 2).is_empty
    assert len(a) == 8
    assert ix.Interval(-(2**63), 0) + -1 == ix.Interval(-(2**63), -1)
    assert pickle.loads(pickle.dumps(a)) == a
    assert pickle.loads(pickle.dumps(ix.Variable("x", a))) == ix.Variable("x", (-2, 5))
    assert str(a) == "[-2, 5]"
    assert repr(a) == "Interval(-2, 5)"
    with pytest.raises(ix.InvalidMap):
        a.floordiv(0)
    with pytest.raises(ix.Overflow):
        ix.Interval(0, 2**63)
