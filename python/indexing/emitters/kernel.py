"""A kernel as plain data: its IR, its source for a target, its arguments, launch dimensions, and the maps of its threads.

Nothing here touches a device or a compiler; `Kernel.cubin` imports the NVRTC binding when it is called.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import TYPE_CHECKING, Literal, TypeAlias

from indexing.arguments import integer, item, of_type, takes
from indexing.display import shown
from indexing.emitters.ir import nodes
from indexing.emitters.ir.accesses import Accesses, Reached, entry_accesses, reached_elements
from indexing.emitters.ir.passes import run_passes
from indexing.emitters.ir.types import storage_bytes
from indexing.emitters.ir.verify import Verification, verify
from indexing.emitters.targets import TARGETS
from indexing.emitters.targets.c_family import SourceParts, write_parts
from indexing.errors import CompileError
from indexing.lazy import np
from indexing.ops.element_types import element_type

if TYPE_CHECKING:
    from indexing._core import IndexingMap
    from indexing.emitters.targets.target import Target

ArgumentKind = Literal["input", "output", "scratch"]
Dim3: TypeAlias = "tuple[int, int, int]"

PARALLEL = "narrow-floats"  # the last pass after which threads stand side by side and loops are loops, on all targets
LOGICAL = "dead-code"  # the last pass after which indices are those of HLO's arrays, each access written once
MEMORY = "team-reductions"  # the last pass that decides what threads that stand side by side move


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
        """The number of elements in the buffer; 1 for a scalar."""
        return prod(self.dimensions)

    def zeros(self) -> np.ndarray:
        """The contents of a scratch buffer before the first launch."""
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


@dataclass(frozen=True, repr=False)
class Kernel:
    """A fusion's kernel: `ir`, as it is built, for the target called `dialect`.

    `source` is a whole translation unit whose entry function is `name`; its parameters are the `arguments` without an
    `alias_of`, one pointer each. `grid` counts blocks (work-groups) and `block` threads (work-items) in x, y and z.
    """

    ir: nodes.Kernel
    dialect: str

    def __repr__(self) -> str:
        """One line: what it is, without its IR."""
        return f"Kernel({self.name}, {self.emitter} emitter, {self.dialect}, grid {self.grid}, block {self.block})"

    def _repr_html_(self) -> str | None:
        return shown(self, "source_block")

    @property
    def name(self) -> str:
        """The entry function's."""
        return self.ir.name

    @property
    def emitter(self) -> str:
        """The emitter's name: `loop`, `transpose`, ..."""
        return self.ir.emitter

    @property
    def grid(self) -> Dim3:
        """Blocks in x, y and z."""
        return self.ir.grid

    @property
    def launch_grid(self) -> Dim3:
        """Blocks of the source in x, y and z: those of `grid`, or one that goes through all of them."""
        return self.lowered.grid

    @property
    def block(self) -> Dim3:
        """Threads of a block in x, y and z."""
        return self.ir.block

    @property
    def target(self) -> Target:
        """The target that the kernel is written for."""
        return TARGETS[self.dialect]

    @cached_property
    def lowered(self) -> nodes.Kernel:
        """The IR after all passes."""
        return run_passes(self._moving, self.target, after=MEMORY)

    @cached_property
    def _logical(self) -> nodes.Kernel:
        return run_passes(self.ir, self.target, LOGICAL)

    @cached_property
    def _moving(self) -> nodes.Kernel:
        return run_passes(self._logical, self.target, MEMORY, after=LOGICAL)

    @takes(name=of_type(str))
    def stage(self, name: str) -> nodes.Kernel:
        """The IR after the pass `name`, or as it is `built`; IndexingError where there is no such stage."""
        return run_passes(self.ir, self.target, name)

    @cached_property
    def source(self) -> str:
        """The kernel's source."""
        return str(self.source_parts)

    @cached_property
    def source_parts(self) -> SourceParts:
        """The source, what is the kernel's own apart from what it uses of the target's library."""
        return write_parts(self.lowered, self.target)

    def verify(self) -> Verification:
        """The proofs about the kernel, its threads side by side and its loops as loops, and the checks that remain."""
        return verify(self.stage(PARALLEL))

    @property
    def shared_bytes(self) -> int:
        """Bytes of shared memory that the source declares."""
        found = self._moving if self.target.has_threads else self.lowered
        return sum(b.size * storage_bytes(b.element_type) for b in found.buffers if b.space == "shared")

    @property
    def work(self) -> int:
        """Predicted work: elements computed, times what each reads."""
        return self.ir.work

    # ------------------------------------------------------------ arguments

    @cached_property
    def arguments(self) -> tuple[Argument, ...]:
        """The buffers, in the order of the signature."""
        return _arguments(self.lowered)

    @cached_property
    def accessed(self) -> tuple[Argument, ...]:
        """The arguments that the maps of threads reach: inputs, then outputs. The source may need less of the inputs."""
        found = [a for a in _arguments(self._logical) if a.kind != "scratch"]
        return tuple(sorted(found, key=lambda a: a.kind))

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

    # ------------------------------------------------------------ maps

    @cached_property
    def output_maps(self) -> tuple[tuple[IndexingMap, ...], ...]:
        """Of each output, one map a store: from `(th_x, th_y, th_z, bl_x, bl_y, bl_z)[range variables]` to its index."""
        by_name = self._maps("store", "atomic")
        outputs = sorted((b for b in self.ir.buffers if b.role == "output"), key=lambda b: b.number)
        return tuple(by_name.get(b.name, ()) for b in outputs)

    @cached_property
    def input_maps(self) -> tuple[tuple[IndexingMap, ...], ...]:
        """Of each parameter up to the last that is read, one map a load; none where functions grow too long to be
        followed.
        """
        by_name = self._maps("load")
        inputs = {b.number: by_name.get(b.name, ()) for b in self.ir.buffers if b.role == "input"}
        return tuple(inputs.get(k, ()) for k in range(max(inputs, default=-1) + 1))

    def _maps(self, *kinds: Literal["load", "store", "atomic"]) -> dict[str, tuple[IndexingMap, ...]]:
        found: dict[str, tuple[IndexingMap, ...]] = {}
        for (buffer, kind), maps in self._reached.maps.items():
            if kind in kinds and buffer not in self._reached.unknown:
                found[buffer] = found.get(buffer, ()) + maps
        return found

    @cached_property
    def _reached(self) -> Reached:
        return reached_elements(self._logical)

    @cached_property
    def shared_accesses(self) -> tuple[SharedAccess, ...]:
        """The loads and stores of shared memory, by threads side by side."""
        found = self._moving
        shared = {b.name: storage_bytes(b.element_type) for b in found.buffers if b.space == "shared"}
        return tuple(_shared(entry_accesses(found), shared)) if shared else ()

    @cached_property
    def vector_arguments(self) -> frozenset[tuple[ArgumentKind, int]]:
        """The inputs that are read, and the outputs that are written, vector by vector: kind and number of each."""
        found = {b.name: (b.role, b.number) for b in self._moving.buffers if b.role != "none"}
        copies = [s for s in nodes.statements(self._moving.body) if isinstance(s, nodes.Copy)]
        return frozenset(found[end] for s in copies for end in (s.source, s.destination) if end in found)

    @takes(output=integer, access=integer)
    def thread_to_output(self, output: int = 0, access: int = 0) -> IndexingMap:
        """Map from thread and block ids to the index of output `output` that the thread writes by its store `access`.

        Raises IndexingError where there is no such output or store.
        """
        stores = item(self.output_maps, output, f"{self.name} has", "outputs")
        return item(stores, access, f"output {output} of {self.name} has", "stores")

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


def check_dialect(name: str) -> None:
    """CompileError for a target that there is none of."""
    if name not in TARGETS:
        raise CompileError(f"there is no dialect {name!r}; choose one of {', '.join(TARGETS)}")


def _arguments(kernel: nodes.Kernel) -> tuple[Argument, ...]:
    found = [b for b in kernel.buffers if b.role != "none"]
    places = {b.name: k for k, b in enumerate(found)}
    return tuple(_argument(b, places) for b in found)


def _argument(b: nodes.Buffer, places: dict[str, int]) -> Argument:
    assert b.role != "none"
    alias = None if b.alias_of is None else places[b.alias_of]
    return Argument(b.role, b.number, b.element_type, b.dimensions, b.layout, alias)


def _shared(body: Accesses, shared: dict[str, int]) -> Iterator[SharedAccess]:
    for a in body.found:
        if a.buffer in shared and a.kind != "atomic":
            m = body.access_map(a)
            if not m.is_known_empty:
                yield SharedAccess(a.kind, a.buffer, shared[a.buffer], m)
