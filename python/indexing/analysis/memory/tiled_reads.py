"""Coalescing of a kernel that works tile by tile: what loading an operand's tile, or storing an output's, moves.

All elements of a tile move at once; elements beyond the array do not. What a tile of the operand is follows from that of the
output (see `tiling`); what is reduced or contracted runs whole.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import prod

from indexing._core import IndexingMap, SymbolicExpr, SymbolicMap, Variable, variable
from indexing.analysis.memory.thread_maps import thread_map
from indexing.analysis.tiling.propagation import Tile, propagate_tiles
from indexing.arguments import check_fields, integers
from indexing.errors import IndexingError, UnsupportedOp
from indexing.hlo import Computation, Instruction, Shape
from indexing.hlo.layout import delinearize
from indexing.indexing_analysis.instructions import output_to_input
from indexing.ops.op import leaves

MAX_ELEMENTS = 1 << 16  # of one tile


@dataclass(frozen=True, slots=True)
class Tiles:
    """A launch of one program a tile of these sizes of each output; a last tile may be partial."""

    sizes: tuple[int, ...]

    def __post_init__(self) -> None:
        check_fields(self, sizes=integers)
        if any(s < 1 for s in self.sizes) or prod(self.sizes) > MAX_ELEMENTS:
            raise IndexingError(f"a tile has sizes of 1 and more, and up to {MAX_ELEMENTS} elements; got {self.sizes}")


@dataclass(frozen=True, slots=True)
class TileLoad:
    """The tile of an array as a thread map: one thread an element, one block a tile. `operand` is None for an output."""

    operand: int | None
    output: int
    leaf: int
    map: IndexingMap
    threads: int
    problem: str = ""
    exact: bool = True


def tile_loads(root: Instruction | Computation, tiles: Tiles) -> Iterator[TileLoad]:
    """Of each output the store of its tile, and of each operand the loads that a tile of the output needs."""
    for output, shape in enumerate(leaves(root.shape)):
        if len(tiles.sizes) != shape.rank:
            raise IndexingError(
                f"output {output} of {root.name} has {shape.rank} dimensions, the tile {len(tiles.sizes)}"
            )
        own = _own_tile(shape.rank)
        yield TileLoad(None, output, output, *_threads(own, tiles.sizes, shape, shape))
        for k, maps in enumerate(output_to_input(root, output)):
            if not maps or all(m.map.is_known_empty for m in maps):
                continue
            try:
                found = propagate_tiles(root, k, output)
            except UnsupportedOp as error:
                yield TileLoad(k, output, 0, IndexingMap.undefined(), 0, str(error))
                continue
            different = {m.map: m for m in reversed(maps)}
            for tile, (m, indexing) in zip(found, reversed(different.items()), strict=True):
                if not tile.holds(tiles.sizes):
                    yield TileLoad(k, output, 0, IndexingMap.undefined(), 0, "what it reads is no tile at these sizes")
                    continue
                read = leaves(root.operands[k].shape)[indexing.leaf]
                load = TileLoad(k, output, indexing.leaf, *_threads(tile, tiles.sizes, shape, read, m.runtimes))
                yield replace(load, exact=tile.exact and not tile.mask)


def _own_tile(rank: int) -> Tile:
    sizes = SymbolicMap.identity(rank)
    ones = SymbolicMap(rank, 0, [1] * rank)
    zeros = SymbolicMap(rank, 0, [0] * rank)
    return Tile(zeros, sizes, ones, sizes, ())


def _threads(
    tile: Tile, sizes: Sequence[int], output: Shape, read: Shape, runtimes: Sequence[Variable] = ()
) -> tuple[IndexingMap, int]:
    """From thread and block to the index of the tile's element, where the array has one."""
    counts, strides = tile.sizes.evaluate(sizes), tile.strides.evaluate(sizes)
    threads = prod(counts)
    grid = [-(-n // s) for n, s in zip(output.dimensions, sizes, strict=True)]
    at = delinearize(variable(3), grid)
    places = [*(a * s for a, s in zip(at, sizes, strict=True)), *(variable(6 + r) for r in range(len(runtimes)))]
    moved = [e.replace_variables(places) for e in tile.moved_offsets.results]
    inside: list[SymbolicExpr] = delinearize(variable(0), counts)
    results = [o + s * i for o, s, i in zip(moved, strides, inside, strict=True)]
    bounds = [(e, (0, n - 1)) for e, n in zip(results, read.dimensions, strict=True)]
    return thread_map((prod(grid), 1, 1), (threads, 1, 1), results, (), bounds, runtimes), threads
