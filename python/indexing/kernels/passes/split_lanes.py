"""Splitting of whole and partial vectors: in a loop over lanes that checks bounds for each lane, whole vectors need no check.

for lane: if base + lane <= last: ...   becomes   if base + width - 1 <= last: for lane: ...   else: the same as before

Where threads are loops, so are those that compute something else out of bounds, and partial vectors are loops up to the bound,
behind which another computes what is out of bounds: compilers make vectors of all of these.
"""

from __future__ import annotations

from dataclasses import replace

from indexing._core import Interval, SymbolicExpr, constant, variable
from indexing.kernels.ir.copying import Names
from indexing.kernels.ir.nodes import Block, For, If, Kernel, Statement, Within, statements
from indexing.kernels.ir.traversal import replace_loops
from indexing.kernels.passes.lanes import lane_count

MAX_COPIED = 128  # statements that may be duplicated


def split_into_lanes(kernel: Kernel, has_threads: bool) -> Kernel:
    """The kernel with separate loops over the lanes of whole vectors and of partial ones."""
    names = Names(kernel)
    body = replace_loops(kernel.body, lambda loop: (_split(loop, names, has_threads),))
    return replace(kernel, body=body, variables=tuple(names.variables))


def _split(loop: For, names: Names, has_threads: bool) -> Statement:
    width = lane_count(loop)
    if not width or len(loop.body) != 1 or sum(1 for _ in statements(loop.body)) > MAX_COPIED:
        return loop
    branch = loop.body[0]
    if not isinstance(branch, If) or (branch.otherwise and has_threads) or len(branch.conditions) != 1:
        return loop
    condition = branch.conditions[0]
    if not isinstance(condition, Within) or condition.lower is not None or condition.upper is None:
        return loop
    places = _affine(condition.expression, loop.variable, width, names)
    if places is None:
        return loop
    first, step, last = places
    whole = replace(loop, body=branch.then)
    partial: Block
    if has_threads or step != 1:
        partial = (_of_lanes(loop, names, width if branch.otherwise else width - 1),)  # the last lane is not in bounds
    else:
        stop = names.simplified((condition.upper + 1 - first).max(constant(0)))
        within = _of_lanes(replace(loop, body=branch.then), names, width - 1)
        beyond = _of_lanes(replace(loop, start=stop, body=branch.otherwise), names, width)
        partial = (replace(within, stop=stop), *([beyond] if branch.otherwise else []))
    return If((Within(last, None, condition.upper),), (whole,), partial)


def _affine(
    expression: SymbolicExpr, lane: int, width: int, names: Names
) -> tuple[SymbolicExpr, int, SymbolicExpr] | None:
    """The expression at the first lane, its step from lane to lane, and the expression at the last one, if it is affine in the
    lane and does not fall; None otherwise.
    """
    places = [variable(k) for k in range(len(names.variables))]
    at = [expression.replace_variables([*places[:lane], constant(k), *places[lane + 1 :]]) for k in (0, 1, width - 1)]
    step = names.simplified(at[1] - at[0]).constant_value
    if step is None or step < 0:
        return None
    if names.simplified(expression - at[0] - places[lane] * step).constant_value != 0:
        return None
    return at[0], step, names.simplified(at[2])


def _of_lanes(loop: For, names: Names, count: int) -> For:
    """The loop of a partial vector, over its first lanes."""
    number = names.add_variable(replace(names.variables[loop.variable], interval=Interval(0, count - 1)))
    body = names.copied(loop.body, {loop.variable: variable(number)})
    return replace(loop, variable=number, stop=constant(count), body=body, lanes=False)
