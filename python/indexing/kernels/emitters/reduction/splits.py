"""Reductions that several blocks share: each writes its part to scratch memory, and the last block to arrive combines them.

Parts are combined in the order of their numbers, whichever block is last, so that the result is deterministic. Blocks that
share a row increment a counter, which the last one resets to zero for the next launch.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from math import gcd

from indexing._core import SymbolicExpr, constant
from indexing.kernels.emitters.reduction.accumulators import (
    Accumulators,
    ThreadGroup,
    combine,
    kept_type,
    shared_bytes,
)
from indexing.kernels.function_builder import FunctionBuilder
from indexing.kernels.ir.nodes import Buffer, Constant, Fence, FetchAdd, Load, Op, Ref
from indexing.kernels.ir.types import storage_bytes
from indexing.kernels.launch import guarded, loop_over, thread_id
from indexing.kernels.vectors import VECTOR_BYTES, lanes
from indexing.ops.element_context import Index, Value
from indexing.ops.reducer_ops import in_order_of_index

LAST_BYTES = 4  # the shared memory that says whether the block is the last


def shared_bytes_of_splits(values: int, block: int, threads: int, distance: int, split_k: int, dialect: str) -> int:
    """The bytes of shared memory in which a block combines its own values, and, if several blocks share a row, the results of
    all, and which tell its threads whether it is the last.
    """
    own = shared_bytes(values, block, threads, distance, dialect)
    if split_k == 1:
        return own
    return own + shared_bytes(values, block, _collecting(threads, split_k), distance, dialect) + LAST_BYTES


def _collecting(threads: int, split_k: int) -> int:
    """The number of threads of a group that combine the results of that many blocks, a power of two."""
    return min(threads, 1 << (split_k.bit_length() - 1))


class Splits:
    """`count` blocks reduce each of `tiles` groups of `slots` rows (or columns), with a group of threads for each."""

    def __init__(
        self, body: FunctionBuilder, count: int, tiles: int, slots: int, accumulators: Sequence[Accumulators]
    ) -> None:
        """Declare the scratch memory, if there are several blocks."""
        self.body = body
        self.count, self.tiles, self.slots = count, tiles, slots
        self.accumulators = accumulators
        self.parts: list[list[str]] = []
        if count > 1:
            size = count * tiles * slots
            self.parts = [[self._scratch(kept_type(kind), size) for kind in a.kinds] for a in accumulators]
            self.counter = self._scratch("u32", tiles)
            self.last = body.kernel.add_buffer(Buffer(body.fresh("last"), "u32", (1,), "shared"))

    def _scratch(self, kind: str, size: int) -> str:
        number = self.body.kernel.scratch_count
        return self.body.kernel.add_buffer(Buffer(f"w{number}", kind, (size,), "global", "scratch", number))

    @contextmanager
    def combined(
        self, group: ThreadGroup, tile: SymbolicExpr, split: SymbolicExpr, slot: SymbolicExpr
    ) -> Iterator[None]:
        """A scope that runs once for each tile, after part 0 of each group has the result of all blocks.

        `tile` and `split` are the block's numbers, `slot` is that of the thread's group.
        """
        if self.count == 1:
            yield
            return
        body = self.body
        self._leave(group, (tile * self.count + split) * self.slots, slot)
        zero = constant(0)
        is_first_thread = body.within(thread_id("th_x"), 0, 0)
        body.add(Fence())
        body.barrier()
        with guarded(body, is_first_thread):
            arrived = body.fresh("arrived")
            body.add(FetchAdd(arrived, self.counter, (tile,), Constant("u32", 1)))
            body.store(self.last, (zero,), Ref("u32", arrived))
        body.barrier()
        is_last = Op("eq", "pred", (Load("u32", self.last, (zero,)), Constant("u32", self.count - 1)))
        with body.when([Value(is_last, "pred")]), body.base_scope():
            body.add(Fence())
            with guarded(body, is_first_thread):
                body.store(self.counter, (tile,), Constant("u32", 0))
            self._collect(group, tile * (self.count * self.slots), slot)
            yield

    @contextmanager
    def _columns(
        self, accumulators: Accumulators, begin: SymbolicExpr, slot: SymbolicExpr
    ) -> Iterator[tuple[SymbolicExpr, Index]]:
        """A loop over the columns of a thread, each with its place in scratch memory from `begin` on: a thread has vectors of
        columns, those of neighbouring threads are side by side.
        """
        body, width = self.body, accumulators.width
        per = gcd(width, VECTOR_BYTES // max(storage_bytes(kept_type(k)) for k in accumulators.kinds))
        with loop_over(body, width // per, "vector") as vector, lanes(body, per) as lane:
            place = (vector * (self.slots // width) + slot) * per + lane
            yield vector * per + lane, (body.scope.simplify(begin + place),)

    def _leave(self, group: ThreadGroup, begin: SymbolicExpr, slot: SymbolicExpr) -> None:
        body = self.body
        with guarded(body, body.within(group.part, 0, 0)):
            for accumulators, buffers in zip(self.accumulators, self.parts, strict=True):
                with self._columns(accumulators, begin, slot) as (column, cell):
                    for buffer, value in zip(buffers, accumulators.values(column), strict=True):
                        kept = kept_type(value.element_type)
                        body.store(buffer, cell, body.stored(kept, Value(value.node, kept)))

    def _collect(self, group: ThreadGroup, begin: SymbolicExpr, slot: SymbolicExpr) -> None:
        """Distribute the blocks' parts over the threads of a group: each takes those whose numbers are its own modulo the
        number of threads that take part.
        """
        body = self.body
        threads = _collecting(group.threads, self.count)
        for accumulators in self.accumulators:
            accumulators.restart()
        with guarded(body, body.within(group.part, 0, threads - 1)):
            (part,) = body.inside((group.part,), (threads,))
            with loop_over(body, -(-self.count // threads), "step") as step:
                block = body.scope.simplify(part + step * threads)
                with guarded(body, body.within(block, 0, self.count - 1)):
                    (inside,) = body.inside((block,), (self.count,))
                    self._take(begin + inside * self.slots, slot, body.within(step, 0, 0) or True)
        combine(self.accumulators, group, threads)

    def _take(self, begin: SymbolicExpr, slot: SymbolicExpr, is_first: Sequence[Value] | bool) -> None:
        body = self.body
        for accumulators, buffers in zip(self.accumulators, self.parts, strict=True):
            with self._columns(accumulators, begin, slot) as (column, cell):
                pairs = zip(buffers, accumulators.kinds, strict=True)
                values = [Value(body.load(b, kept_type(k), cell).node, k) for b, k in pairs]
                accumulators.add(column, values, is_first, in_order_of_index(accumulators.computation))
