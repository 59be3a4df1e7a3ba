"""Loop-invariant code motion: statements that compute the same in each iteration are moved in front of the loop, whole
reductions too: the maximum of a row within the sum of its exponentials is one loop less for each element.

Once threads are loops, what all threads of a block compute alike is computed once for them: compilers leave it in a loop if it
has loads, or conditions such as those of a power.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Set
from copy import copy
from dataclasses import replace

from indexing._core import SymbolicExpr
from indexing.kernels.ir import nodes as ir
from indexing.kernels.ir.copying import names_of
from indexing.kernels.ir.memory import Memory, orders_memory
from indexing.kernels.ir.traversal import (
    indices_of,
    loads_of,
    may_leave,
    names_in,
    replace_loops,
    rewrite_bodies,
    values_of,
    variables_in,
)
from indexing.kernels.passes.uniform import AXES


def hoist_invariants(kernel: ir.Kernel) -> ir.Kernel:
    """The kernel with loop-invariant definitions in front of their loops."""
    memory = Memory(kernel)

    def changes(loop: ir.For) -> _ChangedNames:
        return _ChangedNames(loop, memory, {m for s in ir.statements(loop.body) for m in memory.written(s)})

    return rewrite_bodies(kernel, lambda f: (_hoisted(f.body, f.variables, changes), f.results))


def hoist_from_threads(kernel: ir.Kernel) -> ir.Kernel:
    """The kernel with definitions that are the same for all threads, or all of a row, in front of the loops over threads. Loads
    of memory that the kernel writes stay, for their order among its stores, and what several loops compute, each for itself.
    """
    memory = Memory(kernel)
    body = list(ir.statements(kernel.body))
    written = {m for s in body for m in memory.written(s)}
    times = Counter(d for s in body for d in _defined(s))
    repeated = {d for d, count in times.items() if count > 1}
    sizes, intervals = {b.name: b.size for b in kernel.buffers}, [v.interval for v in kernel.variables]

    def is_inside(load: ir.Load) -> bool:
        """Whether an element is in its buffer, also where no thread would load it."""
        ranges = [e.range(intervals) for e in load.index]
        return len(ranges) == 1 and ranges[0].lower >= 0 and ranges[0].upper < sizes[load.buffer]

    def changes(loop: ir.For) -> _ChangedNames | None:
        return _ChangedNames(loop, memory, written, repeated, is_inside) if loop.variable < AXES else None

    return replace(kernel, body=_hoisted(kernel.body, kernel.variables, changes))


def _hoisted(
    body: ir.Block, variables: tuple[ir.IndexVariable, ...], changes: Callable[[ir.For], _ChangedNames | None]
) -> ir.Block:
    def on_loop(loop: ir.For) -> ir.Block:
        changing = changes(loop)
        return (loop,) if changing is None else _split(loop, _surely_runs(loop, variables), changing)

    return replace_loops(body, on_loop)


def _surely_runs(loop: ir.For, variables: tuple[ir.IndexVariable, ...]) -> bool:
    """Whether the body provably runs at least once."""
    intervals = [v.interval for v in variables]
    return (loop.stop - loop.start).simplify(intervals).range(intervals).lower > 0


def _split(loop: ir.For, runs: bool, changing: _ChangedNames) -> ir.Block:
    """The statements that move in front of the loop, and the loop without them."""
    front: list[ir.Statement] = []
    kept: list[ir.Statement] = []
    for part in parts_of(loop.body):
        moves = (
            runs and changing.is_invariant_reduction(part) if len(part) > 1 else changing.is_invariant(part[0], runs)
        )
        (front if moves else kept).extend(part)
        if runs and may_leave(part):
            runs = False  # later statements may not run in the first iteration
        if not moves:
            for statement in part:
                changing.note(statement)
    return *front, replace(loop, body=tuple(kept)) if front else loop


def parts_of(block: ir.Block) -> Iterator[ir.Block]:
    """The statements, those together that are a reduction: accumulators, and the loop behind them."""
    start = 0
    for k, statement in enumerate(block):
        if isinstance(statement, ir.For):
            yield block[start : k + 1]
        elif not isinstance(statement, ir.Var):
            yield from ((s,) for s in block[start : k + 1])
        else:
            continue
        start = k + 1
    yield from ((s,) for s in block[start:])


def _defined(statement: ir.Statement) -> tuple[str | int, ...]:
    """The names, or the index variable, that a statement defines."""
    return (statement.variable,) if isinstance(statement, ir.LetIndex) else names_of(statement)


def _assignments(statements: Iterable[ir.Statement]) -> Counter[str]:
    """The number of assignments of each name, as they stand in the program."""
    return Counter(s.name for s in statements if isinstance(s, ir.Assign))


class _ChangedNames:
    """The names and index variables that a loop changes, those whose definitions stay, and the memory of which its loads do."""

    def __init__(
        self,
        loop: ir.For,
        memory: Memory,
        written: Set[str],
        repeated: Set[str | int] = frozenset(),
        is_inside: Callable[[ir.Load], bool] = lambda load: False,
    ) -> None:
        inner = list(ir.statements(loop.body))
        self.memory, self.written, self.repeated, self.is_inside = memory, written, repeated, is_inside
        self.variables = {loop.variable}
        self.names: set[str] = set()
        self.assigned = _assignments(inner)
        self.anything = any(map(orders_memory, inner))
        for s in inner:
            if isinstance(s, ir.Assign | ir.Var):
                self.names.add(s.name)
            elif isinstance(s, ir.GroupReduce):
                self.names.update(s.names)

    def note(self, statement: ir.Statement) -> None:
        """Record the definitions and writes of a statement that stays in the loop."""
        inner = ir.statements((statement,)) if isinstance(statement, ir.For | ir.If) else (statement,)
        for s in inner:
            self.names.update(names_of(s))
            if isinstance(s, ir.LetIndex | ir.For):
                self.variables.add(s.variable)

    def is_invariant(self, statement: ir.Statement, runs: bool) -> bool:
        """Whether the statement defines what is loop-invariant; one with loads may move only if the loop runs at least once, or
        what it loads is there in any case.
        """
        if not isinstance(statement, ir.Let | ir.LetIndex | ir.CallFunction):
            return False
        if not runs and isinstance(statement, ir.CallFunction | ir.LetIndex):
            return False
        if not self.repeated.isdisjoint(_defined(statement)):
            return False
        return (runs or all(map(self.is_inside, loads_of(statement)))) and self._reads_the_same(statement)

    def _reads_the_same(self, statement: ir.Statement) -> bool:
        """Whether the values, the indices and the memory that a statement itself reads are loop-invariant."""
        read = set(self.memory.read(statement))
        if read and (self.anything or read & self.written):
            return False
        return all(map(self._same, indices_of(statement))) and all(map(self._same_value, values_of(statement)))

    def is_invariant_reduction(self, reduction: ir.Block) -> bool:
        """Whether accumulators and the loop behind them, which assigns nothing else, compute the same in each iteration."""
        inner = ir.statements(reduction)
        own = {name for s in inner for name in _defined(s)} | {s.variable for s in inner if isinstance(s, ir.For)}
        assigned = _assignments(inner)
        if not all(isinstance(s, ir.Var | ir.Let | ir.LetIndex | ir.Assign | ir.For) for s in inner):
            return False
        if not own.isdisjoint(self.repeated) or any(
            self.assigned[name] != n or name not in own for name, n in assigned.items()
        ):
            return False
        within = copy(self)
        within.names = self.names - own
        within.variables = self.variables - own
        return all(within._reads_the_same(s) for s in inner)

    def _same(self, expression: SymbolicExpr) -> bool:
        return not self.variables.intersection(expression.used_variables())

    def _same_value(self, value: ir.Value) -> bool:
        return self.names.isdisjoint(names_in((value,))) and self.variables.isdisjoint(variables_in((value,)))
