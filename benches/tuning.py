"""What tuning gives on the processor: of each fusion the default plan's time over the best one's, then again in a new process.

    python benches/tuning.py [FILE.hlo ...] [--budget 24] [--seed 1] [--sampler predicted] [--store FILE] [--cores 0,1]

A file is one fusion: the entry of a program. Without files: the corpus of `indexing.calibrate`, and two more. The last row
has the median gains of best plans that are another than the default, and how many of them are slower for certain.
`--cores` pins this process, and all of its threads, to these.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import statistics
import tempfile
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path

import indexing as ix
from indexing.executable.devices import device_of_dialect
from indexing.runtime.plan_store import Gain
from indexing.tuning.bench import LocalBench
from indexing.tuning.calibration import corpus
from indexing.tuning.conditions import Conditions
from indexing.tuning.gains import gain_of

HEAD = ("fusion", "emitter", "plans", "default, us", "best, us", "gain", "again", "best plan")
MORE = {
    "normalized rows": """add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = f32[] add(a, b) }
      ENTRY f { p = f32[2048,512] parameter(0) z = f32[] constant(0)
        t = f32[2048] reduce(p, z), dimensions={1}, to_apply=add
        w = f32[2048,512] broadcast(t), dimensions={0} ROOT r = f32[2048,512] divide(p, w) }""",
    "product": """ENTRY f { a = f32[256,384] parameter(0) b = f32[384,256] parameter(1)
      ROOT r = f32[256,256] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0} }""",
}


def rows(
    fusions: Iterable[tuple[str, ix.hlo.Computation]], budget: int, seed: int, sampler: str, store: str
) -> Iterator[list[str]]:
    """A row a fusion, then the median gains of plans other than the default, and the number of those that are slower."""
    gains = []
    for name, computation in fusions:
        tuning = ix.tune(computation, budget, seed, "cpu", sampler, store)
        default, best = tuning.trials[0].seconds, min(t.seconds for t in tuning.trials if t.seconds is not None)
        again = gain_in_new_process(computation, tuning)
        changed = {n: v for n, v in tuning.best.items() if v != tuning.space.default[n]}
        times = [f"{t * 1e6:.2f}" if t else "" for t in (default, best)]
        if changed:
            gains.append((tuning.gain, again))
        both = [f"{g.median:.2f} ({g.low:.2f} to {g.high:.2f})" for g in (tuning.gain, again)]
        plan = ", ".join(f"{n} {v}" for n, v in changed.items()) or "the default"
        yield [name, tuning.space.emitter, str(len(tuning.trials)), *times, *both, plan]
    medians = [f"{statistics.median(g.median for g in each):.2f}" for each in zip(*gains, strict=True)] or ["", ""]
    slower = sum(again.high < 1 for _, again in gains)
    yield ["median", "", "", "", "", *medians, f"{slower} of {len(gains)} slower than the default"]


def gain_in_new_process(computation: ix.hlo.Computation, tuning: ix.Tuning) -> Gain:
    """The gain of a best plan over the default one, measured where nothing has run yet; 1 for the default itself."""
    if tuning.best == tuning.space.default:
        return Gain(1.0, 1.0, 1.0)
    given = (str(computation.module), computation.name, tuning.device, dict(tuning.space.default), dict(tuning.best))
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(measured_gain, given)


def measured_gain(text: str, name: str, device: ix.Device, default: dict[str, int], best: dict[str, int]) -> Gain:
    """The gain of a plan over another, from samples in turns."""
    computation = ix.hlo.parse(text).computations[name]
    bench = LocalBench(computation, device_of_dialect(device.dialect), device, Conditions())
    return gain_of(*bench.samples([default, best]))


def fusions_of(files: Iterable[Path]) -> Iterator[tuple[str, ix.hlo.Computation]]:
    """The entries of programs."""
    for file in files:
        yield file.stem, ix.hlo.load(file).entry


def known_fusions() -> Iterator[tuple[str, ix.hlo.Computation]]:
    """Twelve fusions: those of the corpus, normalized rows, and a product."""
    yield from corpus()
    for name, text in MORE.items():
        yield name, ix.hlo.parse(text).entry


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("files", nargs="*", type=Path)
    options.add_argument("--budget", type=int, default=24)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--sampler", default="predicted")
    options.add_argument("--store")
    options.add_argument("--cores", type=lambda text: {int(c) for c in text.split(",")})
    chosen = options.parse_args()
    if chosen.cores:
        os.sched_setaffinity(0, chosen.cores)
    with tempfile.TemporaryDirectory() as folder:
        store = chosen.store or str(Path(folder) / "tuning.sqlite")
        given = fusions_of(chosen.files) if chosen.files else known_fusions()
        for row in chain([HEAD], rows(given, chosen.budget, chosen.seed, chosen.sampler, store)):
            print("  ".join(cell.ljust(14) for cell in row).rstrip(), flush=True)


if __name__ == "__main__":
    main()
