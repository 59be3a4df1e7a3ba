"""The loop emitter: reductions with one result for a block, which its threads reduce together."""

import re
from math import prod

import pytest

import indexing as ix
from indexing.kernels import choose_emitter
from indexing.kernels.emitters.loop.block_values import block_reductions
from indexing.partitioner import partition
from kernels import as_fusion, check, check_with_threads, visits
from row_programs import REDUCERS


def scaled(samples: int, inner: int, channels: int, length: int, root: str = "multiply(x, b)") -> str:
    """Samples, each scaled by the logarithm of the sum of exponentials of a row of its own."""
    of, row = f"f32[{samples},{inner},{channels}]", f"f32[{samples},{length}]"
    return f"""{REDUCERS}
    ENTRY fused {{
      x = {of} parameter(0)
      w = {row} parameter(1)
      low = f32[] constant(-inf)
      z = f32[] constant(0)
      m = f32[{samples}] reduce(w, low), dimensions={{1}}, to_apply=max
      s = f32[{samples}] reduce(w, z), dimensions={{1}}, to_apply=add
      t = f32[{samples}] add(m, s)
      b = {of} broadcast(t), dimensions={{0}}
      ROOT o = {of} {root}
    }}"""


@pytest.mark.parametrize(
    ("sizes", "is_by_warps"), [((3, 64, 96, 96), True), ((2, 32, 16, 1000), False), ((5, 8, 64, 9), True)]
)
def test_threads_of_a_block_reduce_together(sizes: tuple[int, int, int, int], is_by_warps: bool) -> None:
    """Short rows in each warp, which waits for no other."""
    text = scaled(*sizes)
    kernel = check(text, "loop")
    check_with_threads(kernel, text)
    assert ("__syncthreads" in kernel.source, kernel.shared_bytes > 0) == (not is_by_warps, not is_by_warps)
    loaded = sum(visits(m, (sizes[0], sizes[3])) for m in kernel.input_maps[1])
    times = kernel.grid[0] * (
        kernel.block[0] // 32 if is_by_warps else 1
    )  # in each block that has elements of the sample
    assert loaded.max() <= 2 * times  # for the maximum and the sum


@pytest.mark.parametrize("sizes", [(64, 1, 4096, 100), (64, 1, 4096, 8), (4, 64, 256, 257), (16, 96, 96, 64)])
def test_work_of_groups_is_counted_once_for_each_group(sizes: tuple[int, int, int, int]) -> None:
    """A program is one kernel where groups repeat little: a product for each element, and what each group adds."""
    text = re.sub(r" m = .*\n", "", scaled(*sizes)).replace("add(m, s)", "copy(s)")
    module = ix.hlo.parse(text)
    kernel = ix.emit(module, dialect="cuda")
    assert kernel.emitter == "loop"
    added = sum(visits(m, (sizes[0], sizes[3])).sum() for m in kernel.input_maps[1])
    assert kernel.work == prod(sizes[:3]) + added
    assert choose_emitter(module.entry, kernel.device).work == kernel.work
    with pytest.raises(ix.UnsupportedOp, match="repeatedly"):
        ix.emit(module, dialect="c")  # where threads share nothing


def gated(rows: int, length: int, halves: str) -> str:
    """Rows, scaled by the sum of their squares; a function reads them at two indices, and is called for two `halves` of a row."""
    of, half = f"f32[{rows},{length}]", f"f32[{rows},{length // 2}]"
    low, high = halves.split()
    return f"""{REDUCERS}
    ENTRY fused {{
      x = {of} parameter(0)
      y = {of} multiply(x, x)
      z = f32[] constant(0)
      s = f32[{rows}] reduce(y, z), dimensions={{1}}, to_apply=add
      r = f32[{rows}] rsqrt(s)
      b = {of} broadcast(r), dimensions={{0}}
      n = {of} multiply(x, b)
      v = {of} reverse(n), dimensions={{1}}
      u = {of} add(n, v)
      p = {half} slice(u), slice={{[0:{rows}], [{low}]}}
      q = {half} slice(u), slice={{[0:{rows}], [{high}]}}
      t = {half} tanh(p)
      ROOT o = {half} multiply(t, q)
    }}"""


@pytest.mark.parametrize(("rows", "length", "reads"), [(37, 64, 2 + 1), (9, 512, 2 + 2), (4, 4096, 2 + 16)])
def test_reductions_of_functions_that_are_called_at_several_indices(rows: int, length: int, reads: int) -> None:
    """Each warp or block of a row reduces once; the last warps have no elements. The functions around are built in the entry."""
    text = gated(rows, length, f"0:{length // 2} {length // 2}:{length}")
    kernel = check(text, "loop")
    assert [f.name for f in kernel.ir.functions] == ["combine0"]
    check_with_threads(kernel, text)
    loaded = sum(visits(m, (rows, length)) for m in kernel.input_maps[0])
    assert loaded.max() == reads


def test_vectors_are_as_wide_as_all_reductions_can_be_shared() -> None:
    """A thread has the vector of 16 bytes that it would have of rows that are scaled by what is given."""
    kernel = ix.emit(as_fusion(gated(512, 512, "0:256 256:512")))
    assert kernel.grid[0] * kernel.block[0] * 4 == 512 * 256


def test_not_where_functions_are_called_within_loops() -> None:
    """Of a window of the rows: code within a loop would call them again."""
    window = "reduce-window(u, z), window={size=1x2 stride=1x2}, to_apply=add"
    text = gated(8, 256, "0:128 128:256").replace("slice(u), slice={[0:8], [0:128]}", window)
    text = text.replace("multiply(t, q)", "multiply(t, p)")
    assert shared(text, 128) == []
    assert shared(gated(8, 256, "0:128 128:256"), 128) == ["s"]
    assert shared(gated(8, 256, "0:128 128:256"), 256) == []


def test_not_where_blocks_have_elements_of_several_rows() -> None:
    assert shared(scaled(8, 1, 16, 64), 128) == []  # several samples in a block
    assert shared(scaled(3, 1, 128, 64), 256) == []  # no whole blocks
    assert shared(scaled(4, 1, 128, 4), 128) == []  # few elements
    assert shared(scaled(4, 1, 128, 64), 128) == ["m", "s"]


def shared(text: str, block: int) -> list[str]:
    parts = partition(ix.hlo.parse(text).entry)
    return [i.name for i, _ in block_reductions(parts, block)]
