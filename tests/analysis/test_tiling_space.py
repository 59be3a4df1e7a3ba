"""Tiling spaces: at every position, the tiles hold what the outputs' tiles need; held against enumeration."""

import itertools
from collections.abc import Iterator, Sequence

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import indexing as ix
from shape_programs import Chain

ADD = "add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT r = f32[] add(a, b) }\n"


def fusion(shapes: Sequence[str], body: str, result: str) -> ix.hlo.Instruction:
    parameters = "\n".join(f"p{k} = f32[{s}] parameter({k})" for k, s in enumerate(shapes))
    names = ", ".join(f"p{k}" for k in range(len(shapes)))
    text = (
        f"{ADD}f {{\n{parameters}\n{body}\n}}\nENTRY e {{\n{parameters}\n"
        f"ROOT r = {result} fusion({names}), kind=kLoop, calls=f\n}}"
    )
    return ix.hlo.parse(text).entry.root


PROGRAMS = {
    "reshape and its operand": fusion(
        ["24"],
        "a = f32[24] abs(p0)\n b = f32[4,6] reshape(a)\n ROOT t = (f32[4,6], f32[24]) tuple(b, a)",
        "(f32[4,6], f32[24])",
    ),
    "operand and its reshape": fusion(
        ["4,6"],
        "a = f32[4,6] abs(p0)\n b = f32[24] reshape(a)\n ROOT t = (f32[4,6], f32[24]) tuple(a, b)",
        "(f32[4,6], f32[24])",
    ),
    "sum and its operand": fusion(
        ["4,6"],
        "a = f32[4,6] abs(p0)\n z = f32[] constant(0)\n s = f32[4] reduce(a, z), dimensions={1}, to_apply=add\n"
        "ROOT t = (f32[4], f32[4,6]) tuple(s, a)",
        "(f32[4], f32[4,6])",
    ),
    "operand and its sum": fusion(
        ["4,6"],
        "a = f32[4,6] abs(p0)\n z = f32[] constant(0)\n s = f32[6] reduce(a, z), dimensions={0}, to_apply=add\n"
        "ROOT t = (f32[4,6], f32[6]) tuple(a, s)",
        "(f32[4,6], f32[6])",
    ),
    "two uses of one operand": fusion(
        ["4,6"],
        "a = f32[6,4] transpose(p0), dimensions={1,0}\n b = f32[2,2,6] reshape(p0)\n"
        "ROOT t = (f32[6,4], f32[2,2,6]) tuple(a, b)",
        "(f32[6,4], f32[2,2,6])",
    ),
    "nothing in common": fusion(
        ["4,3", "5"],
        "a = f32[4,3] abs(p0)\n b = f32[5] negate(p1)\n ROOT t = (f32[4,3], f32[5]) tuple(a, b)",
        "(f32[4,3], f32[5])",
    ),
    "normalized rows": fusion(
        ["4,6"],
        "z = f32[] constant(0)\n s = f32[4] reduce(p0, z), dimensions={1}, to_apply=add\n"
        "b = f32[4,6] broadcast(s), dimensions={0}\n ROOT d = f32[4,6] divide(p0, b)",
        "f32[4,6]",
    ),
    "product and bias": fusion(
        ["4,5", "5,6", "6"],
        "d = f32[4,6] dot(p0, p1), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"
        "b = f32[4,6] broadcast(p2), dimensions={1}\n ROOT s = f32[4,6] add(d, b)",
        "f32[4,6]",
    ),
    "halves": fusion(
        ["6,4"],
        "a = f32[3,4] slice(p0), slice={[0:3],[0:4]}\n b = f32[3,4] slice(p0), slice={[3:6],[0:4]}\n"
        "ROOT s = f32[3,4] add(a, b)",
        "f32[3,4]",
    ),
}


def cells(tile: ix.Tile, at: Sequence[int], sizes: Sequence[int], shape: Sequence[int]) -> set[tuple[int, ...]]:
    """The elements of a tile at these offsets that the array has."""
    free = [0] * tile.offsets.num_symbols
    offsets = tile.moved_offsets.evaluate(at, free)
    grid = zip(offsets, tile.sizes.evaluate(sizes), tile.strides.evaluate(sizes), shape, strict=True)
    return set(itertools.product(*({o + s * k for k in range(n) if 0 <= o + s * k < m} for o, n, s, m in grid)))


def needed(fused: ix.hlo.Instruction, output: int, operand: int) -> dict[tuple[int, ...], set[tuple[int, ...]]]:
    """Of each element of an output: the elements of an operand that it needs."""
    result: dict[tuple[int, ...], set[tuple[int, ...]]] = {}
    for indexing in ix.output_to_input(fused, output)[operand]:
        for dims, symbols in indexing.map.points():
            result.setdefault(dims, set()).add(indexing.map.evaluate(dims, symbols))
    return result


def check(fused: ix.hlo.Instruction, most: int = 12) -> int:
    """Hold the tiles of a space against enumeration, at `most` valid tilings; how many there were."""
    space = ix.tiling_space(fused)
    shapes = [s.dimensions for s in fused.shape.leaves]
    every = list(space.valid_tilings())
    for sizes in every[:: max(len(every) // most, 1)]:
        whole: list[set[tuple[int, ...]]] = [set() for _ in shapes]
        for places in positions(space, sizes):
            outputs = [
                set().union(*(cells(tile, at, sizes, s) for at in places))
                for tile, s in zip(space.roots, shapes, strict=True)
            ]
            whole = [w | o for w, o in zip(whole, outputs, strict=True)]
            is_full = all(a + s <= d.size for at in places for a, s, d in zip(at, sizes, space.dimensions, strict=True))
            check_operands(fused, space, sizes, places, outputs, is_full)
        for actual, shape in zip(whole, shapes, strict=True):
            assert actual == set(itertools.product(*map(range, shape))), sizes
    return len(every)


def check_operands(
    fused: ix.hlo.Instruction,
    space: ix.TilingSpace,
    sizes: Sequence[int],
    places: Sequence[Sequence[int]],
    outputs: Sequence[set[tuple[int, ...]]],
    is_full: bool,
) -> None:
    for k, parameter in enumerate(fused.called[0].parameters):
        wants = [needed(fused, output, k) for output in range(len(outputs))]
        wanted = {i for want, elements in zip(wants, outputs, strict=True) for e in elements for i in want.get(e, ())}
        tiles = space.tiles.get((parameter, 0), ())
        covered = {i for tile in tiles for at in places for i in cells(tile, at, sizes, parameter.shape.dimensions)}
        assert wanted <= covered, (sizes, places)
        if is_full and all(tile.exact and not tile.mask for tile in tiles):
            assert covered == wanted, (sizes, places)


def positions(space: ix.TilingSpace, sizes: Sequence[int]) -> Iterator[list[tuple[int, ...]]]:
    """Offsets of all tiles, those at one position along the parallel dimensions together."""
    steps = [range(0, d.size, s) for d, s in zip(space.dimensions, sizes, strict=True)]
    parallel = [s if d.kind == "parallel" else [None] for d, s in zip(space.dimensions, steps, strict=True)]
    for fixed in itertools.product(*parallel):
        yield list(itertools.product(*(s if f is None else [f] for f, s in zip(fixed, steps, strict=True))))


@pytest.mark.parametrize("name", PROGRAMS)
def test_tiles_of_a_space_hold_what_is_needed(name: str) -> None:
    assert check(PROGRAMS[name]) >= 2


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**9), st.integers(0, 3))
@example(293263, 3)  # an output whose index is a quotient and a remainder of the other's, of no common tile
def test_chains_with_an_inner_output(seed: int, inner: int) -> None:
    """Two outputs: the last op of a chain, and one before it."""
    chain = Chain(seed)
    text = chain.text
    names = [line.split()[0] for line in chain.lines if line.startswith(("v", "p ="))]
    other = names[inner % len(names)]
    module = ix.hlo.parse(text)
    if module.entry.root.opcode != "fusion" or module.entry.root.shape.element_count > 60:
        return
    inside = module.entry.root.called[0]
    last, kept = inside.root, inside.instructions[other]
    if kept.shape.element_count > 60 or 0 in last.shape.dimensions:
        return
    pair = f"({last.shape}, {kept.shape})"
    text = text.replace("ROOT " + last.name, last.name)
    text = text.replace("}\nENTRY", f"ROOT t = {pair} tuple({last.name}, {kept.name})\n}}\nENTRY")
    text = text.replace(f"ROOT f1 = {last.shape}".split("{")[0], f"ROOT f1 = {pair}", 1)
    both = ix.hlo.parse(text).entry.root
    if any(m.map.is_known_empty for k in (0, 1) for maps in ix.output_to_input(both, k) for m in maps):
        return
    assert check(both, 5) >= 1


def test_dimensions_of_a_space() -> None:
    def dimensions(name: str) -> list[tuple[int, str, str]]:
        return [(d.size, d.kind, d.instruction.name) for d in ix.tiling_space(PROGRAMS[name]).dimensions]

    assert dimensions("product and bias") == [(4, "parallel", "s"), (6, "parallel", "s"), (5, "sequential", "d")]
    assert dimensions("normalized rows") == [(4, "parallel", "d"), (6, "parallel", "d"), (6, "sequential", "s")]
    assert dimensions("sum and its operand") == [(4, "parallel", "s"), (6, "sequential", "s")]
    # the sum is accumulated over the operand's rows
    assert dimensions("operand and its sum")[:1] == [(4, "sequential", "a")]
    assert dimensions("nothing in common") == [(4, "parallel", "a"), (3, "parallel", "a"), (5, "parallel", "b")]


def test_what_is_opaque_is_listed() -> None:
    text = 'ENTRY e { p = f32[4] parameter(0) ROOT c = f32[4] custom-call(p), custom_call_target="f" }'
    space = ix.tiling_space(ix.hlo.parse(text).entry.root)
    assert [(d.size, d.kind) for d in space.dimensions] == [(4, "parallel")]
    assert [i.name for i, _ in space.unknown] == ["p"]


def test_rank_twelve_takes_a_product_of_no_clauses() -> None:
    sizes = ",".join(["2", "3"] * 6)
    text = f"ENTRY e {{ p = f32[{sizes}] parameter(0) ROOT r = f32[{6**6}] reshape(p) }}"
    space = ix.tiling_space(ix.hlo.parse(text).entry.root)
    assert list(itertools.islice(space.valid_tilings(), 6)) == [(1,), (3,), (6,), (18,), (36,), (108,)]
