"""The rows emitter: reductions of smaller arrays whose rows are as long as those of the space, one pass each."""

import pytest

import indexing as ix
from indexing.device.table import portable_device
from indexing.kernels.emitters.rows.match import row_space
from indexing.kernels.kernel import Kernel
from kernels import check, prove
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
def test_other_sums_are_functions(case: tuple[str, ...]) -> None:
    text = weighted(*case)
    space = row_space(ix.hlo.parse(text).entry)
    assert space is not None
    assert [r.name for r in space.reductions] == ["t"]
    check(text, "rows", tolerance=1e-5)
