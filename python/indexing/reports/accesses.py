"""The traffic of one instruction: a row for each array that it reads or writes.

The bytes that must move are the distinct ones that are read of each operand, and those of the outputs; the bytes that will
move are the sectors of the kernel's loads and stores. Both follow from shapes: nothing is run. For instructions that contract
or accumulate (a product of matrices, a convolution, a reduction outside of fusions), the least is assumed that a tiled kernel
moves: each element once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from indexing.analysis.memory.distinct_elements import Utilization, utilization
from indexing.analysis.memory.global_memory import kernel_of
from indexing.device.record import Device
from indexing.errors import IndexingError
from indexing.hlo import Instruction, Shape
from indexing.hlo.layout import bit_width
from indexing.hlo.program_like import parameter_names
from indexing.indexing_analysis.instructions import output_to_input
from indexing.model.instruction_time import is_left_to_host
from indexing.ops.registry import traits_of
from indexing.reports.array_traffic import ArrayTraffic, InstructionTraffic, Moved, traffic_of
from indexing.reports.reasons import AccessedArray

NO_BYTES: Moved = (0, None, None, None, 0)
EXPLAINED = 100  # an excess gets a sentence if it is at least this fraction of the bytes that move
_LEAST = "it accumulates: a tiled kernel moves each element once, and this counts that"


@dataclass(frozen=True, slots=True)
class AccessReport:
    """One operand or output of one instruction.

    `distinct` of its `elements` are read or written, `uses` times in total; they have `ideal_bytes`. Loads or stores move
    `will_move` bytes: `sectors` per warp instruction, `ratio` times the ideal, where the loads of a thread's vector count
    together. These are None if no map of the kernel is known. `wasted` are the bytes of sectors that coalesced accesses of the
    same elements would not move. `why` is a sentence with the reason why an access is not coalesced or reads elements
    repeatedly, `remedy` one with a remedy. On CPUs, loads and stores move cache lines: `ratio` is their number relative to the
    bytes of them that are used, `sectors` is None.
    """

    instruction: str
    array: str
    kind: str
    distinct: int
    elements: int
    uses: int
    ideal_bytes: int
    will_move: int | None
    sectors: float | None
    ratio: float | None
    coalesced: bool | None
    wasted: int = 0
    note: str = ""
    why: str = ""
    remedy: str = ""

    @property
    def excess(self) -> int:
        """The bytes that move beyond those that must, including bytes that are read repeatedly and may be cached."""
        return 0 if self.will_move is None else max(self.will_move - self.ideal_bytes, 0)


def rows_of(
    instruction: Instruction, device: Device, origin: Instruction | None = None, names: Sequence[str] = ()
) -> list[AccessReport]:
    """One row for each array that the instruction reads or writes; it is called as `origin`, and its operands by `names`."""
    called = _Names((origin or instruction).name, tuple(names) or parameter_names(instruction))
    op = traits_of(instruction)
    if (
        op.result_index is not None or op.across_replicas is not None
    ):  # without a kernel, each element that is needed moves once
        return _least_rows(instruction, called)
    if is_left_to_host(instruction, device):
        return _least_rows(instruction, called)
    in_place = _in_place(instruction, device)
    if _contracts(instruction) if _has_kernel(instruction, device) else _accumulates(instruction):
        rows = _least_rows(instruction, called, _LEAST)
        if not in_place.outputs:
            return rows
        return _rows_in_place(rows, instruction, traffic_of(instruction, device), in_place.operands)
    try:
        traffic, problem = traffic_of(instruction, device), ""
    except (
        IndexingError
    ) as error:  # a program may contain instructions that no kernel computes; its other rows are not affected
        traffic, problem = InstructionTraffic(), str(error)
    unknown = ArrayTraffic(note=problem)
    rows = []
    for used in utilization(instruction):
        of = traffic.reads.get(used.number, unknown)
        is_in_place = used.number in in_place.operands
        row = _bounded(_read_row(called, used, of), of, 0 if is_in_place else _certain_bytes(used))
        if is_in_place and of is unknown:
            row = _unread(row)
        rows.append(_with_reason(row, instruction, used.operand.shape.leaves[used.leaf], of, used.number))
    for k in _written_arrays(instruction):
        shape = instruction.shape.leaves[k]
        of = traffic.writes.get(k, unknown)
        note = "; ".join(filter(None, (of.note, traffic.conflicts)))
        row = _write_row(called, instruction, k, shape, of.moved, note)
        row = _bounded(row, of, 0 if k in in_place.outputs else row.ideal_bytes)
        rows.append(_with_reason(row, instruction, shape, of, None))
    return rows


@dataclass(frozen=True, slots=True)
class _Names:
    """The names of an instruction and of its operands in the program."""

    instruction: str
    operands: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _InPlace:
    """The operands in whose memory an instruction's kernel writes its results, and these outputs."""

    operands: frozenset[int] = frozenset()
    outputs: frozenset[int] = frozenset()


def _in_place(instruction: Instruction, device: Device) -> _InPlace:
    kernel = kernel_of(instruction, device)
    if kernel is None:
        return _InPlace()
    return _InPlace(frozenset(kernel.in_place.values()), frozenset(kernel.in_place))


def _rows_in_place(
    rows: Sequence[AccessReport], instruction: Instruction, traffic: InstructionTraffic, in_place: frozenset[int]
) -> list[AccessReport]:
    """The rows of a kernel that updates operands in place: those and the results have the elements that it touches."""
    reads = [used.number for used in utilization(instruction)]
    of_reads = [traffic.reads.get(k) for k in reads]
    of_writes = [traffic.writes.get(k) for k in _written_arrays(instruction)]
    touched = []
    for row, of, number in zip(rows, [*of_reads, *of_writes], [*reads, *(None for _ in of_writes)], strict=True):
        if of is not None:
            row = _bounded(row, of, 0)
            row = replace(row, will_move=row.ideal_bytes)
        touched.append(_unread(row) if of is None and number in in_place else row)
    return touched


def _unread(row: AccessReport) -> AccessReport:
    """The row of an operand of which nothing is read: the result stands in its memory."""
    return replace(row, distinct=0, uses=0, ideal_bytes=0, will_move=0)


def _bounded(row: AccessReport, traffic: ArrayTraffic, certain: int) -> AccessReport:
    """The row without the elements that no access touches: rows that a gather or an update in place leaves alone. `certain`
    bytes must move whatever data decide, and do, for what moves is an estimate.
    """
    if row.will_move is None:
        return row
    asked = max(min(round(traffic.asked), row.will_move), certain)
    row = replace(row, will_move=max(row.will_move, certain))
    if row.ideal_bytes <= asked:
        return replace(row, will_move=max(row.will_move or 0, row.ideal_bytes))
    return replace(row, distinct=min(row.distinct, asked * row.elements // _whole(row)), ideal_bytes=asked)


def _certain_bytes(used: Utilization) -> int:
    return -(-used.at_least * used.element_bits // 8)


def _whole(row: AccessReport) -> int:
    """The bytes of the whole array, at least 1."""
    return max(row.ideal_bytes * row.elements // max(row.distinct, 1), 1)


def _with_reason(
    row: AccessReport, part: Instruction, shape: Shape, traffic: ArrayTraffic, operand: int | None
) -> AccessReport:
    """The row, with a reason and a remedy if it moves more than it must."""
    if row.excess * EXPLAINED < (row.will_move or 0) or not row.excess or not shape.is_array:
        return row
    array = AccessedArray(part, operand, shape, row.array, row.ideal_bytes, row.instruction)
    why, remedy = traffic.reasons(array)
    return replace(row, why=why, remedy=remedy)


def _has_kernel(instruction: Instruction, device: Device) -> bool:
    return instruction.is_fusion and bool(instruction.called) and kernel_of(instruction, device) is not None


def _contracts(fusion: Instruction) -> bool:
    """Whether an instruction of the fusion contracts: reads several operands at ranges, and elements of one repeatedly."""
    return any(_is_contraction(i) for i in fusion.called[0].instructions.values() if len(i.operands) > 1)


def _is_contraction(i: Instruction) -> bool:
    if not i.shape.is_array or traits_of(i).is_scatter_like:
        return False
    ranged = [maps for maps in output_to_input(i) if any(len(v.interval) > 1 for m in maps for v in m.map.ranges)]
    return len(ranged) > 1 and any(used.reuse > 1 for used in utilization(i))


def _accumulates(instruction: Instruction) -> bool:
    """Whether an element of the output needs several of an operand."""
    outputs = range(len(instruction.shape.leaves))
    indexings = (i for k in outputs for maps in output_to_input(instruction, k) for i in maps)
    return any(len(v.interval) > 1 for i in indexings for v in i.map.ranges)


def _least_rows(instruction: Instruction, called: _Names, why: str = "") -> list[AccessReport]:
    """The rows of a kernel that loads and stores each element once."""
    rows = []
    for used in utilization(instruction):
        rows.append(replace(_read_row(called, used, ArrayTraffic()), will_move=used.bytes, why=why))
    for k in _written_arrays(instruction):
        shape = instruction.shape.leaves[k]
        rows.append(_write_row(called, instruction, k, shape, (_bytes(shape), None, None, None, 0), ""))
    return rows


def _written_arrays(instruction: Instruction) -> range:
    """The arrays of the result that it writes: all but workspaces of a library; for a start, those of one element."""
    op, parts = traits_of(instruction), instruction.shape.elements
    element = op.result_index
    if element is None or not parts:
        workspaces = 0 if op.workspaces is None else op.workspaces(instruction)
        return range(len(instruction.shape.leaves) - workspaces)
    first = sum(len(part.leaves) for part in parts[:element])
    return range(first, first + len(parts[element].leaves))


def _bytes(shape: Shape) -> int:
    return -(-shape.element_count * bit_width(shape.element_type) // 8)


def _write_row(
    called: _Names, instruction: Instruction, output: int, shape: Shape, moved: Moved, note: str
) -> AccessReport:
    name = "output" if len(instruction.shape.leaves) == 1 else f"output {output}"
    count = shape.element_count
    return AccessReport(called.instruction, name, "write", count, count, count, _bytes(shape), *moved, note)


def _read_row(called: _Names, used: Utilization, traffic: ArrayTraffic) -> AccessReport:
    name = called.operands[used.number] + (f"[{used.leaf}]" if used.operand.shape.is_tuple else "")
    note = "; ".join(filter(None, (used.reason, traffic.note)))
    moved = traffic.moved if used.reads else NO_BYTES
    return AccessReport(
        called.instruction, name, "read", used.distinct, used.elements, used.reads, used.bytes, *moved, note
    )
