"""A tiling space for a whole fusion: its dimensions, and the tile of each instruction over them.

The first output's dimensions are parallel; dimensions that an instruction reduces or contracts are added as sequential ones.
Another output joins the space if its index is a function of that of an instruction in the space, or if it has the shape of an
earlier output; otherwise its own dimensions are added.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import prod
from types import MappingProxyType
from typing import Literal, TypeAlias

from indexing._core import IndexingMap, Interval, SymbolicExpr, SymbolicMap, compose, constant, variable
from indexing.analysis.tiling.propagation import Tile, propagate
from indexing.analysis.tiling.sizes import Clause, holds, tilings
from indexing.display import shown
from indexing.errors import IndexingError, UnsupportedOp
from indexing.hlo import Instruction, Program
from indexing.hlo.program_like import or_function, part_of_program
from indexing.indexing_analysis.instructions import output_to_input
from indexing.kernels.hero import outputs
from indexing.ops.operand_indexing import OperandIndexing, map_over

Array: TypeAlias = tuple[Instruction, int]  # an instruction and the number of its array
MAX_MAPS = 64  # an array has at most this number of maps


@dataclass(frozen=True, slots=True)
class TileDimension:
    """A dimension of a tiling space: one of `instruction`'s output, or the `number`-th that it reduces or contracts.

    Tiles along a parallel dimension are independent; tiles along a sequential one are accumulated.
    """

    size: int
    kind: Literal["parallel", "sequential"]
    instruction: Instruction
    number: int


@dataclass(frozen=True, slots=True)
class TilingSpace:
    """Tiles of all instructions, over the sizes of a tile of the space: dimension k has the tile size `dk`.

    `roots` has the tile of each output, `tiles` those of each array that is computed or read, by the instruction and the
    array's number: several if it is read at several indices. All hold if every clause of `constraints` does. `unknown`
    lists the instructions whose tiles are unknown, with the reason.
    """

    dimensions: tuple[TileDimension, ...]
    roots: tuple[Tile, ...]
    tiles: Mapping[Array, tuple[Tile, ...]]
    constraints: tuple[Clause, ...]
    unknown: tuple[tuple[Instruction, str], ...] = ()

    def holds(self, sizes: Sequence[int]) -> bool:
        """Whether the constraints hold for a tile of these sizes."""
        return all(holds(clause, sizes) for clause in self.constraints)

    def valid_tilings(self) -> Iterator[tuple[int, ...]]:
        """The tile sizes of the space at which the constraints hold, lazily, the last size fastest."""
        return tilings([max(d.size, 1) for d in self.dimensions], self.constraints)

    def __repr__(self) -> str:
        """The dimensions, and the number of arrays with tiles."""
        sizes = ", ".join(f"d{k} of {d.size} ({d.kind})" for k, d in enumerate(self.dimensions))
        return f"<tiling space: {sizes or 'no dimensions'}; tiles of {len(self.tiles)} arrays>"

    def _repr_html_(self) -> str | None:
        return shown(self, "tiles_table")


@or_function
def tiling_space(target: Program) -> TilingSpace:
    """The space of a fusion (or computation), or of one other instruction alone.

    Raises UnsupportedOp if an array is read at more than 64 different indices, or an instruction's operands are contracted
    along different dimensions.
    """
    part = part_of_program(target, "tiling_space: target")
    inside = part.called[0] if isinstance(part, Instruction) and part.is_fusion else part
    space = _Space({inside} if isinstance(inside, Instruction) else set(inside.instructions.values()))
    if isinstance(inside, Instruction):
        for leaf in range(len(inside.shape.leaves)):
            space.add_root((inside, leaf))
    else:
        for output in outputs(inside):
            space.add_root((output.instruction, output.leaf))
    return space.finished()


@dataclass
class _Space:
    """The space under construction; maps lead from its dimensions at the time to the index of an array."""

    cluster: set[Instruction]
    dimensions: list[TileDimension] = field(default_factory=list)
    sequential: dict[Instruction, int] = field(default_factory=dict)  # the first sequential dimension of an instruction
    maps: dict[Array, dict[IndexingMap, OperandIndexing]] = field(default_factory=dict)
    roots: list[tuple[Array, IndexingMap]] = field(default_factory=list)
    unknown: dict[Instruction, str] = field(default_factory=dict)

    def add_root(self, root: Array) -> None:
        """Add an output to the space, and propagate its map to all instructions that it depends on."""
        m = self._joined(root)
        if m is None or not self._tile(m, root).exact:  # a stored tile must hold exactly the elements that are computed
            m = self._with_dimensions(root)
        self.roots.append((root, m))
        self._propagate({root: {m: OperandIndexing(m)}})

    # ------------------------------------------------------------ outputs

    def _with_dimensions(self, root: Array) -> IndexingMap:
        first, sizes = len(self.dimensions), _sizes(root)
        self.dimensions += [TileDimension(n, "parallel", root[0], k) for k, n in enumerate(sizes)]
        return self._map([variable(first + k) for k in range(len(sizes))])

    def _joined(self, root: Array) -> IndexingMap | None:
        """A map from the space onto the output; None if it needs dimensions of its own."""
        for m in self.maps.get(root, ()):
            if self._is_whole(m, root):
                return self._widened(m)
        for array, to_array in _below(root, self.cluster):
            for m in self.maps.get(array, ()):
                joined = self._through(m, to_array, root)
                if joined is not None:
                    return joined
        same = [m for other, m in self.roots if _sizes(other) == _sizes(root)]
        return self._widened(same[0]) if same else None

    def _through(self, m: IndexingMap, to_array: IndexingMap, root: Array) -> IndexingMap | None:
        """The map from the space to the output through an array, if the array's index determines the output's."""
        rank = len(_sizes(root))
        back = to_array.ranges_to_dims([v.name for v in to_array.ranges if v.name is not None]).inverse()
        if back.ranges or back.runtimes or back.is_known_empty:
            return None
        only_root = SymbolicMap(back.num_dims, 0, back.results[:rank])
        up = IndexingMap(only_root, back.dims, [], [], back.constraints)
        joined = compose(self._widened(m), up).simplify()
        if not self._is_whole(joined, root):
            return None
        gone = _used(m) - _used(joined)  # the output is accumulated over these
        for d in gone:
            self.dimensions[d] = replace(self.dimensions[d], kind="sequential")
        return joined

    def _is_whole(self, m: IndexingMap, root: Array) -> bool:
        if m.runtimes or m.constraints:
            return False
        try:
            return m.image_count() == prod(_sizes(root))
        except IndexingError:
            return False

    # ------------------------------------------------------------ propagation to operands

    def _propagate(self, reached: dict[Array, dict[IndexingMap, OperandIndexing]]) -> None:
        order = [i for i in next(iter(reached))[0].computation.post_order()[::-1] if i in self.cluster]
        for i in order:
            for leaf in range(len(i.shape.leaves)):
                new = reached.pop((i, leaf), {})
                known = self.maps.setdefault((i, leaf), {}) if new else {}
                fresh = {m: o for m, o in new.items() if m not in known}
                known.update(fresh)
                if len(known) > MAX_MAPS:
                    raise UnsupportedOp(f"{i.name} is read at more than {MAX_MAPS} different indices")
                for m, indexing in fresh.items():
                    self._to_operands(i, leaf, m, indexing, reached)
        for array, maps in reached.items():  # arrays from outside of the cluster
            self.maps.setdefault(array, {}).update(maps)

    def _to_operands(
        self,
        i: Instruction,
        leaf: int,
        m: IndexingMap,
        indexing: OperandIndexing,
        known: dict[Array, dict[IndexingMap, OperandIndexing]],
    ) -> None:
        if i.is_parameter or not i.operands:
            return
        read = output_to_input(i, leaf)
        self._add_sequential(i, [o for operand in read for o in operand])
        for operand, maps in zip(i.operands, read, strict=True):
            for own in maps:
                if own.map.is_undefined or indexing.exactness == "unknown":
                    self.unknown.setdefault(operand, own.reason or indexing.reason)
                    continue
                composed = compose(self._with_sequential(i, m, len(own.map.ranges)), _without_ranges(own.map))
                composed = composed.simplify()
                exact = "exact" in (indexing.exactness, own.exactness) and indexing.exactness == own.exactness
                reached = (
                    OperandIndexing(composed) if exact else replace(own, map=composed, exactness="over-approximate")
                )
                if not composed.is_known_empty:
                    known.setdefault((operand, own.leaf), {}).setdefault(composed, reached)

    def _add_sequential(self, i: Instruction, read: Sequence[OperandIndexing]) -> None:
        """Add the dimensions that an instruction reduces or contracts; they are the ranges of all of its operands' maps."""
        widths = [tuple(v.interval for v in o.map.ranges) for o in read if not o.map.is_undefined and o.map.ranges]
        if not widths or i in self.sequential:
            return
        if len(set(widths)) > 1 or any(v.lower != 0 for v in widths[0]):
            raise UnsupportedOp(f"the operands of {i.name} are read along different dimensions: it has no tile")
        self.sequential[i] = len(self.dimensions)
        self.dimensions += [TileDimension(len(v), "sequential", i, k) for k, v in enumerate(widths[0])]

    def _with_sequential(self, i: Instruction, m: IndexingMap, count: int) -> IndexingMap:
        """The index of an instruction, followed by that of the dimensions that it reduces."""
        wide = self._widened(m)
        first = self.sequential.get(i, 0)
        results = [*wide.results, *(variable(first + k) for k in range(count))]
        return map_over(results, wide.dims, [], wide.runtimes, wide.constraints)

    def _whole_tiles(self, m: IndexingMap) -> Iterator[Clause]:
        """Clauses that forbid partial tiles along dimensions from which an output's index is computed, not just taken: a
        partial tile would have other elements.
        """
        plain = {e.variable_index for e in m.results}
        for d in sorted(_used(m) - plain):
            size = self.dimensions[d].size
            yield ((constant(size) % variable(d), Interval(0, 0)), (variable(d), Interval(size, size)))

    # ------------------------------------------------------------ maps over the space

    def _map(self, results: Sequence[SymbolicExpr]) -> IndexingMap:
        return map_over(results, [Interval(0, max(d.size, 1) - 1) for d in self.dimensions])

    def _widened(self, m: IndexingMap) -> IndexingMap:
        """The map over all current dimensions of the space."""
        if m.num_dims == len(self.dimensions):
            return m
        return compose(self._map([variable(k) for k in range(m.num_dims)]), m).simplify()

    def _tile(self, m: IndexingMap, array: Array) -> Tile:
        return propagate(self._widened(m), [d.size for d in self.dimensions], array[0].name)

    def finished(self) -> TilingSpace:
        """The tiles of all arrays."""
        clauses: dict[Clause, None] = {}

        def tile(m: IndexingMap, array: Array, indexing: OperandIndexing | None = None) -> Tile:
            shape = self._tile(m, array)
            clauses.update(dict.fromkeys(shape.constraints))
            return shape if indexing is None or indexing.exactness == "exact" else replace(shape, exact=False)

        roots = tuple(tile(m, root) for root, m in self.roots)
        clauses.update(dict.fromkeys(clause for _, m in self.roots for clause in self._whole_tiles(m)))
        tiles = {
            array: tuple(tile(m, array, indexing) for m, indexing in maps.items())
            for array, maps in self.maps.items()
            if maps
        }
        return TilingSpace(
            tuple(self.dimensions), roots, MappingProxyType(tiles), tuple(clauses), tuple(self.unknown.items())
        )


def _sizes(array: Array) -> tuple[int, ...]:
    return array[0].shape.leaves[array[1]].dimensions


def _used(m: IndexingMap) -> set[int]:
    return {v for e in m.results for v in e.used_variables() if v < m.num_dims}


def _without_ranges(m: IndexingMap) -> IndexingMap:
    """The map with its ranges, the reduced dimensions, as further dimensions."""
    return m.ranges_to_dims([v.name for v in m.ranges if v.name is not None])


def _below(root: Array, cluster: set[Instruction]) -> Iterator[tuple[Array, IndexingMap]]:
    """The arrays that an output reads at one index each, nearest first, with the maps to them."""
    pending = [(root, IndexingMap.identity(_sizes(root)))]
    seen = {root}
    while pending:
        (i, leaf), m = pending.pop(0)
        if i not in cluster or i.is_parameter:
            continue
        for operand, maps in zip(i.operands, output_to_input(i, leaf), strict=True):
            if len(maps) != 1 or maps[0].exactness != "exact" or maps[0].map.runtimes:
                continue
            array = (operand, maps[0].leaf)
            to_array = compose(m, maps[0].map).simplify()
            if array not in seen and not to_array.is_known_empty and not to_array.constraints:
                seen.add(array)
                pending.append((array, to_array))
                yield array, to_array
