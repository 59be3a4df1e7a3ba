"""Asynchronous copies: what only passes through registers on its way from global to shared memory does not pass through them.

copy x = p; for lane: y[lane] = x[lane]; copy t = y   becomes   copy_async t = p

Only in kernels that wait for such copies, whose barriers are placed for them.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from indexing.kernels.ir import nodes as ir
from indexing.kernels.ir.fragments import ASYNC_BYTES
from indexing.kernels.ir.memory import Memory, moves
from indexing.kernels.ir.traversal import loads_of, rewrite_blocks, same_block
from indexing.kernels.ir.types import storage_bytes
from indexing.kernels.passes.lanes import lane_count


def begin_copies(kernel: ir.Kernel) -> ir.Kernel:
    """The kernel with asynchronous copies, if it waits for some."""
    if not any(isinstance(s, ir.WaitCopies) for s in ir.statements(kernel.body)):
        return kernel
    copies = _Copies(kernel)
    return replace(kernel, body=rewrite_blocks(kernel.body, copies.block))


class _Copies:
    def __init__(self, kernel: ir.Kernel) -> None:
        self.buffers = {b.name: b for b in kernel.buffers}
        inner = ir.statements(kernel.body)
        memory = Memory(kernel)
        self.written = {m for s in inner for m in memory.written(s)}
        self.uses = Counter(m.buffer for s in inner for m in moves(s))
        self.uses.update(s.buffer for s in inner if isinstance(s, ir.Store))
        self.uses.update(v.buffer for s in inner for v in loads_of(s))

    def block(self, block: ir.Block) -> ir.Block:
        out: list[ir.Statement] = []
        for s in block:
            out.append(s)
            begun = self._begun(*out[-3:]) if len(out) >= 3 else None
            if begun is not None:
                out[-3:] = [begun]
        return same_block(block, out)

    def _begun(self, first: ir.Statement, loop: ir.Statement, last: ir.Statement) -> ir.CopyAsync | None:
        """The copy that three statements make of whole vectors, through local buffers that nothing else uses."""
        if not (isinstance(first, ir.Copy) and isinstance(loop, ir.For) and isinstance(last, ir.Copy)):
            return None
        source, to, held = self.buffers[first.source], self.buffers[last.destination], (first.destination, last.source)
        is_whole = first.width == last.width == lane_count(loop) == self._size(held[0]) == self._size(held[1])
        is_moved = source.space == "global" and source.name not in self.written and to.space == "shared"
        size = storage_bytes(to.element_type) * last.width
        if not (is_whole and is_moved and size in ASYNC_BYTES and _passes_on(loop, *held)):
            return None
        if any(self.uses[name] != 2 for name in held):
            return None
        return ir.CopyAsync(to.name, last.destination_index, source.name, first.source_index, last.width)

    def _size(self, name: str) -> int:
        buffer: ir.Buffer = self.buffers[name]
        return buffer.size if buffer.space == "local" else 0


def _passes_on(loop: ir.For, source: str, to: str) -> bool:
    """Whether each lane copies its element of a buffer to another."""
    match loop.body:
        case (ir.Let(name, ir.Load(_, a, (at,))), ir.Store(b, (place,), ir.Ref(_, value))):
            return (a, b, name) == (source, to, value) and at == place and at.variable_index == loop.variable
    return False
