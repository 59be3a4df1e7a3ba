"""The transpose emitter: shapes, layouts, types, epilogues and side outputs; thread maps; banks of shared memory."""

import pytest

import indexing as ix
from indexing.device.table import portable_device
from indexing.kernels.emitters.loop.elements import NO_PLANES, match_elements, plan_loop
from indexing.kernels.emitters.transpose.mapping import reading, storing
from indexing.kernels.emitters.transpose.match import match_transpose
from indexing.kernels.emitters.transpose.plan import plan_transpose
from indexing.kernels.ir import nodes as ir
from kernels import assert_written_once, check, prove, vector_moves, visits


def moved(kind: str, sizes: tuple[int, ...], permutation: tuple[int, ...]) -> str:
    source = ",".join(map(str, sizes))
    target = ",".join(str(sizes[d]) for d in permutation)
    order = ",".join(map(str, permutation))
    return f"""fused {{
      p = {kind}[{source}] parameter(0)
      ROOT t = {kind}[{target}] transpose(p), dimensions={{{order}}}
    }}"""


CASES = [
    ("f32", (40, 50), (1, 0)),
    ("f32", (3, 33, 65), (0, 2, 1)),
    ("f32", (20, 31, 40), (2, 1, 0)),
    ("f32", (5, 17, 16, 20), (1, 3, 0, 2)),
    ("f64", (64, 64), (1, 0)),
    ("c128", (20, 24), (1, 0)),
    ("s8", (40, 50, 3), (1, 0, 2)),
    ("f32", (33, 34, 2), (1, 0, 2)),
    ("s8", (2, 64, 68), (0, 2, 1)),
    ("pred", (70, 90), (1, 0)),
    ("bf16", (30, 4, 30), (2, 1, 0)),
    ("f16", (65, 66), (1, 0)),
    ("s16", (2, 4, 64, 3, 16), (1, 0, 4, 3, 2)),
    ("s4", (24, 2, 24), (2, 1, 0)),
    ("f8e4m3fn", (33, 40), (1, 0)),
    ("f32", (1, 64, 1, 32), (0, 3, 2, 1)),
]


@pytest.mark.parametrize(("kind", "sizes", "permutation"), CASES)
def test_transposes(kind, sizes, permutation) -> None:
    text = moved(kind, sizes, permutation)
    kernel = check(text, "transpose")
    shape = ix.hlo.parse(text).entry.root.shape
    assert_written_once(kernel, [shape])
    assert (visits(kernel.thread_to_input(0), sizes) == 1).all()


@pytest.mark.parametrize("tile", [8, 16, 32])
@pytest.mark.parametrize("block_size", [32, 512, 992])
def test_knobs(tile: int, block_size: int) -> None:
    text = moved("f32", (33, 50), (1, 0))
    kernel = check(text, "transpose", tile=tile, block_size=block_size)
    assert kernel.block == (block_size, 1, 1)
    assert kernel.shared_bytes == 4 * tile * (tile + 1)
    assert_written_once(kernel, [ix.hlo.parse(text).entry.root.shape])


@pytest.mark.parametrize("knobs", [{"tile": 7}, {"tile": 64, "block_size": 100}, {"block_size": 4096}])
def test_knobs_out_of_range_are_refused(knobs) -> None:
    with pytest.raises(ix.IndexingError):
        ix.emit(ix.hlo.parse(moved("f32", (40, 50), (1, 0))).entry, **knobs)


@pytest.mark.parametrize(("kind", "sizes", "permutation"), [("f32", (4, 8), (1, 0)), ("f32", (64, 64, 32), (1, 0, 2))])
def test_small_planes_and_long_runs_are_loops(kind, sizes, permutation) -> None:
    check(moved(kind, sizes, permutation), "loop")


def test_epilogues_side_outputs_and_several_heroes() -> None:
    text = """fused {
      p = f32[20,40] parameter(0)
      q = f32[20,40] parameter(1)
      b = f32[40] parameter(2)
      e = f32[20,40] exponential(p)
      t = f32[40,20] transpose(e), dimensions={1,0}
      u = f32[40,20] transpose(q), dimensions={1,0}
      bb = f32[40,20] broadcast(b), dimensions={0}
      s = f32[40,20] add(t, bb)
      m = f32[40,20] multiply(s, u)
      f = f32[800] bitcast(e)
      g = f32[4,10,20] bitcast(m)
      ROOT r = (f32[40,20], f32[800], f32[4,10,20], f32[20,40]) tuple(m, f, g, q)
    }"""
    kernel = check(text, "transpose")
    assert_written_once(kernel, list(ix.hlo.parse(text).entry.root.shape.leaves))


def test_a_hero_that_is_read_at_another_index_as_well_is_computed_again_there() -> None:
    check(
        """fused {
      p = f32[40,40] parameter(0)
      e = f32[40,40] exponential(p)
      t = f32[40,40] transpose(e), dimensions={1,0}
      s = f32[1,40] slice(t), slice={[3:4], [0:40]}
      r = f32[40] reshape(s)
      b = f32[40,40] broadcast(r), dimensions={1}
      ROOT a = f32[40,40] add(t, b)
    }"""
    )


def test_a_copy_to_another_layout_is_a_transpose() -> None:
    text = """fused {
      p = f32[40,50]{1,0} parameter(0)
      ROOT c = f32[40,50]{0,1} copy(p)
    }"""
    kernel = check(text, "transpose")
    assert_written_once(kernel, [ix.hlo.parse(text).entry.root.shape])


def test_a_transpose_that_moves_nothing_in_memory_is_a_loop() -> None:
    check(
        """fused {
      p = f32[40,50]{1,0} parameter(0)
      ROOT t = f32[50,40]{0,1} transpose(p), dimensions={1,0}
    }""",
        "loop",
    )


@pytest.mark.parametrize(
    ("kind", "sizes"),
    [
        ("f32", (64, 64)),
        ("s16", (128, 128)),
        ("s8", (512, 512)),
        ("f32", (999, 3)),
        ("f32", (3, 999)),
    ],
)
def test_a_warp_meets_no_bank_twice(kind: str, sizes: tuple[int, int]) -> None:
    """Words of shared memory that the 32 threads of a warp touch together lie in different banks."""
    computation = ix.hlo.parse(moved(kind, sizes, (1, 0))).entry
    match = match_transpose(computation)
    assert match is not None
    plan = plan_transpose(match, portable_device("cuda"))
    for walk in (reading(plan), storing(plan)):
        for warp in range(plan.block_size // 32):
            words = {int(walk.cell.evaluate([warp * 32 + lane, *[0] * 8])) for lane in range(32)}
            assert len({w % 32 for w in words}) == len(words), (walk, warp)


SHORT = [
    *[("f32", (700, 3), (1, 0)), ("u8", (700, 3), (1, 0)), ("u8", (701, 3), (1, 0)), ("bf16", (600, 7), (1, 0))],
    *[("f32", (3, 700), (1, 0)), ("s8", (4, 700), (1, 0)), ("s8", (5, 701), (1, 0)), ("f64", (2, 5, 300), (0, 2, 1))],
    *[("f32", (2, 300, 3, 2), (0, 2, 1, 3)), ("f16", (2, 3, 10, 100), (0, 3, 2, 1)), ("c128", (300, 2), (1, 0))],
    *[("s8", (100, 6, 5), (1, 0, 2)), ("f32", (40, 20, 15), (1, 0, 2)), ("s8", (60, 33, 20), (1, 0, 2))],
]


@pytest.mark.parametrize(("kind", "sizes", "permutation"), SHORT)
def test_short_sides_and_runs(kind, sizes, permutation, monkeypatch) -> None:
    text = moved(kind, sizes, permutation)
    if ix.emit(ix.hlo.parse(text).entry, "c").emitter != "transpose":
        check(text, "loop")  # then as on devices with threads
    monkeypatch.setattr("indexing.kernels.emitters.transpose.pays_on", lambda transpose, device: True)
    kernel = check(text, "transpose")
    assert_written_once(kernel, [ix.hlo.parse(text).entry.root.shape])
    assert (visits(kernel.thread_to_input(0), sizes) == 1).all()


@pytest.mark.parametrize(("sizes", "tile"), [((64, 64), 64), ((63, 700), 32), ((700, 63), 32), ((700, 700), 64)])
def test_loops_take_long_rows_of_tiles(sizes: tuple[int, int], tile: int) -> None:
    entry = ix.hlo.parse(moved("f32", sizes, (1, 0))).entry
    assert (ix.knobs(entry, "c").default["tile"], ix.knobs(entry, "cuda").default["tile"]) == (tile, 32)


@pytest.mark.parametrize(("sizes", "emitter"), [((700, 3), "loop"), ((7, 700), "loop"), ((8, 700), "transpose")])
def test_loops_move_short_sides_without_a_tile(sizes: tuple[int, int], emitter: str) -> None:
    entry = ix.hlo.parse(moved("f32", sizes, (1, 0))).entry
    assert ix.emit(entry, "c").emitter == emitter
    assert ix.emit(entry, "cuda").emitter == ix.emit(entry, "opencl").emitter == "transpose"


@pytest.mark.parametrize(
    ("sizes", "permutation", "count"),
    [
        *[((5, 60, 3), (0, 2, 1), 3), ((300, 4), (1, 0), 4), ((2, 9, 50, 2), (0, 3, 1, 2), 2)],
        *[((5, 3, 60), (0, 2, 1), 1), ((300, 6), (1, 0), 1), ((5, 60, 3), (1, 2, 0), 1), ((60, 3, 2), (1, 0, 2), 1)],
    ],
)
def test_loops_take_the_elements_of_few_planes_in_turn(
    sizes: tuple[int, ...], permutation: tuple[int, ...], count: int
) -> None:
    """Threads read neighbouring elements in turn, and write one of each plane, if these alternate; on GPUs never."""
    text = moved("u8", sizes, permutation)
    entry = ix.hlo.parse(text).entry
    plan = plan_loop(match_elements(entry), portable_device("c"))
    assert plan.planes.count == count
    assert plan_loop(match_elements(entry), portable_device("cuda")).planes == NO_PLANES
    assert plan_loop(match_elements(entry), portable_device("c"), vector_width=2).planes == NO_PLANES
    check(text)
    kernel = ix.emit(entry, "c")
    prove(kernel)
    assert_written_once(kernel, [entry.root.shape])
    assert (visits(kernel.thread_to_input(0), sizes) == 1).all()
    if count > 1:
        here, there = ([int(x) for x in kernel.thread_to_input(0).evaluate([t, 0, 0, 0, 0, 0])] for t in (0, 1))
        assert there == [*here[:-1], here[-1] + 1]
        assert plan.block_size % count == 0


@pytest.mark.parametrize("kind", ["f32", "bf16", "s8"])
@pytest.mark.parametrize("sizes", [(1 << 16, 3), (3, 1 << 16), (1 << 16, 4), (4, 1 << 16), (1 << 16, 7), (512, 512)])
def test_each_request_asks_for_whole_sectors(kind: str, sizes: tuple[int, int]) -> None:
    """Loads and stores of 4 bytes a thread at least, no sector more than these fill."""
    accesses = ix.coalescing(ix.hlo.parse(moved(kind, sizes, (1, 0))).entry).accesses
    assert len(accesses) == 2
    for access in accesses:
        assert access.bytes_asked >= 128
        assert access.ratio < 1.01


def test_a_tile_ends_with_its_plane() -> None:
    """Threads take no steps along the long side of a plane for elements that it doesn't have."""
    kernel = ix.emit("f { p = bf16[512,4,64] parameter(0) ROOT t = bf16[512,64,4] transpose(p), dimensions={0,2,1} }")
    assert kernel.emitter == "transpose"
    assert all(s.stop.constant_value <= 2 for s in ir.statements(kernel.stage("inline").body) if isinstance(s, ir.For))


def test_a_loop_is_as_good_where_vectors_hold_the_short_side() -> None:
    assert ix.emit(ix.hlo.parse(moved("f32", (4, 1 << 16), (1, 0))).entry).emitter == "loop"
    assert ix.emit(ix.hlo.parse(moved("s8", (4, 1 << 16), (1, 0))).entry).emitter == "transpose"


@pytest.mark.parametrize(("kind", "size"), [("bf16", 128), ("s8", 256)])
def test_narrow_elements_move_as_words(kind: str, size: int) -> None:
    moves = vector_moves(ix.emit(ix.hlo.parse(moved(kind, (size, size), (1, 0))).entry))
    assert moves["p0"] == moves["o0"] == {{"bf16": 2, "s8": 4}[kind]}


@pytest.mark.parametrize("kind", ["u8", "bf16"])
def test_narrow_elements_are_packed_only_for_the_banks_of_parallel_threads(kind: str) -> None:
    match = match_transpose(ix.hlo.parse(moved(kind, (512, 128), (1, 0))).entry)
    assert match is not None
    plans = {dialect: plan_transpose(match, portable_device(dialect)) for dialect in ("cuda", "opencl", "c")}
    assert plans["cuda"].packed == plans["opencl"].packed == (4 if kind == "u8" else 2) and plans["c"].packed == 1


@pytest.mark.parametrize("arch", ["sm_80", "sm_90", "sm_100"])
def test_cuda_compiles(arch: str) -> None:
    for kind in ("f32", "bf16", "s8", "c128"):
        assert ix.runtime.cubin(ix.emit(ix.hlo.parse(moved(kind, (40, 50), (1, 0))).entry), arch)
