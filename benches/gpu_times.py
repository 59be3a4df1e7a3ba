"""Shares of peak rates that GPUs reach, fitted to one half of measured times, and the error on the other half.

    python benches/gpu_times.py FILE.jsonl

A line is a kernel that was timed: its `device`, `op` and `ms`. Products (`bmm`, `linear`) have the sizes `b`, `m`, `n`, `k` of
f32 matrices [b, m, n] and [b, n, k]; elementwise ops the sizes `b`, `h` of an f32 array, of which `add`, `mul`, `div` and `pow`
read two. Such lines are those of NeuSight (S. Lee, A. Phanishayee, D. Mahajan, ASPLOS 2025), whose data is public. A line is in
one half or the other by a hash of it.

Softmax and layer norm (`softmax`, `ln`) have `b` rows of `h`. Kernels here read a row once; those that were timed read it twice
(layer norm, 128 threads a row) or three times (softmax of more than 1,024 columns). Both are predicted: the default plan, and
one that keeps nothing of a row. The share of a cache that keeps rows from pass to pass (`REUSED` of `model/reuse.py`) was
fitted to one half.
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
ROWS = ("softmax", "ln")
KEPT = 1024  # columns of a row that softmax keeps
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


REGIONS = """max { a = f32[] parameter(0)
 b = f32[] parameter(1)
 ROOT c = f32[] maximum(a, b) }
add { a = f32[] parameter(0)
 b = f32[] parameter(1)
 ROOT c = f32[] add(a, b) }
"""
SOFTMAX = """ENTRY e { x = f32[ROWS,COLUMNS] parameter(0)
 low = f32[] constant(-inf)
 zero = f32[] constant(0)
 m = f32[ROWS] reduce(x, low), dimensions={1}, to_apply=max
 mw = f32[ROWS,COLUMNS] broadcast(m), dimensions={0}
 d = f32[ROWS,COLUMNS] subtract(x, mw)
 e = f32[ROWS,COLUMNS] exponential(d)
 t = f32[ROWS] reduce(e, zero), dimensions={1}, to_apply=add
 tw = f32[ROWS,COLUMNS] broadcast(t), dimensions={0}
 ROOT r = f32[ROWS,COLUMNS] divide(e, tw) }"""
LAYER_NORM = """ENTRY e { x = f32[ROWS,COLUMNS] parameter(0)
 g = f32[COLUMNS] parameter(1)
 h = f32[COLUMNS] parameter(2)
 zero = f32[] constant(0)
 t = f32[ROWS] reduce(x, zero), dimensions={1}, to_apply=add
 xx = f32[ROWS,COLUMNS] multiply(x, x)
 q = f32[ROWS] reduce(xx, zero), dimensions={1}, to_apply=add
 i = f32[] constant(0.001)
 n = f32[ROWS] broadcast(i), dimensions={}
 m = f32[ROWS] multiply(t, n)
 s = f32[ROWS] multiply(q, n)
 mm = f32[ROWS] multiply(m, m)
 v = f32[ROWS] subtract(s, mm)
 r = f32[ROWS] rsqrt(v)
 mw = f32[ROWS,COLUMNS] broadcast(m), dimensions={0}
 rw = f32[ROWS,COLUMNS] broadcast(r), dimensions={0}
 gw = f32[ROWS,COLUMNS] broadcast(g), dimensions={1}
 hw = f32[ROWS,COLUMNS] broadcast(h), dimensions={1}
 d = f32[ROWS,COLUMNS] subtract(x, mw)
 y = f32[ROWS,COLUMNS] multiply(d, rw)
 z = f32[ROWS,COLUMNS] multiply(y, gw)
 ROOT o = f32[ROWS,COLUMNS] add(z, hw) }"""


def rows_seconds(device: ix.Device, line: Line, is_kept: bool) -> float:
    """The predicted seconds of a kernel of rows: the default plan, or one that keeps nothing of a row for the next pass."""
    text = REGIONS + (SOFTMAX if line["op"] == "softmax" else LAYER_NORM)
    entry = ix.hlo.parse(text.replace("ROWS", str(line["b"])).replace("COLUMNS", str(line["h"]))).entry
    if is_kept or (line["op"] == "softmax" and line["h"] <= KEPT):
        return float(ix.predict(entry, {}, device).time[0])
    threads = 128 if line["op"] == "ln" else 1 << (min(line["h"] // 4, 1024) - 1).bit_length() - 1
    return float(ix.predict(entry, {"keep": 0, "threads": threads, "vector_width": 4}, device).time[0])


def print_rows(device: ix.Device, lines: Sequence[Line]) -> None:
    """Print the errors of rows that are read once, and of those that are read as often as by the kernels that were timed."""
    for op in ROWS:
        aside = [line for line in lines if line["op"] == op and is_kept_aside(line)]
        if not aside:
            continue
        once, often = (error(aside, lambda line, k=k: rows_seconds(device, line, k)) for k in (True, False))  # type: ignore[misc]
        print(
            f"{device.name:16} {op:12} {len(aside):4} kernels kept aside, error if rows are read once {once:.1%}, "
            f"as often as they were {often:.1%}",
            flush=True,
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
