"""Thread loops, for targets without threads: the body of a kernel becomes loops over the threads of its block.

A thread loop runs a region of the body without barriers. Values live across regions are kept in arrays with an element for
each thread; index expressions are recomputed. Loops and branches with barriers, whose bounds and conditions are uniform, are
outside of the thread loops; so are loops without barriers in which neighbouring threads access neighbouring elements, so that
the thread loop is innermost and can be vectorized. A non-uniform branch is then repeated in each region. The order of threads
between two barriers does not matter, since kernels have no data races. A loop that stays in its threads, and what has elements
of another width, are regions of their own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import cast

from indexing._core import Interval, SymbolicExpr, constant
from indexing.errors import CompileError
from indexing.kernels.ir import nodes as ir
from indexing.kernels.ir.copying import changed_by
from indexing.kernels.ir.memory import Memory
from indexing.kernels.ir.traversal import all_values, names_in, rewrite_values, variables_in
from indexing.kernels.ir.types import decoded, storage_type
from indexing.kernels.passes.affine import make_indices_affine
from indexing.kernels.passes.group_loops import array_of
from indexing.kernels.passes.parallel_regions import GroupReduction, Guards, Item, ParallelRegion, Shared, ThreadLoops
from indexing.kernels.passes.uniform import AXES, IDS, Uniformity, gains_by_vectors, has_barrier
from indexing.ops.element_types import element_type


def make_thread_loops(kernel: ir.Kernel) -> ir.Kernel:
    """The kernel with one thread per block, and loops over the others."""
    kernel = make_indices_affine(kernel)
    split = _Splitter(kernel)
    items = split.block(kernel.body, ())
    pairs = zip(kernel.variables, split.intervals, strict=True)
    return ThreadLoops(replace(kernel, variables=tuple(replace(v, interval=i) for v, i in pairs)), items).kernel()


class _Splitter:
    """Splits the body into regions."""

    def __init__(self, kernel: ir.Kernel) -> None:
        self.kernel = kernel
        self.uniform = Uniformity(kernel)
        self.memory = Memory(kernel)
        self.written = {m for s in ir.statements(kernel.body) for m in self.memory.written(s)}
        self.variables = {
            *range(AXES, IDS),
            *(k for k in range(AXES) if kernel.block[k] == 1),
        }  # known outside of regions
        self.names: set[str] = set()  # known outside of regions
        self.intervals = [v.interval for v in kernel.variables]
        self.regions = 0
        self.guards = 0
        self.reductions = 0
        self.has_updates_apart = _has_slow_updates(kernel)

    def block(self, block: ir.Block, guards: Guards) -> list[Item]:
        """The items of a block whose statements are run by all threads for which the guards hold."""
        items: list[Item] = []
        current: ParallelRegion | None = None
        reduced: dict[str, ir.Ref] = {}
        for statement in block:
            statement = _with_reduced(statement, reduced)
            placement = self._place(statement, guards, items)
            if placement == "after":
                current = None
            elif placement == "inside":
                is_update = self.has_updates_apart and isinstance(statement, ir.AtomicUpdate)
                if current is None or is_update or is_apart(current.statements, statement):
                    current = ParallelRegion(self.regions, guards)
                    self.regions += 1
                    items.append(current)
                current.statements.append(statement)
            elif current is not None and items[-1] is not current:  # before the current region
                items.remove(current)
                items.append(current)
            if isinstance(statement, ir.GroupReduce) and statement.to_all and statement.threads == self.uniform.threads:
                reduced |= self._reduced(statement, items)
        return items

    def _reduced(self, s: ir.GroupReduce, items: list[Item]) -> dict[str, ir.Ref]:
        """The names of the values that a reduction over the whole block gives to all threads, each read once for them."""
        names = {}
        for name, kind in zip(s.names, s.types, strict=True):
            names[name] = ir.Ref(kind, f"{name}_all{self.reductions or ''}")
            cell = ir.Load(storage_type(kind), array_of(name), (constant(0),))
            items.append(Shared(ir.Let(names[name].name, decoded(kind, cell))))
        self.reductions += 1
        known = {ref.name for ref in names.values()}
        self.names |= known
        self.uniform.names |= known
        return names

    def _place(self, s: ir.Statement, guards: Guards, items: list[Item]) -> str:
        """Place a statement outside of regions if possible; returns its relation to the region: `before`, `inside`, `after`."""
        if isinstance(s, ir.Barrier):
            return "after"
        if isinstance(s, ir.Fence) and not guards:  # one fence for the writes of all threads
            items.append(Shared(s))
            return "after"
        if isinstance(s, ir.GroupReduce):
            if guards:
                raise CompileError(
                    f"kernel {self.kernel.name} has a group reduction under a condition that threads do not share"
                )
            items.append(GroupReduction(s))
            return "after"
        if isinstance(s, ir.LetIndex) and (known := self._known_index(s.value)) is not None:
            self.variables.add(s.variable)
            if guards:
                self._widen(s.variable, known.range(self.intervals))
            items.append(Shared(s))
            return "before"
        if isinstance(s, ir.Let | ir.LetIndex) and not guards and self._knows(s.value):
            reads_written = any(m in self.written for m in self.memory.read(s))
            if not reads_written or self.uniform.is_control_value(s):
                self._note(s)
                items.append(Shared(s))
                return "after" if reads_written else "before"
        if (
            isinstance(s, ir.For)
            and self.uniform.is_shared(s)
            and self._knows_index(s.start)
            and self._knows_index(s.stop)
        ):
            self.variables.add(s.variable)
            if guards:
                start, stop = s.start.range(self.intervals), s.stop.range(self.intervals)
                self._widen(s.variable, Interval(start.lower, max(stop.upper - 1, start.lower)))
            items.append(Shared(s, self.block(s.body, guards)))
            return "after"
        if isinstance(s, ir.If) and (self.uniform.has_shared_parts(s) or self._has_parts(s)):
            if not guards and all(map(self._knows, s.conditions)):
                items.append(Shared(s, self.block(s.then, ()), self.block(s.otherwise, ())))
            else:
                items.extend(self._guarded(s, guards))
            return "after"
        if has_barrier(s):
            raise CompileError(
                f"kernel {self.kernel.name} has a barrier in a {type(s).__name__.lower()} that threads do not share"
            )
        return "inside"

    def _has_parts(self, s: ir.If) -> bool:
        """Whether what a branch contains is several regions: of elements of different widths, or an update apart."""
        is_update = self.has_updates_apart and any(isinstance(t, ir.AtomicUpdate) for t in ir.statements(s.then))
        return is_update or _has_widths_apart(s)

    def _note(self, s: ir.Let | ir.LetIndex) -> None:
        """Let a name or an index be known outside of regions."""
        if isinstance(s, ir.Let):
            self.names.add(s.name)
        else:
            self.variables.add(s.variable)

    def _widen(self, variable: int, values: Interval) -> None:
        """Let the interval of a variable contain all values that it has outside of the conditions that bound it."""
        self.intervals[variable] = self.intervals[variable].union(values)

    def _known_index(self, value: SymbolicExpr | ir.Value) -> SymbolicExpr | None:
        """An index that is known outside of regions, or is the same everywhere."""
        index = constant(cast(int, value.value)) if isinstance(value, ir.Constant) else value
        return index if isinstance(index, SymbolicExpr) and self._knows_index(index) else None

    def _knows_index(self, expression: SymbolicExpr) -> bool:
        return self.variables.issuperset(expression.used_variables())

    def _knows(self, value: SymbolicExpr | ir.Value) -> bool:
        """Whether a value can be computed outside of regions, once for all threads."""
        if isinstance(value, SymbolicExpr):
            return self._knows_index(value)
        is_known = self.names.issuperset(names_in((value,))) and self.variables.issuperset(variables_in((value,)))
        return is_known and self.uniform.value(value)

    def _guarded(self, s: ir.If, guards: Guards) -> list[Item]:
        """The items of both branches, whose regions each check the condition themselves."""
        if has_barrier(s):
            raise CompileError(f"kernel {self.kernel.name} has a barrier under a condition that threads do not share")
        if all(isinstance(c, ir.Within) for c in s.conditions) and (not s.otherwise or _negated(s.conditions)):
            otherwise = self.block(s.otherwise, (*guards, _negated(s.conditions))) if s.otherwise else []
            return [*self.block(s.then, (*guards, s.conditions)), *otherwise]
        name = f"taken{self.guards}"
        self.guards += 1
        first = ParallelRegion(self.regions, guards)
        self.regions += 1
        first.statements += [
            ir.Var(name, "pred", ir.Constant("pred", False)),
            ir.If(s.conditions, (ir.Assign(name, ir.Constant("pred", True)),)),
        ]
        taken = ir.Ref("pred", name)
        other = ir.Op("not", "pred", (taken,))
        known = tuple(c for c in s.conditions if isinstance(c, ir.Within))
        return [first, *self.block(s.then, (*guards, (*known, taken))), *self.block(s.otherwise, (*guards, (other,)))]


def _with_reduced(s: ir.Statement, reduced: dict[str, ir.Ref]) -> ir.Statement:
    """A statement that reads reduced values by the names that all threads share, unless it gives them others."""
    inner = ir.statements((s,))
    for name in [n for t in inner for n in changed_by(t)]:
        reduced.pop(name, None)
    if not reduced:
        return s
    (s,) = rewrite_values((s,), lambda v: reduced.get(v.name, v) if isinstance(v, ir.Ref) else v)
    return s


def _has_slow_updates(kernel: ir.Kernel) -> bool:
    """Whether a kernel updates elements one by one with what it had better compute in vectors: places or values that take
    functions, or quotients of floats.
    """
    inner = ir.statements(kernel.body)
    if not any(isinstance(s, ir.AtomicUpdate) for s in inner):
        return False
    return any(isinstance(v, ir.Op) and gains_by_vectors(v) for s in inner for v in all_values(s))


def _has_widths_apart(s: ir.If) -> bool:
    """Whether a bound of indices holds for statements that are regions of their own."""
    is_bound = not s.otherwise and all(isinstance(c, ir.Within) for c in s.conditions)
    return is_bound and any(is_apart(s.then[:k], s.then[k]) for k in range(1, len(s.then)))


def _negated(conditions: tuple[ir.Value, ...]) -> tuple[ir.Value, ...]:
    """The condition that holds where a single bound of an index does not; none for other conditions."""
    negated = conditions[0].negated if len(conditions) == 1 and isinstance(conditions[0], ir.Within) else None
    return () if negated is None else (negated,)


# ---------------------------------------------------------------- widths of elements


def is_apart(before: Sequence[ir.Statement], s: ir.Statement) -> bool:
    """Whether a loop of elements of one width, in `before` or as the statement behind, stands beside elements of another."""
    own = _widths((s,))
    if isinstance(s, ir.For) and len(own) == 1 and not _widths(before) <= own:
        return True
    loops = [_widths((loop,)) for loop in before if isinstance(loop, ir.For)]
    return any(len(widths) == 1 and not own <= widths for widths in loops)


def _widths(statements: Sequence[ir.Statement]) -> set[int]:
    """The bits of the elements of statements, nested ones included; predicates have none, but for those in memory."""
    values = [part for s in ir.statements(tuple(statements)) for part in all_values(s)]
    stored = {s.value.type for s in ir.statements(tuple(statements)) if isinstance(s, ir.Store)}
    loaded = {v.type for v in values if isinstance(v, ir.Load)}
    computed = {v.type for v in values if isinstance(v, ir.Op | ir.Ref)} - {"pred"}
    return {max(element_type(kind).bits, 8) for kind in stored | loaded | computed}
