"""Products of matrices that the panels emitter takes."""

from __future__ import annotations

from math import prod

from indexing.device.record import Device
from indexing.graph.facts import GraphFacts
from indexing.graph.nodes import Node
from indexing.hlo import Computation, Instruction
from indexing.hlo.layout import major_to_minor
from indexing.hlo.module_cache import cached_on_module
from indexing.kernels.emitters.dot import convolution
from indexing.kernels.emitters.dot.match import planned_product, product_in_memory, product_of, sum_type
from indexing.kernels.epilogue import Heroes, single_hero_of
from indexing.kernels.ir.fragments import INTEGERS, PANEL_PRODUCTS, name_of_factors
from indexing.kernels.proposal import Proposal
from indexing.kernels.targets import TARGETS
from indexing.ops.convolution_expansions import convolution_of_neighbours, is_along_window
from indexing.ops.dot import DOT
from indexing.ops.dot_expansions import real_dot
from indexing.ops.element_types import ElementType, element_type
from indexing.ops.registry import traits_of

NAME = "dot-panels"
MIN_CONTRACTED = 8  # below, copies of the operands take longer than the products
MIN_ROWS = 5
MIN_COLUMNS = 2
MIN_COMPLEX_COLUMNS, MIN_COMPLEX_CONTRACTED = 112, 16  # below, loops take less time than moving the parts
LOOP_COLUMNS = 8  # columns that a loop over elements multiplies as one vector, in dots
MIN_NEIGHBOURS = (
    3  # input features, in gradients of weights images, for whose sake a convolution's arrays are transposed
)


def runs_on(match: Heroes, device: Device) -> bool:
    """Whether the device's dialect multiplies panels of the dot's types."""
    return TARGETS[device.dialect].multiplies_panels(panel_product(match.first))


def panel_product(dot: Instruction) -> str:
    """The name of the product of panels for a dot's types: for small numbers that of bytes or bf16, else that of its sums."""
    left, right = (element_type(dot.operands[k].shape.element_type) for k in planned_product(dot).operands)
    bytes_, sums = (left.compute_type, right.compute_type), sum_type(dot)
    if sums == "s32" and all(kind in INTEGERS for kind in bytes_):
        return name_of_factors(*bytes_)
    return "bf16" if sums == "f32" and _is_in_bf16(left) and _is_in_bf16(right) else sums


def _is_in_bf16(t: ElementType) -> bool:
    """Whether a float type has no numbers but those of bf16: neither more bits of the mantissa nor larger exponents."""
    return t.is_narrow_float and t.format is not None and t.format.mantissa <= 7 and t.format.exponent <= 8


def group_panels(facts: GraphFacts, seed: Node, device: Device) -> Proposal | None:
    """A kernel around a dot as it is, whatever the layout of its operands; a convolution by features that are neighbours, and
    a product of complex matrices by one of real ones.
    """
    dot, nodes = seed.instruction, frozenset([seed])
    if _is_complex(dot) and TARGETS[device.dialect].multiplies_panels(element_type(dot.shape.element_type).real):
        return Proposal(seed, nodes, seed.arrays, replacement=real_dot(dot))
    if not _is_hero(dot) or not TARGETS[device.dialect].multiplies_panels(panel_product(dot)):
        return None
    if _has_distant_features(dot):
        return Proposal(seed, nodes, seed.arrays, replacement=convolution_of_neighbours(dot))
    return Proposal(seed, nodes, seed.arrays, is_open=True, copies_operands=True)


def _is_complex(i: Instruction) -> bool:
    """Whether an instruction is a dot of complex matrices whose real products are worth moving the parts."""
    if traits_of(i) is not DOT or any(element_type(o.shape.element_type).kind != "complex" for o in i.operands):
        return False
    p = product_of(i)
    is_deep = prod(p.contracted) >= MIN_COMPLEX_CONTRACTED and prod(p.rows) >= MIN_ROWS and prod(p.batch) > 0
    return is_deep and prod(p.columns) >= MIN_COMPLEX_COLUMNS


def _has_distant_features(i: Instruction) -> bool:
    """Whether an instruction is a convolution whose input has spatial dimensions last, and neighbours to make of others."""
    if not convolution.is_convolution(i) or all(w.size == 1 for w in i.window()):
        return False
    image, sizes = i.dim_labels().input, i.operands[0].shape.dimensions
    neighbours = sizes[image.batch if is_along_window(i) else image.feature]
    is_distant = major_to_minor(i.operands[0].shape)[-1] in image.spatial
    return is_distant and convolution.group_count(i) == 1 and neighbours >= MIN_NEIGHBOURS


@cached_on_module
def match_panels(computation: Computation) -> Heroes | None:
    """The dot that every output follows; None if there is none, or several."""
    return single_hero_of(computation, _is_hero)


def _is_hero(i: Instruction) -> bool:
    p = product_in_memory(i)
    if p is None or panel_product(i) not in PANEL_PRODUCTS:
        return False
    if any(element_type(o.shape.element_type).kind == "complex" for o in i.operands):
        return False
    if prod(p.batch) == 0:
        return False
    columns = prod(p.columns)
    is_vector = columns == LOOP_COLUMNS and not convolution.is_convolution(i)
    fills_panels = columns >= PANEL_PRODUCTS[panel_product(i)].columns or (columns >= MIN_COLUMNS and not is_vector)
    return fills_panels and prod(p.rows) >= MIN_ROWS and prod(p.contracted) >= MIN_CONTRACTED
