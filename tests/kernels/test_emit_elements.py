"""Element code of ops that are not elementwise: a kernel of each on the CPU against the numpy reference."""

import re

import numpy as np
import pytest

import indexing as ix
from indexing.kernels.ir import nodes as ir
from indexing.kernels.ir.traversal import all_values
from indexing.ops.registry import REGISTRY
from kernels import check, close, compiled, device_of_tests, launch, random_array

ADD = "add {\n  x = KIND[] parameter(0)\n  y = KIND[] parameter(1)\n  ROOT s = KIND[] add(x, y)\n}\n"
LARGER = """larger {
  v = f32[] parameter(0)
  i = s32[] parameter(1)
  w = f32[] parameter(2)
  j = s32[] parameter(3)
  g = pred[] compare(v, w), direction=GT
  e = pred[] compare(v, w), direction=EQ
  f = pred[] compare(i, j), direction=LT
  h = pred[] and(e, f)
  c = pred[] or(g, h)
  a = f32[] select(c, v, w)
  b = s32[] select(c, i, j)
  ROOT t = (f32[], s32[]) tuple(a, b)
}
"""

PROGRAMS = {
    "iota": "ROOT r = KIND[3,5] iota(), iota_dimension=1",
    "constant": "ROOT r = s16[2,3] constant({{1,-2,3},{-4,5,-32768}})",
    "complex": "a = f32[7] parameter(0)\nb = f32[7] parameter(1)\nROOT r = c64[7] complex(a, b)",
    "stochastic-convert": "a = f32[700] parameter(0)\nn = u32[700] parameter(1)\nROOT r = s16[700] stochastic-convert(a, n)",
    "concatenate": "a = KIND[2,3] parameter(0)\nb = KIND[2,0] parameter(1)\nc = KIND[2,4] parameter(2)\n"
    "ROOT r = KIND[2,7] concatenate(a, b, c), dimensions={1}",
    "pad": "a = KIND[4,3] parameter(0)\nz = KIND[] parameter(1)\nROOT r = KIND[8,2] pad(a, z), padding=-1_2_1x1_-2",
    "broadcast": "a = KIND[3] parameter(0)\nROOT r = KIND[2,3,4] broadcast(a), dimensions={1}",
    "reshape": "a = KIND[6,4] parameter(0)\nROOT r = KIND[3,8] reshape(a)",
    "pass": "a = KIND[6,4] parameter(0)\nn = KIND[6,4] negate(a)\nb = KIND[6,4] opt-barrier(n)\nt = token[] after-all()\n"
    'd = KIND[6,4] add-dependency(b, t)\nROOT r = KIND[6,4] domain(d), domain={kind="sharding", entry={maximal device=0}, '
    "exit={}}",
    "reverse": "a = KIND[4,3] parameter(0)\nROOT r = KIND[4,3] reverse(a), dimensions={0,1}",
    "slice": "a = KIND[9,5] parameter(0)\nROOT r = KIND[3,2] slice(a), slice={[1:9:3], [2:4]}",
    "layouts": "a = KIND[4,6]{0,1} parameter(0)\nb = KIND[6,4]{1,0} bitcast(a)\nROOT r = KIND[6,4]{0,1} copy(b)",
    "dynamic-slice": "a = KIND[9,5] parameter(0)\ni = s32[] parameter(1)\nj = u8[] parameter(2)\n"
    "ROOT r = KIND[4,5] dynamic-slice(a, i, j), dynamic_slice_sizes={4,5}",
    "dynamic-update-slice": "a = KIND[9,5] parameter(0)\nu = KIND[4,2] parameter(1)\ni = s8[] parameter(2)\n"
    "j = s64[] parameter(3)\nn = KIND[9,5] negate(a)\nROOT r = KIND[9,5] dynamic-update-slice(n, u, i, j)",
    "gather": "a = KIND[5,7,2] parameter(0)\ni = s32[4,3,2] parameter(1)\nROOT r = KIND[4,3,2,2] gather(a, i), "
    "offset_dims={2,3}, collapsed_slice_dims={0}, start_index_map={1,0}, index_vector_dim=2, slice_sizes={1,2,2}",
    "gather-batched": "a = KIND[3,7] parameter(0)\ni = s32[4,3] parameter(1)\nROOT r = KIND[4,3] gather(a, i), offset_dims={}, "
    "collapsed_slice_dims={1}, start_index_map={1}, operand_batching_dims={0}, start_indices_batching_dims={1}, "
    "index_vector_dim=2, slice_sizes={1,1}",
    "dot": "a = KIND[2,3,4] parameter(0)\nb = KIND[4,2,5] parameter(1)\nROOT r = KIND[2,3,5] dot(a, b), lhs_batch_dims={0}, "
    "lhs_contracting_dims={2}, rhs_batch_dims={1}, rhs_contracting_dims={0}",
    "reduce": "a = KIND[3,4,5] parameter(0)\nz = KIND[] parameter(1)\nROOT r = KIND[4] reduce(a, z), dimensions={0,2}, "
    "to_apply=add",
    "reduce-window": "a = KIND[7,6] parameter(0)\nz = KIND[] constant(0)\nROOT r = KIND[4,5] reduce-window(a, z), "
    "window={size=3x2 stride=2x1 pad=1_1x1_0 rhs_dilate=1x2}, to_apply=add",
    "reduce-window-dilated": "a = KIND[4] parameter(0)\nz = KIND[] constant(0)\nROOT r = KIND[10] reduce-window(a, z), "
    "window={size=2 pad=1_0 lhs_dilate=3 rhs_dilate=1}, to_apply=add",
    "convolution": "a = KIND[2,4,5,6] parameter(0)\nw = KIND[3,2,2,6] parameter(1)\nROOT r = KIND[2,4,10,6] convolution(a, w), "
    "window={size=3x2 stride=1x1 pad=1_0x1_1 lhs_dilate=1x2 rhs_dilate=1x3 rhs_reversal=1x0}, "
    "dim_labels=bf01_01io->b01f, feature_group_count=2",
    "map": "a = KIND[3,4] parameter(0)\nb = KIND[3,4] parameter(1)\nROOT r = KIND[3,4] map(a, b), dimensions={0,1}, "
    "to_apply=add",
    "scatter": "a = KIND[6,5] parameter(0)\ni = s32[4,1] parameter(1)\nu = KIND[4,5] parameter(2)\nROOT r = KIND[6,5] "
    "scatter(a, i, u), update_window_dims={1}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, "
    "index_vector_dim=1, to_apply=add",
    "inner-scatter": "a = KIND[6,5] parameter(0)\ni = s32[4] parameter(1)\nu = KIND[4,2,5] parameter(2)\ns = KIND[6,5] "
    "scatter(a, i, u), update_window_dims={1,2}, inserted_window_dims={}, scatter_dims_to_operand_dims={0}, "
    "index_vector_dim=1, to_apply=add\nt = KIND[5,6] transpose(s), dimensions={1,0}\nROOT r = KIND[5,6] multiply(t, t)",
}
KINDS = {"f32": PROGRAMS, "bf16": ("dot", "reduce", "pad", "iota"), "s8": ("dot", "reduce", "concatenate", "iota")}
KINDS |= {"c64": ("dot", "reduce", "pad", "convolution"), "s4": ("dot", "dynamic-slice", "iota"), "u64": ("dot", "map")}
CASES = [(name, kind) for kind, names in KINDS.items() for name in names]


def text_of(name: str, kind: str) -> str:
    body = PROGRAMS[name].replace("\n", "\n  ")
    return f"{ADD}f {{\n  {body}\n}}".replace("KIND", kind)


def test_every_op_with_element_code_has_a_program() -> None:
    """Elementwise ones stand in test_elementwise_kernels.py."""
    called = {"call", "fusion"}  # see test_called_computations_are_written_in_place
    modules = [ix.hlo.parse(text_of(name, "f32")) for name in PROGRAMS]
    tested = {i.opcode for m in modules for i in m.entry.instructions.values()}
    coded = {opcode for opcode, op in REGISTRY.items() if op.element is not None and not op.is_elementwise}
    assert coded - called <= tested


@pytest.mark.parametrize(("name", "kind"), CASES)
def test_kernels_agree_with_the_reference(name: str, kind: str) -> None:
    text = text_of(name, kind)
    rng = np.random.default_rng(len(name))
    entry = ix.hlo.parse(text).entry
    arrays = [random_array(p.shape, rng) for p in entry.parameters]
    want = ix.evaluate(text, *arrays)
    close(compiled(text)(*arrays), want, 2e-2 if kind == "bf16" else 1e-5)


@pytest.mark.parametrize("name", PROGRAMS)
def test_kernels_compile_for_a_gpu(name: str) -> None:
    assert ix.runtime.cubin(ix.emit(ix.hlo.parse(text_of(name, "f32")).entry), "sm_80")


def test_start_indices_are_clamped() -> None:
    text = text_of("dynamic-slice", "f32")
    array = np.arange(45, dtype=np.float32).reshape(9, 5)
    run = compiled(text, device="cpu")
    for start, first in ((-7, 0), (3, 3), (100, 5)):
        got = run(array, np.array(start, np.int32), np.array(255, np.uint8))
        assert np.array_equal(got, array[first : first + 4])


def test_a_variadic_reduction_keeps_its_values_together() -> None:
    text = f"""{LARGER}f {{
  a = f32[4,50] parameter(0)
  i = s32[4,50] iota(), iota_dimension=1
  low = f32[] constant(-inf)
  none = s32[] constant(-1)
  r = (f32[4], s32[4]) reduce(a, i, low, none), dimensions={{1}}, to_apply=larger
  v = f32[4] get-tuple-element(r), index=0
  j = s32[4] get-tuple-element(r), index=1
  f = f32[4] convert(j)
  s = f32[4] add(v, f)
  b = f32[4,3] broadcast(s), dimensions={{0}}
  ROOT t = f32[3,4] transpose(b), dimensions={{1,0}}
}}"""
    array = np.random.default_rng(1).normal(size=(4, 50)).astype(np.float32)
    got = compiled(text)(array)
    assert np.allclose(got, np.tile(array.max(1) + array.argmax(1), (3, 1)))


def test_a_long_sum_keeps_its_precision() -> None:
    text = f"""{ADD.replace("KIND", "f32")}f {{
  a = f32[100003] parameter(0)
  z = f32[] parameter(1)
  s = f32[] reduce(a, z), dimensions={{0}}, to_apply=add
  ROOT b = f32[2] broadcast(s), dimensions={{}}
}}"""
    array = np.random.default_rng(1).random(100003, np.float32)
    got = compiled(text)(array, np.float32(0.5))
    assert np.allclose(got, array.astype(np.float64).sum() + 0.5, rtol=2e-6)


def test_called_computations_are_written_in_place() -> None:
    text = """
inner {
  p = f32[3,4] parameter(0)
  q = f32[4] parameter(1)
  b = f32[3,4] broadcast(q), dimensions={1}
  ROOT s = f32[3,4] subtract(p, b)
}
outer {
  p = f32[3,4] parameter(0)
  q = f32[4] parameter(1)
  c = f32[3,4] call(p, q), to_apply=inner
  ROOT d = f32[3,4] call(c, q), to_apply=inner
}
f {
  a = f32[4,3] parameter(0)
  q = f32[4] parameter(1)
  t = f32[3,4] transpose(a), dimensions={1,0}
  ROOT r = f32[3,4] call(t, q), to_apply=outer
}"""
    a, q = np.arange(12, dtype=np.float32).reshape(4, 3), np.arange(4, dtype=np.float32)
    kernel = ix.emit(ix.hlo.parse(text).entry, device_of_tests().dialect)
    assert kernel.source.count("@") == 0
    assert np.array_equal(compiled(text)(a, q), a.T - 2 * q)


BITCASTS = [
    *[("u32[3,5]", "u8[3,20]"), ("u8[3,20]", "u32[15]"), ("f32[6]", "bf16[3,4]"), ("bf16[2,8]", "f32[8]")],
    *[("s64[3]", "f16[12]"), ("s8[4,8]{0,1}", "s16[2,8]{0,1}"), ("f64[4]", "u16[4,4]{0,1}"), ("u8[8]", "f64[]")],
    *[("s8[6]", "s4[12]"), ("s4[2,8]", "s16[4]"), ("u32[3]", "u2[48]"), ("u2[8]", "s4[4]"), ("s4[6]", "u4[6]")],
]


@pytest.mark.parametrize(("source", "target"), BITCASTS)
def test_bitcast_to_another_width(source: str, target: str) -> None:
    """Kernel and reference give the bits that memory holds, low bits first."""
    text = f"f {{ a = {source} parameter(0)\nROOT r = {target} bitcast(a) }}"
    check(text)
    computation = ix.hlo.parse(text).entry
    array = random_array(computation.parameters[0].shape, np.random.default_rng(1))
    got = np.asarray(ix.evaluate(computation.module, array))
    assert memory_bits(got, computation.root.shape) == memory_bits(array, computation.parameters[0].shape)


def memory_bits(array: np.ndarray, shape: ix.hlo.Shape) -> int:
    """All of an array's memory as one number, sub-byte elements packed."""
    bits = int(re.sub(r"\D", "", shape.element_type.removeprefix("bf")))
    physical = np.ascontiguousarray(array.transpose(tuple(reversed(shape.minor_to_major)))).reshape(-1)
    size = physical.dtype.itemsize
    raw = [int.from_bytes(physical[k : k + 1].tobytes(), "little") % 2**bits for k in range(physical.size)]
    assert size * 8 >= bits
    return sum(value << (bits * k) for k, value in enumerate(raw))


def test_complex_elements_stay_whole() -> None:
    with pytest.raises(ix.UnsupportedOp, match="r: a kernel cannot read c64 memory as f32"):
        ix.emit(ix.hlo.parse("f { a = c64[4] parameter(0)\nROOT r = f32[8] bitcast(a) }").entry)


MOVES = {
    "transpose": "ROOT r = KIND[40,30] transpose(p), dimensions={1,0}",
    "loop": "s = KIND[15,40] slice(p), slice={[0:30:2], [0:40]}\nROOT r = KIND[600] reshape(s)",
    "concatenate": "n = KIND[30,40] reverse(p), dimensions={0}\nROOT r = KIND[30,80] concatenate(p, n), dimensions={1}",
}


@pytest.mark.parametrize("kind", ["bf16", "f16", "f8e4m3fn", "f8e5m2", "f32", "f64"])
@pytest.mark.parametrize("emitter", MOVES)
def test_moves_keep_all_bits(emitter: str, kind: str) -> None:
    """Nothing is decoded on the way, payloads of NaNs included."""
    text = f"f {{ p = {kind}[30,40] parameter(0)\n{MOVES[emitter].replace('KIND', kind)} }}"
    computation = ix.hlo.parse(text).entry
    kernel = ix.emit(computation, dialect=device_of_tests().dialect)
    assert kernel.emitter == emitter
    assert "decode" not in kernel.source
    dtype = computation.parameters[0].shape.dtype
    raw = np.random.default_rng(0).integers(0, 256, 30 * 40 * dtype.itemsize, np.uint8)
    array = raw.view(dtype).reshape(30, 40)
    (got,) = launch(kernel, [array], [computation.root.shape])
    want = np.asarray(ix.evaluate(computation.module, array.view(f"u{dtype.itemsize}").view(dtype)))
    assert np.ascontiguousarray(got).tobytes() == np.ascontiguousarray(want).tobytes()


def test_an_index_that_is_converted_many_times_is_an_index() -> None:
    types = ["s32", "s64"] * 1000
    chain = [f"a{k + 1} = {kind}[64] convert(a{k})" for k, kind in enumerate(types)]
    text = "\n".join(["ENTRY e { a0 = s16[64] iota(), iota_dimension=0", *chain, "t = s64[] constant(3)"])
    text += "\n threes = s64[64] broadcast(t), dimensions={} ROOT r = s64[64] and(a2000, threes) }"
    kernel = ix.emit(ix.hlo.parse(text).entry, dialect="c")
    assert not any(
        v.opcode == "and" for s in ir.statements(kernel.lowered.body) for v in all_values(s) if isinstance(v, ir.Op)
    )
    (result,) = launch(kernel, [], [ix.hlo.parse(text).entry.root.shape])
    assert (result == np.arange(64) % 4).all()


@pytest.mark.parametrize(("steps", "is_shared"), [(3000, False), (60, True)], ids=["chain", "shared"])
def test_the_lowest_bits_of_many_bitwise_operations_are_computed(steps: int, is_shared: bool) -> None:
    """A fold of bits of indices looks a few operations deep: not as deep as a chain, nor along all paths of what is shared."""
    lines = [
        "a0 = u32[64] iota(), iota_dimension=0",
        "n = u32[] constant(5)",
        "five = u32[64] broadcast(n), dimensions={}",
    ]
    lines.append("b0 = u32[64] add(a0, five)")
    for k in range(steps):
        lines.append(f"a{k + 1} = u32[64] xor(a{k}, b{k if is_shared else 0})")
        lines += [f"b{k + 1} = u32[64] or(a{k}, b{k})"] * is_shared
    lines.append("one = u32[] constant(1) ones = u32[64] broadcast(one), dimensions={}")
    lines.append(f"ROOT r = u32[64] and(a{steps}, ones)")
    text = "ENTRY e { " + "\n".join(lines) + " }"
    kernel = ix.emit(ix.hlo.parse(text).entry, dialect="c")
    (result,) = launch(kernel, [], [ix.hlo.parse(text).entry.root.shape])
    a = np.arange(64, dtype=np.uint32)
    b = a + np.uint32(5)
    for _ in range(steps):
        a, b = a ^ b, a | b if is_shared else b
    assert (result == a & 1).all()
