"""Compositions of maps as the core keeps them: equal ones are one object; replicas, pieces and reasons are composed too."""

import indexing as ix
from indexing.indexing_analysis.computations import maps_of
from indexing.ops.operand_indexing import OperandIndexing, RuntimeValue

MODULE = ix.hlo.parse("ENTRY e { p = f32[10] parameter(0)\n k = s32[] parameter(1)\n ROOT n = f32[10] negate(p) }")
MAPS = maps_of(MODULE)


def read(text: str, **more: object) -> OperandIndexing:
    return OperandIndexing(ix.IndexingMap.parse(text), **more)  # type: ignore[arg-type]


def test_equal_compositions_are_one_object_whatever_objects_they_are_of() -> None:
    first, second = "(d0) -> (d0 * 2), domain: d0 in [0, 9]", "(d0) -> (d0 + 1), domain: d0 in [0, 18]"
    composed = MAPS.compose(read(first), read(second))
    assert composed == read("(d0) -> (d0 * 2 + 1), domain: d0 in [0, 9]")
    assert MAPS.compose(read(first), read(second)) is composed
    third = read("(d0) -> (d0), domain: d0 in [0, 9]")
    assert MAPS.compose(third, read(str(composed.map))) is composed  # another way to an equal map
    assert MAPS.compose(third, read(first)) is not composed


def test_what_is_reached_is_given_alone() -> None:
    """Not an empty list for each array that is not: there may be thousands."""
    assert set(MAPS.reached(MODULE.entry, 0, (), inverse=False)) == {0}
    assert set(MAPS.reached(MODULE.entry.root, 0, (), inverse=True)) == {0}
    assert MAPS.reached(MODULE.entry, 1, (), inverse=True) == {}
    assert list(map(len, ix.output_to_input(MODULE.entry))) == [1, 0]


def test_objects_that_are_gone_do_not_lend_their_identity() -> None:
    second = read("(d0) -> (d0 + 1), domain: d0 in [0, 99]")
    for k in range(90):  # each is freed at once, unless the maps keep it
        composed = MAPS.compose(read(f"(d0) -> (d0 + {k}), domain: d0 in [0, 9]"), second)
        assert composed.map == ix.IndexingMap.parse(f"(d0) -> (d0 + {k + 1}), domain: d0 in [0, 9]")


def test_reasons_follow_one_another_each_once_and_at_most_four() -> None:
    identity = "(d0) -> (d0), domain: d0 in [0, 9]"
    first = read(identity, exactness="over-approximate", reason="one; two")
    second = read(identity, exactness="over-approximate", reason="two; three")
    assert MAPS.compose(first, second).reason == "one; two; three"
    many = read(identity, exactness="unknown", reason="three; four; five")
    composed = MAPS.compose(MAPS.compose(first, second), many)
    assert (composed.exactness, composed.reason) == ("unknown", "one; two; three; four; and more")


def test_exact_pieces_of_a_bound_are_composed_and_empty_ones_left_out() -> None:
    halves = [read(f"(d0) -> (d0), domain: d0 in [{k}, {k + 4}]") for k in (0, 5)]
    bound = read("(d0) -> (d0), domain: d0 in [0, 9]", exactness="over-approximate", reason="r", pieces=tuple(halves))
    composed = MAPS.compose(bound, read("(d0) -> (d0 * 2), domain: d0 in [0, 3]"))
    assert [p.map for p in composed.pieces or ()] == [ix.IndexingMap.parse("(d0) -> (d0 * 2), domain: d0 in [0, 3]")]
    inexact = read("(d0) -> (d0), domain: d0 in [0, 9]", exactness="over-approximate", reason="r")
    assert MAPS.compose(bound, inexact).pieces is None


def test_the_replica_of_the_first_asks_at_the_index_that_it_gives() -> None:
    element = "(d0) -> (d0 + 2), domain: d0 in [0, 3]"
    own = ix.IndexingMap.parse("(d0){rt0} -> (rt0 + 1), domain: d0 in [0, 3], rt0 in [0, 6]")
    asked = ix.IndexingMap.parse("(d0){rt0} -> (rt0 * 8 + d0), domain: d0 in [0, 9], rt0 in [0, 7]")
    second = read("(d0) -> (d0), domain: d0 in [0, 9]", replica_map=asked)
    alone = MAPS.compose(read(element), second).replica_map
    assert alone == ix.IndexingMap.parse("(d0){rt0} -> (d0 + rt0 * 8 + 2), domain: d0 in [0, 3], rt0 in [0, 7]")
    both = MAPS.compose(read(element, replica_map=own), second).replica_map
    assert both == ix.IndexingMap.parse("(d0){rt0} -> (d0 + rt0 * 8 + 10), domain: d0 in [0, 3], rt0 in [0, 6]")
    wide = read("(d0)[s0] -> (s0), domain: d0 in [0, 3], s0 in [0, 9]")
    bound = ix.IndexingMap.parse("(d0)[s0] -> (s0), domain: d0 in [0, 3], s0 in [0, 65]")
    assert MAPS.compose(wide, second).replica_map == bound


def test_values_of_both_maps_stand_as_their_variables_do() -> None:
    p, k = MODULE.entry.parameters
    value = ix.IndexingMap.parse("(d0) -> (), domain: d0 in [0, 9]")
    first = read(
        "(d0){rt0} -> (d0 + rt0), domain: d0 in [0, 9], rt0 in [0, 5]", runtime_values=(RuntimeValue(k, value),)
    )
    at = ix.IndexingMap.parse("(d0) -> (d0 mod 10), domain: d0 in [0, 14]")
    second = read(
        "(d0){rt0} -> (d0 * rt0), domain: d0 in [0, 14], rt0 in [1, 3]", runtime_values=(RuntimeValue(p, at),)
    )
    composed = MAPS.compose(first, second)
    domain = "domain: d0 in [0, 9], rt0 in [1, 3], rt1 in [0, 5]"
    assert composed.map == ix.IndexingMap.parse(f"(d0){{rt0, rt1}} -> ((d0 + rt1) * rt0), {domain}")
    assert [v.instruction for v in composed.runtime_values] == [p, k]
    index = ix.IndexingMap.parse(f"(d0){{rt0, rt1}} -> ((d0 + rt1) mod 10), {domain}")  # p is read where k says
    assert composed.runtime_values[0].map == index
