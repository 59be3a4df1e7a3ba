"""Uniformity: values that are the same for all threads of a block, and loops that are put outside of thread loops."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import prod

from indexing._core import SymbolicExpr, constant, variable
from indexing.kernels.ir import nodes as ir
from indexing.kernels.ir.traversal import (
    all_values,
    expressions_of,
    indices_of,
    loads_of,
    may_leave,
    names_in,
    subvalues,
)
from indexing.ops.element_types import element_type
from indexing.walks import reached

AXES = 3
IDS = 6
MAX_SHORT = 16  # turns of a loop: no more than a vector has lanes
MIN_LANES = 8  # a loop of as many turns has vectors of its own, unless each turn waits for the last
FUNCTIONS = frozenset(
    "exp expm1 log log1p logistic sin cos tan sinh cosh tanh cbrt acos acosh asin asinh atan atanh erf pow atan2".split()
)
SLOW_ALONE = frozenset(("div", "maximum", "minimum"))  # if of floats: extrema ask for NaN and -0
VECTOR_ROWS = (
    2,
    3,
    4,
    8,
)  # compilers load rows of so many elements as vectors of all first ones, all second ones, and so on


def tiles_of_sums(kernel: ir.Kernel) -> frozenset[str]:
    """The local buffers that hold a tile of sums of each thread, without gaps."""
    return frozenset(s.accumulator for s in ir.statements(kernel.body) if isinstance(s, ir.MultiplyPanels))


def has_barrier(statement: ir.Statement) -> bool:
    """Whether a statement synchronizes the threads of a block."""
    return any(isinstance(s, ir.Barrier | ir.GroupReduce) for s in ir.statements((statement,)))


class Uniformity:
    """The uniform index variables and values of an entry: those that are the same for all threads of a block."""

    def __init__(self, kernel: ir.Kernel) -> None:
        """Analyze a kernel. Block ids are uniform; so are thread ids along an axis with one thread."""
        self.kernel = kernel
        self.spaces = {b.name: b.space for b in kernel.buffers}
        self.tiles = tiles_of_sums(kernel)
        self.threads = prod(kernel.block)
        self.variables = {*range(AXES, IDS), *(k for k in range(AXES) if kernel.block[k] == 1)}
        self.names: set[str] = set()
        self.places: dict[int, SymbolicExpr | None] = {}  # definitions of index variables, over those without one
        self._collect()
        self.control_values = self._control_values()

    def _collect(self) -> None:
        body = list(ir.statements(self.kernel.body))
        for s in body:
            if isinstance(s, ir.LetIndex):
                self.places[s.variable] = self._resolved(s.value) if isinstance(s.value, SymbolicExpr) else None
        for s in body:
            if isinstance(s, ir.LetIndex):
                if self.index(s.value) if isinstance(s.value, SymbolicExpr) else self.value(s.value):
                    self.variables.add(s.variable)
            elif isinstance(s, ir.Let) and self.value(s.value):
                self.names.add(s.name)
            elif isinstance(s, ir.For) and self.is_shared(s):
                self.variables.add(s.variable)

    def _resolved(self, expression: SymbolicExpr) -> SymbolicExpr | None:
        """The expression over thread ids and loop counters only; None if it depends on a value from memory."""
        used = expression.used_variables()
        if any(self.places.get(v, constant(0)) is None for v in used):
            return None
        if not any(v in self.places for v in used):
            return expression
        whole = [self.places.get(v) or variable(v) for v in range(max(used) + 1)]
        return expression.replace_variables(whole)

    def index(self, expression: SymbolicExpr) -> bool:
        """Whether an index expression is uniform."""
        return self.variables.issuperset(expression.used_variables())

    def value(self, value: ir.Value) -> bool:
        """Whether a value is uniform; a load is if its index is, since there are no data races."""
        for part in subvalues(value):
            if isinstance(part, ir.Ref) and part.name not in self.names:
                return False
            if isinstance(part, ir.Load) and self.spaces[part.buffer] == "local":
                return False
            if not all(map(self.index, expressions_of(part))):
                return False
        return True

    # ------------------------------------------------------------ shared control flow

    def _control_values(self) -> set[str]:
        """The names of uniform values that conditions of shared branches, those with barriers or shared loops, depend on."""
        deciding: list[ir.Value] = []
        given: dict[str, ir.Value] = {}
        for s in ir.statements(self.kernel.body):
            if isinstance(s, ir.Let):
                given[s.name] = s.value
            elif isinstance(s, ir.If) and self.has_shared_parts(s):
                deciding.extend(s.conditions)
            elif isinstance(s, ir.LetIndex) and not isinstance(s.value, SymbolicExpr) and s.variable in self.variables:
                deciding.append(s.value)

        def named(values: Iterable[ir.Value]) -> Iterator[str]:
            return (name for name in names_in(values) if name in self.names)

        return set(reached(named(deciding), lambda name: named([given[name]])))

    def is_control_value(self, s: ir.Let | ir.LetIndex) -> bool:
        """Whether a statement defines a value or index that shared branches or loops depend on."""
        return s.name in self.control_values if isinstance(s, ir.Let) else s.variable in self.variables

    # ------------------------------------------------------------ loops

    def has_shared_parts(self, s: ir.If) -> bool:
        """Whether a branch contains a barrier, a fence, or a loop that is put outside of thread loops."""
        inner = list(ir.statements((s,)))
        is_fenced = any(isinstance(f, ir.Fence) for f in inner)
        return is_fenced or has_barrier(s) or any(self.is_shared(f) for f in inner if isinstance(f, ir.For))

    def is_shared(self, loop: ir.For) -> bool:
        """Whether a loop is put outside of thread loops: it has a barrier, or contiguous accesses across threads.

        In a short loop, which has no vectors of its own, a function that vectors compute makes up for an access apart.
        """
        if not (self.index(loop.start) and self.index(loop.stop)):
            return False
        if has_barrier(loop):
            return True
        if self.threads == 1 or may_leave(loop.body):
            return False
        steps = [self._step(place, width) for place, width in self._places(loop)]
        if steps.count("same") == len(steps):  # in arrays of kept values, neighbouring threads have neighbouring cells
            return any(map(self._is_local, ir.statements(loop.body)))
        gained = steps.count("adjacent") + self._functions(loop)
        return gained >= max(steps.count("apart"), 1)

    def _functions(self, loop: ir.For) -> int:
        """The number of functions that a short loop computes, without those of callees."""
        turns = ir.iterations_of(loop)
        if turns is None or turns > MAX_SHORT or (turns >= MIN_LANES and self._has_own_vectors(loop)):
            return 0
        values = (part for s in ir.statements(loop.body) for part in all_values(s))
        counted = (v for v in values if isinstance(v, ir.Op) and (v.opcode in FUNCTIONS or turns not in VECTOR_ROWS))
        return sum(map(gains_by_vectors, counted))

    def _has_own_vectors(self, loop: ir.For) -> bool:
        """Whether compilers make vectors of a loop: no turn waits for the last, or reads what threads keep side by side."""
        return not _carries(loop) and not any(map(self._is_local, ir.statements(loop.body)))

    def _is_local(self, s: ir.Statement) -> bool:
        """Whether a statement accesses a local array."""
        loaded = {part.buffer for part in loads_of(s)}
        stored = {s.buffer} if isinstance(s, ir.Store) else set()
        return any(self.spaces[name] == "local" for name in loaded | stored - self.tiles)

    def _places(self, loop: ir.For) -> Iterator[tuple[SymbolicExpr, int]]:
        """The memory indices that a loop accesses, each with the number of elements accessed there."""
        for s in ir.statements(loop.body):
            for load in loads_of(s):
                if self.spaces[load.buffer] != "local":
                    yield from ((e, 1) for e in load.index)
            if isinstance(s, ir.Copy):
                outer = s.destination_index if self.spaces[s.source] == "local" else s.source_index
                yield outer, s.width
            elif isinstance(s, ir.Store | ir.CallFunction):
                if not (isinstance(s, ir.Store) and self.spaces[s.buffer] == "local"):
                    yield from ((e, 1) for e in indices_of(s))

    def _step(self, place: SymbolicExpr, width: int) -> str:
        """The relation of an index to that of the next thread: `same`, `adjacent`, or `apart`."""
        resolved = self._resolved(place)
        if resolved is None:
            return "apart"
        lowest = [v.interval.lower for v in self.kernel.variables]
        here = resolved.evaluate(lowest)
        lowest[0] += 1
        distance = abs(int(resolved.evaluate(lowest)) - int(here)) if self.kernel.block[0] > 1 else 0
        return "same" if distance == 0 else "adjacent" if distance == width else "apart"


def gains_by_vectors(v: ir.Op) -> bool:
    """Whether an operation takes far longer outside of vectors."""
    return v.opcode in FUNCTIONS or (v.opcode in SLOW_ALONE and element_type(v.type).kind == "float")


def _carries(loop: ir.For) -> bool:
    """Whether a turn of a loop assigns a variable that the next one has."""
    inside = list(ir.statements(loop.body))
    own = {s.name for s in inside if isinstance(s, ir.Var)}
    return any(isinstance(s, ir.Assign) and s.name not in own for s in inside)
