"""Tile propagation: the tile of an operand that a tile of the output needs, as functions of the output tile's sizes.

A tile is a regular grid: an offset, a size and a stride in each dimension; the output's tile begins at a multiple of its
size. An operand's tile is derived from its map, node by node (see `mixed_radix`). Conditions of divisibility are constraints
in conjunctive form: all clauses must hold, each by one of its alternatives; they are never multiplied out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from indexing._core import IndexingMap, Interval, SymbolicExpr, SymbolicMap, constant, variable
from indexing.analysis.tiling.mixed_radix import TilePropagation, independent
from indexing.analysis.tiling.sizes import Clause, holds, tilings
from indexing.arguments import integer, item, one_of, takes
from indexing.errors import UnsupportedOp
from indexing.hlo import Program
from indexing.hlo.program_like import or_function, part_of_program
from indexing.indexing_analysis.instructions import input_to_output, output_to_input
from indexing.ops.operand_indexing import OperandIndexing

__all__ = ["Clause", "Tile", "propagate_tile", "propagate_tiles", "valid_tilings"]

Direction = Literal["to operand", "to output"]


@dataclass(frozen=True, slots=True)
class Tile:
    """The tile that an output tile of sizes d0, .. needs, if `constraints` hold: some alternative of every clause.

    `sizes` and `strides` are over the output tile's sizes; so is `offsets`, for the output tile at 0, with the map's runtime
    variables as symbols. `moved_offsets` maps the offsets of any output tile, multiples of its sizes, to those of this tile.
    `mask` has the conditions under which an output index needs any element: elements of the tile for other indices (which
    may lie outside of the array) are not needed, nor are those for the part of a partial tile beyond the output. If `exact`,
    all other elements of the tile are needed; else it may cover more.
    """

    offsets: SymbolicMap
    sizes: SymbolicMap
    strides: SymbolicMap
    moved_offsets: SymbolicMap
    constraints: tuple[Clause, ...]
    exact: bool = True
    mask: tuple[tuple[SymbolicExpr, Interval], ...] = ()

    def holds(self, sizes: Sequence[int]) -> bool:
        """Whether the constraints hold for an output tile of these sizes."""
        return all(holds(clause, sizes) for clause in self.constraints)


PROPAGATED = {
    "operand": integer,
    "output": integer,
    "direction": one_of("to operand", "to output"),
}


@or_function
@takes(**PROPAGATED)
def propagate_tile(
    map_or_instruction: IndexingMap | Program,
    operand: int = 0,
    output: int = 0,
    direction: Direction = "to operand",
) -> Tile:
    """The tile of an operand that a tile of the output needs; "to output": the tile of the output that needs the operand's.

    Raises UnsupportedOp if it is read by several maps (see `propagate_tiles`), by none or by an unknown one.
    """
    tiles = propagate_tiles(map_or_instruction, operand, output, direction)
    if len(tiles) != 1:
        raise UnsupportedOp(
            f"operand {operand} of {getattr(map_or_instruction, 'name', 'the map')} is read by {len(tiles)} maps: "
            "propagate_tiles gives a tile for each"
        )
    return tiles[0]


@or_function
@takes(**PROPAGATED)
def propagate_tiles(
    map_or_instruction: IndexingMap | Program,
    operand: int = 0,
    output: int = 0,
    direction: Direction = "to operand",
) -> tuple[Tile, ...]:
    """One tile for each different map between the output and the operand; the elements needed are their union.

    Raises UnsupportedOp for a map that is undefined or known empty.
    """
    if isinstance(map_or_instruction, IndexingMap):
        m = map_or_instruction
        return (propagate(m, [d.upper + 1 for d in m.dims], "the map"),)
    i = part_of_program(map_or_instruction, "propagate_tile: map_or_instruction")
    if direction == "to operand":
        indexings = item(output_to_input(i, output), operand, f"{i.name} has", "operands")
        extents = item(i.shape.leaves, output, f"{i.name} has", "outputs").dimensions
    else:
        indexings = item(input_to_output(i, operand), output, f"{i.name} has", "outputs")
        extents = item(i.operands[operand].shape.leaves, 0, f"operand {operand} of {i.name} has", "arrays").dimensions
    name = f"operand {operand} of {i.name}"
    different: dict[IndexingMap, OperandIndexing] = {}
    for indexing in indexings:
        different.setdefault(indexing.map, indexing)
    tiles = []
    for m, indexing in different.items():
        if m.is_undefined:
            raise UnsupportedOp(f"{name}: {indexing.reason or 'nothing is known about its map'}")
        tile = propagate(m, extents, name)
        tiles.append(tile if indexing.exactness == "exact" else replace(tile, exact=False))
    return tuple(tiles)


@or_function
@takes(output=integer)
def valid_tilings(fusion: Program, output: int = 0) -> Iterator[tuple[int, ...]]:
    """The output tile sizes, from 1 to the whole dimension, at which the tiles of all operands are grids.

    They are generated lazily, the last size fastest; divisors and multiples are listed, not searched for. Raises
    UnsupportedOp if an operand's map is unknown.
    """
    part = part_of_program(fusion, "valid_tilings: fusion")
    clauses: dict[Clause, None] = {}
    for operand, maps in enumerate(output_to_input(part, output)):
        if any(not m.map.is_known_empty for m in maps):
            for tile in propagate_tiles(part, operand, output):
                clauses.update(dict.fromkeys(tile.constraints))
    sizes = part.shape.leaves[output].dimensions
    yield from tilings([max(size, 1) for size in sizes], list(clauses))


def propagate(m: IndexingMap, extents: Sequence[int], name: str) -> Tile:
    """The tile through one map; `extents` are the sizes of the array that the map's dimensions index."""
    if m.is_undefined or m.is_known_empty:
        raise UnsupportedOp(f"{name} is {m}: there is no tile")
    walk = TilePropagation(m, extents)
    tiles = [walk.result(e) for e in m.results]
    dims = m.num_dims
    moved = [s.offset for s in tiles]
    at_zero = [constant(0)] * dims
    narrowed = [
        (variable(k), v.interval)
        for k, (v, n) in enumerate(zip(m.dims, extents, strict=True))
        if v.lower > 0 or v.upper < n - 1
    ]
    moving = [v for v, interval in enumerate(walk.box) if v < dims + m.num_ranges and len(interval) > 1]
    return Tile(
        offsets=SymbolicMap(dims, m.num_runtimes, [e.replace_variables(at_zero) for e in moved]),
        sizes=SymbolicMap(dims, 0, [s.size for s in tiles]),
        strides=SymbolicMap(dims, 0, [s.stride for s in tiles]),
        moved_offsets=SymbolicMap(dims, m.num_runtimes, moved),
        constraints=tuple(walk.clauses),
        exact=walk.exact and independent(tiles, m.results, moving),
        mask=(*narrowed, *m.constraints),
    )
