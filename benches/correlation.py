"""Predictions of plans for the processor beside measurements: rank correlations over the plans of each fusion.

    python benches/correlation.py [FILE.hlo ...] [--plans 12] [--seed 0]

A file is one fusion: the entry of a program, or the only one in it. Without files: the corpus of `indexing.calibrate`.
Plans are the default and random ones of the grid, each measured as tuning measures. Default plans are also compared across
fusions: the constants of the model are fitted to every second one, and the others are reported.
"""

from __future__ import annotations

import argparse
import random
import statistics
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TypeAlias

import numpy as np

import indexing as ix
from indexing.device.table import CPU
from indexing.executable.devices import device_of_dialect
from indexing.kernels import emit_fused
from indexing.model.prediction import Predictions
from indexing.tuning.calibration import corpus, fitted, rank_correlation
from indexing.tuning.conditions import Conditions
from indexing.tuning.measurement import Benchmark

Measured: TypeAlias = tuple[str, Predictions, np.ndarray]
HEAD = ("fusion", "emitter", "plans", "slowest / fastest", "correlation", "calibrated")


def rows(fusions: Iterable[tuple[str, ix.hlo.Computation]], plans: int, seed: int) -> Iterator[list[str]]:
    """A row a fusion, the last ones of their median and of all plans together; all fusions are measured first."""
    device, emitters = device_of_dialect("c"), {}
    measured: list[Measured] = []
    for name, computation in fusions:
        try:
            space = ix.knobs(computation, "c")
        except ix.IndexingError as error:
            print(f"{name}: {error}", file=sys.stderr)
            continue
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
    yield of_defaults(measured)


def of_defaults(measured: Sequence[Measured]) -> list[str]:
    """A row about the default plans of fusions to which nothing was fitted: their number, the rank correlation, and how many
    are predicted within a factor of three.
    """
    device = fitted(CPU, measured[::2]).device
    aside = [p for p in fitted(device, measured[1::2] or measured).points if p.plan == default_of(p.fusion, measured)]
    predicted, times = [p.before for p in aside], [p.measured for p in aside]
    near = sum(1 / 3 <= a / b <= 3 for a, b in zip(predicted, times, strict=True)) / len(aside)
    rank = f"{rank_correlation(predicted, times):.2f}"
    return ["default plans, kept aside", f"{near:.0%} within 3x", str(len(aside)), "", "", rank]


def default_of(name: str, measured: Sequence[Measured]) -> dict[str, int]:
    """The default plan of a fusion, the first of those that were measured."""
    return next(predictions.plan(0) for n, predictions, _ in measured if n == name)


def fusion_in(path: Path) -> ix.hlo.Computation:
    """The entry of a file, or the fusion that is all of it."""
    entry = ix.hlo.load(path).entry
    root = entry.root
    return root.called[0] if root.is_fusion and all(o.is_parameter for o in root.operands) else entry


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("files", nargs="*", type=Path)
    options.add_argument("--plans", type=int, default=12)
    options.add_argument("--seed", type=int, default=0)
    chosen = options.parse_args()
    given = ((f.stem, fusion_in(f)) for f in chosen.files) if chosen.files else corpus()
    for row in (HEAD, *rows(given, chosen.plans, chosen.seed)):
        print("  ".join(cell.ljust(14) for cell in row).rstrip(), flush=True)


if __name__ == "__main__":
    main()
