"""Tile sizes that satisfy clauses, found dimension by dimension; divisors and multiples are listed, not searched for.

With the sizes of earlier dimensions chosen, a clause over the next size d is usually `c mod d = 0`, `d mod p = 0`, a bound
of d, or a sum of such; any other is evaluated for each candidate that the other clauses leave.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from math import gcd, isqrt
from typing import TypeAlias

from indexing._core import Interval, SymbolicExpr, constant

#: A disjunction: some expression, over the output tile's sizes, lies in its interval.
Clause: TypeAlias = tuple[tuple[SymbolicExpr, Interval], ...]
#: Candidates: each part is sorted; parts may overlap.
Parts: TypeAlias = "list[range | list[int]]"


def holds(clause: Clause, sizes: Sequence[int]) -> bool:
    """Whether some alternative holds at these sizes."""
    return any(i.contains(e.evaluate(sizes) if e.used_variables() else e.constant_value or 0) for e, i in clause)


def tilings(limits: Sequence[int], clauses: Sequence[Clause]) -> Iterator[tuple[int, ...]]:
    """All sizes from 1 to the limits at which every clause holds, in order, the last size fastest; lazily."""
    last = [max((v for e, _ in clause for v in e.used_variables()), default=-1) for clause in clauses]
    if any(v < 0 and not holds(c, ()) for c, v in zip(clauses, last, strict=True)):
        return
    if not limits:
        yield ()
        return
    choices = [_Choice(k, n, [c for c, v in zip(clauses, last, strict=True) if v == k]) for k, n in enumerate(limits)]
    sizes: list[int] = []
    stack = [choices[0].after(sizes)]
    while stack:
        size = next(stack[-1], None)
        if size is None:
            stack.pop()
            if sizes:
                sizes.pop()
        elif len(stack) == len(limits):
            yield (*sizes, size)
        else:
            sizes.append(size)
            stack.append(choices[len(stack)].after(sizes))


class _Choice:
    """The sizes of one dimension, given those of earlier ones; `clauses` have this dimension as their last."""

    def __init__(self, place: int, limit: int, clauses: Sequence[Clause]) -> None:
        self.place, self.limit = place, limit
        self.clauses = [[_literal(e, i) for e, i in clause] for clause in clauses]

    def after(self, sizes: Sequence[int]) -> Iterator[int]:
        """The sizes that satisfy the clauses, where the earlier ones are `sizes`."""
        best: Parts = [range(1, self.limit + 1)]
        rest: dict[Clause, None] = {}
        for clause in self.clauses:
            left = self._left(clause, sizes)
            if left is None or left in rest:
                continue
            rest[left] = None
            parts = [part for e, i in left for part in solutions(e, self.place, i, self.limit)]
            if _count(parts) < _count(best):
                best = parts
        at = [0] * self.place
        for size in _merged(best):
            if all(holds(clause, [*at, size]) for clause in rest):
                yield size

    def _left(self, clause: Sequence[_Literal], sizes: Sequence[int]) -> Clause | None:
        """The literals of a clause that depend on this dimension; None if another one holds already."""
        left = []
        for e, wanted, used in clause:
            if not used or used[-1] < self.place:
                lone = len(used) == 1 and e.variable_index is not None
                value = sizes[used[0]] if lone else e.evaluate(sizes)
                if wanted.contains(value):
                    return None
            elif len(used) == 1:
                left.append((e, wanted))
            else:
                left.append((e.replace_variables([constant(s) for s in sizes]), wanted))
        return tuple(left)


#: An expression, its interval, and the variables in it.
_Literal: TypeAlias = tuple[SymbolicExpr, Interval, Sequence[int]]


def _literal(e: SymbolicExpr, wanted: Interval) -> _Literal:
    return e, wanted, e.used_variables()


def _count(parts: Parts) -> int:
    return sum(len(part) for part in parts)


def _merged(parts: Parts) -> Iterator[int]:
    """Each candidate once, in order."""
    before = None
    for size in heapq.merge(*parts):
        if size != before:
            yield size
        before = size


def solutions(e: SymbolicExpr, v: int, wanted: Interval, limit: int) -> Parts:
    """Candidates for variable `v`, the only one of `e`, from 1 to `limit`: all with `e` in `wanted`, maybe others as well."""
    nodes = e.postorder()
    kind, numbers, operands = e.nodes()[-1]
    linear = _linear(e, v)
    if linear is not None:
        return [_between(*linear, wanted, limit)]
    if wanted == Interval(0, 0) and kind == "mod":
        return _remainder_zero(nodes[operands[0]], nodes[operands[1]], v, limit)
    if wanted == Interval(0, 0) and kind == "sum" and numbers[0] == 0 and min(numbers[1:]) > 0:
        box = [Interval(1, 1)] * v + [Interval(1, limit)]
        parts = [nodes[k] for k in operands]
        if all(part.range(box).lower >= 0 for part in parts):  # then each term must be 0
            return min((solutions(part, v, wanted, limit) for part in parts), key=_count)
    return [range(1, limit + 1)]


def _linear(e: SymbolicExpr, v: int) -> tuple[int, int] | None:
    """(a, b) for an expression `a * v + b`."""
    kind, numbers, operands = e.nodes()[-1]
    if kind == "constant":
        return 0, numbers[0]
    if kind == "variable":
        return 1, 0
    if kind == "sum" and len(operands) == 1 and e.postorder()[operands[0]].variable_index == v:
        return numbers[1], numbers[0]
    return None


def _between(a: int, b: int, wanted: Interval, limit: int) -> range:
    """The x from 1 to `limit` with `a * x + b` in the interval."""
    low, high = wanted.lower - b, wanted.upper - b
    if a == 0:
        return range(1, limit + 1) if low <= 0 <= high else range(0)
    if a < 0:
        a, low, high = -a, -high, -low
    return range(max(-(-low // a), 1), min(high // a, limit) + 1)


def _remainder_zero(dividend: SymbolicExpr, divisor: SymbolicExpr, v: int, limit: int) -> Parts:
    """The solutions of `dividend mod divisor = 0`, where one of the two is constant and the other linear."""
    x, m = _linear(dividend, v), _linear(divisor, v)
    if x is None or m is None:
        return [range(1, limit + 1)]
    if m[0] == 0:
        return [_congruent(*x, abs(m[1]), limit)]
    if x[0] != 0 or x[1] == 0:
        return [range(1, limit + 1)]
    a, b = m
    solutions = {(d - b) // a for q in divisors(abs(x[1])) for d in (q, -q) if (d - b) % a == 0}
    return [sorted(s for s in solutions if 1 <= s <= limit)]


def _congruent(a: int, b: int, m: int, limit: int) -> range:
    """The x from 1 to `limit` with `a * x + b = 0 (mod m)`."""
    g = gcd(a, m)
    if b % g:
        return range(0)
    step = m // g
    first = -(b // g) * pow(a // g, -1, step) % step if step > 1 else 0
    return range(first or step, limit + 1, step)


def divisors(n: int) -> list[int]:
    """All positive divisors of a positive number, sorted."""
    products, d = [1], 2
    while n > 1:
        if d > isqrt(n):
            d = n
        powers = [1]
        while n % d == 0:
            n //= d
            powers.append(powers[-1] * d)
        products = [f * p for f in products for p in powers]
        d += 1 if d == 2 else 2
    return sorted(products)
