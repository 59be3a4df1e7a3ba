"""Products of matrices that the simt emitter takes."""

from __future__ import annotations

from math import prod

from indexing.device.record import Device
from indexing.graph.facts import GraphFacts
from indexing.graph.nodes import Node
from indexing.hlo import Computation, Instruction
from indexing.hlo.module_cache import cached_on_module
from indexing.kernels.emitters.dot.group import is_sum_of_rows
from indexing.kernels.emitters.dot.match import product_in_memory
from indexing.kernels.emitters.tile.match import is_worth_tiles
from indexing.kernels.epilogue import Heroes, single_hero_of
from indexing.kernels.proposal import Proposal
from indexing.kernels.targets import TARGETS
from indexing.ops.element_types import element_type
from indexing.ops.fourier_products import fourier_in_products
from indexing.ops.linalg import FFT

NAME = "dot-simt"
MIN_INTEGER_BITS = 32  # a thread loads vectors of at most four sums
MIN_CONTRACTED = 8  # below, copies of the operands take longer than the products


def runs_on(match: Heroes, device: Device) -> bool:
    """Whether the device's threads share memory and run in parallel, and tiles are worth it."""
    return TARGETS[device.dialect].has_threads and is_worth_tiles(match.first, device)


def group_simt(facts: GraphFacts, seed: Node, device: Device) -> Proposal | None:
    """A kernel around a dot, whatever the layout of its operands, but not of a vector whose products are sums of rows; products
    instead of a Fourier transform.
    """
    dot = seed.instruction
    if not TARGETS[device.dialect].has_threads:
        return None
    if seed.op is FFT:
        products = fourier_in_products(dot)
        return Proposal(seed, frozenset([seed]), seed.arrays, replacement=products) if products is not None else None
    if not _is_hero(dot):
        return None
    if is_sum_of_rows(dot) or not is_worth_tiles(dot, device):
        return None
    return Proposal(seed, frozenset([seed]), seed.arrays, is_open=True, copies_operands=True)


@cached_on_module
def match_simt(computation: Computation) -> Heroes | None:
    """The dot that every output follows; None if there is none, or several."""
    return single_hero_of(computation, _is_hero)


def _is_hero(i: Instruction) -> bool:
    p = product_in_memory(i)
    if p is None:
        return False
    result, *factors = (element_type(s.element_type) for s in (i.shape, *(o.shape for o in i.operands)))
    is_sum = result.kind == "float" or (result.is_integer and result.bits >= MIN_INTEGER_BITS)
    if 0 in i.shape.dimensions or not is_sum or any(f.kind == "complex" for f in factors):
        return False
    return prod(p.contracted) >= MIN_CONTRACTED
