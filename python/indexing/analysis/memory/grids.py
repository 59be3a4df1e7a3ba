"""Regular grids of elements: images of maps whose results are linear in one variable each, and the sizes of their unions."""

from __future__ import annotations

from collections.abc import Sequence
from math import gcd, lcm, prod
from typing import TypeAlias

from indexing._core import IndexingMap, SymbolicExpr

#: The indices along each dimension; the grid is their product.
Grid: TypeAlias = tuple[range, ...]
MAX_INTERSECTIONS = 1 << 12  # a union is counted from at most this number of intersections


def grid_of(m: IndexingMap) -> Grid | None:
    """The image of a map, if it can be shown to be a grid; None otherwise."""
    if m.constraints:
        return None
    ranges: list[range] = []
    seen: set[int] = set()
    for e in m.results:
        line = _line(e)
        if line is None:
            return None
        v, step, start = line
        if v is None or step == 0:
            ranges.append(range(start, start + 1))
            continue
        if v in seen:
            return None
        seen.add(v)
        ends = (m.variables[v].lower * step + start, m.variables[v].upper * step + start)
        ranges.append(range(min(ends), max(ends) + 1, abs(step)))
    return tuple(ranges)


def _line(e: SymbolicExpr) -> tuple[int | None, int, int] | None:
    """(v, a, b) for an expression `a * v + b`; v is None for a constant."""
    kind, numbers, operands = e.nodes()[-1]
    if kind == "constant":
        return None, 0, numbers[0]
    if kind == "variable":
        return numbers[0], 1, 0
    if kind == "sum" and len(operands) == 1:
        v = e.postorder()[operands[0]].variable_index
        return None if v is None else (v, numbers[1], numbers[0])
    return None


def size_of_union(grids: Sequence[Grid]) -> int | None:
    """The number of elements in the union; None if that takes too many intersections."""
    budget = [MAX_INTERSECTIONS]
    return _union(list(dict.fromkeys(grids)), budget)


def _union(grids: list[Grid], budget: list[int]) -> int | None:
    """The size of the union: each grid adds its elements that are in none before it."""
    total = 0
    for k, grid in enumerate(grids):
        budget[0] -= k + 1
        if budget[0] < 0:
            return None
        shared = [c for c in (common(grid, other) for other in grids[:k]) if c is not None]
        if grid in shared:
            continue
        known = _union(list(dict.fromkeys(shared)), budget)
        if known is None:
            return None
        total += prod(len(r) for r in grid) - known
    return total


def common(a: Grid, b: Grid) -> Grid | None:
    """The intersection of two grids; None if it is empty."""
    ranges = tuple(_common_range(x, y) for x, y in zip(a, b, strict=True))
    return ranges if all(ranges) else None


def _common_range(a: range, b: range) -> range:
    g = gcd(a.step, b.step)
    if (b.start - a.start) % g or not a or not b:
        return range(0)
    step = lcm(a.step, b.step)
    turn = b.step // g
    first = a.start + a.step * ((b.start - a.start) // g * pow(a.step // g, -1, turn) % turn if turn > 1 else 0)
    low, high = max(a.start, b.start), min(a[-1], b[-1])
    first += -(-(low - first) // step) * step if first < low else -((first - low) // step * step)
    return range(first, high + 1, step)
