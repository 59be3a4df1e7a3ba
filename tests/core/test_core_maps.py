"""Maps: text, domain, values, composition, variables; held against enumeration."""

import itertools
import pickle

import numpy as np
import pytest
from hypothesis import given, settings

import indexing as ix
from random_maps import Parts, graph, parts

MAP = (
    "(d0, d1)[s0]{rt0} -> (d0 * 8 + s0, rt0 + d1 floordiv 4), domain: d0 in [0, 3], d1 in [0, 7], s0 in [0, 7], "
    "rt0 in [0, 4], d0 + s0 in [0, 9]"
)


def read(text: str) -> ix.IndexingMap:
    return ix.IndexingMap.parse(text)


@settings(max_examples=60, deadline=None)
@given(parts())
def test_a_map_means_its_parts_and_round_trips(p: Parts) -> None:
    m = p.map()
    expected = p.graph()
    assert graph(m) == expected
    assert read(str(m)) == m
    assert read(m.to_text(style="xla")) == m
    copy = pickle.loads(pickle.dumps(m))
    assert copy == m
    assert hash(copy) == hash(m)
    simple = m.simplify()
    assert graph(simple) == expected
    assert read(str(simple)) == simple
    if not m.is_known_empty:
        for symbol in (*m.results, *(e for e, _ in m.constraints)):
            bounds = m.range(symbol)
            assert all(bounds.contains(symbol.evaluate(list(point))) for point in expected)


@settings(max_examples=40, deadline=None)
@given(parts(), parts())
def test_composition_follows_the_definition(p: Parts, q: Parts) -> None:
    expected = {}
    for x, y in p.graph().items():
        for symbols in itertools.product(*(range(a, b + 1) for a, b in q.ranges + q.runtimes)):
            z = y + symbols
            if all(a <= v <= b for v, (a, b) in zip(y, q.dims, strict=True)) and q.inside(z):
                # Dimensions, the second's range, the first's range, the second's runtime variable, the first's.
                expected[(*x[:2], symbols[0], x[2], symbols[1], x[3])] = q.values(z)
    first, second = p.map(), q.map()
    composed = ix.compose(first, second)
    assert graph(composed) == expected
    assert first * second == composed
    assert graph(composed.simplify()) == expected
    assert ix.compose_all([(first, second)], simplify=False) == [composed]
    assert ix.compose_all([(first, second)]) == [composed.simplify()]


@settings(max_examples=40, deadline=None)
@given(parts())
def test_changes_of_variables_keep_the_relation(p: Parts) -> None:
    m = p.map()
    if m.is_known_empty:
        return
    pairs = {(x[:2], y) for x, y in p.graph().items()}
    assert {(x[:2], y) for x, y in graph(m.remove_unused_symbols()).items()} == pairs
    assert set(graph(m.remove_unused_variables()).values()) == {y for _, y in pairs}
    assert graph(m.symbols_to_dims()) == p.graph()
    moved = m.ranges_to_dims(["s0"])
    assert graph(moved) == p.graph()
    rescaled = m.rescale_symbols()
    assert {(x[:2], y) for x, y in graph(rescaled).items()} == pairs
    for changed in (moved, rescaled, m.symbols_to_dims()):
        assert changed.verify()
        assert read(str(changed)) == changed


@settings(max_examples=30, deadline=None)
@given(parts())
def test_arrays_give_what_points_give(p: Parts) -> None:
    m = p.map()
    if m.is_known_empty:
        return
    box = list(p.box())
    columns = list(np.array(box).T)
    inside = m.contains(columns[:2], columns[2:])
    assert inside.dtype == bool
    assert inside.tolist() == [p.inside(x) for x in box]
    assert [m.contains(x[:2], x[2:]) for x in box[:20]] == inside.tolist()[:20]
    actual = np.stack(m.evaluate(columns[:2], columns[2:]), axis=1)
    assert [tuple(row) for row in actual.tolist()] == [p.values(x) for x in box]


@settings(max_examples=40, deadline=None)
@given(parts())
def test_points_come_as_arrays_too(p: Parts) -> None:
    m = p.map()
    points = [(*dims, *symbols) for dims, symbols in m.points()]
    dims, symbols = m.points().arrays()
    assert [len(dims), len(symbols)] == [m.num_dims, m.num_ranges + m.num_runtimes]
    assert list(zip(*(x.tolist() for x in (*dims, *symbols)), strict=True)) == points
    some = m.points()
    first = [next(some) for _ in range(min(2, len(points)))]
    rest, _ = some.arrays()
    assert [x.tolist() for x in rest] == [[point[k] for point in points[len(first) :]] for k in range(len(rest))]
    assert list(some) == []


@pytest.mark.parametrize(
    ("sizes", "constraint"),
    [
        ((1000, 3, 70), None),
        ((300, 1, 300), "(d0 * 3 + d2) mod 7 in [0, 2]"),
        ((2, 90000), "d0 + d1 in [40000, 41000]"),
        ((70000, 2), "d0 floordiv (d1 + 1) in [5, 33000]"),
    ],
)
def test_many_points_as_arrays_are_those_of_numpy(sizes: tuple[int, ...], constraint: str | None) -> None:
    bounds = ", ".join(f"d{k} in [0, {n - 1}]" for k, n in enumerate(sizes))
    names = ", ".join(f"d{k}" for k in range(len(sizes)))
    m = read(f"({names}) -> (d0), domain: {bounds}" + (f", {constraint}" if constraint else ""))
    d = [x.ravel() for x in np.meshgrid(*map(np.arange, sizes), indexing="ij")]
    inside = {
        None: lambda: d[0] >= 0,
        "(d0 * 3 + d2) mod 7 in [0, 2]": lambda: (d[0] * 3 + d[2]) % 7 <= 2,
        "d0 + d1 in [40000, 41000]": lambda: (d[0] + d[1] >= 40000) & (d[0] + d[1] <= 41000),
        "d0 floordiv (d1 + 1) in [5, 33000]": lambda: (d[0] // (d[1] + 1) >= 5) & (d[0] // (d[1] + 1) <= 33000),
    }[constraint]()
    dims, _ = m.points().arrays()
    assert all((x == y[inside]).all() for x, y in zip(dims, d, strict=True))
    assert (m.contains(d) == inside).all()
    assert (m.evaluate(dims)[0] == dims[0]).all()


def test_points_that_no_memory_holds_are_refused() -> None:
    with pytest.raises(MemoryError, match="iterate"):
        read("(d0, d1) -> (d0), domain: d0 in [0, 99999999999], d1 in [0, 99999999999]").points().arrays()
    assert read("() -> (3)").points().arrays() == ((), ())


def test_arrays_are_taken_in_every_form() -> None:
    m = read(
        "(d0, d1) -> ((d0 * 70001 + d1 - 5) floordiv 13, (d1 - d0) mod 29, d0), domain: d0 in [-9, 700], d1 in [0, 400]"
    )
    rows, columns = np.arange(-9, 300)[:, None], np.arange(401)[None, :]
    expected = [
        (rows * 70001 + columns - 5) // 13,
        (columns - rows) % 29,
        np.broadcast_to(rows, (309, 401)),
    ]
    whole = np.broadcast_arrays(rows, columns)
    three = columns.reshape(1, 1, 401, 1)  # a last dimension of one element, and one that the other array lacks
    given = [
        (rows, columns),
        (whole[0], whole[1]),
        (np.asfortranarray(whole[0]), whole[1].astype(np.int16)),
        (whole[0].astype(">i8"), whole[1].astype(np.uint16)),
        (rows.tolist(), memoryview(columns)),
    ]
    for values in given:
        assert all((x == y).all() and x.shape == y.shape for x, y in zip(m.evaluate(values), expected, strict=True))
    deep = m.evaluate([rows[:, :, None], three])
    assert all((x[0, :, :, 0] == y).all() and x.shape == (1, 309, 401, 1) for x, y in zip(deep, expected, strict=True))


def test_text() -> None:
    m = read(MAP)
    assert str(m) == MAP
    assert repr(m) == f"IndexingMap({MAP})"
    free = MAP.replace(", ", ",\n  ").replace("floordiv", "//") + ","
    assert read(free) == m
    assert m.to_text(style="xla") == MAP.replace("floordiv", "/")
    assert [x.name for x in m.variables] == ["d0", "d1", "s0", "rt0"]
    assert (m.num_dims, m.num_ranges, m.num_runtimes, m.num_results) == (2, 1, 1, 2)
    assert m.dims[1].interval == ix.Interval(0, 7)
    assert [(str(e), str(i)) for e, i in m.constraints] == [("v0 + v2", "[0, 9]")]
    assert str(m.symbolic_map) == "(d0, d1)[s0, s1] -> (d0 * 8 + s0, s1 + d1 floordiv 4)"


@pytest.mark.parametrize(
    "text",
    [
        "KNOWN EMPTY",
        "UNDEFINED",
        "() -> ()",
        "() -> (5, -3)",
        "()[s0] -> (s0), domain: s0 in [-9223372036854775808, 9223372036854775807]",
        "(th_x, bl_x)[vector_index] -> (th_x + vector_index), domain: th_x in [0, 3], bl_x in [0, 1], "
        "vector_index in [0, 2]",
        "(d1, d0) -> (d1, d0), domain: d1 in [0, 3], d0 in [0, 1]",
        "(größe, ä.ß) -> (größe), domain: größe in [0, 3], ä.ß in [0, 1]",
        "(){a, b} -> (a mod 4), domain: a in [0, 9], b in [0, 1], a - b * 2 in [0, 3]",
    ],
)
def test_texts_that_print_as_they_are_read(text: str) -> None:
    m = read(text)
    assert str(m) == text
    assert pickle.loads(pickle.dumps(m)) == m


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("(d0 -> (d0)", "line 1, column 5: expected a dimension, ',' or '\\)'"),
        ("(d0) (d0)", "column 6: expected '->'"),
        ("(d0) -> d0", "column 9: expected '\\('"),
        ("(d0) -> (d0)", "expected `, domain:`"),
        ("(d0, d1) -> (d0), domain: d0 in [0, 1]", "expected the bounds of d1"),
        ("(d0) -> (d1), domain: d0 in [0, 1]", 'column 10: expected a variable .* found "d1"'),
        ("(d0) -> (d0), domain: d0 in [0 1]", "column 32: expected ','"),
        ("(d0) -> (d0), domain: d0 in [0, 1] d0", "column 36: expected ',' or the end"),
        ("(d0) -> (d0), domain: d0 in [0, 9223372036854775808]", "64 bits"),
        ("(d0, d0) -> (d0), domain: d0 in [0, 1]", 'once, found "d0" twice'),
        ("(mod) -> (mod), domain: mod in [0, 1]", "expected a name"),
        ("(d0)\n -> (d0 +\n ), domain: d0 in [0, 1]", "line 3, column 2: expected an expression"),
        ("(d0) -> (foo(d0)), domain: d0 in [0, 1]", "column 10: expected a variable"),
        ("UNDEFINED x", "expected the end"),
        ("KNOWN", "expected EMPTY"),
        ("", "expected '\\('"),
    ],
)
def test_texts_that_are_refused(text: str, message: str) -> None:
    with pytest.raises(ix.ParseError, match=message) as caught:
        read(text)
    assert ("^" in str(caught.value)) is bool(text)  # nothing is shown of an empty line


def test_constraints_settle() -> None:
    assert str(read("(d0) -> (d0), domain: d0 in [0, 9], d0 in [2, 20], 3 in [0, 5]")) == (
        "(d0) -> (d0), domain: d0 in [2, 9]"
    )
    assert read("(d0) -> (d0), domain: d0 in [0, 9], d0 mod 3 in [0, 1], d0 mod 3 in [1, 2]") == read(
        "(d0) -> (d0), domain: d0 in [0, 9], d0 mod 3 in [1, 1]"
    )
    for text in (
        "d0 in [1, 0]",
        "d0 in [0, 1], 7 in [0, 5]",
        "d0 in [0, 1], d0 + 1 in [5, 4]",
        "d0 in [0, 1], d0 in [2, 3]",
    ):
        m = read(f"(d0) -> (d0), domain: {text}")
        assert m.is_known_empty
        assert str(m) == "KNOWN EMPTY"
        assert m == ix.IndexingMap.known_empty()
    one = read("(d0, d1) -> (d0), domain: d0 in [0, 9], d1 in [0, 9], d0 + d1 in [0, 5], d0 mod 2 in [0, 0]")
    other = read("(d0, d1) -> (d0), domain: d0 in [0, 9], d1 in [0, 9], d0 mod 2 in [0, 0], d1 + d0 in [0, 5]")
    assert one == other
    assert str(one) == str(other)


def test_constructors() -> None:
    d0, d1, s0 = (ix.variable(i) for i in range(3))
    m = ix.IndexingMap(
        ix.SymbolicMap(2, 1, [d0 + s0, d1]),
        dims=[("th_x", ix.Interval(0, 3)), (0, 4)],
        ranges=[ix.Variable("s0", (0, 2))],
        constraints={d0 + s0: (0, 3)},
    )
    assert (
        str(m)
        == "(th_x, d1)[s0] -> (th_x + s0, d1), domain: th_x in [0, 3], d1 in [0, 4], s0 in [0, 2], th_x + s0 in [0, 3]"
    )
    assert ix.IndexingMap.from_tensor_sizes([d0 * 4 + d1, s0], [3, 4], runtime_bounds=[(0, 5)]) == read(
        "(d0, d1){rt0} -> (d0 * 4 + d1, rt0), domain: d0 in [0, 2], d1 in [0, 3], rt0 in [0, 5]"
    )
    assert ix.IndexingMap.from_tensor_sizes(m.symbolic_map, [3, 4], [2]).num_ranges == 1
    assert str(ix.IndexingMap.identity([2, 3])) == "(d0, d1) -> (d0, d1), domain: d0 in [0, 1], d1 in [0, 2]"
    assert ix.IndexingMap.identity([2, 0]).is_known_empty
    assert ix.IndexingMap.undefined().is_undefined
    assert m.add_constraint(d1, (1, 2)).dims[1].interval == ix.Interval(1, 2)
    assert m.add_constraint(d0, (9, 9)).is_known_empty


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: ix.IndexingMap(ix.SymbolicMap(1, 0, []), [(0, 1)], [(0, 1)]), "1 dimensions and 0 symbols"),
        (lambda: ix.IndexingMap.from_tensor_sizes([ix.variable(2)], [2, 2]), "variable 2 is used"),
        (lambda: ix.IndexingMap.from_tensor_sizes([], [-1]), "a size is -1"),
        (lambda: ix.IndexingMap(ix.SymbolicMap(2, 0, []), [("a", (0, 1)), ("a", (0, 1))]), 'the name "a"'),
        (lambda: ix.IndexingMap(ix.SymbolicMap(1, 0, []), [("a b", (0, 1))]), "is no name"),
        (lambda: ix.IndexingMap(ix.SymbolicMap(1, 0, []), [('");system(', (0, 1))]), "is no name"),
        (lambda: read(MAP).add_constraint(ix.variable(7), (0, 1)), "variable 7 is used"),
        (lambda: read(MAP).evaluate([1], [1, 1]), "dims has 1 values, the map has 2"),
        (lambda: read(MAP).ranges_to_dims(["s7"]), "no variable"),
        (lambda: read(MAP).ranges_to_dims(["d0"]), "no range variable"),
        (lambda: ix.compose(read(MAP), ix.IndexingMap.identity([2])), "a map of 1 dimension cannot follow a map of 2"),
        (lambda: ix.IndexingMap.undefined().points(), "undefined"),
        (lambda: ix.SymbolicMap(1, 0, [ix.variable(1)]), "variable 1 is used"),
    ],
)
def test_parts_that_do_not_fit(make: object, message: str) -> None:
    assert callable(make)
    with pytest.raises(ix.InvalidMap, match=message):
        make()


def test_names_are_kept_and_never_collide() -> None:
    first = read("(th_x)[i] -> (th_x + i), domain: th_x in [0, 3], i in [0, 1]")
    second = read(
        "(d0)[i, s1]{rt0} -> (d0 * 4 + i + s1 + rt0), domain: d0 in [0, 9], i in [0, 3], s1 in [0, 1], rt0 in [0, 1]"
    )
    assert str(first * second) == (
        "(th_x)[i, s1, s2]{rt0} -> ((th_x + s2) * 4 + i + s1 + rt0), domain: th_x in [0, 3], i in [0, 3], s1 in [0, 1], "
        "s2 in [0, 1], rt0 in [0, 1], th_x + s2 in [0, 9]"
    )
    swapped = read("(d1, d0, x)[s0] -> (d0 + s0), domain: d1 in [0, 3], d0 in [0, 1], x in [0, 1], s0 in [0, 1]")
    assert [v.name for v in swapped.remove_unused_variables().variables] == ["d0", "s0"]
    assert [v.name for v in swapped.symbols_to_dims().variables] == ["d0", "d1", "x", "d3"]


def test_unused_variables() -> None:
    m = read(
        "(d0)[s0, s1, s2]{rt0, rt1} -> (d0 * 4 + s1 + rt0), domain: d0 in [0, 31], s0 in [0, 0], s1 in [0, 1], s2 in [0, 2], "
        "rt0 in [0, 3], rt1 in [0, 4], d0 * 4 + s1 + rt0 in [24, 459], s2 mod 2 in [0, 0], s0 + rt1 in [1, 9]"
    )
    assert str(m.remove_unused_symbols()) == (
        "(d0)[s0]{rt0} -> (d0 * 4 + s0 + rt0), domain: d0 in [0, 31], s0 in [0, 1], rt0 in [0, 3], "
        "d0 * 4 + s0 + rt0 in [24, 459]"
    )
    # A constraint on removed variables that cannot hold empties the domain.
    assert (
        read("(d0)[s0] -> (d0), domain: d0 in [0, 1], s0 in [0, 5], s0 mod 7 in [6, 6]")
        .remove_unused_symbols()
        .is_known_empty
    )


def test_rescaling() -> None:
    m = read(
        "(d0)[s0, s1] -> (s0, s0 floordiv 6, s1), domain: d0 in [0, 3], s0 in [0, 41], s1 in [0, 5], s0 mod 6 in [3, 3]"
    )
    assert str(m.rescale_symbols().simplify()) == (
        "(d0)[s0, s1] -> (s0 * 6 + 3, s0, s1), domain: d0 in [0, 3], s0 in [0, 6], s1 in [0, 5]"
    )


def test_points_come_lazily_and_in_order() -> None:
    m = read("(d0)[s0] -> (d0), domain: d0 in [0, 1000000000000], s0 in [0, 1], d0 mod 2 in [1, 1]")
    assert list(itertools.islice(m.points(), 3)) == [((1,), (0,)), ((1,), (1,)), ((3,), (0,))]
    # Where a constraint divides by 0 it does not hold.
    assert list(read("(d0) -> (), domain: d0 in [-1, 1], 4 floordiv d0 in [-9, 9]").points()) == [
        ((-1,), ()),
        ((1,), ()),
    ]


def test_points_on_a_line_are_solved() -> None:
    # For each a there are one or two b, of a hundred thousand.
    m = read("(a, b) -> (a), domain: a in [0, 100000], b in [0, 100000], (a * b) mod 65537 in [1, 1]")
    (a, b), _ = m.points().arrays()
    inverses = [(x, pow(x, -1, 65537)) for x in range(100_001) if x % 65537]
    assert list(zip(a.tolist(), b.tolist(), strict=True)) == [
        (x, z) for x, y in inverses for z in (y, y + 65537) if z <= 100_000
    ]


def test_undefined_and_empty_maps_pass_through() -> None:
    undefined, empty, one = ix.IndexingMap.undefined(), ix.IndexingMap.known_empty(), ix.IndexingMap.identity([3])
    assert (one * undefined).is_undefined
    assert (undefined * empty).is_undefined
    assert (one * empty).is_known_empty
    assert undefined.simplify() == undefined
    assert empty.simplify().remove_unused_variables() == empty
    assert list(empty.points()) == []
    assert undefined != empty
    for m in (undefined, empty):
        with pytest.raises(ix.InvalidMap):
            m.evaluate([])


ENDS = [
    "(d0, d1) -> (d0 + d1), domain: d0 in [0, 2], d1 in [5, 5], d0 * d1 * 4611686018427387904 in [-3, 7]",
    "(d0, d1) -> (d0), domain: d0 in [9223372036854775806, 9223372036854775806], d1 in [-1, 5],"
    " (d1 * -5 * d0) floordiv 6 in [2, 5]",
    "(d0) -> (d0 floordiv 5), domain: d0 in [9223372036854775803, 9223372036854775806],"
    " ((d0 mod 2) * 4 + d0 mod 8) * 2 + (d0 mod 32) floordiv 4 in [-5, 25]",
    "(d0, d1, d2) -> ((d0 * 2 + (d2 floordiv 2) * 2 - d2) mod 4), domain: d0 in [0, 1], d1 in [0, 1], d2 in [0, 3],"
    " d0 - d1 in [0, 0]",
]


@pytest.mark.parametrize("text", ENDS)
def test_simplified_once_is_simplified(text: str) -> None:
    once = read(text).simplify()
    assert once.simplify() == once


def test_constraints_with_the_least_number_keep_their_points() -> None:
    once = read(
        "(d0, d1) -> (d0), domain: d0 in [-1, 1], d1 in [0, 3],"
        " d0 ceildiv 6 + d0 * 2 + (d0 + d1) * -9223372036854775808 in [0, 30]"
    ).simplify()
    inside = {(x, y) for x in range(-1, 2) for y in range(4) if 0 <= -(-x // 6) + 2 * x + (x + y) * -(2**63) <= 30}
    assert {(x, y) for x in range(-1, 2) for y in range(4) if once.contains([x, y])} == inside


def test_quotients_of_the_greatest_number_are_bounded() -> None:
    m = read(
        "(d0) -> (9223372036854775807 floordiv d0, max(d0 * 2, 9223372036854775807 floordiv d0)), domain: d0 in [2147483646, 2147483648]"
    )
    bounds = m.range(m.results[0])
    assert bounds.lower <= 9223372036854775807 // 2147483648
    assert m.simplify().evaluate([2147483648]) == (4294967295, 4294967296)


def test_explain_names_rules_and_facts() -> None:
    steps = read("(d0) -> (d0 floordiv 7, d0 mod 8), domain: d0 in [0, 6]").explain()
    equal = [s for s in steps if s.claim == "equal"]
    assert [(s.rule, s.before, s.after) for s in equal] == [
        ("single-value", "d0 floordiv 7", "0"),
        ("remainder-in-period", "d0 mod 8", "d0"),
    ]
    assert [s.facts for s in equal] == [("d0 floordiv 7 in [0, 0]",), ("d0 in [0, 6]",)]


def wide(count: int) -> ix.IndexingMap:
    """Variable `v` times `v + 1`, summed; then each variable of its own, and the digits of the last."""
    names = [f"d{v}" for v in range(count)]
    total = " + ".join(f"d{v} * {v + 1}" for v in range(count))
    last = names[-1]
    results = ", ".join([total, *names, f"{last} floordiv 3", f"{last} mod 3"])
    return read(f"({', '.join(names)}) -> ({results}), domain: " + ", ".join(f"{n} in [0, 6]" for n in names))


@pytest.mark.parametrize("count", [1, 10, 11, 15, 16, 17, 33])
def test_any_number_of_variables(count: int) -> None:
    m = wide(count)
    values = [(5 * v + 2) % 7 for v in range(count)]
    expected = (sum(x * (v + 1) for v, x in enumerate(values)), *values, values[-1] // 3, values[-1] % 3)
    assert m.evaluate(values) == m.simplify().evaluate(values) == expected
    assert read(str(m)) == m
    order = ", ".join(f"d{v}" for v in reversed(range(count)))
    names = ", ".join(f"d{v}" for v in range(count))
    bounds = ", ".join(f"d{v} in [0, 6]" for v in range(count))
    backwards = read(f"({names}) -> ({order}), domain: {bounds}")
    assert ix.compose_all([(backwards, m)])[0].evaluate(values[::-1]) == expected
    assert ix.compose(backwards, m).evaluate(values[::-1]) == expected


@pytest.mark.parametrize(
    "names", [["rt0", "rt1"], ["rt0", "x"], ["x", "rt1"], [f"rt{k}" for k in range(12)], ["rt0", "rt10"]]
)
def test_names_of_runtime_variables(names: list[str]) -> None:
    total = " + ".join(names)
    m = read(
        f"(d0){{{', '.join(names)}}} -> (d0 + {total}), domain: d0 in [0, 1], "
        + ", ".join(f"{n} in [0, 9]" for n in names)
    )
    values = list(range(len(names)))
    assert m.evaluate([1], values) == (1 + sum(values),)
    assert read(str(m)) == m


def test_two_equalities_that_share_a_side_are_both_kept() -> None:
    m = read(
        "(d0, d1)[s0] -> (s0), domain: d0 in [-4, -2], d1 in [-4, -2], s0 in [-7, -4], "
        "d0 - (s0 * 7) ceildiv 10 in [0, 0], d1 - (s0 * 7) ceildiv 10 in [0, 0]"
    )
    assert graph(m.simplify()) == graph(m)
    assert len(graph(m)) == 4


def _composed(times: int) -> ix.IndexingMap:
    """Minima of two terms each, composed: the arguments double each time, the nodes grow by a few."""
    inner = ix.IndexingMap.parse(
        "(d0, d1) -> (min(d0 + d1, d0 * 2 + 3), d1), domain: d0 in [-1000000000, 1000000000], d1 in [0, 9]"
    )
    result = inner
    for _ in range(times):
        result = ix.compose(result, inner)
    return result


def test_a_text_that_sharing_makes_too_long_is_refused_and_its_repr_abridged() -> None:
    short, long = _composed(12), _composed(20)
    assert ix.IndexingMap.parse(str(short)) == short
    with pytest.raises(ix.Undecided, match="longer than 4194304 bytes.*nodes"):
        str(long)
    for refused in (long.to_text, long.results[0].to_text, long.symbolic_map.to_text):
        with pytest.raises(ix.Undecided, match="longer than 4194304 bytes"):
            refused()
    for value in (short, long, long.results[0], long.symbolic_map):
        assert len(repr(value)) < 2**14 + 100 and repr(value).endswith("...)")
    assert repr(short)[len("IndexingMap(") :].startswith(str(short)[: 2**14])
    assert sum(len(numbers) for _, numbers, _ in long.results[0].nodes()) < 1000


def test_a_text_that_is_long_without_sharing_is_printed_and_a_short_repr_is_whole() -> None:
    terms = " + ".join(f"d0 mod {k + 3} * {10**15 + k}" for k in range(120_000))
    text = f"(d0) -> ({terms}), domain: d0 in [0, 1234567890]"
    actual = str(ix.IndexingMap.parse(text))
    assert len(actual) > 2**22 and str(ix.IndexingMap.parse(actual)) == actual
    short = "(d0) -> (d0), domain: d0 in [0, 3]"
    assert repr(ix.IndexingMap.parse(short)) == f"IndexingMap({short})"
