"""A self-contained page of HTML about a program: a table of its kernels to sort and filter, and for each kernel its accesses
with reasons, pictures of what warps and tiles touch, maps, graph and source.

Text from the program is data in the page (JSON, set as text), never markup.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from html import escape
from os import PathLike
from pathlib import Path
from typing import TypeAlias

from indexing.analysis.memory.global_memory import coalescing
from indexing.arguments import of_type, optional, takes
from indexing.device.record import Device, DeviceLike
from indexing.errors import IndexingError
from indexing.hlo import Instruction, Program
from indexing.hlo.program_like import or_function
from indexing.indexing_analysis.programs import maps
from indexing.kernels import emit
from indexing.model.terms import terms_of
from indexing.reports.accesses import AccessReport
from indexing.reports.kernel_report import FusionReport, Group, groups_of, limit_text, remedies_together, time_of
from indexing.reports.origin import kernel_of_xla
from indexing.reports.program_report import ProgramReport, totals_line
from indexing.reports.programs import analyze
from indexing.show.banks import bank_picture
from indexing.show.colours import dark_rules
from indexing.show.fusion_pictures import pictures_of_accesses
from indexing.show.graphviz_layout import graph_svgs
from indexing.show.picture import Picture
from indexing.show.roofline import roofline_svg
from indexing.show.svg_renderer import cells_svg, highlight
from indexing.show.tile_path import tile_picture

#: The values of JSON.
Data: TypeAlias = "dict[str, Data] | list[Data] | str | int | float | bool | None"

MAX_DRAWN = 80  # instructions of a graph; larger computations have no picture
MAX_SOURCE = 40_000  # characters
NAMED = 50  # so many of equal kernels are named


@dataclass(frozen=True, slots=True)
class Page:
    """A self-contained page of HTML about a program, and the report that it shows; a notebook shows the page."""

    report: ProgramReport
    html: str

    def save(self, path: str | PathLike[str]) -> Path:
        """Write the page to a file, and return its path."""
        written = Path(path)
        written.write_text(self.html, encoding="utf-8", newline="\n")
        return written

    def __repr__(self) -> str:
        """The program, and how to write the page."""
        return f"<page about {self.report.name}, {len(self.html):,} characters; .save(path) writes it>"

    def _repr_html_(self) -> str:
        """The page in a frame, so that its style and scripts are apart from the notebook's."""
        return frame("srcdoc", self.html)


@or_function
@takes(path=optional(of_type(str, PathLike)))
def report(
    program: Program,
    device: DeviceLike = None,
    fusion: str | None = None,
    path: str | PathLike[str] | None = None,
    progress: Callable[[int, int], None] | None = None,
    profile: str | PathLike[str] | None = None,
) -> Page:
    """The page about what the kernels of a program take, move and waste: tables to sort and filter, reasons, pictures, sources.

    With a `path`, the page is also written to that file. All other arguments are those of `analyze`. Raises as that does,
    and OSError where the file can't be written.
    """
    analyzed = analyze(program, device, fusion, progress, profile)
    page = Page(analyzed, program_page(analyzed))
    if path is not None:
        page.save(path)
    return page


def frame(source: str, value: str) -> str:
    """A frame of a notebook's width with a page: its text as `srcdoc`, or its address as `src`."""
    return f'<iframe {source}="{escape(value)}" style="width: 100%; height: 44em; border: 1px solid #8888"></iframe>'


@takes(report=of_type(ProgramReport))
def program_page(report: ProgramReport) -> str:
    """The page of a program's report; a pure function of it. Equal kernels are one row."""
    groups = groups_of(report.fusions)
    texts = Texts()
    graphs = iter(graph_svgs([group[0].instruction.called[0] for group in groups if _is_drawn(group[0])]))
    data: Data = {
        "rows": [row_of(group, texts) for group in groups],
        "accesses": [[access_data(r, texts) for r in group[0].accesses] for group in groups],
        "details": [kernel_details(of, next(graphs) if _is_drawn(of) else "") for of, *_ in groups],
        "texts": texts.texts(),
    }
    filled = {
        "TITLE": escape(report.name),
        "TOTALS": "<br>".join(map(escape, (totals_line(report), *report.notes))),
        "ROOFLINE": roofline_svg(report),
        "UNIT": terms_of(report.device).unit,
        "DATA": script_json(data),
        "HIGHLIGHT": highlight(),
        "THEME": theme(),
    }
    parts = template().split("@")
    return "".join(filled.get(part, part) if k % 2 else part for k, part in enumerate(parts))


@cache
def template() -> str:
    """The page with placeholders `@NAME@` for a program's parts; it contains no other `@`."""
    return Path(__file__).with_name("page.html").read_text(encoding="utf-8")


@cache
def theme() -> str:
    """The style of all pages: light or dark as the browser's theme, and a single column if the window is narrow."""
    style = Path(__file__).with_name("theme.css").read_text(encoding="utf-8")
    return f"{style}@media (prefers-color-scheme: dark) {{ {dark_rules('.drawn')} }}\n"


def script_json(data: Data) -> str:
    """JSON for a script element, escaped so that it neither ends the element nor begins a comment."""
    text = json.dumps(data, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026").replace("@", "\\u0040")


class Texts:
    """The distinct texts of a page. Its rows refer to them by number, because programs repeat shapes, lines and reasons."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def number(self, text: str) -> int:
        """The index of a text in the list."""
        return self._numbers.setdefault(text, len(self._numbers))

    def texts(self) -> Data:
        """The texts by number."""
        return list(self._numbers)


def row_of(group: Group, texts: Texts) -> Data:
    """The cells of the table: name, opcode, seconds lost and in all (null where not modelled), share, limit, bytes that
    memory moves and that must move, operations, place; then shape, kind, note, the number of kernels, and the names of the
    others.
    """
    first, *others = group
    i = first.instruction
    name = first.name + (f" and {len(others)} like it" if others else "")
    seconds = None if first.run_seconds is None else _rounded(time_of(group))
    flops = None if first.flops is None else sum(f.flops or 0 for f in group)
    numbers: list[Data] = [_rounded(sum(f.seconds_lost for f in group)), seconds, _rounded(sum(f.share for f in group))]
    numbers += [
        texts.number(limit_text(first)),
        sum(f.dram_bytes for f in group),
        sum(f.ideal_bytes for f in group),
        flops,
    ]
    runs = f"it runs {first.times:,} times" if first.times != 1 else ""
    note = "; ".join(filter(None, (runs, first.limit_why, first.note, *remedies_together(group), kernel_of_xla(i))))
    after = (str(first.place or ""), str(i.shape), i.attributes.get("kind", ""), note)
    named = [texts.number(text) for text in after]
    return [
        texts.number(name),
        texts.number(first.opcode),
        *numbers,
        *named,
        len(group),
        [f.name for f in others[:NAMED]],
    ]


def _rounded(number: float) -> float:
    return float(f"{number:.4g}")


def access_data(row: AccessReport, texts: Texts) -> Data:
    """One access, for its sentences: kind, array, bytes needed, moved and wasted, ratio, why, remedy, note."""
    ratio = None if row.ratio is None else float(f"{row.ratio:.4g}")
    numbers = (row.ideal_bytes, row.will_move, row.wasted, ratio)
    after = (texts.number(text) for text in (row.why, row.remedy, row.note))
    return [texts.number(row.kind), texts.number(row.array), *numbers, *after]


def _is_drawn(fusion: FusionReport) -> bool:
    """Whether a kernel's graph is on the page."""
    i = fusion.instruction
    return i.is_fusion and len(i.called[0].instructions) <= MAX_DRAWN


def kernel_details(fusion: FusionReport, graph: str) -> Data:
    """Maps, graph, source and pictures of a kernel; those that cannot be made are left out, and the accesses state why."""
    i = fusion.instruction
    source, emitter = source_of(i, fusion.device) if i.is_fusion else ("", "")
    return {
        "of": fusion.name,
        "maps": str(maps(i)),
        "graph": graph,
        "source": source,
        "emitter": emitter,
        "pictures": pictures(i, fusion.device),
    }


def source_of(i: Instruction, device: Device) -> tuple[str, str]:
    """The source of a fusion's kernel on a device, and its emitter; empty if no kernel computes it."""
    try:
        kernel = emit(i, None, device)
        source = kernel.source
    except IndexingError:
        return "", ""
    return (source if len(source) <= MAX_SOURCE else source[:MAX_SOURCE] + "\n..."), kernel.emitter


def pictures(i: Instruction, device: Device) -> Data:
    """Pictures in groups with headings: accesses that are not coalesced, bank conflicts, the path of a tile."""
    try:
        groups = pictures_of_warps(i, device) if terms_of(device).has_warps else {}
    except IndexingError:
        return []
    groups["A tile of the output, and what it needs"] = tile_pictures(i)
    return [[heading, [cells_svg(p) for p in of]] for heading, of in groups.items() if of]


def pictures_of_warps(i: Instruction, device: Device) -> dict[str, Sequence[Picture]]:
    """The pictures of accesses that are not coalesced, and of bank conflicts, by their headings."""
    report = coalescing(i, device)
    slow = pictures_of_accesses(i, [a for a in report.accesses if not a.coalesced])
    return {
        "What the first warp touches, by sector": slow,
        "Shared memory: the words of a warp instruction, by bank": [bank_picture(a, device) for a in report.shared],
    }


def tile_pictures(i: Instruction) -> Sequence[Picture]:
    """The pictures of a tile, for a fusion that is small enough and whose tiles are known."""
    if not i.is_fusion or len(i.called[0].instructions) > MAX_DRAWN:
        return []
    try:
        return [tile_picture(i)]
    except IndexingError:
        return []
