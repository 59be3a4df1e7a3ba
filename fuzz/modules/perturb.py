"""Maps against what happens: another value of one element changes no output that the maps don't name.

What changes is seen in jaxlib's results; what a map names is found by enumerating its domain, with its runtime variables
looked up in the program's values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from indexing import hlo
from indexing.indexing_analysis.computations import computation_indexing, computation_inverse
from indexing.ops.operand_indexing import OperandIndexing
from modules.compare import same
from modules.program import Tolerance, product
from modules.values import DEFINITE, TRIANGULAR, Data, random_array
from program_values import Values, all_values, points_of

Pairs = np.ndarray
Run = Callable[[Sequence[np.ndarray]], list[np.ndarray]]
MAX_POINTS = 200_000  # maps with larger domains are not enumerated
MAX_PAIRS = 4_000_000


@dataclass(frozen=True)
class Unnamed:
    """An output that changes where no map names the pair: which, with which arguments."""

    output: int
    arguments: Sequence[np.ndarray]
    what: str


class TooLarge(Exception):
    """A domain of more points than are enumerated here."""


def named(
    maps: Iterable[OperandIndexing], leaf: int, values: Values, here: Sequence[int], there: Sequence[int]
) -> Pairs:
    """Which pairs the maps name: a matrix over flat indices of an array of sizes `here` and of one of sizes `there`."""
    if product(here) * product(there) > MAX_PAIRS:
        raise TooLarge
    pairs = np.zeros((product(here), product(there)), bool)
    for m in maps:
        if m.leaf != leaf or m.map.is_known_empty:
            continue
        if m.map.is_undefined:
            pairs[:] = True
            continue
        if product([v.interval.upper - v.interval.lower + 1 for v in (*m.map.dims, *m.map.ranges)]) > MAX_POINTS:
            raise TooLarge
        dims, results = points_of(m, values)
        pairs[_flat(dims, here), _flat(results, there)] = True
    return pairs


def _flat(index: np.ndarray, sizes: Sequence[int]) -> np.ndarray:
    positions: np.ndarray = np.zeros(index.shape[1], np.int64)
    for i, size in zip(index, sizes, strict=True):
        if not ((i >= 0) & (i < size)).all():
            raise AssertionError(f"an index from {i.min()} to {i.max()} of a dimension of {size}")
        positions = positions * size + i
    return positions


class Watcher:
    """The maps of an entry, enumerated for the values of one set of arguments."""

    def __init__(self, entry: hlo.Computation, arguments: Sequence[np.ndarray]) -> None:
        with np.errstate(all="ignore"):
            self.values = all_values(entry, arguments)
        self.entry = entry
        self.sizes = [leaf.dimensions for leaf in entry.root.shape.leaves]

    def pairs(self, output: int, parameter: int) -> dict[str, np.ndarray]:
        """Pairs (output element, parameter's element) by either direction's maps, and by their pieces."""
        there, here = self.entry.parameters[parameter].shape.dimensions, self.sizes[output]
        maps = computation_indexing(self.entry, output)[parameter]
        back = computation_inverse(self.entry, parameter)[output]
        by_map = {
            "output to input": named(maps, 0, self.values, here, there),
            "input to output": named(back, 0, self.values, there, here).T,
        }
        for name, whole, turned in (("output to input", maps, False), ("input to output", back, True)):
            if any(m.pieces is not None for m in whole):
                pieces = [p for m in whole for p in (m.pieces if m.pieces is not None else (m,))]
                sides = (there, here) if turned else (here, there)
                matrix = named(pieces, 0, self.values, *sides)
                by_map[f"{name}, pieces"] = matrix.T if turned else matrix
        return by_map


def unsound(
    entry: hlo.Computation,
    run: Run,
    arguments: Sequence[np.ndarray],
    data: Sequence[tuple[str, Data]],
    tolerances: Sequence[Tolerance],
    rng: np.random.Generator,
    tries: int,
) -> Unnamed | None:
    """A pair that jaxlib's results show and a map doesn't name; None where there is none among `tries` changes."""
    watcher, before = Watcher(entry, arguments), run(arguments)
    able = [k for k, a in enumerate(arguments) if a.size]
    known: dict[tuple[int, int], dict[str, np.ndarray]] = {}
    for _ in range(tries if able else 0):
        parameter = int(rng.choice(able))
        kind, style = data[parameter]
        element = int(rng.integers(arguments[parameter].size))
        changed = _changed(arguments[parameter], element, kind, style, rng)
        given = [changed if k == parameter else a for k, a in enumerate(arguments)]
        after = run(given)
        for output, (old, new) in enumerate(zip(before, after, strict=True)):
            differs = np.flatnonzero(_differ(old, new, tolerances[output]))
            if not len(differs):
                continue
            if (output, parameter) not in known:
                known[output, parameter] = watcher.pairs(output, parameter)
            for name, pairs in known[output, parameter].items():
                missing = differs[~pairs[differs, element]]
                if len(missing):
                    what = f"output {output} at flat index {missing[0]} changes with element {element} of parameter"
                    return Unnamed(output, given, f"{what} {parameter}, which the maps don't name ({name})")
    return None


def _changed(array: np.ndarray, element: int, kind: str, style: Data, rng: np.random.Generator) -> np.ndarray:
    """The array with another value of the same kind of data in one place."""
    changed = array.copy()
    flat = changed.reshape(-1)
    if style in (DEFINITE, TRIANGULAR):  # which any other value of an element may undo
        flat[element] *= flat.dtype.type(1.0078125)
    else:
        flat[element] = random_array(kind, array.shape, style, rng).reshape(-1)[element]
    return changed


def _differ(a: np.ndarray, b: np.ndarray, tolerance: Tolerance) -> np.ndarray:
    """Which elements differ: in a bit, or in more than their tolerance, where XLA may add zeros and round as it likes."""
    if tolerance.ulps:
        return ~same(a, b, tolerance).reshape(-1)
    width = a.dtype.itemsize
    left, right = (np.ascontiguousarray(x).reshape(-1).view(np.uint8).reshape(-1, width) for x in (a, b))
    return (left != right).any(axis=1)
