"""The functions of one kernel, built on demand, once each, and put together callees first."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

from indexing.emitters.function_builder import FunctionBuilder
from indexing.emitters.ir.nodes import (
    AtomicUpdate,
    Block,
    Buffer,
    CallFunction,
    Function,
    Kernel,
    Ref,
    TeamReduce,
    statements,
)
from indexing.emitters.names import identifier, sanitized
from indexing.emitters.types import compute_type
from indexing.lazy import np
from indexing.ops.element_context import Value
from indexing.partitioner import has_one_index
from indexing.work import predicted_work

if TYPE_CHECKING:
    from indexing.hlo import Computation, Instruction
    from indexing.partitioner import PartitionedComputation

Dim3 = tuple[int, int, int]
_Key: TypeAlias = "tuple[Instruction, tuple[int, ...]]"  # what a function computes: arrays of an instruction
MAX_INLINED = 64  # statements


class KernelBuilder:
    """The parts built for one computation: its functions, its buffers."""

    def __init__(self, computation: Computation, partition: PartitionedComputation) -> None:
        """Nothing is built yet."""
        self.computation = computation
        self.partition = partition
        self._buffers: dict[str, Buffer] = {}
        self._tables: dict[Instruction, str] = {}
        self._names: dict[_Key, str] = {}
        self._combiners: dict[Computation, str] = {}
        self._functions: dict[str, Function] = {}
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
        """Another buffer: an output, shared, local or scratch memory."""
        self._buffers.setdefault(buffer.name, buffer)
        return buffer.name

    @property
    def scratch_count(self) -> int:
        """The number of scratch buffers."""
        return sum(b.role == "scratch" for b in self._buffers.values())

    def splat(self, instruction: Instruction) -> complex | bool | None:
        """The number that all elements of a constant are, if they are; bits count, so that -0 is not 0."""
        values = np.asarray(instruction.literal).reshape(-1)
        if values.size == 0:
            return 0
        raw = np.ascontiguousarray(values).view(np.uint8).reshape(values.size, -1)
        return _number(values[0]) if (raw == raw[0]).all() else None

    def table(self, instruction: Instruction) -> str:
        """The name of the constant buffer that holds a constant's elements."""
        if instruction not in self._tables:
            name = f"table{len(self._tables)}"
            self._tables[instruction] = name
            values = np.asarray(instruction.literal).reshape(-1)
            shape = instruction.shape
            data = tuple(_number(v) for v in values)
            self.add_buffer(Buffer(name, shape.element_type, shape.dimensions, "constant", data=data))
        return self._tables[instruction]

    # ------------------------------------------------------------ functions

    def is_together(self, instruction: Instruction, builder: FunctionBuilder) -> bool:
        """Whether the partition lets `instruction` be built into the function of `builder`."""
        own = self.partition.find(instruction)
        return own.has_no_compute or own is builder.home

    def has_function(self, instruction: Instruction, output: int) -> bool:
        """Whether a function computes array `output` of the instruction already."""
        return (instruction, _outputs(instruction, output)) in self._names

    def function(self, instruction: Instruction, output: int) -> tuple[str, tuple[int, ...]]:
        """The name of the function that computes an element of array `output`, and all arrays that it computes."""
        key = instruction, _outputs(instruction, output)
        if key not in self._names:
            self._names[key] = f"f{len(self._names)}_{identifier(instruction.opcode)}"
            self._queue.append(key)
        return self._names[key], key[1]

    def combiner(self, computation: Computation, kinds: Sequence[str]) -> str:
        """The name of the function of a reducer: of two values a result, unrounded."""
        if computation not in self._combiners:
            name = f"combine{len(self._combiners)}"
            self._combiners[computation] = name
            self._functions[name] = self._built_combiner(name, computation, kinds)
        return self._combiners[computation]

    def _built_combiner(self, name: str, computation: Computation, kinds: Sequence[str]) -> Function:
        builder = FunctionBuilder(self)
        parameters = [Ref(compute_type(kind), f"{side}{k}") for side in "ab" for k, kind in enumerate(kinds)]
        values = [Value(p, kind) for p, kind in zip(parameters, [*kinds, *kinds], strict=True)]
        with builder.unrounded():
            results = builder.apply(computation, values)
        nodes = tuple(builder.node(r) for r in results)
        comment = sanitized(computation.name)
        return Function(name, tuple(builder.scope.variables), tuple(parameters), builder.body, nodes, comment)

    def _build_functions(self) -> None:
        while self._queue:
            instruction, outputs = key = self._queue.pop()
            builder = FunctionBuilder(self)
            builder.root = instruction
            sizes = instruction.shape.leaves[outputs[0]].dimensions
            index = tuple(builder.scope.add(f"d{k}", 0, max(size, 1) - 1) for k, size in enumerate(sizes))
            results = tuple(builder.node(builder.value(instruction, index, k)) for k in outputs)
            name, comment = self._names[key], sanitized(instruction.name)
            self._functions[name] = Function(name, tuple(builder.scope.variables), (), builder.body, results, comment)

    # ------------------------------------------------------------ the kernel

    def assemble(self, emitter: str, hero: Instruction, entry: FunctionBuilder, grid: Dim3, block: Dim3) -> Kernel:
        """The kernel: functions, callees first, buffers, and the entry's body."""
        body = entry.body
        self._build_functions()
        functions = self._kept_apart(self._callees_first(body))
        comment = f"{sanitized(self.computation.name)}: {emitter} emitter, {_product(grid)} blocks of {_product(block)} threads"
        name = f"{identifier(emitter)}_{identifier(hero.opcode)}"
        variables = tuple(entry.scope.variables)
        return Kernel(
            name,
            emitter,
            grid,
            block,
            self._ordered_buffers(),
            functions,
            variables,
            body,
            comment,
            predicted_work(self.partition),
        )

    def _ordered_buffers(self) -> tuple[Buffer, ...]:
        order = {"input": 0, "output": 1, "scratch": 2, "none": 3}
        return tuple(sorted(self._buffers.values(), key=lambda b: (order[b.role], b.number)))

    def _callees_first(self, body: Block) -> list[Function]:
        order: dict[str, Function] = {}
        pending = [(name, False) for name in reversed(_called(body))]
        while pending:
            name, ready = pending.pop()
            if name in order:
                continue
            function = self._functions[name]
            if ready:
                order[name] = function
                continue
            pending.append((name, True))
            pending.extend((callee, False) for callee in reversed(_called(function.body)) if callee not in order)
        return list(order.values())

    def _kept_apart(self, order: Iterable[Function]) -> tuple[Function, ...]:
        """Functions that a compiler must not inline: with all that they call they would be longer than MAX_INLINED.

        Else a chain of functions that each call the one before twice would grow to all its paths.
        """
        sizes: dict[str, int] = {}
        found = []
        for function in order:
            size = work(function.body, sizes)
            is_apart = size > MAX_INLINED
            sizes[function.name] = 1 if is_apart else size
            found.append(replace(function, inline=False) if is_apart else function)
        return tuple(found)


def _outputs(instruction: Instruction, output: int) -> tuple[int, ...]:
    """The arrays that one function computes together with array `output`: all, where one index names an element of each."""
    return tuple(range(len(instruction.shape.leaves))) if has_one_index(instruction.shape) else (output,)


def work(body: Block, sizes: dict[str, int]) -> int:
    """Statements of a body, with those of the functions that it calls, whose `sizes` are known; a loop's count once."""
    return sum(1 + sum(sizes[name] for name in _called_by(s)) for s in statements(body))


def _called(body: Block) -> list[str]:
    return list(dict.fromkeys(name for s in statements(body) for name in _called_by(s)))


def _called_by(statement: object) -> tuple[str, ...]:
    if isinstance(statement, CallFunction):
        return (statement.function,)
    return (statement.combiner,) if isinstance(statement, AtomicUpdate | TeamReduce) else ()


def _product(sizes: Dim3) -> int:
    return sizes[0] * sizes[1] * sizes[2]


def _number(value: object) -> complex | bool:
    """An element of numpy or ml_dtypes as Python's own number."""
    kind = np.asarray(value).dtype
    if kind == np.bool_:
        return bool(value)
    if kind.kind == "c":
        return complex(value)  # type: ignore[call-overload,no-any-return]
    if kind.kind in "iu" or "int" in kind.name:
        return int(value)  # type: ignore[call-overload,no-any-return]
    return float(value)  # type: ignore[arg-type]
