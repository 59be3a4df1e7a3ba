"""The record of an emitter: pure functions from a fusion to the kernel that computes it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from indexing._core import SymbolicExpr
from indexing.device.limits import Limits
from indexing.device.record import Device
from indexing.graph.facts import GraphFacts
from indexing.graph.nodes import Node
from indexing.hlo import Computation, Instruction
from indexing.kernels.ir.nodes import Kernel
from indexing.kernels.knob_space import KnobSpace
from indexing.kernels.launch import Plan, thread_id
from indexing.kernels.proposal import Proposal
from indexing.partitioner import PartitionedComputation
from indexing.work import predicted_work


class Match(Protocol):
    """The part of a computation that an emitter recognized: what its kernel is built around."""

    @property
    def parts(self) -> PartitionedComputation:
        """The functions of the kernel, from which its work is predicted."""


M = TypeVar("M", bound=Match)
P = TypeVar("P", bound=Plan)


def fits(plan: Plan, limits: Limits) -> bool:
    """Whether a plan can be launched."""
    return not limits.exceeded(plan.grid, plan.block, plan.shared_bytes)


def on_any_device(match: Match, device: Device) -> bool:
    """Whether a device's dialect has what the kernel needs, for kernels that need nothing special."""
    return True


@dataclass(frozen=True, slots=True)
class Emitter(Generic[M, P]):
    """An emitter, by the name that kernels and docs/kernels.md give it.

    - `group(facts, seed, device)` proposes the nodes of a program that it would take into one kernel around `seed`, from counts
      and maps; nothing is built. None where it proposes nothing beyond the kernel that grows from a node (`loop/group.py`).
    - `match(computation)` finds what the kernel is built around; None for a computation that the emitter does not take.
    - `plan(match, device, *, knob=.., ...)` has launch dimensions and knobs for a device. Knobs that are not given have the
      best values that the device's limits allow.
    - `knobs(match, default, device)` has the knobs' legal values on a device, by which given ones are checked; `default` is the
      plan without knobs. A plan has those knobs as attributes that other knobs depend on.
    - `build(match, plan)` is the kernel of a plan.
    - `runs_on(match, device)`: whether the kernel is one for the device: its dialect has the instructions, and no simpler
      emitter's kernel takes fewer.
    - `joins_products`: proposals hold several products of matrices, as the program states them. What they save is not known
      from counts: predictions of their time and of their parts' decide.
    - `computes(instruction, device)`: whether the emitter's kernels compute an instruction that has no element code.
    - `has_widths_in_loops`: the default `vector_width` is the plan's also where threads are loops, which compilers vectorize.
    - `block_order(plan)` is the number of the block that does the work of block `bl_x` where all knobs of order are 1.
    - `work(match, plan)` is the predicted work of the plan's kernel.
    - `by_elements`: a thread computes its elements alone, also those that take a loop, such as sums of products.
    """

    name: str
    match: Callable[[Computation], M | None]
    plan: Callable[..., P]
    knobs: Callable[[M, P, Device], KnobSpace]
    build: Callable[[M, P], Kernel]
    runs_on: Callable[[M, Device], bool] = on_any_device
    joins_products: bool = False
    by_elements: bool = False
    has_widths_in_loops: bool = False
    computes: Callable[[Instruction, Device], bool] = lambda instruction, device: False
    work: Callable[[M, P], int] = lambda match, plan: predicted_work(match.parts)
    block_order: Callable[[P], SymbolicExpr] = lambda plan: thread_id("bl_x")
    group: Callable[[GraphFacts, Node, Device], Proposal | None] = lambda facts, seed, device: None
