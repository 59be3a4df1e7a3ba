"""Comparison of two sets of accesses by enumeration: the elements that each thread accesses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod

from indexing._core import IndexingMap
from indexing.errors import IndexingError
from indexing.kernels.ir.nodes import Kernel
from indexing.lazy import np

MAX_POINTS = 1 << 19  # all maps on one side have at most so many together
FIRST_BLOCK = 3  # the dimensions of maps from threads are three thread ids, then three block ids


def difference(old: Sequence[IndexingMap], new: Sequence[IndexingMap]) -> tuple[str, bool]:
    """A point that one list of maps has and the other has not, as text, or ""; and whether all points were enumerated: of
    kernels with many blocks, only those of the first and of the last are.
    """
    is_whole = all(sum(prod(map(len, values_of(m, {}))) for m in maps) <= MAX_POINTS for maps in (old, new))
    ends = {} if is_whole else _ends([*old, *new])
    before, after = (_points(maps, ends) for maps in (old, new))
    if (row := first_missing(after, before)) is not None:
        return f"only after it, there is {_point(row, new)}", is_whole
    lost = first_missing(before, after)
    return ("" if lost is None else f"after it, there is no {_point(lost, old)}"), is_whole


def _point(row: np.ndarray, maps: Sequence[IndexingMap]) -> str:
    dims = maps[0].num_dims
    return f"access of {row[dims:].tolist()} by {row[:dims].tolist()}"


def _ends(maps: Sequence[IndexingMap]) -> dict[int, tuple[int, int]]:
    """The first and last values of the block ids."""
    dims = range(FIRST_BLOCK, max(m.num_dims for m in maps))
    intervals = {k: [m.dims[k].interval for m in maps] for k in dims}
    return {k: (min(i.lower for i in of_block), max(i.upper for i in of_block)) for k, of_block in intervals.items()}


def values_of(m: IndexingMap, ends: Mapping[int, tuple[int, int]]) -> list[Sequence[int]]:
    """The values of each variable that are enumerated."""
    boxes = [range(v.interval.lower, v.interval.upper + 1) for v in m.variables]
    return [[x for x in sorted({*ends[k]}) if x in box] if k in ends else box for k, box in enumerate(boxes)]


def _points(maps: Sequence[IndexingMap], ends: Mapping[int, tuple[int, int]]) -> np.ndarray:
    """The rows of dimensions and results of all maps."""
    points = [rows(m, ends) for m in maps]
    return np.concatenate(points) if points else np.zeros((0, 0), np.int64)


def ends_of_grid(kernel: Kernel) -> dict[int, tuple[int, int]]:
    """The first and last values of the block ids of a kernel."""
    blocks = enumerate(kernel.variables[FIRST_BLOCK : 2 * FIRST_BLOCK], FIRST_BLOCK)
    return {k: (v.interval.lower, v.interval.upper) for k, v in blocks}


def rows(m: IndexingMap, ends: Mapping[int, tuple[int, int]]) -> np.ndarray:
    """The dimensions and results at the points of a map that is not known to be empty.

    Dimensions that are keys of `ends` have only these values.
    """
    values = values_of(m, ends)
    if prod(map(len, values)) > MAX_POINTS:
        raise IndexingError(f"{prod(map(len, values))} accesses are too many to enumerate")
    grids = [g.reshape(-1) for g in np.meshgrid(*(np.asarray(v, np.int64) for v in values), indexing="ij")]
    count = grids[0].size if grids else 1
    inside = np.ones(count, bool)
    for e, i in m.constraints:
        at = np.asarray(e.evaluate(grids))
        inside &= (at >= i.lower) & (at <= i.upper)
    columns = [*grids[: m.num_dims], *(np.asarray(e.evaluate(grids)) for e in m.results)]
    return np.stack([np.broadcast_to(c, count)[inside] for c in columns]).T  # each column is contiguous


def first_missing(a: np.ndarray, b: np.ndarray) -> np.ndarray | None:
    """The first row of `a` that is not in `b`."""
    if not a.size or np.array_equal(a, b):
        return None
    numbers = numbered(a, b) if b.size else numbered(a)
    if len(numbers) == 1:
        return np.asarray(a[0])
    own, others = map(np.sort, numbers)  # faster than a hash of each
    places = np.searchsorted(others, own)
    is_alone = (places == len(others)) | (others[np.minimum(places, len(others) - 1)] != own)
    alone = np.flatnonzero(np.isin(numbers[0], own[is_alone]))
    return a[alone[0]] if alone.size else None


def numbered(*arrays: np.ndarray) -> list[np.ndarray]:
    """The rows of several arrays as numbers, in the order of the rows: equal ones have the same number."""
    lows, highs = ([end(a, axis=0) for a in arrays if len(a)] for end in (np.min, np.max))
    low = np.min(lows, axis=0)
    sizes = (np.max(highs, axis=0) - low + 1).tolist()
    if prod(sizes) >= 1 << 63:
        _, ranks = np.unique(np.concatenate(arrays), axis=0, return_inverse=True)
        return np.split(ranks, np.cumsum([len(a) for a in arrays])[:-1])
    return [_linear(a, low.tolist(), sizes) for a in arrays]


def _linear(rows: np.ndarray, low: Sequence[int], sizes: Sequence[int]) -> np.ndarray:
    """The position of each row in the row-major box that begins at `low`."""
    number = np.zeros(len(rows), np.int64)
    for column, first, size in zip(rows.T, low, sizes, strict=True):
        number = number * size + (column - first)
    return number
