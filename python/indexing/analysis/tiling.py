"""Tile propagation: which tile of an operand a tile of the output needs, as functions of the output tile's sizes.

A tile is a regular grid: per dimension an offset, a size and a stride. An operand's tile follows from the operand's map,
node by node: a dimension is a tile of its own size, a range is read whole, digits of a linearized index join into one run
where lower digits are whole or single. Where that needs divisibility, it is a constraint: all clauses must hold, each by
one of its alternatives; they are never multiplied out.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from indexing._core import IndexingMap, Interval, SymbolicExpr, SymbolicMap, constant, variable
from indexing.errors import UnsupportedOp
from indexing.fusion import output_to_input
from indexing.hlo import Instruction

#: One of these holds: each expression, over the output tile's sizes, lies in its interval.
Clause = tuple[tuple[SymbolicExpr, Interval], ...]


@dataclass(frozen=True, slots=True)
class Tile:
    """The operand's tile for an output tile at 0: maps from the sizes d0, .. of the output tile.

    `offsets` has the map's runtime variables as symbols. `moved_offsets` maps the offsets of the output tile (d0, ..) to
    those of the operand's. `exact` is False where the tile covers more than what is needed.
    """

    offsets: SymbolicMap
    sizes: SymbolicMap
    strides: SymbolicMap
    moved_offsets: SymbolicMap
    constraints: tuple[Clause, ...]
    exact: bool = True

    def holds(self, sizes: Sequence[int]) -> bool:
        """Does the answer hold for an output tile of these sizes?"""
        return all(any(i.contains(e.evaluate(sizes)) for e, i in clause) for clause in self.constraints)


@dataclass(frozen=True, slots=True)
class _Span:
    """What a subexpression takes on a tile: `offset + stride * [0, size)`."""

    offset: SymbolicExpr
    size: SymbolicExpr
    stride: SymbolicExpr
    #: The size when the whole output is one tile.
    whole: int

    @property
    def single(self) -> bool:
        return self.size.constant_value == 1


def propagate_tile(map_or_instruction: IndexingMap | Instruction, operand: int = 0, output: int = 0) -> Tile:
    """The tile of an operand that a tile of the output needs.

    Raises UnsupportedOp where the operand is read by several maps or by an unknown one: no grid holds what they need.
    """
    if isinstance(map_or_instruction, IndexingMap):
        return _propagate(map_or_instruction)
    found = output_to_input(map_or_instruction, output)
    maps = {o.map for o in found[operand]}
    name = f"operand {operand} of {map_or_instruction.name}"
    if len(maps) != 1:
        raise UnsupportedOp(f"{name} is read by {len(maps)} maps: a tile is propagated through exactly one")
    return _propagate(maps.pop(), name)


def valid_tilings(fusion: Instruction, output: int = 0) -> Iterator[tuple[int, ...]]:
    """The output tile sizes, from 1 to the whole dimension, at which the tiles of all operands are grids."""
    tiles = [
        propagate_tile(fusion, operand, output) for operand, maps in enumerate(output_to_input(fusion, output)) if maps
    ]
    sizes = fusion.shape.leaves[output].dimensions
    clauses = [clause for tile in tiles for clause in tile.constraints]
    yield from _fill((), [range(1, size + 1) for size in sizes], clauses)


def _fill(chosen: tuple[int, ...], choices: Sequence[range], clauses: Sequence[Clause]) -> Iterator[tuple[int, ...]]:
    """Choose size by size; a clause is asked as soon as all its sizes are chosen."""
    last = [max((v for e, _ in clause for v in e.used_variables()), default=-1) for clause in clauses]
    at = [[c for c, v in zip(clauses, last, strict=True) if v == k] for k in range(len(choices))]
    stack = [iter(choices[0])] if choices else []
    if not choices:
        yield ()
    sizes = list(chosen)
    while stack:
        size = next(stack[-1], None)
        if size is None:
            stack.pop()
            if sizes:
                sizes.pop()
            continue
        sizes.append(size)
        depth = len(sizes) - 1
        if not all(any(i.contains(e.evaluate(sizes)) for e, i in clause) for clause in at[depth]):
            sizes.pop()
        elif depth + 1 == len(choices):
            yield tuple(sizes)
            sizes.pop()
        else:
            stack.append(iter(choices[depth + 1]))


def _propagate(m: IndexingMap, name: str = "the map") -> Tile:
    if m.is_undefined or m.is_known_empty:
        raise UnsupportedOp(f"{name} is {m}: there is no tile")
    walk = _Walk(m)
    spans = [walk.span(e) for e in m.results]
    dims = m.num_dims
    ranges = [constant(r.lower) for r in m.ranges]
    runtimes = [variable(dims + k) for k in range(m.num_runtimes)]
    moved = [e.replace_variables([*map(variable, range(dims)), *ranges, *runtimes]) for e in m.results]
    return Tile(
        offsets=SymbolicMap(dims, m.num_runtimes, [s.offset for s in spans]),
        sizes=SymbolicMap(dims, 0, [s.size for s in spans]),
        strides=SymbolicMap(dims, 0, [s.stride for s in spans]),
        moved_offsets=SymbolicMap(dims, m.num_runtimes, moved),
        constraints=tuple(dict.fromkeys(walk.clauses)),
        exact=walk.exact,
    )


class _Walk:
    """Spans of the nodes of a map's results, and the clauses under which they hold."""

    def __init__(self, m: IndexingMap) -> None:
        self.map = m
        self.sizes = [Interval(1, d.upper - d.lower + 1) for d in m.dims]
        self.clauses: list[Clause] = []
        self.exact = True

    def span(self, e: SymbolicExpr) -> _Span:
        spans: list[_Span] = []
        for (kind, numbers, operands), node in zip(e.nodes(), e.postorder(), strict=True):
            spans.append(self.of_node(kind, numbers, [spans[k] for k in operands], node))
        return spans[-1]

    def of_node(self, kind: str, numbers: list[int], operands: list[_Span], node: SymbolicExpr) -> _Span:
        one = constant(1)
        match kind:
            case "constant":
                return _Span(node, one, one, 1)
            case "variable":
                return self.of_variable(numbers[0])
            case "sum":
                return self.of_sum(numbers[0], list(zip(numbers[1:], operands, strict=True)), node)
            case "floordiv" | "mod" if operands[1].single and (m := operands[1].offset.constant_value) is not None:
                x = operands[0]
                step = x.stride.constant_value
                if x.single:
                    offset = x.offset // m if kind == "floordiv" else x.offset % m
                    return _Span(offset, one, one, 1)
                if step is not None and x.offset.constant_value is not None:
                    return self.of_quotient(x, step, m) if kind == "floordiv" else self.of_remainder(x, step, m, node)
        if all(s.single for s in operands):
            return _Span(self.at_zero(node), one, one, 1)
        return self.whole(node)

    def of_variable(self, index: int) -> _Span:
        m, one = self.map, constant(1)
        if index < m.num_dims:
            bounds = m.dims[index]
            count = bounds.upper - bounds.lower + 1
            return _Span(constant(0), variable(index) if count > 1 else one, one, count)
        if index < m.num_dims + m.num_ranges:
            bounds = m.ranges[index - m.num_dims]
            count = bounds.upper - bounds.lower + 1
            return _Span(constant(bounds.lower), constant(count), one, count)
        return _Span(variable(index - m.num_ranges), one, one, 1)

    def at_zero(self, node: SymbolicExpr) -> SymbolicExpr:
        m = self.map
        ranges = [constant(r.lower) for r in m.ranges]
        runtimes = [variable(m.num_dims + k) for k in range(m.num_runtimes)]
        return node.replace_variables([*[constant(0)] * m.num_dims, *ranges, *runtimes])

    def whole(self, node: SymbolicExpr) -> _Span:
        """No grid is known: all that the expression can be."""
        bounds = self.map.range(node)
        self.exact = False
        count = bounds.upper - bounds.lower + 1
        return _Span(constant(bounds.lower), constant(count), constant(1), count)

    # ------------------------------------------------------------------ sums

    def of_sum(self, base: int, terms: list[tuple[int, _Span]], node: SymbolicExpr) -> _Span:
        offset = constant(base)
        for coeff, s in terms:
            offset = offset + s.offset * coeff
        live = [(s.stride * c, s) for c, s in terms if not s.single]
        if not live:
            return _Span(offset, constant(1), constant(1), 1)
        if len(live) == 1:
            stride, s = live[0]
            return _Span(offset, s.size, stride, s.whole)
        steps = [stride.constant_value for stride, _ in live]
        if any(step is None or step <= 0 for step in steps):
            return self.whole(node)
        digits = sorted(((step, s) for step, (_, s) in zip(steps, live, strict=True) if step), key=lambda x: x[0])
        if all(a[0] * a[1].whole <= b[0] for a, b in itertools.pairwise(digits)):
            return self.joined(offset, digits)
        return self.window(offset, digits, node)

    def joined(self, offset: SymbolicExpr, digits: list[tuple[int, _Span]]) -> _Span:
        """Digits of one number: at most a run of whole ones below one that isn't whole."""
        size, stride = constant(1), constant(0)
        above = constant(1)
        for step, s in digits:
            size = size * s.size
            several = (s.size - 1).min(1)
            stride = stride + several * above * step
            above = above * (1 - several)
        for (j, (low, a)), (k, (high, b)) in itertools.combinations(enumerate(digits), 2):
            first: Clause = ((a.size, Interval(1, 1)), (b.size, Interval(1, 1)))
            if k == j + 1:
                tight = low * a.whole == high
                self.need((*first, (a.size, Interval(a.whole, a.whole))) if tight else first)
            else:
                for middle in range(j + 1, k):
                    own = digits[middle][1]
                    self.need((*first, (own.size, Interval(own.whole, own.whole))))
        whole = 1
        for _, s in digits:
            whole *= s.whole
        return _Span(offset, size, stride, whole)

    def window(self, offset: SymbolicExpr, digits: list[tuple[int, _Span]], node: SymbolicExpr) -> _Span:
        """Steps that overlap: one dense run, where no gap is wider than what the finer steps fill."""
        unit = digits[0][0]
        if any(step % unit for step, _ in digits):
            return self.whole(node)
        size, whole = constant(1), 1
        for step, s in digits:
            # Without a gap where the step is at most what is filled so far, or the size is 1.
            self.need(((size, Interval(step // unit, 2**62)), (s.size, Interval(1, 1))))
            size = size + (s.size - 1) * (step // unit)
            whole += (s.whole - 1) * (step // unit)
        return _Span(offset, size, constant(unit), whole)

    # ------------------------------------------------------------------ quotients and remainders

    def of_quotient(self, x: _Span, step: int, m: int) -> _Span:
        offset = x.offset // m
        if step % m == 0:
            return _Span(offset, x.size, constant(step // m), x.whole)
        if step < 0 or m % step or not self.aligned(x, m):
            return self.whole_of(x, step, m)
        m //= step
        self.divides(x, m)
        return _Span(offset, x.size.ceildiv(m), constant(1), -(-x.whole // m))

    def whole_of(self, x: _Span, step: int, m: int) -> _Span:
        """The quotients of all of `x`."""
        first = x.offset.constant_value or 0
        ends = sorted((first // m, (first + step * (x.whole - 1)) // m))
        self.exact = False
        count = ends[1] - ends[0] + 1
        return _Span(constant(ends[0]), constant(count), constant(1), count)

    def of_remainder(self, x: _Span, step: int, m: int, node: SymbolicExpr) -> _Span:
        offset = x.offset % m
        if step % m == 0:
            return _Span(offset, constant(1), constant(1), 1)
        if step < 0 or m % step or not self.aligned(x, m):
            return self.whole(node)
        m //= step
        self.divides(x, m)
        size = x.size - ((x.size - 1) // m) * m
        return _Span(offset, size.simplify(self.sizes), constant(step), min(x.whole, m))

    def aligned(self, x: _Span, m: int) -> bool:
        """Does `x` begin where a period of `m` begins? Else its remainders would wrap around within a tile."""
        return (x.offset % m).constant_value == 0

    def divides(self, x: _Span, m: int) -> None:
        """A tile of `x` must be whole periods of `m`, or a part of which some make a period."""
        if x.whole > m:
            self.need(((x.size % m, Interval(0, 0)), (constant(m) % x.size, Interval(0, 0))))

    def need(self, clause: Clause) -> None:
        """Add a clause, unless one of its alternatives always holds; without those that never do."""
        kept = []
        for e, wanted in clause:
            bounds = e.range(self.sizes)
            if wanted.contains(bounds):
                return
            if not wanted.intersect(bounds).is_empty:
                kept.append((e, wanted))
        self.clauses.append(tuple(kept))
