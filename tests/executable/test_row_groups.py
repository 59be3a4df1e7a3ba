"""Fusion planning of rows: what unfused programs compute around reductions of shared rows is one kernel."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import indexing as ix
from kernels import compiled


def softmax(x: jax.Array) -> jax.Array:
    return jax.nn.softmax(x, -1)


def log_softmax(x: jax.Array) -> jax.Array:
    return jax.nn.log_softmax(x, 1)


def layernorm(x: jax.Array) -> jax.Array:
    centred = x - x.mean(-1, keepdims=True)
    return centred * jax.lax.rsqrt((centred**2).mean(-1, keepdims=True) + 1e-5) * 0.5


def deviation(x: jax.Array) -> jax.Array:
    return ((x - x.mean(-1, keepdims=True)) ** 2).sum(-1)


def group_norm(x: jax.Array) -> jax.Array:
    groups = x.reshape(*x.shape[:-1], 4, -1)
    mean = groups.mean((1, 3), keepdims=True)
    scale = jax.lax.rsqrt(groups.var((1, 3), keepdims=True) + 1e-5)
    return ((groups - mean) * scale).reshape(x.shape)


@pytest.mark.parametrize(
    ("function", "sizes"),
    [
        *[(softmax, (70, 33)), (softmax, (3, 5, 40)), (log_softmax, (6, 50)), (log_softmax, (6, 50, 7))],
        *[(layernorm, (9, 64)), (deviation, (20, 130)), (group_norm, (3, 10, 24)), (jax.nn.standardize, (8, 100))],
    ],
)
def test_one_kernel(function: object, sizes: tuple[int, ...]) -> None:
    x = np.random.default_rng(0).standard_normal(sizes).astype(np.float32)
    executable = compiled(ix.from_jax(function, x), tolerance=1e-3)
    np.testing.assert_allclose(executable(x), function(x), rtol=1e-4, atol=1e-5)
    assert [k.emitter for k in executable.kernels] == ["rows"]


def test_several_groups_and_what_is_between() -> None:
    """An attention: a product, a softmax, a product, a norm of the sum with its input, whose deviation is an output too."""

    def block(x: jax.Array) -> tuple[jax.Array, jax.Array]:
        y = jax.nn.softmax(x @ x.T, -1) @ x + x
        deviation = y.std(-1, keepdims=True)
        return (y - y.mean(-1, keepdims=True)) / deviation, deviation

    x = np.random.default_rng(0).standard_normal((40, 16)).astype(np.float32)
    executable = compiled(ix.from_jax(block, x), tolerance=1e-2)
    for got, want in zip(executable(x), block(x), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-3, atol=1e-4)
    assert [k.emitter for k in executable.kernels].count("rows") >= 2


def test_what_other_kernels_read_is_computed_once() -> None:
    """The exponentials are an output as well: they are read again, not computed again."""

    def both(x: jax.Array) -> tuple[jax.Array, jax.Array]:
        e = jnp.exp(x - x.max(-1, keepdims=True))
        return e, e / e.sum(-1, keepdims=True)

    x = np.random.default_rng(0).standard_normal((66, 90)).astype(np.float32)
    executable = compiled(ix.from_jax(both, x))
    for got, want in zip(executable(x), both(x), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-5)
    assert sum("exp_f32(" in k.source.split("_blocks(")[1] for k in executable.kernels) == 1


def test_what_a_loop_outside_reads_is_in_memory() -> None:
    def both(x: jax.Array, w: jax.Array) -> tuple[jax.Array, jax.Array]:
        e = jnp.exp(x - x.max(-1, keepdims=True))
        return e @ w, e / e.sum(-1, keepdims=True)

    rng = np.random.default_rng(0)
    x, w = (rng.standard_normal(sizes).astype(np.float32) for sizes in ((66, 90), (90, 20)))
    executable = compiled(ix.from_jax(both, x, w), tolerance=1e-2)
    for got, want in zip(executable(x, w), both(x, w), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-3, atol=1e-4)
    assert sum("exp_f32(" in k.source.split("_blocks(")[1] for k in executable.kernels) == 1


def test_few_long_rows_stay_apart() -> None:
    x = np.zeros((2, 1 << 17), np.float32)
    assert len(compiled(ix.from_jax(softmax, x)).kernels) > 1
