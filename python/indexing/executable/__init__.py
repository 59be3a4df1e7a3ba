"""`compile`: runs a whole program on a device, kernel by kernel."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from time import perf_counter
from typing import NoReturn

import numpy as np

from indexing.arguments import of_type, takes
from indexing.errors import IndexingError
from indexing.executable.devices import REFERENCE, DeviceName, first_that_works, open_device
from indexing.executable.host_arguments import read_in_place
from indexing.executable.profile import Profile, Recorder, StepTime
from indexing.executable.scheduler import Scheduler
from indexing.executable.tuned_plans import tuned_plan
from indexing.hlo import Instruction, Module, Shape
from indexing.hlo.program_like import WholeProgram, or_function, whole_program
from indexing.kernels.kernel import Kernel
from indexing.model.libraries import LIBRARIES
from indexing.ops.bounded import sizes_fit
from indexing.ops.tuples import is_array
from indexing.ops.values import HloValue, leaves_of
from indexing.planning.libraries import Matmul, check_has_library, check_matmul
from indexing.planning.program import KnobChoice, default_knobs
from indexing.planning.program import emit_all as emit_all
from indexing.planning.program import planned_kernels as planned_kernels
from indexing.reference.evaluation import evaluate
from indexing.reference.interpreter import check_has_value
from indexing.reference.program_arguments import array_of, check_count, host_value, is_on_gpu
from indexing.runtime.device import Buffer, Device, ExchangingDevice, GraphDevice, LaunchTimes, MultiplyingDevice
from indexing.runtime.graphed_run import GraphedRun
from indexing.runtime.interpreter import InterpretedRun
from indexing.runtime.memory import ArrayFormat
from indexing.runtime.plan_store import Store
from indexing.runtime.runs import TapeProgram
from indexing.runtime.tape import DeviceProgram, ReplayingDevice, Tape


@or_function
@takes(device=of_type(str, Device), tuned=of_type(bool))
def compile(
    module: WholeProgram, device: DeviceName | Device = "auto", tuned: bool = False, matmul: Matmul = "kernels"
) -> Executable:
    """Compile the entry computation of a module, of HLO text, or of a JAX function and its arguments, for a device.

    `device` is `"cuda"` (a GPU through cuda.core), `"cpu"` (the C target and a C compiler), `"reference"` (numpy;
    nothing is compiled), `"auto"` (the first that works of a GPU, the CPU and the reference; a ReferenceFallback warns,
    once, of devices that do not work), or an opened device of `indexing.runtime`.

    With `tuned`, kernels use the fastest plans that `tune` has measured on that device, where there are any. With
    `matmul="library"`, products of matrices are handed to the device's library (cuBLAS; numpy's BLAS on a CPU) where it is
    predicted to be faster than a kernel; `library_steps` lists them.

    Raises ParseError, UnsupportedOp for an instruction that neither a kernel nor the reference can compute, and
    CompileError if a compiler, a library or its extra is missing, or a kernel does not compile.
    """
    parsed = whole_program(module, "compile: module")
    check_matmul(matmul)
    if device == "auto":
        device = first_that_works()
    if device == REFERENCE:
        return ReferenceExecutable(parsed)
    opened = open_device(device) if isinstance(device, str) else device
    check_has_library(matmul, opened.dialect)
    if matmul == "library" and not isinstance(opened, MultiplyingDevice):
        raise IndexingError(f"device {opened.name!r} has no `multiply` that calls a library; use matmul='kernels'")
    return DeviceExecutable(parsed, opened, _measured_knobs(opened) if tuned else default_knobs, matmul)


def _measured_knobs(device: Device) -> KnobChoice:
    store = Store()
    store.check_exists(is_named=False)
    return lambda computation: tuned_plan(computation, device, store)


class Executable(ABC):
    """A program that is ready to run: call it with one array for each parameter.

    `device` names where it runs; `kernels` are its distinct kernels in the order of their first use;
    `reference_steps` are the instructions that the numpy reference computes, `library_steps` the products that a library does,
    `solver_steps` the factorizations of matrices, and solutions of triangular systems, that functions of C compute on a CPU.
    """

    device: str
    kernels: tuple[Kernel, ...]
    reference_steps: tuple[Instruction, ...]
    library_steps: tuple[Instruction, ...] = ()
    solver_steps: tuple[Instruction, ...] = ()

    def __init__(self, module: Module) -> None:
        """Keep the module, whose parameters have the shapes of the arguments."""
        self.module = module

    def __repr__(self) -> str:
        """One line: the program, its device, and the numbers of kernels, of products by a library, and of reference steps."""
        counted = f"{len(self.kernels)} kernel{'' if len(self.kernels) == 1 else 's'}"
        if self.library_steps:
            count = len(self.library_steps)
            counted += f", {count} step{'' if count == 1 else 's'} by a library"
        if self.solver_steps:
            count = len(self.solver_steps)
            counted += f", {count} solver{'' if count == 1 else 's'} of matrices"
        by_reference = f", {len(self.reference_steps)} steps by the reference" if self.reference_steps else ""
        return f"Executable({self.module.name}, on {self.device}, {counted}{by_reference})"

    def __reduce__(self) -> NoReturn:
        """Raise TypeError: code and memory of a process cannot be pickled or copied."""
        raise TypeError(f"{self!r} belongs to this process: pickle its `module`, and compile that in the other process")

    @abstractmethod
    def __call__(self, *arrays: object) -> HloValue:
        """Run the program on arrays, numbers or sequences of the parameters' shapes.

        Arguments in host memory are converted to the parameters' element types as by `ix.evaluate`; those on a GPU must
        have these types.

        The result is an array, or, for a tuple, a flat tuple of its arrays in order; a token is None.

        Raises IndexingError if the number of arguments, a shape, an element or a device is not as expected.
        """

    @abstractmethod
    def profile(self, *arrays: object) -> Profile:
        """The time of each step of a call on these arrays, as a table; compilation is listed apart.

        The program runs twice, so that one-time work of a first call is not timed.
        """


class ReferenceExecutable(Executable):
    """Runs a program by the numpy reference."""

    def __init__(self, module: Module) -> None:
        """Check that the reference can compute every instruction; there is nothing to compile."""
        super().__init__(module)
        self.device = REFERENCE
        self.kernels = ()
        self.reference_steps = tuple(module.entry.post_order())
        for instruction in self.reference_steps:
            check_has_value(instruction)

    def __call__(self, *arrays: object) -> HloValue:
        """Evaluate the entry computation."""
        return evaluate(self.module, *arrays)  # type: ignore[arg-type]

    def profile(self, *arrays: object) -> Profile:
        """Time the whole program as one step."""
        start = perf_counter()
        self(*arrays)
        seconds = perf_counter() - start
        step = StepTime(self.module.entry.name, REFERENCE, 1, seconds)
        return Profile(self.device, (step,), seconds)


class DeviceExecutable(Executable):
    """Runs a program on a device; the numpy reference computes on the host what no kernel can."""

    def __init__(
        self, module: Module, device: Device, choose: KnobChoice = default_knobs, matmul: Matmul = "kernels"
    ) -> None:
        """Plan the entry computation, and compile its kernels."""
        super().__init__(module)
        self.device = device.name
        self._on = device
        scheduler = Scheduler(device)
        recording = scheduler.record(module.entry, choose, matmul)
        self._program = _program(recording.tape, device)
        self._argument_formats = recording.argument_formats
        self._result_formats = recording.result_formats
        shapes = [p.shape for p in module.entry.parameters]
        reads_in_place = isinstance(device, ReplayingDevice)
        self._host_arguments = read_in_place(shapes, self._argument_formats) if reads_in_place else None
        self._timed = recording.timed
        self.kernels = tuple(scheduler.kernels)
        self._compile_seconds = tuple(scheduler.compile_seconds)
        self.reference_steps = tuple(scheduler.reference_steps)
        self.library_steps = tuple(scheduler.library_steps)
        self.solver_steps = tuple(scheduler.solver_steps)

    def __call__(self, *arrays: object) -> HloValue:
        """Upload, run, download. Arguments on a GPU are read in place, and results then stay on the GPU."""
        return self._run(arrays)

    def _run(self, arrays: tuple[object, ...], times: LaunchTimes | None = None) -> HloValue:
        check_count(self.module, arrays)
        views = None if self._host_arguments is None else self._host_arguments.views(arrays)
        if views is not None:
            # The arrays stay where they are until the run has ended: `views` lives until then.
            return self._results(self._program.run(views.addresses(), self._downloaded, times))
        formats, buffers = iter(self._argument_formats), list[Buffer]()
        on_gpu = [*map(is_on_gpu, arrays)]  # once: to ask a small array takes as long as to pass it
        for k, (array, p) in enumerate(zip(arrays, self.module.entry.parameters, strict=True)):
            if on_gpu[k] and p.shape.is_array:
                buffers.append(self._borrowed(array, p.shape, next(formats), f"argument {k}"))
            else:
                buffers += self._shared(array, p.shape, f"argument {k}", formats)
        # The protocol is checked last: that takes as long as a call.
        is_exchanged = any(on_gpu) and isinstance(self._on, ExchangingDevice)
        return self._results(self._program.run(buffers, self._exported if is_exchanged else self._downloaded, times))

    def _results(self, values: list[HloValue]) -> HloValue:
        shape = self.module.entry.root.shape
        if len(values) != len(shape.leaves):
            arrays = iter(values)
            values = [next(arrays) if is_array(leaf) else None for leaf in shape.leaves]  # a token has no value
        return tuple(values) if shape.is_tuple else values[0]

    def profile(self, *arrays: object) -> Profile:
        """Time each kernel by itself: the next one starts when the device has finished."""
        self(*arrays)
        recorder = Recorder(self.device, self._timed)
        start = perf_counter()
        self._run(arrays, recorder.add)
        seconds = perf_counter() - start
        kernels = list(zip(self.kernels, self._compile_seconds, strict=True))
        others = [(i, REFERENCE) for i in self.reference_steps]
        others += [(i, LIBRARIES[self._on.dialect].name) for i in self.library_steps]
        others += [(i, "solver") for i in self.solver_steps]
        return recorder.profile(kernels, others, seconds)

    @property
    def buffers_allocated(self) -> int:
        """The number of device buffers, arguments excluded, that calls one after the other have allocated so far."""
        return self._program.allocated

    def _shared(self, value: object, shape: Shape, what: str, formats: Iterator[ArrayFormat]) -> list[Buffer]:
        """The arrays of an argument in host memory, in that of the device, each in the next of `formats`."""
        if shape.is_array:
            return [self._on.share(next(formats).stored(array_of(value, shape, what)))]
        leaves = leaves_of(host_value(value, shape, what))
        return [self._on.share(next(formats).stored(array)) for array in leaves if array is not None]

    def _borrowed(self, array: object, shape: Shape, form: ArrayFormat, what: str) -> Buffer:
        if not isinstance(self._on, ExchangingDevice):
            raise IndexingError(f"{what} lies on a GPU; expected an array in host memory, for device {self._on.name!r}")
        _check_array(array, shape, what)
        if not form.is_row_major:
            raise IndexingError(f"{what} must be passed in host memory: its layout {shape.layout} is not row-major")
        return self._on.borrow(array, shape.dtype, shape.dimensions)

    def _downloaded(self, number: int, buffer: Buffer) -> np.ndarray:
        """A result on the host, its dimensions in their own order."""
        form = self._result_formats[number]
        stored = self._on.download(buffer, form.dtype, form.stored_sizes)
        return stored if form.is_row_major else np.ascontiguousarray(form.logical(stored))

    def _exported(self, number: int, buffer: Buffer) -> HloValue:
        """A result on the GPU, row-major, which takes over the buffer."""
        assert isinstance(self._on, ExchangingDevice)
        form = self._result_formats[number]
        if not form.is_row_major:
            buffer = self._on.upload(self._downloaded(number, buffer))
        buffer.borrowed = True
        return self._on.export(buffer, form.dtype, form.sizes)  # type: ignore[return-value]


def _program(tape: Tape, device: Device) -> DeviceProgram:
    """The tape, run by the device itself if it can, else by the interpreter."""
    if isinstance(device, ReplayingDevice):
        return device.program(tape)
    if isinstance(device, GraphDevice) and device.graphs:
        return TapeProgram(tape, lambda: GraphedRun(tape, device))
    return TapeProgram(tape, lambda: InterpretedRun(tape, device))


def _check_array(array: object, shape: Shape, what: str) -> None:
    """Raise unless an array on a GPU has the shape and element type expected: it is read without conversion."""
    sizes = tuple(getattr(array, "shape", ()))
    if not sizes_fit(sizes, shape):
        raise IndexingError(f"{what} has shape {list(sizes)}; expected {list(shape.dimensions)} ({shape})")
    if getattr(array, "dtype", None) is shape.dtype:  # the common case: converting types to text is slow
        return
    kind = str(getattr(array, "dtype", "")).removeprefix("torch.")
    if kind not in (str(shape.dtype), "bool" if shape.element_type == "pred" else str(shape.dtype)):
        raise IndexingError(f"{what} has element type {kind} on a GPU; expected {shape.dtype} ({shape})")
