"""The analysis of a program: what each of its kernels moves and wastes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from indexing.arguments import of_type, optional
from indexing.device.detect import chosen_device
from indexing.device.record import Device, DeviceLike
from indexing.errors import UnsupportedOp
from indexing.hlo import Instruction, Program, source_place
from indexing.hlo.program_like import or_function, part_of_program
from indexing.report.accesses import data_moving_instructions, rows_of
from indexing.report.program_report import FusionReport, ProgramReport
from indexing.report.times import times_of

if TYPE_CHECKING:
    from indexing.hlo import Computation

__all__ = ["analyze"]


@or_function
def analyze(
    program: Program,
    device: DeviceLike = None,
    fusion: str | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> ProgramReport:
    """The traffic and the waste of a program's kernels, or of a single one if its name is given, on a device: by default the
    one that the driver reports, else one that `.device` names.

    `program` is a module, a computation, an instruction, HLO text, or a JAX function, followed by its arguments. The kernels
    are fusions and all other instructions that move data, such as products of matrices, copies and library calls. Loops,
    calls and conditionals are replaced by the instructions of their computations, each counted once: shapes do not determine
    how often they run.
    `progress` is called with the number of kernels that are done, and the number of all.
    Raises IndexingError for an unknown device or fusion.
    """
    part = part_of_program(program, "analyze: program")
    optional(of_type(Device, str))(device, "analyze: device")
    optional(of_type(str))(fusion, "analyze: fusion")
    chosen = chosen_device(device)
    instructions = [part] if isinstance(part, Instruction) else list(part.instructions.values())
    if fusion is not None:
        instructions = [_named(part, fusion)]
    judged = list(data_moving_instructions(instructions))
    found = []
    for k, i in enumerate(judged):
        found.append(_report(i, chosen))
        if progress is not None:
            progress(k + 1, len(judged))
    ordered = sorted(found, key=lambda f: (-f.wasted, f.ideal_bytes - f.will_move))
    return ProgramReport(part.module.name, chosen, tuple(ordered))


def _named(part: Instruction | Computation, name: str) -> Instruction:
    bare = name.removeprefix("%")
    for computation in (part.module.entry, *part.module.computations.values()):
        if bare in computation.instructions:
            return computation.instructions[bare]
    raise UnsupportedOp(f"{part.module.name} has no instruction {name!r}")


def _report(i: Instruction, device: Device) -> FusionReport:
    rows = sorted(rows_of(i, device), key=lambda r: (-r.wasted, -r.excess))
    inner: Sequence[Instruction] = (i, i.called[0].root, *i.called[0].instructions.values()) if i.called else (i,)
    places = (source_place(j) for j in inner)
    place = next((p for p in places if p is not None), None)
    times = times_of(i, rows, device)
    return FusionReport(i, tuple(rows), device, times.seconds, times.lost, place)
