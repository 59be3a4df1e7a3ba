"""Products of matrices that the panels emitter takes."""

from __future__ import annotations

from math import prod

from indexing.device.record import Device
from indexing.graph.facts import GraphFacts
from indexing.graph.nodes import Node
from indexing.hlo import Computation, Instruction
from indexing.hlo.module_cache import cached_on_module
from indexing.kernels.emitters.dot.match import product_in_memory, sum_type
from indexing.kernels.epilogue import Heroes, single_hero_of
from indexing.kernels.ir.fragments import PANEL_ROWS, PANEL_TYPES, panel_columns
from indexing.kernels.proposal import Proposal
from indexing.kernels.targets import TARGETS
from indexing.ops.element_types import element_type

NAME = "dot-panels"
MIN_CONTRACTED = 8  # below, copies of the operands take longer than the products
MIN_COLUMNS = 2
LOOP_COLUMNS = 8  # columns that a loop over elements multiplies as one vector


def runs_on(match: Heroes, device: Device) -> bool:
    """Whether the device's dialect multiplies panels of the type in which the sums are computed."""
    return TARGETS[device.dialect].multiplies_panels(sum_type(match.first))


def group_panels(facts: GraphFacts, seed: Node, device: Device) -> Proposal | None:
    """A kernel around a dot as it is, whatever the layout of its operands."""
    dot = seed.instruction
    if not _is_hero(dot) or not TARGETS[device.dialect].multiplies_panels(sum_type(dot)):
        return None
    return Proposal(seed, frozenset([seed]), seed.arrays, is_open=True, copies_operands=True)


@cached_on_module
def match_panels(computation: Computation) -> Heroes | None:
    """The dot that every output follows; None if there is none, or several."""
    return single_hero_of(computation, _is_hero)


def _is_hero(i: Instruction) -> bool:
    p = product_in_memory(i)
    if p is None or sum_type(i) not in PANEL_TYPES:
        return False
    if any(element_type(o.shape.element_type).kind == "complex" for o in i.operands):
        return False
    if prod(p.batch) == 0:
        return False
    columns = prod(p.columns)
    fills_panels = columns >= panel_columns(sum_type(i)) or MIN_COLUMNS <= columns != LOOP_COLUMNS
    return fills_panels and prod(p.rows) >= PANEL_ROWS and prod(p.contracted) >= MIN_CONTRACTED
