"""Reports of kernels: time and its limit, traffic, operations; groups of equal kernels, in several orders, and as text."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from indexing.device.record import Device
from indexing.display import aligned, count_text
from indexing.hlo import Computation, Instruction, Place
from indexing.model.terms import terms_of
from indexing.ops.operation_count import OperationCount
from indexing.reports.accesses import AccessReport
from indexing.reports.lines import bytes_text, number_text, printable, seconds_text
from indexing.reports.loop_runs import LoopRuns
from indexing.reports.origin import kernel_of_xla
from indexing.reports.roofline import attainable_flops

#: The key that equal kernels have in common.
Key: TypeAlias = "tuple[object, ...]"
_NAMES = frozenset({"metadata", "backend_config", "frontend_attributes", "calls", "to_apply", "sharding"})

#: A cell of a table of kernels or accesses.
Cell: TypeAlias = "str | int | float | bool | None"
#: The reports of equal kernels.
Group: TypeAlias = "list[FusionReport]"
NOTEWORTHY = 10  # excess at least, as a fraction of the bytes that the kernel moves
NAMED = 3  # so many of equal kernels are named
#: Headings of the figures of kernels.
FIGURES = ("measured", "lost", "time", "share", "limit", "DRAM", "FLOPs")
ROOFLINE = ("FLOP/B", "FLOP/s", "attainable")


@dataclass(frozen=True, slots=True)
class FusionReport:
    """One kernel of a program: its time, the limit of that time, its traffic and its operations, over all of its runs.

    `origin` is an instruction of the program, the kernel's result; `instruction` is the fusion or instruction that the
    kernel computes. It runs `times` times. A run takes `run_seconds` (None if that is not modelled), by the prediction of
    `ix.predict`; without its waste, `run_seconds_lost` less. `limit` names what takes the time, `limit_part` the cache that is
    meant where it is no memory of the device's own, and `limit_why` has the figures behind it. `accesses` are those of one
    run, sorted by waste, `operations` those of one run. `share` is the part of the program's time. `place` is the source
    line according to metadata; `note` says what was assumed; `remedies` are changes of the program that save time. `measured`
    are the seconds of all runs by a profile, if there is one; `memory_bytes` those of one run that caches do not serve. Of a
    kernel `in_loop`, these and `run_seconds` are means of its runs.
    """

    origin: Instruction
    instruction: Instruction
    accesses: tuple[AccessReport, ...]
    device: Device
    run_seconds: float | None
    run_seconds_lost: float
    limit: str
    operations: OperationCount
    times: int = 1
    share: float = 0.0
    place: Place | None = None
    note: str = ""
    measured: float | None = None
    remedies: tuple[str, ...] = ()
    memory_bytes: float | None = None
    limit_part: str = ""
    limit_why: str = ""
    in_loop: LoopRuns | None = None

    @property
    def name(self) -> str:
        """The name of its result in the program."""
        return self.origin.name

    @property
    def opcode(self) -> str:
        """The opcode of its only instruction; `fusion` if it computes several."""
        i = self.instruction
        computed = (
            [j for j in i.called[0].listed if not j.is_parameter] if i.is_fusion and not self.origin.is_fusion else ()
        )
        return self.origin.opcode if len(computed) == 1 else i.opcode

    @property
    def seconds(self) -> float | None:
        """The predicted seconds of all runs; None if they are not modelled."""
        return None if self.run_seconds is None else self.run_seconds * self.times

    @property
    def seconds_lost(self) -> float:
        """The predicted seconds of all runs that are due to waste."""
        return self.run_seconds_lost * self.times

    @property
    def bytes(self) -> int:
        """The bytes that all runs move; those that must move for accesses without a known map."""
        return self.times * sum(r.ideal_bytes if r.will_move is None else r.will_move for r in self.accesses)

    @property
    def ideal_bytes(self) -> int:
        """The bytes that must move, in all runs: not those that caches keep from run to run."""
        return min(self.times * sum(r.ideal_bytes for r in self.accesses), round(self.dram_bytes))

    @property
    def dram_bytes(self) -> float:
        """The bytes that the device's memory moves in all runs: what caches serve is left out, as far as it is predicted."""
        return self.bytes if self.memory_bytes is None else self.memory_bytes * self.times

    @property
    def wasted(self) -> int:
        """The bytes of sectors that coalesced accesses of the same elements would not move, in all runs."""
        return self.times * sum(r.wasted for r in self.accesses)

    @property
    def flops(self) -> int | None:
        """The operations of all runs, functions such as exp apart (`operations`); None if they are not known."""
        return None if self.operations.unknown else self.operations.flops * self.times

    @property
    def intensity(self) -> float | None:
        """The arithmetic intensity: operations for each byte that memory moves; None if not known, or nothing moves."""
        return None if self.flops is None or not self.dram_bytes else self.flops / self.dram_bytes

    @property
    def flops_per_second(self) -> float | None:
        """Operations a second at the predicted time: the height in a roofline over `intensity`."""
        return None if self.flops is None or not self.seconds else self.flops / self.seconds

    @property
    def attainable(self) -> float | None:
        """Operations a second at most, by its intensity, the memory's bandwidth and the units that compute."""
        return None if self.intensity is None else attainable_flops(self.instruction, self.device, self.intensity)

    def cells(self) -> dict[str, Cell]:
        """All facts about the kernel, by column."""
        i = self.instruction
        return {
            "kernel": self.name,
            "opcode": self.opcode,
            "shape": str(i.shape),
            "times": self.times,
            "seconds": self.seconds,
            "seconds_lost": self.seconds_lost,
            "measured": self.measured,
            "share": self.share,
            "limit": self.limit,
            "limit_why": self.limit_why,
            "bytes": self.bytes,
            "dram_bytes": self.dram_bytes,
            "ideal_bytes": self.ideal_bytes,
            "wasted": self.wasted,
            "flops": self.flops,
            "transcendentals": self.operations.transcendentals * self.times,
            "intensity": self.intensity,
            "flops_per_second": self.flops_per_second,
            "attainable": self.attainable,
            "place": str(self.place) if self.place else None,
            "remedy": "; ".join(self.remedies),
            "note": self.note,
        }

    def __repr__(self) -> str:
        """The name, the time and what is lost of it; `print` shows the reasons."""
        return f"<{self.name}: {_brief([self])}>"

    def __str__(self) -> str:
        """A line about the kernel under a line of headings, then its accesses that waste, with reasons."""
        return "\n".join(kernel_lines([[self]]))


#: The orders of kernels, the greatest first, by the names of `--sort`.
ORDERS: Mapping[str, Callable[[FusionReport], tuple[float, ...]]] = {
    "lost": lambda f: (f.seconds_lost, f.seconds or 0.0),
    "time": lambda f: (f.seconds or 0.0, f.bytes),
    "bytes": lambda f: (f.dram_bytes, f.bytes),
    "wasted": lambda f: (f.wasted, f.bytes),
    "flops": lambda f: (f.flops or 0,),
    "difference": lambda f: (abs(f.measured - (f.seconds or 0.0)) if f.measured is not None else 0.0, f.seconds or 0.0),
}


def sorted_kernels(fusions: Iterable[FusionReport], order: str) -> list[FusionReport]:
    """Kernels in an order of `ORDERS`; the given order decides between equal ones."""
    key = ORDERS[order]
    return sorted(fusions, key=lambda f: tuple(-x for x in key(f)))


def groups_of(fusions: Sequence[FusionReport], order: str = "lost") -> list[Group]:
    """Groups of kernels that are equal except for names, sorted by the sums of their groups."""
    by_content: dict[object, Group] = {}
    for fusion in fusions:
        by_content.setdefault(kernel_key(fusion.instruction), []).append(fusion)
    key = ORDERS[order]
    return sorted(by_content.values(), key=lambda group: tuple(-sum(x) for x in zip(*map(key, group), strict=True)))


def kernel_lines(groups: Sequence[Group], roofline: bool = False) -> Iterator[str]:
    """A line of headings, then the figures of each group of equal kernels, and the accesses that waste.

    With `roofline`, each has also its intensity, its operations a second, and those that are attainable.
    """
    columns = [c for c in zip(FIGURES, *map(figures_of, groups), strict=True) if any(c[1:])]
    columns += zip(ROOFLINE, *(roofline_of(group[0]) for group in groups), strict=True) if roofline else ()
    headings, *figures = aligned(list(zip(*columns, strict=True)))
    number = len(str(len(groups)))
    yield f"{'':{number}}  {headings}  kernel"
    indent = " " * (number + 2)
    for k, (group, line) in enumerate(zip(groups, figures, strict=True), 1):
        yield f"{k:{number}}. {line}  {title_of(group)}"
        yield from (indent + detail for detail in _details(group))


def figures_of(group: Sequence[FusionReport]) -> tuple[str, ...]:
    """The figures of equal kernels together, in the order of `FIGURES`."""
    first = group[0]
    known = first.run_seconds is not None
    measured = [f.measured for f in group if f.measured is not None]
    return (
        seconds_text(sum(measured)) if measured else "",
        lost_text(group) if known else "",
        seconds_text(time_of(group)) if known else "",
        f"{sum(f.share for f in group):.1%}" if known else "",
        limit_text(first),
        bytes_text(sum(f.dram_bytes for f in group)),
        "unknown" if first.flops is None else number_text(sum(f.flops or 0 for f in group)).strip(),
    )


def limit_text(kernel: FusionReport) -> str:
    """The limit of a kernel, and the cache that is meant, if one is."""
    return f"{kernel.limit} ({kernel.limit_part})" if kernel.limit_part else kernel.limit


def roofline_of(kernel: FusionReport) -> tuple[str, ...]:
    """The figures of a kernel in a roofline, in the order of `ROOFLINE`; those that are not known are `unknown`."""
    figures = kernel.intensity, kernel.flops_per_second, kernel.attainable
    return tuple("unknown" if x is None else number_text(x).strip() for x in figures)


def title_of(group: Sequence[FusionReport]) -> str:
    """The name of the first kernel, how often it runs, its shape and its source line; and the names of others like it."""
    first, *others = group
    name = printable(first.name)
    if others:
        names = [n for n in dict.fromkeys(printable(f.name) for f in others) if n != name]
        listed = ", ".join(names[:NAMED]) + (", .." if len(names) > NAMED else "")
        name += f" and {len(others)} like it ({listed or 'of the same name'})"
    times = f" x {first.times:,}" if first.times != 1 else ""
    place = f"  {printable(str(first.place))}" if first.place else ""
    return f"{name}{times}  {first.instruction.shape} {first.opcode}{place}"


def remedies_together(group: Group) -> Iterator[str]:
    """The changes of the program that save time of equal kernels: those of the first that has any."""
    others = len(group) - 1
    and_others = f", and as much for each of {count_text(others, 'other')} like it" if others else ""
    for remedy in next((f.remedies for f in group if f.remedies), ()):
        yield remedy + and_others


def _details(group: Group) -> Iterator[str]:
    """The accesses that move more than they must, with a remedy if there is one; and what was assumed."""
    fusion = group[0]
    if fusion.limit_why:
        yield f"limit: {fusion.limit_why}"
    per_run = sum(r.ideal_bytes if r.will_move is None else r.will_move for r in fusion.accesses)
    for row in fusion.accesses:
        much = row.remedy and row.excess * NOTEWORTHY >= per_run > 0
        if row.wasted or much or (row.note and _matters(row, fusion, per_run)):
            yield from _row_lines(row, terms_of(fusion.device).unit)
    for remedy in remedies_together(group):
        yield f"mend: {printable(remedy)}"
    for note in filter(None, (fusion.note, kernel_of_xla(fusion.instruction))):
        yield f"note: {printable(note)}"


def _row_lines(row: AccessReport, unit: str) -> Iterator[str]:
    """The lines of one access: its bytes, the ratio of sectors or cache lines (`unit`), and below them the reason why these are
    more than necessary, and a remedy.
    """
    moved = "unknown" if row.will_move is None else bytes_text(row.will_move)
    ratio = "" if row.ratio is None or row.ratio < 1.005 else f", {row.ratio:.2f} times the {unit}s that it needs"
    verb = "loads move" if row.kind == "read" else "stores move"
    yield f"{row.kind} {printable(row.array)}: {bytes_text(row.ideal_bytes)} must move, {verb} {moved}{ratio}"
    if row.why:
        yield f"  why: {printable(row.why)}"
    if row.remedy:
        yield f"  mend: {printable(row.remedy)}"
    if row.note:
        yield f"  note: {printable(row.note)}"


def _matters(row: AccessReport, fusion: FusionReport, per_run: int) -> bool:
    """Whether bytes of an access were counted, are many of those of a run, and may take time, so that it is worth saying what
    was assumed of them; or why they were not.
    """
    if row.will_move is None:
        return True
    return row.ratio is not None and fusion.limit != "launch" and row.will_move * NOTEWORTHY >= per_run


def time_of(fusions: Iterable[FusionReport]) -> float:
    """The seconds that kernels take, as far as they are modelled."""
    return sum(f.seconds or 0.0 for f in fusions)


def lost_text(fusions: Iterable[FusionReport]) -> str:
    """The time that kernels lose."""
    lost = sum(f.seconds_lost for f in fusions)
    return seconds_text(lost) if lost else "0"


def _brief(group: Sequence[FusionReport]) -> str:
    if group[0].run_seconds is None:
        return "not modelled"
    return f"{seconds_text(time_of(group))}, {lost_text(group)} of it lost"


def kernel_key(i: Instruction) -> Key:
    """Opcode, shapes and attributes of the instruction, and of all instructions within, without names."""
    return (_own(i), *(str(o.shape) for o in i.operands), *(_inside(c) for c in i.called))


def _inside(computation: Computation) -> Key:
    order = computation.post_order()
    number = {i: k for k, i in enumerate(order)}
    return tuple((_own(i), *(number[o] for o in i.operands), *map(_inside, i.called)) for i in order)


def _own(i: Instruction) -> Key:
    kept = tuple(sorted((k, v) for k, v in i.attributes.items() if k not in _NAMES))
    literal = str(i).split(" = ", 1)[-1].partition(", metadata=")[0] if not i.operands else ""
    return i.opcode, str(i.shape), kept, literal
