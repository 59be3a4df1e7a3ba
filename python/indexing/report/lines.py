"""A program's report as text: totals, then fusion by fusion what wastes, why, and what would mend it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from indexing.report.equal_kernels import Group, groups_of

if TYPE_CHECKING:
    from indexing.emitters.kernel import Kernel
    from indexing.report.accesses import Row
    from indexing.report.comparison import Comparison
    from indexing.report.programs import FusionReport, ProgramReport

__all__ = [
    "brief",
    "bytes_text",
    "comparison_lines",
    "counted",
    "kernel_line",
    "report_lines",
    "seconds_text",
    "totals_line",
]

STEP = 1000
NOTEWORTHY = 10  # an excess of a tenth of what the fusion moves
NAMED = 3  # of equal kernels
BYTES = ("B", "kB", "MB", "GB", "TB", "PB")
SECONDS = ("ns", "us", "ms", "s")


def report_lines(
    report: ProgramReport, top: int | None = 10, min_waste: int = 0, all_by: str = "`.fusions` has all"
) -> Iterator[str]:
    """The totals of all; the worst fusions, equal ones together, with the accesses that move more than they must."""
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
    """The first of equal fusions; after its line one about the others."""
    first, *others = group
    lines = fusion_lines(first, mark)
    yield next(lines)
    if others:
        names = ", ".join(printable(f.name) for f in others[:NAMED]) + (", .." if len(others) > NAMED else "")
        yield f"{' ' * len(mark)}and {len(others)} like it ({names}), together {waste_text(group)}"
    yield from lines


def comparison_lines(found: Comparison, top: int | None = 10) -> Iterator[str]:
    """Both totals; then fusions lost, made and changed, those that waste most first."""
    yield "before  " + totals_line(found.before)
    yield "after   " + totals_line(found.after)
    gained = found.after.wasted - found.before.wasted
    moved = found.after.will_move - found.before.will_move
    yield f"{_signed(moved)} moved, {_signed(gained)} wasted; {_same(found)}"
    for what, fusions in (("lost", found.lost), ("made", found.made)):
        yield f"{what}: {len(fusions)}"
        yield from (f"  {next(fusion_lines(f))}" for f in fusions[:top])
    yield f"changed: {len(found.changed)}"
    for a, b in found.changed[:top]:
        yield f"  {next(fusion_lines(a))}"
        yield f"    now {next(fusion_lines(b))}"


def _same(found: Comparison) -> str:
    return f"{counted(len(found.same), 'kernel')} {'is' if len(found.same) == 1 else 'are'} the same"


def _signed(count: int) -> str:
    return f"{'-' if count < 0 else '+'}{bytes_text(abs(count))}"


def totals_line(report: ProgramReport) -> str:
    """One line: the kernels, their time, what they move and must move, what they waste."""
    moves = "moves" if len(report.fusions) == 1 else "move"
    return (
        f"{brief_head(report)} {moves} {bytes_text(report.will_move)} in {seconds_text(report.seconds)}; "
        f"{bytes_text(report.must_move)} must move; {_wasted(report)}"
    )


def _wasted(report: ProgramReport) -> str:
    if not report.wasted:
        return "nothing is wasted"
    share = report.wasted / report.will_move
    part = f"{share:.0%}" if share >= 0.01 else "under 1%"
    return f"wasted: {bytes_text(report.wasted)} ({part}), {seconds_text(report.seconds_lost)}"


def brief_head(report: ProgramReport) -> str:
    """The program, the device, and how many kernels."""
    return f"{printable(report.name)} on {report.device.name}: {counted(len(report.fusions), 'kernel')}"


def brief(report: ProgramReport) -> str:
    """The kernels, and what they waste."""
    return f"{brief_head(report)}, {waste_text(report.fusions)}"


def waste_text(fusions: Sequence[FusionReport]) -> str:
    """The bytes that fusions waste of those that they move, and the times for both."""
    wasted, moved = sum(f.wasted for f in fusions), sum(f.will_move for f in fusions)
    seconds, lost = sum(f.seconds for f in fusions), sum(f.seconds_lost for f in fusions)
    if not wasted:
        return f"{bytes_text(moved)}, {seconds_text(seconds)}, nothing wasted"
    return f"{bytes_text(wasted)} wasted of {bytes_text(moved)}, {seconds_text(lost)} of {seconds_text(seconds)}"


def counted(count: int, noun: str) -> str:
    """`1 kernel`, `2 kernels`."""
    return f"{count} {noun}" + ("" if count == 1 else "s")


def fusion_lines(fusion: FusionReport, mark: str = "") -> Iterator[str]:
    """One fusion: a line about it, then its accesses that move more than they must where that can be mended."""
    place = f"  {printable(str(fusion.place))}" if fusion.place else ""
    shape = f"{fusion.instruction.shape} {fusion.instruction.opcode}"
    yield f"{mark}{printable(fusion.name)}  {shape}  {waste_text([fusion])}{place}"
    for row in fusion.accesses:
        much = row.remedy and row.excess * NOTEWORTHY >= fusion.will_move > 0
        if row.wasted or row.note or much:
            yield from (f"{' ' * len(mark)}{line}" for line in row_lines(row))


def row_lines(row: Row) -> Iterator[str]:
    """One access: what it moves; below it why that is more than it must, and what would mend it."""
    moved = "unknown" if row.will_move is None else bytes_text(row.will_move)
    ratio = "" if row.ratio is None or row.ratio < 1.005 else f", {row.ratio:.2f} times the sectors that it needs"
    yield f"{row.kind} {printable(row.array)}: {bytes_text(row.must_move)} must move, {moved} will{ratio}"
    if row.why:
        yield f"  why: {printable(row.why)}"
    if row.remedy:
        yield f"  mend: {printable(row.remedy)}"
    if row.note:
        yield f"  note: {printable(row.note)}"


def kernel_line(kernel: Kernel) -> str:
    """One line: the kernel's name, its emitter and its launch dimensions."""
    return f"{kernel.name}: {kernel.emitter} emitter, grid {kernel.grid}, block {kernel.block}"


def bytes_text(count: float) -> str:
    """Bytes in units of 1000: `24.6 kB`."""
    unit = 0
    while abs(count) >= STEP and unit + 1 < len(BYTES):
        count, unit = count / STEP, unit + 1
    return f"{count:.0f} {BYTES[unit]}" if unit == 0 else f"{count:.3g} {BYTES[unit]}"


def seconds_text(seconds: float) -> str:
    """A time in a fitting unit: `7.3 us`."""
    count, unit = seconds * 1e9, 0
    while count >= STEP and unit + 1 < len(SECONDS):
        count, unit = count / STEP, unit + 1
    return f"{count:.3g} {SECONDS[unit]}"


def printable(text: str) -> str:
    """The text with what a terminal would obey escaped."""
    return text if text.isprintable() else text.encode("unicode_escape").decode()
