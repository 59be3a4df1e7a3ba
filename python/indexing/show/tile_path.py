"""The path of a tile through a fusion: the part of each array, computed or read, that one tile of the output needs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, groupby, pairwise
from math import ceil, prod
from typing import TypeAlias

from indexing.analysis.tiling.propagation import Tile
from indexing.analysis.tiling.space import Array, TilingSpace, tiling_space
from indexing.arguments import integers, optional, takes
from indexing.display import count_text
from indexing.errors import IndexingError
from indexing.hlo import Instruction, Program, Shape
from indexing.hlo.program_like import or_function, part_of_program
from indexing.kernels.hero import outputs
from indexing.show.cells import Cell, Panel, list_in_words
from indexing.show.picture import Picture

#: For each row or column of a panel, its first index, and the one behind its last.
Cuts: TypeAlias = list[tuple[int, int]]

MAX_ROWS, MAX_COLUMNS = 12, 24  # cells of the largest array; in all arrays, a cell represents as many elements
LABELLED = 4  # columns of cells between two whose numbers are written
MAX_ARRAYS = 60
MAX_DEFAULT_SIZE = 32  # by default a tile is at most so large along a dimension
WHOLE, ROOT = "#2f6fbb", "#c46210"  # the colours of cells that the tile covers, in arrays and in outputs


@dataclass(frozen=True, slots=True)
class Part:
    """The part of an array in a tile: the indices that it covers along each dimension, without those outside of the array.

    If `exact`, each of these elements is needed; otherwise some may not be.
    """

    array: Array
    indices: tuple[range, ...]
    exact: bool

    @property
    def shape(self) -> Shape:
        """The array's shape."""
        return self.array[0].shape.leaves[self.array[1]]

    def __str__(self) -> str:
        """The part as slices: `[0:8, 4:20:2]`."""
        return (
            "[" + ", ".join(f"{s.start}:{s.stop}" + (f":{s.step}" if s.step != 1 else "") for s in self.indices) + "]"
        )


@dataclass(frozen=True, slots=True)
class TilePath:
    """One tile of a tiling space, with its sizes, and the part of each array that it covers."""

    space: TilingSpace
    sizes: tuple[int, ...]
    parts: tuple[Part, ...]


@or_function
@takes(sizes=optional(integers), numbers=optional(integers))
def follow_tile(target: Program, sizes: Sequence[int] | None = None, numbers: Sequence[int] | None = None) -> TilePath:
    """The part of each array that one tile of a fusion's tiling space covers, from outputs to inputs.

    `sizes` are those of the tile along the space's dimensions (see `tiling_space`); at the end, dimensions may be left out,
    which are then not divided. None means a tile of moderate size. `numbers` are the tile's numbers along the dimensions
    (default: 0). Raises IndexingError for sizes that are not legal, and for numbers beyond the last tile.
    """
    space = tiling_space(target)
    extents = [max(d.size, 1) for d in space.dimensions]
    asked = _default_tile(space) if sizes is None else sizes
    whole = [*asked, *extents[len(asked) :]]
    _check(space, whole, extents)
    starts = _starts(whole, numbers or (), extents)
    clipped = [min(s, extent - start) for s, start, extent in zip(whole, starts, extents, strict=True)]
    known = clipped if space.holds(clipped) else whole
    parts = []
    made = _results_of_target(target)
    for array, tiles in space.tiles.items():
        for tile in tiles if array[0] in made or not array[0].is_constant else ():
            exact = tile.exact and not tile.mask and known == clipped
            parts.append(Part(array, _covered_indices(tile, array[0].shape.leaves[array[1]], starts, known), exact))
    return TilePath(space, tuple(whole), tuple(dict.fromkeys(parts)))


def _starts(sizes: Sequence[int], numbers: Sequence[int], extents: Sequence[int]) -> list[int]:
    """The start of the tile with these numbers, which are 0 along dimensions that are left out."""
    chosen = [*numbers, *([0] * (len(sizes) - len(numbers)))]
    starts = [n * s for n, s in zip(chosen, sizes, strict=False)]
    beyond = [k for k, (start, n) in enumerate(zip(starts, extents, strict=True)) if not 0 <= start < n]
    if beyond or len(chosen) > len(sizes):
        raise IndexingError(f"there is no tile {chosen} of {list(sizes)} in a space of {list(extents)}")
    return starts


def _default_tile(space: TilingSpace) -> Sequence[int]:
    """The default sizes: up to MAX_DEFAULT_SIZE along the last two parallel dimensions, and whole dimensions that are
    accumulated; smaller sizes if these are not legal, and the whole space if no smaller ones are.
    """
    parallel = [k for k, d in enumerate(space.dimensions) if d.kind == "parallel"]
    whole = [max(d.size, 1) for d in space.dimensions]
    size = MAX_DEFAULT_SIZE
    while size:
        sizes = [min(size if k in parallel[-2:] else 1, n) if k in parallel else n for k, n in enumerate(whole)]
        if space.holds(sizes):
            return sizes
        size //= 2
    return whole


def _check(space: TilingSpace, sizes: Sequence[int], extents: Sequence[int]) -> None:
    if len(sizes) != len(extents) or any(not 1 <= s <= n for s, n in zip(sizes, extents, strict=False)):
        kinds = ", ".join(f"{d.size} ({d.kind})" for d in space.dimensions)
        raise IndexingError(f"a tile has a size from 1 along each dimension of the space: {kinds}; got {list(sizes)}")
    if not space.holds(sizes):
        valid = next(iter(space.valid_tilings()), None)
        raise IndexingError(f"sizes {list(sizes)} are no tiles of all that is computed; {list(valid or ())} are")


def _covered_indices(tile: Tile, shape: Shape, starts: Sequence[int], sizes: Sequence[int]) -> tuple[range, ...]:
    """The indices covered along each dimension, for the least runtime values."""
    offsets = tile.moved_offsets.evaluate(starts, [0] * tile.moved_offsets.num_symbols)
    bounds = zip(offsets, tile.sizes.evaluate(sizes), tile.strides.evaluate(sizes), shape.dimensions, strict=True)
    return tuple(_inside(int(offset), int(count), int(stride), extent) for offset, count, stride, extent in bounds)


def _inside(offset: int, count: int, stride: int, extent: int) -> range:
    """The indices that lie in the array, ascending."""
    indices = range(offset, offset + count * stride, stride) if stride else range(offset, offset + 1)
    low, high, step = min(indices[0], indices[-1]), max(indices[0], indices[-1]), max(abs(stride), 1)
    low += max(-(low // step) * step, 0)
    return range(low, min(high, extent - 1) + 1, step)


def covered(indices: Sequence[range], sizes: Sequence[int], stop: int) -> int:
    """The number of the array's first `stop` elements, row by row, that lie in the indices."""
    rest = list(accumulate((len(s) for s in reversed(indices)), int.__mul__, initial=1))[::-1]
    count = 0
    for d, span in enumerate(indices):
        below = prod(sizes[d + 1 :])
        digit, stop = divmod(stop, max(below, 1))
        count += len(range(span.start, min(span.stop, digit), span.step)) * rest[d + 1]
        if digit not in span:
            return count
    return count + stop


@or_function
def tile_picture(target: Program, sizes: Sequence[int] | None = None, numbers: Sequence[int] | None = None) -> Picture:
    """A panel for each array, operands above their readers: elements that the tile needs are blue, those it computes orange.

    Rows of a panel are indices of all dimensions but the last, columns those of the last. If there are more than a panel
    shows, a cell represents several, and is darker the more of them the tile covers. Arguments are those of `follow_tile`.
    """
    path = follow_tile(target, sizes, numbers)
    by_array: dict[Array, list[Part]] = {}
    for part in path.parts:
        by_array.setdefault(part.array, []).append(part)
    shown = list(by_array)[:MAX_ARRAYS]
    levels = _levels(shown)
    made = _results_of_target(target)
    scale = _scale([by_array[array][0].shape for array in shown])
    panels = tuple(
        _panel(by_array[array], levels[array], k, ROOT if array[0] in made else WHOLE, scale)
        for k, array in enumerate(shown)
    )
    tile, whole = (" x ".join(map(str, of)) for of in (path.sizes, (d.size for d in path.space.dimensions)))
    note = f"tile {tile} of {whole}" if path.sizes else "one element"
    note += f"; a cell is {count_text(scale[0], 'row')} by {count_text(scale[1], 'column')}" if max(scale) > 1 else ""
    left_out = len(by_array) - len(shown)
    note += f"; {left_out} arrays left out" if left_out else ""
    unknown = [f"{i.name} ({why})" for i, why in path.space.unknown]
    note += f"; nothing is known of {list_in_words(unknown, 2)}" if unknown else ""
    title = f"A tile's way through {getattr(target, 'name', 'the program')}"
    return Picture(title, note, panels, tuple(_arrows(shown)))


def _results_of_target(target: Program) -> set[Instruction]:
    """The instructions whose values are results of the target."""
    part = part_of_program(target, "tile_picture: target")
    inside = part.called[0] if isinstance(part, Instruction) and part.is_fusion else part
    return {inside} if isinstance(inside, Instruction) else {output.instruction for output in outputs(inside)}


def _arrows(shown: Sequence[Array]) -> Iterator[tuple[int, int]]:
    """The arrows from each array to those that read it."""
    for a, (operand, _) in enumerate(shown):
        for b, (user, _) in enumerate(shown):
            if operand in user.operands:
                yield a, b


def _levels(shown: Sequence[Array]) -> dict[Array, int]:
    """The row of panels of each array: directly above the highest of its users."""
    drawn = {i for i, _ in shown}
    height: dict[Instruction, int] = {}
    for i in reversed(list(next(iter(drawn)).computation.instructions.values())):
        if i in drawn:
            height[i] = max((height[u] + 1 for u in i.users if u in height), default=0)
    highest = max(height.values())
    return {array: highest - height[array[0]] for array in shown}


def _scale(shapes: Sequence[Shape]) -> tuple[int, int]:
    """The rows and columns of elements that a cell represents, the same in all arrays."""
    rows = max(prod(shape.dimensions[:-1]) for shape in shapes)
    columns = max(shape.dimensions[-1] if shape.dimensions else 1 for shape in shapes)
    return _power_of_two(rows / MAX_ROWS), _power_of_two(columns / MAX_COLUMNS)


def _power_of_two(least: float) -> int:
    """The least power of two that is as great."""
    return 1 << max(ceil(least) - 1, 0).bit_length()


def _panel(parts: Sequence[Part], level: int, number: int, colour: str, scale: tuple[int, int]) -> Panel:
    """The panel of an array, with axes; the colour of a cell is the covered share of its elements."""
    i, shape = parts[0].array[0], parts[0].shape
    *leading, columns = shape.dimensions or (1,)
    row_cuts, column_cuts = _run_bounds(prod(leading), scale[0]), _run_bounds(columns, scale[1])
    shares = [_shares(part, leading, columns, row_cuts, column_cuts) for part in parts]
    cells = []
    for r, (top, bottom) in enumerate(row_cuts):
        of_row = [max(of[r][c] for of in shares) for c in range(len(column_cuts))]
        for share, (first, last) in _runs(of_row):
            columns_shown = f"columns {column_cuts[first][0]}:{column_cuts[last][1]}"
            title = f"{i.name}, rows {top}:{bottom}, {columns_shown}: {share:.0%} in the tile"
            cells.append(
                Cell(r, first, f"a{number}r{r}c{first}", "", title, _shade(colour, share), (), last - first + 1)
            )
    tiles = list_in_words([f"{part}{'' if part.exact else ' at most'}" for part in parts], 3)
    rows = tuple(str(start) for start, _ in row_cuts)
    across = tuple("" if k % LABELLED else str(start) for k, (start, _) in enumerate(column_cuts))
    return Panel(f"{i.name}: {shape} {tiles}", rows, across, tuple(cells), level)


def _shares(part: Part, leading: Sequence[int], columns: int, row_cuts: Cuts, column_cuts: Cuts) -> list[list[float]]:
    """The share of each cell's elements that a tile covers."""
    indices = part.indices or (range(1),)

    def along(cuts: Cuts, indices: Sequence[range], sizes: Sequence[int]) -> list[float]:
        return [(covered(indices, sizes, end) - covered(indices, sizes, start)) / (end - start) for start, end in cuts]

    rows, across = along(row_cuts, indices[:-1], leading), along(column_cuts, indices[-1:], [columns])
    return [[row * column for column in across] for row in rows]


def _run_bounds(size: int, length: int) -> Cuts:
    """The bounds of runs of so many indices; the last may be shorter."""
    return list(pairwise([*range(0, size, length), size]))


def _runs(shares: Sequence[float]) -> Iterator[tuple[float, tuple[int, int]]]:
    """Runs of adjacent cells with equal shares above 0."""
    for share, run in groupby(range(len(shares)), key=shares.__getitem__):
        places = list(run)
        if share:
            yield share, (places[0], places[-1])


def _shade(colour: str, share: float) -> str:
    """The colour, the more transparent the smaller the share; the least is still visible."""
    return f"{colour}{round(255 * (0.2 + 0.8 * share)):02x}"
