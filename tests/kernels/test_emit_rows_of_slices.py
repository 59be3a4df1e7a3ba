"""The rows emitter: outputs that are slices of the space, of which only the rows in the slice are computed."""

import pytest

import indexing as ix
from indexing.device.table import portable_device
from indexing.kernels.emitters.rows.match import row_space
from indexing.kernels.kernel import Kernel
from kernels import check, prove, visits
from row_programs import REDUCERS


def sliced_norm(sizes: tuple[int, ...], gone: int, window: list[str], after: str = "") -> str:
    """Rows divided by their sums of squares, less their means, of which a slice is the output, through what comes `after`."""
    kept = [d for d in range(len(sizes)) if d != gone]
    of = f"f32[{','.join(map(str, sizes))}]"
    row = f"f32[{','.join(str(sizes[d]) for d in kept)}]"
    own = ",".join(map(str, kept))
    cut = [len(range(*map(int, w.split(":")))) for w in window]
    part = f"[{','.join(map(str, cut))}]"
    return f"""{REDUCERS}
    ENTRY fused {{
      x = {of} parameter(0)
      z = f32[] constant(0)
      s = {row} reduce(x, z), dimensions={{{gone}}}, to_apply=add
      sb = {of} broadcast(s), dimensions={{{own}}}
      d = {of} subtract(x, sb)
      q = {of} multiply(d, d)
      t = {row} reduce(q, z), dimensions={{{gone}}}, to_apply=add
      tb = {of} broadcast(t), dimensions={{{own}}}
      y = {of} divide(d, tb)
      {"ROOT" if not after else ""} o = f32{part} slice(y), slice={{{", ".join(f"[{w}]" for w in window)}}}
      {after.format(part=part)}
    }}"""


CASES = {
    "some rows": ((3, 9, 40), 2, ["0:3", "2:8", "0:40"]),
    "one of each": ((6, 5, 64), 2, ["0:6", "4:5", "0:64"]),
    "one row": ((6, 5, 64), 2, ["3:4", "0:1", "0:64"]),
    "columns": ((5, 24, 40), 1, ["1:5", "0:24", "3:40"]),
    "of the middle": ((2, 33, 7, 8), 1, ["0:2", "0:33", "1:7", "2:6"]),
}


@pytest.mark.parametrize("name", CASES)
def test_computes_the_rows_of_the_slice(name: str) -> None:
    sizes, gone, window = CASES[name]
    text = sliced_norm(sizes, gone, window)
    space = row_space(ix.hlo.parse(text).entry)
    assert space is not None and space.window is not None
    for keep in (0, 1, 2):
        kernel = check(text, "rows", keep=keep)
        for target in ("c", "cuda", "opencl"):
            prove(Kernel(kernel.ir, portable_device(target)))
    loaded = sum(visits(m, sizes) for m in kernel.input_maps[0])
    inside = tuple(slice(*map(int, w.split(":"))) for w in window)
    assert (loaded[inside] == 1).all()
    loaded[inside] = 0
    assert not loaded.any()


def test_what_comes_after_the_slice() -> None:
    convert = "ROOT c = bf16{part} convert(o)"
    check(sliced_norm((3, 9, 40), 2, ["0:3", "2:8", "0:40"], convert), "rows", tolerance=1e-2)
    two = "n = f32{part} negate(o)\n      ROOT both = (f32{part}, f32{part}) tuple(o, n)"
    check(sliced_norm((3, 9, 40), 2, ["0:3", "2:8", "0:40"], two), "rows")


@pytest.mark.parametrize(
    ("window", "after"),
    [
        (["0:3", "0:9", "1:40"], ""),  # not whole rows
        (["0:3", "1:9:2", "0:40"], ""),  # every other row
        (["0:3", "2:8", "0:40"], "ROOT both = (f32{part}, f32[3,9,40]) tuple(o, y)"),  # rows beside those of the slice
    ],
)
def test_others_are_no_windows(window: list[str], after: str) -> None:
    text = sliced_norm((3, 9, 40), 2, window, after)
    space = row_space(ix.hlo.parse(text).entry)
    assert space is None
    check(text)
