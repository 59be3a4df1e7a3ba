"""Programs on the processor: this package beside JAX's own back end, which is XLA, in one process.

    python benches/cpu.py [--only NAME ...] [--rounds N] [--markdown FILE]

Each function of JAX is compiled by both; calls take turns, so that both meet the same load, and the least time of each
counts. Results are compared. `first` is what our first call takes with nothing in the cache: to plan the program, to make its
kernels and to compile them. With --markdown, the table goes between the markers of that file.
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
TOLERANCE = 1e-4  # of the largest result
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
]


def seconds(call: Callable[[], object]) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def measure(function: Callable[..., object], arguments: tuple[np.ndarray, ...], rounds: int) -> tuple[float, ...]:
    """Kernels, and seconds: of our first call, of ours, of XLA's. AssertionError where results differ."""
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
    return (len(executable.kernels), first, *map(min, zip(*times, strict=True)))


def table(cases: list[Case], rounds: int) -> str:
    lines = ["| program | kernels | first, s | ours, ms | XLA, ms | ours / XLA |", "|---|---:|---:|---:|---:|---:|"]
    ratios = []
    for name, function, arguments in cases:
        kernels, first, ours, theirs = measure(function, arguments, rounds)
        ratios.append(ours / theirs)
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
        head, found, rest = a.markdown.read_text().partition(MARKERS[0])
        assert found, f"{a.markdown} has no line {MARKERS[0]!r}"
        a.markdown.write_text(head + MARKERS[0] + text + MARKERS[1] + rest.partition(MARKERS[1])[2])


if __name__ == "__main__":
    main()
