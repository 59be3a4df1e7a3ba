"""Widths of elements: compilers make vectors of a loop over threads around another loop only if all elements have one width."""

from __future__ import annotations

from collections.abc import Sequence

from indexing.kernels.ir import nodes as ir
from indexing.kernels.ir.traversal import subvalues, values_of
from indexing.ops.element_types import element_type


def is_apart(before: Sequence[ir.Statement], s: ir.Statement) -> bool:
    """Whether a loop of elements of one width, in `before` or as the statement behind, stands beside elements of another."""
    own = _widths((s,))
    if isinstance(s, ir.For) and len(own) == 1 and not _widths(before) <= own:
        return True
    loops = [_widths((loop,)) for loop in before if isinstance(loop, ir.For)]
    return any(len(widths) == 1 and not own <= widths for widths in loops)


def _widths(statements: Sequence[ir.Statement]) -> set[int]:
    """The bits of the elements of statements, nested ones included; predicates have none, but for those in memory."""
    values = [part for s in ir.statements(tuple(statements)) for v in values_of(s) for part in subvalues(v)]
    stored = {s.value.type for s in ir.statements(tuple(statements)) if isinstance(s, ir.Store)}
    loaded = {v.type for v in values if isinstance(v, ir.Load)}
    computed = {v.type for v in values if isinstance(v, ir.Op | ir.Ref)} - {"pred"}
    return {max(element_type(kind).bits, 8) for kind in stored | loaded | computed}
