"""Splitting of loops over threads behind their last whole vectors: compilers compute what is left one by one, which takes
longer than the vectors where it needs functions, and elements of bytes make vectors long. Further loops have 16, 8 or 4 turns.

for th_x from 0 to 92: o[th_x] = exp(x[th_x])
becomes
for th_x from 0 to 88: ...; for th_x from 88 to 92: ...
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from indexing.kernels.ir import nodes as ir
from indexing.kernels.ir.copying import Names
from indexing.kernels.ir.traversal import all_values, may_leave, replace_loops
from indexing.kernels.ir.types import storage_type
from indexing.kernels.passes.affine import X
from indexing.kernels.passes.uniform import FUNCTIONS
from indexing.ops.element_types import element_type

VECTOR_BITS = 512  # the longest vectors of compilers' targets; what is left of shorter ones is less
MIN_TURNS = 4  # fewer are no vector
MAX_SHARE = 64  # a loop of so many times what is left hardly gains
MAX_COPIED = 200  # statements that the copies of a loop may have together


def split_tails(kernel: ir.Kernel) -> ir.Kernel:
    """The kernel with loops over threads split behind whole vectors."""
    names = Names(kernel)
    body = replace_loops(kernel.body, lambda loop: _split(loop, names))
    return kernel if body is kernel.body else replace(kernel, body=body, variables=tuple(names.variables))


def _split(s: ir.For, names: Names) -> Iterator[ir.Statement]:
    """The loop itself, or those that replace one over threads."""
    turns = (s.stop - s.start).constant_value
    if s.variable != X or s.step != 1 or not turns or not _is_worth_it(s):
        yield s
        return
    parts = list(_parts(turns, VECTOR_BITS // _narrowest(s.body) // 2))
    if len(parts) * len(ir.statements(s.body)) > MAX_COPIED:
        parts = [turns]
    start = s.start
    for k, part in enumerate(parts):
        body = s.body if k == 0 else names.copied(s.body)
        yield replace(s, start=start, stop=start + part, body=body) if len(parts) > 1 else s
        start = start + part


def _parts(turns: int, vector: int) -> Iterator[int]:
    """The turns of the loops: those of whole vectors, shorter and shorter ones, and what is left of the last."""
    left = turns % vector
    if left < MIN_TURNS or turns > MAX_SHARE * left:
        yield turns
        return
    if turns > left:
        yield turns - left
    while left >= MIN_TURNS:
        part = 1 << (left.bit_length() - 1)
        yield part
        left -= part
    if left:
        yield left


def _is_worth_it(loop: ir.For) -> bool:
    """Whether turns compute functions, one like the other."""
    inner = ir.statements(loop.body)
    if may_leave(loop.body) or any(isinstance(t, ir.For | ir.If) for t in inner):
        return False
    return any(isinstance(v, ir.Op) and v.opcode in FUNCTIONS for t in inner for v in all_values(t))


def _narrowest(body: ir.Block) -> int:
    """The fewest bits of an element that a body moves."""
    inner = ir.statements(body)
    moved = [v.type for t in inner for v in all_values(t) if isinstance(v, ir.Load)]
    moved += [t.value.type for t in inner if isinstance(t, ir.Store)]
    return min((max(element_type(storage_type(kind)).bits, 8) for kind in moved), default=32)
