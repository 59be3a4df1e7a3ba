"""Sorts of rows, and what a thread holds of an element."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import prod

from indexing._core import SymbolicExpr
from indexing.cached import cached_property
from indexing.hlo import Computation, Instruction, Shape
from indexing.hlo.layout import major_to_minor
from indexing.hlo.module_cache import cached_on_module
from indexing.kernels.epilogue import Heroes, single_hero_of
from indexing.kernels.function_builder import FunctionBuilder
from indexing.kernels.ir.types import storage_bytes, storage_type
from indexing.kernels.launch import unravelled
from indexing.ops.element_context import Index, Value
from indexing.ops.library_calls.sorted_runs import ORDER, Runs, compared_operands, moves_by_order, runs_of
from indexing.ops.registry import traits_of
from indexing.ops.sort import SORT
from indexing.ops.tuples import GET_TUPLE_ELEMENT
from indexing.partitioner import PartitionedComputation

NAME = SORT.opcode
MAX_SIZE = 1 << 30  # elements of a row, so that sums of two places are integers of 32 bits


@dataclass(frozen=True)
class RowSort:
    """A sort of runs of rows; `columns` are the operands that a thread moves with each element.

    The other ones that are wanted are read at the end, by the elements' places in their rows, which is another column then.
    """

    heroes: Heroes
    runs: Runs

    @property
    def hero(self) -> Instruction:
        """The sort."""
        return self.heroes.first

    @property
    def computation(self) -> Computation:
        """The fusion's computation."""
        return self.heroes.computation

    @property
    def parts(self) -> PartitionedComputation:
        """The partition of the computation."""
        return self.heroes.parts

    @property
    def comparator(self) -> Computation:
        """Whether one element comes before another."""
        return self.hero.called[0]

    @cached_property
    def columns(self) -> tuple[int, ...]:
        """The operands that are moved: those that are compared, and the others that are wanted unless the order is cheaper."""
        return self.compared if self.has_order else tuple(sorted({*self.compared, *self.wanted}))

    @cached_property
    def compared(self) -> tuple[int, ...]:
        """The operands that are compared."""
        return compared_operands(self.comparator, len(self.hero.operands))

    @cached_property
    def wanted(self) -> tuple[int, ...]:
        """The results that the fusion reads."""
        users = self.hero.users
        if self.hero.is_root or any(traits_of(u) is not GET_TUPLE_ELEMENT for u in users):
            return tuple(range(len(self.hero.operands)))
        return tuple(sorted({u.integer("index") for u in users}))

    @cached_property
    def has_order(self) -> bool:
        """Whether the elements' places in their rows are moved in place of operands."""
        others = [self.kind(k) for k in self.wanted if k not in self.compared]
        return self.runs.sorted == 1 and moves_by_order(others)

    @property
    def wanted_columns(self) -> dict[int, int]:
        """The columns that the fusion reads, each with its operand."""
        return {n: k for n, k in enumerate(self.columns) if k in self.wanted}

    @property
    def kinds(self) -> tuple[str, ...]:
        """The element types of what is moved."""
        return (*map(self.kind, self.columns), *([ORDER] if self.has_order else []))

    @property
    def element_bytes(self) -> int:
        """The bytes of what is moved with an element."""
        return sum(map(storage_bytes, self.kinds))

    @property
    def shape(self) -> Shape:
        """The shape of the first result, whose memory order that of rows follows."""
        return self.hero.shape.leaves[0]

    @property
    def rows(self) -> int:
        """The number of rows."""
        return prod(self.shape.dimensions) // self.runs.size

    def kind(self, operand: int) -> str:
        """The element type of an operand."""
        return self.hero.operands[operand].shape.element_type

    def index(self, row: SymbolicExpr, place: SymbolicExpr) -> Index:
        """The index of the element at a place of a row."""
        d = self.runs.dimension
        sizes = [1 if k == d else n for k, n in enumerate(self.shape.dimensions)]
        others = unravelled(row, sizes, major_to_minor(self.shape))
        return tuple(place if k == d else e for k, e in enumerate(others))


@cached_on_module
def match_sort(computation: Computation) -> RowSort | None:
    """The sort that every output follows, of elements in any order; None if there is none."""
    return _match(computation, lambda runs: runs.sorted == 1)


@cached_on_module
def match_merge(computation: Computation) -> RowSort | None:
    """The merge of sorted runs that every output follows; None if there is none."""
    return _match(computation, lambda runs: runs.sorted > 1)


def _match(computation: Computation, is_wanted: Callable[[Runs], bool]) -> RowSort | None:
    def is_hero(i: Instruction) -> bool:
        runs = sorted_by_kernel(i)
        return runs is not None and is_wanted(runs)

    heroes = single_hero_of(computation, is_hero)
    runs = runs_of(heroes.first) if heroes is not None else None
    return RowSort(heroes, runs) if heroes is not None and runs is not None else None


def sorted_by_kernel(i: Instruction) -> Runs | None:
    """The runs of a sort that has elements; None for other instructions, and calls of that name with other meanings."""
    runs, op = runs_of(i), traits_of(i)
    if runs is None or not i.shape.leaves[0].element_count or runs.size > MAX_SIZE:
        return None
    return None if op.expansion is not None and op.expansion(i) is None else runs


class Elements:
    """Elements as a thread holds them: a value of each column, in its storage type."""

    def __init__(self, match: RowSort, body: FunctionBuilder) -> None:
        """For the columns of a sort."""
        self.match, self.body = match, body
        self.types = [storage_type(kind) for kind in match.kinds]

    def read(self, row: SymbolicExpr, place: SymbolicExpr) -> list[Value]:
        """The element at a place of a row, from the operands."""
        match, body = self.match, self.body
        index = tuple(map(body.scope.simplify, match.index(row, place)))
        values = [body.stored(match.kind(k), body.read(match.hero.operands[k], index)) for k in match.columns]
        held = [Value(v, t) for v, t in zip(values, self.types, strict=False)]
        if match.has_order:
            held.append(body.op("convert", ORDER, body.integer(place)))
        return [body.named(v) for v in held]

    def comes_before(self, first: Sequence[Value], second: Sequence[Value]) -> Value:
        """Whether an element must come before another one."""
        match, body = self.match, self.body
        arguments = []
        for k in range(len(match.hero.operands)):
            for side in (first, second):
                arguments.append(self._compared(k, side))
        (result,) = body.apply(match.comparator, arguments)
        return body.named(result)

    def _compared(self, operand: int, held: Sequence[Value]) -> Value:
        if operand not in self.match.compared:
            return self.body.number(self.match.kind(operand), 0)  # is not read
        return self.value(self.match.columns.index(operand), held)

    def value(self, column: int, held: Sequence[Value]) -> Value:
        """The value of a column, as it is computed with."""
        return self.body.loaded(self.match.kinds[column], self.body.node(held[column]))

    def write(self, row: SymbolicExpr, place: SymbolicExpr, results: Mapping[int, Value]) -> None:
        """Build the outputs at a place of a row from the results of the sort that are wanted."""
        match, body = self.match, self.body
        index = tuple(map(body.scope.simplify, match.index(row, place)))
        unread = [body.number(match.kind(k), 0) for k in range(len(match.hero.operands))]
        body.inject(match.hero, index, [results.get(k, value) for k, value in enumerate(unread)])
        match.heroes.build_after(body, index)

    def choose(self, condition: Value, first: Sequence[Value], second: Sequence[Value]) -> list[Value]:
        """The first element if the condition holds, else the second."""
        pairs = zip(first, second, strict=True)
        return [self.body.named(self.body.op("select", a.element_type, condition, a, b)) for a, b in pairs]

    def variables(self, held: Sequence[Value]) -> list[Value]:
        """Variables that begin as an element."""
        return [self.body.variable(v.element_type, v) for v in held]

    def load(self, buffers: Sequence[str], cell: SymbolicExpr) -> list[Value]:
        """The element at a place of buffers, one for each column."""
        body = self.body
        pairs = zip(buffers, self.types, strict=True)
        return [body.named(body.load(buffer, kind, (body.scope.simplify(cell),))) for buffer, kind in pairs]

    def store(self, buffers: Sequence[str], cell: SymbolicExpr, held: Sequence[Value]) -> None:
        """Store an element at a place of buffers."""
        for buffer, value in zip(buffers, held, strict=True):
            self.body.keep(buffer, cell, value)
