"""Shares of peak rates that GPUs reach, fitted to one half of measured times, and the error on the other half.

    python benches/gpu_times.py FILE.jsonl

A line is a kernel that was timed: its `device`, `op` and `ms`. Products (`bmm`, `linear`) have the sizes `b`, `m`, `n`, `k` of
f32 matrices [b, m, n] and [b, n, k]; elementwise ops the sizes `b`, `h` of an f32 array, of which `add`, `mul`, `div` and `pow`
read two. Such lines are those of NeuSight (S. Lee, A. Phanishayee, D. Mahajan, ASPLOS 2025), whose data is public. A line is in
one half or the other by a hash of it.

Softmax and layer norm (`softmax`, `ln`) have `b` rows of `h`. Kernels here read a row once, those that were timed three times
or twice, in part from caches, by how many blocks run at a time, which no program states. Their times are held between two
bounds: rows are read once, or every read is one of memory.
"""

from __future__ import annotations

import argparse
import hashlib
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import indexing as ix
from indexing.model.products import Product, product_seconds

PRODUCTS, BINARY = ("bmm", "linear"), ("add", "mul", "div", "pow")
ROWS = {"softmax": 3, "ln": 2}  # and how often the kernels that were timed read a row
TOLERANCE = 0.1  # beyond the bounds
SHARES = np.linspace(0.25, 1.3, 106)
TILE_COSTS = (1.0, 4.0, 8.0, 16.0, 24.0, 32.0, 48.0, 64.0)
Line = dict[str, Any]


def is_kept_aside(line: Line) -> bool:
    """Whether a line is in the half to which nothing is fitted."""
    return bool(int(hashlib.sha256(json.dumps(line, sort_keys=True).encode()).hexdigest(), 16) % 2)


def moved(line: Line) -> float:
    """The bytes of operands and result."""
    if line["op"] in PRODUCTS:
        return product(line).bytes
    return 4.0 * line["b"] * line["h"] * (3 if line["op"] in BINARY else 2)


def product(line: Line) -> Product:
    """The product of a line."""
    return Product(line["b"], line["m"], line["k"], line["n"], "f32", "f32")


def fit_memory(device: ix.Device, lines: Sequence[Line]) -> tuple[ix.Device, Callable[[Line], float]]:
    """The device with the share of its bandwidth that elementwise kernels reach, and the predicted seconds of a line."""

    def seconds(share: float, line: Line) -> float:
        return device.rates.launch + device.memory.latency + moved(line) / (device.memory.bandwidth * share)

    share = min(SHARES, key=lambda s: error(lines, lambda line: seconds(s, line)))
    return device.with_memory(reached=float(share)), lambda line: seconds(share, line)


def fit_products(device: ix.Device, lines: Sequence[Line]) -> tuple[ix.Device, Callable[[Line], float]]:
    """The device with the share that products reach and the cost of a tile's elements, and the predicted seconds of a line."""
    fixed, rate = device.rates.launch + device.memory.latency, device.flops("f32")

    def seconds(alone: float, share: float, line: Line) -> float:
        return fixed + max(alone / share, moved(line) / device.reached_bandwidth)

    def alone(cost: float, line: Line) -> float:
        return product_seconds(product(line), device.with_rates(tile_cost=cost, product_share=1.0), rate)

    best = (np.inf, 0.0, 0.0)
    for cost in TILE_COSTS:
        times = {id(line): alone(cost, line) for line in lines}
        for share in SHARES.tolist():
            wrong_by = error(lines, lambda line, s=share, t=times: seconds(t[id(line)], s, line))  # type: ignore[misc]
            best = min(best, (wrong_by, cost, share))
    _, cost, share = best
    fitted = device.with_rates(tile_cost=cost, product_share=share)
    return fitted, lambda line: seconds(alone(cost, line), share, line)


def print_rows(device: ix.Device, lines: Sequence[Line]) -> None:
    """Print how many lines with rows lie between the two bounds, and the errors of each."""

    def seconds(line: Line, reads: int) -> float:
        return float(device.launch_seconds + 4.0 * line["b"] * line["h"] * (reads + 1) / device.reached_bandwidth)

    for op, reads in ROWS.items():
        of_op = [line for line in lines if line["op"] == op]
        if not of_op:
            continue
        once, often = (error(of_op, lambda line, n=n: seconds(line, n)) for n in (1, reads))  # type: ignore[misc]
        within = sum(
            seconds(line, 1) * (1 - TOLERANCE) <= line["ms"] / 1e3 <= seconds(line, reads) * (1 + TOLERANCE)
            for line in of_op
        )
        print(
            f"{device.name:16} {op:12} {len(of_op):4} kernels, {within} between the bounds; error of one read {once:.0%}, "
            f"of {reads} reads {often:.0%}"
        )


def error(lines: Sequence[Line], seconds: Callable[[Line], float]) -> float:
    """The mean of the absolute errors, as parts of the measured times."""
    return float(np.mean([abs(seconds(line) * 1e3 - line["ms"]) / line["ms"] for line in lines]))


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("file", type=Path)
    lines = [json.loads(line) for line in options.parse_args().file.read_text().splitlines()]
    for name in sorted({line["device"] for line in lines}):
        of_device = [line for line in lines if line["device"] == name]
        device = ix.find_device(name)
        streams = [line for line in of_device if line["op"] not in (*PRODUCTS, *ROWS)]
        for what, chosen, fit in (
            ("elementwise", streams, fit_memory),
            ("products", [line for line in of_device if line["op"] in PRODUCTS], fit_products),
        ):
            if not chosen:
                continue
            device, seconds = fit(device, [line for line in chosen if not is_kept_aside(line)])
            aside = error([line for line in chosen if is_kept_aside(line)], seconds)
            print(
                f"{device.name:16} {what:12} {len(chosen):4} kernels, error on those kept aside {aside:.1%}", flush=True
            )
        print_rows(device, of_device)
        r = device.rates
        print(
            f"    reached {device.memory.reached:.2f}, products {r.product_share:.2f}, cost of a tile {r.tile_cost:g}"
        )


if __name__ == "__main__":
    main()
