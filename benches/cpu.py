"""Programs on the processor: this package beside JAX's own back end, which is XLA, in one process.

    python benches/cpu.py [--only NAME ...] [--rounds N] [--markdown FILE]

Each function of JAX is compiled by both; calls take turns, so that both meet the same load, and the least time of each
counts. Results are compared. `first` is what our first call takes with nothing in the cache: to plan the program, to make its
kernels and to compile them; an asterisk marks what numpy computes in part, as no kernel can. With --markdown, the table goes
between the markers of that file.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np

import indexing as ix

MARKERS = ("<!-- made by make bench -->\n", "<!-- end -->\n")
TOLERANCE = 1e-4  # the error allowed, relative to the largest result
RNG = np.random.default_rng(12)
Case = tuple[str, Callable[..., object], tuple[np.ndarray, ...]]


def reals(*sizes: int) -> np.ndarray:
    return RNG.standard_normal(sizes).astype(np.float32)


def integers(high: int, *sizes: int) -> np.ndarray:
    return RNG.integers(0, high, sizes).astype(np.int32)


def attention(q: jax.Array, k: jax.Array, v: jax.Array) -> jax.Array:
    weights = jax.nn.softmax(jnp.einsum("hqd,hkd->hqk", q, k) / 8.0, axis=-1)
    return jnp.einsum("hqk,hkd->hqd", weights, v)


def root_mean_square_norm(x: jax.Array, weight: jax.Array) -> jax.Array:
    return x * jax.lax.rsqrt(jnp.mean(x * x, axis=-1, keepdims=True) + 1e-6) * weight


def convolution(x: jax.Array, weight: jax.Array) -> jax.Array:
    return jax.lax.conv_general_dilated(x, weight, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))


def moments(x: jax.Array) -> tuple[jax.Array, jax.Array]:
    return x.mean(axis=0), x.var(axis=0)


def embedding_gradient(table: jax.Array, index: jax.Array, rows: jax.Array) -> jax.Array:
    return table.at[index].add(rows)


def cross_entropy(logits: jax.Array, labels: jax.Array) -> jax.Array:
    return -jnp.take_along_axis(jax.nn.log_softmax(logits), labels[:, None], axis=1).mean()


def layer_norm(x: jax.Array, scale: jax.Array) -> jax.Array:
    centred = x - x.mean(axis=-1, keepdims=True)
    return centred * jax.lax.rsqrt((centred * centred).mean(axis=-1, keepdims=True) + 1e-5) * scale


def layer_norm_gradient(x: jax.Array, scale: jax.Array) -> tuple[jax.Array, ...]:
    return jax.grad(lambda *a: (layer_norm(*a) ** 2).sum(), argnums=(0, 1))(x, scale)


def rotary(x: jax.Array, angles: jax.Array) -> jax.Array:
    a, b = jnp.split(x, 2, axis=-1)
    cos, sin = jnp.cos(angles), jnp.sin(angles)
    return jnp.concatenate([a * cos - b * sin, b * cos + a * sin], axis=-1)


def line_convolution(x: jax.Array, weight: jax.Array) -> jax.Array:
    return jax.lax.conv_general_dilated(x, weight, (1,), "SAME", dimension_numbers=("NWC", "WIO", "NWC"))


def depthwise_convolution(x: jax.Array, weight: jax.Array) -> jax.Array:
    numbers = ("NHWC", "HWIO", "NHWC")
    return jax.lax.conv_general_dilated(
        x, weight, (1, 1), "SAME", dimension_numbers=numbers, feature_group_count=x.shape[-1]
    )


def average_pool(x: jax.Array) -> jax.Array:
    return jax.lax.reduce_window(x, 0.0, jax.lax.add, (1, 2, 2, 1), (1, 2, 2, 1), "VALID") / 4


def lstm(x: jax.Array, w: jax.Array, u: jax.Array) -> jax.Array:
    def cell(state: tuple[jax.Array, jax.Array], now: jax.Array) -> tuple[tuple[jax.Array, jax.Array], jax.Array]:
        h, c = state
        i, f, g, o = jnp.split(now @ w + h @ u, 4, axis=-1)
        c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
        h = jax.nn.sigmoid(o) * jnp.tanh(c)
        return (h, c), h

    zeros = jnp.zeros((x.shape[1], u.shape[0]), x.dtype)
    return jax.lax.scan(cell, (zeros, zeros), x)[1]


def recurrence(a: jax.Array, b: jax.Array) -> jax.Array:
    def step(h: jax.Array, row: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
        h = row[0] * h + row[1]
        return h, h

    return jax.lax.scan(step, jnp.zeros_like(a[0]), (a, b))[1]


def powers(a: jax.Array, x: jax.Array) -> jax.Array:
    return jax.lax.fori_loop(0, 1000, lambda _, y: jnp.tanh(a @ y), x)


def square_root(x: jax.Array) -> jax.Array:
    return jax.lax.while_loop(lambda y: jnp.max(jnp.abs(y * y - x)) > 1e-5, lambda y: (y + x / y) / 2, x + 1)


def runge_kutta(y: jax.Array) -> jax.Array:
    def slope(y: jax.Array) -> jax.Array:
        return jnp.stack([y[1], -jnp.sin(y[0])])

    def step(y: jax.Array, _: None) -> tuple[jax.Array, jax.Array]:
        k1 = slope(y)
        k2 = slope(y + 0.005 * k1)
        k3 = slope(y + 0.005 * k2)
        y = y + 0.01 / 6 * (k1 + 2 * k2 + 2 * k3 + slope(y + 0.01 * k3))
        return y, y

    return jax.lax.scan(step, y, length=1000)[1]


def steps_of_collatz(n: jax.Array) -> jax.Array:
    def body(state: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
        n, k = state
        return jax.lax.cond(n % 2 == 0, lambda n: n // 2, lambda n: 3 * n + 1, n), k + 1

    return jax.lax.while_loop(lambda state: state[0] != 1, body, (n, jnp.int32(0)))[1]


CASES: list[Case] = [
    ("sigmoid", jax.nn.sigmoid, (reals(768, 1024),)),
    ("swish * y", lambda x, y: x * jax.nn.sigmoid(x) * y, (reals(768, 1024), reals(768, 1024))),
    ("log softmax", lambda x: jax.nn.log_softmax(x, axis=-1), (reals(640, 1000),)),
    ("RMS norm", root_mean_square_norm, (reals(768, 768), reals(768))),
    ("cross entropy", cross_entropy, (reals(512, 1000), integers(1000, 512))),
    ("sum of rows", lambda x: x.sum(axis=1), (reals(1024, 1500),)),
    ("moments of columns", moments, (reals(1500, 768),)),
    ("argmax", lambda x: jnp.argmax(x, axis=-1), (reals(768, 1024),)),
    ("transpose", lambda x: x.T, (reals(1100, 900),)),
    ("x @ y", lambda x, y: x @ y, (reals(384, 320), reals(320, 448))),
    ("x @ y.T", lambda x, y: x @ y.T, (reals(256, 512), reals(384, 512))),
    ("matrix * vector", lambda x, y: x @ y, (reals(1536, 1024), reals(1024))),
    ("attention", attention, (reals(8, 128, 64), reals(8, 128, 64), reals(8, 128, 64))),
    ("convolution 3x3", convolution, (reals(2, 28, 28, 64), reals(3, 3, 64, 64))),
    ("rows of a table", lambda table, index: table[index], (reals(3000, 192), integers(3000, 4096))),
    ("gradient of a table", embedding_gradient, (reals(2000, 96), integers(2000, 3000), reals(3000, 96))),
    ("cumulative sum", lambda x: jnp.cumsum(x, axis=1), (reals(320, 768),)),
    ("sort of rows", lambda x: jnp.sort(x, axis=1), (reals(128, 1000),)),
    ("16 numbers", lambda x: x * 2 + 1, (reals(16),)),
    ("gelu", jax.nn.gelu, (reals(768, 1024),)),
    ("erf, log, power", lambda x: jax.scipy.special.erf(x) + jnp.log1p(x * x) ** 1.5, (reals(512, 1024),)),
    ("masked softmax", lambda x: jax.nn.softmax(x, where=x > -1, axis=-1), (reals(512, 1024),)),
    ("softmax of columns", lambda x: jax.nn.softmax(x, axis=0), (reals(1024, 512),)),
    ("softmax of 4 long rows", lambda x: jax.nn.softmax(x, axis=-1), (reals(4, 50_000),)),
    ("softmax of one row", lambda x: jax.nn.softmax(x), (reals(1 << 22),)),
    ("sum of 3 long rows", lambda x: x.sum(axis=1), (reals(3, 1 << 20),)),
    ("log sum exp", lambda x: jax.nn.logsumexp(x, axis=-1), (reals(768, 1024),)),
    ("layer norm", layer_norm, (reals(512, 1024), reals(1024))),
    ("gradient of layer norm", layer_norm_gradient, (reals(512, 768), reals(768))),
    ("rotary embedding", rotary, (reals(4, 256, 16, 64), reals(256, 1, 32))),
    ("sum of all", lambda x: x.sum(), (reals(1 << 20),)),
    ("maximum of columns", lambda x: x.max(axis=0), (reals(2000, 700),)),
    ("norm of rows", lambda x: jnp.linalg.norm(x, axis=1), (reals(1024, 1000),)),
    ("standard deviation", lambda x: x.std(axis=(0, 2)), (reals(64, 96, 128),)),
    ("any and all", lambda x: (jnp.any(x > 4, axis=1), jnp.all(x > -4, axis=0)), (reals(1000, 1000),)),
    ("one-hot", lambda i: jax.nn.one_hot(i, 512), (integers(512, 2048),)),
    ("einsum bij,bjk->bki", lambda x, y: jnp.einsum("bij,bjk->bki", x, y), (reals(16, 64, 96), reals(16, 96, 80))),
    (
        "einsum of three",
        lambda x, y, z: jnp.einsum("ij,jk,kl->il", x, y, z),
        (reals(128, 96), reals(96, 160), reals(160, 64)),
    ),
    ("outer product", lambda x, y: jnp.outer(x, y), (reals(1000), reals(900))),
    ("x.T @ y", lambda x, y: x.T @ y, (reals(512, 256), reals(512, 320))),
    ("two layers", lambda x, v, w: jax.nn.relu(x @ v) @ w, (reals(128, 256), reals(256, 512), reals(512, 64))),
    ("convolution 1-d", line_convolution, (reals(8, 512, 32), reals(5, 32, 64))),
    ("convolution by channel", depthwise_convolution, (reals(4, 56, 56, 64), reals(3, 3, 1, 64))),
    ("average pool", average_pool, (reals(8, 64, 64, 48),)),
    (
        "max pool",
        lambda x: jax.lax.reduce_window(x, -jnp.inf, jax.lax.max, (1, 3, 3, 1), (1, 2, 2, 1), "SAME"),
        (reals(8, 56, 56, 32),),
    ),
    ("cumulative maximum", lambda x: jax.lax.cummax(x, axis=1), (reals(320, 768),)),
    ("cumulative product of columns", lambda x: jnp.cumprod(x, axis=0), (reals(512, 512),)),
    ("add to rows", lambda x, i, y: x.at[i].add(y), (reals(1000, 128), integers(1000, 4000), reals(4000, 128))),
    ("histogram", lambda i: jnp.zeros(256, jnp.int32).at[i].add(1), (integers(256, 100_000),)),
    (
        "update of a block",
        lambda x, y: jax.lax.dynamic_update_slice(x, y, (100, 200)),
        (reals(1000, 1000), reals(300, 400)),
    ),
    ("padding", lambda x: jnp.pad(x, ((3, 5), (7, 1)), mode="edge"), (reals(1000, 800),)),
    ("roll and flip", lambda x: jnp.roll(x, (3, 5), (0, 1)) + x[::-1, ::-1], (reals(1000, 900),)),
    ("transpose 0213", lambda x: x.transpose(0, 2, 1, 3), (reals(8, 128, 16, 64),)),
    ("sum of bfloat16", lambda x: x.astype(jnp.float32).sum(axis=1), (reals(1024, 1024).astype(jnp.bfloat16),)),
    ("triangle", lambda x: jnp.tril(x) @ jnp.ones(x.shape[1]), (reals(700, 700),)),
    ("top 8 of rows", lambda x: jax.lax.top_k(x, 8), (reals(64, 1000),)),
    ("quantile by sorting", lambda x: jnp.sort(x)[x.size // 2], (reals(50_000),)),
    ("Fourier transform", lambda x: jnp.abs(jnp.fft.rfft(x)), (reals(64, 1024),)),
    (
        "random bits",
        lambda key: jax.random.bits(jax.random.wrap_key_data(key), (512, 512)),
        (np.array([1, 2], np.uint32),),
    ),
    (
        "random normal",
        lambda key: jax.random.normal(jax.random.wrap_key_data(key), (512, 512)),
        (np.array([1, 2], np.uint32),),
    ),
    ("scan of an LSTM, 100 steps", lstm, (reals(100, 16, 64) / 8, reals(64, 256) / 8, reals(64, 256) / 8)),
    ("recurrence, 10 steps", recurrence, (reals(10, 64) / 4, reals(10, 64))),
    ("recurrence, 1,000 steps", recurrence, (reals(1000, 64) / 4, reals(1000, 64))),
    ("recurrence, 100,000 steps", recurrence, (reals(100_000, 8) / 4, reals(100_000, 8))),
    ("1,000 products of 16 x 16", powers, (reals(16, 16) / 4, reals(16, 16))),
    ("while, until it converges", square_root, (np.abs(reals(1000)) + 1,)),
    ("Runge-Kutta, 1,000 steps", runge_kutta, (reals(2),)),
    ("while with a branch", steps_of_collatz, (np.int32(97),)),
]


def seconds(call: Callable[[], object]) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def measure(function: Callable[..., object], arguments: tuple[np.ndarray, ...], rounds: int) -> tuple[float, ...]:
    """Kernels, steps that numpy computes, and seconds: of our first call, of ours, of XLA's.

    AssertionError where results differ.
    """
    jitted = jax.jit(function)
    on_device = [jax.device_put(a) for a in arguments]
    want = jax.tree.leaves(jax.block_until_ready(jitted(*on_device)))
    module = ix.from_jax(function, *arguments)
    start = time.perf_counter()
    executable = ix.compile(module, device="cpu")
    got = executable(*arguments)
    first = time.perf_counter() - start
    for ours, theirs in zip(got if isinstance(got, tuple) else (got,), want, strict=True):
        apart = np.abs(np.asarray(ours, np.float64) - np.asarray(theirs, np.float64)).max()
        assert apart <= TOLERANCE * max(np.abs(theirs).max(), 1), f"results are {apart} apart"
    times = [
        (seconds(lambda: executable(*arguments)), seconds(lambda: jax.block_until_ready(jitted(*on_device))))
        for _ in range(rounds)
    ]
    return (len(executable.kernels), len(executable.reference_steps), first, *map(min, zip(*times, strict=True)))


def table(cases: list[Case], rounds: int) -> str:
    lines = ["| program | kernels | first, s | ours, ms | XLA, ms | ours / XLA |", "|---|---:|---:|---:|---:|---:|"]
    ratios = []
    for name, function, arguments in cases:
        kernels, by_numpy, first, ours, theirs = measure(function, arguments, rounds)
        ratios.append(ours / theirs)
        name += " *" if by_numpy else ""
        lines.append(
            f"| {name} | {kernels:.0f} | {first:.2f} | {ours * 1e3:.3f} | {theirs * 1e3:.3f} | {ratios[-1]:.2f} |"
        )
        print(lines[-1], flush=True)
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    last = f"Median {statistics.median(ratios):.2f}, worst {max(ratios):.2f}, on {cores} cores; JAX {jax.__version__}."
    print(last)
    return "\n".join([*lines, "", last]) + "\n"


def main() -> None:
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("--only", nargs="*", help="programs whose name has one of these in it")
    args.add_argument("--rounds", type=int, default=30)
    args.add_argument("--markdown", type=Path)
    a = args.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        os.environ["INDEXING_CACHE_DIR"] = folder
        text = table([c for c in CASES if not a.only or any(word in c[0] for word in a.only)], a.rounds)
    if a.markdown:
        head, marker, rest = a.markdown.read_text().partition(MARKERS[0])
        assert marker, f"{a.markdown} has no line {MARKERS[0]!r}"
        a.markdown.write_text(head + MARKERS[0] + text + MARKERS[1] + rest.partition(MARKERS[1])[2])


if __name__ == "__main__":
    main()
