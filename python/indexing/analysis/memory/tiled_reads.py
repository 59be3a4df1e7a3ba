"""Coalescing of tiled kernels: the traffic of loading an operand's tile, or storing an output's.

All elements of a tile are accessed at once, except for those beyond the array. An operand's tile follows from the output's,
and from the tile of the dimensions that are reduced or contracted (see `tiling`), which by default is all of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod

from indexing._core import IndexingMap, SymbolicExpr, SymbolicMap, Variable, variable
from indexing.analysis.memory.thread_maps import thread_map
from indexing.analysis.tiling.propagation import Tile, propagate
from indexing.arguments import check_fields, integers
from indexing.errors import IndexingError, UnsupportedOp
from indexing.hlo import Computation, Instruction, Shape
from indexing.hlo.layout import delinearize
from indexing.indexing_analysis.instructions import output_to_input
from indexing.ops.operand_indexing import OperandIndexing

MAX_ELEMENTS = 1 << 16  # a tile has at most this number of elements


@dataclass(frozen=True, slots=True)
class Tiles:
    """A launch of one program for each tile of these sizes of each output; the last tiles may be partial.

    `sequential` has the tile sizes of the dimensions that an instruction reduces or contracts: a program loops over these
    tiles, and loads its operands' tiles for each. () means all of these dimensions at once.
    """

    sizes: tuple[int, ...]
    sequential: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        check_fields(self, sizes=integers, sequential=integers)
        whole = (*self.sizes, *self.sequential)
        if any(s < 1 for s in whole) or prod(whole) > MAX_ELEMENTS:
            raise IndexingError(f"a tile has sizes of at least 1, and at most {MAX_ELEMENTS} elements; got {whole}")


@dataclass(frozen=True, slots=True)
class TileLoad:
    """The tile of an array as a thread map: a thread for each element, a block for each tile. `operand` is None for an
    output.
    """

    operand: int | None
    output: int
    leaf: int
    map: IndexingMap
    threads: int
    problem: str = ""
    exact: bool = True


def tile_loads(root: Instruction | Computation, tiles: Tiles) -> Iterator[TileLoad]:
    """For each output, the store of its tile, and the loads of operands' tiles that it needs.

    Raises IndexingError for tiles of another rank than the outputs, or than the dimensions reduced or contracted.
    """
    for output, shape in enumerate(root.shape.leaves):
        if len(tiles.sizes) != shape.rank:
            raise IndexingError(
                f"output {output} of {root.name} has {shape.rank} dimensions, the tile has {len(tiles.sizes)}"
            )
        own = _own_tile(shape.rank)
        yield TileLoad(None, output, output, *_threads(own, tiles.sizes, shape.dimensions, shape))
        read_by = output_to_input(root, output)
        _check_sequential(root.name, read_by, tiles)
        for k, maps in enumerate(read_by):
            if not maps or all(m.map.is_known_empty for m in maps):
                continue
            try:
                needed = list(_tiles(f"operand {k} of {root.name}", maps, shape, tiles))
            except UnsupportedOp as error:
                yield TileLoad(k, output, 0, IndexingMap.undefined(), 0, str(error))
                continue
            for indexing, tile, extents in needed:
                sizes = (*tiles.sizes, *tiles.sequential)[: len(extents)]
                if not tile.holds(sizes):
                    yield TileLoad(k, output, 0, IndexingMap.undefined(), 0, "at these sizes, it reads no tile")
                    continue
                read = root.operands[k].shape.leaves[indexing.leaf]
                threads = _threads(tile, sizes, extents, read, shape.rank, indexing.map.runtimes)
                exact = indexing.exactness == "exact" and tile.exact and not tile.mask
                yield TileLoad(k, output, indexing.leaf, *threads, exact=exact)


def _check_sequential(name: str, read_by: Sequence[Sequence[OperandIndexing]], tiles: Tiles) -> None:
    counts = {len(m.map.ranges) for maps in read_by for m in maps if m.map.ranges}
    if tiles.sequential and counts != {len(tiles.sequential)}:
        dimensions = " or ".join(map(str, sorted(counts))) or "no"
        what = f"{name} reduces or contracts {dimensions} dimensions"
        raise IndexingError(f"{what}, the sequential tile has {len(tiles.sequential)}")


def _tiles(
    name: str, maps: Sequence[OperandIndexing], output: Shape, tiles: Tiles
) -> Iterator[tuple[OperandIndexing, Tile, tuple[int, ...]]]:
    """For each different map of an operand: its tile, over the tile of the output and of the dimensions reduced or contracted
    (if these are tiled), and the extents of these dimensions.
    """
    different: dict[IndexingMap, OperandIndexing] = {}
    for indexing in maps:
        different.setdefault(indexing.map, indexing)
    for m, indexing in different.items():
        if m.is_undefined:
            raise UnsupportedOp(f"{name}: {indexing.reason or 'nothing is known about its map'}")
        steps = m.ranges if tiles.sequential else ()
        wide = m.ranges_to_dims([m.num_dims + k for k in range(len(steps))])
        extents = (*output.dimensions, *(v.upper + 1 for v in steps))
        yield indexing, propagate(wide, extents, name), extents


def _own_tile(rank: int) -> Tile:
    sizes = SymbolicMap.identity(rank)
    ones = SymbolicMap(rank, 0, [1] * rank)
    zeros = SymbolicMap(rank, 0, [0] * rank)
    return Tile(zeros, sizes, ones, sizes, ())


def _threads(
    tile: Tile,
    sizes: Sequence[int],
    extents: Sequence[int],
    read: Shape,
    parallel: int | None = None,
    runtimes: Sequence[Variable] = (),
) -> tuple[IndexingMap, int]:
    """The map from thread, block, and the steps over dimensions after the first `parallel` ones (None: there are no others)
    to the index of the tile's element, if it lies in the array; and the number of threads.
    """
    counts, strides = tile.sizes.evaluate(sizes), tile.strides.evaluate(sizes)
    threads = prod(counts)
    numbers = [-(-n // s) for n, s in zip(extents, sizes, strict=True)]
    grid, steps = numbers[:parallel], numbers[len(numbers[:parallel]) :]
    at = [*delinearize(variable(3), grid), *(variable(6 + k) for k in range(len(steps)))]
    first = 6 + len(steps)
    places = [*(a * s for a, s in zip(at, sizes, strict=True)), *(variable(first + r) for r in range(len(runtimes)))]
    moved = [e.replace_variables(places) for e in tile.moved_offsets.results]
    inside: list[SymbolicExpr] = delinearize(variable(0), counts)
    results = [o + s * i for o, s, i in zip(moved, strides, inside, strict=True)]
    bounds = [(e, (0, n - 1)) for e, n in zip(results, read.dimensions, strict=True)]
    ranges = [(f"step{k}", count) for k, count in enumerate(steps)]
    return thread_map((prod(grid), 1, 1), (threads, 1, 1), results, ranges, bounds, runtimes), threads
