"""Few long rows: kernels whose blocks share rows, each element read once for all reductions of a pass, once to be written."""

from collections.abc import Callable
from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import indexing as ix
from indexing.device.detect import find_device
from indexing.device.table import portable_device
from indexing.planning.program import planned_kernels
from kernels import DEVICE, compiled
from opencl_runtime import device as opencl_device
from row_programs import softmax as softmax_text

ROWS, LENGTH = 5, 70_001
Function = Callable[..., object]


def softmax(x: jax.Array) -> jax.Array:
    return jax.nn.softmax(x, -1)


def log_softmax(x: jax.Array) -> jax.Array:
    return jax.nn.log_softmax(x, -1)


def log_sum_exp(x: jax.Array) -> jax.Array:
    return jax.nn.logsumexp(x, -1)


def masked_softmax(x: jax.Array, mask: jax.Array) -> jax.Array:
    return jax.nn.softmax(jnp.where(mask > 0, x, -jnp.inf), -1)


def layernorm(x: jax.Array, g: jax.Array, b: jax.Array) -> jax.Array:
    centred = x - x.mean(-1, keepdims=True)
    return centred * jax.lax.rsqrt((centred**2).mean(-1, keepdims=True) + 1e-5) * g + b


def variance(x: jax.Array) -> jax.Array:
    return x.var(-1)


def cross_entropy(x: jax.Array, labels: jax.Array) -> jax.Array:
    return -(jax.nn.log_softmax(x, -1) * labels).sum(-1)


def softmax_gradient(x: jax.Array, ct: jax.Array) -> jax.Array:
    return jax.vjp(softmax, x)[1](ct)[0]


def softmax_of_tanh_beside(x: jax.Array) -> tuple[jax.Array, jax.Array]:
    """What takes long and no reduction precedes is written once."""
    t = jnp.tanh(x)
    return jax.nn.softmax(t, -1), t[:, ::-1]


def softmax_with_its_exponentials(x: jax.Array) -> tuple[jax.Array, jax.Array]:
    """What the program returns is written."""
    e = jnp.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True), e


def softmax_of_three(x: jax.Array, y: jax.Array, z: jax.Array) -> jax.Array:
    return jax.nn.softmax(x * y + z, -1)


def softmax_after_a_norm(x: jax.Array) -> jax.Array:
    """The sum of exponentials is one pass with the maximum, behind that of the moments."""
    return jax.nn.softmax((x - x.mean(-1, keepdims=True)) / x.std(-1, keepdims=True), -1)


def unusual(sizes: tuple[int, ...], seed: int) -> np.ndarray:
    """Rows of NaN and of infinite numbers after usual ones."""
    x = np.random.default_rng(seed).standard_normal(sizes).astype(np.float32)
    if sizes[0] == ROWS:
        for row, value in ((2, np.nan), (3, np.inf), (4, -np.inf)):
            x[row, seed * 1000] = value
    return x


@pytest.mark.parametrize(
    ("function", "inputs", "emitters"),
    [
        (softmax, 1, ["loop", "rows"]),
        (log_softmax, 1, ["loop", "rows"]),
        (log_sum_exp, 1, ["rows"]),
        (masked_softmax, 2, ["loop", "rows"]),
        (layernorm, 0, ["loop", "rows"]),
        (variance, 1, ["rows"]),
        (cross_entropy, 2, ["reduction", "rows"]),
        (softmax_gradient, 2, ["loop", "reduction", "rows"]),
        (softmax_of_tanh_beside, 1, ["loop", "loop", "loop", "rows"]),
        (softmax_with_its_exponentials, 1, None),
        (softmax_of_three, 3, None),
        (softmax_after_a_norm, 1, None),
    ],
)
def test_kernels_and_their_results(function: Function, inputs: int, emitters: list[str] | None) -> None:
    sizes = [(ROWS, LENGTH)] * inputs or [(ROWS, LENGTH), (LENGTH,), (LENGTH,)]
    module = ix.from_jax(function, *(np.zeros(s, np.float32) for s in sizes))
    if emitters is not None:
        kernels = planned_kernels(module, portable_device("cuda"))
        assert sorted(k.kernel.emitter for k in kernels) == emitters
        assert all(k.kernel.grid[0] >= 32 for k in kernels), "blocks share the rows"
    executable = compiled(module, opencl_device() if DEVICE == "cpu" else DEVICE)
    assert not any(kernel.verify().open for kernel in executable.kernels)
    for seed in (1, 2):
        arrays = [unusual(s, seed) for s in sizes]
        want, got = jax.tree.leaves(function(*arrays)), jax.tree.leaves(executable(*arrays))
        for g, w in zip(got, want, strict=True):
            np.testing.assert_allclose(g, w, rtol=2e-4, atol=1e-6)


def test_a_constant_of_another_type_is_converted_by_its_readers() -> None:
    """With 64-bit types JAX states Python's numbers in f64, and converts them: -inf of a mask, two kernels all the same."""
    with jax.enable_x64(True):
        module = ix.from_jax(masked_softmax, *(np.zeros((ROWS, LENGTH), np.float32) for _ in range(2)))
    assert "convert(" in str(module)
    kernels = planned_kernels(module, portable_device("cuda"))
    assert sorted(k.kernel.emitter for k in kernels) == ["loop", "rows"]


def test_columns_and_fusions() -> None:
    """Rows that are columns of memory; a fusion of XLA's that is one whole softmax."""
    x = np.zeros((200_000, 4), np.float32)
    kernels = planned_kernels(ix.from_jax(lambda x: jax.nn.softmax(x, 0), x), portable_device("cuda"))
    assert sorted(k.kernel.emitter for k in kernels) == ["loop", "rows"]
    text = (
        softmax_text(4, 100_000).replace("ENTRY fused", "fused")
        + """
    ENTRY main {
      x = f32[4,100000] parameter(0)
      ROOT r = f32[4,100000] fusion(x), kind=kCustom, calls=fused
    }"""
    )
    kernels = planned_kernels(ix.hlo.parse(text), portable_device("opencl"))
    assert sorted(k.kernel.emitter for k in kernels) == ["loop", "rows"]


def test_more_rows_stay_one_kernel() -> None:
    for rows, length in ((64, LENGTH), (4, 1 << 15)):
        kernels = planned_kernels(ix.from_jax(softmax, np.zeros((rows, length), np.float32)), portable_device("cuda"))
        assert [k.kernel.emitter for k in kernels] == ["rows"]


def test_processors_read_rows_again() -> None:
    """A row that is read again is near; exponentials that are computed again take longer than that."""
    kernels = planned_kernels(ix.from_jax(softmax, np.zeros((ROWS, LENGTH), np.float32)), portable_device("c"))
    assert "rows" not in {k.kernel.emitter for k in kernels}


@pytest.mark.parametrize("name", ["T4", "L4", "V100", "H100", "B200"])
@pytest.mark.parametrize("rows", [1, 16, 48, 64])
@pytest.mark.parametrize("length", [1024, 16_384, 262_144])
def test_rows_are_shared_where_that_is_predicted_to_be_faster(name: str, rows: int, length: int) -> None:
    """As a device of one core, which is never idle, and one of very many would have it, the prediction is for this one."""
    device = find_device(name)
    module = ix.hlo.parse(softmax_text(rows, length))

    def seconds(cores: int) -> float:
        planned = planned_kernels(module, replace(device, cores=replace(device.cores, count=cores)))
        return sum(float(ix.predict(p.computation, {}, device).time[0]) for p in planned)

    assert seconds(device.cores.count) <= 1.2 * min(seconds(1), seconds(100_000))
