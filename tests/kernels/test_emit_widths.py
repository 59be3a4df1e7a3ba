"""Default plans: vectors where accesses allow them, and no more threads than work for them; vectors in the machine's code."""

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

import indexing as ix
from indexing.kernels.ir import nodes as ir
from indexing.kernels.ir.memory import moves
from indexing.kernels.ir.traversal import subvalues, values_of
from indexing.kernels.ir.types import storage_bytes
from indexing.kernels.kernel import Kernel
from kernels import check, vector_moves

GOLDEN = sorted((Path(__file__).parents[1] / "golden").glob("*.hlo"))
ADD = "add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }\n"
MAX = "max { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] maximum(a, b) }\n"
STACK = """f { a = f32[64,2048,1] parameter(0) b = f32[64,2048,1] parameter(1)
  c = bf16[64,2048,1] convert(a) d = bf16[64,2048,1] convert(b) ROOT r = bf16[64,2048,2] concatenate(c, d), dimensions={2} }"""
CAUSAL = """f { x = bf16[4,64,512] parameter(0) z = bf16[] constant(0) p = bf16[4,67,512] pad(x, z), padding=0_0x3_0x0_0
  s = bf16[4,64,512] slice(p), slice={[0:4], [0:64], [0:512]} ROOT r = bf16[4,64,512] add(s, x) }"""
HALVES = """f { x = f32[512,128] parameter(0) a = f32[512,64] slice(x), slice={[0:512], [0:64]}
  b = f32[512,64] slice(x), slice={[0:512], [64:128]} n = f32[512,64] negate(b) z = f32[] constant(0)
  p = f32[512,128] pad(n, z), padding=0_0x0_64 q = f32[512,128] pad(a, z), padding=0_0x64_0
  ROOT r = f32[512,128] add(p, q) }"""
POOL = (
    MAX
    + """f { x = f32[2,56,56,64] parameter(0) i = f32[] constant(-inf)
  ROOT r = f32[2,28,28,64] reduce-window(x, i), window={size=1x3x3x1 stride=1x2x2x1 pad=0_0x0_1x0_1x0_0}, to_apply=max }"""
)
BAGS = (
    ADD
    + """f { x = f32[4096,2,64] parameter(0) z = f32[] constant(0)
  ROOT r = f32[4096,64] reduce(x, z), dimensions={1}, to_apply=add }"""
)
TRIPLES = (
    ADD
    + """f { x = f32[66000,3] parameter(0) z = f32[] constant(0)
  ROOT r = f32[66000] reduce(x, z), dimensions={1}, to_apply=add }"""
)


@pytest.mark.parametrize("text", [STACK, CAUSAL, HALVES, POOL, BAGS, TRIPLES])
def test_all_accesses_are_vectors_of_16_bytes(text: str) -> None:
    check(text, tolerance=1e-2)
    kernel = ix.emit(text)
    assert kernel.emitter == "loop"
    assert set(widths(kernel)) == {("load", 16), ("store", 16)}


#: Every third byte, neighbours on both sides in rows of an odd number of vectors, neighbours that a condition chooses.
CHANNEL = """f { x = u8[16,56,64,3] parameter(0) r = u8[16,56,64,1] slice(x), slice={[0:16], [0:56], [0:64], [1:2]}
  ROOT c = bf16[16,56,64,1] convert(r) }"""
SHIFTED = """f { x = f32[512,514] parameter(0) a = f32[512,512] slice(x), slice={[0:512], [0:512]}
  b = f32[512,512] slice(x), slice={[0:512], [1:513]} c = f32[512,512] slice(x), slice={[0:512], [2:514]}
  s = f32[512,512] add(a, b) ROOT r = f32[512,512] add(s, c) }"""
BESIDE = """f { x = f32[512,512] parameter(0) a = f32[512,511] slice(x), slice={[0:512], [1:512]} z = f32[] constant(0)
  c = f32[512,512] pad(a, z), padding=0_0x0_1 ROOT r = f32[512,512] add(x, c) }"""
SQUARES = """f { x = f32[4096,4,4] parameter(0) t = f32[4096,4,4] transpose(x), dimensions={0,2,1}
  ROOT r = f32[4096,4,4] negate(t) }"""
CALLED = f"""f {{ x = f32[512,514] parameter(0) z = f32[] constant(0) n0 = f32[512,514] negate(x)
  {" ".join(f"n{k} = f32[512,514] {op}(n{k - 1})" for k, op in enumerate(["abs", "negate"] * 130, 1))}
  a = f32[256,512] slice(n260), slice={{[0:256], [0:512]}} b = f32[256,512] slice(n260), slice={{[256:512], [2:514]}}
  c = f32[512,512] pad(a, z), padding=0_256x0_0 d = f32[512,512] pad(b, z), padding=256_0x0_0
  ROOT r = f32[512,512] add(c, d) }}"""


def test_lanes_at_an_edge_load_apart_from_the_others() -> None:
    """A backward difference: all but the first lane have their neighbours in the vector that is loaded anyway."""
    text = """f { x = f32[64,1024] parameter(0) z = f32[] constant(0) a = f32[64,1023] slice(x), slice={[0:64], [1:1024]}
      b = f32[64,1023] slice(x), slice={[0:64], [0:1023]} d = f32[64,1023] subtract(a, b)
      p = f32[64,1024] pad(d, z), padding=0_0x1_0 ROOT r = f32[64,1024] add(x, p) }"""
    kernel = check(text, vector_width=4)
    branches = [s for s in ir.statements(kernel.stage("vectorize").body) if isinstance(s, ir.If)]
    loaded = [
        {
            v.buffer
            for s in ir.statements(b.then)
            for value in values_of(s)
            for v in subvalues(value)
            if isinstance(v, ir.Load)
        }
        for b in branches
    ]
    assert {"p0"} in loaded and {"x0"} in loaded


@pytest.mark.parametrize("text", [CHANNEL, SHIFTED, SQUARES, CALLED])
def test_vectors_touch_few_sectors(text: str) -> None:
    widest, default = ix.emit(text, vector_width=4), ix.emit(text)
    assert sectors(default) < sectors(widest) / 1.4
    check(text)


def test_neighbours_that_lanes_share_are_no_reason_for_narrow_vectors() -> None:
    """All lanes but the last have their neighbour in the vector that is loaded anyway, as passes find."""
    assert ix.emit(BESIDE).source == ix.emit(BESIDE, vector_width=4).source


def test_parts_that_are_wider_than_their_concatenation_touch_few_sectors() -> None:
    """Eight elements of the result fit into a vector, four of what it reads."""
    text = """f { a = f32[512,256] parameter(0) b = f32[512,256] parameter(1) s = f32[512,256] add(a, b) d = f32[512,256] subtract(a, b)
      c = bf16[512,256] convert(s) e = bf16[512,256] convert(d) ROOT r = bf16[512,512] concatenate(c, e), dimensions={1} }"""
    widest, default = ix.emit(text, vector_width=8), ix.emit(text)
    assert default.emitter == "concatenate"
    assert sectors(default) < sectors(widest) / 1.4
    check(text, tolerance=1e-2)


def test_what_lies_in_order_is_loaded_together() -> None:
    """Even and odd elements are two accesses of one vector."""
    text = """f { x = f32[512,1024] parameter(0) a = f32[512,512] slice(x), slice={[0:512], [0:1024:2]}
      b = f32[512,512] slice(x), slice={[0:512], [1:1024:2]} ROOT r = f32[512,512] add(a, b) }"""
    assert set(widths(ix.emit(text, vector_width=1))) == {("load", 8), ("store", 4)}
    assert set(widths(ix.emit(text))) == {("load", 16), ("store", 8)}


@pytest.mark.parametrize("steps", [1, 300])
def test_a_thread_computes_all_operands_that_alternate(steps: int) -> None:
    """However few threads that leaves, and however much they compute: lanes of a warp would take turns."""
    chain = " ".join(
        f"n{k} = f32[2048,1] {op}({f'n{k - 1}' if k else 'a'})" for k, op in enumerate(["abs", "negate"] * steps)
    )
    text = f"""f {{ x = f32[2048,3] parameter(0) a = f32[2048,1] slice(x), slice={{[0:2048], [1:2]}} {chain}
      ROOT r = f32[2048,2] concatenate(a, n{2 * steps - 1}), dimensions={{1}} }}"""
    check(text)
    kernel = ix.emit(text)
    assert kernel.emitter == "loop" and set(widths(kernel)) == {("load", 4), ("store", 8)}


def sectors(kernel: Kernel) -> int:
    return sum(a.total.sectors for a in ix.coalescing(kernel).accesses)


PACKED = """f { x = KIND[512,256] parameter(0) y = KIND[512,256] parameter(1) z = KIND[256] parameter(2) w = f32[512,256] parameter(3)
  b = KIND[512,256] broadcast(z), dimensions={1} v = KIND[512,256] convert(w) p = KIND[512,256] multiply(x, y)
  s = KIND[512,256] add(p, b) d = KIND[512,256] subtract(s, v) m = KIND[512,256] maximum(d, x) n = KIND[512,256] negate(m)
  a = KIND[512,256] abs(y) ROOT r = KIND[512,256] minimum(n, a) }"""


@pytest.mark.parametrize("kind", ["bf16", "f16"])
def test_two_numbers_of_a_narrow_format_take_one_instruction(kind: str) -> None:
    """By hand: 4 words of 8 elements; what is f32 is rounded, nothing else is converted."""
    check(PACKED.replace("KIND", kind), vector_width=8)
    ptx = ix.runtime.ptx(ix.emit(PACKED.replace("KIND", kind), dialect="cuda", vector_width=8), "sm_80")
    instructions = Counter(re.findall(rf"(\w+)(?:\.\w+)*\.{kind}x2", ptx))
    sums = {"fma": 12} if kind == "bf16" else {"add": 4, "sub": 4, "mul": 4}
    assert instructions == {**sums, "cvt": 4, "max": 4, "min": 4, "neg": 4, "abs": 4}
    assert not re.search(rf"cvt\.f32\.{kind}|mov\.b32 %f", ptx)


def widths(kernel: Kernel) -> Iterator[tuple[str, int]]:
    """The kinds and bytes of the accesses to global memory."""
    lowered = kernel.lowered
    size = {b.name: storage_bytes(b.element_type) for b in lowered.buffers if b.space == "global"}
    for function in ir.bodies(lowered):
        results = function.results if isinstance(function, ir.Function) else ()
        for s in [*ir.statements(function.body), *(ir.Let("", r) for r in results)]:
            loads = [v.buffer for value in values_of(s) for v in subvalues(value) if isinstance(v, ir.Load)]
            yield from (("load", size[b]) for b in loads if b in size)
            yield from ((m.kind, m.width * size[m.buffer]) for m in moves(s) if m.buffer in size)
            if isinstance(s, ir.Store) and s.buffer in size:
                yield "store", size[s.buffer]
            if isinstance(s, ir.AtomicUpdate):
                yield "load", size[s.buffer]


@pytest.mark.parametrize("path", GOLDEN, ids=lambda p: p.stem)
def test_a_vector_is_one_instruction(path: Path) -> None:
    pytest.importorskip("cuda.core")
    kernel = ix.emit(path.read_text())
    assert set(in_code(kernel)) <= set(widths(kernel))


def in_code(kernel: Kernel) -> Iterator[tuple[str, int]]:
    """The kinds and bytes of the accesses to global memory that NVRTC leaves."""
    code = ix.runtime.ptx(kernel)
    for kind, lanes, bits in re.findall(r"\b(ld|st)(?:\.volatile)?\.global(?:\.nc)?(?:\.v(\d))?\.[a-z](\d+)", code):
        yield {"ld": "load", "st": "store"}[kind], int(lanes or 1) * int(bits) // 8


def test_no_load_ends_beyond_an_operand() -> None:
    pytest.importorskip("cuda.core")
    text = """add { a = s32[] parameter(0) b = s32[] parameter(1) ROOT c = s32[] add(a, b) }
    ENTRY e { x = f32[1024,64] parameter(0) limits = f32[7] parameter(1) zero = s32[] constant(0)
      y = f32[1024,64,7] broadcast(x), dimensions={0,1} z = f32[1024,64,7] broadcast(limits), dimensions={2}
      ge = pred[1024,64,7] compare(y, z), direction=GE n = s32[1024,64,7] convert(ge)
      ROOT r = s32[1024,64] reduce(n, zero), dimensions={2}, to_apply=add }"""
    kernel = ix.emit(text)
    assert kernel.emitter == "loop" and kernel.verify().refuted == kernel.verify().open == ()
    assert sorted(n for kind, n in in_code(kernel) if kind == "load") == [4, 8, 16, 16]


def test_what_iterations_share_is_computed_once_where_lanes_write_them_out() -> None:
    text = f"""{ADD}f {{ x = f32[65536] parameter(0) limits = f32[7] parameter(1) zero = f32[] constant(0)
      e = f32[65536] exponential(x) y = f32[65536,7] broadcast(e), dimensions={{0}}
      z = f32[65536,7] broadcast(limits), dimensions={{1}} m = f32[65536,7] maximum(y, z)
      ROOT r = f32[65536] reduce(m, zero), dimensions={{1}}, to_apply=add }}"""
    kernel = ix.emit(text)
    assert max(vector_moves(kernel)["o0"]) == 4 and kernel.source.split("__global__")[1].count("exp_f32(") == 1


@pytest.mark.parametrize(
    ("kind", "sizes", "dim", "width"),
    [("f32", (4, 64, 1024), 0, 4), ("f32", (2048, 26, 64), 1, 4), ("bf16", (4300, 5, 64), 1, 8)],
)
def test_a_thread_has_the_few_elements_of_a_column(kind: str, sizes: tuple[int, ...], dim: int, width: int) -> None:
    kernel = ix.emit(reduced(kind, sizes, dim))
    assert kernel.emitter == "reduction" and not kernel.shared_bytes and "__shfl" not in kernel.source
    assert set().union(*vector_moves(kernel).values()) == {width}
    assert kernel.block[0] >= 64


@pytest.mark.parametrize(
    ("rows", "size", "threads"), [(16384, 16, 2), (16384, 96, 8), (16384, 393, 32), (600, 393, 32), (16384, 34, 8)]
)
def test_a_short_row_has_part_of_a_warp(rows: int, size: int, threads: int) -> None:
    kernel = ix.emit(reduced("f32", (rows, size), 1))
    assert kernel.emitter == "reduction" and not kernel.shared_bytes
    assert kernel.grid[0] * kernel.block[0] == rows * threads


def test_what_neighbouring_lanes_share_makes_no_vector_narrower() -> None:
    gather = """gather(t, INDEX), offset_dims={1}, collapsed_slice_dims={0,1}, start_index_map={0,1},
      index_vector_dim=1, slice_sizes={1,1,16}"""
    text = f"""f {{ t = f16[64,64,16] parameter(0) x = f32[65536,8] parameter(1)
      y = f32[65536,2] slice(x), slice={{[0:65536], [0:8:7]}} z = f32[65536,2] add(y, y) i = s32[65536,2] convert(z)
      u = s32[65536,1] slice(i), slice={{[0:65536], [0:1]}} v = s32[65536,1] slice(i), slice={{[0:65536], [1:2]}}
      j = s32[65536,2] concatenate(v, u), dimensions={{1}} g = f16[65536,16] {gather.replace("INDEX", "i")}
      h = f16[65536,16] {gather.replace("INDEX", "j")} ROOT r = f16[65536,16] add(g, h) }}
    ENTRY e {{ t = f16[64,64,16] parameter(0) x = f32[65536,8] parameter(1)
      ROOT r = f16[65536,16] fusion(t, x), kind=kLoop, calls=f }}"""
    assert {n for _, n in widths(ix.emit(ix.hlo.parse(text).entry.root))} == {4, 16}


def test_a_second_warp_shares_a_row_only_if_it_has_enough_loads() -> None:
    text = f"""{ADD}f {{ x = f32[512,SIZE] parameter(0) y = f32[512,SIZE] exponential(x) z = f32[512,SIZE] sqrt(y)
      w = f32[512,SIZE] multiply(y, z) zero = f32[] constant(0)
      ROOT r = f32[512] reduce(w, zero), dimensions={{1}}, to_apply=add }}"""
    kernel, longer = (ix.emit(text.replace("SIZE", size)) for size in ("510", "2044"))
    assert not kernel.shared_bytes and kernel.grid[0] * kernel.block[0] == 512 * 32 and longer.shared_bytes


@pytest.mark.parametrize(("rows", "size"), [(16384, 5), (3000, 12), (2048, 26)])
def test_one_thread_has_a_short_row_that_no_threads_share_evenly(rows: int, size: int) -> None:
    kernel, in_c = (ix.emit(reduced("f32", (rows, size), 1), dialect=d) for d in ("cuda", "c"))
    assert kernel.emitter == "loop" and in_c.emitter == "reduction"
    assert set().union(*vector_moves(kernel).values()) <= {2, 4}


def reduced(kind: str, sizes: tuple[int, ...], dim: int) -> str:
    of, to = ",".join(map(str, sizes)), ",".join(str(n) for d, n in enumerate(sizes) if d != dim)
    return f"""{ADD.replace("f32", kind)}f {{ x = {kind}[{of}] parameter(0) z = {kind}[] constant(0)
      ROOT r = {kind}[{to}] reduce(x, z), dimensions={{{dim}}}, to_apply=add }}"""


def test_lanes_are_as_many_as_the_widest_elements_allow() -> None:
    mixed = """f {{ x = bf16[256,512] parameter(0) s = f32[{size}] parameter(1) c = f32[256,512] convert(x)
      b = f32[256,512] broadcast(s), dimensions={{{dim}}} m = f32[256,512] multiply(c, b) ROOT r = bf16[256,512] convert(m) }}"""
    beside, along = (ix.emit(mixed.format(size=size, dim=dim)) for size, dim in ((512, 1), (256, 0)))
    assert ("load", 16) in set(widths(beside)) and ("load", 8) in set(widths(beside))
    assert set(widths(along)) == {("load", 16), ("load", 4), ("store", 16)}


@pytest.mark.parametrize("splits", [7, 11])
def test_no_load_of_partial_sums_ends_beyond_them(splits: int) -> None:
    """NVRTC makes one load of four of three neighbours, with a mask of the bytes that are used."""
    text = (
        ADD
        + "f { x = f32[72] parameter(0) z = f32[] constant(0) ROOT r = f32[] reduce(x, z), dimensions={0}, to_apply=add }"
    )
    kernel = ix.emit(text, split_k=splits, threads=1, vector_width=1)
    assert "(x0 + 4" in kernel.source and "used_bytes_mask" not in ix.runtime.ptx(kernel)
