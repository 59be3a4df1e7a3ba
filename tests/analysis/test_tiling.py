"""Tile propagation: the operand's tile holds exactly the elements that the output tile needs; held against enumeration."""

import itertools
import re
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import indexing as ix
from indexing.analysis.tiling.propagation import propagate_tiles
from indexing.analysis.tiling.sizes import divisors
from shape_programs import Chain

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
    "(d0) -> ((d0 + 1) floordiv 6), domain: d0 in [0, 11]",
    "(d0, d1) -> ((d0 * 6 + d1) floordiv 8), domain: d0 in [0, 7], d1 in [0, 5]",
    "(d0) -> (d0, d0), domain: d0 in [0, 4]",
    "(d0, d1)[s0] -> (d0 * 2 - s0 + 2, d0 + d1 * 3), domain: d0 in [0, 2], d1 in [0, 3], s0 in [0, 2]",
    "() -> (7), domain:",
]


def needed_by_point(m: ix.IndexingMap) -> dict[tuple[int, ...], set[tuple[int, ...]]]:
    result: dict[tuple[int, ...], set[tuple[int, ...]]] = {}
    for dims, symbols in m.points():
        result.setdefault(dims, set()).add(m.evaluate(dims, symbols))
    return result


def check(m: ix.IndexingMap, tile: ix.Tile, extents: Sequence[int]) -> int:
    """Hold the tiles of all positions against enumeration, at all sizes; at how many sizes the answer holds."""
    good = 0
    needed = needed_by_point(m)
    free = [0] * tile.offsets.num_symbols
    for sizes in itertools.product(*(range(1, n + 1) for n in extents)):
        if not tile.holds(sizes):
            continue
        good += 1
        for at in itertools.product(*(range(0, n, s) for n, s in zip(extents, sizes, strict=True))):
            here = [range(a, min(a + s, n)) for a, s, n in zip(at, sizes, extents, strict=True)]
            wanted = set().union(*(needed.get(d, set()) for d in itertools.product(*here)))
            offsets = tile.moved_offsets.evaluate(at, free)
            if not any(at):
                assert offsets == tile.offsets.evaluate(sizes, free)
            grid = zip(offsets, tile.sizes.evaluate(sizes), tile.strides.evaluate(sizes), strict=True)
            covered = set(itertools.product(*({o + s * k for k in range(n)} for o, n, s in grid)))
            assert wanted <= covered, (str(m), sizes, at)
            if tile.exact and not tile.mask and [len(r) for r in here] == list(sizes):
                assert covered == wanted, (str(m), sizes, at)
    return good


@pytest.mark.parametrize("text", MAPS)
def test_tiles_hold_what_is_needed(text: str) -> None:
    m = ix.IndexingMap.parse(text)
    assert check(m, ix.propagate_tile(m), [d.upper + 1 for d in m.dims]) >= 1


@settings(max_examples=80, deadline=None)
@given(st.integers(0, 10**9))
def test_chains_of_ops(seed: int) -> None:
    root = ix.hlo.parse(Chain(seed).text).entry.root
    if root.opcode != "fusion" or root.shape.element_count > 200:
        return
    for operand, actual in enumerate(ix.output_to_input(root)):
        maps = [indexing.map for indexing in actual]
        if any(m.is_known_empty for m in maps):
            continue
        for m, tile in zip(dict.fromkeys(maps), propagate_tiles(root, operand), strict=True):
            assert check(m, tile, root.shape.dimensions) >= 1 or 0 in root.shape.dimensions


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


def test_tiles_of_an_operand_that_several_maps_read() -> None:
    text = "ENTRY e { p = f32[4,5] parameter(0) q = f32[4,5] reverse(p), dimensions={1} ROOT a = f32[4,5] add(p, q) }"
    module = ix.hlo.parse(
        text.replace("ENTRY e", "f")
        + "\nENTRY e { p = f32[4,5] parameter(0) ROOT r = f32[4,5] fusion(p), kind=kLoop, calls=f }"
    )
    with pytest.raises(ix.UnsupportedOp, match="2 maps"):
        ix.propagate_tile(module.entry.root)
    tiles = propagate_tiles(module.entry.root)
    assert sorted(str(t.strides) for t in tiles) == ["(d0, d1) -> (1, -1)", "(d0, d1) -> (1, 1)"]
    assert len(list(ix.valid_tilings(module.entry.root))) == 20


def test_from_an_operand_to_the_output() -> None:
    text = "ENTRY e { p = f32[4,6] parameter(0) ROOT t = f32[6,4] transpose(p), dimensions={1,0} }"
    tile = ix.propagate_tile(ix.hlo.parse(text).entry.root, direction="to output")
    assert str(tile.sizes) == "(d0, d1) -> (d1, d0)"


def test_a_mask_says_which_indices_need_anything() -> None:
    text = "ENTRY e { p = f32[4] parameter(0) z = f32[] constant(0) ROOT t = f32[9] pad(p, z), padding=2_3 }"
    tile = ix.propagate_tile(ix.hlo.parse(text).entry.root)
    assert tile.mask == ((ix.variable(0), ix.Interval(2, 5)),)
    assert str(tile.offsets) == "(d0) -> (-2)"


def test_sizes_that_are_no_powers_of_two() -> None:
    text = "ENTRY e { p = f32[8,6] parameter(0) ROOT r = f32[48] reshape(p) }"
    actual = list(ix.valid_tilings(ix.hlo.parse(text).entry.root))
    assert actual == [(1,), (2,), (3,), (6,), (12,), (18,), (24,), (30,), (36,), (42,), (48,)]


def searched(root: ix.hlo.Instruction) -> list[tuple[int, ...]]:
    """The valid sizes, by asking all of them."""
    tiles = [t for k in range(len(root.operands)) for t in propagate_tiles(root, k)]
    every = itertools.product(*(range(1, n + 1) for n in root.shape.dimensions))
    return [sizes for sizes in every if all(t.holds(sizes) for t in tiles)]


@pytest.mark.parametrize(
    "text",
    [
        "p = f32[8,6] parameter(0) ROOT r = f32[48] reshape(p)",
        "p = f32[48] parameter(0) ROOT r = f32[2,4,6] reshape(p)",
        "p = f32[6,35] parameter(0) ROOT r = f32[15,14] reshape(p)",
        "p = f32[4,9,5] parameter(0) ROOT r = f32[6,30] reshape(p)",
        "p = f32[30] parameter(0) q = f32[30] reverse(p), dimensions={0} ROOT r = f32[5,6] reshape(q)",
        "p = f32[40] parameter(0) q = f32[24] slice(p), slice={[8:32]} ROOT r = f32[4,6] reshape(q)",
        "p = f32[] parameter(0) ROOT r = f32[] negate(p)",
    ],
)
def test_valid_tilings_are_all_that_hold(text: str) -> None:
    parameters = re.findall(r"(p) = (\S+) parameter\(0\)", text)
    root = re.findall(r"ROOT \w+ = (\S+) ", text)[0]
    module = ix.hlo.parse(
        f"f {{ {text} }}\nENTRY e {{ p = {parameters[0][1]} parameter(0) ROOT f = {root} fusion(p), kind=kLoop, calls=f }}"
    )
    assert list(ix.valid_tilings(module.entry.root)) == searched(module.entry.root)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**9))
def test_valid_tilings_of_chains_are_all_that_hold(seed: int) -> None:
    root = ix.hlo.parse(Chain(seed).text).entry.root
    if root.opcode != "fusion" or root.shape.element_count > 200:
        return
    if any(not maps or any(m.map.is_known_empty for m in maps) for maps in ix.output_to_input(root)):
        return
    assert list(ix.valid_tilings(root)) == searched(root)


def test_large_dimensions_are_not_searched() -> None:
    """Sizes of 2^33 elements: divisors of the inner size and multiples of it are listed at once."""
    text = "ENTRY e { p = s8[8388608,1024] parameter(0) ROOT r = s8[8589934592] reshape(p) }"
    actual = itertools.islice(ix.valid_tilings(ix.hlo.parse(text).entry.root), 14)
    assert list(actual) == [(2**k,) for k in range(11)] + [(2048,), (3072,), (4096,)]


def test_divisors() -> None:
    for n in range(1, 400):
        assert divisors(n) == [d for d in range(1, n + 1) if n % d == 0]
    assert divisors(2**33 * 1021)[-2:] == [2**32 * 1021, 2**33 * 1021]
