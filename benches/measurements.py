"""Tables of docs/performance.md that no other benchmark here makes: each a function that gives rows of cells.

Where two things are compared they take turns in one process, and the least time of each counts: what else the machine does
counts little.
"""

from __future__ import annotations

import importlib
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import indexing as ix
import languages
from indexing.convert.isl_relations import to_isl
from indexing.tuning.calibration import corpus
from programs import program

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
SPLIT = "(d0) -> (d0 floordiv 12, d0 mod 12), domain: d0 in [-1000000000, 1000000000]"


def in_turns(calls: Mapping[str, Callable[[], object]], rounds: int) -> dict[str, float]:
    """The least seconds of each call, of the CPU."""
    best = dict.fromkeys(calls, float("inf"))
    for _ in range(rounds):
        for name, call in calls.items():
            start = time.process_time()
            call()
            best[name] = min(best[name], time.process_time() - start)
    return best


def compositions(rounds: int = 5) -> list[list[str]]:
    """Maps with quotients, split after them by 12: composed and simplified here; composed and coalesced by isl."""
    isl = importlib.import_module("islpy")
    quotients = [line for line in languages.CORPUS.read_text().splitlines() if "floordiv" in line]
    lines = [line for line in quotients if "min(" not in line and "max(" not in line]  # isl's maps have none
    split = ix.IndexingMap.parse(SPLIT)
    maps = [(m, split) for m in map(ix.IndexingMap.parse, lines) if len(m.results) == 1][:100]
    relations = [tuple(isl.Map(to_isl(m)) for m in pair) for pair in maps]
    best = in_turns(
        {
            "indexing": lambda: [ix.compose(a, b).simplify() for a, b in maps],
            "isl": lambda: [a.apply_range(b).coalesce() for a, b in relations],
        },
        rounds,
    )
    return [[n, f"{t * 1e6 / len(maps):.1f}", f"{t / best['indexing']:.1f}"] for n, t in best.items()]


def maps_of_programs(turns: int = 3) -> Iterator[list[str]]:
    """Of benches/program_maps.py: each kind of work over what jaxlib takes to parse the text alone."""
    module = importlib.import_module("program_maps")
    texts = {
        "transformer_block.hlo": (EXAMPLES / "transformer_block.hlo").read_text(),
        "generated, 60 functions": program(60),
    }
    with tempfile.TemporaryDirectory() as folder:
        for name, text in texts.items():
            file = Path(folder) / "program.hlo"
            file.write_text(text)
            best = module.measure(file, turns)
            peer = best["jaxlib, parse alone"]
            yield from ([name, kind, f"{time * 1e3:.1f}", f"{time / peer:.2f}"] for kind, time in best.items())


def predictions(repeats: int = 3) -> Iterator[list[str]]:
    """Of benches/predictions.py: kernels that are emitted, rates when nothing is known yet, and of a second call."""
    module = importlib.import_module("predictions")
    for plans in module.SETS:
        for name in module.FUSIONS:
            cold, warm, kernels = module.measured(repeats, name, plans)
            yield [name, plans, str(kernels), f"{cold:,.0f}", f"{warm:,.0f}"]


def instances(repeats: int = 3) -> Iterator[list[str]]:
    """Of a million values, of benches/predictions.py."""
    module = importlib.import_module("predictions")
    for what, case in (("columns", "columns"), ("maps, repeated", "repeated"), ("maps, distinct", "distinct")):
        yield [what, f"{module.measured(repeats, 'instances', case)[0] / 1e6:,.1f}"]


def programs_beside_xla(rounds: int = 20, every: int = 8) -> Iterator[list[str]]:
    """Every eighth program of benches/cpu.py, whose table of all is in docs/kernels.md; the last row is the median."""
    cpu = importlib.import_module("cpu")
    ratios = []
    for name, function, arguments in cpu.CASES[::every]:
        kernels, _, _, ours, theirs = cpu.measure(function, arguments, rounds)
        ratios.append(ours / theirs)
        yield [name, f"{kernels:.0f}", f"{ours * 1e3:.3f}", f"{theirs * 1e3:.3f}", f"{ratios[-1]:.2f}"]
    yield ["median", "", "", "", f"{statistics.median(ratios):.2f}"]


def growth() -> Iterator[list[str]]:
    """Of each family of benches/growth.py the time of its largest input, and the exponent."""
    module = importlib.import_module("growth")
    for family in module.FAMILIES:
        times = [min(module.seconds(family.text(n)) for _ in range(3)) for n in family.sizes]
        sizes = f"{family.sizes[0]} to {family.sizes[-1]}"
        yield [family.name, sizes, f"{times[-1] * 1e3:.2f}", f"{module.exponent(family.sizes, times):.1f}"]


def workers(copies: int = 48) -> Iterator[list[str]]:
    """Programs a second of `analyze_files` by so many processes, over those of one."""
    text = (EXAMPLES / "transformer_block.hlo").read_text()
    first = 0.0
    for count in sorted({1, 2, os.cpu_count() or 1}):
        with tempfile.TemporaryDirectory() as folder:
            given = Path(folder) / "programs"
            given.mkdir()
            for k in range(copies):
                (given / f"{k}.hlo").write_text(text)
            start = time.perf_counter()
            done = ix.analyze_files(given, Path(folder) / "out", workers=count)
            rate = done.analyzed / (time.perf_counter() - start)
        first = first or rate
        yield [str(count), f"{rate:.1f}", f"{rate / first:.2f}"]


def analyses(rounds: int = 5) -> list[list[str]]:
    """Queries of benches/analyses.py: the median over its fusions."""
    module = importlib.import_module("analyses")
    times: dict[str, list[float]] = {}
    for case in module.CASES.values():
        fusion = module.fused(*case)
        for query, call in module.queries(fusion, module.emitted(fusion)).items():
            if (seconds := module.seconds(call, rounds)) is not None:
                times.setdefault(query, []).append(seconds)
    return [[q, str(len(t)), f"{statistics.median(t) * 1e6:.0f}"] for q, t in times.items()]


def correlations(plans: int = 12) -> Iterator[list[str]]:
    """Of benches/correlation.py."""
    yield from importlib.import_module("correlation").rows(corpus(), plans, 0)


def tuning(budget: int = 24) -> Iterator[list[str]]:
    """The corpus of `calibrate`."""
    module = importlib.import_module("tuning")
    with tempfile.TemporaryDirectory() as folder:
        yield from module.rows(corpus(), budget, 1, "predicted", str(Path(folder) / "tuning.sqlite"))


def memory(count: int = 100_000) -> list[list[str]]:
    """Resident memory of benches/memory.py after a tenth of a run and after all of it, in a process of its own."""
    program = (
        f"import memory\nfor tenth in range(10):\n  memory.churn(tenth * {count} // 10, {count} // 10)\n"
        "  print(memory.resident())"
    )
    path = os.pathsep.join([str(Path(ix.__file__).parents[1]), str(Path(__file__).parent)])
    run = [sys.executable, "-c", program]
    done = subprocess.run(run, env={**os.environ, "PYTHONPATH": path}, check=True, capture_output=True, text=True)
    sizes = [float(line) for line in done.stdout.split()]
    return [[f"{count:,}", f"{sizes[0]:.1f}", f"{sizes[-1]:.1f}", f"{sizes[-1] / sizes[0]:.2f}"]]
