"""A kernel as plain data: its IR, its source for a target, its arguments, launch dimensions, and the maps of its threads.

Nothing here touches a device or a compiler.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import prod
from typing import Literal, TypeAlias

from indexing._core import IndexingMap
from indexing.arguments import integer, item, of_type, takes
from indexing.cached import cached_property
from indexing.device.record import Device
from indexing.display import shown
from indexing.kernels.ir import nodes
from indexing.kernels.ir.accesses import Reached, reached_elements
from indexing.kernels.ir.executions import Execution, Executions, global_executions, shared_executions
from indexing.kernels.ir.types import storage_bytes
from indexing.kernels.passes import last_stage, run_passes
from indexing.kernels.targets import TARGETS
from indexing.kernels.targets.c_family import SourceParts, write_parts
from indexing.kernels.targets.target import Target
from indexing.kernels.verify import Verification
from indexing.kernels.verify.lowering import verify_lowering
from indexing.lazy import np
from indexing.ops.element_types import element_type

ArgumentKind = Literal["input", "output", "scratch"]
Dim3: TypeAlias = "tuple[int, int, int]"

LOGICAL, LANES, MEMORY = last_stage("logical"), "split-lanes", last_stage("memory")


@dataclass(frozen=True, slots=True)
class Argument:
    """One buffer of a kernel, in the order of the kernel's signature.

    `number` is the parameter's number for an input, the output's for an output. Elements are contiguous, in the physical
    order of `layout` (minor to major; None: row-major). Elements narrower than a byte take one byte.

    A `scratch` buffer belongs to one kernel on one stream: it is zero before the first launch, and keeps its contents from
    one launch to the next.

    `alias_of` is the position, in `Kernel.arguments`, of an earlier argument that shares its buffer. Such an argument is not
    passed: the kernel reads the input's elements from the shared buffer, and writes the output's to it.
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
        """The argument in error messages: `input 0: f32[8,16]`."""
        sizes = ",".join(map(str, self.dimensions))
        return f"{self.kind} {self.number}: {self.element_type}[{sizes}]"


@dataclass(frozen=True, slots=True)
class GlobalAccesses:
    """The loads or the stores of one argument, by statements of the source.

    `is_unknown` if they are too many to be followed through the functions of the kernel.
    """

    argument: Argument
    kind: Literal["load", "store"]
    executions: tuple[Execution, ...]
    is_unknown: bool


@dataclass(frozen=True, slots=True)
class SharedAccess:
    """One load or store of shared memory, as a map from thread ids, block ids and range variables to a cell of `array`: an
    element, or a vector.
    """

    kind: Literal["load", "store"]
    array: str
    cell_bytes: int
    execution: Execution


@dataclass(frozen=True, repr=False)
class Kernel:
    """A fusion's kernel: `ir`, as built by the emitter, for a `device`, in whose dialect it is written.

    `source` is a translation unit whose entry function is `name`; its parameters are the `arguments` without an `alias_of`,
    one pointer each. `grid` has the numbers of blocks (work-groups), `block` those of threads (work-items), in x, y and z.
    """

    ir: nodes.Kernel
    device: Device

    def __repr__(self) -> str:
        """One line: the kernel without its IR."""
        return f"Kernel({self.name}, {self.emitter} emitter, {self.dialect}, grid {self.grid}, block {self.block})"

    def _repr_html_(self) -> str | None:
        return shown(self, "source_block")

    @property
    def dialect(self) -> str:
        """The name of the target: `cuda`, `c` or `opencl`."""
        return self.device.dialect

    @property
    def name(self) -> str:
        """The entry function's name."""
        return self.ir.name

    @property
    def emitter(self) -> str:
        """The emitter's name: `loop`, `transpose`, ..."""
        return self.ir.emitter

    @property
    def grid(self) -> Dim3:
        """The numbers of blocks in x, y and z."""
        return self.ir.grid

    @property
    def launch_grid(self) -> Dim3:
        """The numbers of blocks of the source in x, y and z: those of `grid`, or a single one that loops over all of them."""
        return self.lowered.grid

    @property
    def block(self) -> Dim3:
        """The numbers of threads of a block in x, y and z."""
        return self.ir.block

    @property
    def target(self) -> Target:
        """The target of the kernel."""
        return TARGETS[self.dialect]

    @cached_property
    def lowered(self) -> nodes.Kernel:
        """The IR after all passes."""
        return run_passes(self.memory_form, self.target, after=MEMORY)

    @cached_property
    def _after_logical_passes(self) -> nodes.Kernel:
        return run_passes(self.ir, self.target, LOGICAL)

    @cached_property
    def _with_lanes(self) -> nodes.Kernel:
        """The IR in which whole vectors are apart from partial ones, and indices are those of HLO's arrays."""
        return run_passes(self._after_logical_passes, self.target, LANES, after=LOGICAL)

    @cached_property
    def memory_form(self) -> nodes.Kernel:
        """The IR whose accesses of parallel threads to memory are those of the source."""
        return run_passes(self._with_lanes, self.target, MEMORY, after=LANES)

    @takes(name=of_type(str))
    def stage(self, name: str) -> nodes.Kernel:
        """The IR after the pass `name`, or as `built`; raises IndexingError if there is no such stage."""
        return run_passes(self.ir, self.target, name)

    @cached_property
    def source(self) -> str:
        """The kernel's source."""
        return str(self.source_parts)

    @cached_property
    def source_parts(self) -> SourceParts:
        """The source in two parts: the kernel's own, and the library functions that it uses."""
        return write_parts(self.lowered, self.target)

    def verify(self) -> Verification:
        """The checks of the kernel as the target writes it, and of every pass on the way there.

        Each is proved, refuted or open, and names what it is about: an access, an output, a barrier, memory that threads
        share, or, for each pass, the accesses to a buffer, which must be the same before and after.
        """
        return self._verification

    @cached_property
    def _verification(self) -> Verification:
        return verify_lowering(self.ir, self.target, self.device.limits)

    @property
    def shared_bytes(self) -> int:
        """The number of bytes of shared memory that the source declares."""
        form = self.memory_form if self.target.has_threads else self.lowered
        return sum(b.size * storage_bytes(b.element_type) for b in form.buffers if b.space == "shared")

    @property
    def work(self) -> int:
        """Predicted work: the number of elements computed, times the number that each reads."""
        return self.ir.work

    # ------------------------------------------------------------ arguments

    @cached_property
    def arguments(self) -> tuple[Argument, ...]:
        """The buffers, in the order of the signature."""
        return _arguments(self.lowered)

    @cached_property
    def global_accesses(self) -> tuple[GlobalAccesses, ...]:
        """The loads, then the stores, of each argument that thread maps lead to: inputs, outputs, scratch memory.

        The source may use fewer inputs. Atomic updates of outputs are stores, and loads where they begin with one; those of
        scratch memory, which count blocks, are left out.
        """
        return tuple(sorted(self._global_accesses(), key=lambda a: (a.kind, a.argument.kind)))

    def _global_accesses(self) -> Iterator[GlobalAccesses]:
        known = self._executions
        buffers = [b for b in self._with_lanes.buffers if b.role != "none"]
        for argument, b in zip(_arguments(self._with_lanes), buffers, strict=True):
            is_unknown = b.name in known.unknown
            loads, stores, updates = (known.of.get((b.name, kind), ()) for kind in ("load", "store", "atomic"))
            if argument.kind != "output" or loads:
                yield GlobalAccesses(argument, "load", loads, is_unknown)
            if argument.kind != "input":
                written = (*stores, *updates) if argument.kind == "output" else stores
                yield GlobalAccesses(argument, "store", written, is_unknown)

    @property
    def updates(self) -> tuple[tuple[Argument, IndexingMap], ...]:
        """The atomic updates of outputs: an argument, and a map from threads to its index, for each."""
        buffers = [b for b in self._with_lanes.buffers if b.role != "none"]
        pairs = zip(_arguments(self._with_lanes), buffers, strict=True)
        known = self._executions.of
        return tuple((a, e.map) for a, b in pairs if b.role == "output" for e in known.get((b.name, "atomic"), ()))

    @cached_property
    def _executions(self) -> Executions:
        return global_executions(self._with_lanes, self._vector_buffers, self.target.loads_before_update)

    @property
    def inputs(self) -> tuple[Argument, ...]:
        """The arguments that are inputs, in the order of the signature."""
        return tuple(a for a in self.arguments if a.kind == "input")

    @property
    def scratch(self) -> tuple[Argument, ...]:
        """The arguments that are scratch memory, in the order of the signature."""
        return tuple(a for a in self.arguments if a.kind == "scratch")

    @property
    def outputs(self) -> tuple[Argument, ...]:
        """The arguments that are outputs, in the order of the signature."""
        return tuple(a for a in self.arguments if a.kind == "output")

    @cached_property
    def in_place(self) -> Mapping[int, int]:
        """The outputs that stand in the memory of an input: the number of each, and that of the input. No pass changes it."""
        numbers = {b.name: b.number for b in self.ir.buffers}
        return {b.number: numbers[b.alias_of] for b in self.ir.buffers if b.role == "output" and b.alias_of is not None}

    # ------------------------------------------------------------ maps

    @cached_property
    def output_maps(self) -> tuple[tuple[IndexingMap, ...], ...]:
        """For each output, a map for each store, from `(th_x, th_y, th_z, bl_x, bl_y, bl_z)[range variables]` to its index."""
        by_name = self._maps("store", "atomic")
        outputs = sorted((b for b in self.ir.buffers if b.role == "output"), key=lambda b: b.number)
        return tuple(by_name.get(b.name, ()) for b in outputs)

    @cached_property
    def input_maps(self) -> tuple[tuple[IndexingMap, ...], ...]:
        """For each parameter up to the last that is read, a map for each load; none if there are too many maps through the
        kernel's functions.
        """
        by_name = self._maps("load")
        inputs = {b.number: by_name.get(b.name, ()) for b in self.ir.buffers if b.role == "input"}
        return tuple(inputs.get(k, ()) for k in range(max(inputs, default=-1) + 1))

    def _maps(self, *kinds: Literal["load", "store", "atomic"]) -> dict[str, tuple[IndexingMap, ...]]:
        by_buffer: dict[str, tuple[IndexingMap, ...]] = {}
        for (buffer, kind), maps in self._reached.maps.items():
            if kind in kinds and buffer not in self._reached.unknown:
                by_buffer[buffer] = by_buffer.get(buffer, ()) + maps
        return by_buffer

    @cached_property
    def _reached(self) -> Reached:
        return reached_elements(self._after_logical_passes)

    @cached_property
    def shared_accesses(self) -> tuple[SharedAccess, ...]:
        """The loads and stores of shared memory by parallel threads."""
        form = self.memory_form
        element = {b.name: storage_bytes(b.element_type) for b in form.buffers if b.space == "shared"}
        return tuple(
            SharedAccess("load" if a.kind == "load" else "store", a.buffer, element[a.buffer] * a.width, e)
            for a, e in (shared_executions(form, self.target.compares_and_swaps) if element else ())
        )

    @cached_property
    def vector_arguments(self) -> frozenset[tuple[ArgumentKind, int]]:
        """The kind and number of each input that is read, or output that is written, by vector accesses."""
        arguments = {b.name: (b.role, b.number) for b in self.memory_form.buffers if b.role != "none"}
        return frozenset(arguments[name] for name in self._vector_buffers if name in arguments)

    @cached_property
    def _vector_buffers(self) -> frozenset[str]:
        copies = [s for s in nodes.statements(self.memory_form.body) if isinstance(s, nodes.Copy | nodes.CopyAsync)]
        return frozenset(end for s in copies for end in (s.source, s.destination))

    @takes(output=integer, access=integer)
    def thread_to_output(self, output: int = 0, access: int = 0) -> IndexingMap:
        """The map from thread and block ids to the index of output `output` that the thread writes by its store `access`.

        Raises IndexingError if there is no such output or store.
        """
        stores = item(self.output_maps, output, f"{self.name} has", "outputs")
        return item(stores, access, f"output {output} of {self.name} has", "stores")

    @takes(parameter=integer, access=integer)
    def thread_to_input(self, parameter: int = 0, access: int = 0) -> IndexingMap:
        """The map from thread and block ids to the index of parameter `parameter` that the thread reads.

        A parameter may be read at several indices; `access` selects one of `input_maps[parameter]`. Raises IndexingError if
        there is no such parameter or access.
        """
        accesses = item(self.input_maps, parameter, f"{self.name} has", "parameters")
        return item(accesses, access, f"parameter {parameter} of {self.name} has", "accesses with a map")


def _arguments(kernel: nodes.Kernel) -> tuple[Argument, ...]:
    buffers = [b for b in kernel.buffers if b.role != "none"]
    places = {b.name: k for k, b in enumerate(buffers)}
    return tuple(_argument(b, places) for b in buffers)


def _argument(b: nodes.Buffer, places: dict[str, int]) -> Argument:
    assert b.role != "none"
    alias = None if b.alias_of is None else places[b.alias_of]
    return Argument(b.role, b.number, b.element_type, b.dimensions, b.layout, alias)
