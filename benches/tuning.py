"""What tuning gives on the processor: of each fusion the default plan's time over the best one's.

    python benches/tuning.py [FILE.hlo ...] [--budget 24] [--seed 1] [--sampler predicted] [--store FILE]

A file is one fusion: the entry of a program. Without files: the corpus of `indexing.calibrate`.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path

import indexing as ix
from indexing.tuning.calibration import corpus

HEAD = ("fusion", "emitter", "plans", "default, us", "best, us", "default / best", "best plan")


def rows(
    fusions: Iterable[tuple[str, ix.hlo.Computation]], budget: int, seed: int, sampler: str, store: str
) -> Iterator[list[str]]:
    """A row a fusion, the last one of the medians."""
    ratios = []
    for name, computation in fusions:
        tuning = ix.tune(computation, budget, seed, "cpu", sampler, store)
        default, best = tuning.trials[0].seconds, min(t.seconds for t in tuning.trials if t.seconds is not None)
        ratios.append(tuning.gain.median)
        changed = {n: v for n, v in tuning.best.items() if v != tuning.space.default[n]}
        times = [f"{t * 1e6:.2f}" if t else "" for t in (default, best)]
        plan = ", ".join(f"{n} {v}" for n, v in changed.items()) or "the default"
        yield [name, tuning.space.emitter, str(len(tuning.trials)), *times, f"{tuning.gain.median:.2f}", plan]
    yield ["median", "", "", "", "", f"{statistics.median(ratios):.2f}", ""]


def fusions_of(files: Iterable[Path]) -> Iterator[tuple[str, ix.hlo.Computation]]:
    """The entries of programs."""
    for file in files:
        yield file.stem, ix.hlo.load(file).entry


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("files", nargs="*", type=Path)
    options.add_argument("--budget", type=int, default=24)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--sampler", default="predicted")
    options.add_argument("--store")
    chosen = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        store = chosen.store or str(Path(folder) / "tuning.sqlite")
        given = fusions_of(chosen.files) if chosen.files else corpus()
        for row in chain([HEAD], rows(given, chosen.budget, chosen.seed, chosen.sampler, store)):
            print("  ".join(cell.ljust(14) for cell in row).rstrip(), flush=True)


if __name__ == "__main__":
    main()
