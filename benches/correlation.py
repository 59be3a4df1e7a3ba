"""Predictions of plans for the processor beside measurements: rank correlations over the plans of each fusion.

    python benches/correlation.py [FILE.hlo ...] [--plans 12] [--seed 0]

A file is one fusion: the entry of a program. Without files: the corpus of `indexing.calibrate`. Plans are the default and
random ones of the grid, each measured as tuning measures.
"""

from __future__ import annotations

import argparse
import random
import statistics
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np

import indexing as ix
from indexing.device.table import CPU
from indexing.executable.devices import device_of_dialect
from indexing.kernels import emit_fused
from indexing.tuning.calibration import corpus, fitted
from indexing.tuning.conditions import Conditions
from indexing.tuning.measurement import Benchmark

HEAD = ("fusion", "emitter", "plans", "slowest / fastest", "correlation", "calibrated")


def rows(fusions: Iterable[tuple[str, ix.hlo.Computation]], plans: int, seed: int) -> Iterator[list[str]]:
    """A row a fusion, the last ones of their median and of all plans together; all fusions are measured first."""
    device, measured, emitters = device_of_dialect("c"), [], {}
    for name, computation in fusions:
        space = ix.knobs(computation, "c")
        grid = [p for p in space.plans() if p != space.default]
        chosen = [space.default, *random.Random(seed).sample(grid, min(plans - 1, len(grid)))]
        kernels = [emit_fused(computation, CPU, **p) for p in chosen]
        device.prepare(kernels)
        benchmark = Benchmark(computation, device, Conditions(seed))
        times = np.array([benchmark.timing(k).seconds for k in kernels])
        columns = {n: np.array([p[n] for p in chosen]) for n in space.names}
        measured.append((name, ix.predict(computation, columns, CPU), times))
        emitters[name] = space.emitter
    calibration = fitted(CPU, measured)
    of_fusions = calibration.of_fusions
    for name, _, times in measured:
        before, after = of_fusions[name]
        spread = f"{times.max() / times.min():.1f}"
        yield [name, emitters[name], str(len(times)), spread, f"{before:.2f}", f"{after:.2f}"]
    before, after = (statistics.median(part) for part in zip(*of_fusions.values(), strict=True))
    yield ["median", "", "", "", f"{before:.2f}", f"{after:.2f}"]
    count = str(len(calibration.points))
    yield ["all together", "", count, "", f"{calibration.correlation_before:.2f}", f"{calibration.correlation:.2f}"]


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("files", nargs="*", type=Path)
    options.add_argument("--plans", type=int, default=12)
    options.add_argument("--seed", type=int, default=0)
    chosen = options.parse_args()
    given = ((f.stem, ix.hlo.load(f).entry) for f in chosen.files) if chosen.files else corpus()
    for row in (HEAD, *rows(given, chosen.plans, chosen.seed)):
        print("  ".join(cell.ljust(14) for cell in row).rstrip(), flush=True)


if __name__ == "__main__":
    main()
