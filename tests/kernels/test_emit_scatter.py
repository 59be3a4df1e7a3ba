"""The scatter emitter: unique, sorted and atomic; types and reducers; windows that do not fit; thread maps."""

import re
from itertools import chain

import numpy as np
import pytest

import indexing as ix
from indexing.kernels.ir import nodes as ir
from kernels import DEVICE, check, close, compiled, device_of_tests, launch, random_array, vector_moves

REDUCERS = {"add": "add", "mul": "multiply", "max": "maximum", "min": "minimum", "and": "and", "or": "or", "xor": "xor"}


def scattered(kind: str, op: str = "add", flags: str = "", index: str = "s32") -> str:
    """Rows of 3 by 2 windows into 10 by 5."""
    body = f"ROOT c = {kind}[] {REDUCERS[op]}(a, b)" if op in REDUCERS else "s = " + op
    if op == "second":
        body = f"ROOT c = {kind}[] copy(b)"
    return f"""fold {{
      a = {kind}[] parameter(0)
      b = {kind}[] parameter(1)
      {body}
    }}
    ENTRY fused {{
      x = {kind}[10,5] parameter(0)
      i = {index}[24,1] parameter(1)
      u = {kind}[24,2,3] parameter(2)
      ROOT s = {kind}[10,5] scatter(x, i, u), update_window_dims={{1,2}}, inserted_window_dims={{}},
        scatter_dims_to_operand_dims={{0}}, index_vector_dim=1, to_apply=fold{flags}
    }}"""


@pytest.mark.parametrize("kind", ["f32", "f64", "f16", "bf16", "s8", "u16", "s32", "u32", "s64", "u64", "c64", "s4"])
def test_atomics_of_all_types(kind: str) -> None:
    kernel = check(scattered(kind), "scatter", tolerance=5e-2 if kind in ("f16", "bf16") else 1e-5)
    assert kernel.outputs[0].alias_of == 0 and kernel.in_place == {0: 0}


@pytest.mark.parametrize(
    ("kind", "op"),
    [("s32", op) for op in REDUCERS] + [("u64", "max"), ("s64", "min"), ("s64", "xor"), ("f32", "max"), ("pred", "or")],
)
def test_reducers(kind: str, op: str) -> None:
    check(scattered(kind, op), "scatter")


@pytest.mark.parametrize("vector_width", [1, 2, 4])
@pytest.mark.parametrize("op", ["add", "mul", *["second"] * (DEVICE == "cpu")])  # threads of a GPU come in any order
@pytest.mark.parametrize("kind", ["f32", "bf16", "s8"])
def test_neighbours_under_one_index(kind: str, op: str, vector_width: int) -> None:
    """Threads take vectors of updates, all of them or none; rows of other places in memory are left alone."""
    text = scattered(kind, op).replace("24,2,3", "24,2,4").replace("10,5", "12,9")
    for flags in ("", ", unique_indices=true"):
        if flags:  # one update, so that the promise is kept
            text = text.replace("[24,", "[1,").replace("to_apply=fold", f"to_apply=fold{flags}")
        kernel = check(text, "scatter", tolerance=5e-2 if kind == "bf16" else 1e-5, vector_width=vector_width)
        assert vector_moves(kernel)["p2"] == ({vector_width} if vector_width > 1 else set())
    with pytest.raises(ix.IndexingError, match="vector_width"):
        ix.emit(ix.hlo.parse(text).entry, vector_width=8)


@pytest.mark.parametrize("op", ["add", "second"])
def test_unique_neighbours_are_read_and_written_as_vectors(op: str) -> None:
    """What is replaced is not read before."""
    text = (
        scattered("f32", op, ", unique_indices=true")
        .replace("24,", "1,")
        .replace("2,3]", "2,8]")
        .replace("10,5", "10,16")
    )
    kernel = check(text, "scatter", vector_width=4)
    copies = [(s.destination, s.source) for s in ir.statements(kernel.lowered.body) if isinstance(s, ir.Copy)]
    assert {b for b in chain.from_iterable(copies) if b[0] in "po"} == {"p2", "o0"}
    assert sum(source == "o0" for _, source in copies) == (op == "add")


#: The instruction for four neighbours on sm_90; before, one for each, or a swap.
TOGETHER = {
    ("f32", "add"): (r"red\.global\.add\.v4\.f32", r"(red|atom)\.global\.add\.f32"),
    ("f16", "add"): (r"red\.global\.add\.noftz\.v4\.f16", r"red\.global\.add\.noftz\.f16"),
    ("bf16", "add"): (r"red\.global\.add\.noftz\.v4\.bf16", r"atom\.global\.cas\.b16"),
    ("f32", "max"): (r"ld\.relaxed\.gpu\.global\.v4\.f32", r"ld\.relaxed\.gpu\.global\.v4\.f32"),
}


@pytest.mark.parametrize(("kind", "op"), TOGETHER)
def test_neighbours_are_updated_by_one_instruction(kind: str, op: str) -> None:
    pytest.importorskip("cuda.core")
    text = scattered(kind, op).replace("24,2,3", "24,2,4").replace("10,5", "12,8")
    kernel = ix.emit(ix.hlo.parse(text).entry, "cuda", vector_width=4)
    for arch, expected in zip(("sm_90", "sm_80"), TOGETHER[kind, op], strict=True):
        code = ix.runtime.ptx(kernel, arch)
        assert len(re.findall(expected, code)) == (1 if ".v4" in expected else 4)
        assert ix.runtime.cubin(kernel, arch)


FEW = """fold {{
  a = {kind}[] parameter(0)
  b = {kind}[] parameter(1)
  ROOT c = {kind}[] {op}(a, b)
}}
ENTRY fused {{
  x = {kind}[{size}] parameter(0)
  i = s32[{count},1] parameter(1)
  u = {kind}[{count}] parameter(2)
  ROOT s = {kind}[{size}] scatter(x, i, u), update_window_dims={{}}, inserted_window_dims={{0}},
    scatter_dims_to_operand_dims={{0}}, index_vector_dim=1, to_apply=fold
}}"""


@pytest.mark.parametrize("knobs", [{"copies": 1}, {"copies": 3, "block_size": 32}, {"copies": 40, "block_size": 7}])
@pytest.mark.parametrize(
    ("kind", "op"),
    [("f32", "add"), ("f64", "add"), ("s32", "minimum"), ("u64", "maximum"), ("s64", "and"), ("f32", "maximum")],
)
def test_blocks_combine_updates_in_copies(kind: str, op: str, knobs: dict[str, int]) -> None:
    kernel = check(FEW.format(kind=kind, op=op, size=19, count=300), "scatter", **knobs)
    assert kernel.grid == (knobs["copies"], 1, 1)
    assert kernel.shared_bytes == 19 * np.dtype(kernel.outputs[0].zeros().dtype).itemsize
    assert kernel.verify().open == kernel.verify().refuted == ()


def test_a_copy_with_an_element_for_each_thread_compiles_for_gpus() -> None:
    """Neither of its loops takes a second turn, so that both are statements of one block."""
    text = FEW.format(kind="s32", op="add", size=64, count=300)
    kernel = ix.emit(ix.hlo.parse(text).entry, "cuda", copies=3, block_size=64)
    assert ix.runtime.cubin(kernel, "sm_90")
    assert kernel.verify().refuted == ()


def test_copies_of_arrays_with_a_layout_and_windows() -> None:
    text = scattered("f32").replace("24,2,3", "24,2,4").replace("10,5", "12,9").replace("f32[12,9]", "f32[12,9]{0,1}")
    check(text, "scatter", copies=2, vector_width=2, block_size=16)


def test_minus_zero_stays_where_nothing_is_added() -> None:
    text = FEW.format(kind="f32", op="add", size=8, count=4)
    kernel = ix.emit(ix.hlo.parse(text).entry, dialect=device_of_tests().dialect, copies=2, block_size=4)
    x, i = np.full(8, -0.0, np.float32), np.array([[0], [0], [1], [9]], np.int32)
    u = np.array([-0.0, -0.0, 0.0, 1.0], np.float32)
    (got,) = launch(kernel, [x, i, u], [ix.hlo.parse(text).entry.root.shape])
    assert np.signbit(got).tolist() == [True, False, *[True] * 6]


def test_updates_of_few_elements_have_copies_by_default() -> None:
    """Not of many elements, of types or operations without an atomic function, or where threads are loops."""

    def copies(kind: str, op: str, size: int, dialect: str = "cuda") -> bool:
        return bool(ix.emit(FEW.format(kind=kind, op=op, size=size, count=1 << 17), dialect=dialect).shared_bytes)

    assert copies("f32", "add", 10) and copies("s32", "maximum", 100) and copies("s32", "add", 10, "opencl")
    assert not copies("f32", "add", 4000) and not copies("bf16", "add", 10) and not copies("f32", "add", 10, "c")
    with pytest.raises(ix.IndexingError, match="copies is in "):
        ix.emit(FEW.format(kind="bf16", op="add", size=9, count=50), copies=1)


def test_neighbours_are_swapped_one_by_one_where_nothing_updates_them_together() -> None:
    text = scattered("bf16").replace("24,2,3", "24,2,4").replace("10,5", "12,8")
    source = ix.emit(ix.hlo.parse(text).entry, "opencl", vector_width=4).source
    assert source.count("atomic_cmpxchg") == 4


def test_large_updates_are_read_as_vectors() -> None:
    text = scattered("f32").replace("24,1", "4096,1").replace("24,2,3", "4096,2,32").replace("10,5", "100,64")
    actual = vector_moves(ix.emit(ix.hlo.parse(text).entry))
    assert actual == {"p0": set(), "p1": set(), "p2": {4}, "o0": set()}


@pytest.mark.parametrize(("kind", "op"), [("f64", "max"), ("u8", "or"), ("f32", "mul"), ("f32", "add")])
def test_updates_of_batches_are_written_at_quotients(kind: str, op: str) -> None:
    """Four updates an element, which are swapped in at `i floordiv 4`."""
    text = scattered(kind, op).split("ENTRY")[0]
    kernel = check(
        f"""{text} ENTRY fused {{
          x = {kind}[8] parameter(0)
          i = u32[8,4,0] parameter(1)
          u = {kind}[8,4] parameter(2)
          ROOT s = {kind}[8] scatter(x, i, u), update_window_dims={{}}, inserted_window_dims={{}},
            scatter_dims_to_operand_dims={{}}, input_batching_dims={{0}}, scatter_indices_batching_dims={{0}},
            index_vector_dim=2, to_apply=fold
        }}""",
        "scatter",
    )
    assert ">> 2" in kernel.source


@pytest.mark.parametrize("dialect", ["cuda", "opencl"])
@pytest.mark.parametrize("kind", ["f64", "bf16", "u8"])
def test_the_word_that_is_swapped_is_read_as_others_may_write_it(kind: str, dialect: str) -> None:
    """A plain read would race with the swaps, and the compiler might repeat it between the update and the comparison."""
    source = ix.emit(
        ix.hlo.parse(scattered(kind, "mul").replace("24,", "400,").replace("10,5", "12,5")).entry, dialect=dialect
    ).source
    assert re.search(r" u(\d+) old_\d+ = \*\((__global )?volatile u\1 \*\)at_\d+, ", source)


def test_a_type_too_wide_for_atomics_is_updated_in_turn() -> None:
    kernel = check(scattered("c128"), "scatter")
    assert kernel.grid == kernel.block == (1, 1, 1)
    check(scattered("c128", "second"), "scatter")
    with pytest.raises(ix.IndexingError, match="block_size"):
        ix.emit(ix.hlo.parse(scattered("c128")).entry, block_size=64)


@pytest.mark.parametrize("kind", ["u8", "pred", "s4"])
def test_bytes_that_fill_no_whole_words_are_updated_in_turn(kind: str) -> None:
    """A byte is swapped within its word, which would extend beyond the array at its end."""
    for rows, block in ((9, 1), (10, 1), (11, 1), (12, 128)):
        kernel = check(scattered(kind, "or").replace("10,5", f"{rows},5"), "scatter")
        assert kernel.block == (block, 1, 1)


def test_several_arrays_are_updated_in_turn() -> None:
    """The largest update of each element, and its number; of equal ones the first."""
    kernel = check(
        """fold {
          a = f32[] parameter(0) i = s32[] parameter(1) b = f32[] parameter(2) j = s32[] parameter(3)
          c = pred[] compare(b, a), direction=GT
          m = f32[] select(c, b, a) n = s32[] select(c, j, i)
          ROOT t = (f32[], s32[]) tuple(m, n)
        }
        ENTRY fused {
          x = f32[7] parameter(0) y = s32[7] parameter(1)
          i = s32[50,1] parameter(2) u = f32[50] parameter(3) v = s32[50] parameter(4)
          ROOT s = (f32[7], s32[7]) scatter(x, y, i, u, v), update_window_dims={}, inserted_window_dims={0},
            scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=fold
        }""",
        "scatter",
    )
    assert kernel.work <= 2 * (7 + 50)


@pytest.mark.parametrize("index", ["s64", "u32", "s8", "u8"])
def test_index_types_and_windows_that_do_not_fit(index: str) -> None:
    computation = ix.hlo.parse(scattered("f32", index=index)).entry
    kernel = ix.emit(computation, dialect=device_of_tests().dialect)
    rng = np.random.default_rng(1)
    x, u = (rng.integers(-9, 9, s).astype(np.float32) for s in ((10, 5), (24, 2, 3)))
    extremes = [0, 8, 9, 10, -1, 127, -128, 255]
    i = np.resize(np.array(extremes), (24, 1)).astype(computation.parameters[1].shape.dtype)
    (got,) = launch(kernel, [x, i, u], [computation.root.shape])
    want = x.copy()
    for n, start in enumerate(i[:, 0].tolist()):
        if 0 <= start <= 8:
            want[start : start + 2, :3] += u[n]
    close(got, want)


POINTS = """fold {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b)
}
ENTRY fused {
  x = f32[12,7] parameter(0)
  i = s32[40,1] parameter(1)
  u = f32[40,7] parameter(2)
  ROOT s = f32[12,7] scatter(x, i, u), update_window_dims={1}, inserted_window_dims={0},
    scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=fold, indices_are_sorted=true
}"""


@pytest.mark.parametrize(
    "knobs", [{"atomic": 1}, {"segment": 0}, {"segment": 1}, {"segment": 4}, {"segment": 7}, {"segment": 40}, {}]
)
@pytest.mark.parametrize("which", ["runs", "one", "none fit"])
def test_sorted_points(knobs: dict[str, int], which: str) -> None:
    computation = ix.hlo.parse(POINTS).entry
    kernel = ix.emit(computation, dialect=device_of_tests().dialect, **knobs)
    is_atomic = any(isinstance(s, ir.AtomicUpdate) for s in ir.statements(kernel.ir.body))
    assert is_atomic == (knobs.get("segment") != 0)
    rng = np.random.default_rng(2)
    x, u = rng.integers(-9, 9, (12, 7)).astype(np.float32), rng.integers(-9, 9, (40, 7)).astype(np.float32)
    i = {"runs": np.sort(rng.integers(-2, 14, 40)), "one": np.full(40, 5), "none fit": np.full(40, 99)}[which]
    (got,) = launch(kernel, [x, i.astype(np.int32).reshape(40, 1), u], [computation.root.shape])
    want = x.copy()
    for n, row in enumerate(i.tolist()):
        if 0 <= row < 12:
            want[row] += u[n]
    close(got, want)


@pytest.mark.parametrize("segment", [-1, 4097])
def test_segments_out_of_range_are_refused(segment: int) -> None:
    with pytest.raises(ix.IndexingError, match=r"segment is in \[0, 4096\]"):
        ix.emit(ix.hlo.parse(POINTS).entry, segment=segment)


@pytest.mark.parametrize(
    ("op", "kind"), [("maximum", "s32"), ("minimum", "u64"), ("xor", "s64"), ("maximum", "f64"), ("subtract", "f32")]
)
def test_runs_are_cut_for_reducers_with_an_atomic_function_alone(op: str, kind: str) -> None:
    text = POINTS.replace("add(a, b)", f"{op}(a, b)").replace("f32", kind)
    computation = ix.hlo.parse(text).entry
    rng = np.random.default_rng(0)
    x, i, u = (random_array(p.shape, rng) for p in computation.parameters)
    arrays = [x, np.sort(i, 0), u]
    kernel = ix.emit(computation, dialect=device_of_tests().dialect)
    close(*launch(kernel, arrays, [computation.root.shape]), ix.evaluate(computation.module, *arrays))
    assert ("atom" in ix.emit(computation, "cuda").source) == (op != "subtract")


def test_whole_runs_need_no_atomics_and_overlapping_windows_do() -> None:
    assert "atomic" not in ix.emit(ix.hlo.parse(POINTS).entry, segment=0).source
    overlapping = ix.emit(ix.hlo.parse(scattered("f32", flags=", indices_are_sorted=true")).entry)
    assert "atomicAdd" in overlapping.source


def test_unique_indices_need_no_atomics_and_variadic_scatters_work() -> None:
    text = """fold {
      a = f32[] parameter(0)
      b = s32[] parameter(1)
      c = f32[] parameter(2)
      d = s32[] parameter(3)
      e = f32[] add(a, c)
      ROOT t = (f32[], s32[]) tuple(e, d)
    }
    ENTRY fused {
      x = f32[50,5] parameter(0)
      y = s32[50,5] parameter(1)
      i = s32[24,1] iota(), iota_dimension=0
      u = f32[24,1,3] parameter(2)
      v = s32[24,1,3] parameter(3)
      ROOT s = (f32[50,5], s32[50,5]) scatter(x, y, i, u, v), update_window_dims={1,2}, inserted_window_dims={},
        scatter_dims_to_operand_dims={0}, index_vector_dim=1, unique_indices=true, to_apply=fold
    }"""
    kernel = check(text, "scatter")
    assert [o.alias_of for o in kernel.outputs] == [0, 1] and kernel.in_place == {0: 0, 1: 1}
    assert "cmpxchg" not in kernel.source


def test_overwriting_is_a_store() -> None:
    text = """fold {
      a = f32[] parameter(0)
      ROOT b = f32[] parameter(1)
    }
    ENTRY fused {
      x = f32[10,5] parameter(0)
      i = s32[3,2] constant({{0,1}, {4,2}, {9,4}})
      u = f32[3] parameter(1)
      n = f32[3] negate(u)
      ROOT s = f32[10,5] scatter(x, i, n), update_window_dims={}, inserted_window_dims={0,1},
        scatter_dims_to_operand_dims={0,1}, index_vector_dim=1, to_apply=fold
    }"""
    kernel = check(text, "scatter")
    assert "cmpxchg" not in kernel.source


def test_an_operand_that_is_computed_is_a_loop_in_a_fusion_and_a_kernel_of_its_own_in_a_program() -> None:
    text = scattered("f32").replace("x = f32[10,5] parameter(0)", "y = f32[10,5] parameter(0) x = f32[10,5] negate(y)")
    check(text, "loop")
    run = compiled(text, "cpu")
    assert sorted(k.emitter for k in run.kernels) == ["loop", "scatter"]


def test_each_update_is_read_once() -> None:
    from kernels import visits

    kernel = ix.emit(ix.hlo.parse(scattered("f32")).entry)
    assert (visits(kernel.thread_to_input(2), (24, 2, 3)) == 1).all()
    assert [v.interval.upper for v in kernel.thread_to_output(0).runtimes] == [8]


@pytest.mark.parametrize("arch", ["sm_80", "sm_90", "sm_100"])
def test_cuda_compiles(arch: str) -> None:
    for kind, op in (("f32", "add"), ("bf16", "add"), ("s64", "add"), ("s64", "min"), ("f64", "max"), ("u8", "mul")):
        assert ix.runtime.cubin(ix.emit(ix.hlo.parse(scattered(kind, op)).entry), arch)
    assert ix.runtime.cubin(ix.emit(ix.hlo.parse(POINTS).entry), arch)


def test_the_reads_of_indices_are_stated() -> None:
    accesses = ix.coalescing(ix.hlo.parse(POINTS).entry)
    assert {a.operand for a in accesses.reads if a.output is None} == {1, 2}
    assert {a.output for a in accesses.reads if a.operand is None} <= {0}  # what the updates are added to
    assert {a.output for a in accesses.writes} == {
        0
    } and not accesses.unknown  # the operand is updated in place, not read


@pytest.mark.parametrize("flag", ["", ", indices_are_sorted=true"])
def test_without_threads_an_index_is_read_once_for_a_short_row(flag: str) -> None:
    text = POINTS.replace(", indices_are_sorted=true", flag)
    for columns, width in ((3, 3), (7, 7), (16, 16), (17, 1)):  # loops over threads end with longer rows
        entry = ix.hlo.parse(text.replace(",7]", f",{columns}]")).entry
        assert ix.knobs(entry, "c").default["vector_width"] == width
        assert ix.knobs(entry, "cuda").default["vector_width"] == 1
    check(text, "scatter")
    check(text.replace(",7]", ",3]"), "scatter")
    with pytest.raises(ix.IndexingError, match="vector_width"):
        ix.emit(ix.hlo.parse(text).entry, vector_width=7)


@pytest.mark.parametrize("flag", ["", ", indices_are_sorted=true"])
def test_without_threads_one_block_makes_all_updates_plainly(flag: str) -> None:
    kernel = ix.emit(ix.hlo.parse(POINTS.replace(", indices_are_sorted=true", flag)).entry, dialect="c", block_size=8)
    assert kernel.grid != (1, 1, 1) and kernel.launch_grid == (1, 1, 1)
    assert "compare_and_swap" not in kernel.source and "__atomic" not in kernel.source
    cuda = ix.emit(ix.hlo.parse(POINTS.replace(", indices_are_sorted=true", "")).entry)
    assert cuda.launch_grid == cuda.grid and "atomicAdd" in cuda.source


@pytest.mark.parametrize("index", ["constant({{9}})", "constant({{-1}})", "broadcast(far), dimensions={}"])
@pytest.mark.parametrize("op", ["add", "xor", "max", "second"])
@pytest.mark.parametrize("flags", ["", ", unique_indices=true", ", indices_are_sorted=true"])
def test_windows_that_never_fit_leave_the_operand_as_it_is(index: str, op: str, flags: str) -> None:
    text = scattered("s32", op, flags).replace("[24,", "[1,")
    text = text.replace("i = s32[1,1] parameter(1)", f"far = s32[] constant(2147483647)\n i = s32[1,1] {index}")
    text = text.replace("parameter(2)", "parameter(1)")
    x, u = np.arange(50, dtype=np.int32).reshape(10, 5), np.ones((1, 2, 3), np.int32)
    np.testing.assert_array_equal(compiled(text)(x, u), x)


@pytest.mark.parametrize("first", ["iota(), iota_dimension=0", "broadcast(z), dimensions={}"])
def test_unique_pairs_of_a_known_and_a_given_index_are_written_once(first: str) -> None:
    text = f"""second {{
      a = f32[] parameter(0)
      ROOT b = f32[] parameter(1)
    }}
    ENTRY fused {{
      x = f32[16,64] parameter(0)
      k = s32[16,1] parameter(1)
      u = f32[16] parameter(2)
      z = s32[] constant(3)
      i = s32[16,1] {first}
      at = s32[16,2] concatenate(i, k), dimensions={{1}}
      ROOT s = f32[16,64] scatter(x, at, u), update_window_dims={{}}, inserted_window_dims={{0,1}},
        scatter_dims_to_operand_dims={{0,1}}, index_vector_dim=1, unique_indices=true, to_apply=second
    }}"""
    for dialect in ("c", "cuda", "opencl"):
        proofs = ix.emit(ix.hlo.parse(text).entry, dialect).verify()
        assert proofs.open == proofs.refuted == ()
        assert "by the promise of unique_indices" in {c.reason for c in proofs.proved if c.kind == "written once"}
    rng = np.random.default_rng(0)
    x, u = rng.standard_normal((16, 64)).astype(np.float32), rng.standard_normal(16).astype(np.float32)
    k = rng.permutation(64)[:16].astype(np.int32)[:, None]
    want = x.copy()
    want[np.arange(16) if "iota" in first else 3, k[:, 0]] = u
    np.testing.assert_array_equal(compiled(text).executable(x, k, u), want)
