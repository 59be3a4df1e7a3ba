"""Makes docs/performance.md: all tables anew, in one run. `make bench` calls it.

    python benches/performance.py [--only WORD ...] [--out docs/performance.md]

With --only, tables whose title has one of the words in it are made, and printed. What isn't installed is said in its place.
"""

from __future__ import annotations

import argparse
import os
import platform
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

import correlation
import indexing as ix
import languages
import measurements
import peers
import tuning
from problems import problems

HERE = Path(__file__).resolve().parent
PAGE = HERE.parent / "docs" / "performance.md"
MARK = "<!-- made by `make bench` (benches/performance.py): all of it is written anew -->"
PACKAGES = ("jaxlib", "islpy", "apache-tvm", "tinygrad", "z3-solver", "sympy", "numpy")
Rows = Iterable[list[str]]


@dataclass(frozen=True)
class Section:
    """A table: what it compares, the file of benches/ that measures it, and its columns."""

    title: str
    text: str
    bench: str
    head: tuple[str, ...]
    rows: Callable[[], Rows]


def machine() -> Rows:
    """Where this ran, and with what."""
    yield ["cores", str(os.cpu_count())]
    yield ["processor", platform.machine()]
    yield ["Python", platform.python_version()]
    yield ["indexing", ix.__version__]
    for name in PACKAGES:
        try:
            yield [name, metadata.version(name)]
        except metadata.PackageNotFoundError:
            yield [name, "not installed"]


def simplification() -> Rows:
    """Cells of the table of benches/peers.py."""
    given = problems(300, seed=1)
    for line in peers.table(peers.results_of(given), len(given))[2:]:
        yield [cell.strip() for cell in line.strip("|").split("|")]


SECTIONS = (
    Section("Where this ran", "Versions of what is compared.", "performance.py", ("what", "which"), machine),
    Section(
        "Simplification",
        "300 problems of index arithmetic, one cold pass through Python. A form is best when no other answer costs less.",
        "peers.py",
        ("simplifier", "median time", "95 % within", "against ours", "best form", "wrong", "not taken"),
        simplification,
    ),
    Section(
        "Composition",
        "100 maps with quotients, their result split by 12 and simplified; isl composes and coalesces relations. "
        "TVM, tinygrad and jaxlib's bindings have no composition of maps with domains.",
        "measurements.py",
        ("by", "us a pair", "of ours"),
        measurements.compositions,
    ),
    Section(
        "What a language costs",
        "The same 500 maps and as many identities, through each interface of the core, on one thread. In batch, equal texts "
        "are read once.",
        "languages.py",
        languages.HEAD,
        languages.rows,
    ),
    Section(
        "Maps of programs",
        "CPU time from text to the maps of every instruction, in fresh processes by turns, over what jaxlib takes to parse the "
        "same text.",
        "program_maps.py",
        ("program", "work", "ms", "of jaxlib's parse"),
        measurements.maps_of_programs,
    ),
    Section(
        "Predictions",
        "`predict` in one call, of which nothing is known before, and again, by CPU time: the grid that it tries by itself, "
        "every legal plan, 5000 random ones. Each combination of knobs that changes what threads do is a kernel, which is "
        "emitted, lowered as far as its accesses need and counted: 8 to 11 ms each, most of it in Python. All else is "
        "arithmetic on columns, a microsecond a plan, 10 to 30 where each plan is a kernel. So a first call costs what "
        "its kernels cost.",
        "predictions.py",
        ("fusion", "plans", "kernels", "plans a second", "again"),
        measurements.predictions,
    ),
    Section(
        "Instances of a map with a parameter",
        "`instantiate` for a million values: all columns of coefficients and bounds, or all maps, of 64 values again and again "
        "or of distinct ones.",
        "predictions.py",
        ("what is made", "millions a second"),
        measurements.instances,
    ),
    Section(
        "Questions about fusions",
        "The analyses, of 16 fusions: how many have an answer, and the median time of one question.",
        "analyses.py",
        ("question", "fusions", "us"),
        measurements.analyses,
    ),
    Section(
        "Programs on the processor",
        "Every eighth program of the table in docs/kernels.md, beside XLA's back end for the processor, in turns.",
        "cpu.py",
        ("program", "kernels", "ours, ms", "XLA, ms", "ours / XLA"),
        measurements.programs_beside_xla,
    ),
    Section(
        "Predictions beside measurements",
        "Plans for the processor as predicted and as measured, twelve of each fusion that `calibrate` measures: correlations "
        "of their ranks, by the rates as they are and by fitted ones.",
        "correlation.py",
        correlation.HEAD,
        measurements.correlations,
    ),
    Section(
        "Tuning on the processor",
        "`tune` with a budget of 24 plans for each fusion that `calibrate` measures: the default plan's time over the best's, "
        "arguments being out of the caches.",
        "tuning.py",
        tuning.HEAD,
        measurements.tuning,
    ),
    Section(
        "Growth with size",
        "Maps of growing size, read and simplified: the time of the largest, and the exponent of a power law through the "
        "larger half. 1 is linear.",
        "growth.py",
        ("family", "sizes", "largest, ms", "exponent"),
        measurements.growth,
    ),
    Section(
        "Growth with workers",
        "`analyze_files` of 48 copies of examples/transformer_block.hlo, the start of processes included, over the rate of one "
        "worker.",
        "measurements.py",
        ("workers", "programs a second", "of one worker"),
        measurements.workers,
    ),
    Section(
        "Memory of a long run",
        "Resident MiB while maps are made, simplified and dropped, all of them different.",
        "memory.py",
        ("maps", "after a tenth", "in the end", "end / tenth"),
        measurements.memory,
    ),
)


def page(tables: Mapping[str, Rows]) -> str:
    """The document, with a table for each section."""
    lines = [MARK, "", "# Performance", ""]
    lines += [
        "All figures are of one run on one machine; what is compared took turns. Ratios carry over to others, times don't."
    ]
    for s in SECTIONS:
        lines += ["", f"## {s.title}", "", s.text, f"Measured by `benches/{s.bench}`.", ""]
        lines += [row(s.head), "|" + "---|" * len(s.head), *map(row, tables[s.title])]
    return "\n".join(lines) + "\n"


def row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def measured(section: Section) -> list[list[str]]:
    """Its rows; one that says what is missing where something isn't installed."""
    try:
        rows = list(section.rows())
    except ImportError as missing:
        rows = [[f"not measured: {missing}", *[""] * (len(section.head) - 1)]]
    print(f"{section.title}\n" + "\n".join(map(row, [list(section.head), *rows])), flush=True)
    return rows


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--only", nargs="*")
    options.add_argument("--out", type=Path, default=PAGE)
    chosen = options.parse_args()
    asked = [s for s in SECTIONS if not chosen.only or any(word in s.title for word in chosen.only)]
    tables = {s.title: measured(s) for s in asked}
    if not chosen.only:
        chosen.out.write_text(page(tables), encoding="utf-8")


if __name__ == "__main__":
    main()
