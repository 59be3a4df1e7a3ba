"""Measurement of a kernel's time, after its results were compared with the reference.

Calls take turns on copies of the arguments that together exceed the caches, so that a call finds none of its own there (unless
they are to be warm); scratch memory is not cleared. A sample is as many calls as take 2 ms by the device's own clock, without
Python between them. The result is the median of samples; its spread is half of their interquartile range. One process of a user
measures at a time.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from indexing.errors import IndexingError
from indexing.kernels.ir.types import storage_bytes
from indexing.locks import locked
from indexing.ops.values import leaves_of
from indexing.reference.interpreter import run_computation
from indexing.runtime.plan_store import default_path

if TYPE_CHECKING:
    from indexing.hlo import Computation, Shape
    from indexing.kernels.kernel import Argument, Kernel
    from indexing.runtime.device import Buffer, Clock, TimingDevice
    from indexing.tuning.conditions import Conditions

ROTATED_BYTES = 96 << 20  # more than the caches of processors and GPUs hold
MAX_ROTATION = 4096  # copies of the arguments; those of arguments below 24 KiB are smaller in total
SAMPLE = 2e-3  # seconds
SAMPLES = 9
MIN_SAMPLES = 3
MAX_SECONDS = 1.0  # the time allowed for the samples of one kernel
PAIRS = 25  # samples of two kernels that are compared
MIN_PAIRS = 9
MAX_WAIT = 600.0  # seconds for other processes that measure
TOLERANCES = {"f64": 1e-8, "c128": 1e-8, "f32": 1e-4, "c64": 1e-4, "f16": 1e-2, "bf16": 4e-2}
DEFAULT_TOLERANCE = 0.3  # floats of 8 bits and less


@dataclass(frozen=True, slots=True)
class Timing:
    """Median seconds of a call, and the spread of samples."""

    seconds: float
    spread: float


class Benchmark:
    """Inputs of a fusion, the reference's results for them, and copies of them on a device."""

    def __init__(self, computation: Computation, device: TimingDevice, conditions: Conditions) -> None:
        """Make inputs, which are the same for the same seed. Raises IndexingError for inputs that don't fit the parameters."""
        self.device = device
        self.warm = conditions.warm
        self.arrays, self.wanted = arguments_and_results(computation, conditions.seed, conditions.inputs)
        self._copies: list[dict[tuple[str, int], Buffer]] = []
        self._done = 0  # calls that were timed

    def problem(self, kernel: Kernel) -> str:
        """The difference of a kernel's results from the reference; empty if they are correct."""
        launch, buffers = self.device.load(kernel), self._fresh(kernel)
        launch([b for b, a in zip(buffers, kernel.arguments, strict=True) if a.alias_of is None])
        for argument, buffer in zip(kernel.arguments, buffers, strict=True):
            if argument.kind == "output":
                wanted = self.wanted[argument.number]
                computed = self.device.download(buffer, wanted.dtype, _physical(argument))
                if problem := difference(_logical(computed, argument), wanted, argument.element_type):
                    return f"output {argument.number} {problem}"
        return ""

    def timing(self, kernel: Kernel) -> Timing:
        """The time of a kernel whose results are correct."""
        (samples,) = self.samples([kernel], MIN_SAMPLES, SAMPLES)
        return timing_of(samples)

    def samples(self, kernels: Sequence[Kernel], least: int = MIN_PAIRS, most: int = PAIRS) -> list[list[float]]:
        """Samples of kernels whose results are correct, taken in turns, so that the load is the same for all."""
        lock = default_path().with_name("measuring.sqlite")
        with locked(lock, MAX_WAIT, "another process measures, which would disturb this one"):
            runs = [self._run(k) for k in kernels]
            samples: list[list[float]] = [[] for _ in runs]
            begin = time.perf_counter()
            for k in range(most):
                if k >= least and time.perf_counter() - begin > MAX_SECONDS * len(runs):
                    break
                for of_kernel, run in zip(samples, runs, strict=True):
                    of_kernel.append(self._seconds_of_a_call(*run))
        return samples

    def _run(self, kernel: Kernel) -> tuple[Clock, int]:
        """The clock of a kernel, and the calls of a sample."""
        sets = self._sets(kernel)
        clock = self.device.clock(kernel, sets)
        self._seconds_of_a_call(clock, len(sets))  # warms up what is loaded late
        once = max(self._seconds_of_a_call(clock, len(sets)), 1e-9)
        return clock, max(int(SAMPLE / once), 1)

    def _seconds_of_a_call(self, clock: Clock, calls: int) -> float:
        """The seconds of a call. Each call takes the arguments that were used least recently, by whichever kernel."""
        self._done += calls
        return clock(self._done - calls, calls) / calls

    def _sets(self, kernel: Kernel) -> list[list[Buffer]]:
        """The buffers that are passed in turn: copies of the arguments, which all kernels share, and scratch of its own."""
        passed = [a for a in kernel.arguments if a.alias_of is None]
        scratch = {a.number: self._buffer(a) for a in passed if a.kind == "scratch"}
        sets: list[list[Buffer]] = []
        for k in range(1 if self.warm else _rotation(kernel)):
            if k == len(self._copies):
                self._copies.append({})
            shared = self._copies[k]
            for a in passed:
                if a.kind != "scratch" and (a.kind, a.number) not in shared:
                    shared[a.kind, a.number] = self._buffer(a)
            sets.append([scratch[a.number] if a.kind == "scratch" else shared[a.kind, a.number] for a in passed])
        return sets

    def _fresh(self, kernel: Kernel) -> list[Buffer]:
        """A buffer for each argument; arguments may share one."""
        buffers: list[Buffer] = []
        for a in kernel.arguments:
            buffers.append(self._buffer(a) if a.alias_of is None else buffers[a.alias_of])
        return buffers

    def _buffer(self, argument: Argument) -> Buffer:
        if argument.kind == "input":
            return self.device.upload(in_memory(self.arrays[argument.number], argument))
        if argument.kind == "scratch":
            return self.device.upload(argument.zeros())
        return self.device.empty(_nbytes(argument))


def timing_of(samples: Sequence[float]) -> Timing:
    """The median and the spread of samples."""
    low, middle, high = np.quantile(samples, (0.25, 0.5, 0.75))
    return Timing(float(middle), float(high - low) / 2)


def _rotation(kernel: Kernel) -> int:
    """The number of copies of the arguments that are used in turn."""
    size = sum(_nbytes(a) for a in kernel.arguments if a.alias_of is None and a.kind != "scratch")
    return max(min(-(-ROTATED_BYTES // max(size, 1)), MAX_ROTATION), 1)


def arguments_and_results(
    computation: Computation, seed: int, inputs: Sequence[np.ndarray] | None = None
) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Values of the parameters, by default the same for the same seed, and the reference's results for them."""
    random = np.random.default_rng(seed)
    made = (input_values(p.shape, random) for p in computation.parameters)
    arrays = list(made) if inputs is None else given_inputs(computation, inputs)
    with np.errstate(all="ignore"):
        return arrays, [np.asarray(a) for a in leaves_of(run_computation(computation, arrays))]


def given_inputs(computation: Computation, inputs: Sequence[np.ndarray]) -> list[np.ndarray]:
    """The inputs, if they fit the parameters. Raises IndexingError if not."""
    wanted = [(p.shape.dimensions, p.shape.dtype) for p in computation.parameters]
    given = [(a.shape, a.dtype) for a in inputs]
    if wanted != given:
        texts = [", ".join(f"{dtype}{list(shape)}" for shape, dtype in each) or "none" for each in (wanted, given)]
        raise IndexingError(f"the parameters of {computation.name} are {texts[0]}; got inputs {texts[1]}")
    return list(inputs)


def in_memory(array: np.ndarray, argument: Argument) -> np.ndarray:
    """The array with its elements in the order of the argument's layout."""
    return np.ascontiguousarray(array.transpose(_order(argument)))


def input_values(shape: Shape, random: np.random.Generator) -> np.ndarray:
    """Values of a parameter: positive numbers below 1, or ascending integers, as indices may have to be sorted and unique."""
    kind, dtype = shape.element_type, shape.dtype
    if kind == "pred":
        return random.integers(0, 2, shape.dimensions).astype(bool)
    if kind[0] in "su":
        largest = 1 << min(int(kind[1:]) - (kind[0] == "s"), 31)
        return (np.arange(shape.element_count) % largest).reshape(shape.dimensions).astype(dtype)
    return np.asarray(random.uniform(0.25, 1.0, shape.dimensions)).astype(dtype)


def difference(computed: np.ndarray, wanted: np.ndarray, kind: str) -> str:
    """The difference of results beyond rounding, relative to the largest of them; empty if there is none."""
    if computed.shape != wanted.shape:
        return f"has shape {computed.shape}; expected {wanted.shape}"
    if kind[0] in "sup":
        wrong = int((computed != wanted).sum())
        return f"differs in {wrong} of {computed.size} elements" if wrong else ""
    wide = np.complex128 if kind[0] == "c" else np.float64
    a, b = computed.astype(wide), wanted.astype(wide)
    finite = np.isfinite(a) & np.isfinite(b)
    if not np.array_equal(a[~finite], b[~finite], equal_nan=True):
        return "is finite where the reference isn't, or the other way round"
    scale = float(np.abs(b[finite]).max(initial=0.0))
    error = float(np.abs(a[finite] - b[finite]).max(initial=0.0))
    limit = TOLERANCES.get(kind, DEFAULT_TOLERANCE) * scale
    return f"is wrong by {error:.3g} where values reach {scale:.3g}" if error > limit else ""


def _nbytes(argument: Argument) -> int:
    return argument.zeros().nbytes if argument.kind == "scratch" else argument.element_count * _itemsize(argument)


def _itemsize(argument: Argument) -> int:
    return storage_bytes(argument.element_type)


def _order(argument: Argument) -> tuple[int, ...]:
    rank = len(argument.dimensions)
    return tuple(range(rank)) if argument.layout is None else tuple(reversed(argument.layout))


def _physical(argument: Argument) -> tuple[int, ...]:
    return tuple(argument.dimensions[d] for d in _order(argument))


def _logical(physical: np.ndarray, argument: Argument) -> np.ndarray:
    order = _order(argument)
    return physical.transpose([order.index(d) for d in range(len(order))])
