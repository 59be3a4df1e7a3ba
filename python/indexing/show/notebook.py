"""Values in notebooks: maps as formulas, computations as pictures, kernels as highlighted source;
reports, programs' maps, accesses, plans and tiles as tables.

The methods of these values (`_repr_html_` and others) call these functions through `display.py`.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from html import escape
from typing import TYPE_CHECKING

from indexing._core import IndexingMap, SymbolicExpr
from indexing.analysis.memory.global_memory import Coalescing
from indexing.analysis.tiling.space import TilingSpace
from indexing.convert import to_latex
from indexing.display import count_text
from indexing.hlo import Computation, Instruction, Module
from indexing.indexing_analysis.programs import ProgramMaps
from indexing.kernels.ir import nodes
from indexing.kernels.ir.text import print_kernel
from indexing.kernels.kernel import Kernel
from indexing.model.prediction import Predictions
from indexing.reports.comparison import Comparison
from indexing.reports.kernel_report import FIGURES, figures_of, groups_of
from indexing.reports.lines import kernel_line
from indexing.reports.program_report import ProgramReport, totals_line
from indexing.show.colours import DARK, INK, with_scheme
from indexing.show.graphviz_layout import graph_svgs
from indexing.show.roofline import roofline_svg
from indexing.tuning.tuner import Tuning

if TYPE_CHECKING:
    from pygments.formatters import HtmlFormatter

MAX_DRAWN = 120  # instructions; larger computations have no picture
SHOWN = 20  # kernels of a report
LONG = 60  # characters of a sentence, for which a column is wide
SOURCE = "kernel-source"  # the class of an element with highlighted source
PLAIN = '<pre style="font-family: monospace">'  # pages that nbconvert makes have none of their own


def ir_text(kernel: nodes.Kernel) -> str:
    """A kernel's IR, one statement per line."""
    return print_kernel(kernel)


def formula(value: IndexingMap | SymbolicExpr) -> str:
    """A map or an expression as a formula."""
    return f"${to_latex(value)}$"


def graph(value: Module | Computation | Instruction) -> str | None:
    """The graph of a computation, of a module's entry, or of a fusion's computation; None if it is too large."""
    if isinstance(value, Instruction):
        return graph(value.called[0]) if value.called else None
    computation = value.entry if isinstance(value, Module) else value
    return with_scheme(graph_svgs([computation])[0]) if len(computation.instructions) <= MAX_DRAWN else None


def report_table(report: ProgramReport) -> str:
    """The first kernels as a table, each with the reason for its worst access; and the roofline of all."""
    rows = []
    for group in groups_of(report.fusions)[:SHOWN]:
        first = group[0]
        worst = first.accesses[0] if first.accesses else None
        more = f" and {len(group) - 1} like it" if len(group) > 1 else ""
        rows.append((first.name + more, *figures_of(group), worst.why if worst else "", str(first.place or "")))
    above = "<br>".join(map(escape, (totals_line(report), *report.notes)))
    return f"<p>{above}</p>{table(('kernel', *FIGURES, 'why', 'source'), rows)}{with_scheme(roofline_svg(report))}"


def comparison_table(comparison: Comparison) -> str:
    """The comparison as text."""
    return f"{PLAIN}{escape(str(comparison))}</pre>"


def maps_table(maps: ProgramMaps) -> str:
    """A row for each map between two arrays."""
    rows = []
    for start in maps.near:
        for end, indexings in maps.of(start.name).items():
            rows += [(start.name, end, str(m.map), m.exactness) for m in indexings]
    sides = ("output", "input") if maps.direction == "output_to_input" else ("input", "output")
    return table((*sides, "map", "exactness"), rows)


def source_block(kernel: Kernel) -> str:
    """A kernel's source with its launch; highlighted if Pygments is installed, as it is with IPython."""
    about = f"<p>{escape(kernel_line(kernel))}</p>"
    try:
        from pygments import format as formatted
        from pygments.formatters import HtmlFormatter
        from pygments.lexers import CppLexer
        from pygments.token import STANDARD_TYPES
    except ImportError:
        return f"{about}{PLAIN}{escape(kernel.source)}</pre>"
    light, dark = (HtmlFormatter(style=style, cssclass=SOURCE) for style in ("default", "github-dark"))
    tokens = list(CppLexer().get_tokens(kernel.source))
    used = {STANDARD_TYPES[kind] for kind, _ in tokens if kind in STANDARD_TYPES}
    rules = f"{_rules(light, used, INK)} @media (prefers-color-scheme: dark) {{ {_rules(dark, used, DARK[INK])} }}"
    lines = f".{SOURCE} pre {{ background: none; color: inherit; font-family: monospace; }}"
    return f"{about}<style>{lines} {rules}</style>{formatted(tokens, light)}"


def _rules(formatter: HtmlFormatter[str], used: Collection[str], ink: str) -> str:
    """The rules of CSS for the classes of tokens that are used, and for the ground and the text around them."""
    rules = (rule.partition(" /*")[0] for rule in formatter.get_token_style_defs(f".{SOURCE}"))
    of_tokens = (rule for rule in rules if rule.split()[1].removeprefix(".") in used)
    ground = f".{SOURCE} {{ background: {formatter.style.background_color}; color: {ink}; }}"
    return " ".join([ground, *of_tokens])


def accesses_table(report: Coalescing) -> str:
    """A row for each access of global memory, then the conflicts of shared memory."""
    rows = []
    for a in report.accesses:
        which = f"operand {a.operand}" if a.operand is not None else f"output {a.output}"
        verdict = "yes" if a.coalesced else "no"
        rows.append((f"{a.kind} of {which}", f"{a.sectors:.6g}", f"{a.ideal:.6g}", f"{a.ratio:.3g}", verdict))
    for b in report.shared:
        rows.append(
            (
                f"{b.kind} of {b.array}, shared",
                f"{b.passes:.6g} pass" + ("" if b.passes == 1 else "es"),
                f"{b.ideal:.6g}",
                "",
                "",
            )
        )
    return table(("access", "sectors a warp", "least", "ratio", "coalesced"), rows)


def plans_table(predictions: Predictions) -> str:
    """The plans with the least predicted times."""
    head, *rows = (tuple(row) for row in predictions.cells(SHOWN))
    return f"<p>{count_text(len(predictions), 'plan')} on {escape(str(predictions.device))}</p>{table(head, rows)}"


def trials_table(tuning: Tuning) -> str:
    """A row for each plan that was tried, the fastest first."""
    head, *rows = (tuple(row) for row in tuning.cells())
    return f"<p>{escape(repr(tuning)[1:-1])}</p>{table(head, rows)}"


def tiles_table(space: TilingSpace) -> str:
    """The dimensions of a tiling space, and the tile of each array over their sizes."""
    rows = [(f"d{k}", f"{d.size} ({d.kind})", d.instruction.name) for k, d in enumerate(space.dimensions)]
    tiles = [(i.name, str(t.sizes), str(t.moved_offsets)) for (i, _), tiles_of in space.tiles.items() for t in tiles_of]
    return table(("dimension", "size", "of"), rows) + table(("array", "sizes", "offsets"), tiles)


def table(head: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    """A table of text, from the left; numbers are on the right, where notebooks put everything. Empty columns are left out."""
    columns = [k for k in range(len(head)) if not rows or any(row[k] for row in rows)]
    styles = {k: _style_of_column([row[k] for row in rows]) for k in columns}

    def line(tag: str, cells: Sequence[str]) -> str:
        return "<tr>" + "".join(f'<{tag} style="{styles[k]}">{escape(cells[k])}</{tag}>' for k in columns) + "</tr>"

    body = "".join(line("td", row) for row in rows)
    return f"<table><thead>{line('th', head)}</thead><tbody>{body}</tbody></table>"


def _style_of_column(cells: Sequence[str]) -> str:
    if all(cell[:1].isdigit() for cell in cells):
        return "text-align:right;white-space:nowrap"
    return "text-align:left" + (";min-width:30em" if max(map(len, cells)) > LONG else "")
