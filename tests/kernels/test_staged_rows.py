"""Short rows on targets without threads: neighbouring ones are reduced side by side, from shared memory where that pays."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import indexing as ix
from indexing.device.table import portable_device
from indexing.kernels.kernel import Kernel
from kernels import as_fusion, assert_written_once, check, close, launcher, prove

PROGRAM = """
low { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] minimum(a, b) }
total { a = KIND[] parameter(0) b = KIND[] parameter(1) ROOT c = KIND[] add(a, b) }
pairs { a = KIND[] parameter(0) i = KIND[] parameter(1) b = KIND[] parameter(2) j = KIND[] parameter(3)
  less = pred[] compare(a, b), direction=LT m = KIND[] select(less, a, b) k = KIND[] select(less, i, j)
  ROOT t = (KIND[], KIND[]) tuple(m, k) }
ENTRY fused {
  STEPS
}
"""


def minima(rows: int, row: int) -> str:
    return PROGRAM.replace("KIND", "f32").replace(
        "STEPS",
        f"""p = f32[{rows},{row}] parameter(0) z = f32[] parameter(1)
  ROOT r = f32[{rows}] reduce(p, z), dimensions={{1}}, to_apply=low""",
    )


def sums(rows: int, row: int) -> str:
    return minima(rows, row).replace("minimum(", "add(")


def sums_of_exponentials(rows: int, row: int) -> str:
    text = sums(rows, row).replace("reduce(p, z)", "reduce(e, z)")
    return text.replace("ROOT r", f"e = f32[{rows},{row}] exponential(p) ROOT r")


def distances(rows: int, row: int) -> str:
    """The least distance of each number to some others."""
    return PROGRAM.replace("KIND", "f32").replace(
        "STEPS",
        f"""x = f32[{rows}] parameter(0) y = f32[{row}] parameter(1) z = f32[] parameter(2)
  a = f32[{rows},{row}] broadcast(x), dimensions={{0}} b = f32[{rows},{row}] broadcast(y), dimensions={{1}}
  d = f32[{rows},{row}] subtract(a, b) s = f32[{rows},{row}] abs(d)
  ROOT r = f32[{rows}] reduce(s, z), dimensions={{1}}, to_apply=low""",
    )


def chosen(rows: int, row: int) -> str:
    """The least element of rows that indices choose."""
    return PROGRAM.replace("KIND", "f32").replace(
        "STEPS",
        f"""p = f32[50,{row}] parameter(0) i = s32[{rows}] parameter(1) z = f32[] parameter(2)
  g = f32[{rows},{row}] gather(p, i), offset_dims={{1}}, collapsed_slice_dims={{0}}, start_index_map={{0}}, index_vector_dim=1, slice_sizes={{1,{row}}}
  ROOT r = f32[{rows}] reduce(g, z), dimensions={{1}}, to_apply=low""",
    )


def pairs(rows: int, row: int, kind: str = "f32") -> str:
    """The least element with another one at its place, the sum, and the doubled elements."""
    return PROGRAM.replace("KIND", kind).replace(
        "STEPS",
        f"""p = {kind}[{rows},{row}] parameter(0) q = {kind}[{rows},{row}] parameter(1) z = {kind}[] parameter(2)
  d = {kind}[{rows},{row}] add(p, p)
  r = ({kind}[{rows}], {kind}[{rows}]) reduce(d, q, z, z), dimensions={{1}}, to_apply=pairs
  m = {kind}[{rows}] get-tuple-element(r), index=0 k = {kind}[{rows}] get-tuple-element(r), index=1
  t = {kind}[{rows}] reduce(d, z), dimensions={{1}}, to_apply=total
  ROOT all = ({kind}[{rows}], {kind}[{rows}], {kind}[{rows}], {kind}[{rows},{row}]) tuple(m, k, t, d)""",
    )


def least_pairs(rows: int, row: int) -> str:
    """The least element with another one at its place."""
    return PROGRAM.replace("KIND", "f32").replace(
        "STEPS",
        f"""p = f32[{rows},{row}] parameter(0) q = f32[{rows},{row}] parameter(1) z = f32[] parameter(2)
  ROOT r = (f32[{rows}], f32[{rows}]) reduce(p, q, z, z), dimensions={{1}}, to_apply=pairs""",
    )


def emitted(text: str, **knobs: int) -> Kernel:
    return ix.emit(as_fusion(text), dialect="c", **knobs)


@pytest.mark.parametrize(
    ("program", "row", "beside", "staged"),
    [
        (minima, 4, True, False),
        (minima, 7, True, True),
        (minima, 8, True, False),
        (minima, 9, True, True),
        (minima, 16, False, False),
        (minima, 31, True, True),
        (minima, 33, False, False),
        (sums, 7, True, False),
        (sums, 9, False, False),
        (sums_of_exponentials, 9, True, True),
        (chosen, 7, True, False),
        (distances, 7, True, False),
        (distances, 16, True, True),
        (distances, 64, True, True),
        (distances, 65, False, False),
        (least_pairs, 2, True, True),
        (least_pairs, 3, True, True),
        (pairs, 128, True, True),
        (pairs, 129, False, False),
    ],
)
def test_which_rows(program: Callable[[int, int], str], row: int, beside: bool, staged: bool) -> None:
    """Each thread of a block has a row; those of a longer one share it. Registers hold what is read as vectors need it."""
    kernel = emitted(program(6400, row))
    assert (kernel.grid[0] * kernel.block[0] == 6400) == beside
    assert ("tile0" in kernel.source) == staged
    assert "tile0" not in ix.emit(as_fusion(program(6400, row)), dialect="cuda").source


@pytest.mark.parametrize("program", [minima, chosen, distances, pairs])
@pytest.mark.parametrize(("rows", "row"), [(1, 9), (70, 12), (131, 5), (64, 31), (300, 20)])
def test_results(program: Callable[[int, int], str], rows: int, row: int) -> None:
    """The last block may lack rows."""
    text = program(rows, row)
    kernel = check(text, "reduction", tolerance=1e-4)
    assert_written_once(kernel, list(ix.hlo.parse(text).entry.root.shape.leaves))


@pytest.mark.parametrize("row", [16, 32, 64])
def test_threads_of_several_rows_combine_neighbours_in_pairs(row: int) -> None:
    """In blocks with so many rows that vectors of pairs are full. A maximum keeps NaN, and knows 0 from -0."""
    kernel = emitted(minima(131, row))
    assert kernel.block[0] == 256 and "v0_pairs[128]" in kernel.source
    prove(check(minima(131, row), "reduction"))
    prove(check(sums(131, row), "reduction", tolerance=1e-4))
    numbers = np.array([0.0, -0.0, 1.0, np.nan], np.float32)
    given = np.random.default_rng(8).choice(numbers, (131, row), p=[0.5, 0.4, 0.09, 0.01])
    (got,) = launcher(kernel, [ix.hlo.parse(minima(131, row)).entry.root.shape])([given, np.float32(np.inf)])
    has_nan = np.isnan(given).any(1)
    np.testing.assert_array_equal(np.isnan(got), has_nan)
    np.testing.assert_array_equal(np.signbit(got[~has_nan]), np.signbit(given[~has_nan]).any(1))


@pytest.mark.parametrize("row", [2, 3])
def test_pairs_of_the_shortest_rows(row: int) -> None:
    prove(check(least_pairs(131, row), "reduction"))
    assert emitted(minima(131, row)).emitter == "loop"


def test_rows_of_several_runs() -> None:
    """The elements of a row are not neighbours in memory."""
    text = pairs(70, 12).replace("[70,12]", "[3,70,4]").replace("dimensions={1}", "dimensions={0,2}")
    assert "tile0" in emitted(text).source
    check(text, "reduction")


@pytest.mark.parametrize("kind", ["f64", "bf16", "s8", "c64", "s4"])
def test_types(kind: str) -> None:
    text = pairs(70, 12, kind)
    if kind == "c64":
        text = text.replace("compare(a, b), direction=LT", "compare(a, b), direction=NE")
    kernel = check(text, "reduction", tolerance=0.1 if kind == "bf16" else 1e-5)
    assert "tile0" in emitted(text).source
    prove(kernel)


def test_blocks_have_as_many_rows_as_shared_memory_has_elements_of() -> None:
    """64 rows of 128 pairs of f64 would take 128 KiB."""
    text = pairs(6400, 128, "f64")
    kernel = emitted(text)
    assert kernel.block[0] == 32
    assert kernel.shared_bytes == portable_device("c").limits.shared_bytes == 32 * 128 * 16
    check(text, "reduction")


@pytest.mark.parametrize(
    "knobs", [{"threads": 4}, {"threads": 2, "vector_width": 2}, {"vector_width": 4}, {"vector_width": 1}]
)
def test_knobs(knobs: dict[str, int]) -> None:
    """Rows that threads share are not staged; those that blocks share neither."""
    text = pairs(131, 12)
    kernel = emitted(text, **knobs)
    assert ("tile0" in kernel.source) == ("threads" not in knobs)
    prove(kernel)
    module = ix.hlo.parse(text)
    run = launcher(kernel, list(module.entry.root.shape.leaves))
    arrays = [
        np.random.default_rng(3).standard_normal(p.shape.dimensions).astype(np.float32) for p in module.entry.parameters
    ]
    for got, want in zip(run(arrays), ix.evaluate(module, *arrays), strict=True):  # type: ignore[arg-type]
        close(got, want, 1e-5)
    with pytest.raises(ix.IndexingError, match="split_k"):
        emitted(text, split_k=2)
