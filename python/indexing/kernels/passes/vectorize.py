"""Vectorization of memory accesses: adjacent, aligned accesses of a loop over lanes become vector loads in front of the loop,
and vector stores after it.

An index is a lane of an aligned vector if it is `base + lane`, and `base`, which is loop-invariant, is a multiple of the
vector's width.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from indexing._core import SymbolicExpr, constant, variable
from indexing.kernels.ir.memory import Memory, orders_memory
from indexing.kernels.ir.nodes import (
    Block,
    Buffer,
    Copy,
    For,
    If,
    Index,
    IndexVariable,
    Kernel,
    LetIndex,
    Load,
    Statement,
    Store,
    statements,
)
from indexing.kernels.ir.traversal import may_leave, rewrite_blocks, rewrite_statement, rewrite_value, same_block
from indexing.kernels.ir.types import storage_bytes

if TYPE_CHECKING:
    from indexing.kernels.ir.nodes import Value

VECTOR_BYTES = 16


def vectorize_accesses(kernel: Kernel) -> Kernel:
    """The kernel with vector loads and stores of global and shared memory."""
    vectors = _Vectors(kernel)
    body = rewrite_blocks(kernel.body, vectors.block)
    return replace(kernel, body=body, buffers=(*kernel.buffers, *vectors.buffers))


def lane_count(loop: For) -> int:
    """The number of lanes of a loop over lanes; 0 for other loops."""
    count = loop.stop.constant_value
    return count if loop.lanes and count is not None and loop.start.constant_value == 0 and loop.step == 1 else 0


class _Vectors:
    """The local buffers of vectors that a kernel needs."""

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel
        self.memory = Memory(kernel)
        self.by_name = {b.name: b for b in kernel.buffers}
        self.variables: tuple[IndexVariable, ...] = kernel.variables
        self.buffers: list[Buffer] = []

    def block(self, block: Block) -> Block:
        out: list[Statement] = []
        for statement in block:
            if isinstance(statement, For) and lane_count(statement):
                loop = _Lanes(self, statement)
                rewritten = loop.rewritten()
                out += [*loop.before, rewritten, *loop.after]
            else:
                out.append(statement)
        return same_block(block, out)

    def local(self, like: Buffer, width: int) -> str:
        """A new local buffer for a vector of the elements of another."""
        name = f"x{len(self.buffers)}"
        self.buffers.append(Buffer(name, like.element_type, (width,), "local"))
        self.by_name[name] = self.buffers[-1]
        return name


@dataclass
class _Lanes:
    """Vectorizes one loop over lanes."""

    vectors: _Vectors
    loop: For
    before: list[Statement] = field(default_factory=list)
    after: list[Statement] = field(default_factory=list)

    def rewritten(self) -> For:
        self.width = lane_count(self.loop)
        inner = list(statements(self.loop.body))
        self.changing = {self.loop.variable, *(s.variable for s in inner if isinstance(s, LetIndex | For))}
        self.places = [variable(k) for k in range(len(self.vectors.variables))]  # definitions of named indices
        for s in inner:
            if isinstance(s, LetIndex) and isinstance(s.value, SymbolicExpr):
                self.places[s.variable] = s.value.replace_variables(self.places)
        memory = self.vectors.memory
        self.written = {m for s in inner for m in memory.written(s)}
        self.read = {m for s in inner for m in memory.read(s)}
        self.loads: dict[tuple[str, SymbolicExpr], str] = {}
        if any(map(orders_memory, inner)) or may_leave(self.loop.body):
            return self.loop
        body = same_block(self.loop.body, [*map(self._statement, self.loop.body)])
        return self.loop if body is self.loop.body else replace(self.loop, body=body)

    def _statement(self, s: Statement) -> Statement:
        if isinstance(s, For):
            return s
        if isinstance(s, If):  # its first condition is always evaluated
            first = rewrite_value(s.conditions[0], self._value)
            return s if first is s.conditions[0] else replace(s, conditions=(first, *s.conditions[1:]))
        rewritten = rewrite_statement(s, self._value)
        return self._store(rewritten) if isinstance(rewritten, Store) else rewritten

    def _base(self, name: str, index: Index) -> SymbolicExpr | None:
        """The base of an index, if the index is `base + lane` in an aligned vector; None otherwise."""
        buffer = self.vectors.by_name.get(name)
        if buffer is None or buffer.space not in ("global", "shared") or len(index) != 1:
            return None
        places = [variable(k) for k in range(len(self.vectors.variables))]
        lane = places[self.loop.variable]
        places[self.loop.variable] = constant(0)
        place = index[0].replace_variables(self.places)
        base = place.replace_variables(places)
        intervals = [v.interval for v in self.vectors.variables]
        if self.changing.intersection(base.used_variables()):
            return None
        if (base + lane - place).simplify(intervals).constant_value != 0:
            return None
        width = self._piece(buffer)
        return base if width > 1 and base.simplify(intervals).is_multiple_of(width) else None

    def _piece(self, buffer: Buffer) -> int:
        """The number of elements that one instruction moves, a power of two."""
        return min(self.width & -self.width, max(VECTOR_BYTES // storage_bytes(buffer.element_type), 1))

    def _value(self, value: Value) -> Value:
        if not isinstance(value, Load) or self.vectors.memory.of(value.buffer) in self.written:
            return value
        base = self._base(value.buffer, value.index)
        if base is None:
            return value
        key = value.buffer, base
        if key not in self.loads:
            buffer = self.vectors.by_name[value.buffer]
            self.loads[key] = name = self.vectors.local(buffer, self.width)
            piece = self._piece(buffer)
            for k in range(0, self.width, piece):
                self.before.append(Copy(name, constant(k), value.buffer, base + k, piece))
        return Load(value.type, self.loads[key], (variable(self.loop.variable),))

    def _store(self, store: Store) -> Statement:
        own = self.vectors.memory.of(store.buffer)
        is_alone = [m for s in statements(self.loop.body) for m in self.vectors.memory.written(s)].count(own) == 1
        if not is_alone or own in self.read:
            return store
        base = self._base(store.buffer, store.index)
        if base is None:
            return store
        buffer = self.vectors.by_name[store.buffer]
        name, piece = self.vectors.local(buffer, self.width), self._piece(buffer)
        for k in range(0, self.width, piece):
            self.after.append(Copy(store.buffer, base + k, name, constant(k), piece))
        return Store(name, (variable(self.loop.variable),), store.value)
