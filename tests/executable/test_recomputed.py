"""What several kernels read and each computes again, where that takes less time than an array in memory."""

import ml_dtypes
import numpy as np

import indexing as ix
from indexing.device.table import portable_device
from indexing.executable import planned_kernels
from indexing.graph.facts import GraphFacts
from indexing.graph.flattening import flatten
from kernels import compiled

SCALE = """ENTRY e { p = f32[1000] parameter(0) g = f32[1000] parameter(1) step = s32[] parameter(2)
  one = f32[] constant(1) base = f32[] constant(0.9) n = f32[] convert(step) power = f32[] power(base, n)
  rest = f32[] subtract(one, power) root = f32[] sqrt(rest) rate = f32[] divide(base, root)
  rates = f32[1000] broadcast(rate), dimensions={} scaled = f32[1000] multiply(g, rates)
  ROOT new = f32[1000] subtract(p, scaled) }"""


def test_cheap_scalars_of_constants_are_computed_by_each_reader() -> None:
    """The divisor of a remainder as programs guard it, of any number of elements."""
    module = ix.hlo.parse("""ENTRY main {
  z = u32[] constant(0)
  i = u32[] constant(1)
  d = u32[] constant(48)
  c = pred[] compare(d, z), direction=EQ
  s = u32[] select(c, i, d)
  e = f32[] convert(s)
  l = f32[] log(e)
  v = u32[3] constant({1, 2, 3})
  w = u32[3] add(v, v)
  ROOT t = (u32[], f32[], u32[3]) tuple(s, l, w) }""")
    facts = GraphFacts(flatten(module.entry), lambda _: True)
    names = {node.instruction.name for node in facts.rematerializable}
    assert {"c", "s", "e"} <= names and names.isdisjoint({"l", "w"})


def test_scalars_are_computed_by_each_thread_only_where_arithmetic_is_faster_than_a_launch() -> None:
    """A rate of steps that decays, as optimizers scale their updates: five scalars, two numbers an element."""
    fast = portable_device("cuda")
    slow = fast.with_rates(launch=0, operations=1e9).with_memory(latency=1e-9)
    names = [[p.kernel.name for p in planned_kernels(ix.hlo.parse(SCALE), device)] for device in (fast, slow)]
    assert [len(n) for n in names] == [1, 2]


ROTARY = """ENTRY e { x = bf16[64,1024] parameter(0) c = f32[512] parameter(1) w = f32[64,1024] convert(x)
  a = f32[64,512] slice(w), slice={[0:64], [0:512]} b = f32[64,512] slice(w), slice={[0:64], [512:1024]}
  d = f32[64,512] broadcast(c), dimensions={1} p = f32[64,512] multiply(a, d) q = f32[64,512] multiply(b, d)
  l = f32[64,512] subtract(p, b) r = f32[64,512] add(q, a) ROOT t = f32[64,1024] concatenate(l, r), dimensions={1} }"""


def test_an_array_that_is_read_at_two_indices_is_computed_twice_where_memory_takes_longer() -> None:
    device = portable_device("cuda")
    slow = device.with_rates(launch=0, operations=1e9).with_memory(latency=1e-9)
    assert [len(planned_kernels(ix.hlo.parse(ROTARY), d)) for d in (device, slow)] == [1, 2]
    x, c = np.random.default_rng(0).standard_normal((64, 1024)), np.linspace(0, 1, 512, dtype=np.float32)
    wide = x.astype(ml_dtypes.bfloat16).astype(np.float32)
    a, b = wide[:, :512], wide[:, 512:]
    actual = compiled(ROTARY)(x.astype(ml_dtypes.bfloat16), c)
    np.testing.assert_allclose(actual, np.concatenate([a * c - b, b * c + a], 1), rtol=1e-6, atol=1e-6)


CROSS_ENTROPY = """HloModule m
larger { a = f32[] parameter(0) b = f32[] parameter(1) ROOT r = f32[] maximum(a, b) }
sum { a = f32[] parameter(0) b = f32[] parameter(1) ROOT r = f32[] add(a, b) }
ENTRY main {
  x = bf16[512,4001] parameter(0)
  y = s32[512,1] parameter(1)
  w = f32[512,4001] convert(x)
  zero = f32[] constant(0)
  lowest = f32[] constant(-inf)
  most = f32[512] reduce(w, lowest), dimensions={1}, to_apply=larger
  spread = f32[512,4001] broadcast(most), dimensions={0}
  d = f32[512,4001] subtract(w, spread)
  e = f32[512,4001] exponential(d)
  total = f32[512] reduce(e, zero), dimensions={1}, to_apply=sum
  l = f32[512] log(total)
  n = f32[512] add(l, most)
  g = f32[512] gather(w, y), offset_dims={}, collapsed_slice_dims={1}, start_index_map={1}, operand_batching_dims={0},
    start_indices_batching_dims={0}, index_vector_dim=1, slice_sizes={1,1}
  ROOT loss = f32[512] subtract(n, g)
}"""


def test_elements_are_converted_by_each_reader_that_takes_them_one_by_one() -> None:
    """The logits of a cross entropy, which are read in rows and at labels: written as f32, they take twice the memory."""
    for device in (portable_device("cuda"), ix.find_device("h200")):
        written = {k.kernel.outputs[0].dimensions for k in planned_kernels(ix.hlo.parse(CROSS_ENTROPY), device)}
        assert (512, 4001) not in written
    rng = np.random.default_rng(0)
    x = rng.standard_normal((512, 4001), np.float32).astype(ml_dtypes.bfloat16)
    y = rng.integers(0, 4001, (512, 1), np.int32)
    wide = x.astype(np.float64)
    want = np.log(np.exp(wide).sum(1)) - np.take_along_axis(wide, y, 1)[:, 0]
    np.testing.assert_allclose(compiled(CROSS_ENTROPY)(x, y), want, rtol=1e-4)
