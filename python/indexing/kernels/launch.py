"""Parts that all emitters share: thread ids as index variables, indices of elements, conditions, stores."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Protocol

from indexing._core import IndexingMap, SymbolicExpr, variable
from indexing.device.limits import Dim3
from indexing.hlo import Instruction, Shape
from indexing.hlo.layout import bitcast_map, delinearize, major_to_minor
from indexing.kernels.function_builder import FunctionBuilder
from indexing.kernels.hero import Output, outputs
from indexing.kernels.ir.nodes import Buffer, Kernel
from indexing.kernels.kernel_builder import KernelBuilder
from indexing.ops.element_context import Index, Value
from indexing.ops.operand_indexing import OperandIndexing
from indexing.partitioner import PartitionedComputation

THREAD_IDS = ("th_x", "th_y", "th_z", "bl_x", "bl_y", "bl_z")


class Plan(Protocol):
    """The launch dimensions of a kernel, and the shared memory that it will declare for a block."""

    @property
    def grid(self) -> Dim3:
        """The numbers of blocks in x, y and z."""

    @property
    def block(self) -> Dim3:
        """The numbers of threads of a block in x, y and z."""

    @property
    def shared_bytes(self) -> int:
        """The bytes of shared memory."""


def thread_id(name: str) -> SymbolicExpr:
    """A thread or block id as a variable of the entry."""
    return variable(THREAD_IDS.index(name))


@contextmanager
def position_in_grid(body: FunctionBuilder, count: int, block_size: int) -> Iterator[SymbolicExpr]:
    """Run the block for the number of each thread in a one-dimensional launch, if it is below `count`."""
    position = thread_id("bl_x") * block_size + thread_id("th_x")
    with guarded(body, body.within(position, 0, count - 1)), body.base_scope():
        yield body.named_index("i", position, 0, count - 1)


def unravelled(position: SymbolicExpr, sizes: Sequence[int], order: Sequence[int]) -> list[SymbolicExpr]:
    """The logical index of the element at `position` of an array of `sizes` laid out in `order` (major to minor)."""
    parts = dict(zip(order, delinearize(position, [sizes[d] for d in order]), strict=True))
    return [parts[d] for d in range(len(sizes))]


def element_at(position: SymbolicExpr, shape: Shape) -> list[SymbolicExpr]:
    """The logical index of the element at `position` in the memory of an array."""
    return unravelled(position, shape.dimensions, major_to_minor(shape))


@contextmanager
def loop_over(body: FunctionBuilder, count: int, name: str = "r") -> Iterator[SymbolicExpr]:
    """Run the block for each index below `count`; without a loop if that is 1."""
    if count == 1:
        yield body.constant(0)
        return
    with body.loop(count, name) as index:
        yield index


@contextmanager
def guarded(body: FunctionBuilder, conditions: Sequence[Value]) -> Iterator[None]:
    """Run the block if all conditions hold; without a branch if there are none."""
    if not conditions:
        yield
        return
    with body.when(conditions):
        yield


@dataclass(frozen=True, slots=True)
class Part:
    """A coordinate of a thread's work item, over the entry's variables, which must be less than `count`."""

    expression: SymbolicExpr
    count: int


@contextmanager
def inside(body: FunctionBuilder, parts: Sequence[Part], conditions: Sequence[Value] = ()) -> Iterator[Index]:
    """Run the block if all `parts` are less than their counts; those that might not be get a name."""
    sizes = [p.count for p in parts]
    mapped = body.mapped(IndexingMap.identity(sizes), tuple(p.expression for p in parts))
    with guarded(body, [*conditions, *mapped.conditions]):
        yield body.inside(mapped.index, sizes)


def range_variable(k: int) -> SymbolicExpr:
    """The `k`-th range variable, which stands for a loop counter in expressions of a plan."""
    return variable(len(THREAD_IDS) + k)


def at_ranges(body: FunctionBuilder, expression: SymbolicExpr, ranges: Index) -> SymbolicExpr:
    """An expression of a plan over thread ids and range variables, with `ranges` substituted for the latter."""
    threads = [thread_id(name) for name in THREAD_IDS]
    return body.scope.simplify(expression.replace_variables([*threads, *ranges]))


@contextmanager
def inside_parts(
    body: FunctionBuilder, parts: Sequence[Part], ranges: Index = (), conditions: Sequence[Value] = ()
) -> Iterator[Index]:
    """As `inside`, for `parts` over thread ids and range variables, whose values are `ranges`."""
    replaced = [Part(at_ranges(body, p.expression, ranges), p.count) for p in parts]
    with inside(body, replaced, conditions) as index:
        yield index


def slice_starts(body: FunctionBuilder, indexing: OperandIndexing, index: Index) -> tuple[Index, tuple[Value, ...]]:
    """The values of a map's runtime variables for the element at `index`, and the conditions under which it is moved."""
    starts: list[SymbolicExpr] = []
    conditions: list[Value] = []
    for value, variable_ in zip(indexing.runtime_values, indexing.map.runtimes, strict=True):
        place = body.mapped(value.map, index).index
        element = body.read(value.instruction, place, value.output)
        lower, upper = value.bounds or (variable_.interval.lower, variable_.interval.upper)
        if value.out_of_bounds == "clamp":
            starts.append(body.bounded(element, lower, upper))
        else:
            start, is_inside = body.checked(element, lower, upper)
            starts.append(start)
            conditions.append(is_inside)
    return tuple(starts), tuple(conditions)


@lru_cache(maxsize=4096)
def same_memory(shape: Shape, other: Shape) -> IndexingMap:
    """The map from an index of an array to that of another with as many elements: the same index if sizes agree, in whatever
    layouts, else the index at the same position in memory.
    """
    if shape.dimensions == other.dimensions:
        return IndexingMap.identity(shape.dimensions)
    return bitcast_map(replace(shape, element_type=other.element_type), other)


def output_buffer(number: int) -> str:
    """The name of the buffer of output `number`."""
    return f"o{number}"


def store(body: FunctionBuilder, output: Output, index: Index, value: Value) -> None:
    """Write one element of an output."""
    simplified = tuple(map(body.scope.simplify, index))
    body.store(output_buffer(output.number), simplified, body.stored(output.shape.element_type, value))


def built(
    emitter: str,
    hero: Instruction,
    parts: PartitionedComputation,
    plan: Plan,
    write: Callable[[FunctionBuilder], None],
    aliases: dict[int, int] | None = None,
) -> Kernel:
    """The kernel of a plan, named after `hero`, with the entry that `write` builds; its first index variables are the thread
    and block ids. `aliases` gives the parameter whose buffer an output shares.
    """
    kernel, in_place = KernelBuilder(hero.computation, parts), aliases or {}
    body = FunctionBuilder(kernel)
    for name, size in zip(THREAD_IDS, (*plan.block, *plan.grid), strict=True):
        body.scope.add(name, 0, max(size, 1) - 1, "thread")
    write(body)
    for o in outputs(hero.computation):
        alias = kernel.input(in_place[o.number]) if o.number in in_place else None
        kind, sizes, layout = o.shape.element_type, o.shape.dimensions, o.shape.layout
        kernel.add_buffer(Buffer(output_buffer(o.number), kind, sizes, "global", "output", o.number, layout, alias))
    return kernel.assemble(emitter, hero, body, plan.grid, plan.block)
