"""A program's kernels by what they waste, the worst first, with totals; as text, as columns, as data frames."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, TypeAlias

from indexing.analysis.device import Device
from indexing.arguments import of_type, optional
from indexing.display import shown
from indexing.errors import UnsupportedOp
from indexing.extras import missing_extra
from indexing.hlo import Instruction, Place, Program, source_place
from indexing.hlo.subjects import part_of_program
from indexing.report.accesses import Row, moving, rows_of
from indexing.report.times import machine_for, times_of

if TYPE_CHECKING:
    from indexing.hlo import Computation
    from indexing.tuning.machine import Machine

__all__ = ["FusionReport", "ProgramReport", "analyze"]

#: A cell of a table of accesses.
Cell: TypeAlias = "str | int | float | bool | None"


@dataclass(frozen=True, slots=True)
class FusionReport:
    """The traffic of one fusion (or other instruction): its accesses, those that waste most first.

    `seconds` is what `ix.predict` says of its kernel's default plan (of what no kernel computes: of a loop that moves as much),
    `seconds_lost` how much less it says where nothing is wasted. `place` is the line of the program that it comes from, where
    metadata says so.
    """

    instruction: Instruction
    accesses: tuple[Row, ...]
    device: Device
    seconds: float
    seconds_lost: float
    place: Place | None = None

    @property
    def name(self) -> str:
        """The instruction's name."""
        return self.instruction.name

    @property
    def must_move(self) -> int:
        """Bytes that must move."""
        return sum(r.must_move for r in self.accesses)

    @property
    def will_move(self) -> int:
        """Bytes that will move; where no map tells, those that must."""
        return sum(r.must_move if r.will_move is None else r.will_move for r in self.accesses)

    @property
    def wasted(self) -> int:
        """Bytes of sectors that coalesced accesses of the same elements would not move."""
        return sum(r.wasted for r in self.accesses)

    def __repr__(self) -> str:
        """The name, and the bytes and time wasted; `print` says why."""
        return f"<{next(iter(str(self).splitlines()))}>"

    def __str__(self) -> str:
        """A line about it, then its accesses that waste, and why."""
        from indexing.report.lines import fusion_lines

        return "\n".join(fusion_lines(self))


@dataclass(frozen=True, slots=True)
class ProgramReport:
    """The kernels of a program, the one that wastes most first; then those that move most beyond what they must.

    `fusions` are fusions and all other instructions that move data, so that the totals are those of the whole program.
    """

    name: str
    device: Device
    fusions: tuple[FusionReport, ...]

    @property
    def rows(self) -> tuple[Row, ...]:
        """The accesses of all fusions, in their order."""
        return tuple(row for fusion in self.fusions for row in fusion.accesses)

    @property
    def must_move(self) -> int:
        """Bytes that must move."""
        return sum(f.must_move for f in self.fusions)

    @property
    def will_move(self) -> int:
        """Bytes that will move; where no map tells, those that must."""
        return sum(f.will_move for f in self.fusions)

    @property
    def wasted(self) -> int:
        """Bytes of sectors that coalesced accesses would not move."""
        return sum(f.wasted for f in self.fusions)

    @property
    def seconds(self) -> float:
        """Seconds that its kernels are predicted to take, one after the other."""
        return sum(f.seconds for f in self.fusions)

    @property
    def seconds_lost(self) -> float:
        """Seconds among these that they would not take if nothing were wasted."""
        return sum(f.seconds_lost for f in self.fusions)

    def worst(self, top: int | None = None, min_waste: int = 0) -> ProgramReport:
        """The report of the worst fusions only: at most `top`, each wasting at least so many bytes."""
        kept = [f for f in self.fusions if f.wasted >= min_waste]
        return ProgramReport(self.name, self.device, tuple(kept[:top]))

    def columns(self) -> dict[str, list[Cell]]:
        """A column for each fact about an access, a row for each access: for data frames."""
        table: dict[str, list[Cell]] = {name: [] for name in ("place", *(f.name for f in fields(Row)), "wasted")}
        for fusion in self.fusions:
            for row in fusion.accesses:
                table["place"].append(str(fusion.place) if fusion.place else None)
                table["wasted"].append(row.wasted)
                for f in fields(Row):
                    table[f.name].append(getattr(row, f.name))
        return table

    def to_pandas(self) -> object:
        """A pandas DataFrame of the accesses. Raises UnsupportedOp where pandas is not installed."""
        return _library("pandas").DataFrame(self.columns())

    def to_arrow(self) -> object:
        """A pyarrow Table of the accesses. Raises UnsupportedOp where pyarrow is not installed."""
        return _library("pyarrow").table(self.columns())

    def __repr__(self) -> str:
        """The number of kernels and what they waste; `print` shows the worst."""
        from indexing.report.lines import brief

        return f"<{brief(self)}>"

    def __str__(self) -> str:
        """The totals, then the ten worst fusions with the accesses that waste, and why."""
        from indexing.report.lines import report_lines

        return "\n".join(report_lines(self, top=10))

    def _repr_html_(self) -> str | None:
        return shown(self, "report_table")


def analyze(
    program: Program,
    device: Device | str = "h100",
    fusion: str | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> ProgramReport:
    """The traffic and the waste of a program's kernels on a device; of one of them where its name is given.

    `program` is a module, a computation, an instruction, or `(function, *arguments)` of JAX. Fusions are judged, and so is
    each other instruction that moves data: products of matrices, copies, library calls among them. Loops, calls and
    conditionals stand for the instructions of their computations, each counted once: how often they run, shapes do not say.
    `progress` is told how many of how many are judged.
    Raises IndexingError for an unknown device or fusion.
    """
    part = part_of_program(program, "analyze: program")
    of_type(Device, str)(device, "analyze: device")
    optional(of_type(str))(fusion, "analyze: fusion")
    machine = machine_for(device)
    instructions = [part] if isinstance(part, Instruction) else list(part.instructions.values())
    if fusion is not None:
        instructions = [_named(part, fusion)]
    judged = list(moving(instructions))
    found = []
    for k, i in enumerate(judged):
        found.append(_report(i, machine))
        if progress is not None:
            progress(k + 1, len(judged))
    ordered = sorted(found, key=lambda f: (-f.wasted, f.must_move - f.will_move))
    return ProgramReport(part.module.name, machine.device, tuple(ordered))


def _named(part: Instruction | Computation, name: str) -> Instruction:
    bare = name.removeprefix("%")
    for computation in (part.module.entry, *part.module.computations.values()):
        if bare in computation.instructions:
            return computation.instructions[bare]
    raise UnsupportedOp(f"{part.module.name} has no instruction {name!r}")


def _report(i: Instruction, machine: Machine) -> FusionReport:
    rows = sorted(rows_of(i, machine.device), key=lambda r: (-r.wasted, -r.excess))
    inner: Sequence[Instruction] = (i, i.called[0].root, *i.called[0].instructions.values()) if i.called else (i,)
    places = (source_place(j) for j in inner)
    place = next((p for p in places if p is not None), None)
    times = times_of(i, rows, machine)
    return FusionReport(i, tuple(rows), machine.device, times.seconds, times.lost, place)


def _library(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError as missing:
        raise UnsupportedOp(missing_extra(f"a table of {name}", "data", missing)) from None
