"""Equal compositions are one object, and are what composing gives."""

import indexing as ix
from indexing.indexing_analysis.composition import Compositions, compose_indexing
from indexing.ops.op import OperandIndexing


def read(text: str) -> OperandIndexing:
    return OperandIndexing(ix.IndexingMap.parse(text))


def test_equal_compositions_are_one_object_whatever_objects_they_are_of() -> None:
    first, second = "(d0) -> (d0 * 2), domain: d0 in [0, 9]", "(d0) -> (d0 + 1), domain: d0 in [0, 18]"
    compositions = Compositions()
    found = compositions.compose(read(first), read(second))
    assert found == compose_indexing(read(first), read(second)) == read("(d0) -> (d0 * 2 + 1), domain: d0 in [0, 9]")
    assert compositions.compose(read(first), read(second)) is found
    third = read("(d0) -> (d0), domain: d0 in [0, 9]")
    assert compositions.compose(third, read(str(found.map))) is found  # another way to an equal map
    assert compositions.compose(third, read(first)) is not found


def test_objects_that_are_gone_do_not_lend_their_identity() -> None:
    compositions = Compositions()
    second = read("(d0) -> (d0 + 1), domain: d0 in [0, 99]")
    for k in range(90):  # each is freed at once, unless the compositions keep it
        found = compositions.compose(read(f"(d0) -> (d0 + {k}), domain: d0 in [0, 9]"), second)
        assert found.map == ix.IndexingMap.parse(f"(d0) -> (d0 + {k + 1}), domain: d0 in [0, 9]")
