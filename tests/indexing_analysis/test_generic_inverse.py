"""The generic inverse names the same pairs as the map it turns around, and knows which sums it can take apart.

Pairs are enumerated from the maps' definition: every point of the domain, with its result.
"""

from __future__ import annotations

import itertools
import random
from dataclasses import replace

import pytest

import indexing as ix
from indexing.indexing_analysis.access import Access, AccessComposer
from indexing.indexing_analysis.generic_inverse import inverted
from indexing.ops.operand_indexing import OperandIndexing, RuntimeValue, unknown


def pairs(m: ix.IndexingMap) -> set[tuple[tuple[int, ...], tuple[int, ...]]]:
    """All (dimensions, results) of a map without runtime variables."""
    if m.is_known_empty:
        return set()
    dims = len(m.dims)
    boxes = [range(v.interval.lower, v.interval.upper + 1) for v in (*m.dims, *m.ranges)]
    points = (p for p in itertools.product(*boxes) if m.contains(p[:dims], p[dims:]))
    return {(p[:dims], tuple(m.evaluate(list(p[:dims]), list(p[dims:])))) for p in points}


def assert_turned_around(text: str, sizes: tuple[int, ...]) -> ix.IndexingMap:
    m = ix.IndexingMap.parse(text)
    inside = {(a, b) for a, b in pairs(m) if all(0 <= x < n for x, n in zip(b, sizes, strict=True))}
    inverse = inverted(OperandIndexing(m), sizes)
    assert inverse.exactness == "exact"
    assert pairs(inverse.map) == {(b, a) for a, b in inside}, text
    return inverse.map


SUMS = [
    ("(d0, d1) -> (d0 * 4 + d1), domain: d0 in [0, 2], d1 in [0, 3]", 12, 0),
    ("(d0, d1) -> (d0 * 4 + d1), domain: d0 in [0, 2], d1 in [0, 4]", 13, 1),  # 4 is 1 * 4 + 0 and 0 * 4 + 4
    ("(d0, d1) -> (d0 * 4 - d1 + 3), domain: d0 in [0, 2], d1 in [0, 3]", 12, 0),
    ("(d0, d1) -> (d0 * -4 + d1 + 8), domain: d0 in [0, 2], d1 in [0, 3]", 12, 0),
    ("(d0, d1) -> (d0 * -4 - d1 + 11), domain: d0 in [0, 2], d1 in [0, 3]", 12, 0),
    ("(d0, d1) -> (d0 * -4 - d1 + 12), domain: d0 in [0, 2], d1 in [0, 4]", 13, 1),
    ("(d0, d1) -> (d0 * 5 + d1 * 2), domain: d0 in [0, 2], d1 in [0, 2]", 15, 0),
    ("(d0, d1) -> (d0 * 5 + d1 * 2 + 3), domain: d0 in [1, 3], d1 in [-1, 1]", 24, 0),
    ("(d0, d1) -> (d0 * 4 + d1), domain: d0 in [0, 2], d1 in [-1, 2]", 12, 0),
    ("(d0)[s0] -> (d0 * -3 + s0 + 9), domain: d0 in [0, 3], s0 in [0, 2]", 12, 0),
    ("(d0)[s0] -> (d0 * 2 + s0), domain: d0 in [0, 3], s0 in [0, 2]", 9, 1),
    ("(d0, d1) -> (d0 * 4 + d1), domain: d0 in [0, 2], d1 in [0, 3], d0 + d1 in [1, 4]", 12, 0),
    ("(d0)[s0] -> (d0 * 2 + s0), domain: d0 in [0, 3], s0 in [0, 2], d0 - s0 in [0, 1]", 9, 1),
    ("(d0, d1, d2) -> (d0 * 9 + d1 * 3 + d2), domain: d0 in [0, 2], d1 in [0, 2], d2 in [0, 2]", 27, 0),
    ("(d0, d1, d2) -> (d0 * 9 + d1 * 2 + d2), domain: d0 in [0, 2], d1 in [0, 3], d2 in [0, 2]", 27, 1),  # 2 twice
    ("(d0, d1) -> (d0 + d1), domain: d0 in [0, 3], d1 in [2, 2]", 6, 0),
    ("(d0) -> (d0 * -3 + 7), domain: d0 in [0, 2]", 8, 0),
    ("(d0) -> (-d0 + 5), domain: d0 in [0, 5]", 6, 0),
]


@pytest.mark.parametrize(("text", "size", "unsolved"), SUMS)
def test_sums_are_taken_apart_where_their_terms_can_be_told(text: str, size: int, unsolved: int) -> None:
    actual = assert_turned_around(text, (size,))
    assert len(actual.ranges) == unsolved


@pytest.mark.parametrize("seed", range(60))
def test_random_linear_maps_are_turned_around(seed: int) -> None:
    rng = random.Random(seed)
    count = rng.randint(1, 3)
    bounds = [(low, low + rng.randint(0, 3)) for low in (rng.randint(-2, 2) for _ in range(count))]
    symbols = rng.randint(0, 1)
    names = [f"d{k}" for k in range(count)] + [f"s{k}" for k in range(symbols)]
    bounds += [(0, rng.randint(0, 2))] * symbols
    results = []
    for _ in range(rng.randint(1, 2)):
        terms = [f"{n} * {rng.choice([-7, -4, -2, -1, 1, 2, 3, 4, 6])}" for n in names if rng.random() < 0.8]
        results.append(" + ".join([*terms, str(rng.randint(0, 9))]))
    domain = ", ".join(f"{n} in [{a}, {b}]" for n, (a, b) in zip(names, bounds, strict=True))
    brackets = f"[{', '.join(names[count:])}]" if symbols else ""
    text = f"({', '.join(names[:count])}){brackets} -> ({', '.join(results)}), domain: {domain}"
    assert_turned_around(text, tuple(rng.randint(4, 14) for _ in results))


def test_what_is_unknown_is_read_apart_by_user_and_position() -> None:
    """Two operands of one user may be read at different indices, although neither index is known."""
    composer, access = AccessComposer(), Access.of_all((4,))
    first = composer.compose(access, unknown("of values"), "user", 0, (8,))
    again = composer.compose(access, unknown("of values"), "user", 0, (8,))
    second = composer.compose(access, unknown("of values"), "user", 1, (8,))
    other = composer.compose(access, unknown("of values"), "another", 0, (8,))
    assert first == again and len({first, second, other}) == 3
    assert not first.is_known and first.reads == 8


def test_an_access_in_a_loop_is_another_one_a_user() -> None:
    composer, access = AccessComposer(), Access.of_all((4,))
    loop = OperandIndexing(ix.IndexingMap.parse("(d0)[s0] -> (s0), domain: d0 in [0, 3], s0 in [0, 7]"))
    one, other = (composer.compose(access, loop, user, 0, (8,)) for user in ("one", "other"))
    assert one != other and one.reads == 32 and one.evaluations(4) == 32 and one.evaluations(2) == 16
    straight = OperandIndexing(ix.IndexingMap.parse("(d0) -> (d0 + 1), domain: d0 in [0, 3]"))
    assert composer.compose(access, straight, "one", 0, (8,)) == composer.compose(access, straight, "other", 1, (8,))


def test_a_dimension_of_one_element_needs_no_variable() -> None:
    row = OperandIndexing(ix.IndexingMap.parse("(d0, d1) -> (d0), domain: d0 in [0, 3], d1 in [0, 0]"))
    assert str(inverted(row, [4]).map) == "(d0) -> (d0, 0), domain: d0 in [0, 3]"


def start_of_slice() -> RuntimeValue:
    """The runtime value of a dynamic-slice."""
    text = """ENTRY e { p = f32[8] parameter(0)
      s = s32[] parameter(1)
      ROOT r = f32[3] dynamic-slice(p, s), dynamic_slice_sizes={3} }"""
    (start,) = ix.output_to_input(ix.hlo.parse(text).entry.root)[0][0].runtime_values
    return start


def test_runtime_values_stay_those_of_the_map() -> None:
    """(d0) reads p[d0 * 2 + start]: p[i] is read by (i - start) / 2, for the same start, read at the same place."""
    start = start_of_slice()
    m = ix.IndexingMap.parse("(d0)[s0]{rt0} -> (d0 * 2 + s0 + rt0), domain: d0 in [0, 2], s0 in [0, 1], rt0 in [0, 5]")
    inverse = inverted(OperandIndexing(m, (start,)), (12,))
    assert (len(inverse.map.dims), len(inverse.map.runtimes)) == (1, 1)
    assert [(v.instruction.name, v.bounds) for v in inverse.runtime_values] == [("s", (0, 5))]
    symbols = len(inverse.map.ranges)
    assert symbols == 0
    for value in range(6):
        pairs = {(i, d) for d in range(3) for s in range(2) for i in range(12) if d * 2 + s + value == i}
        inside = [i for i in range(12) if inverse.map.contains([i], [value])]
        assert {(i, inverse.map.evaluate([i], [value])[0]) for i in inside} == pairs


def test_the_place_of_a_runtime_value_may_depend_on_another_one() -> None:
    """d0 * 2 + s0 + rt1, where rt1 is element d0 + rt0: of an unsolved inverse the same element, for each d0 and rt0."""
    start = start_of_slice()
    place = ix.IndexingMap.parse("(d0){rt0} -> (d0 + rt0), domain: d0 in [0, 2], rt0 in [0, 1]")
    m = ix.IndexingMap.parse(
        "(d0)[s0]{rt0, rt1} -> (d0 * 2 + s0 + rt1), domain: d0 in [0, 2], s0 in [0, 2], rt0 in [0, 1], rt1 in [0, 1]"
    )
    inverse = inverted(OperandIndexing(m, (start, replace(start, map=place))), (8,))
    (unsolved,) = inverse.map.ranges
    choices = range(unsolved.interval.lower, unsolved.interval.upper + 1)
    symbols = itertools.product(range(8), choices, range(2), range(2))
    points = [(i, given) for i, *given in symbols if inverse.map.contains([i], given)]
    assert len(points) == 3 * 3 * 2 * 2
    for i, given in points:
        (d0,) = inverse.map.evaluate([i], given)
        assert inverse.runtime_values[1].map.evaluate([i], given) == (d0 + given[1],)


def test_runtime_values_stand_behind_what_stays_unsolved() -> None:
    """d0 * 2 + s0 + rt0 with three values of s0: an element is read by one or two d0, for the same value."""
    start = start_of_slice()
    m = ix.IndexingMap.parse("(d0)[s0]{rt0} -> (d0 * 2 + s0 + rt0), domain: d0 in [0, 2], s0 in [0, 2], rt0 in [0, 5]")
    actual = inverted(OperandIndexing(m, (start,)), (12,)).map
    (unsolved,) = actual.ranges
    choices = range(unsolved.interval.lower, unsolved.interval.upper + 1)
    for value in range(6):
        read = {(d * 2 + s + value, d) for d in range(3) for s in range(3)}
        inside = [(i, s) for i in range(12) for s in choices if actual.contains([i], [s, value])]
        assert {(i, actual.evaluate([i], [s, value])[0]) for i, s in inside} == read


def test_several_runtime_values_keep_their_order() -> None:
    """d0 reads d0 + 2 * rt0 - rt1: element i is read by i - 2 * rt0 + rt1, for the same values in their order."""
    start = start_of_slice()
    m = ix.IndexingMap.parse(
        "(d0){rt0, rt1} -> (d0 + rt0 * 2 - rt1 + 2), domain: d0 in [0, 2], rt0 in [0, 3], rt1 in [0, 2]"
    )
    inverse = inverted(OperandIndexing(m, (replace(start, bounds=None), replace(start, bounds=(0, 1)))), (12,))
    assert [v.bounds for v in inverse.runtime_values] == [None, (0, 1)]  # None: those of the variable
    assert inverse.map.runtimes[0].interval == ix.Interval(0, 3)
    for values in itertools.product(range(4), range(3)):
        read = {d + values[0] * 2 - values[1] + 2: d for d in range(3)}
        inside = [i for i in range(12) if inverse.map.contains([i], list(values))]
        assert {i: inverse.map.evaluate([i], list(values))[0] for i in inside} == read


def test_the_place_of_a_value_may_depend_on_other_values() -> None:
    """d0 reads d0 + rt0 + 1, where rt0 stands at d0 + 4 * rt1: element i asks for it at i - rt0 - 1 + 4 * rt1."""
    start = start_of_slice()
    domain = "domain: d0 in [0, 2], rt0 in [0, 3], rt1 in [0, 2]"
    m = ix.IndexingMap.parse(f"(d0){{rt0, rt1}} -> (d0 + rt0 + 1), {domain}")
    place = ix.IndexingMap.parse(f"(d0){{rt0, rt1}} -> (d0 + rt1 * 4), {domain}")
    value = inverted(OperandIndexing(m, (replace(start, map=place), start)), (12,)).runtime_values[0].map
    for i, first, second in itertools.product(range(12), range(4), range(3)):
        if 0 <= i - first - 1 < 3:
            assert value.evaluate([i], [first, second]) == (i - first - 1 + second * 4,)


def test_the_place_of_a_value_may_depend_on_several_ranges() -> None:
    """d0 reads d0 * 6 + s0 * 3 + s1 + rt0, where rt0 stands at d0 + 10 * s0 + 100 * s1."""
    start = start_of_slice()
    domain = "domain: d0 in [0, 1], s0 in [0, 1], s1 in [0, 2], rt0 in [0, 3]"
    m = ix.IndexingMap.parse(f"(d0)[s0, s1]{{rt0}} -> (d0 * 6 + s0 * 3 + s1 + rt0), {domain}")
    place = ix.IndexingMap.parse(f"(d0)[s0, s1]{{rt0}} -> (d0 + s0 * 10 + s1 * 100), {domain}")
    actual = inverted(OperandIndexing(m, (replace(start, map=place),)), (15,)).runtime_values[0].map
    for d, s0, s1, value in itertools.product(range(2), range(2), range(3), range(4)):
        ranges = [0] * len(actual.ranges)
        assert actual.evaluate([d * 6 + s0 * 3 + s1 + value], [*ranges, value]) == (d + s0 * 10 + s1 * 100,)


def test_bounds_that_a_runtime_value_has_already_stay() -> None:
    """A value that is clamped to less than its variable's interval is clamped so in the inverse as well."""
    start = start_of_slice()
    m = ix.IndexingMap.parse("(d0){rt0} -> (d0 + rt0), domain: d0 in [0, 2], rt0 in [0, 5]")
    (value,) = inverted(OperandIndexing(m, (replace(start, bounds=(1, 4)),)), (8,)).runtime_values
    assert value.bounds == (1, 4)


def test_accesses_at_indices_of_other_places_are_others() -> None:
    """Two slices whose starts are read at different places of one array read different elements."""
    text = """ENTRY e { p = f32[8] parameter(0)
      s = s32[] parameter(1)
      ROOT r = f32[3] dynamic-slice(p, s), dynamic_slice_sizes={3} }"""
    (indexing,) = ix.output_to_input(ix.hlo.parse(text).entry.root)[0]
    (start,) = indexing.runtime_values
    places = [ix.IndexingMap.parse(f"(d0) -> ({e}), domain: d0 in [0, 2]") for e in ("d0", "d0 + 1")]
    composer, access = AccessComposer(), Access.of_all((3,))
    first, second = (
        composer.compose(access, replace(indexing, runtime_values=(replace(start, map=place),)), "user", 0, (8,))
        for place in places
    )
    assert first != second and first.map == second.map


def test_range_variables_are_in_the_order_of_the_results() -> None:
    text = "ENTRY e { p = f32[] parameter(0)\n ROOT b = f32[2,3] broadcast(p), dimensions={} }"
    (((only,),),) = (ix.input_to_output(ix.hlo.parse(text).entry.root),)
    assert str(only.map) == "()[s0, s1] -> (s0, s1), domain: s0 in [0, 1], s1 in [0, 2]"


def test_a_map_without_points_has_an_inverse_without_points() -> None:
    text = """ENTRY e {
      a = f32[0,4] parameter(0)
      b = f32[2,4,3] parameter(1)
      g = s32[2] parameter(2)
      ROOT r = f32[0,3] ragged-dot(a, b, g), lhs_contracting_dims={1}, rhs_contracting_dims={1}, lhs_ragged_dims={0},
        rhs_group_dims={0}
    }"""
    root = ix.hlo.parse(text).entry.root
    for operand in range(3):
        (((only,),),) = (ix.input_to_output(root, operand),)
        assert only.map.is_known_empty


def test_an_index_without_points_is_never_evaluated() -> None:
    assert Access.of_all((0,)).evaluations(5) == 0
    assert Access.of_all((3,)).evaluations(5) == 5
