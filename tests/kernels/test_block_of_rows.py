"""Blocks of CPUs hold whole rows, so that loops over threads are not cut short; those of GPUs do not depend on rows."""

import jax.numpy as jnp
import numpy as np
import pytest

import indexing as ix
from indexing.device.table import CPU, DEFAULT
from indexing.kernels.linear import block_of_rows
from indexing.kernels.targets import TARGETS
from indexing.kernels.targets.c_family import write_parts
from ir_reader import read_kernel
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
        ((4001, 13), 104),
        ((7, 12), 84),
        ((7, 1), 128),  # no rows, long ones, and those that blocks of a power of two do not cut
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


KERNEL = """kernel k emitter loop grid (8, 1, 1) block (1, 1, 1)
buffer p0: f32[3072] global input 0
buffer o0: f32[3072] global output 0
entry
  index th_y in [0, 0] thread
  index th_z in [0, 0] thread
  index bl_x in [0, 7] thread
  index bl_y in [0, 0] thread
  index bl_z in [0, 0] thread
  for row in [0, 127] = 0 to 128 step 1
    for th_x in [0, 383] = {start} to {start} + 3 step 1
      store o0[th_x + bl_x * 384] = load.f32 p0[th_x + bl_x * 384]
"""


@pytest.mark.parametrize(("start", "is_independent"), [("row * 3", True), ("row * 2", False), ("bl_x * 3", False)])
def test_only_rows_of_other_threads_are_said_to_be_independent(start: str, is_independent: bool) -> None:
    source = str(write_parts(read_kernel(KERNEL.format(start=start)), TARGETS["c"]))
    assert "for (s32 th_x_in_row = 0; th_x_in_row < 3; th_x_in_row++) {" in source
    assert ("#pragma GCC ivdep" in source) == is_independent


@pytest.mark.parametrize("rows", [4096, 4001])
@pytest.mark.parametrize("length", [2, 3, 5, 6, 7])
def test_short_rows_are_written_out(rows: int, length: int) -> None:
    rng = np.random.default_rng(length)
    x, scale = (rng.standard_normal(sizes).astype(np.float32) for sizes in ((rows, length), (rows,)))
    run = compiled(ix.from_jax(lambda x, scale: x * scale[:, None], x, scale), device="cpu")
    np.testing.assert_array_equal(run(x, scale), x * scale[:, None])
    assert f"th_x_in_row < {length};" in run.kernels[0].source
