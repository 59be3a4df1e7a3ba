"""Loops that kernels of other nodes would compute element by element: which have kernels of their own."""

import numpy as np
import pytest

import indexing as ix
from indexing.device.detect import find_device
from indexing.executable import planned_kernels
from kernels import compiled

CONCATENATED = """ENTRY main {{
  c = bf16[2,{rows},1,128] parameter(0)
  a = bf16[2,{rows},{sums}] parameter(1)
  b = bf16[{sums},128] parameter(2)
  d = bf16[2,{rows},128] dot(a, b), lhs_contracting_dims={{2}}, rhs_contracting_dims={{0}}
  r = bf16[2,{rows},1,128] reshape(d)
  ROOT k = bf16[2,{rows},2,128] concatenate(c, r), dimensions={{2}} }}"""

CHOSEN = """max {{
  a = f32[] parameter(0) i = s32[] parameter(1) b = f32[] parameter(2) j = s32[] parameter(3)
  g = pred[] compare(a, b), direction=GE
  v = f32[] select(g, a, b)
  w = s32[] select(g, i, j)
  ROOT t = (f32[], s32[]) tuple(v, w) }}
ENTRY main {{
  x = f32[1,{size}] parameter(0)
  n = s32[1,{size}] iota(), iota_dimension=1
  least = f32[] constant(-inf)
  zero = s32[] constant(0)
  t = (f32[1], s32[1]) reduce(x, n, least, zero), dimensions={{1}}, to_apply=max
  i = s32[1] get-tuple-element(t), index=1
  p = pred[64] parameter(1)
  q = s32[] parameter(2)
  s = pred[1] dynamic-slice(p, q), dynamic_slice_sizes={{1}}
  o = s32[1] parameter(3)
  ROOT r = s32[1] select(s, o, i) }}"""


@pytest.mark.parametrize(
    ("text", "emitters"),
    [
        (CONCATENATED.format(rows=2048, sums=1024), ["dot-tile", "concatenate"]),
        (CONCATENATED.format(rows=8, sums=16), ["concatenate"]),
        (CHOSEN.format(size=262144), ["reduction", "loop"]),
        (CHOSEN.format(size=48), ["loop"]),
    ],
    ids=["product", "small product", "choice of many", "choice of few"],
)
def test_a_long_loop_has_a_kernel_of_its_own_where_that_of_its_reader_has_a_thread_for_each_element(
    text: str, emitters: list[str]
) -> None:
    """What a concatenation or a choice reads is computed by tiles or blocks, unless its loops take less than a launch."""
    planned = planned_kernels(ix.hlo.parse(text), find_device("h100"))
    assert [p.kernel.emitter for p in planned] == emitters


def test_results_are_those_of_the_reference() -> None:
    """On the processor, in types that it stores: a product beside a concatenation, and the first of equal maxima."""
    rng = np.random.default_rng(5)
    text = CONCATENATED.format(rows=64, sums=512).replace("bf16", "f32")
    left, factors = (rng.standard_normal(s).astype(np.float32) for s in ((2, 64, 1, 128), (2, 64, 512)))
    right = rng.standard_normal((512, 128)).astype(np.float32)
    result = np.asarray(compiled(text)(left, factors, right))
    wanted = np.concatenate((left, (factors @ right)[:, :, None]), axis=2)
    np.testing.assert_allclose(result, wanted, rtol=1e-4, atol=1e-4)
    x = rng.integers(0, 1000, (1, 262144)).astype(np.float32)
    chosen = compiled(CHOSEN.format(size=262144))
    given = np.zeros(64, bool), np.array(3, np.int32), np.array([7], np.int32)
    assert np.asarray(chosen(x, *given)).tolist() == [int(x.argmax())]
