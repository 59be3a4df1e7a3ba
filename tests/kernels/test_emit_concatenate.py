"""The concatenate emitter: sizes, dimensions, layouts, types, epilogues; thread maps."""

import jax.numpy as jnp
import numpy as np
import pytest

import indexing as ix
from indexing.device.table import portable_device
from indexing.kernels.ir.types import storage_bytes
from indexing.kernels.kernel import Kernel
from kernels import assert_written_once, check, compiled, prove, vector_moves, visits


def joined(kind: str, sizes: list[tuple[int, ...]], dim: int, layout: str = "") -> str:
    total = list(sizes[0])
    total[dim] = sum(s[dim] for s in sizes)
    lines = [f"p{k} = {kind}[{','.join(map(str, s))}]{layout} parameter({k})" for k, s in enumerate(sizes)]
    names = ", ".join(f"p{k}" for k in range(len(sizes)))
    shape = f"{kind}[{','.join(map(str, total))}]{layout}"
    return "\n".join(["fused {", *lines, f"ROOT c = {shape} concatenate({names}), dimensions={{{dim}}}", "}"])


@pytest.mark.parametrize(
    ("sizes", "dim"),
    [
        ([(200,), (400,), (300,)], 0),
        ([(128,), (128,)], 0),
        ([(3, 5), (4, 5), (1, 5)], 0),
        ([(6, 5), (6, 1), (6, 9), (6, 5)], 1),
        ([(2, 3, 4), (2, 7, 4)], 1),
        ([(2, 3, 4), (2, 3, 4)], 2),
    ],
)
def test_sizes(sizes: list[tuple[int, ...]], dim: int) -> None:
    text = joined("f32", sizes, dim)
    kernel = check(text, "concatenate")
    assert_written_once(kernel, [ix.hlo.parse(text).entry.root.shape])
    for k, size in enumerate(sizes):
        assert (visits(kernel.thread_to_input(k), size) == 1).all()


@pytest.mark.parametrize("kind", ["s4", "pred", "bf16", "c64", "f64", "s8"])
def test_types(kind: str) -> None:
    check(joined(kind, [(3, 40), (5, 40)], 0), "concatenate")


def test_layout() -> None:
    text = joined("f32", [(3, 40), (3, 20)], 1, "{0,1}")
    kernel = check(text, "concatenate", block_size=32)
    assert_written_once(kernel, [ix.hlo.parse(text).entry.root.shape])


def test_epilogue_and_prologue() -> None:
    text = """fused {
      p = f32[64] parameter(0)
      q = f32[192] parameter(1)
      n = f32[64] negate(p)
      s = f32[128] slice(q), slice={[32:160]}
      e = f32[128] exponential(s)
      c = f32[192] concatenate(n, e), dimensions={0}
      a = f32[192] add(c, q)
      b = f32[12,16] bitcast(a)
      ROOT t = (f32[192], f32[12,16]) tuple(c, b)
    }"""
    kernel = check(text, "concatenate")
    assert_written_once(kernel, list(ix.hlo.parse(text).entry.root.shape.leaves))


def test_a_result_that_is_read_elsewhere_as_well_is_computed_there() -> None:
    check(
        """fused {
      p = f32[6] parameter(0)
      q = f32[6] parameter(1)
      c = f32[12] concatenate(p, q), dimensions={0}
      f = f32[1] slice(c), slice={[7:8]}
      r = f32[] reshape(f)
      b = f32[12] broadcast(r), dimensions={}
      ROOT a = f32[12] add(c, b)
    }"""
    )


def test_empty_operands_are_a_loop() -> None:
    check(joined("f32", [(3,), (0,), (2,)], 0), "loop")


def test_knobs_out_of_range_are_refused() -> None:
    with pytest.raises(ix.IndexingError, match="block_size is in "):
        ix.emit(ix.hlo.parse(joined("f32", [(3,), (2,)], 0)).entry, block_size=0)


@pytest.mark.parametrize("arch", ["sm_80", "sm_90", "sm_100"])
def test_cuda_compiles(arch: str) -> None:
    assert ix.runtime.cubin(ix.emit(ix.hlo.parse(joined("bf16", [(6, 5), (6, 9)], 1)).entry), arch)


@pytest.mark.parametrize("kind", ["f32", "bf16", "s8", "c64"])
@pytest.mark.parametrize(
    ("sizes", "dim", "layout"),
    [
        ([(3, 40), (3, 8), (3, 16)], 1, ""),
        ([(3, 40), (5, 40)], 0, ""),
        ([(64,), (200,)], 0, ""),
        ([(40, 3), (8, 3)], 0, "{0,1}"),
        ([(16, 3), (16, 5)], 1, "{0,1}"),
    ],
)
def test_vectors(kind: str, sizes: list[tuple[int, ...]], dim: int, layout: str) -> None:
    text = joined(kind, sizes, dim, layout)
    kernel = check(text, "concatenate", vector_width=4)
    assert_written_once(kernel, [ix.hlo.parse(text).entry.root.shape])
    for k, size in enumerate(sizes):
        assert (visits(kernel.thread_to_input(k), size) == 1).all()
    assert vector_moves(kernel)["o0"] == vector_moves(kernel)["p1"] == {min(4, 16 // storage_bytes(kind))}


@pytest.mark.parametrize("width", [0, 3, 8])
def test_vectors_that_do_not_divide_all_operands_are_refused(width: int) -> None:
    with pytest.raises(ix.IndexingError, match=r"vector_width is in \{1, 2, 4\}"):
        ix.emit(ix.hlo.parse(joined("f32", [(3, 40), (3, 12), (3, 8)], 1)).entry, vector_width=width)


def test_large_operands_move_as_vectors() -> None:
    for kind, width in (("f32", 4), ("bf16", 8), ("s8", 8)):
        kernel = ix.emit(ix.hlo.parse(joined(kind, [(1 << 10, 256), (1 << 10, 512)], 1)).entry)
        assert vector_moves(kernel)["o0"] == {width}
        assert all(a.ratio == 1 for a in ix.coalescing(kernel).accesses)


def test_the_index_of_an_epilogue_may_have_another_rank_than_its_root() -> None:
    text = """fused { a = f32[4096,32] parameter(0) b = f32[4096,32] parameter(1)
      c = f32[4096,64] concatenate(a, b), dimensions={1} r = f32[4096,2,32] reshape(c)
      ROOT n = f32[4096,2,32] negate(r) }"""
    assert set().union(*vector_moves(check(text, "concatenate")).values()) == {4}


def test_edges_around_an_array() -> None:
    """Each part of a row comes from the first row, its own or the last one: branches that a compiler must not join wrongly."""
    check("""ENTRY e {
      x = f32[10,64] parameter(0)
      above = f32[1,64] slice(x), slice={[0:1], [0:64]}
      top = f32[64] reshape(above)
      first = f32[2,64] broadcast(top), dimensions={1}
      below = f32[1,64] slice(x), slice={[9:10], [0:64]}
      bottom = f32[64] reshape(below)
      last = f32[2,64] broadcast(bottom), dimensions={1}
      rows = f32[14,64] concatenate(first, x, last), dimensions={0}
      west = f32[14,1] slice(rows), slice={[0:14], [0:1]}
      left = f32[14] reshape(west)
      before = f32[14,7] broadcast(left), dimensions={0}
      after = f32[14,1] slice(rows), slice={[0:14], [63:64]}
      ROOT c = f32[14,72] concatenate(before, rows, after), dimensions={1} }""")


@pytest.mark.parametrize(
    ("kind", "length", "widths"), [("f32", 64, {4}), ("f32", 90, {2}), ("bf16", 40, {8}), ("f32", 63, set())]
)
def test_a_thread_that_sums_a_long_row_loads_vectors(kind: str, length: int, widths: set[int]) -> None:
    text = f"""add {{
      a = {kind}[] parameter(0)
      b = {kind}[] parameter(1)
      ROOT s = {kind}[] add(a, b)
    }}
    fused {{
      p = {kind}[60,32] parameter(0)
      q = {kind}[60,32,{length}] parameter(1)
      z = {kind}[] constant(0)
      s = {kind}[60,32] reduce(q, z), dimensions={{2}}, to_apply=add
      ROOT c = {kind}[60,64] concatenate(p, s), dimensions={{1}}
    }}"""
    kernel = check(text, "concatenate", tolerance=1e-5 if kind == "f32" else 5e-2)
    assert vector_moves(kernel)["p1"] == widths
    assert_written_once(kernel, [ix.hlo.parse(text).entry.root.shape])
    assert (visits(kernel.thread_to_input(1), (60, 32, length)) == 1).all()
    for target in ("c", "cuda", "opencl"):
        prove(Kernel(kernel.ir, portable_device(target)))


def test_a_loop_copies_many_operands_and_computes_them_all() -> None:
    """Frames of a signal: more slices than a kernel has arguments, of one array."""
    x = np.arange(8 * 1000, dtype=np.float32).reshape(8, 1000)
    run = compiled(ix.from_jax(lambda x: jnp.stack([x[:, 5 * k : 5 * k + 16] for k in range(97)], 1), x), device="cpu")
    (kernel,) = run.kernels
    assert kernel.emitter == "concatenate" and len(kernel.inputs) == 1
    np.testing.assert_array_equal(run(x), np.stack([x[:, 5 * k : 5 * k + 16] for k in range(97)], 1))


def test_a_thread_beside_others_has_few_operands() -> None:
    for dialect, emitters in (("cuda", ["concatenate", "loop"]), ("c", ["concatenate", "concatenate"])):
        entries = (ix.hlo.parse(joined("f32", [(64, 32)] * n, 0)).entry for n in (16, 17))
        assert [ix.emit(e, dialect).emitter for e in entries] == emitters


def test_a_loop_takes_rolled_rows_where_it_touches_fewer_sectors() -> None:
    """A thread beside others stores bytes of rows that are one shorter; of four bytes, as many sectors hold both."""
    text = """f { x = s8[256,256] parameter(0) l = s8[256,255] slice(x), slice={[0:256], [1:256]}
      h = s8[256,1] slice(x), slice={[0:256], [0:1]} c = s8[256,256] concatenate(l, h), dimensions={1}
      a = s8[256,256] add(c, x) ROOT r = s8[256,256] multiply(a, x) }"""
    check(text)
    assert ix.emit(text).emitter == "loop"
    assert [ix.emit(t, d).emitter for t, d in ((text, "c"), (text.replace("s8", "f32"), "cuda"))] == ["concatenate"] * 2


def test_a_loop_takes_no_operands_that_are_computed() -> None:
    """All lanes of a warp would take turns in the products of both operands."""
    steps = "".join(f" m{k} = s8[256,256] multiply({f'm{k - 1}' if k else 'x'}, x)" for k in range(6))
    text = f"""f {{ x = s8[256,256] parameter(0){steps} l = s8[256,255] slice(m5), slice={{[0:256], [1:256]}}
      h = s8[256,1] slice(x), slice={{[0:256], [0:1]}} ROOT c = s8[256,256] concatenate(l, h), dimensions={{1}} }}"""
    check(text)
    assert ix.emit(text).emitter == "concatenate"
