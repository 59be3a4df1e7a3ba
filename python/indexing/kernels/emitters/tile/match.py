"""Products of matrices that the tile emitter takes."""

from __future__ import annotations

from math import prod

from indexing.device.record import Device
from indexing.graph.facts import GraphFacts
from indexing.graph.nodes import Node
from indexing.hlo import Computation, Instruction
from indexing.hlo.layout import is_row_major
from indexing.hlo.module_cache import cached_on_module
from indexing.kernels.emitters.dot.convolution import group_count, is_convolution
from indexing.kernels.emitters.dot.group import is_sum_of_rows
from indexing.kernels.emitters.dot.match import fastest, planned_product, product_in_memory
from indexing.kernels.epilogue import Heroes, single_hero_of
from indexing.kernels.ir.fragments import BY_FACTORS, CAPABILITY, MatrixInstruction
from indexing.kernels.proposal import Proposal
from indexing.kernels.targets import TARGETS
from indexing.ops.dot import DOT
from indexing.ops.dot_expansions import transposed_dot
from indexing.ops.element_types import element_type
from indexing.ops.registry import traits_of

NAME = "dot-tile"
TF32 = "dot_tf32_tf32_f32"  # the attribute `algorithm` of products whose factors may be rounded
MIN_SIDE = 16  # rows and columns: with fewer, most of a tile is not stored
MIN_CONTRACTED = 16  # below, most of an instruction would be wasted
MIN_TRANSPOSED = 512  # products of an element for which a transpose takes less time than fragments that are gathered
MIN_LONG = 32  # products of an element for which threads wait longer than for tiles of few rows or columns


def runs_on(match: Heroes, device: Device) -> bool:
    """Whether the device has an instruction for the factors, and tiles are worth it."""
    return has_instruction(match.first, device) and is_worth_tiles(match.first, device)


def is_tiled(instruction: Instruction, device: Device) -> bool:
    """Whether the emitter takes an instruction on a device, in whatever layout its operands are."""
    return _is_hero(instruction) and has_instruction(instruction, device) and is_worth_tiles(instruction, device)


def is_worth_tiles(dot: Instruction, device: Device) -> bool:
    """Whether a product has rows and columns for tiles, or sums so long that tiles pay of which most is not stored: if one side
    is long enough, or all tiles run at once. Loops take convolutions by channel, whose neighbours have neighbouring elements.
    """
    p = planned_product(dot)
    few, many = sorted((prod(p.rows), prod(p.columns)))
    if few >= MIN_SIDE:
        return True
    if is_convolution(dot) and few == 1 < group_count(dot):
        return False
    return prod(p.contracted) >= MIN_LONG and (many >= MIN_SIDE or prod(p.batch) <= device.cores.count)


def has_instruction(dot: Instruction, device: Device) -> bool:
    """Whether a device has the instruction for the factors of a dot."""
    instruction = instruction_of(dot)
    capability = CAPABILITY if device.architecture is None else device.architecture.capability
    return capability >= instruction.capability and TARGETS[device.dialect].multiplies_matrices(instruction.name)


def instruction_of(dot: Instruction) -> MatrixInstruction:
    """The instruction for the factors of a dot that has one, the left factor of its plan first."""
    left, right = (dot.operands[k].shape.element_type for k in planned_product(dot).operands)
    return BY_FACTORS[left, right]


@cached_on_module
def match_tile(computation: Computation) -> Heroes | None:
    """The dot that every output follows; None if there is none, or several."""
    return single_hero_of(computation, _is_hero)


def _is_hero(i: Instruction) -> bool:
    p = product_in_memory(i)
    if p is None:
        return False
    left, right = (o.shape.element_type for o in i.operands)
    instruction = BY_FACTORS.get((left, right))
    if instruction is None or not _is_result(i.shape.element_type, instruction.accumulator):
        return False
    if instruction.name == "f32" and i.text("algorithm", "") != TF32:
        return False
    return prod(i.shape.dimensions) > 0 and prod(p.contracted) >= MIN_CONTRACTED


def _is_result(kind: str, accumulator: str) -> bool:
    """Whether sums of the accumulator's type become results of a type by rounding alone."""
    return kind == accumulator or (accumulator == "f32" and element_type(kind).is_narrow_float)


def group_tile(facts: GraphFacts, seed: Node, device: Device) -> Proposal | None:
    """A kernel around a dot that matrix units compute, but not of a vector whose products are sums of rows; of one with a
    transposed operand instead, where fragments of its left factor would be gathered byte by byte.
    """
    if not is_tiled(seed.instruction, device) or is_sum_of_rows(seed.instruction):
        return None
    other = along_sums(seed.instruction)
    return Proposal(seed, frozenset([seed]), seed.arrays, is_open=True, copies_operands=True, replacement=other)


def along_sums(dot: Instruction) -> Computation | None:
    """A dot of bytes whose left factor lies along the free dimensions, with that factor transposed; else None. Instructions
    that load fragments transpose bytes of the right factor, and elements of two bytes.
    """
    p = planned_product(dot)
    left = p.operands[0]
    if traits_of(dot) is not DOT or instruction_of(dot).element_bytes > 1 or prod(p.contracted) < MIN_TRANSPOSED:
        return None
    if not all(is_row_major(i.shape) for i in (dot, *dot.operands)):
        return None
    return transposed_dot(dot, left, is_along=True) if fastest(dot, left)[0] == "free" else None
