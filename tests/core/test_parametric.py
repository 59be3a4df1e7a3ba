"""Maps in parameters: each instance is what `simplify` makes of the map with the values in it."""

import dataclasses
import itertools
import pickle
import random

import hypothesis
import hypothesis.strategies as st
import numpy as np
import pytest

import indexing as ix
from exact_maps import Style, random_map

TILES = (
    "(d0, T)[s0] -> (d0 * T + s0), domain: d0 in [0, 99], T in [1, 64], s0 in [0, 63], "
    "T - s0 in [1, 64], d0 * T + s0 in [0, 99]"
)
SETTINGS = hypothesis.settings(max_examples=60, deadline=None)


def with_value(m: ix.IndexingMap, name: str, value: int) -> ix.IndexingMap:
    """The map without the variable, written with its value: not through the code under test."""
    if m.is_known_empty:
        return m
    names = [v.name for v in m.variables]
    place = names.index(name)
    moved = [ix.constant(value) if k == place else ix.variable(k - (k > place)) for k in range(len(names))]
    kept = [[v for v in part if v.name != name] for part in (m.dims, m.ranges, m.runtimes)]
    results = [e.replace_variables(moved) for e in m.results]
    symbolic = ix.SymbolicMap(len(kept[0]), len(kept[1]) + len(kept[2]), results)
    return ix.IndexingMap(symbolic, *kept, [(e.replace_variables(moved), i) for e, i in m.constraints])


def test_tiles_of_each_size() -> None:
    m = ix.IndexingMap.parse(TILES)
    sizes = np.array([5, 64, 1, 5, 10, 99 - 50])
    instantiated = m.with_parameters(T=(1, 64)).instantiate(T=sizes)
    assert len(instantiated) == 6 and len(instantiated.maps) == 5
    assert [instantiated[k] for k in range(6)] == [with_value(m, "T", int(t)).simplify() for t in sizes]
    assert str(instantiated[-2]) == "(d0)[s0] -> (d0 * 10 + s0), domain: d0 in [0, 9], s0 in [0, 9]"
    assert instantiated[0] is instantiated[3] and instantiated.index.tolist() == [0, 1, 2, 0, 3, 4]
    assert m.with_parameters(T=None).instantiate(T=10) == instantiated[4]


def test_it_is_simplified_once_for_all_values() -> None:
    m = ix.IndexingMap.parse(
        "(d0, N, T)[s0] -> ((d0 * T + s0) floordiv T, (d0 * T) mod T, N mod 4), "
        "domain: d0 in [0, 99], N in [1, 2], T in [1, 2], s0 in [0, 0]"
    )
    actual = m.with_parameters(T=None, N=range(4, 400, 4)).map
    assert str(actual.results[1]) == "0" and str(actual.results[2]) == "0"
    assert m.with_parameters(N=range(4, 400, 4), T=None).parameters == {"N": range(4, 397, 4), "T": range(1, 2**63)}


SIZE = st.integers(1, 40)
EXPRESSIONS = st.recursive(
    st.sampled_from(["d0", "d1", "s0", "T", "U"]),
    lambda inner: st.one_of(
        st.tuples(inner, st.integers(-5, 5)).map(lambda p: f"({p[0]} + {p[1]})"),
        st.tuples(inner, st.sampled_from(["T", "U", "3", "-2"])).map(lambda p: f"({p[0]} * {p[1]})"),
        st.tuples(inner, st.sampled_from(["T", "U", "4", "-3"]), st.sampled_from(["floordiv", "mod", "ceildiv"])).map(
            lambda p: f"({p[0]} {p[2]} {p[1]})"
        ),
        st.tuples(inner, inner).map(lambda p: f"({p[0]} - {p[1]})"),
        st.tuples(inner, inner).map(lambda p: f"min({p[0]}, {p[1]})"),
    ),
    max_leaves=6,
)


@SETTINGS
@hypothesis.given(
    st.lists(EXPRESSIONS, min_size=1, max_size=2), EXPRESSIONS, st.lists(SIZE, min_size=3, max_size=3), st.data()
)
def test_instances_are_equal_to_simplifying_each(
    results: list[str], condition: str, sizes: list[int], data: st.DataObject
) -> None:
    text = f"(d0, T, d1)[s0, U] -> ({', '.join(results)}), domain: d0 in [0, {sizes[0]}], T in [1, 50], "
    text += f"d1 in [0, {sizes[1]}], s0 in [0, {sizes[2]}], U in [1, 50], {condition} in [-9, 30]"
    m = ix.IndexingMap.parse(text)
    hypothesis.assume(not m.is_known_empty)
    tiles = np.array(data.draw(st.lists(SIZE, min_size=4, max_size=4)))
    instantiated = m.with_parameters(U=(1, 50), T=range(1, 51)).instantiate(T=tiles, U=7)
    for t, instance in zip(tiles, instantiated, strict=True):
        assert instance == with_value(with_value(m, "T", int(t)), "U", 7).simplify()


@SETTINGS
@hypothesis.given(
    st.lists(EXPRESSIONS, min_size=1, max_size=2),
    EXPRESSIONS,
    st.lists(st.integers(1, 5), min_size=3, max_size=3),
    st.lists(st.tuples(st.integers(1, 12), st.integers(1, 12)), min_size=1, max_size=5),
)
def test_columns_say_what_the_maps_say_at_every_point(
    results: list[str], condition: str, sizes: list[int], values: list[tuple[int, int]]
) -> None:
    text = f"(d0, T, d1)[s0, U] -> ({', '.join(results)}), domain: d0 in [0, {sizes[0]}], T in [1, 12], "
    text += f"d1 in [0, {sizes[1]}], s0 in [0, {sizes[2]}], U in [1, 12], {condition} in [-9, 30]"
    m = ix.IndexingMap.parse(text)
    hypothesis.assume(not m.is_known_empty)  # by a constant that is no value of its constraint: no variables are left
    parametric = m.with_parameters(U=(1, 12), T=(1, 12))
    instantiated = parametric.instantiate(T=np.array([t for t, _ in values]), U=np.array([u for _, u in values]))
    assert {name: column.tolist() for name, column in instantiated.values.items()} == {
        "T": [t for t, _ in values],
        "U": [u for _, u in values],
    }
    for row, (t, u) in enumerate(values):
        plain = with_value(with_value(m, "T", t), "U", u)
        wanted = {} if plain.is_known_empty else {p: plain.evaluate(*p) for p in plain.points()}
        assert found_points(parametric.map, instantiated, row, t, u) == wanted


def found_points(m: ix.IndexingMap, actual: ix.Instances, row: int, t: int, u: int) -> dict[object, tuple[int, ...]]:
    """The points of an instance with its results, from its columns."""
    if m.is_known_empty:
        assert actual.results == actual.constraints == ()
        return {}

    def total(terms: tuple[tuple[ix.SymbolicExpr, np.ndarray], ...], point: tuple[int, ...]) -> int:
        return sum(int(column[row]) * factor.evaluate(point) for factor, column in terms)

    points: dict[object, tuple[int, ...]] = {}
    free = [v.interval for v in m.variables if v.name not in ("T", "U")]
    for d0, d1, s0 in itertools.product(*(range(i.lower, i.upper + 1) for i in free)):
        point = (d0, t, d1, s0, u)
        if all(lower[row] <= total(terms, point) <= upper[row] for terms, lower, upper in actual.constraints):
            points[(d0, d1), (s0,)] = tuple(total(terms, point) for terms in actual.results)
    return points


def test_strides_and_bounds_of_tiles_are_arrays() -> None:
    parsed = ix.IndexingMap.parse(
        "(d0, T)[s0] -> (d0 * T + s0, (d0 * 4 + T * 3 - 2) * T, s0 floordiv T), domain: d0 in [0, 99], T in [1, 64], "
        "s0 in [0, 63], s0 - T in [-64, -1]"
    )
    tiles = parsed.with_parameters(T=(1, 64)).instantiate(T=np.array([8, 32]))
    d0, s0, one = ix.variable(0), ix.variable(2), ix.constant(1)
    first, second, third = ({f: c.tolist() for f, c in terms} for terms in tiles.results)
    assert (
        first == {d0: [8, 32], s0: [1, 1]}
        and second == {d0: [32, 128], one: [8 * 22, 32 * 94]}
        and third == {one: [0, 0]}
    )
    ((terms, least, greatest),) = tiles.constraints
    assert [(f, c.tolist()) for f, c in terms] == [(s0, [-1, -1])]
    assert (least.tolist(), greatest.tolist()) == ([1 - 8, 1 - 32], [64 - 8, 64 - 32])


def test_maps_are_made_when_asked_for_and_once() -> None:
    m = ix.IndexingMap.parse("(d0, T) -> (d0 * T * 1000000000), domain: d0 in [0, 9], T in [1, 1]").with_parameters(
        T=None
    )
    instantiated = m.instantiate(T=np.array([1, 10**15, 3]))
    assert instantiated[2] == m.instantiate(T=3) and instantiated[2] is instantiated[-1]
    for asked in (lambda: instantiated[1], lambda: instantiated.maps, lambda: instantiated.results):
        with pytest.raises(ix.Overflow):
            asked()
    with pytest.raises(ix.Overflow, match="item 1: "):
        _ = instantiated[1]
    again = m.instantiate(T=np.array([2, 3, 2]))
    last = again[2]
    assert again.maps[0] is last and again.maps[0] is again[0] and again.maps[1] is again[1]


def test_columns_broadcast_and_rows_are_counted_once() -> None:
    m = ix.IndexingMap.parse("(d0, A, B) -> (d0 * A + B), domain: d0 in [0, 9], A in [1, 1], B in [1, 1]")
    instantiated = m.with_parameters(A=(1, 10), B=(1, 10)).instantiate(A=np.array([1, 2, 1, 2]), B=np.int32(3))
    assert len(instantiated.maps) == 2 and instantiated.index.tolist() == [0, 1, 0, 1]
    empty = m.with_parameters(A=(1, 10), B=(1, 10)).instantiate(A=np.array([], np.int64), B=3)
    assert len(empty) == 0 and empty.maps == ()


def test_values_are_checked() -> None:
    tiles = ix.IndexingMap.parse(TILES).with_parameters(T=range(8, 65, 8))
    with pytest.raises(ix.InvalidMap, match=r"item 2: T lies in \[8, 64\] in steps of 8; got 12"):
        tiles.instantiate(T=np.array([8, 64, 12]))
    with pytest.raises(ix.InvalidMap, match="parameter T has no value"):
        tiles.instantiate()
    with pytest.raises(ix.InvalidMap, match="no parameter 'X'|no parameter X"):
        tiles.instantiate(T=8, X=1)
    with pytest.raises(ix.InvalidMap, match="no variable"):
        ix.IndexingMap.parse(TILES).with_parameters(X=None)
    with pytest.raises(ix.InvalidMap, match="its range is empty"):
        ix.IndexingMap.parse(TILES).with_parameters(T=range(5, 5))
    with pytest.raises(TypeError, match="integers"):
        tiles.instantiate(T=np.array([8.0]))
    with pytest.raises(IndexError, match="2 instances"):
        tiles.instantiate(T=np.array([8, 16]))[2]
    with pytest.raises(ix.InvalidMap, match="undefined"):
        ix.IndexingMap.undefined().with_parameters()


def test_they_are_values() -> None:
    tiles = ix.IndexingMap.parse(TILES).with_parameters(T=range(8, 65, 8))
    again = pickle.loads(pickle.dumps(tiles))
    assert again == tiles and hash(again) == hash(tiles) and repr(again) == repr(tiles)
    assert tiles != ix.IndexingMap.parse(TILES).with_parameters(T=(8, 64))


def test_an_instance_has_the_points_of_the_map_with_that_value() -> None:
    style = Style(most_points=200, largest_size=5, huge_numbers=False)
    checked = 0
    for number in range(150):
        source = random_map(random.Random(f"instances/{number}"), style)
        if len(source.names) < 2:
            continue
        name, other = source.names[0], source.names[-1]
        # Whether the divisor is 0 depends on the other variable, where the dividend is 0.
        divided = ("floordiv", ("floordiv", name, 2), ("-", other, name))
        source = dataclasses.replace(source, results=(*source.results, divided))
        m = ix.IndexingMap.parse(str(source))
        if m.is_known_empty:
            assert not any(map(source.contains, source.box()))
            continue
        values = m.variables[0].interval
        parametric = m.with_parameters(**{name: values})
        for value in range(values.lower, values.upper + 1):
            points = [p for p in source.box() if p[name] == value and source.contains(p)]
            (instance,) = parametric.instantiate(**{name: [value]}).maps
            assert instance.count() == len(points), (str(source), value)
            checked += len(points)
    assert checked > 1000
