"""The values of an expression on a tile, as a grid `offset + stride * [0, size)`, derived node by node.

A tile has a size in each dimension, and begins at a multiple of it; range variables take all of their values. Further
conditions for a grid (a tile must not straddle a period of a quotient) are clauses over the sizes.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace

from indexing._core import IndexingMap, Interval, SymbolicExpr, constant, variable
from indexing.analysis.tiling.sizes import Clause, holds

_MANY = 2**62


@dataclass(frozen=True, slots=True)
class MixedRadixDigit:
    """The digit `(number // low) mod (high // low)`, or `number // low` if `high` is None."""

    number: SymbolicExpr
    low: int
    high: int | None


@dataclass(frozen=True, slots=True)
class AxisTile:
    """The grid `offset + stride * [0, size)`; `whole` is the size if the output is a single tile.

    `offset` is over the tile's offsets (and runtime variables); `size`, `stride` and `alignment` are over the tile's sizes.
    Unless `base` is None, `offset` is `base` plus multiples of the terms of `alignment`.
    """

    offset: SymbolicExpr
    size: SymbolicExpr
    stride: SymbolicExpr
    whole: int
    base: int | None
    alignment: tuple[SymbolicExpr, ...] = ()
    digit: MixedRadixDigit | None = None

    @property
    def single(self) -> bool:
        """Whether it is a single value for every tile."""
        return self.size.constant_value == 1


ONE = constant(1)
ONE_VALUE = Interval(1, 1)


class TilePropagation:
    """Computes the grids of a map's results, and the clauses under which they hold. `extents` are the output's sizes."""

    def __init__(self, m: IndexingMap, extents: Sequence[int]) -> None:
        self.map, self.extents = m, extents
        self.sizes = [Interval(1, max(n, 1)) for n in extents]
        self.box = [*(Interval(0, max(n, 1) - 1) for n in extents), *(v.interval for v in (*m.ranges, *m.runtimes))]
        self.clauses: dict[Clause, None] = {}
        self.exact = True
        self._known: dict[SymbolicExpr, AxisTile] = {}

    def result(self, e: SymbolicExpr) -> AxisTile:
        """The grid of a result; its whole range if the clauses hold neither for single elements nor for the whole output."""
        before, was_exact = dict(self.clauses), self.exact
        span = self.span(e)
        if any(all(holds(clause, sizes) for clause in self.clauses) for sizes in self._ends()):
            return span
        self.clauses, self.exact = before, was_exact
        self._known.clear()
        return self._everything(e)

    def span(self, e: SymbolicExpr) -> AxisTile:
        """The grid of an expression over the map's variables."""
        nodes = e.postorder()
        for (kind, numbers, operands), node in zip(e.nodes(), nodes, strict=True):
            if node not in self._known:
                self._known[node] = self._of_node(kind, numbers, [self._known[nodes[k]] for k in operands], node)
        return self._known[e]

    def _of_node(self, kind: str, numbers: list[int], operands: list[AxisTile], node: SymbolicExpr) -> AxisTile:
        if kind == "constant":
            return AxisTile(node, ONE, ONE, 1, numbers[0])
        if kind == "variable":
            return self._of_variable(numbers[0])
        if kind == "sum":
            return self._of_sum(numbers[0], list(zip(numbers[1:], operands, strict=True)), node)
        if all(s.single for s in operands):
            return AxisTile(self._at_offset(node), ONE, ONE, 1, None)
        if kind in ("floordiv", "mod") and (m := operands[1].base) is not None and operands[1].single and m > 0:
            return self._of_division(kind, operands[0], m, node)
        return self._everything(node)

    def _of_variable(self, index: int) -> AxisTile:
        m = self.map
        if index < m.num_dims:
            count = self.extents[index]
            size = variable(index) if count > 1 else ONE
            own = variable(index)
            return AxisTile(own, size, ONE, count, 0, (size,) if count > 1 else (), MixedRadixDigit(own, 1, None))
        if index < m.num_dims + m.num_ranges:
            v = m.ranges[index - m.num_dims]
            count = v.upper - v.lower + 1
            digit = MixedRadixDigit(variable(index), 1, None)
            return AxisTile(constant(v.lower), constant(count), ONE, count, v.lower, (), digit)
        return AxisTile(variable(index - m.num_ranges), ONE, ONE, 1, None)

    def _at_offset(self, node: SymbolicExpr) -> SymbolicExpr:
        m = self.map
        ranges = [constant(r.lower) for r in m.ranges]
        runtimes = [variable(m.num_dims + k) for k in range(m.num_runtimes)]
        return node.replace_variables([*map(variable, range(m.num_dims)), *ranges, *runtimes])

    def _everything(self, node: SymbolicExpr) -> AxisTile:
        """The whole range of an expression whose grid is unknown."""
        bounds = node.range(self.box)
        self.exact = False
        count = bounds.upper - bounds.lower + 1
        return AxisTile(constant(bounds.lower), constant(count), ONE, count, bounds.lower)

    # ------------------------------------------------------------------ sums

    def _of_sum(self, base: int, terms: list[tuple[int, AxisTile]], node: SymbolicExpr) -> AxisTile:
        offset, first, alignment = constant(base), base, []
        for coeff, s in terms:
            offset = offset + s.offset * coeff
            first += coeff * (s.base or 0)
            alignment += [g * abs(coeff) for g in s.alignment]
        known = None if any(s.base is None for _, s in terms) else first
        live = [(coeff, s) for coeff, s in terms if not s.single]
        if not live:
            return AxisTile(offset, ONE, ONE, 1, known, tuple(alignment))
        if len(live) == 1:
            ((coeff, s),) = live
            digit = s.digit if len(terms) == 1 else None
            return AxisTile(offset, s.size, s.stride * coeff, s.whole, known, tuple(alignment), digit)
        if self._share_variables(node):
            self.exact = False
        return self._of_many(offset, known, tuple(alignment), live, node)

    def _share_variables(self, node: SymbolicExpr) -> bool:
        _, _, operands = node.nodes()[-1]
        nodes = node.postorder()
        used = [v for k in operands for v in nodes[k].used_variables() if self._extent(v) > 1]
        return len(used) != len(set(used))

    def _extent(self, v: int) -> int:
        return self.box[v].upper - self.box[v].lower + 1 if v < self.map.num_dims + self.map.num_ranges else 1

    def _of_many(
        self,
        offset: SymbolicExpr,
        base: int | None,
        alignment: tuple[SymbolicExpr, ...],
        live: list[tuple[int, AxisTile]],
        node: SymbolicExpr,
    ) -> AxisTile:
        steps = []
        for coeff, s in live:
            if s.stride.constant_value is None:
                return self._everything(node)
            steps.append(s.stride.constant_value * coeff)
        tiled = [step > 0 for step, (_, s) in zip(steps, live, strict=True) if s.size.constant_value is None]
        if len(set(tiled)) > 1 or 0 in steps:
            return self._everything(node)
        up = tiled[0] if tiled else True
        digits: list[tuple[int, AxisTile]] = []
        for step, (_, s) in zip(steps, live, strict=True):
            if (step > 0) != up:  # begin at the other end, which is known: this grid takes all of its values
                end = step * (s.whole - 1)
                offset, base = offset + end, None if base is None else base + end
            digits.append((abs(step), s))
        digits.sort(key=lambda d: d[0])
        is_number = all(a[0] * a[1].whole <= b[0] for a, b in itertools.pairwise(digits))
        grid = self._joined(digits) if is_number else self._window(digits)
        if grid is None:
            return self._everything(node)
        size, stride, whole = grid
        return AxisTile(offset, size, stride if up else -stride, whole, base, alignment, MixedRadixDigit(node, 1, None))

    def _joined(self, digits: list[tuple[int, AxisTile]]) -> tuple[SymbolicExpr, SymbolicExpr, int] | None:
        """The grid of digits of one number: single values, then whole digits, then one of any size, then single values."""
        size, stride, above, whole = ONE, constant(0), ONE, 1
        for step, s in digits:
            size, whole = size * s.size, whole * s.whole
            stride = stride + (s.size - 1).min(1) * above * step
            above = above * (1 - (s.size - 1).min(1))
        clauses: list[Clause] = []
        for j, k in itertools.combinations(range(len(digits)), 2):
            (low, a), (high, b) = digits[j], digits[k]
            single: Clause = ((a.size, ONE_VALUE), (b.size, ONE_VALUE))
            if k > j + 1:
                for _, middle in digits[j + 1 : k]:
                    clauses.append((*single, (middle.size, Interval(middle.whole, middle.whole))))
            else:
                tight = low * a.whole == high
                clauses.append((*single, (a.size, Interval(a.whole, a.whole))) if tight else single)
        if not self.need(*clauses):
            return None
        if all(s.size.constant_value is not None for _, s in digits):
            stride = constant(digits[0][0])
        return size, stride.simplify(self.sizes), whole

    def _window(self, digits: list[tuple[int, AxisTile]]) -> tuple[SymbolicExpr, SymbolicExpr, int] | None:
        """The grid of overlapping strides: dense if the finer strides fill the gaps of the coarser ones."""
        unit = digits[0][0]
        if any(step % unit for step, _ in digits):
            return None
        size, whole = ONE, 1
        clauses: list[Clause] = []
        for step, s in digits:
            clauses.append(((size, Interval(step // unit, _MANY)), (s.size, ONE_VALUE)))
            size = size + (s.size - 1) * (step // unit)
            whole += (s.whole - 1) * (step // unit)
        return (size, constant(unit), whole) if self.need(*clauses) else None

    # ------------------------------------------------------------------ quotients and remainders

    def _of_division(self, kind: str, x: AxisTile, m: int, node: SymbolicExpr) -> AxisTile:
        """The grid of `x // m` or `x mod m`: a digit of x, if no tile straddles a period."""
        if x.base is None and not x.single:
            return self._everything(node)
        step = x.stride.constant_value
        if step is None:
            step = self._dense(x)
        offset = x.offset // m if kind == "floordiv" else x.offset % m
        if step is None or step == 0 or x.base is None:
            return self._everything(node)
        if step % m == 0 and (kind == "mod" or step > 0):
            if kind == "mod":
                return AxisTile(offset, ONE, ONE, 1, None)
            known = all(g.is_multiple_of(m) for g in x.alignment)
            alignment = tuple(g // m for g in x.alignment) if known else ()
            return AxisTile(offset, x.size, constant(step // m), x.whole, x.base // m if known else None, alignment)
        if step < 0 or m % step:
            return self._everything(node)
        period = m // step
        if not self._divides(x, step, period):
            return self._everything(node)
        if kind == "floordiv":
            size, stride, whole = x.size.ceildiv(period), ONE, -(-x.whole // period)
        else:
            size, stride, whole = x.size - (x.size - 1) // period * period, constant(step), min(x.whole, period)
        size = size.simplify(self.sizes)
        base = x.base // m if kind == "floordiv" else x.base % m
        alignment = (size * step,)
        if kind == "floordiv":
            alignment = (size, *(g // m for g in x.alignment if g != x.size * step))
        return AxisTile(offset, size, stride, whole, base, alignment, _inner(x.digit, kind, m))

    def _dense(self, x: AxisTile) -> int | None:
        """The stride of the grid if it is a single value or has stride 1, which becomes a clause; None otherwise."""
        return 1 if self.need(((x.size, ONE_VALUE), (x.stride, ONE_VALUE))) else None

    def _divides(self, x: AxisTile, step: int, period: int) -> bool:
        """Require that no tile of `x` straddles a multiple of the period, or that tiles are whole periods that begin at one;
        False if that is impossible.
        """
        assert x.base is not None
        shift = x.base // step
        run = x.size * step
        inside = constant(period) % x.size + constant(shift) % x.size
        periods = x.size % period + constant(shift % period)
        for grain in x.alignment:
            if grain != run:
                inside = inside + grain % run
            periods = periods + grain % (period * step)
        zero = Interval(0, 0)
        if x.base == 0 and x.whole <= period and all(g == run for g in x.alignment):
            return True
        return self.need(
            ((x.size, ONE_VALUE), (inside.simplify(self.sizes), zero), (periods.simplify(self.sizes), zero))
        )

    def need(self, *clauses: Clause) -> bool:
        """Add clauses; False, without effect, if one of them holds neither for tiles of one element nor for the whole output.

        Clauses that always hold are omitted, and so are alternatives that never do.
        """
        added = [self._reduced(clause) for clause in clauses]
        if any(clause is not None and not any(holds(clause, ends) for ends in self._ends()) for clause in added):
            return False
        self.clauses.update((clause, None) for clause in added if clause is not None)
        return True

    def _ends(self) -> tuple[list[int], list[int]]:
        return [i.lower for i in self.sizes], [i.upper for i in self.sizes]

    def _reduced(self, clause: Clause) -> Clause | None:
        kept: dict[tuple[SymbolicExpr, Interval], None] = {}
        for e, wanted in clause:
            bounds = e.range(self.sizes)
            if wanted.contains(bounds):
                return None
            if not wanted.intersect(bounds).is_empty:
                kept[e, wanted] = None
        return tuple(kept)


def _inner(digit: MixedRadixDigit | None, kind: str, m: int) -> MixedRadixDigit | None:
    """The digit `digit // m` or `digit mod m`."""
    if digit is None:
        return None
    at = digit.low * m
    if kind == "floordiv":
        return replace(digit, low=at)
    return replace(digit, high=at if digit.high is None else min(at, digit.high))


def independent(tiles: Sequence[AxisTile], results: Sequence[SymbolicExpr], moving: Sequence[int]) -> bool:
    """Whether the results take all combinations of their values. `moving` are the variables that take several values."""
    used = [set(e.used_variables()) & set(moving) for e in results]
    for j, k in itertools.combinations(range(len(results)), 2):
        if used[j] & used[k] and not _apart(tiles[j].digit, tiles[k].digit):
            return False
    return True


def _apart(a: MixedRadixDigit | None, b: MixedRadixDigit | None) -> bool:
    """Whether these are disjoint digits of one number."""
    if a is None or b is None:
        return False
    low, high = (a, b) if a.low < b.low else (b, a)
    if low.high is None or low.high > high.low:
        return False
    return low.number == high.number or (low.number - high.number).is_multiple_of(low.high)
