"""Blocks of CPUs hold whole rows, so that loops over threads are not cut short; those of GPUs do not depend on rows."""

import jax.numpy as jnp
import numpy as np
import pytest

import indexing as ix
from indexing.device.table import CPU, DEFAULT
from indexing.kernels.linear import block_of_rows
from kernels import compiled


@pytest.mark.parametrize(
    ("sizes", "threads"),
    [
        ((24, 23, 24), 552),  # whole planes
        ((32, 24, 24), 576),
        ((4096, 24), 384),  # rows that divide those of the array
        ((200, 206), 412),
        ((7, 400), 400),
        ((4096, 3), 384),
        ((64, 100, 5), 500),
        ((4001, 3), 120),  # no number of rows divides theirs: whole vectors
        ((7, 12), 128),  # rows of about a vector, long ones, and those that blocks of a power of two do not cut
        ((7, 700), 128),
        ((7, 32), 128),
        ((7, 256), 128),
        ((), 128),
        ((0, 24), 128),
        ((24, 0), 128),
    ],
)
def test_blocks_of_a_cpu(sizes: tuple[int, ...], threads: int) -> None:
    assert block_of_rows(sizes, CPU) == threads
    assert block_of_rows(sizes, DEFAULT) == 128


def test_rolls_of_odd_sizes_are_computed() -> None:
    x = np.random.default_rng(0).standard_normal((6, 23, 24)).astype(np.float32)

    def difference(x):
        return jnp.roll(x, -1, 1) - 2 * x + jnp.roll(x, 1, 2)

    run = compiled(ix.from_jax(difference, x), device="cpu")
    assert {k.launch_grid[0] for k in run.kernels} <= {6}
    np.testing.assert_array_equal(run(x), np.roll(x, -1, 1) - 2 * x + np.roll(x, 1, 2))
