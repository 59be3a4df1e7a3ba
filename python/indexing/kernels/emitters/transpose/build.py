"""The entry of a transpose kernel: reads the operands into tiles, and writes the tiles to the outputs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from indexing._core import SymbolicExpr, constant
from indexing.hlo import Instruction
from indexing.kernels.emitters.transpose.mapping import (
    WORD_BYTES,
    ThreadMapping,
    TransposePlan,
    input_index,
    output_index,
    reading,
    storing,
)
from indexing.kernels.emitters.transpose.match import NAME
from indexing.kernels.epilogue import Heroes
from indexing.kernels.function_builder import FunctionBuilder
from indexing.kernels.ir.nodes import Buffer, Constant, Kernel, Load, Op
from indexing.kernels.ir.nodes import Value as Node
from indexing.kernels.ir.types import storage_type
from indexing.kernels.launch import at_ranges, built, inside_parts, loop_over
from indexing.kernels.vectors import lanes
from indexing.ops.element_context import Index


def build_transpose(match: Heroes, plan: TransposePlan) -> Kernel:
    """The kernel."""
    return built(NAME, match.first, match.parts, plan, lambda body: _Body(match, plan, body).build())


class _Body:
    """Builds the two halves of the entry."""

    def __init__(self, match: Heroes, plan: TransposePlan, body: FunctionBuilder) -> None:
        """Declare the tiles."""
        self.match, self.plan, self.body = match, plan, body
        self.reading, self.storing = reading(plan), storing(plan)
        self.bits = 8 * WORD_BYTES // plan.packed
        self.tiles = [self._buffer(f"tile{k}", hero, "shared", plan.cells) for k, hero in enumerate(match.heroes)]

    def _buffer(self, name: str, hero: Instruction, space: str, count: int) -> str:
        kind = "u32" if self.plan.packed > 1 else hero.shape.element_type
        return self.body.kernel.add_buffer(Buffer(name, kind, (count,), space))  # type: ignore[arg-type]

    def build(self) -> None:
        """Build the loops that fill the tiles, a barrier, and the loops that store them."""
        body, walk = self.body, self.reading
        with loop_over(body, walk.steps) as step, inside_parts(body, walk.bounds, (step,)):
            if self.plan.packed > 1:
                self._read_squares(step)
            else:
                with self._vector(walk, (step,)) as (index, ranges):
                    for k, held in self._operands(index):
                        body.store(self.tiles[k], (at_ranges(body, walk.cell, ranges),), held)
                    self.match.build_side_outputs(body, index)
        body.barrier()
        walk = self.storing
        with (
            loop_over(body, walk.steps) as step,
            inside_parts(body, walk.bounds, (step,)),
            self._vector(walk, (step,)) as (index, ranges),
        ):
            self._write_element(index, ranges)

    @contextmanager
    def _vector(self, walk: ThreadMapping, ranges: Index) -> Iterator[tuple[Index, Index]]:
        """A scope that runs for each element of a vector, with the operands' index and the values of the ranges."""
        body = self.body
        step, *row = ranges
        at_lane_0 = (step, constant(0), *row)
        with inside_parts(body, (walk.slow,), at_lane_0) as (slow,):
            if walk.divides:
                with inside_parts(body, (walk.fast,), at_lane_0) as (fast,), lanes(body, walk.width) as lane:
                    yield self._index(walk, fast, slow, lane), (step, lane, *row)
                return
            with lanes(body, walk.width) as lane, inside_parts(body, (walk.fast,), (step, lane, *row)) as (fast,):
                yield self._index(walk, fast, slow, lane), (step, lane, *row)

    def _index(self, walk: ThreadMapping, fast: SymbolicExpr, slow: SymbolicExpr, lane: SymbolicExpr) -> Index:
        """The operands' index at a position of a thread mapping."""
        run = self.plan.groups.run_size
        slow, line = walk.place(fast, slow, lane)
        along = line // run if run > 1 else line
        x, y = (along, slow) if walk is self.reading else (slow, along)
        index = input_index(self.match.first, self.plan, x, y, line % run)
        return tuple(map(self.body.scope.simplify, index))

    def _operands(self, index: Index) -> Iterator[tuple[int, Node]]:
        """The element of each hero's operand, in its memory representation."""
        for k, hero in enumerate(self.match.heroes):
            value = self.body.read(hero.operands[0], index)
            yield k, self.body.stored(hero.shape.element_type, value)

    def _read_squares(self, step: SymbolicExpr) -> None:
        body, packed, walk = self.body, self.plan.packed, self.reading
        squares = [self._buffer(f"square{k}", hero, "local", packed) for k, hero in enumerate(self.match.heroes)]
        with lanes(body, packed, "column") as column:
            for square in squares:
                body.store(square, (column,), Constant("u32", 0))
        with lanes(body, packed, "row") as row, self._vector(walk, (step, row)) as (index, (_, lane, _)):
            shift = body.node(body.op("convert", "u32", body.integer(row * self.bits)))
            for k, held in self._operands(index):
                bits = Op("convert", "u32", (Op("convert", f"u{self.bits}", (held,)),))
                shifted = Op("shl", "u32", (bits, shift))
                body.store(squares[k], (lane,), Op("or", "u32", (Load("u32", squares[k], (lane,)), shifted)))
            self.match.build_side_outputs(body, index)
        with lanes(body, packed, "column") as column:
            cell = at_ranges(body, walk.cell, (step, column, constant(0)))
            for square, tile in zip(squares, self.tiles, strict=True):
                body.store(tile, (cell,), Load("u32", square, (column,)))

    def _write_element(self, operand_index: Index, ranges: Index) -> None:
        """Write an element of the tile through the epilogue to the outputs."""
        body = self.body
        index = tuple(output_index(self.match.first, operand_index))
        for k, hero in enumerate(self.match.heroes):
            value = body.loaded(hero.shape.element_type, self._tile_value(k, hero, ranges))
            body.inject(hero, index, [value])
        self.match.build_after(body, index)

    def _tile_value(self, k: int, hero: Instruction, ranges: Index) -> Node:
        """The value of an element in the tile; if packed, its part of a word."""
        cell = at_ranges(self.body, self.storing.cell, ranges)
        storage = storage_type(hero.shape.element_type)
        if self.plan.packed == 1:
            return Load(storage, self.tiles[k], (cell,))
        _, part = ranges
        shift = self.body.node(self.body.op("convert", "u32", self.body.integer(part * self.bits)))
        return Op("convert", storage, (Op("shr_logical", "u32", (Load("u32", self.tiles[k], (cell,)), shift)),))
