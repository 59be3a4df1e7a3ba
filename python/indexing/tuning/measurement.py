"""How long a kernel takes, and whether it is right: it is run beside the reference before it is timed.

Inputs are rotated through more memory than caches hold, so that a call finds none of its own; scratch memory is left as a
call leaves it. A sample is as many calls as take 2 ms; the result is the median of samples, its spread half of what the
middle half of them spans.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from indexing.emitters.types import storage_bytes
from indexing.errors import IndexingError
from indexing.hlo.layout import major_to_minor
from indexing.ops.tuples import flatten
from indexing.reference.interpreter import run_computation

if TYPE_CHECKING:
    from indexing.emitters.kernel import Argument, Kernel
    from indexing.hlo import Computation, Shape
    from indexing.runtime.device import Buffer, Device

ROTATED_BYTES = 96 << 20  # more than the caches of processors and GPUs hold
MAX_ROTATION = 16
SAMPLE = 2e-3  # seconds
SAMPLES = 9
MAX_SECONDS = 1.0  # for the samples of one kernel
TOLERANCES = {"f64": 1e-8, "c128": 1e-8, "f32": 1e-4, "c64": 1e-4, "f16": 1e-2, "bf16": 4e-2}
DEFAULT_TOLERANCE = 0.3  # floats of 8 bits and less


@dataclass(frozen=True, slots=True)
class Timing:
    """Median seconds of a call, and the spread of samples."""

    seconds: float
    spread: float


class Trial:
    """Inputs of a fusion, the reference's results for them, and copies of them on a device."""

    def __init__(self, computation: Computation, device: Device, seed: int) -> None:
        """The same inputs for the same seed."""
        self.device = device
        self.shapes = [p.shape for p in computation.parameters]
        random = np.random.default_rng(seed)
        self.arrays = [some_values(shape, random) for shape in self.shapes]
        with np.errstate(all="ignore"):
            self.wanted = [np.asarray(a) for a in flatten(run_computation(computation, self.arrays))]
        self._pool: dict[int, list[Buffer]] = {}

    def problem(self, kernel: Kernel) -> str:
        """What is wrong with the results of a kernel; empty where they are right."""
        launch, buffers = self.device.load(kernel), self._fresh(kernel)
        launch([b for b, a in zip(buffers, kernel.arguments, strict=True) if a.alias_of is None])
        for argument, buffer in zip(kernel.arguments, buffers, strict=True):
            if argument.kind == "output":
                wanted = self.wanted[argument.number]
                found = self.device.download(buffer, wanted.dtype, _physical(argument))
                if problem := difference(_logical(found, argument), wanted, argument.element_type):
                    return f"output {argument.number} {problem}"
        return ""

    def timing(self, kernel: Kernel) -> Timing:
        """Of a kernel whose results are right."""
        launch = self.device.load(kernel)
        sets = [self._passed(kernel) for _ in range(self._rotation(kernel))]
        calls = self._calls_of_a_sample(launch, sets)
        samples: list[float] = []
        begin = time.perf_counter()
        while len(samples) < SAMPLES and (len(samples) < 3 or time.perf_counter() - begin < MAX_SECONDS):
            samples.append(self._sample(launch, sets, calls))
        low, middle, high = np.quantile(samples, (0.25, 0.5, 0.75))
        return Timing(float(middle), float(high - low) / 2)

    def _calls_of_a_sample(self, launch: Callable[[Sequence[Buffer]], None], sets: list[list[Buffer]]) -> int:
        self._sample(launch, sets, len(sets))  # warms up what is loaded late
        once = max(self._sample(launch, sets, len(sets)), 1e-9)
        return max(int(SAMPLE / once), 1)

    def _sample(self, launch: Callable[[Sequence[Buffer]], None], sets: list[list[Buffer]], calls: int) -> float:
        self.device.finish()
        begin = time.perf_counter()
        for k in range(calls):
            launch(sets[k % len(sets)])
        self.device.finish()
        return (time.perf_counter() - begin) / calls

    def _rotation(self, kernel: Kernel) -> int:
        size = sum(_nbytes(a) for a in kernel.arguments if a.alias_of is None and a.kind != "scratch")
        return max(min(-(-ROTATED_BYTES // max(size, 1)), MAX_ROTATION), 1)

    def _passed(self, kernel: Kernel) -> list[Buffer]:
        fresh = self._fresh(kernel)
        return [b for b, a in zip(fresh, kernel.arguments, strict=True) if a.alias_of is None]

    def _fresh(self, kernel: Kernel) -> list[Buffer]:
        """One buffer an argument; those that share one have the same."""
        buffers: list[Buffer] = []
        for a in kernel.arguments:
            if a.alias_of is not None:
                buffers.append(buffers[a.alias_of])
            elif a.kind == "input":
                order = major_to_minor(self.shapes[a.number])
                buffers.append(self.device.upload(np.ascontiguousarray(self.arrays[a.number].transpose(order))))
            elif a.kind == "scratch":
                buffers.append(self.device.upload(a.zeros()))
            else:
                buffers.append(self.device.empty(_nbytes(a)))
        return buffers


def some_values(shape: Shape, random: np.random.Generator) -> np.ndarray:
    """Positive numbers below 1, and rising integers, which are indices that are sorted and different."""
    kind, dtype = shape.element_type, shape.dtype
    if kind == "pred":
        return random.integers(0, 2, shape.dimensions).astype(bool)
    if kind[0] in "su":
        largest = 1 << min(int(kind[1:]) - (kind[0] == "s"), 31)
        return (np.arange(shape.element_count) % largest).reshape(shape.dimensions).astype(dtype)
    return np.asarray(random.uniform(0.25, 1.0, shape.dimensions)).astype(dtype)


def difference(found: np.ndarray, wanted: np.ndarray, kind: str) -> str:
    """How results differ by more than rounding: relative to the largest of them; empty where they don't."""
    if found.shape != wanted.shape:
        return f"has shape {found.shape}; expected {wanted.shape}"
    if kind[0] in "sup":
        wrong = int((found != wanted).sum())
        return f"differs in {wrong} of {found.size} elements" if wrong else ""
    wide = np.complex128 if kind[0] == "c" else np.float64
    a, b = found.astype(wide), wanted.astype(wide)
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


def _logical(found: np.ndarray, argument: Argument) -> np.ndarray:
    order = _order(argument)
    return found.transpose([order.index(d) for d in range(len(order))])


def opened(name: str) -> Device:
    """The device that measures for a machine's dialect. Raises CompileError where it isn't there."""
    if name == "c":
        from indexing.runtime.host import Host

        return Host()
    if name == "cuda":
        from indexing.runtime.cuda import CudaDevice

        return CudaDevice()
    raise IndexingError(f"nothing is measured in dialect {name!r}: tune for a CPU or a CUDA device")
