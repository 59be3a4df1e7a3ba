"""Loads and stores of whole tiles, against the elements that each tile of the output needs, listed one by one."""

import itertools
from collections.abc import Sequence

import pytest

import indexing as ix
from memory_simulator import strides

PROGRAMS = {
    "negate": "ENTRY e { p = s8[50,20] parameter(0) ROOT n = s8[50,20] negate(p) }",
    "transpose": "ENTRY e { p = f32[40,24] parameter(0) ROOT t = f32[24,40] transpose(p), dimensions={1,0} }",
    "layouts": "ENTRY e { p = f32[24,40]{1,0} parameter(0) q = f32[24,40]{0,1} parameter(1) "
    "ROOT a = f32[24,40]{1,0} add(p, q) }",
    "broadcast": "ENTRY e { p = f64[24] parameter(0) ROOT b = f64[24,40] broadcast(p), dimensions={0} }",
    "dot": "ENTRY e { p = bf16[24,17] parameter(0) q = bf16[17,40] parameter(1) "
    "ROOT d = bf16[24,40] dot(p, q), lhs_contracting_dims={1}, rhs_contracting_dims={0} }",
    "reshape": "ENTRY e { p = f32[24,4,10] parameter(0) ROOT r = f32[24,40] reshape(p) }",
    "reverse, strided": "ENTRY e { p = s16[48,80] parameter(0) r = s16[48,80] reverse(p), dimensions={1} "
    "ROOT s = s16[24,40] slice(r), slice={[0:48:2],[0:80:2]} }",
}


def moved(
    root: ix.hlo.Instruction, operand: int | None, tile: Sequence[int], sequential: Sequence[int] = ()
) -> tuple[int, int, int, int]:
    """Tiles, bytes, sectors and lines, from the definition."""
    array = root if operand is None else root.operands[operand]
    layout = array.shape.layout
    minor = layout if layout is not None else tuple(range(array.shape.rank))[::-1]
    steps, size = strides(array.shape.dimensions, minor), array.shape.dtype.itemsize
    reached: dict[tuple[int, ...], set[tuple[tuple[int, ...], tuple[int, ...]]]] = {}
    for indexing in [] if operand is None else ix.output_to_input(root)[operand]:
        for dims, symbols in indexing.map.points():
            step = tuple(s // n for s, n in zip(symbols, sequential, strict=False))
            reached.setdefault(dims, set()).add((step, indexing.map.evaluate(dims, symbols)))
    result = [0, 0, 0, 0]
    for at in itertools.product(*(range(0, n, s) for n, s in zip(root.shape.dimensions, tile, strict=True))):
        ends = zip(at, tile, root.shape.dimensions, strict=True)
        here = itertools.product(*(range(a, min(a + s, n)) for a, s, n in ends))
        elements = {e for i in here for e in ({((), i)} if operand is None else reached.get(i, set()))}
        for step in {step for step, _ in elements}:
            starts = {
                size * sum(i * s for i, s in zip(e, steps, strict=True)) for at_step, e in elements if at_step == step
            }
            touched = {a + b for a in starts for b in range(size)}
            result[0] += bool(touched)
            result[1] += len(touched)
            result[2] += len({b // 32 for b in touched})
            result[3] += len({b // 128 for b in touched})
    return result[0], result[1], result[2], result[3]


@pytest.mark.parametrize("tile", [(1, 1), (1, 20), (5, 4), (8, 10), (24, 40), (3, 40), (7, 16)])
@pytest.mark.parametrize("name", PROGRAMS)
def test_tiles_move_what_their_elements_need(name: str, tile: tuple[int, int]) -> None:
    root = ix.hlo.parse(PROGRAMS[name]).entry.root
    accesses = ix.coalescing(root, launch=ix.Tiles(tile))
    assert [a.output for a in accesses.writes] == [0]
    assert accesses.writes[0].total.numbers[:4] == moved(root, None, tile)
    for a in accesses.reads:
        assert a.exactness == "exact"
        assert a.total.numbers[:4] == moved(root, a.operand, tile), a.map
    assert {a.operand for a in accesses.reads} | {k for k, _ in accesses.unknown} == set(range(len(root.operands)))


ADD = "add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) } "
SEQUENTIAL = {
    "dot": (PROGRAMS["dot"], [((8, 10), (5,)), ((24, 40), (17,)), ((7, 16), (4,)), ((1, 1), (1,))]),
    "two contracted": (
        "ENTRY e { p = f32[6,8,10] parameter(0) q = f32[8,10,12] parameter(1) "
        "ROOT d = f32[6,12] dot(p, q), lhs_contracting_dims={1,2}, rhs_contracting_dims={0,1} }",
        [((3, 4), (2, 5)), ((6, 12), (8, 3)), ((4, 5), (3, 10))],
    ),
    "reduction": (
        ADD + "ENTRY e { p = f32[20,33] parameter(0) z = f32[] constant(0) "
        "ROOT r = f32[20] reduce(p, z), dimensions={1}, to_apply=add }",
        [((4,), (8,)), ((20,), (33,)), ((3,), (1,))],
    ),
}


@pytest.mark.parametrize("name", SEQUENTIAL)
def test_what_is_contracted_or_reduced_has_tiles_as_well(name: str) -> None:
    """One plan gives the tiles of all operands: those of one dimension are the same for each."""
    text, plans = SEQUENTIAL[name]
    root = ix.hlo.parse(text).entry.root
    for sizes, sequential in plans:
        accesses = ix.coalescing(root, launch=ix.Tiles(sizes, sequential))
        assert {a.operand for a in accesses.reads} == set(range(len(root.operands))) and not accesses.unknown
        assert accesses.writes[0].total.numbers[:4] == moved(root, None, sizes)
        for a in accesses.reads:
            assert a.exactness == "exact"
            assert a.total.numbers[:4] == moved(root, a.operand, sizes, sequential), (sizes, sequential)


def test_sequential_tiles_need_what_is_reduced() -> None:
    dot, negate = (ix.hlo.parse(PROGRAMS[n]).entry.root for n in ("dot", "negate"))
    with pytest.raises(ix.IndexingError, match="d reduces or contracts 1 dimensions, the sequential tile has 2"):
        ix.coalescing(dot, launch=ix.Tiles((8, 8), (4, 4)))
    with pytest.raises(ix.IndexingError, match="n reduces or contracts no dimensions"):
        ix.coalescing(negate, launch=ix.Tiles((8, 8), (4,)))
    with pytest.raises(ix.IndexingError, match="sizes of at least 1"):
        ix.Tiles((8, 8), (0,))


def test_how_much_of_what_is_moved_is_asked_for() -> None:
    root = ix.hlo.parse("ENTRY e { p = s8[256,16] parameter(0) ROOT c = f32[256,16] convert(p) }").entry.root

    def used(*tile: int) -> float:
        (read,) = ix.coalescing(root, launch=ix.Tiles(tile)).reads
        return read.utilization

    # a sector holds two rows of 16 bytes: of these one row, both, both halves, two bytes
    assert [used(1, 16), used(2, 16), used(4, 8), used(256, 1)] == [0.5, 1.0, 0.5, 0.0625]


def test_what_is_no_tile_is_told() -> None:
    root = ix.hlo.parse(PROGRAMS["reshape"]).entry.root
    accesses = ix.coalescing(root, launch=ix.Tiles((2, 7)))
    assert accesses.reads == ()
    assert accesses.unknown == ((0, "at these sizes, it reads no tile"),)
    with pytest.raises(ix.IndexingError, match="dimensions"):
        ix.coalescing(root, launch=ix.Tiles((2,)))
    with pytest.raises(ix.IndexingError, match="sizes"):
        ix.Tiles((0, 4))


def test_a_computation_is_judged_from_its_parameters_on() -> None:
    """As the fusion that calls it: not from what its root reads."""
    text = """f { p = f32[64,64] parameter(0)
      t = f32[64,64] transpose(p), dimensions={1,0}
      ROOT n = f32[64,64] negate(t) }
    ENTRY e { p = f32[64,64] parameter(0) ROOT r = f32[64,64] fusion(p), kind=kLoop, calls=f }"""
    module = ix.hlo.parse(text)
    for launch in (ix.Tiles((1, 64)), ix.Launch()):
        of_computation = ix.coalescing(module.computations["f"], launch=launch)
        assert [a.map for a in of_computation.accesses] == [
            a.map for a in ix.coalescing(module.entry.root, launch=launch).accesses
        ]
    assert ix.coalescing(module.computations["f"], launch=ix.Tiles((1, 64))).reads[0].sectors == 64
