"""Tiles of a product that several blocks share: each has some of the steps along the sum, and the last one adds their sums."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import product
from math import inf, prod
from typing import Any, TypeVar, cast

from indexing._core import SymbolicExpr, constant
from indexing.device.record import Device
from indexing.hlo import ModuleBuilder, Shape
from indexing.hlo.layout import delinearize
from indexing.kernels.emitter import fits
from indexing.kernels.emitters.dot.match import Axis, Product
from indexing.kernels.emitters.reduction.accumulators import Accumulators, Reducer, ThreadGroup
from indexing.kernels.emitters.reduction.splits import LAST_BYTES, Splits
from indexing.kernels.emitters.tile.shared_tile import SharedTile, Side
from indexing.kernels.function_builder import FunctionBuilder
from indexing.kernels.kernel_builder import Dim3
from indexing.kernels.knob_space import Condition, GridSizes, Knob, KnobSpace, Values, nested_space
from indexing.kernels.launch import thread_id

SUM_BYTES = 4
MAX_GROUPED = 16  # rows of tiles by turns: about a square of the tiles that run at once


@dataclass(frozen=True, slots=True)
class TiledPlan(ABC):
    """Knobs and launch dimensions: a block computes `tile_rows` by `tile_columns` of the product, in steps of `tile_depth`
    along the sum, with so many `stages` of shared memory; `split_k` blocks share the steps of a tile. Tiles are in the order of
    columns, those of `group_rows` rows by turns, so that blocks that run at once read few rows and columns.
    """

    product: Product
    fastest: tuple[tuple[Axis, int], tuple[Axis, int]]  # of each operand: the fastest dimension, and its size
    tile_rows: int
    tile_columns: int
    tile_depth: int
    stages: int
    split_k: int
    group_rows: int

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
    def registers(self) -> int:
        """An estimate of the registers of a thread; 0: they limit nothing."""
        return 0

    @property
    @abstractmethod
    def element_bytes(self) -> int:
        """The bytes of an element in shared memory."""

    @abstractmethod
    def steps_seconds(self, device: Device) -> float:
        """The seconds of all steps, if no wave of blocks waits for memory."""

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

    def block_order(self) -> SymbolicExpr:
        """The number of the block that does the work of block `bl_x` where the rows of tiles are not grouped."""
        (batch, rows, columns), by_turns, count = self.tiles, self.group_rows, self.split_k
        block = thread_id("bl_x")
        number, group, column, turn = delinearize(block // count, (batch, rows // by_turns, columns, by_turns))
        return ((number * rows + group * by_turns + turn) * columns + column) * count + block % count

    @property
    def shared_bytes(self) -> int:
        """The bytes of both tiles, of each stage, and of that which tells a block that it is the last of a tile."""
        tiles = self.stages * (self.tile_rows + self.tile_columns) * self.tile_depth * self.element_bytes
        return tiles + LAST_BYTES * (self.split_k > 1)

    def seconds(self, device: Device) -> float:
        """An estimate of the time without the launch, by which defaults are chosen.

        What a wave of blocks reads comes from memory once.
        """
        read = self.read_bytes(device) / device.memory.bandwidth
        return max(self.steps_seconds(device), read) + self._shared_seconds(device)

    def least_seconds(self, device: Device) -> float:
        """The seconds with the best `group_rows`, at least: if nothing waits for what it reads."""
        return self.steps_seconds(device) + self._shared_seconds(device)

    def _shared_seconds(self, device: Device) -> float:
        """The seconds in which the sums of blocks that share a tile are written and read; the last block waits for its arrival
        and for them.
        """
        memory = device.memory
        sums = 2 * self.grid[0] * self.tile_rows * self.tile_columns * SUM_BYTES
        return 2 * memory.latency + sums / memory.bandwidth if self.split_k > 1 else 0.0

    def loaded_seconds(self, device: Device) -> float:
        """The seconds in which the tiles of a step come from the L2 cache, if all cores load at once."""
        loaded = (self.tile_rows + self.tile_columns) * self.tile_depth * self.element_bytes
        return loaded * device.cores.count / device.memory.l2_bandwidth

    def read_bytes(self, device: Device) -> float:
        """An estimate of the bytes of the operands that memory moves: an operand that fits into the L2 cache once, of others
        what each wave of blocks reads.
        """
        p, (batch, rows, columns) = self.product, self.tiles
        held = min(self.held(device), rows * columns)
        rows_of_wave = max(min(self.group_rows, held), held / columns)
        waves = rows * columns / held
        whole = prod(p.rows), prod(p.columns)
        of_waves = waves * rows_of_wave * self.tile_rows, waves * held / rows_of_wave * self.tile_columns
        line = prod(p.contracted) * self.element_bytes
        kept = device.memory.l2_bytes / line
        return batch * line * sum(w if w <= kept else max(w, n) for w, n in zip(whole, of_waves, strict=True))

    def held(self, device: Device) -> int:
        """The blocks that the device holds at once."""
        cores, threads = device.cores, self.block[0]
        held = [cores.blocks, cores.threads // threads]
        if cores.registers and self.registers:
            held.append(cores.registers // (threads * self.registers))
        if cores.shared_bytes:
            held.append(cores.shared_bytes // (self.shared_bytes + device.limits.reserved_shared_bytes))
        return cores.count * max(min(held), 1)

    def legal_splits(self, device: Device) -> tuple[int, ...]:
        """The numbers of blocks that may share a tile: each block has a step, and the device holds all blocks at once."""
        if not is_legal(replace(self, split_k=2), device):
            return (1,)
        return _splits(replace(self, split_k=1).steps, max(self.held(device) // prod(self.tiles), 1))

    def legal_groups(self, device: Device) -> tuple[int, ...]:
        """The numbers of rows of tiles by turns: those that divide all rows; none but 1 where all tiles run at once."""
        _, rows, columns = self.tiles
        most = MAX_GROUPED if rows * columns > self.held(device) and columns > 1 else 1
        return tuple(n for n in range(1, most + 1) if rows % n == 0)


@lru_cache(maxsize=4096)
def _splits(steps: int, most: int) -> tuple[int, ...]:
    """The numbers of blocks, at most so many, that share steps along a sum, none of which is without one."""
    return tuple(sorted(n for n in GridSizes(steps) if n <= most))


P = TypeVar("P", bound=TiledPlan)


def is_legal(plan: TiledPlan, device: Device) -> bool:
    """Whether a plan can be launched, with the registers that it needs."""
    return fits(plan, device.limits) and plan.registers * plan.block[0] <= device.limits.registers


def fastest_plan(unsplit: Iterable[P], split_k: int | None, group_rows: int | None, device: Device) -> P:
    """Of plans with a block for each tile, in order, that which takes the least time, with `split_k` blocks and `group_rows`,
    by default the best numbers.
    """
    return cast(P, _fastest(tuple(unsplit), split_k, group_rows, device))


@lru_cache(maxsize=1024)
def _fastest(given: tuple[TiledPlan, ...], split_k: int | None, group_rows: int | None, device: Device) -> TiledPlan:
    """`fastest_plan`, once for equal plans: the layers of a model have equal products."""
    plans = [(p, p.legal_splits(device)) for p in given if is_legal(p, device)] or [(p, (1,)) for p in given]
    if split_k is not None:
        plans = [(plan, (split_k,)) for plan, legal in plans if split_k in legal] or [(p, (split_k,)) for p, _ in plans]
    split = [replace(p, split_k=n) for p, legal in plans for n in legal]
    if group_rows is not None:
        split = [p for p in split if group_rows in p.legal_groups(device)] or split
    best, chosen = (inf, inf, 0), split[0]
    for least, place in sorted((p.least_seconds(device), place) for place, p in enumerate(split)):
        if least > best[0]:
            break
        for n in split[place].legal_groups(device) if group_rows is None else (group_rows,):
            plan = replace(split[place], group_rows=n)
            cost = plan.seconds(device), plan.read_bytes(device), place
            if cost < best:
                best, chosen = cost, plan
    return chosen


def sides(product: Product, given: Sequence[int | None], legal: Sequence[int]) -> Iterator[tuple[int, int]]:
    """The sides of tiles, largest first: as `given`, else such that at most half of a tile is beyond the product."""
    most = (max(2 * prod(n) - 1, legal[0]) for n in (product.rows, product.columns))
    of_axes = [[g] if g else [n for n in reversed(legal) if n <= m] for g, m in zip(given, most, strict=True)]
    yield from ((rows, columns) for rows in of_axes[0] for columns in of_axes[1])


def tile_space(name: str, default: TiledPlan, legal: Mapping[str, tuple[int, ...]], device: Device) -> KnobSpace:
    """The space of knobs with `legal` values, `stages` the last of them, for all plans that fit a device, of `split_k` and
    `group_rows`.
    """
    return _tile_space(name, default, tuple(legal.items()), device)


@lru_cache(maxsize=256)
def _tile_space(
    name: str, default: TiledPlan, items: tuple[tuple[str, tuple[int, ...]], ...], device: Device
) -> KnobSpace:
    """`tile_space`, once for equal products."""
    legal = dict(items)
    unsplit: Any = replace(default, split_k=1, group_rows=1)
    plans: dict[tuple[int, ...], TiledPlan] = {
        values: replace(unsplit, **dict(zip(legal, values, strict=True))) for values in product(*legal.values())
    }
    fitting = {values: plan for values, plan in plans.items() if is_legal(plan, device)}
    splits: dict[tuple[int, ...], Values] = {values: plan.legal_splits(device) for values, plan in fitting.items()}
    groups: dict[tuple[int, ...], Values] = {values: plan.legal_groups(device) for values, plan in fitting.items()}
    turns = tuple(sorted({n for of in groups.values() for n in of}))
    space = nested_space(name, (*legal, "split_k"), default, splits)
    return replace(
        space,
        knobs=(*space.knobs, Knob("group_rows", turns, default.group_rows, "order")),
        conditions=(*space.conditions, Condition("group_rows", tuple(legal), groups)),
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
        (batch, rows, columns), by_turns = self.plan.tiles, self.plan.group_rows
        if by_turns == 1:
            return delinearize(self.number, (batch, rows, columns))
        number, group, column, turn = delinearize(self.number, (batch, rows // by_turns, columns, by_turns))
        row = self.body.named_index("row_tile", group * by_turns + turn, 0, rows - 1)
        return [number, row, self.body.named_index("column_tile", column, 0, columns - 1)]

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
