"""Argmax and argmin as JAX writes them, of rows with several NaNs and ties: the first one, whichever thread reads it."""

import numpy as np
import pytest

import indexing as ix
from kernels import as_fusion, compiled, device_of_tests, launcher


def program(sizes: str, dimension: int, direction: str, kind: str = "f32", index: str = "s32") -> str:
    start = "-inf" if direction == "GT" else "inf"
    kept = ",".join(s for k, s in enumerate(sizes.split(",")) if k != dimension)
    return f"""arg {{
  v = {kind}[] parameter(0)
  i = {index}[] parameter(1)
  w = {kind}[] parameter(2)
  j = {index}[] parameter(3)
  better = pred[] compare(v, w), direction={direction}
  nan = pred[] compare(v, v), direction=NE
  chosen = pred[] or(better, nan)
  a = {kind}[] select(chosen, v, w)
  eq = pred[] compare(v, w), direction=EQ
  lt = pred[] compare(i, j), direction=LT
  tie = pred[] and(eq, lt)
  first = pred[] or(chosen, tie)
  b = {index}[] select(first, i, j)
  ROOT t = ({kind}[], {index}[]) tuple(a, b)
}}
ENTRY e {{
  x = {kind}[{sizes}] parameter(0)
  i = {index}[{sizes}] iota(), iota_dimension={dimension}
  low = {kind}[] constant({start})
  zero = {index}[] constant(0)
  ROOT r = ({kind}[{kept}], {index}[{kept}]) reduce(x, i, low, zero), dimensions={{{dimension}}}, to_apply=arg
}}"""


def with_nans(shape: tuple[int, ...], seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    values = rng.integers(-3, 4, shape).astype(np.float32)
    values[rng.random(shape) < rng.choice([0.02, 0.5])] = np.nan
    return values


@pytest.mark.parametrize("direction", ["GT", "LT"])
@pytest.mark.parametrize("shape", [(33,), (4, 40), (7, 100), (3, 1000), (131, 5), (70, 64), (65, 128)])
@pytest.mark.parametrize("is_last", [True, False])
def test_the_first_of_several(direction: str, shape: tuple[int, ...], is_last: bool) -> None:
    sizes = shape if is_last else shape[::-1]
    dimension = len(shape) - 1 if is_last else 0
    run = compiled(program(",".join(map(str, sizes)), dimension, direction))
    for seed in range(4):
        x = with_nans(sizes, seed)
        best = (np.argmax if direction == "GT" else np.argmin)(
            x, dimension
        )  # numpy's is the first NaN, if there is one
        value, index = run(x)
        np.testing.assert_array_equal(index, best)
        np.testing.assert_array_equal(
            value, np.take_along_axis(x, np.expand_dims(best, dimension), dimension).squeeze(dimension)
        )


def test_indices_are_not_kept_in_memory() -> None:
    """Short rows of CPUs are reduced from memory: their elements, not what is known without reading any."""
    source = ix.emit(as_fusion(program("640,10", 1, "GT")), dialect="c").source
    assert "tile0" in source
    assert "tile1" not in source


@pytest.mark.parametrize(("sizes", "dimension"), [("2,5000", 1), ("5000,8", 0)])
@pytest.mark.parametrize("knobs", [{"split_k": 1}, {"split_k": 4}, {"split_k": 2, "vector_width": 2}])
def test_blocks_that_share_a_row(sizes: str, dimension: int, knobs: dict[str, int]) -> None:
    text = program(sizes, dimension, "GT", index="s64")
    module = ix.hlo.parse(text)
    kernel = ix.emit(as_fusion(text), dialect=device_of_tests().dialect, **knobs)
    run = launcher(kernel, list(module.entry.root.shape.leaves))
    for seed in range(4):
        x = with_nans(module.entry.parameters[0].shape.dimensions, seed)
        np.testing.assert_array_equal(run([x])[1], np.argmax(x, dimension))
