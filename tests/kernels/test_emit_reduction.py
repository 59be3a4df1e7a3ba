"""The reduction emitter: rows, several rows, columns, few columns; reducers, epilogues, side outputs; thread maps."""

import numpy as np
import pytest

import indexing as ix
from indexing.device.table import portable_device
from indexing.kernels.ir.types import storage_bytes
from indexing.kernels.kernel import Kernel
from kernels import assert_written_once, check, compiled, prove, vector_moves, visits

OPS = {"add": "add", "max": "maximum", "min": "minimum", "mul": "multiply", "and": "and", "or": "or", "xor": "xor"}


def reducer(op: str, kind: str, name: str = "red") -> str:
    return f"""{name} {{
      a = {kind}[] parameter(0)
      b = {kind}[] parameter(1)
      ROOT c = {kind}[] {OPS[op]}(a, b)
    }}"""


def reduced(kind: str, sizes: tuple[int, ...], dims: tuple[int, ...], op: str = "add", layout: str = "") -> str:
    source = ",".join(map(str, sizes))
    target = ",".join(str(s) for d, s in enumerate(sizes) if d not in dims)
    return f"""{reducer(op, kind)}
    ENTRY fused {{
      p = {kind}[{source}]{layout} parameter(0)
      z = {kind}[] parameter(1)
      ROOT r = {kind}[{target}] reduce(p, z), dimensions={{{",".join(map(str, dims))}}}, to_apply=red
    }}"""


CASES = [
    ((8, 2048), (1,)),
    ((5, 100), (1,)),
    ((300, 7), (1,)),
    ((1000, 32), (1,)),
    ((100,), (0,)),
    ((1030,), (0,)),
    ((4, 5, 6), (0, 1, 2)),
    ((3, 40, 33), (0, 2)),
    ((7, 3, 4, 9), (1, 3)),
    ((100, 64), (0,)),
    ((13, 51, 33), (1,)),
    ((200, 3), (0,)),
    ((64, 1), (0,)),
    ((4, 50, 2, 16), (1,)),
    ((6, 1, 40, 1), (2,)),
]


@pytest.mark.parametrize(("sizes", "dims"), CASES)
def test_spaces(sizes: tuple[int, ...], dims: tuple[int, ...]) -> None:
    text = reduced("f32", sizes, dims)
    kernel = check(text, "reduction", tolerance=1e-4)
    assert_written_once(kernel, [ix.hlo.parse(text).entry.root.shape])
    assert (visits(kernel.thread_to_input(0), sizes) == 1).all()


@pytest.mark.parametrize("kind", ["f64", "f16", "bf16", "s8", "u16", "s64", "c64", "c128", "s4"])
@pytest.mark.parametrize("dims", [(0,), (1,)])
def test_types(kind: str, dims: tuple[int, ...]) -> None:
    check(reduced(kind, (40, 70), dims), "reduction", tolerance=2e-2 if kind in ("f16", "bf16") else 1e-5)


@pytest.mark.parametrize(
    ("kind", "op"),
    [
        *[("f32", "max"), ("f32", "min"), ("s32", "max"), ("u8", "min"), ("s16", "mul"), ("pred", "and")],
        *[("pred", "or"), ("s32", "and"), ("u32", "or"), ("s64", "xor"), ("f64", "mul"), ("bf16", "max")],
    ],
)
@pytest.mark.parametrize("dims", [(0,), (1,)])
def test_reducers(kind: str, op: str, dims: tuple[int, ...]) -> None:
    check(reduced(kind, (33, 40), dims, op), "reduction")


@pytest.mark.parametrize("layout", ["{1,0}", "{0,1}"])
def test_layouts_decide_what_a_row_is(layout: str) -> None:
    text = reduced("f32", (40, 50), (1,), layout=layout)
    kernel = check(text, "reduction")
    assert_written_once(kernel, [ix.hlo.parse(text).entry.root.shape])


@pytest.mark.parametrize("threads", [1, 4, 32, 64])
def test_threads_are_a_knob(threads: int) -> None:
    text = reduced("f32", (9, 70), (1,))
    kernel = check(text, "reduction", threads=threads)
    assert kernel.block[0] % threads == 0
    assert_written_once(kernel, [ix.hlo.parse(text).entry.root.shape])


@pytest.mark.parametrize("threads", [0, 3, 128, 4096])
def test_threads_out_of_range_are_refused(threads: int) -> None:
    with pytest.raises(ix.IndexingError, match=r"threads is in \{1, 2, 4, 8, 16, 32, 64\}"):
        ix.emit(ix.hlo.parse(reduced("f32", (9, 70), (1,))).entry, threads=threads)


ARGMAX = """arg {
  v = f32[] parameter(0)
  i = s32[] parameter(1)
  w = f32[] parameter(2)
  j = s32[] parameter(3)
  gt = pred[] compare(v, w), direction=GT
  eq = pred[] compare(v, w), direction=EQ
  lt = pred[] compare(i, j), direction=LT
  tie = pred[] and(eq, lt)
  first = pred[] or(gt, tie)
  a = f32[] select(first, v, w)
  b = s32[] select(first, i, j)
  ROOT t = (f32[], s32[]) tuple(a, b)
}
"""


@pytest.mark.parametrize(("dims", "kept"), [((1,), 30), ((0,), 45)])
def test_variadic_without_a_neutral_element(dims: tuple[int, ...], kept: int) -> None:
    text = f"""{ARGMAX}
    ENTRY fused {{
      p = f32[30,45] parameter(0)
      i = s32[30,45] iota(), iota_dimension={dims[0]}
      low = f32[] constant(-inf)
      big = s32[] constant(2147483647)
      ROOT r = (f32[{kept}], s32[{kept}]) reduce(p, i, low, big), dimensions={{{dims[0]}}}, to_apply=arg
    }}"""
    kernel = check(text, "reduction")
    assert_written_once(kernel, list(ix.hlo.parse(text).entry.root.shape.leaves))


def test_several_heroes_epilogues_and_side_outputs() -> None:
    text = f"""{reducer("add", "f32")}
    {reducer("min", "f32", name="low")}
    ENTRY fused {{
      p = f32[12,80] parameter(0)
      q = f32[12] parameter(1)
      z = f32[] constant(0)
      big = f32[] constant(inf)
      e = f32[12,80] exponential(p)
      s = f32[12] reduce(e, z), dimensions={{1}}, to_apply=red
      m = f32[12] reduce(p, big), dimensions={{1}}, to_apply=low
      b = f32[3,4] bitcast(s)
      l = f32[3,4] log(b)
      n = f32[3,4] negate(l)
      t = f32[3,4] multiply(l, n)
      a = f32[12] add(m, q)
      w = f32[12] multiply(a, s)
      f = f32[960] bitcast(e)
      ROOT r = (f32[3,4], f32[12], f32[12,80], f32[960], f32[12]) tuple(t, w, e, f, m)
    }}"""
    kernel = check(text, "reduction", tolerance=1e-3)
    assert_written_once(kernel, list(ix.hlo.parse(text).entry.root.shape.leaves))


def test_an_output_may_follow_several_heroes() -> None:
    text = f"""{reducer("add", "f32")}
    ENTRY fused {{
      p = f32[12,80] parameter(0)
      z = f32[] constant(0)
      q = f32[12,80] multiply(p, p)
      s = f32[12] reduce(p, z), dimensions={{1}}, to_apply=red
      t = f32[12] reduce(q, z), dimensions={{1}}, to_apply=red
      m = f32[12] multiply(s, s)
      d = f32[12] subtract(t, m)
      ROOT r = f32[3,4] bitcast(d)
    }}"""
    kernel = check(text, "reduction", tolerance=1e-3)
    assert "fn0_reduce" not in kernel.source
    assert_written_once(kernel, [ix.hlo.parse(text).entry.root.shape])


def test_a_hero_that_an_output_reads_elsewhere_is_computed_there() -> None:
    text = f"""{reducer("add", "f32")}
    ENTRY fused {{
      p = f32[12,80] parameter(0)
      z = f32[] constant(0)
      s = f32[12] reduce(p, z), dimensions={{1}}, to_apply=red
      q = f32[12,80] multiply(p, p)
      t = f32[12] reduce(q, z), dimensions={{1}}, to_apply=red
      v = f32[12] reverse(t), dimensions={{0}}
      ROOT d = f32[12] subtract(s, v)
    }}"""
    check(text, "reduction", tolerance=1e-3)


def test_initial_values_enter_once() -> None:
    text = f"""{reducer("add", "s32")}
    ENTRY fused {{
      p = s32[3,500] parameter(0)
      z = s32[] constant(1000)
      ROOT r = s32[3] reduce(p, z), dimensions={{1}}, to_apply=red
    }}"""
    check(text, "reduction")


def test_reductions_over_different_spaces_are_a_loop() -> None:
    check(
        f"""{reducer("add", "f32")}
    ENTRY fused {{
      p = f32[12,80] parameter(0)
      z = f32[] constant(0)
      s = f32[12] reduce(p, z), dimensions={{1}}, to_apply=red
      t = f32[80] reduce(p, z), dimensions={{0}}, to_apply=red
      ROOT r = (f32[12], f32[80]) tuple(s, t)
    }}""",
        "loop",
        tolerance=1e-4,
    )


def test_warps_shuffle_and_short_rows_need_no_shared_memory() -> None:
    short = ix.emit(ix.hlo.parse(reduced("f32", (1000, 32), (1,))).entry)
    assert "__shfl_down_sync" in short.source
    assert "__shared__" not in short.source
    assert short.shared_bytes == 0
    long = ix.emit(ix.hlo.parse(reduced("f32", (1000, 1024), (1,))).entry)
    assert "__shfl_down_sync" in long.source
    assert long.shared_bytes == 4 * long.block[0] // 32


@pytest.mark.parametrize("arch", ["sm_80", "sm_90", "sm_100"])
def test_cuda_compiles(arch: str) -> None:
    for kind in ("f32", "bf16", "s8", "pred", "c128"):
        for dims in ((0,), (1,)):
            op = "or" if kind == "pred" else "add"
            computation = ix.hlo.parse(reduced(kind, (40, 100), dims, op)).entry
            assert ix.runtime.cubin(ix.emit(computation), arch)
            assert ix.runtime.cubin(ix.emit(computation, vector_width=4, threads=4, split_k=3), arch)


# ------------------------------------------------------------ vectors, and rows that blocks share


def fully_checked(text: str, sizes: tuple[int, ...], **knobs: int) -> Kernel:
    """Agrees with the reference; writes each element once, and reads each once."""
    kernel = check(text, "reduction", tolerance=1e-3, **knobs)
    assert_written_once(kernel, list(ix.hlo.parse(text).entry.root.shape.leaves))
    assert (visits(kernel.thread_to_input(0), sizes) == 1).all()
    return kernel


@pytest.mark.parametrize("kind", ["f32", "bf16", "s8", "f64", "pred"])
@pytest.mark.parametrize(
    ("sizes", "dims", "width"),
    [((6, 64), (1,), 4), ((40, 24), (0,), 8), ((3, 20, 16), (0, 2), 2), ((2, 10, 64), (1,), 4), ((1037,), (0,), 4)],
)
def test_vectors(kind: str, sizes: tuple[int, ...], dims: tuple[int, ...], width: int) -> None:
    text = reduced(kind, sizes, dims, "or" if kind == "pred" else "max")
    kernel = fully_checked(text, sizes, vector_width=width)
    assert vector_moves(kernel)["p0"] == {min(width, 16 // storage_bytes(kind))}


@pytest.mark.parametrize("width", [0, 3, 8, 32])
def test_vectors_that_do_not_divide_a_row_are_refused(width: int) -> None:
    with pytest.raises(ix.IndexingError, match="vector_width is in "):
        ix.emit(ix.hlo.parse(reduced("f32", (8, 36), (1,))).entry, vector_width=width)


@pytest.mark.parametrize("op", ["add", "max", "mul"])
@pytest.mark.parametrize(
    ("sizes", "dims", "knobs"),
    [
        ((3000,), (0,), {"threads": 32, "split_k": 8}),
        ((3001,), (0,), {"threads": 64, "split_k": 5, "vector_width": 4}),
        ((3000,), (0,), {"threads": 1, "split_k": 16}),
        ((5, 700), (1,), {"threads": 32, "split_k": 7}),
        ((300, 7), (0,), {"threads": 4, "split_k": 9}),
        ((300, 40), (0,), {"threads": 2, "split_k": 3, "vector_width": 4}),
        ((20, 3, 16), (0, 2), {"threads": 4, "split_k": 4}),
        ((4, 3, 4000), (0, 2), {"threads": 128, "split_k": 2}),
        ((2, 500, 3, 4), (1,), {"threads": 8, "split_k": 60}),
    ],
)
def test_blocks_share_rows(op: str, sizes: tuple[int, ...], dims: tuple[int, ...], knobs: dict[str, int]) -> None:
    kernel = fully_checked(reduced("f32", sizes, dims, op), sizes, **knobs)
    assert kernel.grid[0] % knobs["split_k"] == 0
    assert [a.element_type for a in kernel.scratch] == ["f32", "u32"]


@pytest.mark.parametrize("kind", ["f64", "f16", "bf16", "s8", "s64", "c64", "c128", "s4", "pred"])
@pytest.mark.parametrize("dims", [(0,), (1,)])
def test_types_of_shared_rows(kind: str, dims: tuple[int, ...]) -> None:
    op = "or" if kind == "pred" else "add"
    tolerance = 2e-2 if kind in ("f16", "bf16") else 1e-5
    check(reduced(kind, (64, 96), dims, op), "reduction", tolerance=tolerance, threads=4, split_k=4)


@pytest.mark.parametrize("dim", [0, 1])
@pytest.mark.parametrize("width", [1, 2])
def test_shared_rows_without_a_neutral_element(dim: int, width: int) -> None:
    text = f"""{ARGMAX}
    ENTRY fused {{
      p = f32[60,90] parameter(0)
      i = s32[60,90] iota(), iota_dimension={dim}
      low = f32[] constant(-inf)
      big = s32[] constant(2147483647)
      ROOT r = (f32[{(90, 60)[dim]}], s32[{(90, 60)[dim]}]) reduce(p, i, low, big), dimensions={{{dim}}}, to_apply=arg
    }}"""
    fully_checked(text, (60, 90), split_k=5, threads=4, vector_width=width)


def test_shared_rows_with_several_heroes_and_side_outputs() -> None:
    text = f"""{reducer("add", "f32")}
    {reducer("min", "f32", name="low")}
    ENTRY fused {{
      p = f32[8,640] parameter(0)
      z = f32[] constant(0)
      big = f32[] constant(inf)
      e = f32[8,640] exponential(p)
      s = f32[8] reduce(e, z), dimensions={{1}}, to_apply=red
      m = f32[8] reduce(p, big), dimensions={{1}}, to_apply=low
      w = f32[8] multiply(m, s)
      ROOT r = (f32[8], f32[8,640], f32[8]) tuple(w, e, m)
    }}"""
    kernel = fully_checked(text, (8, 640), split_k=4, threads=8, vector_width=4)
    assert vector_moves(kernel)["o1"] == {4}  # the side output's store
    assert len(kernel.scratch) == 3


def test_of_reductions_of_two_spaces_the_longer_decides() -> None:
    """The sum of four products, which is a result itself, is recomputed for the sums of rows: not these by one thread each."""
    text = f"""{reducer("add", "f32")}
    ENTRY fused {{
      p = f32[4,64,40] parameter(0)
      z = f32[] constant(0)
      s = f32[64,40] reduce(p, z), dimensions={{0}}, to_apply=red
      b = bf16[64,40] convert(s)
      q = f32[64,40] multiply(s, s)
      f = f32[32,80] reshape(q)
      t = f32[32] reduce(f, z), dimensions={{1}}, to_apply=red
      ROOT r = (bf16[64,40], f32[32]) tuple(b, t)
    }}"""
    prove(Kernel(fully_checked(text, (4, 64, 40)).ir, portable_device("cuda")))


def test_a_reduction_of_sums_that_are_results_computes_each_sum_once() -> None:
    """The longer sums, whose results are reduced again and written, do not decide: nothing but elements follows them."""
    text = f"""{reducer("add", "f32")}
    ENTRY fused {{
      p = f32[64,26,16] parameter(0)
      z = f32[] constant(0)
      s = f32[64,16] reduce(p, z), dimensions={{1}}, to_apply=red
      q = f32[64,16] multiply(s, s)
      t = f32[64] reduce(q, z), dimensions={{1}}, to_apply=red
      ROOT r = (f32[64], f32[64,16]) tuple(t, s)
    }}"""
    kernel = check(text, "reduction", tolerance=1e-4)
    prove(Kernel(kernel.ir, portable_device("cuda")))
    assert (visits(kernel.thread_to_input(0), (64, 26, 16)) == 1).all()


@pytest.mark.parametrize(
    ("sizes", "knobs", "block"),
    [
        ((2048, 64, 3), {}, 192),
        ((2048, 64, 4), {}, 64),
        ((37, 64, 3), {"threads": 4}, 24),
        ((37, 64, 6), {"threads": 4, "vector_width": 2, "split_k": 3}, 24),
        ((5, 64, 2), {"threads": 4, "vector_width": 2}, 16),
    ],
)
def test_blocks_take_several_runs_of_few_columns(sizes: tuple[int, ...], knobs: dict[str, int], block: int) -> None:
    """Enough to fill a warp, and more while no core is idle."""
    assert fully_checked(reduced("f32", sizes, (1,)), sizes, **knobs).block == (block, 1, 1)


@pytest.mark.parametrize("split_k", [0, 18, 2000])
def test_splits_out_of_range_are_refused(split_k: int) -> None:
    with pytest.raises(ix.IndexingError, match=r"split_k is in \[1, 17\]"):
        ix.emit(ix.hlo.parse(reduced("f32", (9, 70), (1,))).entry, threads=4, split_k=split_k)


@pytest.mark.parametrize(("sizes", "dims"), [((1 << 24,), (0,)), ((8, 1 << 18), (1,)), ((1 << 20, 8), (0,))])
def test_few_results_keep_many_blocks_busy(sizes: tuple[int, ...], dims: tuple[int, ...]) -> None:
    kernel = ix.emit(ix.hlo.parse(reduced("f32", sizes, dims)).entry)
    assert kernel.grid[0] * kernel.block[0] >= 1 << 16


@pytest.mark.parametrize(
    ("sizes", "dims", "loads"),
    [
        ((32, 429, 64), (0,), 8),
        ((4096, 64), (0,), 8),
        ((1568, 128), (0,), 4),
        ((4, 64, 1024), (0, 2), 16),
        ((4, 256, 4), (1,), 4),
    ],
)
def test_threads_have_several_loads_before_more_share_the_work(
    sizes: tuple[int, ...], dims: tuple[int, ...], loads: int
) -> None:
    """As many as are on their way at once, so that twice as many blocks or threads are predicted to save less than a twentieth."""
    fusion = ix.hlo.parse(reduced("f32", sizes, dims)).entry
    default, kernel = dict(ix.knobs(fusion).default), ix.emit(fusion)
    launched = kernel.grid[0] * kernel.block[0] * default["vector_width"]
    assert launched // 2 * loads < np.prod(sizes) <= launched * loads * 2
    more = "split_k" if default["split_k"] > 1 or len(dims) > 1 else "threads"
    times = ix.predict(fusion, [default, {**default, more: 2 * default[more]}], "H100 SXM").time
    assert times[0] <= 1.05 * times[1]


@pytest.mark.parametrize(
    ("sizes", "dims", "knobs"),
    [
        ((3, 5000), (1,), {"threads": 64, "split_k": 7}),
        ((9000,), (0,), {"threads": 64, "split_k": 16}),
        ((4096,), (0,), {"threads": 64, "split_k": 16}),
        ((2000, 4), (0,), {"threads": 16, "split_k": 9}),
    ],
)
def test_a_core_reads_a_stretch_of_memory_and_its_part_of_the_rest(
    sizes: tuple[int, ...], dims: tuple[int, ...], knobs: dict[str, int]
) -> None:
    kernel = ix.emit(ix.hlo.parse(reduced("f32", sizes, dims)).entry, dialect="c", **knobs)
    places: dict[int, list[int]] = {}
    for actual in kernel.input_maps[0]:
        for threads, ranges in actual.points():
            place = int(np.ravel_multi_index(actual.evaluate(threads, ranges), sizes))
            places.setdefault(threads[3], []).append(place)
    assert len(places) == kernel.grid[0]
    assert sorted(p for read in places.values() for p in read) == list(range(np.prod(sizes)))
    row = knobs["threads"] * (1 if dims == (len(sizes) - 1,) else sizes[-1])  # what a block reads at once
    for read in places.values():
        stretches = np.split(np.sort(read), np.flatnonzero(np.diff(np.sort(read)) > 1) + 1)
        assert len(stretches) <= 2 and all(len(s) <= row for s in stretches[1:]), stretches


@pytest.mark.parametrize(("length", "rows"), [(12, 32), (41, 8), (1000, 4), (5000, 1)])
def test_blocks_of_loops_have_as_many_short_rows_as_fill_vectors_of_pairs(length: int, rows: int) -> None:
    kernel = ix.emit(ix.hlo.parse(reduced("f32", (320, length), (1,))).entry, dialect="c")
    assert kernel.grid[0] == 320 // rows


@pytest.mark.parametrize(
    ("sizes", "dims"), [((1 << 18,), (0,)), ((512, 1024), (0,)), ((8, 1 << 16), (1,)), ((64, 96), (1,))]
)
def test_a_split_reduction_answers_for_the_data_of_each_call(sizes: tuple[int, ...], dims: tuple[int, ...]) -> None:
    run = compiled(reduced("s32", sizes, dims))
    for seed in range(3):
        x = np.random.default_rng(seed).integers(-9, 9, sizes).astype(np.int32)
        assert np.array_equal(run(x, np.int32(seed)), x.sum(dims) + seed)


def test_a_split_reduction_gives_the_same_bits_in_each_call() -> None:
    text = reduced("f32", (1 << 18,), (0,))
    executable = compiled(text, "cpu")
    assert executable.kernels[0].grid[0] > 1
    x = np.random.default_rng(0).normal(size=1 << 18).astype(np.float32)
    first = executable(x, np.float32(0))
    assert abs(float(first) - float(x.sum(dtype=np.float64))) < 1e-2
    assert all(executable(x, np.float32(0)) == first for _ in range(5))


@pytest.mark.parametrize("padding", ["-1_1", "1_-1", "-2_2", "0_0"])
def test_padding_that_drops_as_many_elements_as_it_adds(padding: str) -> None:
    """As many elements follow the reduction as it has, but not each of its elements, and others beside them."""
    text = f"""{reducer("max", "f32")}
    ENTRY fused {{
      p = f32[3,4,8] parameter(0)
      z = f32[] parameter(1)
      r = f32[3] reduce(p, z), dimensions={{1,2}}, to_apply=red
      ROOT padded = f32[3] pad(r, z), padding={padding}
    }}"""
    check(text, "reduction" if padding == "0_0" else "loop")
