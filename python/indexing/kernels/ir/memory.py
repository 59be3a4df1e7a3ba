"""Memory that statements read and write, aliases resolved, directly or in functions that they call."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from indexing._core import SymbolicExpr
from indexing.kernels.ir import nodes as ir
from indexing.kernels.ir.fragments import PANEL_PRODUCTS
from indexing.kernels.ir.traversal import loads_of
from indexing.kernels.ir.types import storage_bytes

VECTOR_BYTES = 16  # bytes of the widest load or store
WORDS = {"accumulator": 4, "left": 4, "right": 2, "loaded": 4}  # registers of a thread, of 32 bits


@dataclass(frozen=True, slots=True)
class Move:
    """A load or store of `width` neighbouring elements of a flat buffer, from `index` on."""

    kind: Literal["load", "store"]
    buffer: str
    index: SymbolicExpr
    width: int


def moves(s: ir.Statement) -> tuple[Move, ...]:
    """The loads and stores of a statement that moves several elements, loads first; none for other statements."""
    match s:
        case ir.Copy(destination, to, source, start, width) | ir.CopyAsync(destination, to, source, start, width):
            return Move("load", source, start, width), Move("store", destination, to, width)
        case ir.LoadMatrices(destination, to, source, start, width, _):
            return Move("load", source, start, width), Move("store", destination, to, WORDS["loaded"])
        case ir.MatrixMultiply(_, total, at, left, row, right, column):
            loads = (left, row, WORDS["left"]), (right, column, WORDS["right"]), (total, at, WORDS["accumulator"])
            return (*(Move("load", *place) for place in loads), Move("store", total, at, WORDS["accumulator"]))
        case ir.MultiplyPanels(kind, total, at, left, row, right, column, depth):
            rows, columns = PANEL_PRODUCTS[kind].rows, PANEL_PRODUCTS[kind].columns
            loads = (left, row, rows * depth), (right, column, depth * columns), (total, at, rows * columns)
            return (*(Move("load", *place) for place in loads), Move("store", *loads[2]))
    return ()


def vector_elements(buffer: ir.Buffer) -> int:
    """The most elements of a buffer that one instruction moves."""
    return max(VECTOR_BYTES // storage_bytes(buffer.element_type), 1)


class Memory:
    """The memory of a kernel's buffers; a buffer that aliases another has the other's name."""

    def __init__(self, kernel: ir.Kernel) -> None:
        self._names = {b.name: b.alias_of or b.name for b in kernel.buffers}
        self._read: dict[str, frozenset[str]] = {}
        for f in kernel.functions:
            self._read[f.name] = frozenset(self._function(f))

    def _function(self, f: ir.Function) -> Iterator[str]:
        for s in (*ir.statements(f.body), *(ir.Let("", r) for r in f.results)):
            yield from self.read(s)

    def of(self, buffer: str) -> str:
        """The name of a buffer's memory."""
        return self._names.get(buffer, buffer)

    def read(self, s: ir.Statement) -> Iterator[str]:
        """The memory that a statement itself reads, nested blocks excluded."""
        yield from (self.of(v.buffer) for v in loads_of(s))
        yield from (self.of(m.buffer) for m in moves(s) if m.kind == "load")
        if isinstance(s, ir.CallFunction):
            yield from self._read[s.function]

    def read_by(self, function: str) -> frozenset[str]:
        """The memory that a function reads."""
        return self._read[function]

    def written(self, s: ir.Statement) -> Iterator[str]:
        """The memory that a statement itself writes."""
        if isinstance(s, ir.Store | ir.AtomicUpdate | ir.FetchAdd):
            yield self.of(s.buffer)
        yield from (self.of(m.buffer) for m in moves(s) if m.kind == "store")


def orders_memory(s: ir.Statement) -> bool:
    """Whether a statement synchronizes with other threads, so that memory may have changed after it."""
    return isinstance(s, ir.Barrier | ir.GroupReduce | ir.Fence | ir.Shuffle | ir.FetchAdd | ir.WaitCopies)
