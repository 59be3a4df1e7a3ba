"""The body of a transpose's kernel, and the maps of its threads."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from indexing._core import IndexingMap, SymbolicExpr, constant
from indexing.emit.kernel import SharedAccess
from indexing.emit.launch import (
    bound,
    each,
    placed,
    range_variable,
    thread_index,
    thread_map,
)
from indexing.emit.transpose_plan import (
    LANE,
    WORD_BYTES,
    TransposePlan,
    Walk,
    input_index,
    output_index,
    reading,
    storing,
)
from indexing.emit.types import c_type
from indexing.emit.vectors import VectorTypes, lanes, unrolled

if TYPE_CHECKING:
    from indexing.emit.elemental import FunctionWriter
    from indexing.emit.epilogue import Heroes
    from indexing.hlo import Instruction
    from indexing.ops.element import Index


class Writing:
    """Writes the two halves of the kernel's body."""

    def __init__(self, found: Heroes, plan: TransposePlan, body: FunctionWriter) -> None:
        """Nothing is written yet."""
        self.found, self.plan, self.body = found, plan, body
        self.reading, self.storing = reading(plan), storing(plan)
        self.read_types, self.write_types = VectorTypes(plan.read_width), VectorTypes(plan.write_width)
        self.bits = 8 * WORD_BYTES // plan.packed

    def declarations(self) -> list[str]:
        """Of the vector types."""
        return list((self.read_types.declarations | self.write_types.declarations).values())

    # ------------------------------------------------------------ maps

    def _index(self, walk: Walk, fast: SymbolicExpr, slow: SymbolicExpr, lane: SymbolicExpr) -> list[SymbolicExpr]:
        """The operands' index at a place of a walk."""
        run = self.plan.groups.run_size
        slow, line = walk.place(fast, slow, lane)
        along = line // run if run > 1 else line
        x, y = (along, slow) if walk is self.reading else (slow, along)
        return input_index(self.found.first, self.plan, x, y, line % run)

    def _map(self, walk: Walk) -> IndexingMap:
        """From threads to the operands' index while reading, to the heroes' while writing."""
        index = self._index(walk, walk.fast.expression, walk.slow.expression, range_variable(LANE))
        if walk is self.storing:
            index = output_index(self.found.first, index)
        bounds = [bound(p) for p in (walk.fast, walk.slow, *walk.bounds)]
        rows = self.plan.packed if walk is self.reading else 1
        ranges = (("step", walk.steps), ("vector_index", walk.width), ("row", rows))
        return thread_map(self.plan.grid, self.plan.block, index, ranges, bounds)

    def output_maps(self) -> list[IndexingMap]:
        """Of all outputs, in order."""
        return self.found.output_maps(self._map(self.storing), self._map(self.reading))

    def input_maps(self) -> list[list[IndexingMap]]:
        """Of the parameters behind the heroes' operands, and those that outputs read beside the heroes."""
        to_operand = self._map(self.reading)
        starts = [(hero.operands[0], 0, to_operand) for hero in self.found.heroes]
        return self.found.input_maps(self.body.unit.partition, starts, self.output_maps())

    def shared_accesses(self) -> tuple[SharedAccess, ...]:
        """Of the tiles: an element at each lane of the two walks; where packed, a word."""
        store, load = self._cells(self.reading), self._cells(self.storing)
        found = []
        for k, hero in enumerate(self.found.heroes):
            size = WORD_BYTES if self.plan.packed > 1 else c_type(hero.shape.element_type).size
            found += [SharedAccess("store", f"tile{k}", size, store), SharedAccess("load", f"tile{k}", size, load)]
        return tuple(found)

    def _cells(self, walk: Walk) -> IndexingMap:
        """From threads to the cell that they store while reading, or load while writing."""
        parts, lane_count = (walk.fast, walk.slow, *walk.bounds), walk.width
        if self.plan.packed > 1:  # squares are stored whole, beyond the edges too; a word is loaded once
            parts, lane_count = (walk.bounds, walk.width) if walk is self.reading else (parts, 1)
        ranges = (("step", walk.steps), ("lane", lane_count), ("row", 1))
        return thread_map(self.plan.grid, self.plan.block, [walk.cell], ranges, [bound(p) for p in parts])

    # ------------------------------------------------------------ code

    def write(self) -> None:
        """Tiles, what fills them, what empties them."""
        for k, hero in enumerate(self.found.heroes):
            kind = "u32" if self.plan.packed > 1 else c_type(hero.shape.element_type).storage
            self.body.writer.line(f"@shared {kind} tile{k}[{self.plan.cells}];")
        walk = self.reading
        with each(self.body, walk.steps) as step, placed(self.body, walk.bounds, (step,)):
            if self.plan.packed > 1:
                self._read_squares(step)
            else:
                with self._vector(walk, (step,), self.read_types) as (index, ranges):
                    for k, text in self._operands(index):
                        self.body.writer.line(f"tile{k}[{self._at(walk.cell, ranges)}] = {text};")
                    self.found.write_side(self.body, index)
        self.body.writer.line("@barrier;")
        walk = self.storing
        with (
            each(self.body, walk.steps) as step,
            placed(self.body, walk.bounds, (step,)),
            self._vector(walk, (step,), self.write_types) as (index, ranges),
        ):
            self._write_element(index, ranges)

    @contextmanager
    def _vector(self, walk: Walk, ranges: Index, types: VectorTypes) -> Iterator[tuple[Index, Index]]:
        """What is written inside is done for each element of a vector: index of the operands, values of the ranges."""
        body = self.body
        step, *row = ranges
        at_lane_0 = (step, constant(0), *row)
        with placed(body, (walk.slow,), at_lane_0) as (slow,):
            if walk.divides:
                with placed(body, (walk.fast,), at_lane_0) as (fast,), lanes(body, types) as lane:
                    yield self._simplified(walk, fast, slow, lane), (step, lane, *row)
                return
            with unrolled(body, walk.width) as lane, placed(body, (walk.fast,), (step, lane, *row)) as (fast,):
                yield self._simplified(walk, fast, slow, lane), (step, lane, *row)

    def _simplified(self, walk: Walk, fast: SymbolicExpr, slow: SymbolicExpr, lane: SymbolicExpr) -> Index:
        return tuple(map(self.body.scope.simplify, self._index(walk, fast, slow, lane)))

    def _at(self, expression: SymbolicExpr, ranges: Index) -> str:
        return self.body.integer(expression.replace_variables([*thread_index(), *ranges]))

    def _operands(self, index: Index) -> Iterator[tuple[int, str]]:
        """C text of what memory would hold of each hero's operand."""
        for k, hero in enumerate(self.found.heroes):
            value = self.body.read(hero.operands[0], index)
            yield k, self.body.stored(hero.shape.element_type, value)

    def _read_squares(self, step: SymbolicExpr) -> None:
        packed, w, walk = self.plan.packed, self.body.writer, self.reading
        for k in range(len(self.found.heroes)):
            zeros = ", ".join("0" * packed)
            w.line(f"u32 square{k}[{packed}] = {{{zeros}}};")
        with (
            unrolled(self.body, packed) as row,
            self._vector(walk, (step, row), self.read_types) as (index, (_, lane, _)),
        ):
            shift = f"({self.body.integer(row)} * {self.bits})"
            for k, text in self._operands(index):
                w.line(f"square{k}[{self.body.integer(lane)}] |= (u32)(u{self.bits})({text}) << {shift};")
            self.found.write_side(self.body, index)
        with unrolled(self.body, packed) as column:
            cell = self._at(walk.cell, (step, column, constant(0)))
            for k in range(len(self.found.heroes)):
                w.line(f"tile{k}[{cell}] = square{k}[{self.body.integer(column)}];")

    def _write_element(self, operand_index: Index, ranges: Index) -> None:
        """From the tile through the epilogue to the outputs."""
        index = tuple(output_index(self.found.first, operand_index))
        for k, hero in enumerate(self.found.heroes):
            kind = hero.shape.element_type
            value = self.body.loaded(kind, self._cell(k, hero, ranges))
            self.body.inject(hero, index, [value])
        self.found.write_after(self.body, index)

    def _cell(self, k: int, hero: Instruction, ranges: Index) -> str:
        cell = self._at(self.storing.cell, ranges)
        if self.plan.packed == 1:
            return f"tile{k}[{cell}]"
        _, part = ranges
        storage = c_type(hero.shape.element_type).storage
        return f"({storage})(tile{k}[{cell}] >> ({self.body.integer(part)} * {self.bits}))"
