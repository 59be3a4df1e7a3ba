"""Reports of a program's kernels, sorted by waste, with totals: as text, as columns, as data frames."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from typing import Any, TypeAlias

from indexing.device.record import Device
from indexing.display import shown
from indexing.errors import UnsupportedOp
from indexing.extras import missing_extra
from indexing.hlo import Instruction, Place
from indexing.report.accesses import AccessReport
from indexing.report.equal_kernels import content_key
from indexing.report.lines import bytes_text, count_text, printable, row_lines, seconds_text

__all__ = ["FusionReport", "Group", "ProgramReport", "groups_of"]

NOTEWORTHY = 10  # excess at least, as a fraction of the bytes that the fusion moves
NAMED = 3  # of equal kernels
#: A cell of a table of accesses.
Cell: TypeAlias = "str | int | float | bool | None"
#: The reports of equal kernels.
Group: TypeAlias = "list[FusionReport]"


@dataclass(frozen=True, slots=True)
class FusionReport:
    """The traffic of one fusion (or other instruction): its accesses, sorted by waste.

    `seconds` is the time that `ix.predict` predicts for the default plan of its kernel (without a kernel: for a loop that moves
    as many bytes), `seconds_lost` how much of it is due to waste. `place` is the source line according to metadata, or empty.
    """

    instruction: Instruction
    accesses: tuple[AccessReport, ...]
    device: Device
    seconds: float
    seconds_lost: float
    place: Place | None = None

    @property
    def name(self) -> str:
        """The instruction's name."""
        return self.instruction.name

    @property
    def ideal_bytes(self) -> int:
        """The bytes that must move."""
        return sum(r.ideal_bytes for r in self.accesses)

    @property
    def will_move(self) -> int:
        """The bytes that will move; those that must move for accesses without a known map."""
        return sum(r.ideal_bytes if r.will_move is None else r.will_move for r in self.accesses)

    @property
    def wasted(self) -> int:
        """The bytes of sectors that coalesced accesses of the same elements would not move."""
        return sum(r.wasted for r in self.accesses)

    def __repr__(self) -> str:
        """The name, and the bytes and time wasted; `print` shows the reasons."""
        return f"<{next(iter(str(self).splitlines()))}>"

    def __str__(self) -> str:
        """A line about the fusion, then its accesses that waste, with reasons."""
        return "\n".join(fusion_lines(self))


@dataclass(frozen=True, slots=True)
class ProgramReport:
    """The kernels of a program, sorted by waste, then by the bytes that they move beyond those that must.

    `fusions` includes all other instructions that move data, so that totals are those of the whole program.
    """

    name: str
    device: Device
    fusions: tuple[FusionReport, ...]

    @property
    def rows(self) -> tuple[AccessReport, ...]:
        """The accesses of all fusions, in their order."""
        return tuple(row for fusion in self.fusions for row in fusion.accesses)

    @property
    def ideal_bytes(self) -> int:
        """The bytes that must move."""
        return sum(f.ideal_bytes for f in self.fusions)

    @property
    def will_move(self) -> int:
        """The bytes that will move; those that must move for accesses without a known map."""
        return sum(f.will_move for f in self.fusions)

    @property
    def wasted(self) -> int:
        """The bytes of sectors that coalesced accesses would not move."""
        return sum(f.wasted for f in self.fusions)

    @property
    def seconds(self) -> float:
        """The sum of the predicted seconds of its kernels."""
        return sum(f.seconds for f in self.fusions)

    @property
    def seconds_lost(self) -> float:
        """The part of the predicted seconds that is due to waste."""
        return sum(f.seconds_lost for f in self.fusions)

    def worst(self, top: int | None = None, min_waste: int = 0) -> ProgramReport:
        """A report of the worst fusions only: at most `top`, each of which wastes at least `min_waste` bytes."""
        kept = [f for f in self.fusions if f.wasted >= min_waste]
        return ProgramReport(self.name, self.device, tuple(kept[:top]))

    def columns(self) -> dict[str, list[Cell]]:
        """A column for each fact about an access, a row for each access: for data frames."""
        table: dict[str, list[Cell]] = {name: [] for name in ("place", *(f.name for f in fields(AccessReport)))}
        for fusion in self.fusions:
            for row in fusion.accesses:
                table["place"].append(str(fusion.place) if fusion.place else None)
                for f in fields(AccessReport):
                    table[f.name].append(getattr(row, f.name))
        return table

    def to_pandas(self) -> object:
        """A pandas DataFrame of the accesses. Raises UnsupportedOp if pandas is not installed."""
        return _library("pandas").DataFrame(self.columns())

    def to_arrow(self) -> object:
        """A pyarrow Table of the accesses. Raises UnsupportedOp if pyarrow is not installed."""
        return _library("pyarrow").table(self.columns())

    def __repr__(self) -> str:
        """The number of kernels and their waste; `print` shows the worst."""
        return f"<{brief(self)}>"

    def __str__(self) -> str:
        """The totals, then the ten worst fusions with the accesses that waste, and the reasons."""
        return "\n".join(report_lines(self, top=10))

    def _repr_html_(self) -> str | None:
        return shown(self, "report_table")


def groups_of(fusions: Sequence[FusionReport]) -> list[Group]:
    """Groups of fusions that are equal except for names, sorted by the waste of the group."""
    found: dict[object, Group] = {}
    for fusion in fusions:
        found.setdefault(content_key(fusion.instruction), []).append(fusion)
    return sorted(found.values(), key=lambda group: -sum(f.wasted for f in group))


def report_lines(
    report: ProgramReport, top: int | None = 10, min_waste: int = 0, all_by: str = "`.fusions` has all"
) -> Iterator[str]:
    """The totals of all; then groups of the worst equal fusions, with the accesses that move more than they must."""
    yield totals_line(report)
    kept = groups_of(report.worst(None, min_waste).fusions)[:top]
    width = len(str(len(kept)))
    for number, group in enumerate(kept, 1):
        yield ""
        yield from group_lines(group, f"{number:{width}}. ")
    left_out = len(report.fusions) - sum(map(len, kept))
    if left_out:
        rest = report.wasted - sum(f.wasted for group in kept for f in group)
        yield ""
        yield f"{left_out} more, which waste {bytes_text(rest) if rest else 'nothing'}; {all_by}."


def group_lines(group: Group, mark: str = "") -> Iterator[str]:
    """The lines of the first of equal fusions; after its first line comes one about the others."""
    first, *others = group
    lines = fusion_lines(first, mark)
    yield next(lines)
    if others:
        names = ", ".join(printable(f.name) for f in others[:NAMED]) + (", .." if len(others) > NAMED else "")
        yield f"{' ' * len(mark)}and {len(others)} like it ({names}), together {waste_text(group)}"
    yield from lines


def totals_line(report: ProgramReport) -> str:
    """One line: the number of kernels, their time, and the bytes that they move, must move, and waste."""
    moves = "moves" if len(report.fusions) == 1 else "move"
    return (
        f"{brief_head(report)} {moves} {bytes_text(report.will_move)} in {seconds_text(report.seconds)}; "
        f"{bytes_text(report.ideal_bytes)} must move; {_wasted(report)}"
    )


def _wasted(report: ProgramReport) -> str:
    if not report.wasted:
        return "nothing is wasted"
    share = report.wasted / report.will_move
    part = f"{share:.0%}" if share >= 0.01 else "under 1%"
    return f"wasted: {bytes_text(report.wasted)} ({part}), {seconds_text(report.seconds_lost)}"


def brief_head(report: ProgramReport) -> str:
    """The program, the device, and the number of kernels."""
    return f"{printable(report.name)} on {report.device}: {count_text(len(report.fusions), 'kernel')}"


def brief(report: ProgramReport) -> str:
    """The number of kernels, and their waste."""
    return f"{brief_head(report)}, {waste_text(report.fusions)}"


def waste_text(fusions: Sequence[FusionReport]) -> str:
    """The bytes that fusions waste, and those that they move, with the times for both."""
    wasted, moved = sum(f.wasted for f in fusions), sum(f.will_move for f in fusions)
    seconds, lost = sum(f.seconds for f in fusions), sum(f.seconds_lost for f in fusions)
    if not wasted:
        return f"{bytes_text(moved)}, {seconds_text(seconds)}, nothing wasted"
    return f"{bytes_text(wasted)} wasted of {bytes_text(moved)}, {seconds_text(lost)} of {seconds_text(seconds)}"


def fusion_lines(fusion: FusionReport, mark: str = "") -> Iterator[str]:
    """A line about the fusion, then its accesses that move more than they must and for which there is a remedy."""
    place = f"  {printable(str(fusion.place))}" if fusion.place else ""
    shape = f"{fusion.instruction.shape} {fusion.instruction.opcode}"
    yield f"{mark}{printable(fusion.name)}  {shape}  {waste_text([fusion])}{place}"
    for row in fusion.accesses:
        much = row.remedy and row.excess * NOTEWORTHY >= fusion.will_move > 0
        if row.wasted or row.note or much:
            yield from (f"{' ' * len(mark)}{line}" for line in row_lines(row))


def _library(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError as missing:
        raise UnsupportedOp(missing_extra(f"a table of {name}", "data", missing)) from None
