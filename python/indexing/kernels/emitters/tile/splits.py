"""Tiles of a product that several blocks share: each has some of the steps along the sum, and the last one adds their sums."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import product
from math import prod
from typing import TYPE_CHECKING, Any, TypeVar

from indexing._core import SymbolicExpr, constant
from indexing.hlo import ModuleBuilder, Shape
from indexing.hlo.layout import delinearize
from indexing.kernels.emitter import fits
from indexing.kernels.emitters.dot.match import Axis, Product
from indexing.kernels.emitters.reduction.accumulators import Accumulators, Reducer, ThreadGroup
from indexing.kernels.emitters.reduction.splits import LAST_BYTES, Splits
from indexing.kernels.knob_space import Condition, GridSizes, Knob, KnobSpace, Values
from indexing.kernels.launch import check_choice, thread_id

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from contextlib import AbstractContextManager

    from indexing.device.record import Device
    from indexing.kernels.emitters.tile.shared_tile import SharedTile, Side
    from indexing.kernels.function_builder import FunctionBuilder
    from indexing.kernels.kernel_builder import Dim3

SUM_BYTES = 4


@dataclass(frozen=True, slots=True)
class TiledPlan(ABC):
    """Knobs and launch dimensions: a block computes `tile_rows` by `tile_columns` of the product, in steps of `tile_depth`
    along the sum, with so many `stages` of shared memory; `split_k` blocks share the steps of a tile.
    """

    product: Product
    fastest: tuple[tuple[Axis, int], tuple[Axis, int]]  # of each operand: the fastest dimension, and its size
    tile_rows: int
    tile_columns: int
    tile_depth: int
    stages: int
    split_k: int

    @property
    def tiles(self) -> tuple[int, int, int]:
        """The numbers of tiles along the batch, the rows and the columns."""
        return self.product.tiles(self.tile_rows, self.tile_columns)

    @property
    def steps(self) -> int:
        """The number of steps of a block."""
        return -(-self.product.steps(self.tile_depth) // self.split_k)

    @property
    @abstractmethod
    def threads(self) -> tuple[int, int]:
        """The threads of a block, by rows and columns."""

    @property
    @abstractmethod
    def element_bytes(self) -> int:
        """The bytes of an element in shared memory."""

    @abstractmethod
    def step_seconds(self, device: Device, blocks: int) -> float:
        """The seconds in which a core that has so many blocks multiplies a step of one."""

    @abstractmethod
    def _tile(self, side: Side, free: int, reads: Axis, size: int) -> SharedTile:
        """The tile of an operand of which a block has `free` rows or columns, and in which an axis of `size` is the fastest."""

    @property
    def shared_tiles(self) -> tuple[SharedTile, SharedTile]:
        """The tiles of both operands."""
        return (
            self._tile("left", self.tile_rows, *self.fastest[0]),
            self._tile("right", self.tile_columns, *self.fastest[1]),
        )

    @property
    def grid(self) -> Dim3:
        """The blocks, in one dimension."""
        return (prod(self.tiles) * self.split_k, 1, 1)

    @property
    def block(self) -> Dim3:
        """The threads of a block, in one dimension."""
        return (prod(self.threads), 1, 1)

    @property
    def shared_bytes(self) -> int:
        """The bytes of both tiles, of each stage, and of that which tells a block that it is the last of a tile."""
        tiles = self.stages * (self.tile_rows + self.tile_columns) * self.tile_depth * self.element_bytes
        return tiles + LAST_BYTES * (self.split_k > 1)

    def seconds(self, device: Device) -> float:
        """An estimate of the time without the launch, by which defaults are chosen.

        Each step of a block waits for its loads; a core's blocks take turns on its units and on its part of the L2 cache's
        bandwidth; all operands are read from memory. The sums of blocks that share a tile are written and read, and the last
        block waits for its arrival and for them.
        """
        memory, p = device.memory, self.product
        blocks = -(-self.grid[0] // device.cores.count)
        sides, size = self.tile_rows + self.tile_columns, self.element_bytes
        loaded = sides * self.tile_depth * size * device.cores.count / memory.l2_bandwidth
        steps = self.steps * (memory.latency + blocks * (loaded + self.step_seconds(device, blocks)))
        operands = prod(p.batch) * (prod(p.rows) + prod(p.columns)) * prod(p.contracted) * size
        sums = 2 * self.grid[0] * self.tile_rows * self.tile_columns * SUM_BYTES
        shared = 2 * memory.latency + sums / memory.bandwidth if self.split_k > 1 else 0.0
        return max(steps, operands / memory.bandwidth) + shared

    def legal_splits(self, device: Device) -> tuple[int, ...]:
        """The numbers of blocks that may share a tile: each block has a step, and the device holds all blocks at once."""
        alone, cores = replace(self, split_k=1), device.cores
        if not fits(replace(self, split_k=2), device.limits):
            return (1,)
        held = cores.count * min(cores.blocks, cores.threads // self.block[0])
        return _splits(alone.steps, max(held // prod(self.tiles), 1))


@lru_cache(maxsize=4096)
def _splits(steps: int, most: int) -> tuple[int, ...]:
    """The numbers of blocks, at most so many, that share steps along a sum, none of which is without one."""
    return tuple(sorted(n for n in GridSizes(steps) if n <= most))


P = TypeVar("P", bound=TiledPlan)


def check_given(legal: Mapping[str, tuple[int, ...]], given: Sequence[int | None]) -> None:
    """Raise IndexingError for a knob that is given and not legal."""
    for (name, values), value in zip(legal.items(), given, strict=True):
        if value is not None:
            check_choice(name, value, values)


def fastest_plan(unsplit: Iterable[P], split_k: int | None, device: Device) -> P:
    """Of plans with a block for each tile, that which takes the least time, with `split_k` blocks, by default the best number.

    Raises IndexingError if no plan has that number of blocks.
    """
    given = list(unsplit)
    plans = [(p, p.legal_splits(device)) for p in given if fits(p, device.limits)] or [(p, (1,)) for p in given]
    if split_k is not None:
        check_choice("split_k", split_k, max((legal for _, legal in plans), key=len))
        plans = [(plan, (split_k,)) for plan, legal in plans if split_k in legal]
    return min((replace(p, split_k=n) for p, legal in plans for n in legal), key=lambda plan: plan.seconds(device))


def sides(product: Product, given: Sequence[int | None], legal: Sequence[int]) -> Iterator[tuple[int, int]]:
    """The sides of tiles, largest first: as `given`, else such that at most half of a tile is beyond the product."""
    most = (max(2 * prod(n) - 1, legal[0]) for n in (product.rows, product.columns))
    of_axes = [[g] if g else [n for n in reversed(legal) if n <= m] for g, m in zip(given, most, strict=True)]
    yield from ((rows, columns) for rows in of_axes[0] for columns in of_axes[1])


def tile_space(name: str, default: TiledPlan, legal: Mapping[str, tuple[int, ...]], device: Device) -> KnobSpace:
    """The space of knobs with `legal` values, `stages` the last of them, for all plans that fit a device, and of `split_k`."""
    names = (*legal, "split_k")
    unsplit: Any = replace(default, split_k=1)
    plans: dict[tuple[int, ...], TiledPlan] = {
        values: replace(unsplit, **dict(zip(legal, values, strict=True))) for values in product(*legal.values())
    }
    fitting = {values: plan for values, plan in plans.items() if fits(plan, device.limits)}
    stages: dict[tuple[int, ...], Values] = {
        values[:-1]: tuple(n for n in legal["stages"] if (*values[:-1], n) in fitting) for values in plans
    }
    splits: dict[tuple[int, ...], Values] = {values: plan.legal_splits(device) for values, plan in fitting.items()}
    choices: list[Values] = [*legal.values(), max(splits.values(), key=len)]
    return KnobSpace(
        name,
        tuple(Knob(n, values, getattr(default, n)) for n, values in zip(names, choices, strict=True)),
        (Condition("stages", names[:-2], stages), Condition("split_k", names[:-1], splits)),
    )


class SharedSums:
    """The tile of a block, its share of the steps along the sum, and the sums of its threads in the local buffer `sums`.

    The numbers of the tile and of the share have names: indices that combine them would hide that vectors are aligned.
    """

    def __init__(self, body: FunctionBuilder, plan: TiledPlan) -> None:
        """Name the numbers of the block at the insertion point."""
        self.body, self.plan = body, plan
        block, count, tiles = thread_id("bl_x"), plan.split_k, prod(plan.tiles)
        self.number, self.split = block, constant(0)
        if count > 1:
            self.number = body.named_index("tile", block // count, 0, tiles - 1)
            self.split = body.named_index("split", block % count, 0, count - 1)

    @property
    def tile(self) -> list[SymbolicExpr]:
        """The tile along the batch, the rows and the columns."""
        return delinearize(self.number, self.plan.tiles)

    def begin_of(self, step: SymbolicExpr) -> SymbolicExpr:
        """The place along the sum where a step of the block begins."""
        return (self.split * self.plan.steps + step) * self.plan.tile_depth

    def declare(self, kind: str, count: int) -> Splits:
        """Declare `count` sums of a type for each thread, zeros to begin with, and the memory that blocks share them by."""
        accumulators = Accumulators(self.body, _sum_of(kind), count, "sums")
        slots = count * self.plan.block[0]
        return Splits(self.body, self.plan.split_k, prod(self.plan.tiles), slots, [accumulators])

    def combined(self, sums: Splits) -> AbstractContextManager[None]:
        """A scope that runs once for each tile, in which its threads have the sums of all blocks."""
        return sums.combined(ThreadGroup(constant(0), 1, 1), self.number, self.split, thread_id("th_x"))


@lru_cache
def _sum_of(kind: str) -> Reducer:
    """The addition of two values of a type."""
    module = ModuleBuilder("sums")
    add = module.reducer("add", kind)
    module.entry.constant(Shape.array(kind, ()), 0)
    return Reducer(module.build().computations[add.name], (kind,), (0,))
