"""Reuse in caches of what a kernel reads in several passes: by hand, and beside published times of GPUs."""

from __future__ import annotations

import pytest

import indexing as ix

SOFTMAX = """max { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] maximum(a, b) }
sum { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b) }
ENTRY e { x = f32[SIZES] parameter(0)
  low = f32[] constant(-inf)
  zero = f32[] constant(0)
  m = f32[ROWS] reduce(x, low), dimensions={1}, to_apply=max
  w = f32[SIZES] broadcast(m), dimensions={0}
  d = f32[SIZES] subtract(x, w)
  e = f32[SIZES] exponential(d)
  t = f32[ROWS] reduce(e, zero), dimensions={1}, to_apply=sum
  v = f32[SIZES] broadcast(t), dimensions={0}
  ROOT r = f32[SIZES] divide(e, v) }"""


def softmax(rows: int, columns: int) -> ix.hlo.Computation:
    return ix.hlo.parse(SOFTMAX.replace("SIZES", f"{rows},{columns}").replace("ROWS", str(rows))).entry


@pytest.mark.parametrize(
    ("device", "columns", "least", "most"),
    [  # the rows of a wave, beside the 6 MB of a V100's L2 cache, and the 40 MB of an A100's
        ("V100 PCIe 32GB", 1024, 1.0, 1.0),
        ("V100 PCIe 32GB", 16384, 2.0, 2.0),
        ("A100 PCIe 40GB", 4096, 1.0, 1.0),
        ("A100 PCIe 40GB", 16384, 1.1, 1.9),
    ],
)
def test_rows_that_are_read_three_times_move_as_often_if_a_wave_does_not_fit(
    device: str, columns: int, least: float, most: float
) -> None:
    """Bytes, as a multiple of those of x and of the result; rows that threads keep move once in any case."""
    computation, size = softmax(32768, columns), 2 * 4 * 32768 * columns
    plans = {"keep": [0, 3] if columns < 16384 else [0], "threads": 512, "vector_width": 1}
    bytes_of = ix.predict(computation, plans, device).memory_bytes / size
    assert least <= bytes_of[0] <= most and (bytes_of[1:] == 1).all()


#: Layer norm in PyTorch, which reads each row twice, of f32: a card, rows, columns, and the milliseconds that S. Lee, A. Phanishayee
#: and D. Mahajan measured (NeuSight, ASPLOS 2025). They are of the half of the rows that no constant was fitted to.
MEASURED = [
    ("A100 PCIe 40GB", 786432, 2048, 9.694586),
    ("A100 PCIe 40GB", 32768, 4096, 1.132576),
    ("A100 PCIe 40GB", 32768, 8192, 2.366669),
    ("A100 PCIe 80GB", 131072, 10240, 10.016333),
    ("L4", 32768, 5120, 5.674458),
    ("L4", 65536, 10240, 28.197427),
    ("T4", 327680, 1024, 11.547949),
    ("T4", 98304, 2048, 9.023853),
    ("T4", 65536, 12288, 39.132384),
    ("V100 PCIe 32GB", 65536, 2048, 1.987232),
    ("V100 PCIe 32GB", 16384, 16384, 4.031814),
]
LAYER_NORM = """add { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b) }
ENTRY e { x = f32[SIZES] parameter(0)
  g = f32[COLUMNS] parameter(1)
  h = f32[COLUMNS] parameter(2)
  zero = f32[] constant(0)
  t = f32[ROWS] reduce(x, zero), dimensions={1}, to_apply=add
  xx = f32[SIZES] multiply(x, x)
  q = f32[ROWS] reduce(xx, zero), dimensions={1}, to_apply=add
  i = f32[] constant(0.001)
  n = f32[ROWS] broadcast(i), dimensions={}
  m = f32[ROWS] multiply(t, n)
  s = f32[ROWS] multiply(q, n)
  mm = f32[ROWS] multiply(m, m)
  v = f32[ROWS] subtract(s, mm)
  r = f32[ROWS] rsqrt(v)
  mw = f32[SIZES] broadcast(m), dimensions={0}
  rw = f32[SIZES] broadcast(r), dimensions={0}
  gw = f32[SIZES] broadcast(g), dimensions={1}
  hw = f32[SIZES] broadcast(h), dimensions={1}
  d = f32[SIZES] subtract(x, mw)
  e = f32[SIZES] multiply(d, rw)
  f = f32[SIZES] multiply(e, gw)
  ROOT o = f32[SIZES] add(f, hw) }"""


@pytest.mark.parametrize(("device", "rows", "columns", "milliseconds"), MEASURED)
def test_rows_that_are_read_twice_take_as_long_as_was_measured(
    device: str, rows: int, columns: int, milliseconds: float
) -> None:
    sizes = {"SIZES": f"{rows},{columns}", "ROWS": str(rows), "COLUMNS": str(columns)}
    text = LAYER_NORM
    for name, size in sizes.items():
        text = text.replace(name, size)
    p = ix.predict(ix.hlo.parse(text).entry, {"keep": 0, "threads": 128, "vector_width": 4}, device)
    assert 0.92 <= 1e3 * p.time[0] / milliseconds <= 1.08
