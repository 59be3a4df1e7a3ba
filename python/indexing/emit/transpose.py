"""The transpose emitter: a tile of the input is read along its fastest dimension into shared memory, and written along
the output's fastest one.

Dimensions that stay neighbours are merged first. What remains is a plane of `x` (fastest in the input) and `y` (fastest
in the output), with a short run of `c` elements inside of each where the fastest dimension itself stays. Rows of the tile
are padded, so that a warp reads a column without bank conflicts. Elements of one or two bytes are packed: each thread
turns a square of four bytes by as many rows in registers, and the tile holds words.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import prod
from typing import TYPE_CHECKING

from indexing._core import IndexingMap, SymbolicExpr, compose, constant
from indexing.emit.hero import Output, find_hero, outputs
from indexing.emit.kernel import Dialect, Dim3, Kernel, SharedAccess
from indexing.emit.launch import (
    Bounds,
    assembled,
    each,
    entry_writer,
    guarded,
    range_variable,
    same_memory,
    store,
    thread_id,
    thread_index,
    thread_map,
)
from indexing.emit.reads import reads_behind
from indexing.emit.types import c_type, decoded, encoded
from indexing.emit.unit import Unit
from indexing.errors import IndexingError, InvalidMap
from indexing.layout import delinearize, major_to_minor
from indexing.partition import Epilogue, partition

if TYPE_CHECKING:
    from indexing.emit.elemental import FunctionWriter
    from indexing.hlo import Computation, Instruction
    from indexing.ops.element import Index

NAME = "transpose"
WORD_BYTES = 4
WARP = 32
MAX_RUN_BYTES = 16  # longer runs are read and written whole by a loop
MIN_SIZE = 8  # of the plane's sides; smaller ones leave most of a tile unused
MIN_PLANE = 256  # elements of the plane
MAX_SHARED_BYTES = 48 * 1024
TILES = (8, 16, 32, 64, 128)


@dataclass(frozen=True, slots=True)
class Groups:
    """A transpose with merged dimensions: `sizes` in the input's order, each the `members` (logical input dimensions).

    `outer` are the groups beside the plane, `x` and `y` its sides, `run` the group inside of both, or None.
    """

    sizes: tuple[int, ...]
    members: tuple[tuple[int, ...], ...]
    outer: tuple[int, ...]
    x: int
    y: int
    run: int | None


@dataclass(frozen=True, slots=True)
class TransposePlan:
    """Knobs and launch dimensions. A tile is `tile` by `tile` runs; `packed` elements make one word of shared memory."""

    tile: int
    block_size: int
    packed: int
    groups: Groups
    run: int
    blocks: int

    @property
    def grid(self) -> Dim3:
        """Blocks: one a tile."""
        return (self.blocks, 1, 1)

    @property
    def block(self) -> Dim3:
        """Threads of a block."""
        return (self.block_size, 1, 1)

    @property
    def row(self) -> int:
        """Elements (or words, where packed) from one row of the shared tile to the next, padding included."""
        return self.tile // self.packed + 1 if self.packed > 1 else (self.tile + 1) * self.run


@dataclass(frozen=True, slots=True)
class Match:
    """The transposes of a fusion, all alike, with the outputs after them; `side` are outputs at the input's index."""

    heroes: tuple[Instruction, ...]
    after: tuple[Output, ...]
    side: tuple[Output, ...]
    epilogue: Epilogue


def matches(computation: Computation) -> bool:
    """Whether the fusion has a transpose that is worth a tile."""
    return match(computation) is not None


def match(computation: Computation) -> Match | None:
    """The heroes of a fusion: every output either follows a transpose of one kind, or lies at its input's index."""
    after, side = [], []
    paths: list[tuple[Instruction, Instruction]] = []
    for output in outputs(computation):
        hero = find_hero(output.instruction, _is_hero)
        if hero is None:
            side.append(output)
        else:
            after.append(output)
            paths.append((hero, output.instruction))
    heroes = list(dict.fromkeys(hero for hero, _ in paths))
    if not heroes:
        return None
    first, *others = heroes
    if any(_form(hero) != _form(first) for hero in others):
        return None
    if any(o.shape.element_count != first.shape.element_count for o in side):
        return None
    try:
        epilogue = Epilogue.from_paths(paths)
    except InvalidMap:  # some output reads a hero at two places
        return None
    return Match(tuple(heroes), tuple(after), tuple(side), epilogue)


def _form(hero: Instruction) -> tuple[object, ...]:
    return _groups(hero), hero.operands[0].shape.dimensions, hero.shape.dimensions


def _is_hero(instruction: Instruction) -> bool:
    groups = _groups(instruction)
    if groups is None:
        return False
    run = 1 if groups.run is None else groups.sizes[groups.run]
    x, y = groups.sizes[groups.x], groups.sizes[groups.y]
    is_short = run * c_type(instruction.shape.element_type).size <= MAX_RUN_BYTES
    return is_short and min(x, y) >= MIN_SIZE and x * y >= MIN_PLANE


def _groups(instruction: Instruction) -> Groups | None:
    """The merged form of a transpose (or of a copy to another layout); None for another op, or where nothing moves."""
    if instruction.opcode not in ("transpose", "copy") or instruction.shape.is_tuple:
        return None
    operand = instruction.operands[0].shape
    permutation = instruction.ints("dimensions") if instruction.opcode == "transpose" else range(operand.rank)
    sizes = operand.dimensions
    source = [d for d in major_to_minor(operand) if sizes[d] != 1]
    target = [permutation[d] for d in major_to_minor(instruction.shape) if sizes[permutation[d]] != 1]
    if source == target or 0 in sizes:
        return None
    follows = dict(pairwise(source))
    members: list[list[int]] = []
    for d in target:
        if members and follows.get(members[-1][-1]) == d:
            members[-1].append(d)
        else:
            members.append([d])
    order = sorted(range(len(members)), key=lambda g: source.index(members[g][0]))
    merged = tuple(tuple(members[g]) for g in order)
    in_target = [
        order.index(g) for g in range(len(members))
    ]  # groups in the output's order, by their place in `merged`
    last = len(merged) - 1
    run = last if in_target[-1] == last else None
    x, y = (last, in_target[-1]) if run is None else (last - 1, in_target[-2])
    outer = tuple(g for g in range(len(merged)) if g not in (x, y, run))
    return Groups(tuple(prod(sizes[d] for d in m) for m in merged), merged, outer, x, y, run)


def plan(computation: Computation, *, tile: int | None = None, block_size: int = 256) -> TransposePlan:
    """Launch dimensions. Knobs: `tile` 8, 16, 32, 64 or 128 (as shared memory allows); `block_size` 64, 128, 256 or 512."""
    found = match(computation)
    if found is None:
        raise IndexingError(f"{computation.name} has no transpose that is worth a tile; the loop emitter takes it")
    groups = _groups(found.heroes[0])
    assert groups is not None
    run = 1 if groups.run is None else groups.sizes[groups.run]
    widths = [c_type(hero.shape.element_type).size for hero in found.heroes]
    packed = WORD_BYTES // widths[0] if run == 1 and len(set(widths)) == 1 and widths[0] < WORD_BYTES else 1
    if block_size not in (64, 128, 256, 512):
        raise IndexingError(f"block_size is 64, 128, 256 or 512; got {block_size}")
    limit = MAX_SHARED_BYTES // (run * sum(widths))
    if tile is None:
        tile = _packed_tile(groups, packed) if packed > 1 else max(t for t in TILES if t <= 32 and t * (t + 1) <= limit)
    elif tile not in TILES or tile * (tile + packed) > limit or (packed > 1 and tile < 32):
        raise IndexingError(f"tile is 8, 16, 32, 64 or 128, and its rows fit in {MAX_SHARED_BYTES} bytes; got {tile}")
    planes = prod(groups.sizes[g] for g in groups.outer)
    blocks = planes * -(-groups.sizes[groups.x] // tile) * -(-groups.sizes[groups.y] // tile)
    return TransposePlan(tile, block_size, packed, groups, run, blocks)


def _packed_tile(groups: Groups, packed: int) -> int:
    """A row of 32 words, unless that leaves most of a small plane's last tiles unused."""
    large = WARP * packed
    return large if min(groups.sizes[groups.x], groups.sizes[groups.y]) >= 2 * large or large <= 64 else large // 2


@dataclass(frozen=True, slots=True)
class _Place:
    """An index of the plane: one expression a group, with the bounds that the edges of the tensor need."""

    groups: tuple[SymbolicExpr, ...]
    bounds: tuple[tuple[SymbolicExpr, Bounds], ...]


def _place(plan: TransposePlan, x: SymbolicExpr, y: SymbolicExpr, run: SymbolicExpr | None) -> _Place:
    """The place of (x, y, run) in this block's tile."""
    groups = plan.groups
    tiles = [-(-groups.sizes[g] // plan.tile) for g in (groups.x, groups.y)]
    *outer, tile_y, tile_x = delinearize(
        thread_id("bl_x"), [*(groups.sizes[g] for g in groups.outer), tiles[1], tiles[0]]
    )
    index: dict[int, SymbolicExpr] = dict(zip(groups.outer, outer, strict=True))
    index[groups.x] = tile_x * plan.tile + x
    index[groups.y] = tile_y * plan.tile + y
    if groups.run is not None and run is not None:
        index[groups.run] = run
    bounds = tuple((index[g], (0, groups.sizes[g] - 1)) for g in (groups.x, groups.y))
    return _Place(tuple(index[g] for g in range(len(groups.sizes))), bounds)


def _input_index(hero: Instruction, plan: TransposePlan, place: _Place) -> list[SymbolicExpr]:
    """The logical index of the hero's operand."""
    sizes = hero.operands[0].shape.dimensions
    index = [constant(0)] * len(sizes)
    for members, expression in zip(plan.groups.members, place.groups, strict=True):
        for d, part in zip(members, delinearize(expression, [sizes[d] for d in members]), strict=True):
            index[d] = part
    return index


def _output_index(hero: Instruction, plan: TransposePlan, place: _Place) -> list[SymbolicExpr]:
    """The logical index of the hero."""
    index = _input_index(hero, plan, place)
    if hero.opcode == "copy":
        return index
    return [index[d] for d in hero.ints("dimensions")]


@dataclass(frozen=True, slots=True)
class _Walk:
    """How a block's threads walk a tile: the tile's (x, y, run) as expressions over thread id and range variables."""

    ranges: tuple[tuple[str, int], ...]
    x: SymbolicExpr
    y: SymbolicExpr
    run: SymbolicExpr | None
    bounds: tuple[tuple[SymbolicExpr, Bounds], ...] = ()


def _walk(plan: TransposePlan, fast: str) -> _Walk:
    """Element by element, `fast` ("x" or "y") being the side along which neighbouring threads lie."""
    count = plan.tile * plan.tile * plan.run
    steps = -(-count // plan.block_size)
    position = range_variable(0) * plan.block_size + thread_id("th_x")
    slow, across = position // (plan.tile * plan.run), position % (plan.tile * plan.run)
    along, run = (across // plan.run, across % plan.run) if plan.run > 1 else (across, None)
    bounds = () if steps * plan.block_size == count else ((position, (0, count - 1)),)
    x, y = (along, slow) if fast == "x" else (slow, along)
    return _Walk((("step", steps),), x, y, run, bounds)


def _packed_walk(plan: TransposePlan, fast: str) -> _Walk:
    """Square by square while reading, word by word while writing; the last range variables count inside of these."""
    side = plan.tile // plan.packed
    th_x = thread_id("th_x")
    if fast == "x":  # a warp covers WARP / packed squares along x, and `packed` along y
        wide = min(WARP // plan.packed, side)
        squares = side * side
        steps = -(-squares // plan.block_size)
        position = range_variable(0) * plan.block_size + th_x
        lane_x, lane_y = position % wide, position // wide % plan.packed
        rest = position // (wide * plan.packed)
        across = side // wide
        square_x, square_y = rest % across * wide + lane_x, rest // across * plan.packed + lane_y
        bounds = () if steps * plan.block_size == squares else ((position, (0, squares - 1)),)
        x, y = square_x * plan.packed + range_variable(2), square_y * plan.packed + range_variable(1)
        return _Walk((("step", steps), ("row", plan.packed), ("column", plan.packed)), x, y, None, bounds)
    words = plan.tile * side
    steps = -(-words // plan.block_size)
    position = range_variable(0) * plan.block_size + th_x
    bounds = () if steps * plan.block_size == words else ((position, (0, words - 1)),)
    y = position % side * plan.packed + range_variable(1)
    return _Walk((("step", steps), ("part", plan.packed)), position // side, y, None, bounds)


def _walks(plan: TransposePlan) -> tuple[_Walk, _Walk]:
    """While reading, and while writing."""
    walk = _packed_walk if plan.packed > 1 else _walk
    return walk(plan, "x"), walk(plan, "y")


def _map(plan: TransposePlan, walk: _Walk, results: Sequence[SymbolicExpr], place: _Place) -> IndexingMap:
    return thread_map(plan.grid, plan.block, results, walk.ranges, [*place.bounds, *walk.bounds])


def kernel(computation: Computation, plan: TransposePlan, dialect: Dialect) -> Kernel:
    """The kernel: source, arguments, launch dimensions and thread maps."""
    found = match(computation)
    assert found is not None
    unit = Unit(
        dialect,
        computation,
        partition(computation, [o.instruction for o in found.side], epilogues=[found.epilogue]),
    )
    body = entry_writer(unit, plan.grid, plan.block)
    writing = _Writing(found, plan, body)
    writing.tiles()
    writing.read()
    body.writer.line("@barrier;")
    writing.write()
    size = plan.row * plan.tile
    shared = sum(size * writing.cell_bytes(hero) for hero in found.heroes)
    maps = (writing.output_maps(), writing.input_maps(computation))
    made = assembled(unit, NAME, found.heroes[0], body, outputs(computation), (plan.grid, plan.block), shared, maps)
    return replace(made, shared_accesses=writing.shared_accesses())


class _Writing:
    """Writes the two halves of the kernel's body."""

    def __init__(self, found: Match, plan: TransposePlan, body: FunctionWriter) -> None:
        self.found = found
        self.plan = plan
        self.body = body
        self.reading, self.storing = _walks(plan)

    def cell_bytes(self, hero: Instruction) -> int:
        return WORD_BYTES if self.plan.packed > 1 else c_type(hero.shape.element_type).size

    def tiles(self) -> None:
        for k, hero in enumerate(self.found.heroes):
            kind = "u32" if self.plan.packed > 1 else c_type(hero.shape.element_type).storage
            self.body.writer.line(f"@shared {kind} tile{k}[{self.plan.tile * self.plan.row}];")

    # ------------------------------------------------------------ maps

    def _maps(self, walk: _Walk) -> tuple[IndexingMap, IndexingMap]:
        """From threads to the heroes' index, and to that of their operands."""
        hero = self.found.heroes[0]
        place = _place(self.plan, walk.x, walk.y, walk.run)
        return (
            _map(self.plan, walk, _output_index(hero, self.plan, place), place),
            _map(self.plan, walk, _input_index(hero, self.plan, place), place),
        )

    def output_maps(self) -> list[IndexingMap]:
        to_hero, _ = self._maps(self.storing)
        _, to_operand = self._maps(self.reading)
        by_number = {
            o.number: compose(to_hero, m).simplify()
            for o, m in zip(self.found.after, self.found.epilogue.root_indexing, strict=True)
        }
        operand = self.found.heroes[0].operands[0].shape
        by_number |= {o.number: compose(to_operand, same_memory(operand, o.shape)).simplify() for o in self.found.side}
        return [by_number[k] for k in sorted(by_number)]

    def input_maps(self, computation: Computation) -> list[list[IndexingMap]]:
        """Of the parameters behind the heroes' operands, and those that outputs read beside the heroes."""
        _, to_operand = self._maps(self.reading)
        by_number = sorted((*self.found.after, *self.found.side), key=lambda o: o.number)
        written = zip(by_number, self.output_maps(), strict=True)
        starts = [(hero.operands[0], 0, to_operand) for hero in self.found.heroes]
        return reads_behind(
            computation, [*starts, *((o.instruction, o.leaf, m) for o, m in written)], self.found.heroes
        )

    def shared_accesses(self) -> tuple[SharedAccess, ...]:
        """Of the tiles: an element, or a word where elements are packed, at each step of the two walks."""
        reading, storing = (self._cells(walk) for walk in (self.reading, self.storing))
        return tuple(
            access
            for k, hero in enumerate(self.found.heroes)
            for access in (
                SharedAccess("store", f"tile{k}", self.cell_bytes(hero), reading),
                SharedAccess("load", f"tile{k}", self.cell_bytes(hero), storing),
            )
        )

    def _cells(self, walk: _Walk) -> IndexingMap:
        """From threads to the cell that they store while reading, or load while writing."""
        plan = self.plan
        place = _place(plan, walk.x, walk.y, walk.run)
        if plan.packed == 1:
            return _map(plan, walk, [self._cell_of(walk)], place)
        # Of a word's elements the first stands for all; squares are stored whole, beyond the edges too.
        ranges = tuple((name, 1 if name in ("row", "part") else count) for name, count in walk.ranges)
        bounds = place.bounds if walk is self.storing else ()
        return _map(plan, replace(walk, ranges=ranges), [self._cell_of(walk)], replace(place, bounds=bounds))

    def _cell_of(self, walk: _Walk) -> SymbolicExpr:
        """The cell of a tile's (x, y, run), row by row as they are stored."""
        if self.plan.packed > 1:
            return walk.x * self.plan.row + walk.y // self.plan.packed
        return walk.y * self.plan.row + self._along(walk.x, walk.run)

    # ------------------------------------------------------------ code

    def _index_at(self, m: IndexingMap, ranges: Index) -> tuple[Index, tuple[str, ...]]:
        found = self.body.mapped(m, thread_index(), ranges)
        return found.index, found.conditions

    def read(self) -> None:
        """Elements of the operands into the tile, side outputs on the way."""
        _, to_operand = self._maps(self.reading)
        if self.plan.packed > 1:
            self._read_squares(to_operand)
            return
        with each(self.body, self.reading.ranges[0][1]) as step:
            index, conditions = self._index_at(to_operand, (step,))
            with guarded(self.body, conditions):
                index = self.body.inside(index, self.found.heroes[0].operands[0].shape.dimensions)
                cell = self._at(self._cell_of(self.reading), (step,))
                for k, hero in enumerate(self.found.heroes):
                    value = self.body.read(hero.operands[0], index)
                    text = encoded(hero.shape.element_type, value.text)
                    self.body.writer.line(f"tile{k}[{cell}] = {text};")
                self._side_outputs(index)

    def _along(self, along: SymbolicExpr, run: SymbolicExpr | None) -> SymbolicExpr:
        return along if run is None else along * self.plan.run + run

    def _at(self, expression: SymbolicExpr, ranges: Index) -> str:
        return self.body.integer(expression.replace_variables([*thread_index(), *ranges]))

    def _read_squares(self, to_operand: IndexingMap) -> None:
        packed, w = self.plan.packed, self.body.writer
        kinds = [c_type(hero.shape.element_type) for hero in self.found.heroes]
        shift = 8 * WORD_BYTES // packed
        with each(self.body, self.reading.ranges[0][1]) as step:
            conditions = [
                c for e, b in self.reading.bounds for c in self._within(e.replace_variables([*thread_index(), step]), b)
            ]
            with guarded(self.body, conditions):
                for k in range(len(kinds)):
                    w.line(f"u32 square{k}[{packed}];")
                    w.line("#pragma unroll")
                    w.line(f"for (s32 q = 0; q < {packed}; ++q) square{k}[q] = 0;")
                w.line("#pragma unroll")
                with self.body.loop(packed) as row:
                    w.line("#pragma unroll")
                    with self.body.loop(packed) as column:
                        self._read_cell(to_operand, (step, row, column), shift)
                w.line("#pragma unroll")
                with self.body.loop(packed) as column:
                    cell = self._at(self._cell_of(self.reading), (step, self.body.constant(0), column))
                    for k in range(len(kinds)):
                        w.line(f"tile{k}[{cell}] = square{k}[{self.body.integer(column)}];")

    def _within(self, expression: SymbolicExpr, bounds: Bounds) -> list[str]:
        return [f"{self.body.integer(expression)} <= {bounds[1]}"]

    def _read_cell(self, to_operand: IndexingMap, ranges: Index, shift: int) -> None:
        index, conditions = self._index_at(to_operand, ranges)
        _, row, column = ranges
        with guarded(self.body, conditions):
            index = self.body.inside(index, self.found.heroes[0].operands[0].shape.dimensions)
            for k, hero in enumerate(self.found.heroes):
                value = self.body.read(hero.operands[0], index)
                bits = f"({_bits(hero)})({encoded(hero.shape.element_type, value.text)})"
                place = f"({self.body.integer(row)} * {shift})"
                self.body.writer.line(f"square{k}[{self.body.integer(column)}] |= (u32){bits} << {place};")
            self._side_outputs(index)

    def _side_outputs(self, index: Index) -> None:
        operand = self.found.heroes[0].operands[0].shape
        for output in self.found.side:
            at = self.body.mapped(same_memory(operand, output.shape), index).index
            store(self.body, output, at, self.body.read(output.instruction, at, output.leaf))

    def write(self) -> None:
        """From the tile through the epilogue to the outputs."""
        to_hero, _ = self._maps(self.storing)
        with each(self.body, self.storing.ranges[0][1]) as step:
            if self.plan.packed == 1:
                self._write_cell(to_hero, (step,))
            else:
                self.body.writer.line("#pragma unroll")
                with self.body.loop(self.plan.packed) as part:
                    self._write_cell(to_hero, (step, part))

    def _write_cell(self, to_hero: IndexingMap, ranges: Index) -> None:
        index, conditions = self._index_at(to_hero, ranges)
        with guarded(self.body, conditions):
            index = self.body.inside(index, self.found.heroes[0].shape.dimensions)
            for k, hero in enumerate(self.found.heroes):
                kind = hero.shape.element_type
                value = self.body.let(kind, decoded(kind, self._cell(k, hero, ranges)), rounds=False)
                self.body.inject(hero, index, [value])
            for output, m in zip(self.found.after, self.found.epilogue.root_indexing, strict=True):
                at = self.body.mapped(m, index).index
                with self.body.within(self.body.unit.partition.epilogues[0]):
                    value = self.body.value(output.instruction, at, output.leaf)
                store(self.body, output, at, value)

    def _cell(self, k: int, hero: Instruction, ranges: Index) -> str:
        walk = self.storing
        if self.plan.packed == 1:
            cell = self._at(self._cell_of(walk), ranges)
            return f"tile{k}[{cell}]"
        step, part = ranges
        cell = self._at(self._cell_of(walk), (step, self.body.constant(0)))
        shift = 8 * WORD_BYTES // self.plan.packed
        storage = c_type(hero.shape.element_type).storage
        return f"({storage})(tile{k}[{cell}] >> ({self.body.integer(part)} * {shift}))"


def _bits(hero: Instruction) -> str:
    return f"u{8 * c_type(hero.shape.element_type).size}"
