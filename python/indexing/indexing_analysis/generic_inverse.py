"""The generic inverse of an output-to-input formula: the same pairs of elements, from the input's index.

A map (o)[s]{rt} -> i = e(o, s, rt) is inverted by solving the equations e_k = i_k for o and s. An equation with a single
unknown, with a coefficient, is solved directly; a sum of mixed-radix digits (c1 * u1 + c2 * u2 + ..., each coefficient
larger than the span of the smaller terms) by division. Unknowns that can't be solved for stay range variables, and
remaining equations constraints, so that the result has exactly the same pairs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from indexing._core import IndexingMap, Interval, SymbolicExpr, SymbolicMap, constant, variable
from indexing.hlo import Instruction
from indexing.ops.operand_indexing import Indexing, OperandIndexing, unknown


def inverse_of_formula(
    instruction: Instruction, operand: int, formula: Callable[[Instruction, int], Indexing]
) -> Indexing:
    """For each array of the instruction, the maps from the arrays of an operand to it."""
    sizes = [shape.dimensions for shape in instruction.operands[operand].shape.leaves]
    return [
        [inverted(m, sizes[m.leaf]) for m in formula(instruction, output)[operand]]
        for output in range(len(instruction.shape.leaves))
    ]


def inverted(m: OperandIndexing, sizes: Sequence[int]) -> OperandIndexing:
    """The map from an index of the operand (of `sizes`) to the elements that `m` maps to it; as exact as `m`."""
    if m.map.is_undefined:
        return replace(unknown(m.reason), leaf=m.leaf)
    pieces = None if m.pieces is None else tuple(inverted(p, sizes) for p in m.pieces)
    if m.map.is_known_empty:  # the number of its variables is not known
        return OperandIndexing(m.map, (), m.exactness, m.reason, None, m.leaf, pieces)
    solution = _Solution(m.map, list(sizes))
    solution.solve()
    inverse = solution.inverse()
    values = tuple(
        replace(v, map=solution.moved(v.map), bounds=v.bounds or _bounds(m.map, k))
        for k, v in enumerate(m.runtime_values)
    )
    if not values:
        inverse = inverse.simplify().remove_unused_symbols()
    return OperandIndexing(inverse, values, m.exactness, m.reason, None, m.leaf, pieces)


def linear_form(expr: SymbolicExpr, count: int) -> tuple[dict[int, int], int] | None:
    """The coefficients and the constant of an expression over `count` variables; None if it isn't linear."""
    used = sorted(set(expr.used_variables()))
    point = [0] * count
    try:
        at_zero = int(expr.evaluate(point))
        coefficients = {}
        for v in used:
            point[v] = 1
            coefficients[v] = int(expr.evaluate(point)) - at_zero
            point[v] = 0
    except ArithmeticError:  # a divisor is zero at a probed point: the expression is not linear
        return None
    candidate = constant(at_zero)
    for v, c in coefficients.items():
        candidate = candidate + variable(v) * c
    return (coefficients, at_zero) if candidate == expr else None


@dataclass
class _Solution:
    """Solves for the variables of a map, over those of its inverse.

    Unknowns are numbered as the map numbers its dimensions and ranges. The inverse has the input's index as its
    dimensions, unsolved unknowns as its ranges, and the same runtime variables.
    """

    map: IndexingMap
    sizes: list[int]
    solved: dict[int, SymbolicExpr] = field(default_factory=dict)
    kept: list[int] = field(default_factory=list)
    constraints: list[tuple[SymbolicExpr, Interval]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.unknowns = len(self.map.dims) + len(self.map.ranges)
        self.count = self.unknowns + len(self.map.runtimes)
        self.intervals = [v.interval for v in (*self.map.dims, *self.map.ranges)]
        self.equations = dict(enumerate(self.map.results))
        # variables while solving: unknowns, runtimes, then the input's index
        self.index = [variable(self.count + k) for k in range(len(self.sizes))]

    def solve(self) -> None:
        """Solve the equations one by one; if none can be solved, keep one unknown as a range variable."""
        while self.equations:
            solved = next((k for k, e in self.equations.items() if self._solve_one(k, e)), None)
            if solved is not None:
                del self.equations[solved]
                continue
            self.kept.append(min(v for e in self.equations.values() for v in self._open(e)))
        self.kept += [u for u in range(self.unknowns) if u not in self.solved and u not in self.kept]

    def _open(self, e: SymbolicExpr) -> list[int]:
        return [v for v in sorted(set(e.used_variables())) if self._is_open(v)]

    def _is_open(self, v: int) -> bool:
        return v < self.unknowns and v not in self.solved and v not in self.kept

    def _substituted(self, e: SymbolicExpr) -> SymbolicExpr:
        """The expression with solved unknowns substituted."""
        return e.replace_variables([self.solved.get(v, variable(v)) for v in range(self.count)])

    def _solve_one(self, k: int, e: SymbolicExpr) -> bool:
        unknowns = self._open(e)
        if not unknowns:
            self.constraints.append((self._substituted(e) - self.index[k], Interval(0, 0)))
            return True
        linear = linear_form(e, self.count)
        if linear is None:
            return False
        coefficients, _ = linear
        rest = self.index[k] - self._substituted(
            e.replace_variables([self._zero(v, unknowns) for v in range(self.count)])
        )
        digits = sorted(unknowns, key=lambda v: -abs(coefficients[v]))
        if not self._are_digits(digits, coefficients):
            return False
        for at, v in enumerate(digits):
            rest = self._take_digit(v, coefficients[v], digits[at + 1 :], coefficients, rest)
        return True

    def _zero(self, v: int, unknowns: list[int]) -> SymbolicExpr:
        return constant(0) if v in unknowns else variable(v)

    def _are_digits(self, digits: list[int], coefficients: dict[int, int]) -> bool:
        """Whether the sum determines each term: the span of the smaller terms is less than its coefficient."""
        for at, v in enumerate(digits):
            low, high = self._span(digits[at + 1 :], coefficients)
            if high - low >= abs(coefficients[v]):
                return False
        return True

    def _span(self, digits: Sequence[int], coefficients: dict[int, int]) -> tuple[int, int]:
        low = high = 0
        for v in digits:
            ends = [coefficients[v] * self.intervals[v].lower, coefficients[v] * self.intervals[v].upper]
            low, high = low + min(ends), high + max(ends)
        return low, high

    def _take_digit(
        self, v: int, c: int, smaller: list[int], coefficients: dict[int, int], rest: SymbolicExpr
    ) -> SymbolicExpr:
        """Solve c * v + smaller terms = rest for v; returns the sum of the smaller terms."""
        if not smaller:
            if abs(c) != 1:
                self.constraints.append((rest % abs(c), Interval(0, 0)))
            value = rest * c if abs(c) == 1 else rest // c
        else:
            low, _ = self._span(smaller, coefficients)
            value = (rest - low) // abs(c)
            value = value if c > 0 else -value
        self.solved[v] = value
        self.constraints.append((value, self.intervals[v]))
        return rest - value * c

    def inverse(self) -> IndexingMap:
        """The inverse map, not simplified."""
        places = self._places()
        dims = len(self.map.dims)
        ranges = [self.intervals[v] for v in self.kept]
        own = [(self._substituted(e), b) for e, b in self.map.constraints]
        constraints = [(e.replace_variables(places), b) for e, b in (*self.constraints, *own)]
        results = [self._substituted(variable(v)).replace_variables(places) for v in range(dims)]
        symbols = len(ranges) + len(self.map.runtimes)
        return IndexingMap(
            SymbolicMap(len(self.sizes), symbols, results),
            [Interval(0, size - 1) for size in self.sizes],
            ranges,
            [v.interval for v in self.map.runtimes],
            constraints,
        )

    def moved(self, value: IndexingMap) -> IndexingMap:
        """A runtime value's map, over the inverse's variables."""
        dims = len(self.map.dims)
        into = [
            *(variable(v) for v in range(dims)),
            *(variable(dims + k) for k in range(len(value.ranges))),
            *(variable(self.unknowns + k) for k in range(len(value.runtimes))),
        ]
        places = self._places()
        whole = self.inverse()
        index = [self._substituted(e.replace_variables(into)).replace_variables(places) for e in value.results]
        symbols = len(whole.ranges) + len(whole.runtimes)
        return IndexingMap(
            SymbolicMap(len(whole.dims), symbols, index),
            list(whole.dims),
            list(whole.ranges),
            list(whole.runtimes),
            list(whole.constraints),
        )

    def _places(self) -> list[SymbolicExpr]:
        """The variables of the inverse that replace the unknowns, the runtime variables and the input's index."""
        self.kept.sort()
        rank = len(self.sizes)
        at = {v: rank + n for n, v in enumerate(self.kept)}
        unknowns = [variable(at.get(v, 0)) for v in range(self.unknowns)]
        runtimes = [variable(rank + len(self.kept) + k) for k in range(len(self.map.runtimes))]
        return [*unknowns, *runtimes, *(variable(k) for k in range(rank))]


def _bounds(m: IndexingMap, runtime: int) -> tuple[int, int]:
    interval = m.runtimes[runtime].interval
    return interval.lower, interval.upper
