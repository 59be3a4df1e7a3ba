"""Launch dimensions and knobs of a transpose."""

from __future__ import annotations

from math import gcd

from indexing.device.record import Device
from indexing.kernels.emitter import fits
from indexing.kernels.emitters.transpose.mapping import (
    TILES,
    WARP,
    WORD_BYTES,
    Groups,
    TransposePlan,
)
from indexing.kernels.emitters.transpose.match import NAME, merged_groups
from indexing.kernels.epilogue import Heroes
from indexing.kernels.ir.types import storage_bytes
from indexing.kernels.knob_space import Effect, Knob, KnobSpace
from indexing.kernels.targets import TARGETS


def plan_transpose(
    match: Heroes, device: Device, *, tile: int | None = None, block_size: int | None = None
) -> TransposePlan:
    """Launch dimensions for a device.

    Knobs: `tile`, 8, 16, 32, 64 or 128 (as shared memory allows), at least 32 if elements are packed; `block_size`, a
    multiple of 32 up to the most threads of a block.

    A tile is `tile` by `tile`; if a side of the plane is shorter than 8, it is all of that side, and as much of the other as
    makes 32 by `tile` words.
    """
    block_size = block_size or max(device.widths.tile_threads // WARP, 1) * WARP
    if tile is None:
        return _default_plan(match, block_size, device)
    return _planned(match, tile, block_size, device)


def _default_plan(match: Heroes, block_size: int, device: Device) -> TransposePlan:
    """The plan with the best tile that the limits allow; with the least one if they allow none."""
    groups, widths = _form_of(match)
    packed = _packed(groups, widths, device)
    best = _unpacked_tile(groups, device) if packed == 1 else _packed_tile(groups, packed)
    plans = [_planned(match, t, block_size, device) for t in reversed(_tiles(match, device)) if t <= best]
    return next((p for p in plans if fits(p, device.limits)), plans[-1])


def transpose_knobs(match: Heroes, default: TransposePlan, device: Device) -> KnobSpace:
    """Names, legal values and defaults of the knobs."""
    legal = _launchable(match, default.block_size, device)
    tile = Knob("tile", tuple(legal), next(t for t, p in legal.items() if p == default))
    effect: Effect = "warps" if all(map(_is_cut_into_warps, legal.values())) else "kernel"
    return KnobSpace(
        NAME, (tile, Knob("block_size", range(WARP, device.limits.block_size + 1, WARP), default.block_size, effect))
    )


def _is_cut_into_warps(plan: TransposePlan) -> bool:
    """Whether a kernel's work is independent of the number of warps per block. It depends on it if words are packed and tiles
    exceed the plane: in the last step, threads then also store words beyond the plane.
    """
    g = plan.groups
    return plan.packed == 1 or (plan.sides[0] <= g.sizes[g.x] and plan.sides[1] <= g.sizes[g.y])


def _form_of(match: Heroes) -> tuple[Groups, tuple[int, ...]]:
    """The merged dimensions of the heroes, and the bytes of an element of each."""
    groups = merged_groups(match.first)
    assert groups is not None
    return groups, tuple(storage_bytes(hero.shape.element_type) for hero in match.heroes)


def _tiles(match: Heroes, device: Device) -> tuple[int, ...]:
    """The tiles that the heroes support, ascending."""
    return tuple(t for t in TILES if t >= WARP or _packed(*_form_of(match), device) == 1)


def _launchable(match: Heroes, block_size: int, device: Device) -> dict[int, TransposePlan]:
    """The plans within the device's limits, by their tiles."""
    plans = {t: _planned(match, t, block_size, device) for t in _tiles(match, device)}
    return {t: p for t, p in plans.items() if fits(p, device.limits)}


def _planned(match: Heroes, tile: int, block_size: int, device: Device) -> TransposePlan:
    """The plan with that tile."""
    groups, widths = _form_of(match)
    packed, word = _packed(groups, widths, device), WORD_BYTES // min(*widths, WORD_BYTES)
    read = write = packed
    if packed == 1:
        read, write = gcd(word, groups.line("x")), gcd(word, groups.line("y"))
    return TransposePlan(_tile_sides(groups, tile, word), block_size, packed, groups, read, write, widths)


def _tile_sides(groups: Groups, tile: int, word: int) -> tuple[int, int]:
    """The sides of a tile: a square, unless a side of the plane is short: then all of it, and more of the other."""
    x, y = groups.sizes[groups.x], groups.sizes[groups.y]
    if groups.is_short("x"):
        return x, min(max(WARP * tile * word >> (x - 1).bit_length(), WARP), y)
    if groups.is_short("y"):
        return min(max(WARP * tile * word >> (y - 1).bit_length(), WARP), x), y
    return tile, tile


def _packed(groups: Groups, widths: tuple[int, ...], device: Device) -> int:
    """The number of elements that are packed into one word of shared memory; where threads are loops, no banks need it."""
    if not TARGETS[device.dialect].has_threads:
        return 1
    is_square = groups.run is None and not groups.is_short("x") and not groups.is_short("y")
    return WORD_BYTES // widths[0] if is_square and len(set(widths)) == 1 and widths[0] < WORD_BYTES else 1


def _unpacked_tile(groups: Groups, device: Device) -> int:
    """The tile with rows of 32 elements, or of 64, if the plane has them, where rows are prefetched."""
    has_long_rows = min(groups.sizes[groups.x], groups.sizes[groups.y]) >= 2 * WARP
    return 2 * WARP if device.widths.reads_ahead and has_long_rows else WARP


def _packed_tile(groups: Groups, packed: int) -> int:
    """The tile with rows of 32 words, or half of it if most of a small plane's last tiles would be unused."""
    large = WARP * packed
    return large if min(groups.sizes[groups.x], groups.sizes[groups.y]) >= 2 * large or large <= 64 else large // 2
