"""Building of a kernel's functions, on demand and once each, and their assembly, callees first."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from indexing.display import count_text
from indexing.hlo import Computation, Instruction
from indexing.kernels.function_builder import FunctionBuilder
from indexing.kernels.ir import nodes as ir
from indexing.kernels.ir.types import compute_type
from indexing.kernels.kernel_parts import KernelParts
from indexing.kernels.names import identifier, sanitized
from indexing.ops.element_context import Value
from indexing.partitioner import PartitionedComputation
from indexing.walks import post_order
from indexing.work import predicted_work

Dim3 = tuple[int, int, int]
MAX_INLINED = 64  # statements of a function with its callees that a compiler may inline


class KernelBuilder(KernelParts):
    """Builds the functions that a kernel needs, and assembles the kernel."""

    def __init__(self, computation: Computation, partition: PartitionedComputation) -> None:
        """Start without functions."""
        super().__init__(computation, partition)
        self._functions: dict[str, ir.Function] = {}

    def _built_combiner(self, name: str, computation: Computation, kinds: Sequence[str]) -> ir.Function:
        builder = FunctionBuilder(self)
        parameters = [ir.Ref(compute_type(kind), f"{side}{k}") for side in "ab" for k, kind in enumerate(kinds)]
        values = [Value(p, kind) for p, kind in zip(parameters, [*kinds, *kinds], strict=True)]
        with builder.unrounded():
            results = builder.apply(computation, values)
        nodes = tuple(builder.node(r) for r in results)
        comment = sanitized(computation.name)
        return ir.Function(name, tuple(builder.scope.variables), tuple(parameters), builder.body, nodes, comment)

    def _build_functions(self) -> None:
        while self._queue:
            instruction, outputs = key = self._queue.pop()
            builder = FunctionBuilder(self)
            builder.root = instruction
            sizes = instruction.shape.leaves[outputs[0]].dimensions
            index = tuple(builder.scope.add(f"d{k}", 0, max(size, 1) - 1) for k, size in enumerate(sizes))
            results = tuple(builder.node(builder.value(instruction, index, k)) for k in outputs)
            name, comment = self._names[key], sanitized(instruction.name)
            self._functions[name] = ir.Function(
                name, tuple(builder.scope.variables), (), builder.body, results, comment
            )
        for computation, (name, kinds) in self._combiners.items():
            self._functions[name] = self._built_combiner(name, computation, kinds)

    # ------------------------------------------------------------ the kernel

    def assemble(self, emitter: str, hero: Instruction, entry: FunctionBuilder, grid: Dim3, block: Dim3) -> ir.Kernel:
        """The kernel: functions, callees first, buffers, and the entry's body."""
        body = entry.body
        self._build_functions()
        functions = self._kept_apart(self._callees_first(body))
        blocks, threads = count_text(_product(grid), "block"), count_text(_product(block), "thread")
        comment = f"{sanitized(self.computation.name)}: {emitter} emitter, {blocks} of {threads}"
        name = f"{identifier(emitter)}_{identifier(hero.opcode)}"
        variables = tuple(entry.scope.variables)
        return ir.Kernel(
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

    def _ordered_buffers(self) -> tuple[ir.Buffer, ...]:
        order = {"input": 0, "output": 1, "scratch": 2, "none": 3}
        return tuple(sorted(self._buffers.values(), key=lambda b: (order[b.role], b.number)))

    def _callees_first(self, body: ir.Block) -> list[ir.Function]:
        order = post_order(_called(body), lambda name: _called(self._functions[name].body))
        return [self._functions[name] for name in order]

    def _kept_apart(self, order: Iterable[ir.Function]) -> tuple[ir.Function, ...]:
        """The functions, marked as not to be inlined if they exceed MAX_INLINED statements with their callees.

        Otherwise, inlining a chain of functions, each of which calls the one before twice, would grow exponentially.
        """
        sizes: dict[str, int] = {}
        marked = []
        for function in order:
            size = work(function.body, sizes)
            is_apart = size > MAX_INLINED
            sizes[function.name] = 1 if is_apart else size
            marked.append(replace(function, inline=False) if is_apart else function)
        return tuple(marked)


def work(body: ir.Block, sizes: dict[str, int]) -> int:
    """The number of statements of a body and of its callees, whose `sizes` are known; those of loops count once."""
    return sum(1 + sum(sizes[name] for name in _called_by(s)) for s in ir.statements(body))


def _called(body: ir.Block) -> list[str]:
    return list(dict.fromkeys(name for s in ir.statements(body) for name in _called_by(s)))


def _called_by(statement: object) -> tuple[str, ...]:
    if isinstance(statement, ir.CallFunction):
        return (statement.function,)
    return (statement.combiner,) if isinstance(statement, ir.AtomicUpdate | ir.GroupReduce) else ()


def _product(sizes: Dim3) -> int:
    return sizes[0] * sizes[1] * sizes[2]
