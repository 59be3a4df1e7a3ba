"""The kernels around dots, and the decomposition of dots whose operands lack the memory layout that the emitter reads well.

Neighbouring threads of a dot compute neighbouring columns. If the right operand's contracting dimension is its fastest one,
that operand is transposed first, at little cost beside the product; with few rows or columns, and contracting dimensions
that are last in both operands, or in what these are transposes of, the product is a reduction of rows.
"""

from __future__ import annotations

from math import prod

from indexing.device.record import Device
from indexing.graph.facts import GraphFacts
from indexing.graph.nodes import Node
from indexing.hlo import Computation, Instruction
from indexing.hlo.layout import is_row_major
from indexing.kernels.emitters.dot.convolution import is_convolution
from indexing.kernels.emitters.dot.match import MIN_COLUMNS, MIN_CONTRACTED, product_of
from indexing.kernels.proposal import Proposal
from indexing.ops.dot import DOT
from indexing.ops.dot_expansions import order_by_role, reduced_dot, transposed_dot
from indexing.ops.element_types import element_type
from indexing.ops.gradients_by_group import summed_by_group
from indexing.ops.registry import traits_of
from indexing.ops.shape import TRANSPOSE

MIN_ROWS = 4  # with fewer, the transpose costs more than it saves


def group_dot(facts: GraphFacts, seed: Node, device: Device) -> Proposal | None:
    """A kernel around a dot, in which neighbouring threads have neighbouring columns, or what replaces the dot; sums instead of
    a convolution with few results for each of its groups.
    """
    nodes = frozenset([seed])
    if is_convolution(seed.instruction):
        sums = summed_by_group(seed.instruction)
        return None if sums is None else Proposal(seed, nodes, seed.arrays, replacement=sums)
    if seed.op is not DOT:
        return None
    return Proposal(seed, nodes, seed.arrays, is_open=True, replacement=dot_in_parts(seed.instruction))


def dot_in_parts(instruction: Instruction) -> Computation | None:
    """A computation equal to a dot, of the same operands, for faster kernels; None where the dot itself is fastest."""
    if not all(map(_is_plain, (instruction, *instruction.operands))):
        return None
    p, orders = product_of(instruction), [order_by_role(instruction, k) for k in range(2)]
    is_last = [order == tuple(range(len(order))) for order in orders]
    if prod(p.contracted) < MIN_CONTRACTED:
        return None
    if prod(p.columns) < MIN_COLUMNS or prod(p.rows) < MIN_ROWS:
        are_read_in_rows = all(is_last[k] or _is_transposed_by(instruction.operands[k], orders[k]) for k in range(2))
        return reduced_dot(instruction) if are_read_in_rows else None
    return transposed_dot(instruction, 1, is_along=False) if is_last[1] else None


def is_sum_of_rows(dot: Instruction) -> bool:
    """Whether a dot of a vector, by one product or by one of each batch, is a reduction of rows."""
    if traits_of(dot) is not DOT:
        return False
    p = product_of(dot)
    return min(prod(p.rows), prod(p.columns)) == 1 and dot_in_parts(dot) is not None


def _is_plain(i: Instruction) -> bool:
    s = i.shape
    if s.is_tuple or 0 in s.dimensions or element_type(s.element_type).kind not in ("float", "complex"):
        return False
    return is_row_major(s)


def _is_transposed_by(operand: Instruction, order: tuple[int, ...]) -> bool:
    """Whether the operand is a transpose, of whose operand its dimensions in that order are."""
    if traits_of(operand) is not TRANSPOSE or not _is_plain(operand.operands[0]):
        return False
    dimensions = operand.ints("dimensions")
    return all(dimensions[d] == k for k, d in enumerate(order))
