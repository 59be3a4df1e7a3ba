"""Traffic of each array of an instruction's kernel: sectors of warps, or cache lines of loops, as its device has them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TypeAlias

from indexing.analysis.memory.banks import BankAccess
from indexing.analysis.memory.global_memory import COALESCED, Access, coalescing, kernel_of
from indexing.device.record import Device
from indexing.hlo import Instruction
from indexing.kernels.ir.types import storage_bytes
from indexing.model.loop_accesses import Fetches
from indexing.model.loop_costs import costs_of_loops
from indexing.model.terms import terms_of
from indexing.reports.loop_reasons import reasons_of_loops
from indexing.reports.reasons import AccessedArray, reasons_for

__all__ = ["ArrayTraffic", "InstructionTraffic", "traffic_of"]

#: Bytes, sectors per warp instruction, ratio to the ideal, verdict (each None if it is not known), and bytes wasted.
Moved: TypeAlias = tuple[int | None, float | None, float | None, bool | None, int]
UNKNOWN: Moved = (None, None, None, None, 0)


@dataclass(frozen=True, slots=True)
class ArrayTraffic:
    """The bytes that move of one array, of which `asked` are touched; what was assumed; the reason why, and a remedy."""

    moved: Moved = UNKNOWN
    asked: float = 0.0
    note: str = ""
    reasons: Callable[[AccessedArray], tuple[str, str]] = field(default=lambda _: ("", ""))


@dataclass(frozen=True, slots=True)
class InstructionTraffic:
    """The traffic of operands and outputs by number, as far as it is known, and what conflicts in shared memory."""

    reads: Mapping[int, ArrayTraffic] = field(default_factory=dict)
    writes: Mapping[int, ArrayTraffic] = field(default_factory=dict)
    conflicts: str = ""


def traffic_of(instruction: Instruction, device: Device) -> InstructionTraffic:
    """The traffic of the instruction's kernel; on GPUs, if no kernel computes it, of a loop over its output. Raises
    IndexingError for instructions that have no maps.
    """
    return _of_warps(instruction, device) if terms_of(device).has_warps else _of_loops(instruction, device)


# ---- warps


def _of_warps(instruction: Instruction, device: Device) -> InstructionTraffic:
    counted = coalescing(instruction, device)
    return InstructionTraffic(
        {k: _of_accesses(of) for k, of in _grouped((a.operand, a) for a in counted.reads).items()},
        {k: _of_accesses(of) for k, of in _grouped((a.output, a) for a in counted.writes).items()},
        _conflicts(counted.shared),
    )


def _grouped(pairs: Iterable[tuple[int | None, Access]]) -> dict[int, list[Access]]:
    """The accesses by number; those of scratch memory, which have none, are left out."""
    groups: dict[int, list[Access]] = {}
    for number, access in pairs:
        if number is not None:
            groups.setdefault(number, []).append(access)
    return groups


def _of_accesses(accesses: Sequence[Access]) -> ArrayTraffic:
    """The bytes, sectors per warp instruction, ratio, verdict and waste of several accesses together."""
    totals = [a.unrolled for a in accesses]
    sectors, ideal, instructions = (sum(getattr(t, of) for t in totals) for of in ("sectors", "ideal", "instructions"))
    bytes_moved, wasted = sum(a.bytes_moved for a in accesses), sum(_wasted(a) for a in accesses)
    moved = bytes_moved, sectors / instructions, sectors / ideal, all(a.coalesced for a in accesses), wasted
    notes = dict.fromkeys(reason for a in accesses for reason in a.reason.split("; ") if reason)
    asked = sum(a.total.asked for a in accesses)
    return ArrayTraffic(moved, asked, "; ".join(notes), partial(reasons_for, accesses=accesses))


def _wasted(access: Access) -> int:
    """Bytes of sectors that the access would not need if adjacent lanes accessed adjacent elements; alignment adds none."""
    unrolled = access.unrolled
    return (
        0
        if access.coalesced
        else round(max(min(unrolled.sectors, unrolled.aligned) - unrolled.ideal, 0) * access.sector_bytes)
    )


def _conflicts(accesses: Sequence[BankAccess]) -> str:
    """The accesses of shared memory with bank conflicts."""
    slow = [f"{a.kind} of {a.array} {a.passes:.2f} passes, not {a.ideal:.2f}" for a in accesses if a.conflicts]
    return f"bank conflicts: {', '.join(dict.fromkeys(slow))}" if slow else ""


# ---- loops


def _of_loops(instruction: Instruction, device: Device) -> InstructionTraffic:
    kernel = kernel_of(instruction, device) if instruction.is_fusion else None
    if kernel is None:
        return InstructionTraffic()
    line = device.memory.line_bytes
    fetches = costs_of_loops(kernel.lowered, device.memory).fetches
    reads: dict[int, ArrayTraffic] = {}
    writes: dict[int, ArrayTraffic] = {}
    named = [b.name for b in kernel.lowered.buffers if b.role != "none"]
    for argument, name in zip(kernel.arguments, named, strict=True):
        if name in fetches and argument.kind != "scratch":
            of_kind = reads if argument.kind == "input" else writes
            size = argument.element_count * storage_bytes(argument.element_type)
            of_kind[argument.number] = _of_fetches(fetches[name], line, size <= line)
    return InstructionTraffic(reads, writes)


def _of_fetches(fetches: Fetches, line: int, is_one_line: bool) -> ArrayTraffic:
    """The bytes, ratio, verdict and waste of an array's lines, one more for each run of them."""
    fetched = round((fetches.lines + fetches.runs) * line)
    ratio = 1.0 if is_one_line else fetches.lines * line / fetches.used
    wasted = 0 if ratio * COALESCED[0] <= COALESCED[1] else round(fetched - fetches.used)
    moved = fetched, None, ratio, not wasted, wasted
    return ArrayTraffic(moved, fetches.used, "", partial(reasons_of_loops, fetches=fetches, line=line))
