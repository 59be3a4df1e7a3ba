"""The concatenate emitter: each thread copies elements of every operand, so that threads need not select an operand.

Threads cover a box that contains every operand. A thread takes the same index of each operand in turn, checks that it is in
bounds, and writes the element through the epilogue: `vector_width` neighbouring elements at once, if this divides the sizes
of all operands. Operands whose elements alternate within a vector are left to the loop emitter, which writes whole vectors, and
those without vectors where it touches far fewer sectors, as of rows rolled by one element.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import accumulate
from math import gcd, prod

from indexing.device.record import Device
from indexing.graph.facts import GraphFacts
from indexing.graph.nodes import Node
from indexing.hlo import Computation, Instruction
from indexing.hlo.layout import major_to_minor
from indexing.hlo.module_cache import cached_on_module
from indexing.kernels.emitter import Emitter
from indexing.kernels.emitters.loop.elements import (
    MAX_LANES,
    build_loop,
    has_alternating_operands,
    match_elements,
    plan_loop,
)
from indexing.kernels.epilogue import Heroes, single_hero_of
from indexing.kernels.function_builder import FunctionBuilder
from indexing.kernels.ir.nodes import Kernel
from indexing.kernels.ir.types import storage_bytes
from indexing.kernels.knob_space import KnobSpace
from indexing.kernels.lane_sectors import counted_width, touches_fewer
from indexing.kernels.launch import Part, built, inside
from indexing.kernels.linear import LinearPlan, block_of_rows, linear_block_size, linear_knobs, vector_index
from indexing.kernels.proposal import Proposal
from indexing.kernels.targets import TARGETS
from indexing.kernels.vectors import is_cheap, lanes, widest_vector
from indexing.ops.assemble import CONCATENATE
from indexing.ops.element_context import Index
from indexing.ops.fourier_passes import fourier_in_passes
from indexing.ops.linalg import FFT
from indexing.ops.registry import traits_of
from indexing.work import predicted_work

NAME = CONCATENATE.opcode
MAX_OPERANDS = 128  # the epilogue is built once for each operand
MAX_OPERANDS_OF_THREAD = 16  # operands that a thread beside others reads: with more, few threads have much to do
MAX_WORK_IN_TURN = 4  # operations for an element, where the lanes of a warp compute operands in turn


@cached_on_module
def match_concatenate(computation: Computation) -> Heroes | None:
    """The concatenate that every output follows; None if there is none, or several."""
    return single_hero_of(computation, _is_hero)


def _is_hero(instruction: Instruction) -> bool:
    if traits_of(instruction) is not CONCATENATE or not 2 <= len(instruction.operands) <= MAX_OPERANDS:
        return False
    return all(o.shape.element_count for o in instruction.operands)


def runs_on(match: Heroes, device: Device) -> bool:
    """Whether operands do not alternate within the vectors that a device's kernels write, and are few for a thread; and, if
    they have no vectors, whether a loop would not touch far fewer sectors.
    """
    hero, target = match.first, TARGETS[device.dialect]
    (d,) = hero.ints("dimensions")
    is_fastest = d == _fastest_dimension(hero)
    if target.has_threads and len(hero.operands) > MAX_OPERANDS_OF_THREAD:
        return False
    if not target.vector_bytes:
        return True
    return not has_alternating_operands(hero) and not (
        target.has_threads and is_fastest and _common(hero) % 2 and _is_for_loop(match, device)
    )


def _is_for_loop(match: Heroes, device: Device) -> bool:
    """Whether the loop emitter's kernel touches far fewer sectors, and its warps, which take the branches of all operands in
    turn, compute little in them.
    """
    elements = match_elements(match.computation)
    if predicted_work(elements.parts) > MAX_WORK_IN_TURN * match.first.shape.element_count:
        return False
    loop = build_loop(elements, plan_loop(elements, device))
    return touches_fewer(loop, build_concatenate(match, plan_concatenate(match, device)), device)


def _common(hero: Instruction) -> int:
    """The divisor of all operands' sizes along the dimension that is fastest in memory."""
    return gcd(*(o.shape.dimensions[_fastest_dimension(hero)] for o in hero.operands))


def plan_concatenate(
    match: Heroes, device: Device, *, block_size: int | None = None, vector_width: int | None = None
) -> LinearPlan:
    """Launch dimensions over a box that contains each operand.

    Knobs: `block_size`, from 1 thread to the most of a block; `vector_width`, 1, 2, 4, 8 or 16 elements per thread, which
    divides the sizes of all operands along the dimension that is fastest in memory.
    """
    hero = match.first
    box = tuple(map(max, zip(*(o.shape.dimensions for o in hero.operands), strict=True)))
    common = _common(hero)

    def planned(width: int) -> LinearPlan:
        plan = LinearPlan(box, major_to_minor(hero.shape), width, 1)
        rows = [plan.vector_sizes[d] for d in plan.order]
        threads = block_size or linear_block_size(prod(box), device.limits, block_of_rows(rows, device))
        return replace(plan, block_size=threads)

    if vector_width is None:
        widest = _widest_vector(match, prod(box), common)
        vector_width = counted_width(widest, lambda width: build_concatenate(match, planned(width)), device)
    return planned(vector_width)


def _widest_vector(match: Heroes, count: int, common: int) -> int:
    """As many elements as fit into 16 bytes, halved while threads are few; 1 if expensive."""
    if not is_cheap(match.computation.post_order()):
        return 1
    return widest_vector(MAX_LANES, storage_bytes(match.first.shape.element_type), count, [common])


def concatenate_knobs(match: Heroes, default: LinearPlan, device: Device) -> KnobSpace:
    """Names, legal values and defaults of the knobs."""
    return KnobSpace(NAME, linear_knobs(default, _common(match.first), device.limits))


def _fastest_dimension(hero: Instruction) -> int:
    """The fastest dimension in memory."""
    return major_to_minor(hero.shape)[-1]


def build_concatenate(match: Heroes, plan: LinearPlan) -> Kernel:
    """The kernel."""
    return built(NAME, match.first, match.parts, plan, lambda body: _build(body, match, plan))


def _build(body: FunctionBuilder, match: Heroes, plan: LinearPlan) -> None:
    with vector_index(body, plan) as box:
        _build_operands(body, match, plan, box)


def _build_operands(body: FunctionBuilder, match: Heroes, plan: LinearPlan, box: Index) -> None:
    """For each operand, if it contains this index of the box: write its element through the epilogue."""
    hero = match.first
    (d,) = hero.ints("dimensions")
    starts = [0, *accumulate(o.shape.dimensions[d] for o in hero.operands)]
    for k, operand in enumerate(hero.operands):
        sizes = replace(plan, sizes=operand.shape.dimensions).vector_sizes
        parts = [Part(e, s) for e, s in zip(box, sizes, strict=True)]
        with inside(body, parts) as vector, body.base_scope(), lanes(body, plan.vector_width) as lane:
            index = tuple(map(body.scope.simplify, plan.element(vector, lane)))
            at = tuple(e + starts[k] if i == d else e for i, e in enumerate(index))
            body.inject(hero, at, [body.read(operand, index)])
            match.build_after(body, at)


def group_passes(facts: GraphFacts, seed: Node, device: Device) -> Proposal | None:
    """Passes, each a concatenation, instead of a Fourier transform, where threads are loops."""
    if seed.op is not FFT or TARGETS[device.dialect].has_threads:
        return None
    passes = fourier_in_passes(seed.instruction)
    return None if passes is None else Proposal(seed, frozenset([seed]), seed.arrays, replacement=passes)


EMITTER = Emitter(
    NAME,
    match_concatenate,
    plan_concatenate,
    concatenate_knobs,
    build_concatenate,
    runs_on,
    by_elements=True,
    group=group_passes,
)
