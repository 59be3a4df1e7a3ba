"""Reductions side by side, in loops with the same bounds, become one loop: the sum of elements and that of their squares load
these once. Those of few iterations are written out later, and compilers load each of their elements once.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from indexing._core import variable
from indexing.kernels.ir import nodes as ir
from indexing.kernels.ir.copying import changed_by, names_of
from indexing.kernels.ir.traversal import (
    expressions_in,
    names_in,
    rewrite_blocks,
    rewrite_bodies,
    rewrite_indices,
    same_block,
    values_of,
)
from indexing.kernels.passes.hoist import parts_of
from indexing.kernels.passes.vectorize import MAX_ITERATIONS

MAX_MERGED = 64  # statements of a loop, whose values registers hold
_PURE = (ir.Var, ir.Let, ir.LetIndex, ir.Assign, ir.For)


def merge_loops(kernel: ir.Kernel) -> ir.Kernel:
    """The kernel with reductions of one block, none of which needs another's result, in one loop."""

    def merged(f: ir.Function | ir.Kernel) -> tuple[ir.Block, tuple[ir.Value, ...]]:
        return rewrite_blocks(f.body, lambda block: same_block(block, _merged(block, len(f.variables)))), f.results

    return rewrite_bodies(kernel, merged)


def _merged(block: ir.Block, variables: int) -> list[ir.Statement]:
    """The statements of a block, each reduction in the first loop before it that it may join."""
    out: list[ir.Statement] = []
    for part in parts_of(block):
        *accumulators, loop = part
        if not accumulators or not isinstance(loop, ir.For) or (place := _place(out, part, loop)) is None:
            out += part
            continue
        first = out[place]
        assert isinstance(first, ir.For)
        body = _counted_by(loop, first.variable, variables)
        out[place : place + 1] = [*accumulators, replace(first, body=(*first.body, *body))]
    return out


def _counted_by(loop: ir.For, counter: int, variables: int) -> ir.Block:
    """The body of a loop with the counter of another one."""
    places = [variable(counter if v == loop.variable else v) for v in range(variables)]
    return rewrite_indices(loop.body, lambda e: e.replace_variables(places))


def _place(before: list[ir.Statement], part: ir.Block, loop: ir.For) -> int | None:
    """The place of a loop among statements that a reduction may join: it needs nothing that is defined from there on, and
    only names are defined.
    """
    statements = list(ir.statements(part))
    count = (loop.stop - loop.start).constant_value
    if (
        loop.lanes
        or (count is not None and count <= MAX_ITERATIONS)
        or not all(isinstance(s, _PURE) for s in statements)
    ):
        return None
    needed, own = _used(statements), _defined(statements)
    for place in range(len(before) - 1, -1, -1):
        inner = list(ir.statements((before[place],)))
        if not all(isinstance(s, _PURE) for s in inner) or not needed.isdisjoint(_defined(inner)):
            return None
        one = before[place]
        if isinstance(one, ir.For) and _runs_alike(one, loop) and len(inner) + len(statements) <= MAX_MERGED:
            return place if own.isdisjoint(_used(inner)) else None
    return None


def _runs_alike(one: ir.For, other: ir.For) -> bool:
    return (one.start, one.stop, one.step, one.lanes) == (other.start, other.stop, other.step, other.lanes)


def _defined(statements: Iterable[ir.Statement]) -> set[str | int]:
    """The names and index variables that statements define or assign."""
    defined: set[str | int] = set()
    for s in statements:
        defined.update(names_of(s), changed_by(s))
        if isinstance(s, ir.LetIndex | ir.For):
            defined.add(s.variable)
    return defined


def _used(statements: Iterable[ir.Statement]) -> set[str | int]:
    """The names and index variables that statements read."""
    used: set[str | int] = set()
    for s in statements:
        used.update(names_in(values_of(s)))
        used.update(k for e in expressions_in(s) for k in e.used_variables())
    return used
