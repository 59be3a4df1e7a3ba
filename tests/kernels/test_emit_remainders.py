"""Remainders by powers of two, as numpy defines them, and as JAX and XLA state them."""

import numpy as np
import pytest

import indexing as ix
from kernels import as_fusion, launcher, prove

DIVIDED = """
      r = {kind}[{count}] remainder(x, n)
      isbelow = pred[{count}] compare(r, z), direction=LT"""
BITS = """
      isneg = pred[{count}] compare(x, z), direction=LT
      negx = {kind}[{count}] negate(x)
      m = {kind}[{count}] select(isneg, negx, x)
      low = {kind}[{count}] and(m, mask)
      neglow = {kind}[{count}] negate(low)
      r = {kind}[{count}] select(isneg, neglow, low)
      isbelow = pred[{count}] compare(r, z), direction=LT"""


def program(form: str, kind: str, divisor: int, count: int, root: str) -> str:
    of, at = f"{kind}[{count}]", "dimensions={}"
    return f"""
    ENTRY fused {{
      x = {of} parameter(0)
      zero = {kind}[] constant(0)
      number = {kind}[] constant({divisor})
      bits = {kind}[] constant({divisor - 1})
      z = {of} broadcast(zero), {at}
      n = {of} broadcast(number), {at}
      mask = {of} broadcast(bits), {at}
      {form.format(kind=kind, count=count)}
      isnot = pred[{count}] compare(r, z), direction=NE
      moves = pred[{count}] and(isbelow, isnot)
      moved = {of} add(r, n)
      floor = {of} select(moves, moved, r)
      ROOT o = {of} {root}
    }}"""


@pytest.mark.parametrize("form", [DIVIDED, BITS], ids=["divided", "bits"])
@pytest.mark.parametrize(("kind", "divisor"), [("s8", 64), ("s16", 1), ("s32", 32), ("s32", 1 << 30), ("s64", 1 << 40)])
@pytest.mark.parametrize("root", ["copy(floor)", "copy(r)"])
def test_remainders_of_all_signs(form: str, kind: str, divisor: int, root: str) -> None:
    limits = np.iinfo(f"int{kind[1:]}")
    near = np.array([-2, -1, 0, 1, 2], dtype=limits.dtype)
    ends = np.array([limits.min, limits.min + 1, limits.max, limits.max - 1], dtype=limits.dtype)
    x = np.concatenate([near, ends, near + divisor, near - divisor, np.arange(-100, 100, dtype=limits.dtype)])
    text = program(form, kind, divisor, x.size, root)
    (got,) = launcher(ix.emit(as_fusion(text), dialect="c"), list(ix.hlo.parse(text).entry.root.shape.leaves))([x])
    np.testing.assert_array_equal(got, (np.remainder if "floor" in root else np.fmod)(x, limits.dtype.type(divisor)))


def test_places_by_remainders_are_in_bounds() -> None:
    """They need no limits of their own, in any target."""
    text = program(DIVIDED, "s32", 64, 1000, "gather(t, floor), GATHER")
    gather = "offset_dims={}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1}"
    text = text.replace("GATHER", gather).replace("zero =", "t = s32[64] parameter(1)\n      zero =", 1)
    for dialect in ("cuda", "opencl", "c"):
        kernel = ix.emit(as_fusion(text), dialect=dialect)
        prove(kernel)
        assert "clamp_s32(" not in kernel.source.partition("loop_gather")[2]
