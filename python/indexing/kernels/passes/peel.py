"""Loop peeling: if conditions in a loop can fail only in the last iteration, that iteration is moved out of the loop; and
unswitching: a loop-invariant condition is evaluated once, in front of the loop.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from indexing._core import Interval, constant
from indexing.kernels.ir import nodes as ir
from indexing.kernels.ir.copying import Names
from indexing.kernels.ir.traversal import may_leave, replace_loops
from indexing.kernels.passes.lanes import lane_count

MAX_COPIED = 64  # statements of a body that may be duplicated


def unswitch(kernel: ir.Kernel) -> ir.Kernel:
    """The kernel with loop-invariant conditions around loops whose whole body is one branch, and around loops over lanes all of
    whose branches have them, or the opposite.
    """
    names = Names(kernel)
    body = replace_loops(kernel.body, lambda loop: (_unswitched(loop, names),))
    return replace(kernel, body=body, variables=tuple(names.variables))


def _unswitched(loop: ir.For, names: Names) -> ir.Statement:
    branches = [s for s in loop.body if isinstance(s, ir.If)]
    rest = tuple(s for s in loop.body if not isinstance(s, ir.If))
    defined = {loop.variable, *(s.variable for s in rest if isinstance(s, ir.LetIndex | ir.For))}
    conditions = list(dict.fromkeys(b.conditions for b in branches))
    if not conditions or any(b.otherwise for b in branches) or not _are_alternatives(*conditions):
        return loop
    shared = conditions[0]
    if not all(_is_invariant(c, defined) for c in shared):
        return loop
    if not rest and len(branches) == 1:
        return ir.If(shared, (replace(loop, body=branches[0].then),))
    if (
        not lane_count(loop)
        or len(ir.statements(rest)) > MAX_COPIED
        or may_leave(loop.body)
        or not _has_one_edge(shared)
    ):
        return loop
    whole, other = (replace(loop, body=_where(loop.body, holds)) for holds in (conditions[:1], conditions[1:]))
    return ir.If(shared, (whole,), names.copied((other,)))


def _are_alternatives(first: tuple[ir.Value, ...], *others: tuple[ir.Value, ...]) -> bool:
    """Whether there is one condition, or a second one that holds where the first, on one edge, does not."""
    if not others:
        return True
    (given, *more), other = first, others[0]
    return len(others) == 1 and not more and isinstance(given, ir.Within) and other == (given.negated,)


def _where(body: ir.Block, holds: Collection[tuple[ir.Value, ...]]) -> ir.Block:
    """A body whose branches with conditions of some that hold are taken, and others are not."""
    return tuple(t for s in body for t in ((s.then if s.conditions in holds else ()) if isinstance(s, ir.If) else (s,)))


def _has_one_edge(conditions: tuple[ir.Value, ...]) -> bool:
    """Whether what does not meet the conditions lies beyond one bound, so that accesses there are counted exactly."""
    return [isinstance(c, ir.Within) and None in (c.lower, c.upper) for c in conditions] == [True]


def _is_invariant(condition: ir.Value, defined: set[int]) -> bool:
    """Whether a condition is invariant; only conditions on indices are, of variables that the loop doesn't define."""
    return isinstance(condition, ir.Within) and defined.isdisjoint(condition.expression.used_variables())


def peel_loops(kernel: ir.Kernel) -> ir.Kernel:
    """The kernel with last iterations peeled off, if all others then need no condition."""
    names = Names(kernel)
    body = replace_loops(kernel.body, lambda loop: _peeled(loop, names))
    return replace(kernel, body=body, variables=tuple(names.variables))


def _peeled(loop: ir.For, names: Names) -> ir.Block:
    first, stop = loop.start.constant_value, loop.stop.constant_value
    if lane_count(loop) or first is None or stop is None or loop.step != 1:
        return (loop,)
    if stop - first < 2 or not _is_worth_it(loop, stop, names.intervals):
        return (loop,)
    own = names.variables[loop.variable]
    names.variables[loop.variable] = replace(own, interval=Interval(first, stop - 2))
    return replace(loop, stop=constant(stop - 1)), *names.copied(loop.body, {loop.variable: constant(stop - 1)})


def _is_worth_it(loop: ir.For, stop: int, intervals: list[Interval]) -> bool:
    """Whether every condition on the loop's variable holds in all iterations but the last."""
    inner = list(ir.statements(loop.body))
    if len(inner) > MAX_COPIED or any(isinstance(s, ir.Break) for s in inner):
        return False
    conditions = [
        c
        for s in loop.body
        if isinstance(s, ir.If)
        for c in s.conditions
        if isinstance(c, ir.Within) and loop.variable in c.expression.used_variables()
    ]
    intervals[loop.variable] = Interval(intervals[loop.variable].lower, stop - 2)
    return bool(conditions) and all(c.decided(c.expression.range(intervals)) for c in conditions)
