"""The reduction emitter: rows, several rows, columns, few columns; reducers, epilogues, side outputs; thread maps."""

import pytest

import indexing as ix
from indexing.ops.block import leaves
from kernels import assert_written_once, check, visits

OPS = {"add": "add", "max": "maximum", "min": "minimum", "mul": "multiply", "and": "and", "or": "or", "xor": "xor"}


def reducer(op: str, kind: str) -> str:
    return f"""red {{
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
    with pytest.raises(ix.IndexingError, match="power of two up to 64"):
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
    assert_written_once(kernel, list(leaves(ix.hlo.parse(text).entry.root.shape)))


def test_several_heroes_epilogues_and_side_outputs() -> None:
    text = f"""{reducer("add", "f32")}
    low {{
      a = f32[] parameter(0)
      b = f32[] parameter(1)
      ROOT c = f32[] minimum(a, b)
    }}
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
    assert_written_once(kernel, list(leaves(ix.hlo.parse(text).entry.root.shape)))


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
    long = ix.emit(ix.hlo.parse(reduced("f32", (1000, 512), (1,))).entry)
    assert "__shfl_down_sync" in long.source
    assert long.shared_bytes == 4 * long.block[0] // 32


@pytest.mark.parametrize("arch", ["sm_80", "sm_90", "sm_100"])
def test_cuda_compiles(arch: str) -> None:
    for kind in ("f32", "bf16", "s8", "pred", "c128"):
        for dims in ((0,), (1,)):
            op = "or" if kind == "pred" else "add"
            assert ix.emit(ix.hlo.parse(reduced(kind, (40, 100), dims, op)).entry).cubin(arch)
