"""The loop emitter: knobs, thread maps, vectors and tails, text that stays linear, names that stay out."""

import itertools
from dataclasses import replace

import numpy as np
import pytest

import indexing as ix
from indexing._core import constant
from indexing.device.table import portable_device
from indexing.errors import IndexingError
from indexing.kernels.ir.nodes import For, If, Load, statements
from indexing.kernels.ir.traversal import subvalues, values_of
from indexing.kernels.kernel import Kernel
from indexing.kernels.passes.inline import MAX_ADDED, MAX_COPIED_LOADING
from kernels import as_fusion, assert_written_once, check, compiled, prove, vector_moves

CHAIN = """
f {{
  a = {kind}[{count}] parameter(0)
  b = {kind}[{count}] parameter(1)
  c = {kind}[{count}] multiply(a, b)
  ROOT r = {kind}[{count}] add(c, a)
}}"""


def entry(text: str) -> ix.hlo.Computation:
    return ix.hlo.parse(text).entry


def written(kernel: Kernel, output: int = 0) -> list[tuple[int, ...]]:
    """Every index that some thread writes, each time it does, by enumeration."""
    m = kernel.thread_to_output(output)
    axes = [range(v.interval.lower, v.interval.upper + 1) for v in (*m.dims, *m.ranges)]
    result = []
    for point in itertools.product(*axes):
        dims, ranges = point[: len(m.dims)], point[len(m.dims) :]
        if m.contains(dims, ranges):
            result.append(tuple(int(x) for x in m.evaluate(dims, ranges)))
    return result


@pytest.mark.parametrize(
    ("sizes", "knobs"),
    [
        ("6,35", {"block_size": 32}),
        ("6,35", {"block_size": 16, "vector_width": 2}),
        ("7,9", {"block_size": 8, "max_blocks": 3}),
        ("7,9", {"block_size": 8, "vector_width": 4}),
        ("64", {"block_size": 4, "vector_width": 4, "max_blocks": 2}),
        ("", {}),
    ],
)
def test_threads_cover_each_element_once_and_agree(sizes: str, knobs: dict[str, int]) -> None:
    text = CHAIN.format(kind="f32", count=sizes)
    kernel = ix.emit(entry(text), "c", **knobs)
    shape = tuple(int(s) for s in sizes.split(",") if s)
    assert sorted(written(kernel)) == list(itertools.product(*map(range, shape)))


def test_all_threads_of_a_block_take_as_many_turns() -> None:
    """Lanes with other numbers of turns would part in loops that a compiler unrolls: the last turn has a condition instead."""
    kernel = ix.emit(entry(CHAIN.format(kind="f32", count=100)), "cuda", block_size=24, vector_width=1, max_blocks=2)
    (turns,) = [s for s in statements(kernel.ir.body) if isinstance(s, For)]
    assert (turns.start, turns.stop, turns.step) == (constant(0), constant(3), 1)
    assert sorted(written(kernel)) == [(k,) for k in range(100)]


@pytest.mark.parametrize(
    ("kind", "count", "width"),
    [("f32", 1 << 18, 4), ("bf16", 1 << 18, 8), ("c64", 1 << 18, 2), ("f32", (1 << 18) + 3, 4)],
)
def test_vectors_are_as_wide_as_divisibility_allows(kind: str, count: int, width: int) -> None:
    text = CHAIN.format(kind=kind, count=count)
    kernel = ix.emit(entry(text), "cuda")
    assert kernel.thread_to_output().ranges[-1].interval.upper + 1 == width
    assert vector_moves(kernel)["o0"] == {width}
    rng = np.random.default_rng(0)
    dtype = ix.hlo.parse(text).entry.root.shape.dtype
    arrays = [rng.integers(-8, 8, count).astype(np.float32).astype(dtype) for _ in range(2)]
    got = compiled(text, device="cpu")(*arrays)
    assert np.array_equal(got, ix.evaluate(text, *arrays))


def test_a_vector_is_loaded_where_rows_stay_aligned() -> None:
    text = """
f {
  a = f32[512,512] parameter(0)
  row = f32[512] parameter(1)
  column = f32[512] parameter(2)
  r = f32[512,512] broadcast(row), dimensions={1}
  c = f32[512,512] broadcast(column), dimensions={0}
  s = f32[512,512] add(a, r)
  ROOT t = f32[512,512] multiply(s, c)
}"""
    kernel = ix.emit(entry(text))
    moves = vector_moves(kernel)
    assert (moves["p0"], moves["p1"], moves["p2"]) == ({4}, {4}, set())  # column is one element for all lanes
    assert kernel.source.count("p2[") == 1


def test_threads_say_what_they_read() -> None:
    text = """
f {
  a = f32[4,6] parameter(0)
  b = f32[6] parameter(1)
  t = f32[6,4] transpose(a), dimensions={1,0}
  c = f32[6,4] broadcast(b), dimensions={0}
  ROOT s = f32[6,4] add(t, c)
}"""
    kernel = ix.emit(entry(text), block_size=8)
    for bl, th in itertools.product(range(3), range(8)):
        dims = (th, 0, 0, bl, 0, 0)
        row, column = divmod(bl * 8 + th, 4)
        assert [int(x) for x in kernel.thread_to_input(0).evaluate(dims)] == [column, row]
        assert [int(x) for x in kernel.thread_to_input(1).evaluate(dims)] == [row]


def test_index_width_follows_the_range() -> None:
    wide = ix.emit(entry("f { a = s8[65536,65536] parameter(0)\n ROOT r = s8[65536,65536] negate(a)\n}")).source
    narrow = ix.emit(entry("f { a = s8[65536,16] parameter(0)\n ROOT r = s8[65536,16] negate(a)\n}")).source
    assert "s64" in wide
    assert "s64" not in narrow


def test_arithmetic_of_the_launch_does_not_overflow() -> None:
    """The last place of the largest arrays whose elements 32 bits can count, and of those just beyond."""
    for count, wide in ((2**31 - 1, False), (2**31 + 1, True)):
        kernel = ix.emit(entry(f"f {{ a = s8[{count}] parameter(0)\n ROOT r = s8[{count}] negate(a)\n}}"))
        assert ("s64" in kernel.source) == wide
        assert not kernel.verify().refuted


@pytest.mark.parametrize(
    ("knob", "value"), [("block_size", 0), ("block_size", 1025), ("vector_width", 3), ("max_blocks", 0)]
)
def test_a_knob_out_of_range_is_refused(knob: str, value: int) -> None:
    with pytest.raises(IndexingError, match=knob):
        ix.emit(entry(CHAIN.format(kind="f32", count=8)), **{knob: value})


def test_an_unknown_dialect_is_refused() -> None:
    with pytest.raises(ix.CompileError, match="no dialect 'metal'"):
        ix.emit(entry(CHAIN.format(kind="f32", count=8)), "metal")


def test_an_op_without_element_code_is_refused_by_name() -> None:
    text = "f { a = f32[8] parameter(0)\n ROOT r = c64[5] fft(a), fft_type=RFFT, fft_length={8}\n}"
    with pytest.raises(ix.UnsupportedOp, match="fft"):
        ix.emit(entry(text))


@pytest.mark.parametrize(
    ("body", "what"),
    [
        ("a = f32[4] parameter(0)\n  ROOT r = () tuple()", "returns no array"),
        (
            "a = (f32[4], s32[]) parameter(0)\n  ROOT r = f32[4] get-tuple-element(a), index=0",
            "a of f is a tuple",
        ),
        ("a = token[] parameter(0)\n  ROOT r = token[] after-all(a)", "returns a token"),
    ],
)
def test_what_is_no_array_is_refused(body: str, what: str) -> None:
    with pytest.raises(ix.UnsupportedOp, match=what):
        ix.emit(entry(f"f {{\n  {body}\n}}"))


@pytest.mark.parametrize(
    "body", ["a = f32[0,3] parameter(0)\n  ROOT r = f32[0,3] negate(a)", "ROOT a = f32[4] parameter(0)"]
)
def test_nothing_to_compute(body: str) -> None:
    text = f"f {{\n  {body}\n}}"
    array = np.ones(entry(text).parameters[0].shape.dimensions, np.float32)
    assert np.array_equal(compiled(text, device="cpu")(array), ix.evaluate(text, array))


def stages(count: int) -> str:
    """log, transpose, add, `count` times: each log is read at two places."""
    lines = ["f {", "  x0 = f32[8,8] parameter(0)"]
    for k in range(count):
        lines.append(f"  l{k} = f32[8,8] log(x{k})")
        lines.append(f"  t{k} = f32[8,8] transpose(l{k}), dimensions={{1,0}}")
        lines.append(f"  x{k + 1} = f32[8,8] add(l{k}, t{k})")
    return "\n".join([*lines, f"  ROOT r = f32[8,8] negate(x{count})", "}"])


def test_text_grows_linearly_with_the_graph() -> None:
    lines = [ix.emit(as_fusion(stages(n)), vector_width=1).source.count("\n") for n in (16, 32, 64)]
    assert lines[2] < 700 + 2 * MAX_COPIED_LOADING  # the first stages are inlined, each twice as long as the one before
    assert lines[2] - lines[1] <= 2 * (lines[1] - lines[0]) + 4
    assert ix.runtime.cubin(ix.emit(as_fusion(stages(64))))


def test_steps_of_operators_are_no_functions_on_gpus() -> None:
    """Up to a number of statements, after which they are functions again."""
    text = stages(8).replace("log", "abs")
    assert not check(text, vector_width=1).lowered.functions
    assert ix.emit(as_fusion(text), "c").lowered.functions
    many = ix.emit(as_fusion(stages(64).replace("log", "abs")), vector_width=1)
    assert many.lowered.functions and many.source.count("\n") < 700 + MAX_ADDED


def test_stages_are_right() -> None:
    array = np.random.default_rng(0).random((8, 8), np.float32) + 30
    text = stages(3)
    assert np.allclose(compiled(text, device="cpu")(array), ix.evaluate(text, array), rtol=1e-5)


@pytest.mark.parametrize(
    "step",
    [
        "  x{n} = f32[64] negate(x{k})",
        "  x{n} = f32[64] dynamic-slice(x{k}, i), dynamic_slice_sizes={{64}}",
        "  x{n} = f32[64] dynamic-update-slice(x{k}, u, i)",
        "  y{k} = f32[66] pad(x{k}, z), padding=1_1\n  x{n} = f32[64] slice(y{k}), slice={{[0:64]}}",
        "  x{n} = f32[64] concatenate(h, cut{k}), dimensions={{0}}",
    ],
)
def test_depth_is_no_matter(step: str) -> None:
    head = ["f {", "  x0 = f32[64] parameter(0)", "  i = s32[] parameter(1)", "  u = f32[3] parameter(2)"]
    head += ["  z = f32[] constant(0)", "  h = f32[32] parameter(3)"]
    body = []
    for k in range(400):
        if "cut{k}" in step:
            body.append(f"  cut{k} = f32[32] slice(x{k}), slice={{[16:48]}}")
        body.append(step.format(k=k, n=k + 1))
    text = "\n".join([*head, *body, "  ROOT r = f32[64] negate(x400)", "}"])
    assert ix.emit(entry(text)).source.count("\n") < 12000


def test_long_chains_of_reshapes_are_cut() -> None:
    lines, sizes = [], ["6,35", "30,7", "35,6", "7,30"]
    for k in range(90):  # more instructions than a kernel takes
        lines.append(f"  y{k} = f32[{sizes[(k + 1) % 4]}] reshape(x{k})")
        rows, columns = sizes[(k + 1) % 4].split(",")
        lines.append(f"  z{k} = f32[{columns},{rows}] transpose(y{k}), dimensions={{1,0}}")
        lines.append(f"  x{k + 1} = f32[{sizes[(k + 1) % 4]}] reshape(z{k})")
    text = "\n".join(["f {", "  x0 = f32[6,35] parameter(0)", *lines, "  ROOT r = f32[35,6] negate(x90)", "}"])
    assert ix.emit(entry(text), "c").source.count("\n") < 200
    array = np.arange(210, dtype=np.float32).reshape(6, 35)
    assert np.array_equal(compiled(text, device="cpu")(array), ix.evaluate(text, array))


def test_names_of_hlo_stay_in_comments() -> None:
    name = "evil.1-x_*/"
    text = 'HloModule m\nENTRY "e\\" ; int" {\n  ROOT r = f32[4] parameter(0)\n}'
    source = ix.emit(entry(CHAIN.format(kind="f32", count=8).replace("f {", "fused-_.x {"))).source
    assert source.startswith("// fused-_.x:")
    assert name not in source
    with pytest.raises(IndexingError):
        ix.emit(entry(text.replace("ENTRY", "ENTRY ;")))


def test_outputs_of_several_shapes() -> None:
    text = """
f {
  a = f32[12] parameter(0)
  b = f32[5] parameter(1)
  n = f32[12] negate(a)
  m = f32[3,4] reshape(n)
  e = f32[5] exponential(b)
  z = f32[0] constant({})
  ROOT t = (f32[12], (f32[3,4], f32[5]), f32[0]) tuple(n, u, z)
}""".replace("  ROOT", "  u = (f32[3,4], f32[5]) tuple(m, e)\n  ROOT")
    arrays = [np.arange(12, dtype=np.float32), np.arange(5, dtype=np.float32)]
    kernel = ix.emit(entry(text), "c")
    assert [a.dimensions for a in kernel.outputs] == [(12,), (3, 4), (5,), (0,)]
    got = compiled(text, device="cpu")(*arrays)
    want = ix.evaluate(text, *arrays)
    for g, w in zip(got, want, strict=True):
        assert np.allclose(g, w)


def test_large_bodies_state_what_they_read() -> None:
    """A window of 61 elements through 30 stages of three slices each: as many maps, whatever the number of paths."""
    size = 4096 + 60
    lines = [f"v0 = f32[{size}] parameter(0)"]
    for k in range(30):
        kept = size - 2
        lines += [f"a{k}_{d} = f32[{kept}] slice(v{k}), slice={{[{d}:{kept + d}]}}" for d in range(3)]
        lines += [f"b{k} = f32[{kept}] add(a{k}_0, a{k}_1)", f"v{k + 1} = f32[{kept}] add(b{k}, a{k}_2)"]
        size = kept
    lines[-1] = "ROOT " + lines[-1]
    kernel = ix.emit(as_fusion("\n".join(["f {", *lines, "}"])))
    assert kernel.emitter == "loop"
    starts = {int(m.evaluate([0] * 6, [0] * len(m.ranges))[0]) for m in kernel.input_maps[0]}
    assert starts == set(range(61))
    assert not ix.coalescing(kernel).unknown


def test_what_is_the_same_for_all_lanes_stands_in_front_of_their_loop() -> None:
    """The index of a row that is looked up, wrapped as JAX wraps it; then the row moves as vectors."""
    text = """f {
      x = f32[50,64] parameter(0)
      i = s32[4096,1] parameter(1)
      z = s32[] constant(0)
      zero = s32[4096,1] broadcast(z), dimensions={}
      n = s32[] constant(50)
      size = s32[4096,1] broadcast(n), dimensions={}
      less = pred[4096,1] compare(i, zero), direction=LT
      plus = s32[4096,1] add(i, size)
      at = s32[4096,1] select(less, plus, i)
      ROOT g = f32[4096,64] gather(x, at), offset_dims={1}, collapsed_slice_dims={0},
        start_index_map={0}, index_vector_dim=1, slice_sizes={1,64}
    }"""
    kernel = check(text, "loop")
    assert vector_moves(kernel)["p0"] == {4}
    lowered = replace(kernel, device=portable_device("cuda")).lowered
    lanes = [s for s in statements(lowered.body) if isinstance(s, For)]
    inside = [v for loop in lanes for s in statements(loop.body) for g in values_of(s) for v in subvalues(g)]
    assert not any(isinstance(v, Load) and v.buffer == "p1" for v in inside)


ROWS_OF_100 = """
f {
  x = f32[7,100] parameter(0)
  b = f32[100] parameter(1)
  s = f32[7] parameter(2)
  bs = f32[7,100] broadcast(b), dimensions={1}
  ss = f32[7,100] broadcast(s), dimensions={0}
  y = f32[7,100] multiply(x, ss)
  z = f32[7,100] add(y, bs)
  ROOT t = f32[7,61] slice(z), slice={[0:7], [2:63]}
}"""
BACKWARDS = "f { x = f32[5,45] parameter(0) r = f32[5,45] reverse(x), dimensions={1} ROOT s = f32[5,45] add(x, r) }"


@pytest.mark.parametrize("knobs", [{}, {"block_size": 32}, {"block_size": 1024}, {"block_size": 64, "max_blocks": 2}])
@pytest.mark.parametrize("text", [ROWS_OF_100, BACKWARDS], ids=["slice", "reverse"])
def test_rows_that_begin_within_a_block(text: str, knobs: dict[str, int]) -> None:
    """On processors they are loops of their own, wherever blocks begin and end."""
    check(text, "loop", **knobs)
    kernel = ix.emit(as_fusion(text), "c", **knobs).stage("row-loops")
    loops = {kernel.variables[s.variable].name for s in statements(kernel.body) if isinstance(s, For)}
    assert "row" in loops or "max_blocks" in knobs


PADDED_SUM = """
f {
  x = f32[11,40] parameter(0)
  z = f32[] constant(0)
  a = f32[11,40] pad(x, z), padding=1_-1x-2_2
  b = f32[11,40] pad(x, z), padding=-1_1x3_-3
  ROOT s = f32[11,40] subtract(a, b)
}"""
INTERIOR = """
f {
  x = f32[13,30] parameter(0)
  z = f32[] constant(7)
  ROOT a = f32[16,89] pad(x, z), padding=1_2x2_-1_2
}"""

INTERLEAVED = """
f {
  x = f32[20,32] parameter(0)
  y = f32[20,32] parameter(1)
  z = f32[] constant(0)
  a = f32[20,64] pad(x, z), padding=0_0x0_1_1
  b = f32[20,64] pad(y, z), padding=0_0x1_0_1
  ROOT s = f32[20,64] subtract(a, b)
}"""

COLUMNS = """
f {
  x = f32[128,1] parameter(0)
  y = f32[128,1] parameter(1)
  z = f32[] constant(0)
  a = f32[128,3] pad(x, z), padding=0_0x0_2
  b = f32[128,3] pad(y, z), padding=0_0x1_1
  ROOT s = f32[128,3] subtract(a, b)
}"""


@pytest.mark.parametrize("knobs", [{}, {"block_size": 32}, {"block_size": 1024}, {"block_size": 64, "max_blocks": 2}])
@pytest.mark.parametrize(
    "text", [PADDED_SUM, INTERIOR, INTERLEAVED, COLUMNS], ids=["edges", "interior", "interleaved", "columns"]
)
def test_pads_at_edges_and_between_elements(text: str, knobs: dict[str, int]) -> None:
    """On processors, conditions are decided for ranges of elements, wherever blocks begin and end."""
    check(text, "loop", **knobs)


@pytest.mark.parametrize("text", [INTERLEAVED, COLUMNS], ids=["interleaved", "columns"])
def test_interleaved_elements_are_written_without_conditions(text: str) -> None:
    kernel = ix.emit(as_fusion(text), "c").stage("split-loops")
    assert not any(isinstance(s, If) for s in statements(kernel.body))


def test_elements_far_from_all_edges_are_written_without_conditions() -> None:
    kernel = ix.emit(as_fusion(PADDED_SUM), "c").stage("split-loops")
    loops = [list(statements(s.body)) for s in statements(kernel.body) if isinstance(s, For) and s.variable == 0]
    plain = [body for body in loops if not any(isinstance(s, If) for s in body)]
    loads = [[v for s in body for g in values_of(s) for v in subvalues(g) if isinstance(v, Load)] for body in plain]
    assert max(map(len, loads)) == 2


@pytest.mark.parametrize(
    ("kind", "entries"),
    [("f32", ("0,0,192,127", "0,0,128,255")), ("f64", ("0,0,0,0,0,0,248,127", "0,0,0,0,0,0,240,255")), ("c128", ())],
)
def test_tables_of_constants_hold_nan_and_infinity(kind: str, entries: tuple[str, ...]) -> None:
    numbers = ("(nan, inf)", "(-inf, 1)") if kind == "c128" else ("nan", "-inf")
    text = f"ENTRY fused {{ ROOT c = {kind}[4] constant({{1, {', '.join(numbers)}, 2}}) }}"
    text = text if kind != "c128" else text.replace("{1,", "{(1, 0),").replace(", 2}", ", (2, 0)}")
    check(text, "loop")
    actual = ix.runtime.ptx(ix.emit(ix.hlo.parse(text).entry)).replace(" ", "")
    assert all(entry in actual for entry in entries)


@pytest.mark.parametrize("rows", [24, 21])
def test_both_sides_of_an_edge_that_all_lanes_share_are_vectors(rows: int) -> None:
    """Numbers of bf16 are computed two at a time beside padding, as they are without."""
    text = f"""fused {{
      p = bf16[20,64] parameter(0)
      q = bf16[20,64] parameter(1)
      z = bf16[] constant(0)
      m = bf16[20,64] multiply(p, q)
      s = bf16[20,64] add(m, p)
      a = bf16[{rows},64] pad(m, z), padding=0_{rows - 20}x0_0
      b = bf16[{rows},64] pad(s, z), padding=0_{rows - 20}x0_0
      ROOT t = (bf16[{rows},64], bf16[{rows},64]) tuple(a, b)
    }}"""
    kernel = check(text, "loop", tolerance=1e-2, vector_width=8)
    assert vector_moves(kernel) == {"p0": {8}, "p1": {8}, "o0": {8}, "o1": {8}}
    assert_written_once(kernel, list(ix.hlo.parse(text).entry.root.shape.leaves))
    for target in ("c", "cuda", "opencl"):
        prove(Kernel(kernel.ir, portable_device(target)))
    assert "packed_mul_bf16" in ix.emit(as_fusion(text), "cuda", vector_width=8).source


@pytest.mark.parametrize(("size", "is_kept"), [(4, True), (8, True), (16, True), (6, False), (3, False), (128, False)])
def test_compilers_keep_loops_that_are_vectors(size: int, is_kept: bool) -> None:
    """On CPUs, a loop of as many threads as a vector has lanes is not unrolled before it becomes one."""
    text = f"f {{\n  a = f32[{size}] parameter(0)\n  ROOT r = f32[{size}] negate(a)\n}}"
    assert ("unroll 1" in ix.emit(entry(text), device="cpu").source) == is_kept


@pytest.mark.parametrize(("turns", "is_kept"), [(16, True), (17, False)])
def test_compilers_keep_short_loops_that_choose_an_element_with_its_place(turns: int, is_kept: bool) -> None:
    """On CPUs, the loop over threads around such a loop becomes vectors; what has another width is a loop of its own."""
    text = f"""g {{
  a = f32[] parameter(0)
  i = s32[] parameter(1)
  b = f32[] parameter(2)
  j = s32[] parameter(3)
  p = pred[] compare(a, b), direction=LT
  m = f32[] select(p, a, b)
  n = s32[] select(p, i, j)
  ROOT t = (f32[], s32[]) tuple(m, n)
}}
f {{
  x = f32[900] parameter(0)
  v = f32[{turns}] parameter(1)
  xs = f32[900,{turns}] broadcast(x), dimensions={{0}}
  vs = f32[900,{turns}] broadcast(v), dimensions={{1}}
  s = f32[900,{turns}] subtract(xs, vs)
  w = f32[900,{turns}] abs(s)
  k = s32[900,{turns}] iota(), iota_dimension=1
  z = f32[] constant(inf)
  y = s32[] constant(0)
  d = (f32[900], s32[900]) reduce(w, k, z, y), dimensions={{1}}, to_apply=g
  e = s32[900] get-tuple-element(d), index=1
  ROOT c = u8[900] convert(e)
}}"""
    check(text, "loop")
    source = ix.emit(entry(text), device="cpu").source
    assert ("unroll 1" in source) == is_kept and source.count("for (s32 th_x") == 2
