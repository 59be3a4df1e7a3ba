"""The transpose emitter: a tile of the input is read along its fastest dimension into shared memory, and written along
the output's fastest one.

Dimensions that stay adjacent are merged first. This leaves a plane of `x` (fastest in the input) and `y` (fastest in the
output), of short runs of elements if the fastest dimension itself stays. Rows of the tile are padded, so that a warp reads a
column without bank conflicts. Elements of one or two bytes are packed: each thread transposes a square of four bytes by as
many rows in registers, and the tile holds words. If `x` is short, a tile has all of it, and correspondingly more of `y`; and
vice versa. If vectors of 16 bytes contain all of `y`, the loop emitter is as fast: its threads write such vectors.
"""

from __future__ import annotations

from itertools import pairwise
from math import gcd, prod
from typing import TYPE_CHECKING

from indexing.errors import IndexingError
from indexing.hlo.layout import major_to_minor
from indexing.hlo.module_cache import cached_on_module
from indexing.kernels.emitters.transpose.body import Body
from indexing.kernels.emitters.transpose.plans import (
    MIN_SIDE,
    TILES,
    WARP,
    WORD_BYTES,
    Groups,
    TransposePlan,
)
from indexing.kernels.epilogue import Heroes, heroes_of
from indexing.kernels.hero import fits, outputs
from indexing.kernels.ir.types import storage_bytes
from indexing.kernels.knob_space import Effect, Knob, KnobSpace
from indexing.kernels.launch import assembled, entry_builder
from indexing.kernels.vectors import VECTOR_BYTES
from indexing.ops.registry import traits_of
from indexing.ops.shape import COPY, TRANSPOSE

if TYPE_CHECKING:
    from indexing.device.limits import Limits
    from indexing.device.record import Device
    from indexing.hlo import Computation, Instruction
    from indexing.kernels.ir.nodes import Kernel

NAME = TRANSPOSE.opcode
MAX_RUN_BYTES = 60  # the loop emitter copies longer runs, in whole sectors
SECTOR_BYTES = 32
MIN_PLANE = 256  # elements of the plane


def matches(computation: Computation) -> bool:
    """Whether the fusion has a transpose that is worth a tile."""
    return match(computation) is not None


@cached_on_module
def match(computation: Computation) -> Heroes | None:
    """The heroes of a fusion, if every output follows a transpose of one form, or has the index of its input."""
    return heroes_of(computation, _is_hero, _form)


def _form(hero: Instruction) -> tuple[object, ...]:
    return _groups(hero), hero.operands[0].shape.dimensions, hero.shape.dimensions


def _is_hero(instruction: Instruction) -> bool:
    groups = _groups(instruction)
    if groups is None:
        return False
    x, y = groups.sizes[groups.x], groups.sizes[groups.y]
    size = storage_bytes(instruction.shape.element_type)
    run_bytes = groups.run_size * size
    if run_bytes > MAX_RUN_BYTES or run_bytes % SECTOR_BYTES == 0 or max(x, y) < MIN_SIDE or x * y < MIN_PLANE:
        return False
    return not (groups.run is None and size >= WORD_BYTES and VECTOR_BYTES % (y * size) == 0)


def _groups(instruction: Instruction) -> Groups | None:
    """The merged form of a transpose (or of a copy to another layout); None for other ops, or if nothing moves."""
    if traits_of(instruction) not in (TRANSPOSE, COPY) or instruction.shape.is_tuple:
        return None
    operand = instruction.operands[0].shape
    permutation = instruction.ints("dimensions") if traits_of(instruction) is TRANSPOSE else range(operand.rank)
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
    in_target = [order.index(g) for g in range(len(members))]  # indices into `merged`, in the output's order
    last = len(merged) - 1
    run = last if in_target[-1] == last else None
    x, y = (last, in_target[-1]) if run is None else (last - 1, in_target[-2])
    outer = tuple(g for g in range(len(merged)) if g not in (x, y, run))
    return Groups(tuple(prod(sizes[d] for d in m) for m in merged), merged, outer, x, y, run)


def plan(
    computation: Computation, device: Device, *, tile: int | None = None, block_size: int | None = None
) -> TransposePlan:
    """Launch dimensions for a device.

    Knobs: `tile`, 8, 16, 32, 64 or 128 (as shared memory allows), at least 32 for elements of one or two bytes; `block_size`, a
    multiple of 32 up to the most threads of a block.

    A tile is `tile` by `tile`; if a side of the plane is shorter than 8, it is all of that side, and as much of the other as
    makes 32 by `tile` words.
    """
    found = match(computation)
    if found is None:
        raise IndexingError(f"{computation.name} has no transpose that is worth a tile; the loop emitter takes it")
    blocks = _blocks(device.limits)
    if block_size is None:
        block_size = max(device.widths.tile_threads // WARP, 1) * WARP
    elif block_size not in blocks:
        raise IndexingError(f"block_size is a multiple of {WARP} up to {device.limits.block_size}; got {block_size}")
    if tile is None:
        return _default_plan(found, block_size, device.limits)
    if tile not in _tiles(found):
        raise IndexingError(f"tile is one of {', '.join(map(str, _tiles(found)))} here; got {tile}")
    return _planned(found, tile, block_size)


def _blocks(limits: Limits) -> range:
    """The legal numbers of threads of a block."""
    return range(WARP, limits.block_size + 1, WARP)


def _default_plan(found: Heroes, block_size: int, limits: Limits) -> TransposePlan:
    """The plan with the best tile that the limits allow; with the least one if they allow none."""
    groups, widths = _form_of(found)
    packed = _packed(groups, widths)
    best = WARP if packed == 1 else _packed_tile(groups, packed)
    plans = [_planned(found, t, block_size) for t in reversed(_tiles(found)) if t <= best]
    return next((p for p in plans if fits(p, limits)), plans[-1])


def knobs(computation: Computation, default: TransposePlan, device: Device) -> KnobSpace:
    """Names, legal values and defaults of the knobs."""
    found = match(computation)
    assert found is not None
    plans = {t: _planned(found, t, default.block_size) for t in _tiles(found)}
    legal = {t: p for t, p in plans.items() if fits(p, device.limits)}
    tile = Knob("tile", tuple(legal), next(t for t, p in legal.items() if p == default))
    effect: Effect = "warps" if all(map(_is_cut_into_warps, legal.values())) else "kernel"
    return KnobSpace(NAME, (tile, Knob("block_size", _blocks(device.limits), default.block_size, effect)))


def _is_cut_into_warps(plan: TransposePlan) -> bool:
    """Whether a kernel's work is independent of the number of warps per block. It depends on it if words are packed and tiles
    exceed the plane: in the last step, threads then also store words beyond the plane.
    """
    g = plan.groups
    return plan.packed == 1 or (plan.sides[0] <= g.sizes[g.x] and plan.sides[1] <= g.sizes[g.y])


def _form_of(found: Heroes) -> tuple[Groups, tuple[int, ...]]:
    """The merged dimensions of the heroes, and the bytes of an element of each."""
    groups = _groups(found.first)
    assert groups is not None
    return groups, tuple(storage_bytes(hero.shape.element_type) for hero in found.heroes)


def _tiles(found: Heroes) -> tuple[int, ...]:
    """The tiles that the heroes support, ascending."""
    return tuple(t for t in TILES if t >= WARP or _packed(*_form_of(found)) == 1)


def _planned(found: Heroes, tile: int, block_size: int) -> TransposePlan:
    """The plan with that tile."""
    groups, widths = _form_of(found)
    packed, word = _packed(groups, widths), WORD_BYTES // min(*widths, WORD_BYTES)
    read = write = packed
    if packed == 1:
        read, write = gcd(word, groups.line("x")), gcd(word, groups.line("y"))
    return TransposePlan(_tile_sides(groups, tile, word), block_size, packed, groups, read, write, widths)


def _tile_sides(groups: Groups, tile: int, word: int) -> tuple[int, int]:
    """The sides of a tile: a square, unless a side of the plane is short: then all of it, and more of the other."""
    x, y = groups.sizes[groups.x], groups.sizes[groups.y]
    if groups.is_short("x"):
        return x, max(WARP * tile * word >> (x - 1).bit_length(), WARP)
    if groups.is_short("y"):
        return max(WARP * tile * word >> (y - 1).bit_length(), WARP), y
    return tile, tile


def _packed(groups: Groups, widths: tuple[int, ...]) -> int:
    """The number of elements that are packed into one word of shared memory."""
    is_square = groups.run is None and not groups.is_short("x") and not groups.is_short("y")
    return WORD_BYTES // widths[0] if is_square and len(set(widths)) == 1 and widths[0] < WORD_BYTES else 1


def _packed_tile(groups: Groups, packed: int) -> int:
    """The tile with rows of 32 words, or half of it if most of a small plane's last tiles would be unused."""
    large = WARP * packed
    return large if min(groups.sizes[groups.x], groups.sizes[groups.y]) >= 2 * large or large <= 64 else large // 2


def kernel(computation: Computation, plan: TransposePlan) -> Kernel:
    """The kernel."""
    found = match(computation)
    assert found is not None
    builder = found.kernel_builder(computation)
    body = entry_builder(builder, plan.grid, plan.block)
    Body(found, plan, body).build()
    return assembled(builder, NAME, found.first, body, outputs(computation), (plan.grid, plan.block))
