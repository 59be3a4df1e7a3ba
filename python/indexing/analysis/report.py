"""What a program's fusions move: a row for each access, totals, and a page of HTML that sorts them.

What must move are the different bytes of each operand that are read, and those of the outputs; what will move are the
sectors of the kernel's loads and stores. Shapes decide both: nothing is run. An instruction outside of fusions that
accumulates (a dot, a convolution, a reduction) is no plain loop wherever it runs: it is judged by the least that a tiled
kernel moves, each element once.
"""

from __future__ import annotations

import html
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

from indexing.analysis.device import H100, Device
from indexing.analysis.memory.banks import BankAccess
from indexing.analysis.memory.distinct_elements import Utilization, utilization
from indexing.analysis.memory.global_memory import Access, Coalescing, coalescing
from indexing.errors import IndexingError
from indexing.hlo.layout import bit_width
from indexing.indexing_analysis.instructions import output_to_input
from indexing.ops.op import leaves

if TYPE_CHECKING:
    from indexing.hlo import Computation, Instruction, Shape

__all__ = ["Report", "Row", "report", "rows_of"]

COLUMNS = (
    "instruction",
    "array",
    "elements",
    "of",
    "uses",
    "must move",
    "will move",
    "sectors",
    "ratio",
    "coalesced",
    "note",
)
#: Bytes, sectors a warp instruction, ratio to the ideal, verdict; None where nothing tells.
Moved: TypeAlias = tuple[int | None, float | None, float | None, bool | None]
_LEAST = "at the least: it accumulates, and a tiled kernel moves each element once"
_NOT_MOVING = frozenset({"parameter", "constant", "tuple", "get-tuple-element", "bitcast", "after-all"})
# These move what the instructions of their computations move, each time that they run.
_CONTROL = frozenset({"call", "while", "conditional", "async-start"})


@dataclass(frozen=True, slots=True)
class Row:
    """One operand or output of one instruction.

    `distinct` of its `elements` are read or written, in `uses`; these are `must_move` bytes. Loads or stores move
    `will_move` bytes; `sectors` a warp instruction, `ratio` times the ideal; None where no map of the kernel tells.
    """

    instruction: str
    array: str
    kind: str
    distinct: int
    elements: int
    uses: int
    must_move: int
    will_move: int | None
    sectors: float | None
    ratio: float | None
    coalesced: bool | None
    note: str = ""

    @property
    def excess(self) -> int:
        """Bytes that move without need; those that a cache may hold, since they are read again, among them."""
        return 0 if self.will_move is None else max(self.will_move - self.must_move, 0)

    @property
    def wasted(self) -> int:
        """Bytes of sectors that coalesced accesses of the same elements would not move."""
        return 0 if not self.will_move or not self.ratio else round(self.will_move * (1 - 1 / self.ratio))

    def cells(self) -> tuple[str | int | float | None, ...]:
        """The values in the order of COLUMNS."""
        return (
            *(self.instruction, self.array, self.distinct, self.elements, self.uses, self.must_move),
            *(self.will_move, self.sectors, self.ratio, self.coalesced, self.note),
        )


@dataclass(frozen=True, slots=True)
class Report:
    """The rows of a program: those whose accesses waste most first, then those that read most again."""

    name: str
    device: Device
    rows: tuple[Row, ...]

    @property
    def must_move(self) -> int:
        """Bytes that must move."""
        return sum(r.must_move for r in self.rows)

    @property
    def will_move(self) -> int:
        """Bytes that will move; where no map tells, those that must."""
        return sum(r.must_move if r.will_move is None else r.will_move for r in self.rows)

    def html(self) -> str:
        """A page that stands alone; a click on a column's name sorts by it."""
        head = "".join(f"<th>{html.escape(c)}</th>" for c in COLUMNS)
        body = "\n".join(_html_row(row) for row in self.rows)
        totals = f"{self.must_move:,} bytes must move, {self.will_move:,} will move ({html.escape(self.device.name)})"
        title = html.escape(self.name)
        return _PAGE.format(title=title, totals=totals, head=head, body=body, script=_SCRIPT)


def report(name: str, instructions: Sequence[Instruction], device: Device = H100) -> Report:
    """Analyze instructions (fusions, or others one by one); those that move nothing are left out.

    A loop, a call or a conditional stands for the instructions of its computations, each counted once: how often they
    run, shapes do not say.
    """
    rows = [row for i in moving(instructions) for row in rows_of(i, device)]
    return Report(name, device, tuple(sorted(rows, key=lambda r: (-r.wasted, -r.excess))))


def moving(instructions: Sequence[Instruction]) -> list[Instruction]:
    """The instructions that move data, those of the computations of loops, calls and conditionals among them."""
    found: list[Instruction] = []
    seen: set[Computation] = set()
    waiting = list(reversed(instructions))
    while waiting:
        i = waiting.pop()
        if i.opcode in _CONTROL:
            new = [c for c in dict.fromkeys(i.called) if c not in seen]
            seen.update(new)
            waiting.extend(j for c in reversed(new) for j in reversed(list(c.instructions.values())))
        elif i.opcode not in _NOT_MOVING:
            found.append(i)
    return found


def rows_of(instruction: Instruction, device: Device = H100) -> list[Row]:
    """One row for each array that the instruction reads or writes."""
    moved: Coalescing | None = None
    problem = ""
    if instruction.opcode != "fusion" and _accumulates(instruction):
        return _least_rows(instruction)
    try:
        moved = coalescing(instruction, device)
    except IndexingError as error:  # a program may hold what no kernel computes; its other rows still stand
        problem = str(error)
    rows = []
    for used in utilization(instruction):
        accesses = [a for a in moved.reads if a.operand == used.number] if moved is not None else []
        rows.append(_read_row(instruction.name, used, accesses, problem))
    conflicts = "" if moved is None else _conflicts(moved.shared)
    for k, shape in enumerate(leaves(instruction.shape)):
        accesses = [a for a in moved.writes if a.output == k] if moved is not None else []
        note = "; ".join(filter(None, (_notes(accesses, problem), conflicts)))
        rows.append(_write_row(instruction, k, shape, _moved(accesses), note))
    return rows


def _accumulates(instruction: Instruction) -> bool:
    """Does an element of the output need several of an operand?"""
    outputs = range(len(leaves(instruction.shape)))
    indexings = (i for k in outputs for maps in output_to_input(instruction, k) for i in maps)
    return any(len(v.interval) > 1 for i in indexings for v in i.map.ranges)


def _least_rows(instruction: Instruction) -> list[Row]:
    """Of a kernel that loads each element once, and stores each once."""
    rows = []
    for used in utilization(instruction):
        note = "; ".join(filter(None, (used.reason, _LEAST)))
        rows.append(replace(_read_row(instruction.name, used, (), ""), will_move=used.bytes, note=note))
    for k, shape in enumerate(leaves(instruction.shape)):
        rows.append(_write_row(instruction, k, shape, (_bytes(shape), None, None, None), _LEAST))
    return rows


def _bytes(shape: Shape) -> int:
    return -(-shape.element_count * bit_width(shape.element_type) // 8)


def _write_row(instruction: Instruction, output: int, shape: Shape, moved: Moved, note: str) -> Row:
    name = "output" if len(leaves(instruction.shape)) == 1 else f"output {output}"
    count = shape.element_count
    return Row(instruction.name, name, "write", count, count, count, _bytes(shape), *moved, note)


def _read_row(instruction: str, used: Utilization, accesses: Sequence[Access], problem: str) -> Row:
    name = used.operand.name + (f"[{used.leaf}]" if used.operand.shape.is_tuple else "")
    note = "; ".join(filter(None, (used.reason, _notes(accesses, problem))))
    numbers = (used.distinct, used.elements, used.reads, used.bytes)
    moved = _moved(accesses) if used.reads else (0, None, None, None)
    return Row(instruction, name, "read", *numbers, *moved, note)


def _moved(accesses: Sequence[Access]) -> Moved:
    """Bytes, sectors a warp instruction, ratio and verdict of several accesses together."""
    if not accesses:
        return None, None, None, None
    sectors, ideal = sum(a.total.sectors for a in accesses), sum(a.total.ideal for a in accesses)
    instructions = sum(a.total.instructions for a in accesses)
    moved = sum(a.bytes_moved for a in accesses)
    return moved, sectors / instructions, sectors / ideal, all(a.coalesced for a in accesses)


def _notes(accesses: Sequence[Access], problem: str) -> str:
    return "; ".join(dict.fromkeys(filter(None, (*(a.reason for a in accesses), problem))))


def _conflicts(accesses: Sequence[BankAccess]) -> str:
    """The accesses of shared memory that wait for banks."""
    slow = [f"{a.kind} of {a.array} {a.passes:.2f} passes, not {a.ideal:.2f}" for a in accesses if a.conflicts]
    return f"bank conflicts: {', '.join(dict.fromkeys(slow))}" if slow else ""


def table(found: Report) -> Iterator[str]:
    """The report as lines of text."""
    cells = [tuple(map(_shown, row.cells())) for row in found.rows]
    widths = [max(map(len, column)) for column in zip(COLUMNS, *cells, strict=True)]
    for line in (COLUMNS, *cells):
        pairs = enumerate(zip(line, widths, strict=True))
        padded = (c.ljust(w) if k < 2 or k == len(line) - 1 else c.rjust(w) for k, (c, w) in pairs)
        yield "  ".join(padded).rstrip()
    yield f"total: {found.must_move} bytes must move, {found.will_move} bytes will move ({found.device.name})"


def _shown(cell: str | int | float | None) -> str:
    if isinstance(cell, str):
        return cell if cell.isprintable() else cell.encode("unicode_escape").decode()
    if cell is None:
        return "-"
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    return f"{cell:.2f}" if isinstance(cell, float) else str(cell)


def _html_row(row: Row) -> str:
    cells = []
    for cell in row.cells():
        key = "" if isinstance(cell, str) or cell is None else f' data-key="{float(cell)}"'
        cells.append(f"<td{key}>{html.escape(_shown(cell))}</td>")
    bad = ' class="bad"' if row.coalesced is False else ""
    return f"<tr{bad}>{''.join(cells)}</tr>"


_PAGE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>{title}</title><style>
body {{ font: 14px sans-serif; margin: 2em; }} table {{ border-collapse: collapse; }}
th {{ cursor: pointer; text-align: left; border-bottom: 2px solid #888; }}
td, th {{ padding: 3px 10px; }} td[data-key] {{ text-align: right; font-variant-numeric: tabular-nums; }}
tr:nth-child(even) {{ background: #f3f3f3; }} tr.bad td {{ color: #a00; }}
</style></head><body><h1>{title}</h1><p>{totals}</p>
<table><thead><tr>{head}</tr></thead><tbody>
{body}
</tbody></table><script>{script}</script></body></html>
"""
_SCRIPT = """
document.querySelectorAll("th").forEach((th, k) => th.addEventListener("click", () => {
  const body = document.querySelector("tbody"), up = th.dataset.up !== "1";
  th.dataset.up = up ? "1" : "0";
  const key = (row) => { const d = row.cells[k].dataset.key; return d === undefined ? row.cells[k].textContent : Number(d); };
  const less = (a, b) => (typeof a === typeof b ? (a < b ? -1 : a > b ? 1 : 0) : typeof a === "number" ? -1 : 1);
  [...body.rows].sort((a, b) => (up ? 1 : -1) * less(key(a), key(b))).forEach((row) => body.append(row));
}));
"""
