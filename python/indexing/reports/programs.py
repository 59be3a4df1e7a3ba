"""The analysis of a program: what each of its kernels takes, moves and wastes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from os import PathLike

from indexing.analysis.memory.distinct_elements import utilization
from indexing.arguments import of_type, optional
from indexing.device.detect import chosen_device
from indexing.device.record import Device, DeviceLike
from indexing.errors import UnsupportedOp
from indexing.hlo import Computation, Instruction, Module, Place, Program, source_place
from indexing.hlo.program_like import or_function, part_of_program
from indexing.model.instruction_time import predict_instruction, predict_library
from indexing.ops.operation_totals import operations_of
from indexing.planning.libraries import Matmul, check_has_library, check_matmul
from indexing.reports.accesses import AccessReport, rows_of
from indexing.reports.kernel_report import FusionReport, sorted_kernels
from indexing.reports.limits import limit_of
from indexing.reports.lines import seconds_text
from indexing.reports.loop_runs import LoopRuns
from indexing.reports.profiles import beside_profile, read_profile
from indexing.reports.program_report import ProgramReport
from indexing.reports.remedies import remedies_of
from indexing.reports.runs import Run, TimeRange, bytes_of_turns, runs_of
from indexing.reports.steps import Schedule, Step, fused_steps, is_optimized, planned_steps

_FUSED = "XLA's fusions with this package's kernels"
_PLANNED = "as this package would run it"
_BEFORE = (
    "the program has no fusions, library calls or schedule of XLA's, as before its optimization: these are the kernels that "
    "this package plans. "
    'For XLA\'s, analyze a program after it, such as ix.from_jax(f, *arguments, target="h100")'
)

_BETWEEN = "several kernels compute this instruction: the array stands between two of them, or another one has moved it already"


@or_function
def analyze(
    program: Program,
    device: DeviceLike = None,
    fusion: str | None = None,
    progress: Callable[[int, int], None] | None = None,
    profile: str | PathLike[str] | None = None,
    matmul: Matmul = "kernels",
) -> ProgramReport:
    """The time, traffic and waste of a program's kernels, or of a single one if its name is given, on a device: by default the
    one that the driver reports, else one that `.device` names.

    `program` is a module, a computation, an instruction, HLO text, or a JAX function, followed by its arguments. After
    XLA's optimization, its kernels are its fusions and all other instructions that move data, each by the kernel that this
    package has for it; before, those that this package plans (`view` says which). Loops multiply by their trip counts (one
    without counts once, and says so); of a conditional, the slowest branch counts.
    `matmul="library"` hands products of matrices of a planned program to the device's library, as `compile` does.
    `progress` is called with the number of kernels that are done, and the number of all.
    `profile` is a file of measured times, which are put beside the predicted ones, the greatest differences first: a trace of
    JAX's profiler (trace.json or xplane.pb, also compressed by gzip) or an SQLite export of Nsight Systems.
    Raises IndexingError for an unknown device or fusion, and for a profile that can't be read.
    """
    part = part_of_program(program, "analyze: program")
    optional(of_type(Device, str))(device, "analyze: device")
    optional(of_type(str))(fusion, "analyze: fusion")
    optional(of_type(str, PathLike))(profile, "analyze: profile")
    chosen = chosen_device(device)
    part = part if fusion is None else _named(part, fusion)
    is_planned = isinstance(part, Computation) and not is_optimized(part)
    check_matmul(matmul)
    check_has_library(matmul, chosen.dialect)
    schedule = _schedule(part, chosen, is_planned, matmul)
    follower = chosen.after_another()
    reports = _reports(schedule, follower, progress)
    reports |= _in_loops(schedule, reports, follower)
    runs, range_ = runs_of(schedule, lambda step: reports[step].run_seconds or 0.0)
    total = range_.greatest or 1.0
    others = {} if is_planned else {step.origin: report for step, report in reports.items()}
    counted = [_counted(reports[run.step], run, total) for run in runs]
    kernels = [
        replace(kernel, remedies=remedies_of(kernel, run.step, others, share))
        for kernel, run, share in zip(counted, runs, _shares_together(counted), strict=True)
    ]
    started = TimeRange(chosen.first_launch_seconds, chosen.first_launch_seconds)
    notes = (_BEFORE,) if is_planned and len(kernels) > 1 else ()
    report = ProgramReport(
        part.module.name,
        chosen,
        tuple(sorted_kernels(kernels, "lost")),
        _PLANNED if is_planned else _FUSED,
        range_ + started.repeated(1 if any(k.seconds for k in kernels) else 0),
        notes,
    )
    return report if profile is None else beside_profile(report, read_profile(profile, report.name))


def _schedule(part: Instruction | Computation, device: Device, is_planned: bool, matmul: Matmul) -> Schedule:
    if isinstance(part, Instruction):
        return fused_steps([part], device)
    return planned_steps(part, device, matmul) if is_planned else fused_steps(part.listed, device)


def _named(part: Instruction | Computation, name: str) -> Instruction:
    bare = name.removeprefix("%")
    for computation in (part.module.entry, *part.module.computations.values()):
        if bare in computation.instructions:
            return computation.instructions[bare]
    raise UnsupportedOp(f"{part.module.name} has no instruction {name!r}")


def _reports(
    schedule: Schedule, device: Device, progress: Callable[[int, int], None] | None
) -> dict[Step, FusionReport]:
    """The report of one run of each kernel."""
    steps = [s for part in (schedule.root, *schedule.bodies.values()) for s in part if not s.bodies]
    reports = {}
    for k, step in enumerate(steps, 1):
        reports[step] = _report(step, device)
        if progress is not None:
            progress(k, len(steps))
    return reports


def _report(step: Step, device: Device) -> FusionReport:
    if step.parts:
        return _report_of_parts(step, device)
    i = step.instruction
    rows = sorted(rows_of(i, device, step.origin, step.operands), key=lambda r: (-r.wasted, -r.excess))
    predicted = predict_library(i, device) if step.in_library else predict_instruction(i, device)
    place = _place(step.origin) or _place(i)
    report = FusionReport(
        step.origin,
        i,
        tuple(rows),
        device,
        predicted.seconds,
        run_seconds_lost=0.0,
        limit="",
        operations=operations_of(i),
        place=place,
        note=predicted.note,
    )
    if predicted.seconds is None:
        return report
    wasted, least = sum(row.wasted for row in rows), sum(row.ideal_bytes for row in rows)
    lost = predicted.seconds - predicted.seconds_without(device, wasted, least) if wasted else 0.0
    part, why = limit_of(predicted, device)
    return replace(
        report,
        run_seconds_lost=max(lost, 0.0),
        limit=predicted.limit or "",
        limit_part=part,
        limit_why=why,
        memory_bytes=None if predicted.demand is None else predicted.demand["memory_bytes"],
    )


def _in_loops(schedule: Schedule, reports: Mapping[Step, FusionReport], device: Device) -> dict[Step, FusionReport]:
    """The reports of the kernels that loops run, whose later runs find in caches what the ones before left there."""
    if not schedule.bodies:
        return {}
    runs, _ = runs_of(schedule, lambda step: reports[step].run_seconds or 0.0)
    turns = bytes_of_turns(schedule, lambda step: reports[step].memory_bytes or 0.0)
    return {
        run.step: _repeated(reports[run.step], run, device, turns[run.step])
        for run in runs
        if run.times > 1 and run.step in turns and not run.step.parts and not run.step.in_library
    }


def _repeated(report: FusionReport, run: Run, device: Device, moved: float) -> FusionReport:
    """The report of a kernel's runs in a loop, each turn of which moves so many bytes: the mean of the first and the others."""
    once = predict_instruction(run.step.instruction, device)
    of_loop = LoopRuns(run.times, moved)
    first, later = of_loop.first_and_later(once, device)
    if once.demand is None or later.demand is None:
        return report
    part, why = limit_of(later, device)
    seconds = of_loop.mean(first.seconds or 0.0, later.seconds or 0.0)
    return replace(
        report,
        run_seconds=seconds,
        memory_bytes=of_loop.mean(once.demand["memory_bytes"], later.demand["memory_bytes"]),
        run_seconds_lost=min(report.run_seconds_lost, seconds),
        limit=later.limit or "",
        limit_part=part,
        limit_why=why,
        in_loop=of_loop,
    )


def _report_of_parts(step: Step, device: Device) -> FusionReport:
    """The report of an instruction that this package runs as several kernels: what stands between them need not move."""
    i, body = step.instruction, step.instruction.called[0]
    given = {p.name: name for p, name in zip(body.parameters, step.operands, strict=True)}
    least = {step.operands[used.number]: used.bytes for used in utilization(i)}
    results = {body.root, *body.root.operands} if body.root.shape.is_tuple else {body.root}
    parts = [_report(part, device) for part in step.parts]
    between = {row.array.partition("[")[0] for part in parts for row in part.accesses if row.kind == "read"}
    rows: list[AccessReport] = []
    for part in parts:
        is_result = part.origin in results or part.name not in between
        for row in part.accesses:
            ideal = row.ideal_bytes if row.kind == "write" and is_result else 0
            ideal = min(least.pop(given.get(row.array, ""), 0), row.ideal_bytes) if row.kind == "read" else ideal
            why = row.why if ideal == row.ideal_bytes else "; ".join(filter(None, (_BETWEEN, row.why)))
            array = _written_name(part, row) if row.kind == "write" and not is_result else row.array
            rows.append(replace(row, array=given.get(array, array), ideal_bytes=ideal, why=why))
    longest = max(parts, key=lambda part: part.run_seconds or 0.0)
    names = ", ".join(f"{part.name} {seconds_text(part.run_seconds or 0.0)}" for part in parts)
    why = "one kernel of it would repeat work: " if step.origin.is_fusion else ""
    missing = [part.note for part in parts if part.run_seconds is None]
    return replace(
        longest,
        origin=step.origin,
        instruction=i,
        accesses=tuple(rows),
        run_seconds=None if missing else sum(part.run_seconds or 0.0 for part in parts),
        run_seconds_lost=sum(part.run_seconds_lost for part in parts),
        operations=operations_of(i),
        place=_place(step.origin) or _place(i),
        note="; ".join(missing)
        or (f"{why}this package runs {len(parts)}, {names}" if len(parts) > 1 else longest.note),
        memory_bytes=sum(part.dram_bytes for part in parts),
    )


def _written_name(part: FusionReport, row: AccessReport) -> str:
    """The name by which others read an array that a part writes."""
    _, _, number = row.array.partition(" ")
    return f"{part.name}[{number}]" if number else part.name


def _place(i: Instruction) -> Place | None:
    """The source line of an instruction, or else of one inside."""
    inner: Sequence[Instruction] = (i, i.called[0].root, *i.called[0].listed) if i.called else (i,)
    return next((p for p in map(source_place, inner) if p is not None), None)


def _counted(report: FusionReport, run: Run, total: float) -> FusionReport:
    """The report with the number of runs, and its share of the program's time."""
    note = "; ".join(filter(None, (report.note, run.note)))
    share = (report.run_seconds or 0.0) * run.times / total
    return replace(report, times=run.times, share=share, note=note)


def _shares_together(kernels: Sequence[FusionReport]) -> list[float]:
    """The share of each kernel, but of all equal ones for the first of them."""
    together: dict[tuple[Module, int], float] = {}
    keys = [(k.instruction.module, k.instruction.signature) for k in kernels]
    for kernel, key in zip(kernels, keys, strict=True):
        together[key] = together.get(key, 0.0) + kernel.share
    return [together.pop(key, kernel.share) for kernel, key in zip(kernels, keys, strict=True)]
