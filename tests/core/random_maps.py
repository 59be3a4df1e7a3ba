"""Random indexing maps for property tests: the parts, their meaning in Python's integers, and the package's map."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

from hypothesis import strategies as st

import indexing as ix
from exact_maps import Expr
from expressions import expression, meaning, trees

Point = tuple[int, ...]


@dataclass(frozen=True)
class Parts:
    """Bounds of dimensions, ranges and runtime variables; results and constraints over all of them."""

    dims: tuple[tuple[int, int], ...]
    ranges: tuple[tuple[int, int], ...]
    runtimes: tuple[tuple[int, int], ...]
    results: tuple[Expr, ...]
    constraints: tuple[tuple[Expr, tuple[int, int]], ...]

    @property
    def bounds(self) -> tuple[tuple[int, int], ...]:
        return self.dims + self.ranges + self.runtimes

    def box(self) -> Iterator[Point]:
        return itertools.product(*(range(low, high + 1) for low, high in self.bounds))

    def inside(self, point: Point) -> bool:
        return all(low <= meaning(e, list(point)) <= high for e, (low, high) in self.constraints)

    def values(self, point: Point) -> Point:
        return tuple(meaning(e, list(point)) for e in self.results)

    def graph(self) -> dict[Point, Point]:
        """The results at each point of the domain."""
        return {p: self.values(p) for p in self.box() if self.inside(p)}

    def map(self) -> ix.IndexingMap:
        results = [expression(e) for e in self.results]
        symbols = len(self.ranges) + len(self.runtimes)
        return ix.IndexingMap(
            ix.SymbolicMap(len(self.dims), symbols, results),
            self.dims,
            self.ranges,
            self.runtimes,
            [(expression(e), bounds) for e, bounds in self.constraints],
        )


def bounds(size: int = 6) -> st.SearchStrategy[tuple[int, int]]:
    return st.tuples(st.integers(-8, 8), st.integers(0, size - 1)).map(lambda x: (x[0], x[0] + x[1]))


@st.composite
def parts(draw: st.DrawFn, dims: int = 2, ranges: int = 1, runtimes: int = 1, results: int = 2) -> Parts:
    count = dims + ranges + runtimes
    exprs = trees(count, leaves=6, largest=9)
    limits = st.tuples(st.integers(-12, 12), st.integers(0, 20)).map(lambda x: (x[0], x[0] + x[1]))
    return Parts(
        tuple(draw(bounds()) for _ in range(dims)),
        tuple(draw(bounds(4)) for _ in range(ranges)),
        tuple(draw(bounds(3)) for _ in range(runtimes)),
        tuple(draw(exprs) for _ in range(results)),
        tuple(draw(st.lists(st.tuples(exprs, limits), max_size=2))),
    )


def graph(m: ix.IndexingMap) -> dict[Point, Point]:
    """The results at each point of the domain, as the package tells."""
    if m.is_known_empty:
        return {}
    return {dims + symbols: m.evaluate(dims, symbols) for dims, symbols in m.points()}
