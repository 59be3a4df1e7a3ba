"""Fusion planning of updates in memory: those of one form are one kernel, of different arrays or one after another."""

from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import indexing as ix
from kernels import as_list, compiled

ROWS, ELEMENTS, POINTS = 6, 12, 5
Program = Callable[[jax.Array, jax.Array, jax.Array], tuple[jax.Array, ...]]


def arguments(seed: int) -> tuple[np.ndarray, ...]:
    """An array, indices of which some lie outside of it and some are equal, and updates."""
    rng = np.random.default_rng(seed)
    x, u = rng.standard_normal((ROWS, ELEMENTS)), rng.standard_normal(POINTS)
    return x.astype(np.float32), rng.integers(-2, ELEMENTS + 2, POINTS).astype(np.int32), u.astype(np.float32)


def emitters(program: Program) -> list[str]:
    """The emitters of the program's kernels; its results are those of JAX."""
    executable = compiled(ix.from_jax(program, *arguments(0)), "cpu")
    for seed in range(3):
        pairs = zip(as_list(executable(*arguments(seed))), program(*arguments(seed)), strict=True)
        for got, want in pairs:
            np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-5)
    return sorted(k.emitter for k in executable.kernels)


def different_arrays(x: jax.Array, i: jax.Array, u: jax.Array) -> tuple[jax.Array, ...]:
    return jnp.zeros(20).at[i].add(u), jnp.ones(30).at[i].max(jnp.exp(u))


def loops_of_their_own(x: jax.Array, i: jax.Array, u: jax.Array) -> tuple[jax.Array, ...]:
    return jnp.sin(x[0]).at[i[0]].add(x[1].sum()), jnp.cos(x[0]).at[i[1]].multiply(x[2].max())


def one_after_another(x: jax.Array, i: jax.Array, u: jax.Array) -> tuple[jax.Array, ...]:
    y = jnp.sin(x[0])
    for k in range(POINTS):
        y = y.at[i[k]].set(u[k] * k)
    return (y,)


def read_between(x: jax.Array, i: jax.Array, u: jax.Array) -> tuple[jax.Array, ...]:
    y = jnp.sin(x[0]).at[3].set(u[0])
    return (y.at[i[0]].set(y[3] + 1),)


def dependent(x: jax.Array, i: jax.Array, u: jax.Array) -> tuple[jax.Array, ...]:
    y = jnp.sin(x[0]).at[i].add(u)
    return y, jnp.cos(x[1]).at[i].add(y[:POINTS])


def many_threads(x: jax.Array, i: jax.Array, u: jax.Array) -> tuple[jax.Array, ...]:
    return (jnp.sin(x[0]).at[i].add(u).at[i[::-1]].max(u),)


def two_of_three(x: jax.Array, i: jax.Array, u: jax.Array) -> tuple[jax.Array, ...]:
    y = jnp.zeros(20).at[i].add(u)
    return y, jnp.ones(20).at[i].max(y[:POINTS]), jnp.ones(30).at[i].max(u)


def whole_array_read(x: jax.Array, i: jax.Array, u: jax.Array) -> tuple[jax.Array, ...]:
    y, at = jnp.sin(u), i * 2
    return y.at[i].add(u), jnp.zeros(30).at[at].add(y)


def whole_array_read_as_a_view(x: jax.Array, i: jax.Array, u: jax.Array) -> tuple[jax.Array, ...]:
    y, at = jnp.sin(u).reshape(1, POINTS), i * 2
    return y.at[0, i].add(u), jnp.zeros(30).at[at].add(y.reshape(POINTS))


def same_array(x: jax.Array, i: jax.Array, u: jax.Array) -> tuple[jax.Array, ...]:
    y = jnp.sin(u)
    return y.at[i].add(u), y.at[i].max(u)


def returned_between(x: jax.Array, i: jax.Array, u: jax.Array) -> tuple[jax.Array, ...]:
    y = jnp.sin(u).at[i[0]].add(u[1])
    return y, y.at[i[1]].add(u[2])


def updated_by_itself(x: jax.Array, i: jax.Array, u: jax.Array) -> tuple[jax.Array, ...]:
    y = jnp.sin(u[:1]).at[i[:1] * 0].add(u[1:2])
    return (y.at[i[:1] * 0].multiply(y),)


PROGRAMS: dict[Program, list[str]] = {
    different_arrays: ["loop", "loop", "scatter"],
    loops_of_their_own: ["loop", "scatter"],
    one_after_another: ["loop", "scatter"],
    read_between: ["loop", "loop", "scatter", "scatter"],
    dependent: ["loop", "scatter", "scatter"],
    many_threads: ["loop", "scatter", "scatter"],
    two_of_three: ["loop", "loop", "loop", "scatter", "scatter"],
    whole_array_read: ["loop", "loop", "scatter", "scatter"],
    whole_array_read_as_a_view: ["loop", "loop", "scatter"],
    same_array: ["loop", "scatter", "scatter"],
    returned_between: ["loop", "scatter", "scatter"],
    updated_by_itself: ["loop", "loop", "scatter"],
}


@pytest.mark.parametrize(("program", "wanted"), PROGRAMS.items(), ids=lambda p: getattr(p, "__name__", ""))
def test_kernels(program: Program, wanted: list[str]) -> None:
    assert emitters(program) == wanted


@pytest.mark.parametrize("seed", range(24))
def test_random_updates(seed: int) -> None:
    """Updates of several rows, of single elements, of points and of slices, in any order, some of which read others."""
    chosen = np.random.default_rng(seed).integers(0, 1 << 20, 8)

    def program(x: jax.Array, i: jax.Array, u: jax.Array) -> tuple[jax.Array, ...]:
        rows = [jnp.sin(x[r]) for r in range(3)]
        for k, number in enumerate(chosen):
            r, other, value = number % 3, number // 3 % 3, u * (k + 1)
            value = value + rows[other][:POINTS] if number // 9 % 4 == 0 else value
            at = rows[r].at[i[k % POINTS]] if number // 36 % 2 else rows[r].at[i]
            value = value[k % POINTS] if number // 36 % 2 else value
            rows[r] = [at.add, at.max, at.multiply][number // 72 % 3](value)
            if number // 216 % 4 == 0:
                rows[r] = jax.lax.dynamic_update_slice(rows[r], value.reshape(-1), (i[0],))
        return tuple(rows)

    assert set(emitters(program)) <= {"loop", "scatter", "dynamic-update-slice", "concatenate"}


def test_updates_that_would_be_faster_apart_stay_together() -> None:
    """A kernel of several scatters is not taken apart again by the loops of their elements."""
    x = np.arange(30, dtype=np.int32) * 7 % 11
    executable = compiled(
        ix.from_jax(lambda x: jnp.unique(x, size=4, return_inverse=True, return_counts=True), x), "cpu"
    )
    for got, want in zip(as_list(executable(x)), np.unique(x, return_inverse=True, return_counts=True), strict=True):
        np.testing.assert_array_equal(got, want[: len(got)])
