"""Accumulators of a reduction: the variables in which a thread reduces, and their combination over a group of threads."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from indexing._core import SymbolicExpr, constant
from indexing.hlo import Computation, Instruction
from indexing.kernels.function_builder import FunctionBuilder
from indexing.kernels.ir.nodes import Buffer, GroupReduce, Ref
from indexing.kernels.ir.types import compute_type, storage_bytes
from indexing.kernels.passes.group_reductions import shared_cells
from indexing.kernels.targets import TARGETS
from indexing.kernels.vectors import lanes
from indexing.ops.element_context import Value
from indexing.ops.element_types import element_type
from indexing.ops.reducer_ops import in_order_of_index, neutral_element


@dataclass(frozen=True, slots=True)
class ThreadGroup:
    """The threads of a block that reduce one row or column: `threads` of them, `distance` thread ids apart; `part` is a
    thread's number in its group.
    """

    part: SymbolicExpr
    threads: int
    distance: int


@dataclass(frozen=True, slots=True)
class Reducer:
    """An operation that combines two values of each of the element types `kinds`, and its neutral elements, if it has any."""

    computation: Computation
    kinds: tuple[str, ...]
    neutral: tuple[complex | bool, ...] | None

    @staticmethod
    def of(reduce: Instruction) -> Reducer:
        """The reducer of a reduction."""
        kinds = tuple(leaf.element_type for leaf in reduce.shape.leaves)
        neutral = neutral_element(reduce)
        return Reducer(reduce.computation_of("to_apply"), kinds, None if neutral is None else (neutral,))


class Accumulators:
    """The accumulators of a thread for one reduction: a value for each array, and for each of `width` columns.

    They start with the reducer's neutral element, or, if it has none, with the first value that the thread reads.
    """

    def __init__(self, body: FunctionBuilder, reducer: Reducer, width: int, name: str | None = None) -> None:
        """Declare the accumulators at the insertion point; one of several columns is in a buffer, which may have a `name`."""
        self.body, self.width = body, width
        self.computation, self.kinds, self.neutral = reducer.computation, reducer.kinds, reducer.neutral
        self._variables: list[Value] = []
        self._buffers: list[str] = []
        for kind, start in zip(self.kinds, self._starts(), strict=True):
            if width == 1:
                self._variables.append(body.variable(kind, start))
            else:
                buffer = Buffer(name or body.fresh("sum"), kept_type(kind), (width,), "local")
                self._buffers.append(body.kernel.add_buffer(buffer))
        if width > 1:
            with lanes(body, width, "column") as lane:
                self._set(lane, self._starts())

    def _starts(self) -> list[Value]:
        if self.neutral is not None:
            return [self.body.number(kind, start) for kind, start in zip(self.kinds, self.neutral, strict=True)]
        return [self.body.number(kind, zero_of(kind)) for kind in self.kinds]

    def restart(self) -> None:
        """Reset the accumulators to the neutral element, if there is one."""
        if self.neutral is None:
            return
        with lanes(self.body, self.width, "column") as lane:
            self._set(lane, self._starts())

    def values(self, lane: SymbolicExpr) -> list[Value]:
        """The values accumulated for column `lane`."""
        if self.width == 1:
            return self._variables
        pairs = zip(self._buffers, self.kinds, strict=True)
        return [Value(self.body.load(b, kept_type(k), (lane,)).node, k) for b, k in pairs]

    def _set(self, lane: SymbolicExpr, values: Sequence[Value]) -> None:
        if self.width == 1:
            self.body.assign_all(self._variables, values)
            return
        nodes = [self.body.name(self.body.node(v)) for v in values]
        for buffer, kind, node in zip(self._buffers, self.kinds, nodes, strict=True):
            kept = kept_type(kind)
            self.body.store(buffer, (lane,), self.body.stored(kept, Value(node, kept)))

    def add(
        self,
        lane: SymbolicExpr,
        values: Sequence[Value],
        is_first: Sequence[Value] | bool,
        reducer: Computation | None = None,
    ) -> None:
        """Reduce the values of one element into column `lane`; `is_first` is whether it is the thread's first one, given as
        conditions if it isn't known statically. Elements that don't come in order have a `reducer` for that.
        """
        reducer = reducer or self.computation
        if is_first is True:
            self._set(lane, values)
            return
        if self.neutral is not None or is_first is False:
            self._merge(lane, values, reducer)
            return
        with self.body.when(is_first):
            self._set(lane, values)
        with self.body.otherwise():
            self._merge(lane, values, reducer)

    def _merge(self, lane: SymbolicExpr, others: Sequence[Value], reducer: Computation) -> None:
        """accumulators = reducer(accumulators, others); floats below f32 stay unrounded in between."""
        with self.body.unrounded():
            results = self.body.apply(reducer, [*self.values(lane), *others])
        self._set(lane, results)

    def _in_variables(self) -> list[list[Value]]:
        """The accumulated values in variables, a list for each column."""
        columns = [self.values(constant(k)) for k in range(self.width)]
        if self.width == 1:
            return columns
        return [[self.body.variable(v.element_type, v) for v in values] for values in columns]

    def finished(self, lane: SymbolicExpr, initial: Sequence[Value]) -> tuple[Value, ...]:
        """The result: the initial values combined with the accumulated ones, rounded to its type."""
        with self.body.unrounded():
            results = self.body.apply(self.computation, [*initial, *self.values(lane)])
        return tuple(self.body.let(kind, r) for kind, r in zip(self.kinds, results, strict=True))


def combine(accumulators: Sequence[Accumulators], group: ThreadGroup, threads: int, *, to_all: bool = False) -> None:
    """Combine the accumulators of the first `threads` parts of each group (a power of two) in part 0, or in all parts.

    All threads of the block take part. Their reductions are adjacent, so that they can share barriers.
    """
    if threads == 1:
        return
    columns = [(a, k, values) for a in accumulators for k, values in enumerate(a._in_variables())]
    for a, _, values in columns:
        names = tuple(v.node.name for v in values if isinstance(v.node, Ref))
        combiner = a.body.kernel.combiner(in_order_of_index(a.computation), a.kinds)
        a.body.add(GroupReduce(names, tuple(map(compute_type, a.kinds)), combiner, threads, group.distance, to_all))
    for a, k, values in columns:
        if a.width > 1:
            a._set(constant(k), values)


def value_bytes(kinds: Iterable[str]) -> int:
    """The bytes of accumulators of these element types."""
    return sum(storage_bytes(compute_type(kind)) for kind in kinds)


def shared_bytes(values: int, block: int, threads: int, distance: int, dialect: str) -> int:
    """The bytes of shared memory in which `combine` puts `values` bytes of each thread of a block, for groups of `threads`."""
    target = TARGETS[dialect]
    return values * shared_cells(block, threads, distance, target.shuffle_width) if target.has_threads else 0


def kept_type(kind: str) -> str:
    """The element type of memory for an accumulator: the type in which it is computed."""
    return "f32" if element_type(kind).is_narrow_float else kind


def zero_of(kind: str) -> complex | bool:
    """Zero of an element type."""
    return {"pred": False, "float": 0.0, "complex": 0j}.get(element_type(kind).kind, 0)
