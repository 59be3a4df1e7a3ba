"""Comparison of two programs that do the same: fusions lost and made, and what became of them; bytes, waste, times."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from indexing.device.record import DeviceLike
from indexing.display import count_text, shown
from indexing.hlo import Program
from indexing.hlo.program_like import part_of_program
from indexing.reports.kernel_report import FusionReport, Key, groups_of, kernel_key, time_of, title_of
from indexing.reports.lines import bytes_text, printable, seconds_text
from indexing.reports.program_report import ProgramReport, totals_line
from indexing.reports.programs import analyze
from indexing.reports.replacement import Replacement, line_of, replacements


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two reports, and their fusions side by side.

    Fusions in `same` are equal in both programs; those in `changed` are pairs that compute operations of the same source lines.
    `lost` are only in the program before, `made` only in the one after, sorted by lost time. `replaced` are groups of these
    that correspond: fusions that were merged, split or cut elsewhere. These and pairs are sorted by the difference of their
    times, then of their bytes.
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
    groups = sorted(replacements(lost, made), key=_difference, reverse=True)
    pairs = {(id(r.before[0]), id(r.after[0])): r for r in groups if len(r.before) == len(r.after) == 1}
    changed = tuple((r.before[0], r.after[0]) for r in pairs.values())
    replaced = [r for r in groups if len(r.before) + len(r.after) > 2]
    is_changed = {i for pair in pairs for i in pair}
    lost, made = ([f for f in side if id(f) not in is_changed] for side in (lost, made))
    return Comparison(first, second, tuple(same), changed, tuple(lost), tuple(made), tuple(replaced))


def _difference(r: Replacement) -> tuple[float, int]:
    """The absolute differences of the time and of the bytes that move before and after."""
    before, after = (sum(f.bytes for f in side) for side in (r.before, r.after))
    return abs(time_of(r.after) - time_of(r.before)), abs(after - before)


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
    """Totals; then replaced and changed kernels, sorted by difference; lost and made ones, equal ones together, by time."""
    yield "before  " + totals_line(comparison.before)
    yield "after   " + totals_line(comparison.after)
    yield f"{_difference_text(comparison.before, comparison.after)}; {_same(comparison)}"
    yield f"replaced: {len(comparison.replaced)}"
    for r in comparison.replaced[:top]:
        yield f"  {_replaced(r)}"
        yield from (
            f"    {what}  {_kernel(f)}" for what, of in (("before", r.before), ("after ", r.after)) for f in of[:top]
        )
    yield f"changed: {len(comparison.changed)}"
    for a, b in comparison.changed[:top]:
        yield f"  {_kernel(a)}"
        yield f"    now {_kernel(b)}, {_signed_time(time_of([b]) - time_of([a]))}"
    replaced = {id(f) for r in comparison.replaced for f in (*r.before, *r.after)}
    for what, fusions in (("lost", comparison.lost), ("made", comparison.made)):
        alone = [f for f in fusions if id(f) not in replaced]
        yield f"{what}, and nothing like it {'after' if what == 'lost' else 'before'}: {len(alone)}"
        yield from (f"  {title_of(group)}  {_costs(group)}" for group in groups_of(alone, "time")[:top])


def _difference_text(before: ProgramReport, after: ProgramReport) -> str:
    """The differences of time, of moved bytes and of wasted ones, after less before."""
    memory, moved, wasted = (
        _signed(round(getattr(after, name) - getattr(before, name))) for name in ("dram_bytes", "bytes", "wasted")
    )
    took = _signed_time(after.seconds - before.seconds)
    return f"{took}; memory moves {memory}, loads and stores {moved}, of which {wasted} are wasted"


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
    return f"{bytes_text(sum(f.bytes for f in fusions))}{waste} in {seconds_text(time_of(fusions))}"


def _kernel(fusion: FusionReport) -> str:
    return f"{printable(fusion.name)}  {fusion.instruction.shape} {fusion.opcode}  {_costs([fusion])}"


def _same(comparison: Comparison) -> str:
    return f"{count_text(len(comparison.same), 'kernel')} {'is' if len(comparison.same) == 1 else 'are'} the same"


def _signed(count: int) -> str:
    return f"{'-' if count < 0 else '+'}{bytes_text(abs(count))}"


def _signed_time(seconds: float) -> str:
    return f"{'-' if seconds < 0 else '+'}{seconds_text(abs(seconds))}"
