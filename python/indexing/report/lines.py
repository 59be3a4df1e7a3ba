"""A program's report as text: totals, then fusion by fusion what wastes, why, and what would mend it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from indexing.emitters.kernel import Kernel
    from indexing.report.accesses import Row
    from indexing.report.comparison import Comparison
    from indexing.report.programs import FusionReport, ProgramReport

__all__ = ["bytes_text", "comparison_lines", "kernel_line", "report_lines", "seconds_text", "totals_line"]

STEP = 1000
NOTEWORTHY = 10  # an excess of a tenth of what the fusion moves
BYTES = ("B", "kB", "MB", "GB", "TB", "PB")
SECONDS = ("ns", "us", "ms", "s")


def report_lines(report: ProgramReport, top: int | None = 10, min_waste: int = 0) -> Iterator[str]:
    """The totals of all; the worst fusions with the accesses that move more than they must."""
    yield totals_line(report)
    kept = report.worst(top, min_waste).fusions
    width = len(str(len(kept)))
    for number, fusion in enumerate(kept, 1):
        yield ""
        yield from fusion_lines(fusion, f"{number:{width}}. ")
    left_out = len(report.fusions) - len(kept)
    if left_out:
        rest = sum(f.wasted for f in report.fusions) - sum(f.wasted for f in kept)
        yield ""
        yield f"{left_out} more, which waste {bytes_text(rest)} together; --top 0 shows all."


def comparison_lines(found: Comparison, top: int | None = 10) -> Iterator[str]:
    """Both totals; then fusions lost, made and changed, those that waste most first."""
    yield "before  " + totals_line(found.before)
    yield "after   " + totals_line(found.after)
    gained = found.after.wasted - found.before.wasted
    moved = found.after.will_move - found.before.will_move
    yield f"{_signed(moved)} moved, {_signed(gained)} wasted; {len(found.same)} kernels are the same"
    for what, fusions in (("lost", found.lost), ("made", found.made)):
        yield f"{what}: {len(fusions)}"
        yield from (f"  {next(fusion_lines(f))}" for f in fusions[:top])
    yield f"changed: {len(found.changed)}"
    for a, b in found.changed[:top]:
        yield f"  {next(fusion_lines(a))}"
        yield f"    now {next(fusion_lines(b))}"


def _signed(count: int) -> str:
    return f"{'-' if count < 0 else '+'}{bytes_text(abs(count))}"


def totals_line(report: ProgramReport) -> str:
    """One line: what must move, what will, what is wasted, and the time for it."""
    share = report.wasted / report.will_move if report.will_move else 0.0
    return (
        f"{printable(report.name)} on {report.device.name}: {len(report.fusions)} kernels; "
        f"{bytes_text(report.must_move)} must move, {bytes_text(report.will_move)} will, "
        f"{bytes_text(report.wasted)} of them wasted ({share:.0%}): "
        f"{seconds_text(report.seconds_lost)} of {seconds_text(report.seconds)}"
    )


def fusion_lines(fusion: FusionReport, mark: str = "") -> Iterator[str]:
    """One fusion: a line about it, then its accesses that move more than they must."""
    place = f"  {printable(str(fusion.place))}" if fusion.place else ""
    shape = f"{fusion.instruction.shape} {fusion.instruction.opcode}"
    waste = f"{bytes_text(fusion.wasted)} wasted of {bytes_text(fusion.will_move)}, {seconds_text(fusion.seconds_lost)}"
    yield f"{mark}{printable(fusion.name)}  {shape}  {waste}{place}"
    indent = " " * len(mark)
    noted = [
        row for row in fusion.accesses if row.wasted or row.note or row.excess * NOTEWORTHY >= fusion.will_move > 0
    ]
    for row in noted:
        yield from (f"{indent}{line}" for line in row_lines(row))
    if not noted:
        yield f"{indent}moves what it must"


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
