"""Emission of kernels: heroes build a fusion's kernel in a small typed IR, passes rewrite it, targets write its source."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from inspect import Parameter, signature
from typing import Any, TypeAlias

from indexing._core import SymbolicExpr
from indexing.arguments import integer, of_type, optional, takes
from indexing.cached import cached_property
from indexing.device.detect import chosen_device
from indexing.device.record import Device
from indexing.device.table import portable_device
from indexing.errors import IndexingError, UnsupportedOp
from indexing.hlo import Computation, Instruction, Program
from indexing.hlo.program_like import Part, or_function, part_of_program
from indexing.kernels.emitter import Emitter, Match, fits
from indexing.kernels.emitters import EMITTERS
from indexing.kernels.kernel import Kernel
from indexing.kernels.knob_space import KnobSpace
from indexing.kernels.largest_array import names_largest_array
from indexing.kernels.launch import Plan
from indexing.kernels.targets import TARGETS
from indexing.kernels.targets.target import Dialect
from indexing.ops.bounded import check_kernel_sizes
from indexing.partitioner import partition
from indexing.work import MAX_REPETITION, most_repeated, repeats_itself

AnyEmitter: TypeAlias = Emitter[Any, Any]


@or_function
@takes(dialect=optional(of_type(str)), device=optional(of_type(Device, str)))
def emit(
    fusion: Program, /, dialect: Dialect | None = None, device: Device | str | None = None, **knobs: int | None
) -> Kernel:
    """The kernel of a fusion instruction or of a computation that is one fusion (of a module: its entry; of
    a JAX function and its arguments: its program).

    For an entry whose root is its only fusion, that fusion is taken; `emit_all` takes whole programs. The kernel can be
    launched on the `device`; without one, on any device that runs the dialect, by default CUDA C++. `knobs` are those of the
    emitter that matches (its `plan` documents them with their ranges). Raises UnsupportedOp for an op that no kernel computes,
    and for a computation of which one kernel would repeat much work; IndexingError for a plan that exceeds a limit of the
    device; CompileError for an unknown dialect.
    """
    planned_for = device_of_kernels(dialect, device)
    part = part_of_program(fusion, "emit: fusion")
    computation = fused_computation(part)
    kernel = emit_fused(computation, planned_for, **knobs)
    if repeats_itself(computation, kernel.work) and not isinstance(part, Instruction) and not _is_fused(computation):
        most = most_repeated(partition(computation))
        what = f"one kernel of {computation.name} would compute {most.name} repeatedly: it"
        raise UnsupportedOp(f"{what} {EMIT_THE_PARTS}")
    return kernel


def device_of_kernels(dialect: Dialect | None, device: Device | str | None) -> Device:
    """The device that kernels are made for: the given one, or one with the limits that all devices of the dialect have."""
    if device is None:
        return portable_device(dialect)
    chosen = chosen_device(device)
    if dialect not in (None, chosen.dialect):
        raise IndexingError(f"{chosen.name} runs kernels in dialect {chosen.dialect!r}; leave out dialect={dialect!r}")
    return chosen


@names_largest_array
def emit_fused(
    computation: Computation, device: Device, planned_for: Device | None = None, /, **knobs: int | None
) -> Kernel:
    """The kernel of a computation as one fusion, however much work it repeats; that of the default plan is built once.

    The emitter is the one that a `device` has; its plan keeps the limits of the device that it is `planned_for`, if given.
    """
    chosen = choose_emitter(computation, device)
    plan = _plan(chosen, knobs, planned_for or device)
    known = computation.module.attached(_DefaultKernels).by_computation
    key = computation, device.after_another()  # what a launch costs changes no kernel
    default = known.get(key)
    if default is not None and default[0] == plan:
        return default[1]
    kernel = Kernel(chosen.emitter.build(chosen.match, plan), device)
    if not knobs:
        known[key] = plan, kernel
    return kernel


def block_order(computation: Computation, device: Device, **knobs: int | None) -> SymbolicExpr:
    """The number of the block of the kernel without order that does the work of block `bl_x` of that with these knobs."""
    chosen = choose_emitter(computation, device)
    return chosen.emitter.block_order(_plan(chosen, knobs, device))


def share_kernels(copy: Computation, original: Computation) -> None:
    """Give a copy of a computation, in a module of its own, the emitters that were chosen for it and their default kernels."""
    choices, own_choices = (c.module.attached(_Choices).by_computation for c in (original, copy))
    own_choices |= {(copy, device, of): choice for (c, device, of), choice in choices.items() if c is original}
    kernels, own_kernels = (c.module.attached(_DefaultKernels).by_computation for c in (original, copy))
    own_kernels |= {(copy, device): known for (c, device), known in kernels.items() if c is original}


@dataclass(slots=True)
class _DefaultKernels:
    """The plans and kernels of computations for which no knob was given."""

    by_computation: dict[tuple[Computation, Device], tuple[Plan, Kernel]] = field(default_factory=dict)


def _plan(chosen: Choice, knobs: Mapping[str, int | None], device: Device) -> Plan:
    """The plan with these knobs. Raises IndexingError if it exceeds a limit of the device."""
    plan = _checked_plan(chosen, knobs, device) if knobs else chosen.default_plan
    chosen.check_launch(plan, device)
    return plan


def _checked_plan(chosen: Choice, knobs: Mapping[str, int | None], device: Device) -> Plan:
    """The plan with the knobs that are not None. They are checked before, and with those that the plan chooses."""
    space = chosen.knob_space(device)
    given = {name: integer(value, f"emit: {name}") for name, value in knobs.items() if value is not None}
    space.check_given(given)
    plan = _planned(chosen.emitter, chosen.match, device, given)
    space.check_given({n: getattr(plan, n) for n in space.names if hasattr(plan, n)} | given)
    return plan


def _planned(emitter: AnyEmitter, match: Match, device: Device, knobs: Mapping[str, int]) -> Plan:
    has_width = "vector_width" in _knob_names(emitter.plan) and not emitter.has_widths_in_loops
    if has_width and not TARGETS[device.dialect].vector_bytes:
        knobs = {"vector_width": 1, **knobs}  # the compiler vectorizes over neighbouring threads
    plan: Plan = emitter.plan(match, device, **knobs)
    return plan


@cache
def _knob_names(plan: Callable[..., object]) -> tuple[str, ...]:
    """The knobs of a `plan` function: its keyword-only parameters."""
    return tuple(p.name for p in signature(plan).parameters.values() if p.kind is Parameter.KEYWORD_ONLY)


@dataclass(frozen=True)
class Choice:
    """The emitter that builds the kernel of a computation for a device, and what it matched."""

    computation: Computation
    device: Device
    emitter: AnyEmitter
    match: Match
    _spaces: dict[Device, KnobSpace] = field(default_factory=dict, compare=False, repr=False)

    @cached_property
    def default_plan(self) -> Plan:
        """The plan without knobs."""
        return _planned(self.emitter, self.match, self.device, {})

    def _default_plan(self, device: Device) -> Plan:
        """The plan without knobs, for a device. Raises IndexingError if it exceeds a limit of the device."""
        plan = self.default_plan if device is self.device else _planned(self.emitter, self.match, device, {})
        self.check_launch(plan, device)
        return plan

    def check_launch(self, plan: Plan, device: Device) -> None:
        """Raise IndexingError if a plan exceeds a limit of a device."""
        exceeded = device.limits.exceeded(plan.grid, plan.block, plan.shared_bytes)
        if exceeded:
            what = f"the {self.emitter.name} kernel of {self.computation.name}"
            raise IndexingError(f"{what} can't be launched on {device.name}: {exceeded}")

    def knob_space(self, device: Device) -> KnobSpace:
        """The knobs of plans within the limits of a device. Raises IndexingError if there are none."""
        if device not in self._spaces:
            self._spaces[device] = self.emitter.knobs(self.match, self._default_plan(device), device)
        return self._spaces[device]

    @property
    def work(self) -> int:
        """The predicted work of the kernel of the default plan."""
        return self.emitter.work(self.match, self.default_plan)


@names_largest_array
def choose_emitter(computation: Computation, device: Device, emitters: tuple[AnyEmitter, ...] = EMITTERS) -> Choice:
    """The first emitter that matches, has a plan within the limits of the device and repeats no work; else the one whose
    kernel repeats far less than the first with such a plan, or that one; the last that matches if none has such a plan.

    Raises UnsupportedOp if no kernel can compute the computation.
    """
    known = computation.module.attached(_Choices).by_computation
    key = computation, device.after_another(), emitters
    if key not in known:
        _check(computation)
        pairs = ((e, e.match(computation)) for e in emitters)
        matching = (Choice(computation, device, e, match) for e, match in pairs if match and e.runs_on(match, device))
        known[key] = _least_repeated(matching)
    return known[key]


def _least_repeated(choices: Iterator[Choice]) -> Choice:
    best: Choice | None = None
    for choice in choices:
        last = choice
        if not fits(choice.default_plan, choice.device.limits):
            continue
        if best is None or choice.work * MAX_REPETITION < best.work:
            best = choice
        if not repeats_itself(best.computation, best.work):
            break
    return best or last


def computed_by_emitter(instruction: Instruction, device: Device) -> bool:
    """Whether an emitter's kernels compute an instruction that has no element code."""
    return any(e.computes(instruction, device) for e in EMITTERS)


@dataclass(slots=True)
class _Choices:
    """The emitters of a module's computations on devices, memoized, since many plans of one computation need them."""

    by_computation: dict[tuple[Computation, Device, tuple[AnyEmitter, ...]], Choice] = field(default_factory=dict)


@or_function
@takes(dialect=optional(of_type(str)), device=optional(of_type(Device, str)))
def knobs(fusion: Program, dialect: Dialect | None = None, device: Device | str | None = None) -> KnobSpace:
    """The knobs of a fusion's kernel: names, legal values, defaults, and conditions between them.

    `emit(fusion, dialect, device, **plan)` emits a kernel for every plan that the space allows: each is within the limits of
    the device, or, without one, of all devices of the dialect. Raises as `emit` does.
    """
    part = part_of_program(fusion, "knobs: fusion")
    kernel = emit(part, dialect, device)  # raises for a fusion that no kernel computes
    return knobs_of(fused_computation(part), kernel.device)


def knobs_of(computation: Computation, device: Device) -> KnobSpace:
    """The knobs of a computation as one fusion, as `emit_fused` takes it."""
    return choose_emitter(computation, device).knob_space(device)


EMIT_THE_PARTS = "isn't one fusion; emit_all(module) gives the kernels of a whole program"


def _check(computation: Computation) -> None:
    """Raise UnsupportedOp unless parameters and results are arrays of static sizes."""
    check_kernel_sizes(computation)
    shapes = computation.root.shape.leaves
    if not shapes:
        raise UnsupportedOp(f"{computation.name} returns no array: there is nothing for a kernel to write")
    for shape in shapes:
        if shape.element_type in ("token", "opaque"):
            raise UnsupportedOp(f"{computation.name} returns a {shape.element_type}: no kernel makes one")
    for parameter in computation.parameters:
        if parameter.shape.is_tuple:
            what = f"parameter {parameter.name} of {computation.name} is a tuple"
            raise UnsupportedOp(f"{what}: a kernel takes arrays; give each of its arrays a parameter")


def fused_computation(fusion: Part) -> Computation:
    """The computation that a kernel computes. Raises UnsupportedOp unless it is one fusion."""
    if isinstance(fusion, Instruction):
        if not fusion.is_fusion:
            raise UnsupportedOp(
                f"{fusion.name} is a {fusion.opcode} by itself; kernels are made of fusions and of whole computations"
            )
        return fusion.called[0]
    computation = fusion
    if _is_fused(computation):
        return computation
    fusions = [i for i in computation.instructions.values() if i.is_fusion]
    if fusions == [computation.root]:
        return fusions[0].called[0]
    if fusions:
        names = ", ".join(i.name for i in fusions[:3]) + (", ..." if len(fusions) > 3 else "")
        raise UnsupportedOp(f"{computation.name}, which has fusions of its own ({names}), {EMIT_THE_PARTS}")
    return computation


def _is_fused(computation: Computation) -> bool:
    callers = (i for c in computation.module.computations.values() for i in c.instructions.values())
    return any(i.is_fusion and computation in i.called for i in callers)
