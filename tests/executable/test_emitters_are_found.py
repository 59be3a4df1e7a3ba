"""A new emitter, found by planning and by `emit` from the tuple of emitters alone: two arrays from one, side by side."""

from typing import Any

import indexing as ix
from indexing.device.record import Device
from indexing.device.table import portable_device
from indexing.graph.facts import GraphFacts
from indexing.graph.flattening import flatten
from indexing.graph.nodes import Node
from indexing.graph.support import KernelSupport
from indexing.hlo import Computation
from indexing.kernels import choose_emitter
from indexing.kernels.emitter import Emitter
from indexing.kernels.emitters import EMITTERS
from indexing.kernels.emitters.loop import EMITTER as LOOP
from indexing.kernels.emitters.loop.elements import Elements
from indexing.kernels.proposal import PlannedFusion, Proposal
from indexing.planning.fusion import Planner

DEVICE = portable_device("cuda")
TEXT = """ENTRY main {
  p = f32[4096] parameter(0)
  a = f32[4096] negate(p)
  b = f32[4096] reverse(p), dimensions={0}
  ROOT t = (f32[4096], f32[4096]) tuple(a, b)
}"""
CIRCULAR = """ENTRY main {
  p = f32[4096] parameter(0)
  a = f32[4096] negate(p)
  s = f32[2048,2] reshape(a)
  e = f32[2,2048] transpose(s), dimensions={1,0}
  f = f32[4096] reshape(e)
  b = f32[4096] add(p, f)
  ROOT t = (f32[4096], f32[4096]) tuple(a, b)
}"""


def match_pair(computation: Computation) -> Elements | None:
    return Elements(computation) if len(computation.root.operands) == 2 and computation.root.shape.is_tuple else None


def group_pair(facts: GraphFacts, seed: Node, device: Device) -> Proposal | None:
    """All users of the array that the seed reads."""
    nodes = frozenset(u for ref in seed.refs for u in facts.users_of(ref.node) if ref.node in facts.graph.parameters)
    if len(nodes) < 2 or nodes & facts.taken:
        return None
    order = sorted(nodes, key=facts.number.__getitem__)
    outputs = tuple(ref for n in order for ref in n.arrays)
    return Proposal(order[-1], nodes, outputs, launches=1, saved_bytes=4 * outputs[0].shape.element_count)


PAIR: Emitter[Any, Any] = Emitter("pair", match_pair, LOOP.plan, LOOP.knobs, LOOP.build, group=group_pair)


def planned(text: str, emitters: tuple[Emitter[Any, Any], ...]) -> list[PlannedFusion]:
    return Planner(KernelSupport(), DEVICE, emitters).plan(flatten(ix.hlo.parse(text).entry))


def test_planning_finds_a_new_emitter() -> None:
    assert [len(f.nodes) for f in planned(TEXT, EMITTERS)] == [1, 1]
    (fusion,) = planned(TEXT, (PAIR, *EMITTERS))
    assert sorted(n.instruction.name for n in fusion.nodes) == ["a", "b"] and len(fusion.outputs) == 2


def test_the_first_emitter_that_matches_is_chosen() -> None:
    entry = ix.hlo.parse(TEXT).entry
    assert choose_emitter(entry, DEVICE, (PAIR, *EMITTERS)).emitter is PAIR
    assert choose_emitter(entry, DEVICE).emitter is LOOP
    assert choose_emitter(entry, DEVICE, (PAIR, *EMITTERS)).work == 4096


def test_a_proposal_that_a_path_leaves_and_enters_again_is_not_taken() -> None:
    """b reads a through a transpose that no emitter has put into the group."""
    fusions = planned(CIRCULAR, (PAIR, *EMITTERS))
    assert not any({"a", "b"} <= {n.instruction.name for n in f.nodes} for f in fusions)


def test_a_proposal_that_saves_nothing_is_not_taken() -> None:
    def group(facts: GraphFacts, seed: Node, device: Device) -> Proposal | None:
        proposal = group_pair(facts, seed, device)
        return proposal and Proposal(proposal.root, proposal.nodes, proposal.outputs)

    idle: Emitter[Any, Any] = Emitter("idle", match_pair, LOOP.plan, LOOP.knobs, LOOP.build, group=group)
    assert [len(f.nodes) for f in planned(TEXT, (idle, *EMITTERS))] == [1, 1]
