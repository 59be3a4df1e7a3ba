"""Unrolling: which loops are written out, here or by the target's compiler.

Where threads stand side by side, a loop over the lanes of a vector, or one that counts through an array of a thread's own, is
written out wholly, since registers have no index; of another one that loads, four turns are, or all of up to eight, so that
their loads are on their way together. What stays short is written out here; the rest is marked, for the compiler to do it:
the same machine code comes out, in less time than it takes to make and to read a long text.

Where threads become loops, compilers make vectors of these, and other loops go around them. Only a sum of a few elements
is written out, which a loop over threads then keeps in a register.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from indexing._core import constant
from indexing.emitters.ir.copying import Copying, Names
from indexing.emitters.ir.nodes import (
    Assign,
    Barrier,
    Block,
    Copy,
    For,
    If,
    Kernel,
    Load,
    Statement,
    Store,
    TeamReduce,
    statements,
)
from indexing.emitters.ir.traversal import expressions_of, may_leave, rewrite_blocks, same_block, subvalues, values_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from indexing._core import SymbolicExpr

MAX_WRITTEN = 12  # statements that a loop may become here
MAX_BESIDE = 64  # statements of a loop of which some turns stand side by side
BESIDE = 4  # turns


def unroll_loops(kernel: Kernel, has_threads: bool) -> Kernel:
    """The entry with such loops written out, or marked; `has_threads`: those of a block will run side by side."""
    unrolling = _Unrolling(kernel, has_threads)
    body = rewrite_blocks(kernel.body, unrolling.block)
    return replace(kernel, body=body, variables=tuple(unrolling.names.variables))


class _Unrolling:
    def __init__(self, kernel: Kernel, has_threads: bool) -> None:
        self.has_threads = has_threads
        self.names = Names(kernel.variables, kernel.body)
        self.spaces = {b.name: b.space for b in kernel.buffers}

    def block(self, block: Block) -> Block:
        out: list[Statement] = []
        for statement in block:
            out += self._loop(statement) if isinstance(statement, For) else [statement]
        return same_block(block, out)

    def _loop(self, loop: For) -> Sequence[Statement]:
        turns, inner = iterations_of(loop), list(statements(loop.body))
        if turns is None or may_leave(loop.body) or any(isinstance(s, Barrier | TeamReduce) for s in inner):
            return [loop]
        is_short = turns * len(inner) <= MAX_WRITTEN
        if not self.has_threads:
            return self._written(loop, turns) if is_short and _is_sum(inner) else [loop]
        if is_short:
            return self._written(loop, turns)
        if loop.lanes or self._counts_registers(loop.variable, inner):
            return [replace(loop, unroll=turns)]
        is_worth_it = turns >= BESIDE and len(inner) <= MAX_BESIDE and self._loads(inner)
        is_whole = turns <= 2 * BESIDE and turns * len(inner) <= MAX_BESIDE  # half a loop costs more than it saves
        return [replace(loop, unroll=turns if is_whole else BESIDE) if is_worth_it else loop]

    def _counts_registers(self, counter: int, inner: Sequence[Statement]) -> bool:
        """Whether a counter is part of a place in an array of the thread's own."""
        return any(counter in e.used_variables() for s in inner for e in self._registers(s))

    def _registers(self, s: Statement) -> Iterator[SymbolicExpr]:
        """The places of such arrays that a statement reads or writes."""
        if isinstance(s, Store) and self.spaces[s.buffer] == "local":
            yield from s.index
        for load in _loads(s):
            if self.spaces[load.buffer] == "local":
                yield from expressions_of(load)

    def _loads(self, inner: Sequence[Statement]) -> bool:
        """Whether statements load from global memory."""
        loaded = {load.buffer for s in inner for load in _loads(s)} | {s.source for s in inner if isinstance(s, Copy)}
        return any(self.spaces[name] == "global" for name in loaded)

    def _written(self, loop: For, turns: int) -> list[Statement]:
        """All turns of the loop, each with its number."""
        start = loop.start.constant_value
        assert start is not None
        out: list[Statement] = []
        for turn in range(turns):
            place = constant(start + turn * loop.step)
            out += Copying(self.names, self.names.variables, loop.body, {loop.variable: place}, {}).body
        return out


def iterations_of(loop: For) -> int | None:
    """The number of turns of a loop, where that is known."""
    start, stop = loop.start.constant_value, loop.stop.constant_value
    return None if start is None or stop is None else max(-(-(stop - start) // loop.step), 0)


def _loads(s: Statement) -> Iterator[Load]:
    return (v for value in values_of(s) for v in subvalues(value) if isinstance(v, Load))


def _is_sum(inner: Sequence[Statement]) -> bool:
    """Whether statements change a variable, and are the same in each turn."""
    return any(isinstance(s, Assign) for s in inner) and not any(isinstance(s, For | If) for s in inner)
