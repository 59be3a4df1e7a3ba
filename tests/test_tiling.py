"""Tile propagation: the operand's tile holds exactly the elements that the output tile needs; held against enumeration."""

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import indexing as ix

MAPS = [
    "(d0, d1) -> (d1, d0), domain: d0 in [0, 3], d1 in [0, 4]",
    "(d0)[s0] -> (s0, d0), domain: d0 in [0, 3], s0 in [0, 4]",
    "(d0) -> (5 - d0), domain: d0 in [0, 5]",
    "(d0) -> (d0 * 3 + 1), domain: d0 in [0, 5]",
    "(d0, d1)[s0, s1] -> (d0 + s0, d1 * 2 + s1), domain: d0 in [0, 4], d1 in [0, 4], s0 in [0, 2], s1 in [0, 2]",
    "(d0) -> (d0 floordiv 6, d0 mod 6), domain: d0 in [0, 23]",
    "(d0) -> (d0 floordiv 12, (d0 floordiv 3) mod 4, d0 mod 3), domain: d0 in [0, 23]",
    "(d0, d1, d2) -> (d0 * 12 + d1 * 3 + d2), domain: d0 in [0, 1], d1 in [0, 3], d2 in [0, 2]",
    "(d0, d1) -> ((d0 * 6 + d1) floordiv 4, (d0 * 6 + d1) mod 4), domain: d0 in [0, 3], d1 in [0, 5]",
    "(d0, d1) -> (max(d0, d1)), domain: d0 in [0, 3], d1 in [0, 3]",
    "(d0)[s0] -> (d0 * 4 + s0), domain: d0 in [0, 3], s0 in [0, 1]",
    "(d0, d1) -> ((d0 - d1) mod 4, (d0 + 3) floordiv 4), domain: d0 in [0, 3], d1 in [0, 2]",
    "() -> (7), domain:",
]


def sizes_of(m: ix.IndexingMap) -> list[range]:
    return [range(1, d.upper + 2) for d in m.dims]


def needed(m: ix.IndexingMap, sizes: tuple[int, ...]) -> set[tuple[int, ...]]:
    dims = itertools.product(*(range(s) for s in sizes))
    symbols = list(itertools.product(*(range(r.lower, r.upper + 1) for r in m.ranges)))
    return {m.evaluate(d, s) for d in dims for s in symbols}


def check(m: ix.IndexingMap) -> int:
    """Hold the tile against enumeration at all sizes; at how many the answer holds."""
    tile = ix.propagate_tile(m)
    good = 0
    for sizes in itertools.product(*sizes_of(m)):
        if not tile.holds(sizes):
            continue
        good += 1
        grid = zip(tile.offsets.evaluate(sizes), tile.sizes.evaluate(sizes), tile.strides.evaluate(sizes), strict=True)
        covered = set(itertools.product(*({o + s * k for k in range(n)} for o, n, s in grid)))
        wanted = needed(m, sizes)
        assert covered == wanted or (not tile.exact and covered >= wanted), (str(m), sizes)
    return good


@pytest.mark.parametrize("text", MAPS)
def test_tiles_hold_what_is_needed(text: str) -> None:
    m = ix.IndexingMap.parse(text)
    assert check(m) >= 1
    assert ix.propagate_tile(m).holds([d.upper + 1 for d in m.dims]) or "floordiv 4" in text or "* 4" in text


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(1, 4), min_size=1, max_size=3), st.data())
def test_reshapes(sizes: list[int], data: st.DataObject) -> None:
    """Linearize over one shape, delinearize over another of as many elements."""
    total = 1
    for s in sizes:
        total *= s
    divisor = data.draw(st.sampled_from([k for k in range(1, total + 1) if total % k == 0]))
    linear = ix.constant(0)
    for k, s in enumerate(sizes):
        linear = linear * s + ix.variable(k)
    m = ix.IndexingMap.from_tensor_sizes([linear // divisor, linear % divisor], sizes).simplify()
    check(m)


def test_constraints_are_few_clauses() -> None:
    sizes = [2, 3, 2, 3, 2, 3, 2, 3, 2, 3, 2, 3]
    linear = ix.constant(0)
    for k, s in enumerate(sizes):
        linear = linear * s + ix.variable(k)
    tile = ix.propagate_tile(ix.IndexingMap.from_tensor_sizes([linear], sizes))
    assert len(tile.constraints) < len(sizes) ** 3
    assert tile.holds(sizes)
    assert tile.holds([1] * 12)
    assert not tile.holds([2, *[1] * 10, 2])


def test_offsets_move_with_the_tile() -> None:
    m = ix.IndexingMap.parse(
        "(d0, d1){rt0} -> (d0 + rt0, d1 * 2 - 1), domain: d0 in [0, 3], d1 in [0, 4], rt0 in [0, 9]"
    )
    tile = ix.propagate_tile(m)
    assert str(tile.offsets) == "(d0, d1)[s0] -> (s0, -1)"
    assert str(tile.moved_offsets) == "(d0, d1)[s0] -> (d0 + s0, d1 * 2 - 1)"
    assert str(tile.strides) == "(d0, d1) -> (1, 2)"


def test_valid_tilings_of_a_reshape() -> None:
    module = ix.hlo.parse("HloModule m\nENTRY e {\n  p = f32[4,6] parameter(0)\n  ROOT r = f32[24] reshape(p)\n}\n")
    root = module.entry.root
    assert list(ix.valid_tilings(root)) == [(1,), (2,), (3,), (6,), (12,), (18,), (24,)]


def test_what_has_no_tile_is_refused() -> None:
    with pytest.raises(ix.UnsupportedOp, match="UNDEFINED"):
        ix.propagate_tile(ix.IndexingMap.undefined())
