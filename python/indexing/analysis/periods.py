"""Expressions that repeat: after how many steps of a variable an expression grows by the same amount everywhere.

`e(v + period) = e(v) + growth` for all integers holds by structure: for sums, quotients and remainders by constants of
such expressions. Boxes of variables on which predicates are decided are then counted by one representative a class.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import gcd, lcm
from typing import TypeAlias

import numpy as np

from indexing._core import Interval, SymbolicExpr

Box: TypeAlias = tuple[tuple[int, int], ...]  # of each variable, its least and its greatest value
Bound: TypeAlias = tuple[SymbolicExpr, Interval]
Growth: TypeAlias = tuple[int, int] | None  # (period, growth); None: no period is known


SMALL = 8  # values that are looked at one by one sooner than split


def growth(expression: SymbolicExpr, variable: int) -> Growth:
    """The least known period of `variable` in the expression, with the amount by which the expression then grows."""
    nodes = expression.nodes()
    found: list[Growth] = []
    for kind, numbers, operands in nodes:
        parts = [found[k] for k in operands]
        result = _node(kind, numbers, parts, variable)
        if result is None and kind in ("floordiv", "mod") and parts[0] is not None:
            divisor = nodes[operands[1]]
            if divisor[0] == "constant" and divisor[1][0] != 0:
                result = _divided(kind, divisor[1][0], parts[0])
        found.append(result)
    return found[-1]


def _node(kind: str, numbers: Sequence[int], parts: Sequence[Growth], variable: int) -> Growth:
    if kind == "variable":
        return (1, int(numbers[0] == variable))
    known = [p for p in parts if p is not None]
    if len(known) < len(parts):
        return None
    period = lcm(*(p for p, _ in known))
    grown = [g * (period // p) for p, g in known]
    if not any(grown):
        return (period, 0)
    if kind == "sum":
        return (period, sum(c * g for c, g in zip(numbers[1:], grown, strict=True)))
    if kind in ("min", "max"):
        return (period, grown[0]) if len(set(grown)) == 1 else None
    return None


def _divided(kind: str, divisor: int, part: tuple[int, int]) -> Growth:
    period, grown = part
    times = abs(divisor) // gcd(grown, divisor)
    return (period * times, grown * times // divisor if kind == "floordiv" else 0)


@dataclass(frozen=True, slots=True)
class Class:
    """Points of the variables that stand for others: `values` and how many points each value of a variable stands for."""

    values: tuple[np.ndarray, ...]
    weights: tuple[np.ndarray, ...]

    @property
    def size(self) -> int:
        """How many representatives there are."""
        size = 1
        for values in self.values:
            size *= len(values)
        return size


def classes(
    box: Box, free: Sequence[int], cyclic: Sequence[tuple[SymbolicExpr, int]], bounds: Sequence[Bound], most: int
) -> Iterator[Class]:
    """Boxes that cover `box` without those where a bound fails everywhere, each as representatives of its points.

    Variables in `free` are never split, and left out of the answer: their predicates are the caller's. Two points of
    a class agree, for all values of the free variables, in each expression of `cyclic` up to a multiple of its number,
    and in whether all bounds hold. `most` limits how many boxes are looked at; what is left is handed out undivided,
    every point for itself.
    """
    split = [v for v in range(len(box)) if v not in free]
    growths = {(k, v): growth(e, v) for k, (e, _) in enumerate(bounds) for v in split}
    periods = {v: _period(v, cyclic, [growths[k, v] for k in range(len(bounds))]) for v in split}
    pending = [box]
    while pending:
        part = pending.pop()
        most -= 1
        undecided, fails = _undecided(part, bounds)
        if fails:
            continue
        cut = _to_split(part, split, periods, growths, undecided)
        if cut is None or most <= 0:
            grows = {v for v in split for k in undecided if (growths[k, v] or (1, 1))[1] != 0}
            pairs = [_representatives(*part[v], None if v in grows else periods[v]) for v in split]
            yield Class(tuple(p[0] for p in pairs), tuple(p[1] for p in pairs))
            continue
        low, high = part[cut]
        middle = _middle(part, cut, [(bounds[k], growths[k, cut]) for k in undecided])
        pending.append((*part[:cut], (middle + 1, high), *part[cut + 1 :]))
        pending.append((*part[:cut], (low, middle), *part[cut + 1 :]))


def _period(variable: int, cyclic: Sequence[tuple[SymbolicExpr, int]], bounds: Sequence[Growth]) -> int | None:
    """The period of everything cyclic: addresses, and bounds that do not grow; None where there is none."""
    period = 1
    for expression, cycle in cyclic:
        found = growth(expression, variable)
        if found is None:
            return None
        period = lcm(period, found[0] * (cycle // gcd(found[1], cycle)))
    for bound in bounds:
        if bound is None:
            return None
        period = lcm(period, bound[0]) if bound[1] == 0 else period
    return period


def _undecided(box: Box, bounds: Sequence[Bound]) -> tuple[list[int], bool]:
    intervals = [Interval(*b) for b in box]
    undecided = []
    for k, (expression, interval) in enumerate(bounds):
        found = expression.range(intervals)
        if found.intersect(interval).is_empty:
            return [], True
        if not interval.contains(found):
            undecided.append(k)
    return undecided, False


def _to_split(
    box: Box,
    split: Sequence[int],
    periods: dict[int, int | None],
    growths: dict[tuple[int, int], Growth],
    undecided: Sequence[int],
) -> int | None:
    """The variable that moves an undecided bound most; None where representatives decide all bounds for their class."""
    best, most = None, 0
    for k in undecided:
        for v in split:
            low, high = box[v]
            found = growths[k, v]
            period = periods[v]
            if found is None or period is None or found[1] == 0 or high - low < max(period, SMALL):
                continue
            moved = abs(found[1]) * (high - low) // found[0]
            if moved >= most:
                best, most = v, moved
    return best


def _middle(box: Box, cut: int, undecided: Sequence[tuple[Bound, Growth]]) -> int:
    """Where to end the lower part: where a bound begins or ends to hold for all other variables, else half way."""
    low, high = box[cut]
    intervals = [Interval(*b) for b in box]
    for (expression, interval), found in undecided:
        if found is None or found[1] == 0:
            continue
        values, (period, grown) = expression.range(intervals), found
        above, below = values.upper - interval.upper, interval.lower - values.lower
        if grown < 0:
            above, below = below, above
        for over, end in ((above, high), (below, low - 1)):
            steps = -(-over * period // abs(grown)) if over > 0 else 0
            middle = end - steps if end == high else end + steps
            if steps and low <= middle < high:
                return middle
    return (low + high) // 2


def _representatives(low: int, high: int, period: int | None) -> tuple[np.ndarray, np.ndarray]:
    count = high - low + 1
    if period is None or period >= count:
        return np.arange(low, high + 1), np.ones(count, np.int64)
    weights = np.full(period, count // period, np.int64)
    weights[: count % period] += 1
    return np.arange(low, low + period), weights
