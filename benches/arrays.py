"""Maps over arrays beside the same in numpy, in turns in one process: `make bench`.

    python benches/arrays.py [--rounds N]

Prints the least time of both over all rounds, by size of the arrays, and the ratio. Results are compared first.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

import indexing as ix

SIZES = (1 << 12, 1 << 16, 1 << 20)
BOX = "d0 in [10, 599], d1 in [20, 499]"
Arrays = Sequence[Any]
RESULTS: dict[str, Callable[[Any, Any], Arrays]] = {
    "min(d0, d1)": lambda x, y: [np.minimum(x, y)],
    "d0 + d1": lambda x, y: [x + y],
    "d0 * 16 + d1": lambda x, y: [x * 16 + y],
    "d0 * d1": lambda x, y: [x * y],
    "min(max(d0 - 3, 0), 500)": lambda x, y: [np.minimum(np.maximum(x - 3, 0), 500)],
    "d0 floordiv 7": lambda x, y: [x // 7],
    "d0 mod 7": lambda x, y: [x % 7],
    "d0 floordiv (d1 + 1)": lambda x, y: [x // (y + 1)],
    "(d0 * 16 + d1) floordiv 24, (d0 * 16 + d1) mod 24": lambda x, y: [(x * 16 + y) // 24, (x * 16 + y) % 24],
}
DOMAINS: dict[str, Callable[[Any, Any], Any]] = {
    "": lambda x, y: True,
    ", d0 + d1 in [100, 800]": lambda x, y: (x + y >= 100) & (x + y <= 800),
    ", d0 mod 8 in [0, 3]": lambda x, y: x % 8 <= 3,
    ", (d0 + d1) mod 7 in [0, 3]": lambda x, y: (x + y) % 7 <= 3,
}
POINTS: dict[str, Callable[[Any, Any], Any] | None] = {
    "": None,
    ", d0 + d1 in [0, 800]": lambda x, y: x + y <= 800,
    ", (d0 + d1) mod 7 in [0, 2]": lambda x, y: (x + y) % 7 <= 2,
}


def in_turns(name: str, size: int, rounds: int, ours: Callable[[], Arrays], theirs: Callable[[], Arrays]) -> None:
    """Print the least time of each, in microseconds."""
    assert all((a == b).all() for a, b in zip(ours(), theirs(), strict=True)), name
    least = [float("inf")] * 2
    for _ in range(rounds):
        for k, run in enumerate((ours, theirs)):
            start = time.perf_counter()
            run()
            least[k] = min(least[k], time.perf_counter() - start)
    print(f"{name:68} {size:9} {least[0] * 1e6:10.1f} {least[1] * 1e6:10.1f} {least[0] / least[1]:5.2f}", flush=True)


def maps_over_arrays(size: int, rounds: int) -> None:
    random = np.random.default_rng(size)
    x, y = (random.integers(0, 1000, size) for _ in range(2))
    for text, of in RESULTS.items():
        m = ix.SymbolicMap.parse(f"(d0, d1) -> ({text})")
        in_turns(f"evaluate {text}", size, rounds, partial(m.evaluate, [x, y]), partial(of, x, y))
    for constraint, holds in DOMAINS.items():
        inside = ix.IndexingMap.parse(f"(d0, d1) -> (d0), domain: {BOX}{constraint}")

        def ours(inside: ix.IndexingMap = inside) -> Arrays:
            return [inside.contains([x, y])]

        def theirs(holds: Callable[[Any, Any], Any] = holds) -> Arrays:
            return [(x >= 10) & (x <= 599) & (y >= 20) & (y <= 499) & holds(x, y)]

        in_turns(f"contains {BOX}{constraint}", size, rounds, ours, theirs)


def points_of_domains(side: int, rounds: int) -> None:
    for constraint, holds in POINTS.items():
        m = ix.IndexingMap.parse(f"(d0, d1) -> (d0), domain: d0 in [0, {side - 1}], d1 in [0, {side - 1}]{constraint}")

        def ours(m: ix.IndexingMap = m) -> Arrays:
            return m.points().arrays()[0]

        def theirs(holds: Callable[[Any, Any], Any] | None = holds) -> Arrays:
            x, y = (a.ravel() for a in np.meshgrid(np.arange(side), np.arange(side), indexing="ij"))
            return [x, y] if holds is None else [a[holds(x, y)] for a in (x, y)]

        in_turns(f"points of a box{constraint}", side * side, rounds, ours, theirs)


def main() -> None:
    parser = argparse.ArgumentParser(description="maps over arrays beside numpy")
    parser.add_argument("--rounds", type=int, default=30)
    rounds = parser.parse_args().rounds
    print(f"{'':68} {'elements':>9} {'us, ours':>10} {'us, numpy':>10} ratio")
    for size in SIZES:
        maps_over_arrays(size, rounds)
    points_of_domains(1000, rounds)


if __name__ == "__main__":
    main()
