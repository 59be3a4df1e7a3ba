"""Reports of programs: their kernels, sorted by the time that they lose, with totals: as text, as columns, as data frames."""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from itertools import chain
from typing import Any

from indexing.device.record import Device
from indexing.display import count_text, shown
from indexing.errors import IndexingError, UnsupportedOp
from indexing.extras import missing_extra
from indexing.model.terms import terms_of
from indexing.reports.accesses import AccessReport
from indexing.reports.kernel_report import (
    ORDERS,
    Cell,
    FusionReport,
    groups_of,
    kernel_lines,
    lost_text,
    sorted_kernels,
    time_of,
)
from indexing.reports.lines import bytes_text, number_text, printable, seconds_text
from indexing.reports.runs import TimeRange


@dataclass(frozen=True, slots=True)
class ProgramReport:
    """The kernels of a program, sorted by the time that they lose, then by the time that they take.

    `fusions` has all kernels, so that totals are those of the whole program; those without a prediction have no seconds, and
    `not_modelled` is their number. `view` says which kernels these are. `range` has the least and the greatest time over the
    branches that conditionals may take; totals are those of the slowest branches. `notes` say what was assumed of the program.
    """

    name: str
    device: Device
    fusions: tuple[FusionReport, ...]
    view: str = ""
    range: TimeRange = field(default_factory=TimeRange)
    notes: tuple[str, ...] = ()

    @property
    def rows(self) -> tuple[AccessReport, ...]:
        """The accesses of one run of each kernel, in the order of kernels."""
        return tuple(row for fusion in self.fusions for row in fusion.accesses)

    @property
    def ideal_bytes(self) -> int:
        """The bytes that must move."""
        return sum(f.ideal_bytes for f in self.fusions)

    @property
    def bytes(self) -> int:
        """The bytes that will move; those that must move for accesses without a known map."""
        return sum(f.bytes for f in self.fusions)

    @property
    def dram_bytes(self) -> float:
        """The bytes that the device's memory moves, without those that caches serve."""
        return sum(f.dram_bytes for f in self.fusions)

    @property
    def wasted(self) -> int:
        """The bytes of sectors, or of cache lines, that coalesced accesses would not move."""
        return sum(f.wasted for f in self.fusions)

    @property
    def flops(self) -> int:
        """The operations of the kernels for which they are known."""
        return sum(f.flops or 0 for f in self.fusions)

    @property
    def seconds(self) -> float:
        """The predicted seconds of its kernels, as far as they are modelled, and of the launch of the first."""
        of_kernels = sum(f.seconds or 0.0 for f in self.fusions)
        return of_kernels + (self.device.first_launch_seconds if of_kernels else 0.0)

    @property
    def seconds_lost(self) -> float:
        """The part of the predicted seconds that is due to waste."""
        return sum(f.seconds_lost for f in self.fusions)

    @property
    def not_modelled(self) -> int:
        """The number of kernels that run and whose time is not modelled: `seconds` is without them."""
        return sum(f.run_seconds is None and f.times > 0 for f in self.fusions)

    def sorted_by(self, order: str) -> ProgramReport:
        """The report in another order: one of `lost` (time), `time`, `bytes`, `wasted` (bytes), `flops`.

        Raises IndexingError for others.
        """
        if order not in ORDERS:
            raise IndexingError(f"kernels can be sorted by {', '.join(ORDERS)}; got {order!r}")
        return replace(self, fusions=tuple(sorted_kernels(self.fusions, order)))

    def worst(self, top: int | None = None, min_waste: int = 0) -> ProgramReport:
        """A report of the first kernels only: at most `top`, each of which wastes at least `min_waste` bytes."""
        kept = [f for f in self.fusions if f.wasted >= min_waste]
        return replace(self, fusions=tuple(kept[:top]))

    def columns(self) -> dict[str, list[Cell]]:
        """A column for each fact about a kernel, a row for each kernel: for data frames."""
        return _columns(f.cells() for f in self.fusions)

    def access_columns(self) -> dict[str, list[Cell]]:
        """A column for each fact about an access in one run, a row for each access: for data frames."""
        return _columns(
            {"place": str(f.place) if f.place else None, **{name: getattr(row, name) for name in _ACCESS}}
            for f in self.fusions
            for row in f.accesses
        )

    def to_pandas(self, accesses: bool = False) -> object:
        """A pandas DataFrame of the kernels, or of their accesses. Raises UnsupportedOp if pandas is not installed."""
        return _library("pandas").DataFrame(self.access_columns() if accesses else self.columns())

    def to_arrow(self, accesses: bool = False) -> object:
        """A pyarrow Table of the kernels, or of their accesses. Raises UnsupportedOp if pyarrow is not installed."""
        return _library("pyarrow").table(self.access_columns() if accesses else self.columns())

    def __repr__(self) -> str:
        """The number of kernels and their time; `print` shows the worst."""
        count = count_text(len(self.fusions), "kernel")
        return f"<{self.name} on {self.device}: {count} in {seconds_text(self.seconds)}, {lost_text(self.fusions)} of it lost>"

    def __str__(self) -> str:
        """The totals, then the first ten kernels with the accesses that waste, and the reasons."""
        return "\n".join(report_lines(self, top=10))

    def _repr_html_(self) -> str | None:
        return shown(self, "report_table")


_ACCESS = tuple(f.name for f in fields(AccessReport))


def _columns(rows: Iterable[Mapping[str, Cell]]) -> dict[str, list[Cell]]:
    table: dict[str, list[Cell]] = {}
    for row in rows:
        for name, cell in row.items():
            table.setdefault(name, []).append(cell)
    return table


def _library(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError as missing:
        raise UnsupportedOp(missing_extra(f"a table of {name}", "data", missing)) from None


def report_lines(
    report: ProgramReport,
    top: int | None = 10,
    min_waste: int = 0,
    order: str = "lost",
    all_by: str = "`.fusions` has all",
    roofline: bool = False,
) -> Iterator[str]:
    """The totals of all; then groups of equal kernels, with the accesses that move more than they must."""
    yield totals_line(report)
    yield from (f"note: {printable(note)}" for note in report.notes)
    kept = groups_of(report.worst(None, min_waste).fusions, order)[:top]
    if kept:
        yield ""
        yield from kernel_lines(kept, roofline)
    rest = len(report.fusions) - sum(map(len, kept))
    if rest:
        others = set(map(id, report.fusions)) - {id(f) for f in chain.from_iterable(kept)}
        left = [f for f in report.fusions if id(f) in others]
        yield ""
        yield f"{rest} more, which take {seconds_text(time_of(left))} and lose {lost_text(left)}; {all_by}."


def totals_line(report: ProgramReport) -> str:
    """One line: the kernels, their time and what is lost of it, the bytes that they move and must move."""
    time = seconds_text(report.seconds)
    if report.range.greatest - report.range.least > report.seconds / 1000:
        time += f" ({seconds_text(report.range.least)} to {seconds_text(report.range.greatest)}, by the branches taken)"
    view = f", {report.view}" if report.view else ""
    text = (
        f"{printable(report.name)} on {report.device}{view}: {count_text(len(report.fusions), 'kernel')} in {time}, "
        f"{lost_text(report.fusions)} of it lost; memory moves {bytes_text(report.dram_bytes)}, "
        f"{bytes_text(report.ideal_bytes)} must, and {_wasted(report)}; "
        f"{number_text(report.flops)}FLOP"
    )
    if report.not_modelled:
        text += f"; {count_text(report.not_modelled, 'kernel')} not modelled, and not in these times"
    return text


def _wasted(report: ProgramReport) -> str:
    if not report.wasted:
        return f"loads and stores waste no {terms_of(report.device).unit}s"
    share = report.wasted / report.bytes
    return f"loads and stores waste {bytes_text(report.wasted)}" + (
        f" ({share:.0%} of theirs)" if share >= 0.01 else ""
    )
