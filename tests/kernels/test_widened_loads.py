"""Loads of whole vectors: what a pass that may widen loads is held to, and that such kernels are right and touch less."""

from dataclasses import replace

import pytest

from indexing.device.table import portable_device
from indexing.kernels.kernel import Kernel
from indexing.kernels.passes import Pass
from indexing.kernels.verify.translation import compare_accesses
from ir_reader import read_kernel
from kernels import check, prove, vector_moves

KERNEL = """kernel k emitter test grid (32, 1, 1) block (32, 1, 1)
buffer p0: f32[4096] global input 0
buffer o0: f32[1024] global output 0
buffer x0: f32[8] local
entry
  index th_x in [0, 31] thread
  index th_y in [0, 0] thread
  index th_z in [0, 0] thread
  index bl_x in [0, 31] thread
  index bl_y in [0, 0] thread
  index bl_z in [0, 0] thread
  {}
  store o0[th_x + bl_x * 32] = load.f32 x0[3]
"""
WIDENING = Pass("vectorize", lambda kernel, target: kernel, "memory", may_widen_loads=True)
SINGLE = "\n  ".join(f"copy 1: x0[{k}] = p0[th_x * 4 + bl_x * 128 + {k}]" for k in (0, 1, 3))


@pytest.mark.parametrize(
    ("loads", "status"),
    [
        ("copy 4: x0[0] = p0[th_x * 4 + bl_x * 128]", "proved"),
        ("copy 2: x0[0] = p0[th_x * 4 + bl_x * 128]", "refuted"),  # without the last
        ("copy 4: x0[0] = p0[th_x * 4 + bl_x * 128 + 1]", "refuted"),  # without the first, with one of the next vector
        (f"{SINGLE}\n  copy 1: x0[4] = p0[th_x * 4 + bl_x * 128 + 4]", "refuted"),  # another vector's
    ],
)
def test_only_vectors_of_what_was_loaded_may_be_loaded(loads: str, status: str) -> None:
    before, after = (read_kernel(KERNEL.format(text)) for text in (SINGLE, loads))
    (of_loads, of_stores) = compare_accesses(before, after, WIDENING)
    assert (of_loads.status, of_stores.status) == (status, "proved")
    assert next(iter(compare_accesses(before, after, replace(WIDENING, may_widen_loads=False)))).status == "refuted"


def test_three_of_four_components() -> None:
    text = """
    ENTRY fused {
      x = f32[640,4] parameter(0)
      a = f32[640,1] slice(x), slice={[0:640], [0:1]}
      b = f32[640,1] slice(x), slice={[0:640], [1:2]}
      c = f32[640,1] slice(x), slice={[0:640], [3:4]}
      d = f32[640,1] multiply(a, c)
      ROOT e = f32[640,1] subtract(d, b)
    }"""
    kernel = check(text, "loop")
    for target in ("c", "cuda", "opencl"):
        prove(Kernel(kernel.ir, portable_device(target)))
    assert vector_moves(kernel) == {"p0": {4}, "o0": set()}
