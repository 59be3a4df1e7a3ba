"""Attentions whose products matrix instructions compute."""

from __future__ import annotations

from math import prod

from indexing.device.record import Device
from indexing.hlo import Computation, Instruction
from indexing.hlo.module_cache import cached_on_module
from indexing.kernels.emitters.attention.match import Attention, match_attention
from indexing.kernels.emitters.tile.match import MIN_SIDE, has_instruction
from indexing.kernels.ir.fragments import BY_FACTORS

NAME = "attention-tile"
FACTOR_BYTES = 2  # only elements of 16 bits are transposed on the way to registers, and have sums that become factors
MAX_COLUMNS = 256  # a warp has the sums of all columns of the values in registers


def runs_on(match: Attention, device: Device) -> bool:
    """Whether the device has the instructions for both products."""
    return has_instruction(match.scores, device) and has_instruction(match.product, device)


@cached_on_module
def match_attention_tile(computation: Computation) -> Attention | None:
    """The attention that every output follows, if its factors are of 16 bits; None if there is none."""
    match = match_attention(computation)
    if match is None or not (_has_factors(match.scores) and _has_factors(match.product)):
        return None
    p = match.sizes
    is_large = min(prod(p.rows), prod(p.contracted), prod(p.columns), match.depth) >= MIN_SIDE
    return match if is_large and prod(p.columns) <= MAX_COLUMNS and match.element_type == "f32" else None


def _has_factors(dot: Instruction) -> bool:
    left, right = (o.shape.element_type for o in dot.operands)
    instruction = BY_FACTORS.get((left, right))
    return instruction is not None and instruction.element_bytes == FACTOR_BYTES
