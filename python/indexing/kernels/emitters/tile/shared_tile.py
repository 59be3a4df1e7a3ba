"""Tiles of a product's operands in shared memory, which the threads of a block fill together."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from math import prod
from typing import Literal, TypeAlias

from indexing._core import IndexingMap, SymbolicExpr
from indexing.hlo import Instruction
from indexing.hlo.layout import delinearize
from indexing.kernels.emitters.dot.match import (
    Axis,
    Factor,
    factor,
    planned_product,
    result_index,
    step_conditions,
)
from indexing.kernels.epilogue import Heroes
from indexing.kernels.function_builder import FunctionBuilder
from indexing.kernels.ir.fragments import ASYNC_BYTES
from indexing.kernels.ir.nodes import Buffer, Constant, Load
from indexing.kernels.ir.types import storage_bytes, storage_type
from indexing.kernels.launch import Part, guarded, inside, loop_over, thread_id
from indexing.kernels.vectors import lanes
from indexing.ops.element_context import Index, Value
from indexing.ops.element_types import element_type
from indexing.ops.elementwise.conversion import convert_code

Side: TypeAlias = Literal["left", "right"]


@dataclass(frozen=True, slots=True)
class SharedTile:
    """The tile of one operand in shared memory: `lines` of `run` elements of a type along `fast`, of which `place` has the
    positions: (line, element) -> position.

    `reads` is the dimension along which neighbouring threads read the operand, `vector` elements each, which are neighbours
    in the tile as well if `reads` is `fast`. Of each `group` of lines the elements alternate in the tile.
    """

    side: Side
    element_type: str
    lines: int
    run: int
    fast: Axis
    reads: Axis
    vector: int
    place: IndexingMap
    stage: int = 0
    name: str = ""  # of the buffer; empty: by its side and stage
    group: int = 1

    @property
    def lines_together(self) -> int:
        """The lines that a thread copies together."""
        return self.group if self.reads == self.fast else 1

    @property
    def buffer(self) -> Buffer:
        """The buffer that holds it."""
        name = self.name or f"{self.side}_tile" + f"{self.stage + 1}" * (self.stage > 0)
        return Buffer(name, self.element_type, (self.lines * self.run,), "shared")


def is_asynchronous(dot: Instruction, tiles: Sequence[SharedTile]) -> bool:
    """Whether a tile of an operand can be copied as it is, in whole vectors of a size that the instruction has."""
    operands = [dot.operands[k] for k in planned_product(dot).operands]
    return any(
        o.is_parameter
        and o.shape.element_type == t.element_type
        and t.reads == t.fast
        and t.vector * storage_bytes(t.element_type) in ASYNC_BYTES
        for o, t in zip(operands, tiles, strict=True)
    )


def places(lines: int, run: int, place: str) -> IndexingMap:
    """The map (line, element) -> place, of so many lines of `run` elements."""
    bounds = f"line in [0, {lines - 1}], element in [0, {run - 1}]"
    return IndexingMap.parse(f"(line, element) -> ({place}), domain: {bounds}")


def in_order(lines: int, run: int) -> IndexingMap:
    """The places of lines that follow one another."""
    return places(lines, run, f"line * {run} + element")


def position(m: IndexingMap, *values: SymbolicExpr, result: int = 0) -> SymbolicExpr:
    """A result of a map."""
    return m.results[result].replace_variables(list(values))


@dataclass(frozen=True, slots=True)
class TileOperand:
    """An operand of a product: its `sizes` along both axes, and `factor`, the element at a position along `free` and `sum`."""

    sizes: Mapping[Axis, int]
    factor: Callable[[SymbolicExpr, SymbolicExpr], Factor]


class TileCopies:
    """Builds the copies of tiles of operands to shared memory, with the operands' producers."""

    def __init__(self, body: FunctionBuilder, threads: int) -> None:
        """Start with the entry, whose block has so many threads in one dimension."""
        self.body, self.threads = body, threads

    def fill(self, tile: SharedTile, operand: TileOperand, starts: Mapping[Axis, SymbolicExpr]) -> None:
        """Copy the tile that begins at `starts`: each thread takes vectors along the dimension in which they are neighbours."""
        body = self.body
        width = tile.run if tile.reads == tile.fast else tile.lines
        vectors = width // tile.vector
        count = tile.lines * tile.run // (tile.vector * tile.lines_together)
        with loop_over(body, -(-count // self.threads), "turn") as turn:
            number = body.scope.simplify(turn * self.threads + thread_id("th_x"))
            with inside(body, [Part(number, count)]) as (at,):
                self._vector(
                    tile, operand, starts, body.scope.simplify(at // vectors), body.scope.simplify(at % vectors)
                )

    def _vector(
        self,
        tile: SharedTile,
        operand: TileOperand,
        starts: Mapping[Axis, SymbolicExpr],
        slow: SymbolicExpr,
        vector: SymbolicExpr,
    ) -> None:
        """Copy one vector of each line of a group; at the end of the operand, the elements that exist, and zeros."""
        body, width, group, sizes = self.body, tile.vector, tile.lines_together, operand.sizes
        along, across = tile.reads, _other(tile.reads)
        line, first = starts[across] + slow * group, starts[along] + vector * width
        place = self._places(tile, slow * group, vector)

        def factor(at: Mapping[Axis, SymbolicExpr]) -> Factor:
            return operand.factor(at["free"], at["sum"])

        def copy(to: Index, factor: Factor) -> None:
            self._store(tile, to, factor.read(body))

        def store(to: Index, factor: Factor) -> None:
            self._either(factor.conditions, lambda: copy(to, factor), lambda: self._store_zero(tile, to))

        def zero(lane: SymbolicExpr, of_group: int) -> None:
            self._store_zero(tile, place(lane, of_group))

        def elements(write: Callable[[SymbolicExpr, int], None]) -> None:
            neighbours = tile.group // group
            with lanes(body, width // neighbours) as lane, body.base_scope():
                for k in range(tile.group):
                    write(lane * neighbours + k % neighbours, k // neighbours)

        def zeros() -> None:
            elements(zero)

        def whole(row: SymbolicExpr, cell: SymbolicExpr) -> None:
            def at(lane: SymbolicExpr | int, of_group: int) -> dict[Axis, SymbolicExpr]:
                return {across: row + of_group, along: cell * width + lane}

            def of_lanes(write: Callable[[Index, Factor], None]) -> None:
                elements(lambda lane, of_group: write(place(lane, of_group), factor(at(lane, of_group))))

            every = [factor(at(k, of_group)) for k in range(width) for of_group in range(group)]
            start, end = every[0], every[-1]
            if all(f.conditions == start.conditions for f in every):
                self._either(start.conditions, lambda: of_lanes(copy), zeros)
            elif tile.reads == tile.fast and self._is_run(every):
                run = [*start.conditions, *end.conditions]
                self._either(run, lambda: of_lanes(self._along(start, end, copy)), lambda: of_lanes(store))
            else:
                of_lanes(store)

        def existing(row: SymbolicExpr, lane: SymbolicExpr, of_group: int) -> None:
            def stored(at: SymbolicExpr) -> None:
                store(place(lane, of_group), factor({across: row, along: at}))

            self.either(Part(first + lane, sizes[along]), stored, partial(zero, lane, of_group))

        def of_lines(row: SymbolicExpr) -> None:
            def some() -> None:
                elements(lambda lane, of_group: existing(row + of_group, lane, of_group))

            cells = Part(first // width, sizes[along] // width)
            self.either(cells, partial(whole, row), some if sizes[along] % width else zeros)

        def of_some_lines() -> None:
            def one(lane: SymbolicExpr, of_group: int) -> None:
                at_line = Part(line + of_group, sizes[across])
                self.either(at_line, lambda row: existing(row, lane, of_group), partial(zero, lane, of_group))

            elements(one)

        groups = Part(line // group, sizes[across] // group)
        self.either(groups, lambda k: of_lines(k * group), of_some_lines if sizes[across] % group else zeros)

    def _is_run(self, factors: Sequence[Factor]) -> bool:
        """Whether the elements of all factors exist if those of the first and the last one do, which may be."""
        start, sizes = factors[0], factors[0].operand.shape.dimensions
        spans = self._steps(start, factors[-1])
        return all(
            step is not None and span is not None and 0 <= step <= span < size
            for f in factors
            for step, span, size in zip(self._steps(start, f), spans, sizes, strict=True)
        )

    def _steps(self, start: Factor, to: Factor) -> list[int | None]:
        """The steps from the index of a factor to that of another, in each dimension; None if one depends on the thread."""
        pairs = zip(start.index, to.index, strict=True)
        return [self.body.scope.simplify(b - a).constant_value for a, b in pairs]

    def _along(
        self, start: Factor, end: Factor, write: Callable[[Index, Factor], None]
    ) -> Callable[[Index, Factor], None]:
        """`write` for the factors of a run, all of which exist, with indices counted from that of `start`."""
        simplify, spans = self.body.scope.simplify, self._steps(start, end)
        sizes = [n - (span or 0) for n, span in zip(start.operand.shape.dimensions, spans, strict=True)]
        firsts = self.body.inside(start.index, sizes)

        def counted(to: Index, factor: Factor) -> None:
            steps = (simplify(b - a) for a, b in zip(start.index, factor.index, strict=True))
            write(to, Factor(factor.operand, tuple(first + step for first, step in zip(firsts, steps, strict=True))))

        return counted

    def either(self, part: Part, inside: Callable[[SymbolicExpr], None], outside: Callable[[], None]) -> None:
        """Build `inside` for a coordinate that is less than its count, and `outside` for others, if there are any."""
        body, at = self.body, self.body.scope.simplify(part.expression)
        conditions = body.within(at, 0, part.count - 1)
        self._either(conditions, lambda: inside(*body.inside((at,), [part.count])), outside)

    def _either(self, conditions: Sequence[Value], then: Callable[[], None], otherwise: Callable[[], None]) -> None:
        """Build `then`, and for where the conditions don't hold, if that may be, `otherwise`."""
        with guarded(self.body, conditions):
            then()
        if conditions:
            with self.body.otherwise():
                otherwise()

    def _places(
        self, tile: SharedTile, line: SymbolicExpr, vector: SymbolicExpr
    ) -> Callable[[SymbolicExpr, int], Index]:
        """The places in a tile of the lanes of a vector, of each line of a group from `line` on: neighbours, if its lines are
        along the dimension that is read.
        """
        width, group, simplify = tile.vector, tile.lines_together, self.body.scope.simplify
        if tile.reads != tile.fast:
            return lambda lane, of_group: (simplify(position(tile.place, vector * width + lane, line + of_group)),)
        together = width * group
        first = simplify(position(tile.place, line, vector * width)) // together
        cell = self.body.named_index(self.body.fresh(f"{tile.side}_cell"), first, 0, tile.buffer.size // together - 1)
        return lambda lane, of_group: (cell * together + lane * group + of_group,)

    def _store(self, tile: SharedTile, place: Index, value: Value) -> None:
        kind = tile.element_type
        if value.element_type != kind:
            value = Value(self.body.node(convert_code(self.body, value, element_type(kind))), kind)
        self.body.store(tile.buffer.name, place, self.body.stored(kind, value))

    def _store_zero(self, tile: SharedTile, place: Index) -> None:
        self.body.store(tile.buffer.name, place, Constant(storage_type(tile.element_type), 0))


class TileBuilder:
    """Builds the copies of tiles of a dot's operands, and its results."""

    def __init__(self, body: FunctionBuilder, match: Heroes, batch: SymbolicExpr, threads: int) -> None:
        """Start with the entry, whose block has so many threads in one dimension, and the product of the batch."""
        self.body, self.match = body, match
        self.dot, self.sizes = match.first, planned_product(match.first)
        self.place = self._index(self.sizes.batch, batch)
        self.copies = TileCopies(body, threads)

    def fill(self, tile: SharedTile, starts: Mapping[Axis, SymbolicExpr]) -> None:
        """Copy the tile that begins at `starts`."""
        self.copies.fill(tile, self._operand(tile.side), starts)

    def _operand(self, side: Side) -> TileOperand:
        p = self.sizes
        free, k = (p.rows, p.operands[0]) if side == "left" else (p.columns, p.operands[1])

        def at(own: SymbolicExpr, along: SymbolicExpr) -> Factor:
            return factor(self.body, self.dot, k, self.place, self._index(free, own), self._index(p.contracted, along))

        return TileOperand({"free": prod(free), "sum": prod(p.contracted)}, at)

    def may_be_left_out(self, begin: SymbolicExpr, depth: int) -> bool:
        """Whether `step` may leave out what is in its scope."""
        return bool(step_conditions(self.body, self.dot, self.place, begin, depth))

    def step(self, begin: SymbolicExpr, depth: int) -> AbstractContextManager[None]:
        """A scope for `depth` places along the sum from `begin` on, which is left out where all their factors are zeros."""
        return guarded(self.body, step_conditions(self.body, self.dot, self.place, begin, depth))

    def copy_step(
        self, tiles: Iterable[SharedTile], begins: Iterable[SymbolicExpr], along: SymbolicExpr, depth: int
    ) -> None:
        """Copy the tiles of a step of `depth` from `along` on, whose rows and columns begin at `begins`."""
        with self.step(along, depth):
            for tile, free in zip(tiles, begins, strict=True):
                self.fill(tile, {"free": free, "sum": along})

    def finish(self, total: Load, row: SymbolicExpr, column: SymbolicExpr) -> None:
        """Build the epilogue and the stores of an element of the product, whose sum is `total`, if the result has it."""
        body, p, shape = self.body, self.sizes, self.dot.shape
        index = result_index(self.dot, p, self.place, self._index(p.rows, row), self._index(p.columns, column))
        with inside(body, [Part(e, n) for e, n in zip(index, shape.dimensions, strict=True)]) as at, body.base_scope():
            body.inject(self.dot, at, [body.let(shape.element_type, Value(total, shape.element_type))])
            self.match.build_after(body, at)

    def _index(self, sizes: Sequence[int], at: SymbolicExpr) -> Index:
        """The index in dimensions of `sizes` of the element at a position in all of them."""
        return tuple(map(self.body.scope.simplify, delinearize(at, sizes)))


def _other(axis: Axis) -> Axis:
    return "free" if axis == "sum" else "sum"
