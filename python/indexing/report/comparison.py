"""Comparison of two programs that do the same: fusions lost and made, bytes, waste."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from indexing.display import shown
from indexing.hlo import op_name
from indexing.report.equal_kernels import Key, content_key
from indexing.report.lines import bytes_text, counted
from indexing.report.program_report import FusionReport, ProgramReport, fusion_lines, totals_line
from indexing.report.programs import analyze

if TYPE_CHECKING:
    from indexing.analysis.device import Device
    from indexing.hlo import Instruction, Program

__all__ = ["Comparison", "compare"]


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two reports, and their fusions side by side.

    `same` compute the same in both; `changed` come from the same operation of the source; `lost` are only in the program
    before, `made` only in the one after: those that waste most first.
    """

    before: ProgramReport
    after: ProgramReport
    same: tuple[tuple[FusionReport, FusionReport], ...]
    changed: tuple[tuple[FusionReport, FusionReport], ...]
    lost: tuple[FusionReport, ...]
    made: tuple[FusionReport, ...]

    def __repr__(self) -> str:
        """The programs, and how many kernels are the same, changed, lost and made; `print` shows them."""
        counts = f"{len(self.same)} the same, {len(self.changed)} changed, {len(self.lost)} lost, {len(self.made)} made"
        return f"<comparison of {self.before.name} with {self.after.name}: {counts}>"

    def __str__(self) -> str:
        """The totals of both, then what changed."""
        return "\n".join(comparison_lines(self, top=10))

    def _repr_html_(self) -> str | None:
        return shown(self, "comparison_table")


def compare(before: Program, after: Program, device: Device | str = "h100") -> Comparison:
    """Compare two programs, such as two dumps of one JAX function from two versions of XLA.

    Kernels that compute the same from operands of the same shapes and layouts are paired, then those whose metadata names
    the same operation and that have results of the same shapes. Raises as `analyze` does.
    """
    first, second = analyze(before, device), analyze(after, device)
    same, lost, made = _paired(first.fusions, second.fusions, content_key)
    changed, lost, made = _paired(lost, made, _origin)
    return Comparison(first, second, tuple(same), tuple(changed), tuple(lost), tuple(made))


def _paired(
    before: Sequence[FusionReport], after: Sequence[FusionReport], key: Callable[[Instruction], Key]
) -> tuple[list[tuple[FusionReport, FusionReport]], list[FusionReport], list[FusionReport]]:
    """Those with equal keys in pairs, in order; and the others of both sides."""
    waiting: dict[Key, list[FusionReport]] = {}
    for fusion in after:
        waiting.setdefault(key(fusion.instruction), []).append(fusion)
    pairs, lost = [], []
    for fusion in before:
        found = waiting.get(key(fusion.instruction))
        if found:
            pairs.append((fusion, found.pop(0)))
        else:
            lost.append(fusion)
    left = {f.instruction for fusions in waiting.values() for f in fusions}
    return pairs, lost, [f for f in after if f.instruction in left]


def _origin(i: Instruction) -> Key:
    """The operation of the source, and the result's shape; for what has no name one that nothing else has."""
    name = op_name(i)
    return (name, str(i.shape)) if name else (i,)


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
