"""A kernel as plain data: source text, arguments, launch dimensions, and the maps of its threads.

Nothing here touches a device or a compiler; `Kernel.cubin` imports the NVRTC binding when it is called.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Literal

from indexing.arguments import integer, item, takes
from indexing.lazy import np
from indexing.ops.element_types import element_type

if TYPE_CHECKING:
    from indexing import IndexingMap

Dialect = Literal["cuda", "opencl"]
ArgumentKind = Literal["input", "output", "scratch"]
Dim3 = tuple[int, int, int]

DIALECTS: tuple[Dialect, ...] = ("cuda", "opencl")
MAX_THREADS_PER_BLOCK = 1024
MAX_GRID: Dim3 = (2**31 - 1, 65535, 65535)
MAX_BLOCK: Dim3 = (1024, 1024, 64)


@dataclass(frozen=True, slots=True)
class Argument:
    """One buffer of a kernel, in the order of the kernel's signature.

    `number` is the parameter's number for an input, the output's for an output. Elements are packed row-major in the
    physical order that `layout` (minor to major; None: row-major) gives. Elements narrower than a byte take one byte.

    A `scratch` buffer belongs to one kernel on one stream: it holds zeros before the first launch, and what a launch
    leaves there is for the next one.

    `alias_of` is the position, in `Kernel.arguments`, of an earlier argument that lives in the same buffer. Such an
    argument is not passed again: the kernel finds in that one buffer the input's elements, and leaves the output's.
    """

    kind: ArgumentKind
    number: int
    element_type: str
    dimensions: tuple[int, ...]
    layout: tuple[int, ...] | None = None
    alias_of: int | None = None

    @property
    def element_count(self) -> int:
        """How many elements the buffer holds; 1 for a scalar."""
        return prod(self.dimensions)

    def zeros(self) -> np.ndarray:
        """What a scratch buffer holds before the first launch."""
        return np.zeros(self.dimensions, element_type(self.element_type).dtype)

    def __str__(self) -> str:
        """As error messages name it: `input 0: f32[8,16]`."""
        sizes = ",".join(map(str, self.dimensions))
        return f"{self.kind} {self.number}: {self.element_type}[{sizes}]"


@dataclass(frozen=True, slots=True)
class SharedAccess:
    """One load or store of shared memory: from thread and block ids, and range variables, to a cell of `array`."""

    kind: Literal["load", "store"]
    array: str
    cell_bytes: int
    map: IndexingMap


@dataclass(frozen=True, slots=True)
class Kernel:
    """What an emitter makes of a fusion.

    `source` is a whole translation unit whose entry function is `name`; its parameters are the `arguments` without an
    `alias_of`, one pointer each. `grid` counts blocks (work-groups) and `block` threads (work-items) in x, y and z.
    `shared_bytes` is the static shared memory that the source declares.

    `output_maps` has one map an output, `input_maps` one tuple a parameter with one map an access: from
    `(th_x, th_y, th_z, bl_x, bl_y, bl_z)[range variables]` to the logical index of the element.
    `shared_accesses` are the loads and stores of shared memory. `work` is predicted: elements computed, times what each
    reads.
    """

    name: str
    source: str
    dialect: Dialect
    emitter: str
    grid: Dim3
    block: Dim3
    shared_bytes: int
    arguments: tuple[Argument, ...]
    output_maps: tuple[IndexingMap, ...] = ()
    input_maps: tuple[tuple[IndexingMap, ...], ...] = ()
    shared_accesses: tuple[SharedAccess, ...] = ()
    work: int = 0

    @property
    def inputs(self) -> tuple[Argument, ...]:
        """The arguments that are inputs, in the order of the signature."""
        return tuple(a for a in self.arguments if a.kind == "input")

    @property
    def scratch(self) -> tuple[Argument, ...]:
        """The arguments that are memory to work in, in the order of the signature."""
        return tuple(a for a in self.arguments if a.kind == "scratch")

    @property
    def outputs(self) -> tuple[Argument, ...]:
        """The arguments that are outputs, in the order of the signature."""
        return tuple(a for a in self.arguments if a.kind == "output")

    @takes(output=integer)
    def thread_to_output(self, output: int = 0) -> IndexingMap:
        """Map from thread and block ids to the index of output `output` that the thread writes.

        Raises IndexingError where there is no such output.
        """
        return item(self.output_maps, output, f"{self.name} has", "outputs")

    @takes(parameter=integer, access=integer)
    def thread_to_input(self, parameter: int = 0, access: int = 0) -> IndexingMap:
        """Map from thread and block ids to the index of parameter `parameter` that the thread reads.

        A parameter may be read at several places; `access` picks one of `input_maps[parameter]`. Raises IndexingError
        where there is no such parameter or access.
        """
        accesses = item(self.input_maps, parameter, f"{self.name} has", "parameters")
        return item(accesses, access, f"parameter {parameter} of {self.name} has", "accesses with a map")

    def cubin(self, arch: str = "sm_90") -> bytes:
        """Machine code for `arch`, compiled by NVRTC; no GPU is needed.

        Raises CompileError with the numbered source and the compiler's log, or when the kernel is not CUDA C++, or
        when the `cuda` extra is not installed.
        """
        from indexing.runtime.nvrtc import compile_cubin

        return compile_cubin(self, arch)
