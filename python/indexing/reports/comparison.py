"""Comparison of two programs that do the same: fusions lost and made, and what became of them; bytes, waste, times."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from indexing.device.record import DeviceLike
from indexing.display import count_text, shown
from indexing.hlo import Program
from indexing.hlo.program_like import part_of_program
from indexing.reports.kernel_report import FusionReport, Key, kernel_key
from indexing.reports.lines import bytes_text, printable, seconds_text
from indexing.reports.program_report import ProgramReport, totals_line
from indexing.reports.programs import analyze
from indexing.reports.replacement import Replacement, line_of, replacements


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two reports, and their fusions side by side.

    Fusions in `same` are equal in both programs; those in `changed` are pairs that compute operations of the same source lines.
    `lost` are only in the program before, `made` only in the one after, both sorted by waste. `replaced` are groups of these
    that correspond: fusions that were merged, split or cut elsewhere, sorted by the difference of their bytes.
    """

    before: ProgramReport
    after: ProgramReport
    same: tuple[tuple[FusionReport, FusionReport], ...]
    changed: tuple[tuple[FusionReport, FusionReport], ...]
    lost: tuple[FusionReport, ...]
    made: tuple[FusionReport, ...]
    replaced: tuple[Replacement, ...] = ()

    def __repr__(self) -> str:
        """The programs, and how many kernels are the same, changed, lost and made; `print` shows them."""
        counts = f"{len(self.same)} the same, {len(self.changed)} changed, {len(self.lost)} lost, {len(self.made)} made"
        return f"<comparison of {self.before.name} with {self.after.name}: {counts}>"

    def __str__(self) -> str:
        """The totals of both, then what changed."""
        return "\n".join(comparison_lines(self, top=10))

    def _repr_html_(self) -> str | None:
        return shown(self, "comparison_table")


def compare(before: Program, after: Program, device: DeviceLike = None) -> Comparison:
    """Compare two programs, such as two dumps of one JAX function from two versions of XLA.

    First, equal kernels on operands of equal shapes and layouts are paired; then those that compute operations of the same
    source lines according to their metadata (without it, operations of equal shapes). Raises as `analyze` does.
    JAX functions are compared by their programs, `ix.from_jax(function, *arguments)`.
    """
    first = analyze(part_of_program(before, "compare: before"), device)
    second = analyze(part_of_program(after, "compare: after"), device)
    same, lost, made = _pair_equal(first.fusions, second.fusions)
    groups = replacements(lost, made)
    pairs = {(id(r.before[0]), id(r.after[0])): r for r in groups if len(r.before) == len(r.after) == 1}
    changed = tuple((r.before[0], r.after[0]) for r in pairs.values())
    replaced = sorted((r for r in groups if len(r.before) + len(r.after) > 2), key=lambda r: -_difference(r))
    is_changed = {i for pair in pairs for i in pair}
    lost, made = ([f for f in side if id(f) not in is_changed] for side in (lost, made))
    return Comparison(first, second, tuple(same), changed, tuple(lost), tuple(made), tuple(replaced))


def _difference(r: Replacement) -> int:
    """The absolute difference of the bytes that move before and after."""
    return abs(sum(f.bytes for f in r.before) - sum(f.bytes for f in r.after))


def _pair_equal(
    before: Sequence[FusionReport], after: Sequence[FusionReport]
) -> tuple[list[tuple[FusionReport, FusionReport]], list[FusionReport], list[FusionReport]]:
    """Pairs of equal content, in order; and the others of both sides."""
    waiting: dict[Key, list[FusionReport]] = {}
    for fusion in after:
        waiting.setdefault(kernel_key(fusion.instruction), []).append(fusion)
    pairs, lost = [], []
    for fusion in before:
        equal = waiting.get(kernel_key(fusion.instruction))
        if equal:
            pairs.append((fusion, equal.pop(0)))
        else:
            lost.append(fusion)
    left = {id(f) for fusions in waiting.values() for f in fusions}
    return pairs, lost, [f for f in after if id(f) in left]


def comparison_lines(comparison: Comparison, top: int | None = 10) -> Iterator[str]:
    """Both totals; then replaced, changed, lost and made kernels, sorted by difference or waste."""
    yield "before  " + totals_line(comparison.before)
    yield "after   " + totals_line(comparison.after)
    gained = comparison.after.wasted - comparison.before.wasted
    moved = comparison.after.bytes - comparison.before.bytes
    took = comparison.after.seconds - comparison.before.seconds
    yield f"{_signed(moved)} moved, {_signed(gained)} wasted, {_signed_time(took)}; {_same(comparison)}"
    yield f"replaced: {len(comparison.replaced)}"
    for r in comparison.replaced[:top]:
        yield f"  {_replaced(r)}"
        yield from (
            f"    {what}  {_kernel(f)}" for what, of in (("before", r.before), ("after ", r.after)) for f in of[:top]
        )
    yield f"changed: {len(comparison.changed)}"
    for a, b in comparison.changed[:top]:
        yield f"  {_kernel(a)}"
        yield f"    now {_kernel(b)}"
    replaced = {id(f) for r in comparison.replaced for f in (*r.before, *r.after)}
    for what, fusions in (("lost", comparison.lost), ("made", comparison.made)):
        alone = [f for f in fusions if id(f) not in replaced]
        yield f"{what}, and nothing like it {'after' if what == 'lost' else 'before'}: {len(alone)}"
        yield from (f"  {_kernel(f)}" for f in alone[:top])


def _replaced(r: Replacement) -> str:
    """One line: how many kernels became how many, their source line, and the bytes and times of both sides."""
    places = dict.fromkeys(line_of(f.place) for f in (*r.before, *r.after) if f.place)
    where = (
        f"  {printable(next(iter(places)))}" + (f" and {len(places) - 1} more" if len(places) > 1 else "")
        if places
        else ""
    )
    return f"{count_text(len(r.before), 'kernel')}, {_costs(r.before)} -> {len(r.after)}, {_costs(r.after)}{where}"


def _costs(fusions: Sequence[FusionReport]) -> str:
    wasted = sum(f.wasted for f in fusions)
    waste = f" ({bytes_text(wasted)} wasted)" if wasted else ""
    return (
        f"{bytes_text(sum(f.bytes for f in fusions))}{waste} in {seconds_text(sum(f.seconds or 0.0 for f in fusions))}"
    )


def _kernel(fusion: FusionReport) -> str:
    return f"{printable(fusion.name)}  {fusion.instruction.shape} {fusion.opcode}  {_costs([fusion])}"


def _same(comparison: Comparison) -> str:
    return f"{count_text(len(comparison.same), 'kernel')} {'is' if len(comparison.same) == 1 else 'are'} the same"


def _signed(count: int) -> str:
    return f"{'-' if count < 0 else '+'}{bytes_text(abs(count))}"


def _signed_time(seconds: float) -> str:
    return f"{'-' if seconds < 0 else '+'}{seconds_text(abs(seconds))}"
