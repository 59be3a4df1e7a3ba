"""The parts of one kernel that bodies refer to by name: buffers, and functions, which may not have been built yet."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from indexing.hlo import Computation, Instruction
from indexing.kernels.ir.nodes import Buffer
from indexing.kernels.names import identifier
from indexing.lazy import np
from indexing.ops.values import Array, leaves_of, only_array
from indexing.partitioner import PartitionedComputation, Subgraph, has_one_index

_Key: TypeAlias = "tuple[Instruction, tuple[int, ...]]"  # the arrays of an instruction that a function computes


class KernelParts:
    """The buffers and functions that the kernel of a partitioned computation needs; each is created on its first use."""

    def __init__(self, computation: Computation, partition: PartitionedComputation) -> None:
        """Start without buffers and functions."""
        self.computation = computation
        self.partition = partition
        self.in_place: set[Subgraph] = set()  # functions that are built where they are called
        self._buffers: dict[str, Buffer] = {}
        self._tables: dict[tuple[Instruction, int], str] = {}
        self._names: dict[_Key, str] = {}
        self._combiners: dict[Computation, tuple[str, Sequence[str]]] = {}
        self._queue: list[_Key] = []

    # ------------------------------------------------------------ buffers

    def input(self, number: int) -> str:
        """The name of the buffer of parameter `number`."""
        shape = self.computation.parameters[number].shape
        name = f"p{number}"
        self._buffers.setdefault(
            name, Buffer(name, shape.element_type, shape.dimensions, "global", "input", number, shape.layout)
        )
        return name

    def add_buffer(self, buffer: Buffer) -> str:
        """Add a buffer: an output, shared, local or scratch memory; returns its name."""
        self._buffers.setdefault(buffer.name, buffer)
        return buffer.name

    @property
    def scratch_count(self) -> int:
        """The number of scratch buffers."""
        return sum(b.role == "scratch" for b in self._buffers.values())

    def splat(self, instruction: Instruction, output: int) -> complex | bool | None:
        """The value of all elements of an array of a constant, if they are equal bit by bit (-0 is not 0); None otherwise."""
        values = _elements(instruction, output)
        if values.size == 0:
            return 0
        raw = np.ascontiguousarray(values).view(np.uint8).reshape(values.size, -1)
        return _number(values[0]) if (raw == raw[0]).all() else None

    def table(self, instruction: Instruction, output: int) -> str:
        """The name of the constant buffer that holds the elements of an array of a constant."""
        key = instruction, output
        if key not in self._tables:
            name = f"table{len(self._tables)}"
            self._tables[key] = name
            shape = instruction.shape.leaves[output]
            data = tuple(_number(v) for v in _elements(instruction, output))
            self.add_buffer(Buffer(name, shape.element_type, shape.dimensions, "constant", data=data))
        return self._tables[key]

    # ------------------------------------------------------------ functions

    def is_in_function(self, instruction: Instruction, home: Subgraph) -> bool:
        """Whether `instruction` is computed within the function of `home`: one that the partition puts there, or in place."""
        own = self.partition.find(instruction)
        return own is home or own.has_no_compute or own in self.in_place

    def has_function(self, instruction: Instruction, output: int) -> bool:
        """Whether a function computes array `output` of the instruction already."""
        return (instruction, _outputs(instruction, output)) in self._names

    def function(self, instruction: Instruction, output: int) -> tuple[str, tuple[int, ...]]:
        """The name of the function that computes an element of array `output`, and the arrays that it computes together."""
        key = instruction, _outputs(instruction, output)
        if key not in self._names:
            self._names[key] = f"f{len(self._names)}_{identifier(instruction.opcode)}"
            self._queue.append(key)
        return self._names[key], key[1]

    def combiner(self, computation: Computation, kinds: Sequence[str]) -> str:
        """The name of the function of a reducer, from two values to an unrounded result."""
        if computation not in self._combiners:
            self._combiners[computation] = f"combine{len(self._combiners)}", kinds
        return self._combiners[computation][0]


def _outputs(instruction: Instruction, output: int) -> tuple[int, ...]:
    """The arrays that one function computes together with array `output`: all of them, if they have the same index."""
    return tuple(range(len(instruction.shape.leaves))) if has_one_index(instruction.shape) else (output,)


def _elements(constant: Instruction, output: int) -> Array:
    """The elements of an array of a constant, which is one of several where it is a tuple."""
    return only_array(leaves_of(constant.literal)[output]).reshape(-1)


def _number(value: object) -> complex | bool:
    """An element of numpy or ml_dtypes as a Python number."""
    kind = np.asarray(value).dtype
    if kind == np.bool_:
        return bool(value)
    if kind.kind == "c":
        return complex(value)  # type: ignore[call-overload,no-any-return]
    if kind.kind in "iu" or "int" in kind.name:
        return int(value)  # type: ignore[call-overload,no-any-return]
    return float(value)  # type: ignore[arg-type]
