"""The time of the kernel that computes one instruction of a program: a fusion, another op, or a library's product."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from math import prod

from indexing._core import predict_times
from indexing.device.record import Device
from indexing.errors import IndexingError, UnsupportedOp
from indexing.hlo import BuiltInstruction, Computation, ComputationBuilder, Instruction, ModuleBuilder
from indexing.hlo.layout import bit_width
from indexing.hlo.module_cache import cached_on_module
from indexing.indexing_analysis.instructions import output_to_input
from indexing.kernels import computed_by_emitter
from indexing.kernels.solvers import Solver, solver_of
from indexing.lazy import np
from indexing.model.libraries import LIBRARIES
from indexing.model.loop_costs import MAX_INLINED_STEPS
from indexing.model.prediction import DEMANDS, predict
from indexing.model.products import Product, product_seconds
from indexing.model.terms import terms_of
from indexing.model.work_time import LIMITS, Limit, predict_work, scalar_rate
from indexing.ops.element_types import element_type
from indexing.ops.registry import traits_of

NO_LATENCY = 1e-12
MOVED = ("cache_bytes", "memory_bytes")
PARTS = (*MOVED, "passes", "updates", "operations", "issued")  # demands, each of which takes a time of its own
WAITS = ("waits", "cache_loads", "memory_loads")
EXACT_F32 = ("HIGHEST", "highest")  # operand precisions at which a library multiplies f32 on scalar units


@dataclass(frozen=True, slots=True)
class KernelTime:
    """The predicted seconds of an instruction's kernel and the largest part of them; None, and why, if it is not modelled.

    `demand` has the counts from which a kernel's time follows, none for a library's; `moved` are the bytes that its loads and
    stores move, those that caches serve included.
    """

    seconds: float | None
    limit: Limit | None = None
    note: str = ""
    demand: Mapping[str, float] | None = None
    moved: float = 0.0

    def parts(self, device: Device) -> dict[str, float]:
        """The seconds of each of the `PARTS` of a kernel's demand, if the rest of it took none."""
        if self.demand is None:
            return {}
        idle = {**self.demand, **dict.fromkeys((*PARTS, *WAITS), 0.0)}
        fixed = _time(idle, device)[0]
        return {part: _time({**idle, part: self.demand[part]}, device)[0] - fixed for part in PARTS}

    def seconds_without(self, device: Device, wasted: float, least: float) -> float:
        """Seconds if so many bytes less were moved, but at least `least` where as many move now."""
        if self.demand is None:
            return self.seconds or 0.0
        less = {name: max(self.demand[name] - wasted, min(least, self.demand[name])) for name in MOVED}
        return _time({**self.demand, **less}, device)[0]


def repeated(time: KernelTime, device: Device, moved: float) -> KernelTime:
    """The time of each of a kernel's runs in a loop, each turn of which moves so many bytes of memory: if the last cache holds
    them, they stay there from turn to turn.
    """
    demand = time.demand
    if demand is None or moved > device.memory.l2_bytes:
        return time
    return _timed(time, {**demand, "memory_bytes": 0.0, "memory_loads": 0.0}, device)


def inlined(time: KernelTime, device: Device) -> KernelTime:
    """The time of each of a kernel's runs in a loop. A processor's loop of small kernels is one function, which launches none;
    what fits into a core's own cache stays there from run to run.
    """
    demand = time.demand
    if terms_of(device).has_warps or demand is None or demand["operations"] > MAX_INLINED_STEPS:
        return time
    if demand["cache_bytes"] <= device.memory.l1_bytes:
        demand = {**demand, **dict.fromkeys((*MOVED, *WAITS), 0.0)}
    at_once = device.with_rates(launch=0.0, block=0.0).with_memory(
        latency=NO_LATENCY, l2_latency=NO_LATENCY, l1_latency=NO_LATENCY
    )
    return _timed(time, demand, at_once)


def _timed(time: KernelTime, demand: Mapping[str, float], device: Device) -> KernelTime:
    """The time of a kernel if its demand were this one."""
    seconds, limit = _time(demand, device)
    return replace(time, seconds=seconds, limit=limit, demand=demand)


@cached_on_module
def predict_instruction(instruction: Instruction, device: Device) -> KernelTime:
    """The time of the default plan of the kernel of a fusion or of any other op, or of a library's product of matrices.

    What no single kernel computes (a sort of long rows, a Fourier transform, a library call without a model, a step of the
    host) is not modelled.
    """
    op = traits_of(instruction)
    if op.across_replicas is not None:
        return KernelTime(None, note="not modelled: it exchanges data with other devices")
    if (solver := solver_of(instruction, device.dialect)) is not None:
        return _of_solver(instruction, solver, device)
    if is_left_to_host(instruction, device):
        return KernelTime(None, note=f"not modelled: on {device.name}, the host computes a {instruction.opcode}")
    try:
        if instruction.is_fusion:
            return _of_kernel(instruction, device)
        if op.result_index is not None:
            return _of_copy(instruction, device)
        meaning = None if op.expansion is None else op.expansion(instruction)
        return _alone(instruction, device) if meaning is None else _of_product(instruction, meaning, device)
    except UnsupportedOp as error:
        is_by_itself = not instruction.is_fusion and op.element is None
        why = (
            "no single kernel of this package computes it; `profile` puts its measured time here"
            if is_by_itself
            else error
        )
        return KernelTime(None, note=f"not modelled: {why}")
    except IndexingError as error:
        return KernelTime(None, note=f"not modelled: {error}")


@dataclass(slots=True)
class _TimesByText:
    """The times of equal instructions outside of fusions."""

    known: dict[tuple[str, Device], KernelTime] = field(default_factory=dict)


def is_left_to_host(i: Instruction, device: Device) -> bool:
    """Whether kernels compute whole rows of an instruction's results, but none of this device does."""
    op = traits_of(i)
    return op.by_rows and op.element is None and op.expansion is None and not computed_by_emitter(i, device)


def _of_kernel(part: Instruction | Computation, device: Device) -> KernelTime:
    prediction = predict(part, {}, device)
    demand = {name: float(column[0]) for name, column in prediction.demands.items()}
    return KernelTime(*_time(demand, device), demand=demand, moved=float(prediction.bytes[0]))


def _time(demand: Mapping[str, float], device: Device) -> tuple[float, Limit]:
    columns = [np.array([demand[name]], float) for name in DEMANDS]
    _, _, _, time, limit = predict_times(device.model_constants, columns)
    return float(time[0]), LIMITS[int(limit[0])]


def _alone(i: Instruction, device: Device) -> KernelTime:
    """The time of a kernel of this instruction alone."""
    module = ModuleBuilder("alone", i.name)
    module.entry.copy(i, [_operand(module.entry, o) for o in i.operands], "result")
    built = module.build()
    known = i.module.attached(_TimesByText).known
    key = str(built), device
    if key not in known:
        known[key] = _of_kernel(built.entry, device)
    return known[key]


def _operand(entry: ComputationBuilder, operand: Instruction) -> BuiltInstruction:
    """A scalar constant, which a kernel has in its source; a parameter for any other operand."""
    is_constant = not operand.operands and operand not in operand.computation.parameters
    is_scalar = operand.shape.is_array and operand.shape.element_count == 1
    return entry.copy(operand) if is_constant and is_scalar else entry.parameter(operand.shape)


def _of_copy(start: Instruction, device: Device) -> KernelTime:
    """The time of a copy in the background: each byte is read and written once."""
    prediction = predict_work(device, 2.0 * sum(map(_bytes, start.operands)))
    return KernelTime(prediction.seconds, prediction.limit)


def _bytes(i: Instruction) -> float:
    return sum(shape.element_count * bit_width(shape.element_type) for shape in i.shape.leaves) / 8


def _of_solver(i: Instruction, solver: Solver, device: Device) -> KernelTime:
    """The time of a function for whole matrices: each block runs on one core."""
    moved = sum(map(_bytes, (i, *i.operands))) + 2 * solver.work_bytes
    busy = min(1.0, solver.blocks / device.cores.count) * device.rates.product_share
    of = element_type(solver.element_type)
    flops = solver.flops * (4 if of.kind == "complex" else 1)
    time = predict_work(device, moved, {of.real: flops / busy})
    return KernelTime(time.seconds, time.limit, "a function for whole matrices, by its operations")


def _of_product(call: Instruction, meaning: Computation, device: Device) -> KernelTime:
    """The time of a library's product, which a call stands for."""
    products = {i: p for i in meaning.post_order() if (p := product_of(i)) is not None}
    if not products:
        return KernelTime(None, note=f"not modelled: {call.name} is a library call without a model")
    config = str(call.attributes.get("backend_config", ""))
    return _of_library(call, products, device, is_exact=any(precision in config for precision in EXACT_F32))


def predict_library(dot: Instruction, device: Device) -> KernelTime:
    """The time of a product of matrices by a library of the device, f32 not rounded to tf32, whatever a kernel of it takes."""
    product = product_of(dot)
    library = LIBRARIES.get(device.dialect)
    assert product is not None and library is not None, f"{dot.name} is no product of matrices, or has no library"
    time = _of_library(dot, {dot: product}, device, is_exact=True)
    assert time.seconds is not None
    note = f"handed to {library.name}: {time.note}"
    return replace(time, seconds=time.seconds + library.call_seconds, note=note)


def _of_library(
    call: Instruction, products: Mapping[Instruction, Product], device: Device, is_exact: bool
) -> KernelTime:
    seconds = sum(product_seconds(p, device, _rate(p, device, is_exact)) for p in products.values())
    # the windows of a convolution overlap, so that its arrays have fewer bytes than its matrices
    moved = (min(p.bytes, sum(map(_bytes, (i, *i.operands)))) for i, p in products.items())
    memory = sum(moved) / device.reached_bandwidth
    fixed = device.launch_seconds
    parts: tuple[tuple[float, Limit], ...] = ((fixed, "launch"), (memory, "memory"), (seconds, "arithmetic"))
    return KernelTime(fixed + max(seconds, memory), max(parts)[1], "a library's product, by the model of its tiles")


def _rate(product: Product, device: Device, is_exact: bool) -> float:
    """Operations per second of the units that multiply: matrix units, unless f32 is to be exact. A complex multiply-add takes
    four real ones.
    """
    kind = product.element_type
    if (element := element_type(kind)).kind == "complex":
        return scalar_rate(device, element.real) / 4
    is_scalar = kind == "f32" and is_exact
    return scalar_rate(device, kind) if is_scalar or kind not in device.rates.matrix else device.matrix_flops(kind)


def product_of(i: Instruction) -> Product | None:
    """An instruction as a product of matrices, by its maps; None for any other instruction.

    Dimensions at which both operands are read are its batch, those of one are rows or columns; ranges are contracted.
    """
    if len(i.operands) != 2 or not i.shape.is_array:
        return None
    indexing = output_to_input(i)
    maps = [of[0].map for of in indexing if len(of) == 1 and not of[0].map.is_undefined]
    if len(maps) != 2 or not all(any(len(v.interval) > 1 for v in m.ranges) for m in maps):
        return None
    used = [{k for e in m.results for k in e.used_variables()} for m in maps]
    sizes = {"batch": 1, "m": 1, "n": 1}
    for k, size in enumerate(i.shape.dimensions):
        side = "batch" if k in used[0] and k in used[1] else "m" if k in used[0] else "n"
        sizes[side] *= size
    contracted = max(prod(len(v.interval) for v in m.ranges) for m in maps)
    kind = i.operands[0].shape.element_type
    return Product(**sizes, k=contracted, element_type=kind, result_type=i.shape.element_type)
