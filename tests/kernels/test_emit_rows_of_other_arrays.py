"""The rows emitter: reductions of other arrays. Those of rows as long as the space's are passes; others are members."""

import pytest

import indexing as ix
from indexing.device.table import portable_device
from indexing.kernels.emitters.rows.match import row_space
from indexing.kernels.kernel import Kernel
from kernels import check, prove, visits
from row_programs import REDUCERS


def weighted(sizes: str, of_weights: str, gone: str, dims: str, own: str, kept: str) -> str:
    """Rows, each divided by its sum of squares, of products with weights that are divided by their own sums first."""
    size = [n for d, n in enumerate(of_weights.split(",")) if str(d) not in own.split(",")]
    sums = f"f32[{','.join(size)}]"
    of_rows = [d for d in range(len(sizes.split(","))) if str(d) not in gone.split(",")]
    row = f"f32[{','.join(sizes.split(',')[d] for d in of_rows)}]"
    before = ",".join(str(d) for d in range(len(of_weights.split(","))) if str(d) not in own.split(","))
    return f"""{REDUCERS}
    ENTRY fused {{
      x = f32[{sizes}] parameter(0)
      w = f32[{of_weights}] parameter(1)
      z = f32[] constant(0)
      e = f32[{of_weights}] exponential(w)
      s = {sums} reduce(e, z), dimensions={{{own}}}, to_apply=add
      sb = f32[{of_weights}] broadcast(s), dimensions={{{before}}}
      n = f32[{of_weights}] divide(e, sb)
      nb = f32[{sizes}] broadcast(n), dimensions={{{dims}}}
      y = f32[{sizes}] multiply(x, nb)
      q = f32[{sizes}] multiply(y, y)
      t = {row} reduce(q, z), dimensions={{{gone}}}, to_apply=add
      tb = f32[{sizes}] broadcast(t), dimensions={{{kept}}}
      ROOT o = f32[{sizes}] divide(y, tb)
    }}"""


CASES = {
    "every other dimension": ("2,3,5,40", "3,5,40", "3", "1,2,3", "2", "0,1,2"),
    "turned": ("4,3,64", "64,3", "2", "2,1", "0", "0,1"),
    "one row": ("6,40", "40", "1", "1", "0", "0"),
    "two dimensions": ("3,4,8,16", "4,8,16", "2,3", "1,2,3", "1,2", "0,1"),
    "columns": ("5,24,40", "24,40", "1", "1,2", "0", "0,2"),
}


@pytest.mark.parametrize("name", CASES)
def test_are_passes_of_the_same_threads(name: str) -> None:
    text = weighted(*CASES[name])
    space = row_space(ix.hlo.parse(text).entry)
    assert space is not None
    assert [[r.name for r in of_pass] for of_pass in space.passes] == [["s"], ["t"]]
    for keep in (0, 1, 2):
        kernel = check(text, "rows", tolerance=1e-5, keep=keep)
        for target in ("c", "cuda", "opencl"):
            prove(Kernel(kernel.ir, portable_device(target)))


@pytest.mark.parametrize(
    "case",
    [
        ("4,5,64", "5,64", "2", "1,2", "0", "0,1"),  # reduces what the rows keep
        ("4,64,64", "64,64", "2", "2,1", "1", "0,1"),  # as long, but the sum differs along a row
        ("3,8,16", "8,16", "1,2", "1,2", "1", "0"),  # shorter
    ],
)
def test_other_sums_are_members(case: tuple[str, ...]) -> None:
    text = weighted(*case)
    space = row_space(ix.hlo.parse(text).entry)
    assert space is not None
    assert [r.name for r in space.reductions] == ["t"] and "s" in {i.name for i in space.places}
    check(text, "rows", tolerance=1e-5)


def log_sum_of(length: int, other: int, rows: int = 5) -> str:
    """A softmax of rows relative to the logarithm of a sum of exponentials of rows of another length."""
    of, by = f"f32[{rows},{length}]", f"f32[{rows},{other}]"
    return f"""{REDUCERS}
    ENTRY fused {{
      x = {of} parameter(0)
      y = {by} parameter(1)
      z = f32[] constant(0)
      low = f32[] constant(-inf)
      m = f32[{rows}] reduce(y, low), dimensions={{1}}, to_apply=max
      mb = {by} broadcast(m), dimensions={{0}}
      d = {by} subtract(y, mb)
      e = {by} exponential(d)
      s = f32[{rows}] reduce(e, z), dimensions={{1}}, to_apply=add
      l = f32[{rows}] log(s)
      k = f32[{rows}] add(l, m)
      kb = {of} broadcast(k), dimensions={{0}}
      v = {of} subtract(x, kb)
      w = {of} exponential(v)
      t = f32[{rows}] reduce(w, z), dimensions={{1}}, to_apply=add
      tb = {of} broadcast(t), dimensions={{0}}
      r = {of} divide(w, tb)
      lb = {of} broadcast(m), dimensions={{0}}
      ROOT o = {of} add(r, lb)
    }}"""


@pytest.mark.parametrize(("length", "other"), [(512, 300), (64, 1000), (128, 8), (300, 512), (2048, 9)])
def test_threads_of_a_row_reduce_others_together(length: int, other: int) -> None:
    text = log_sum_of(length, other)
    space = row_space(ix.hlo.parse(text).entry)
    assert space is not None
    assert [r.name for r in space.row_reductions] == ["m", "s"] and [r.name for r in space.reductions] == ["t"]
    for keep in (0, 1, 2):
        kernel = check(text, "rows", tolerance=1e-5, keep=keep)
        for target in ("c", "cuda", "opencl"):
            prove(Kernel(kernel.ir, portable_device(target)))
        loaded = sum(visits(m, (5, other)) for m in kernel.input_maps[1])
        assert ((loaded == 2) | (loaded == 1)).all()  # for the maximum and for the sum


def test_sums_of_elements_are_kept() -> None:
    text = f"""{REDUCERS}
    ENTRY fused {{
      x = f32[40,24,9] parameter(0)
      z = f32[] constant(0)
      s = f32[40,24] reduce(x, z), dimensions={{2}}, to_apply=add
      q = f32[40,24] multiply(s, s)
      t = f32[40] reduce(q, z), dimensions={{1}}, to_apply=add
      tb = f32[40,24] broadcast(t), dimensions={{0}}
      ROOT o = f32[40,24] divide(s, tb)
    }}"""
    for keep, times in ((0, 2), (1, 1), (2, 1)):
        kernel = check(text, "rows", tolerance=1e-5, keep=keep)
        for target in ("c", "cuda", "opencl"):
            prove(Kernel(kernel.ir, portable_device(target)))
        assert (sum(visits(m, (40, 24, 9)) for m in kernel.input_maps[0]) == times).all()
