"""Reuse in caches of what a kernel reads in several passes: by hand, and beside published times of GPUs."""

from __future__ import annotations

import pytest

import indexing as ix
from indexing.model.reuse import Spans, _Reach

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


#: Thread maps to an array of two dimensions: blocks that move all alike, in order, in groups of rows, with loops; whose shares
#: of a row differ; whose rows depend on blocks and threads together; and under a condition.
REACHED = (
    ("bl_x floordiv 4 * 8 + th_x floordiv 4, th_x mod 4 * 2 + s0 * 8", 0),
    ("bl_x floordiv 8 * 16 + bl_x mod 2 * 8 + s0, bl_x floordiv 2 mod 4 * 16 + th_x", 0),
    ("bl_x floordiv 8 * 16 + bl_x mod 2 * 8 + s0, bl_x floordiv 4 * 16 + th_x; bl_x * 2 + s0, th_x", 0),
    ("(bl_x * 32 + th_x) floordiv 48, (bl_x * 32 + th_x) mod 48 + s0", 0),
    ("bl_x * 2 + s0, th_x; bl_x * 2 + s0 + 1, th_x", 20),
)


@pytest.mark.parametrize(("results", "most"), REACHED)
@pytest.mark.parametrize("blocks", [(0, 0), (3, 3), (5, 6), (2, 13), (0, 15)])
def test_boxes_hold_what_blocks_reach(results: str, most: int, blocks: tuple[int, int]) -> None:
    """The sizes of boxes beside the elements that all threads of some blocks reach, one by one."""
    domain = "domain: th_x in [0, 31], th_y in [0, 0], th_z in [0, 0], bl_x in [0, 15], bl_y in [0, 0], bl_z in [0, 0], s0 in [0, 3]"
    domain += f", bl_x * 2 + s0 in [0, {most}]" if most else ""
    ids = "(th_x, th_y, th_z, bl_x, bl_y, bl_z)[s0]"
    maps = [ix.IndexingMap.parse(f"{ids} -> ({one}), {domain}") for one in results.split("; ")]
    part = (ix.Interval(*blocks), ix.Interval(0, 0), ix.Interval(0, 0))
    reach = _Reach(maps, Spans())
    spread = reach.spread(part)
    boxes = reach.boxes(part) if spread is None else reach.spread_boxes(spread)
    reached = [[m.evaluate(*p) for p in m.points() if blocks[0] <= p[0][3] <= blocks[1]] for m in maps]
    sizes = [[max(column) - min(column) + 1 for column in zip(*of_map, strict=True)] for of_map in reached if of_map]
    assert [[len(i) for i in box] for box in boxes] == sizes
    assert (spread is None) == (most > 0 or "+ th_x) floordiv" in results or "; " in results)
