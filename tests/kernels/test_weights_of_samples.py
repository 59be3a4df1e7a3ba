"""Weights that rows of one sample share, as those by which a diffusion model modulates a norm."""

import pytest

import indexing as ix
from kernels import check, check_with_threads, visits
from row_programs import REDUCERS


def modulated(samples: int, rows: int, length: int, dimensions: str = "0,2") -> str:
    """Rows of a mean square of 1, scaled by factors of their sample, or by those that have these `dimensions`."""
    sizes = (samples, rows, length)
    of, row, at = f"f32[{samples},{rows},{length}]", f"f32[{samples},{rows}]", f"dimensions={{{dimensions}}}"
    given = f"f32[{','.join(str(sizes[int(d)]) for d in dimensions.split(',') if d)}]"
    return f"""{REDUCERS}
    ENTRY fused {{
      x = {of} parameter(0)
      g = {given} parameter(1)
      one = f32[] constant(1)
      ones = {given} broadcast(one), dimensions={{}}
      w = {given} add(g, ones)
      v = {of} broadcast(w), {at}
      q = {of} multiply(x, x)
      z = f32[] constant(0)
      s = {row} reduce(q, z), dimensions={{2}}, to_apply=add
      i = {row} rsqrt(s)
      b = {of} broadcast(i), dimensions={{0,1}}
      n = {of} multiply(x, b)
      ROOT o = {of} multiply(n, v)
    }}"""


@pytest.mark.parametrize(("samples", "rows", "length"), [(4, 64, 192), (7, 16, 96), (3, 32, 50)])
def test_blocks_load_the_weights_of_their_sample_once(samples: int, rows: int, length: int) -> None:
    text = modulated(samples, rows, length)
    kernel = check(text, "rows", tolerance=1e-4)
    check_with_threads(kernel, text, tolerance=1e-4)
    loaded = visits(kernel.thread_to_input(1), (samples, length))
    assert (loaded == kernel.grid[0] / samples).all()
    assert "weights" in kernel.source


@pytest.mark.parametrize(
    ("rows", "dimensions"),
    [(65, "0,2"), (4, "0,2"), (64, "1,2"), (64, "0,1,2"), (64, "")],
    ids=["odd", "few", "places", "all", "scale"],
)
def test_weights_of_several_samples_or_rows_in_a_block_stay_where_they_are(rows: int, dimensions: str) -> None:
    text = modulated(6, rows, 192, dimensions)
    kernel = ix.emit(ix.hlo.parse(text).entry)
    assert kernel.emitter == "rows"
    assert "weights" not in kernel.source
