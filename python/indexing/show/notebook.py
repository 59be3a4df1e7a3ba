"""Values in notebooks: maps as formulas, computations as pictures, reports and programs' maps as tables.

`%load_ext indexing` tells IPython so; nothing of IPython is imported here.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

from indexing._core import IndexingMap, SymbolicExpr
from indexing.convert import to_latex
from indexing.emitters.kernel import Kernel
from indexing.hlo import Computation, Instruction, Module
from indexing.indexing_analysis.programs import ProgramMaps
from indexing.report.lines import bytes_text, kernel_line, seconds_text, totals_line
from indexing.report.programs import ProgramReport
from indexing.show.drawing import svg

__all__ = ["load_ipython_extension"]

MAX_DRAWN = 120  # instructions; more are no picture
SHOWN = 20  # kernels of a report


def load_ipython_extension(shell: Any) -> None:
    """Tell IPython's formatters about this package's values; what `%load_ext indexing` calls."""
    formatters = shell.display_formatter.formatters
    for formal in (IndexingMap, SymbolicExpr):
        formatters["text/latex"].for_type(formal, formula)
    for drawn in (Computation, Module, Instruction):
        formatters["image/svg+xml"].for_type(drawn, graph)
    formatters["text/html"].for_type(ProgramReport, report_table)
    formatters["text/html"].for_type(ProgramMaps, maps_table)
    formatters["text/html"].for_type(Kernel, source_block)


def formula(value: IndexingMap | SymbolicExpr) -> str:
    """A map or an expression as a formula."""
    return f"${to_latex(value)}$"


def graph(value: Module | Computation | Instruction) -> str | None:
    """A computation's graph (of a module: its entry; of a fusion: what it computes); None where there is no picture."""
    if isinstance(value, Instruction):
        return graph(value.called[0]) if value.called else None
    computation = value.entry if isinstance(value, Module) else value
    return svg(computation) if len(computation.instructions) <= MAX_DRAWN else None


def report_table(report: ProgramReport) -> str:
    """The worst kernels as a table, each with the reason of its worst access."""
    rows = []
    for fusion in report.fusions[:SHOWN]:
        worst = fusion.accesses[0] if fusion.accesses else None
        cells = (
            fusion.name,
            bytes_text(fusion.wasted),
            bytes_text(fusion.will_move),
            seconds_text(fusion.seconds_lost),
        )
        rows.append((*cells, worst.why if worst else "", str(fusion.place or "")))
    head = ("kernel", "wasted", "moves", "time lost", "why", "source")
    return f"<p>{escape(totals_line(report))}</p>{table(head, rows)}"


def maps_table(maps: ProgramMaps) -> str:
    """A row for each map between two arrays."""
    rows = []
    for start, end in maps:
        rows += [(start, end, str(m.map), m.exactness) for m in maps[start, end]]
    sides = ("output", "input") if maps.direction == "output_to_input" else ("input", "output")
    return table((*sides, "map", "exactness"), rows)


def source_block(kernel: Kernel) -> str:
    """A kernel's source, with its launch."""
    return f"<p>{escape(kernel_line(kernel))}</p><pre><code>{escape(kernel.source)}</code></pre>"


def table(head: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    """A table of text."""
    top = "".join(f"<th>{escape(cell)}</th>" for cell in head)
    body = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in rows)
    return f"<table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>"
