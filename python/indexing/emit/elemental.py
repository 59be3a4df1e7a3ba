"""Elemental emission: functions from an index to the element of an instruction, written from the ops' element code.

A `FunctionWriter` writes one C function; the `Unit` owns all functions of a kernel and writes those that calls ask for.
Within a function an instruction at one index is written once. It becomes a call where the partition gives it to another
function, where its value would be written again inside a loop or a branch, and where branches nest too deep; so the
text grows linearly with the graph, and no recursion follows the depth of the graph.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from indexing._core import IndexingMap, Interval, SymbolicExpr, constant, variable
from indexing.emit.constants import literal
from indexing.emit.index import MAX_TREE, IndexScope
from indexing.emit.source import Writer
from indexing.emit.types import c_type, decoded, encoded
from indexing.errors import UnsupportedOp
from indexing.fusion import output_to_input
from indexing.layout import major_to_minor
from indexing.lazy import np
from indexing.ops import REGISTRY
from indexing.ops.block import Indexing, leaves
from indexing.ops.element import ElementContext, Index, Mapped, Value
from indexing.ops.element_moves import zero
from indexing.ops.element_types import element_type
from indexing.ops.tuple_ import array_source

if TYPE_CHECKING:
    from indexing.emit.unit import Unit
    from indexing.emit.vectors import Lanes
    from indexing.hlo import Computation, Instruction
    from indexing.partition import Subgraph

__all__ = ["ElementContext", "FunctionWriter", "Index", "Value"]

MAX_NESTING = 10  # blocks; what lies deeper becomes a function
_ALWAYS_INLINE = frozenset({"constant", "iota", "parameter"})

Binding = dict["Instruction", "Callable[[int, Index], Value]"]
_Key = tuple[int, "Instruction", int, Index]


class FunctionWriter:
    """Writes the body of one function; the `ElementContext` that element code sees."""

    def __init__(self, unit: Unit, scope: IndexScope | None = None) -> None:
        """An empty body in `unit`, over the index variables of `scope`."""
        self.unit = unit
        self.scope = scope or IndexScope()
        self.writer = Writer()
        self.pointers: set[int] = set()
        self.callees: dict[str, None] = {}
        self.rounds = True
        self.lanes: Lanes | None = None  # the loop over a vector's lanes that is being written
        self._memo: list[dict[_Key, Value]] = [{}]
        self._named_here: list[dict[tuple[SymbolicExpr, int, int], SymbolicExpr]] = [{}]
        self._frames: list[tuple[int, Binding]] = [(0, {})]
        self._frame_count = 0
        self._names = 0
        self._storage: dict[str, tuple[str, str]] = {}  # of loaded values: element type, and C text of what was loaded
        self.base_scopes = 1  # blocks that the whole function lies in: the kernel's loop over lanes
        self._active = 0  # element functions that wait for operands
        self.root: Instruction | None = None
        self._home: Subgraph | None = None  # the function of the partition that is written here; None: that of `root`
        self._injected: dict[Instruction, tuple[Index, tuple[Value, ...]]] = {}

    # ------------------------------------------------------------ values

    def operand(self, instruction: Instruction, k: int, index: Index, output: int = 0) -> Value:
        """Element `index` of operand `k`."""
        return self.value(instruction.operands[k], index, output)

    def value(self, instruction: Instruction, index: Index, output: int = 0) -> Value:
        """Element `index` of array `output` of an instruction, written here or called."""
        instruction, output = array_source(instruction, output)
        part = leaves(instruction.shape)[output]
        if part.element_count == 0 and part.is_array:  # there is no element: what stands for one is never used
            return Value(zero(part.element_type), part.element_type)
        found = self._remembered((self._frames[-1][0], instruction, output, index))
        if found is not None:
            return found
        bound = self._bound(instruction)
        if bound is not None:
            return bound(output, index)
        if not self._is_called(instruction, output):
            self._write_operands(instruction, index, output)
        return self._write(instruction, index, output)

    def read(self, instruction: Instruction, index: Index, output: int = 0) -> Value:
        """As `value`, with what the partition puts together with the instruction written here."""
        source, leaf = array_source(instruction, output)
        with self.within(self.unit.partition.find(source)):
            return self.value(source, index, leaf)

    @contextmanager
    def within(self, subgraph: Subgraph) -> Iterator[None]:
        """What belongs to `subgraph` is written here, not called."""
        outer, self._home = self._home, subgraph
        try:
            yield
        finally:
            self._home = outer

    @property
    def home(self) -> Subgraph:
        """The function of the partition that is being written."""
        return self._home or self.unit.partition.find(self.root or self.unit.computation.root)

    def inject(self, hero: Instruction, index: Index, values: Sequence[Value]) -> None:
        """The arrays of `hero` at `index` are `values`, which the kernel has computed."""
        self._injected[hero] = (index, tuple(values))

    def fresh(self, prefix: str) -> str:
        """A C name that is not in use yet."""
        return self._name(prefix)

    def _remembered(self, key: _Key) -> Value | None:
        frame, instruction, output, index = key
        if frame == 0 and instruction in self._injected:
            place, values = self._injected[instruction]
            if place == index or not self.unit.partition.holds(instruction):
                return values[output]
        for memo in reversed(self._memo):
            if key in memo:
                return memo[key]
        return None

    def _bound(self, instruction: Instruction) -> Callable[[int, Index], Value] | None:
        return self._frames[-1][1].get(instruction) if instruction.opcode == "parameter" else None

    def _write_operands(self, instruction: Instruction, index: Index, output: int) -> None:
        """Write, operands first and without recursion, what `instruction` surely needs at indices known here."""
        pending = [(instruction, index, output, False)]
        while pending:
            current, at, leaf, ready = pending.pop()
            if self._remembered((self._frames[-1][0], current, leaf, at)) is not None:
                continue
            if ready or self._is_called(current, leaf):
                if current is not instruction:
                    self._write(current, at, leaf)
                continue
            pending.append((current, at, leaf, True))
            needs = self._certain_needs(current, at, leaf)
            pending.extend((*need, False) for need in reversed(needs))

    def _certain_needs(
        self, instruction: Instruction, index: Index, output: int
    ) -> list[tuple[Instruction, Index, int]]:
        """Operands read at one place, whatever the data: an exact map without other variables or constraints."""
        needs = []
        if instruction.opcode in _ALWAYS_INLINE or instruction.called:
            return []
        for operand, maps in zip(instruction.operands, self.indexing(instruction, output), strict=True):
            if len(maps) != 1 or maps[0].exactness != "exact":
                continue
            m = maps[0].map
            if m.is_undefined or m.is_known_empty or m.ranges or m.runtimes or m.constraints:
                continue
            source, leaf = array_source(operand, maps[0].leaf)
            at = self.mapped(m, index)
            if self._bound(source) is None and not at.conditions:
                needs.append((source, at.index, leaf))
        return needs

    def _write(self, instruction: Instruction, index: Index, output: int) -> Value:
        key = (self._frames[-1][0], instruction, output, index)
        found = self._remembered(key)
        if found is not None:
            return found
        if instruction.opcode == "parameter":
            value = self._load(instruction, index)
        elif self._is_called(instruction, output):
            value = self._call(instruction, index, output)
        else:
            value = self._element(instruction, index, output)
        self._memo[-1].setdefault(key, value)
        return self._memo[-1][key]

    def _is_called(self, instruction: Instruction, output: int) -> bool:
        if self._frames[-1][0] or instruction is self.root or instruction.opcode in _ALWAYS_INLINE:
            return False
        if self.unit.has_function(instruction, output) or not self.unit.is_together(instruction, self):
            return True
        if self._home is not None and self._home.injected:  # an epilogue's own instructions need its heroes' values
            return False
        nested = len(self._memo) > self.base_scopes
        return (nested and len(set(instruction.users)) > 1) or max(self.writer.depth, self._active) > MAX_NESTING

    def _element(self, instruction: Instruction, index: Index, output: int) -> Value:
        op = REGISTRY.get(instruction.opcode)
        if op is None or op.element is None:
            raise UnsupportedOp(
                f"{instruction.name}: {instruction.opcode} cannot be computed inside a kernel, element by element; "
                "leave it out of the fusion, so that it runs as a step of its own; emit_all(module) plans a program so"
            )
        self._active += 1
        try:
            return op.element(self, instruction, output, index)
        finally:
            self._active -= 1

    def _call(self, instruction: Instruction, index: Index, output: int) -> Value:
        function = self.unit.function(instruction, output)
        self.callees[function.name] = None
        arguments = ", ".join(self.integer(i) for i in index)
        text = self.unit.call_text(function.name, arguments)
        kinds = {k: leaves(instruction.shape)[k].element_type for k in function.outputs}
        if len(kinds) == 1:
            return self.let(kinds[output], text, rounds=False)
        name = self._name("r")
        self.writer.line(f"const {function.result} {name} = {text};")
        values = [Value(f"{name}.v{k}", kind) for k, kind in kinds.items()]
        self.remember(instruction, index, values)
        return values[output]

    def _load(self, parameter: Instruction, index: Index) -> Value:
        number = parameter.parameter_number
        kind = parameter.shape.element_type
        self.pointers.add(number)
        offset = self.offset(parameter.shape.dimensions, major_to_minor(parameter.shape), index)
        text = self.lanes.load(parameter, offset) if self.lanes else None
        if text is None:
            text = f"{self.unit.pointer(number)}[{self.integer(offset)}]"
        return self.loaded(kind, text)

    def loaded(self, element_type: str, text: str) -> Value:
        """The value of a storage element; written out only where something computes with it."""
        value = self.let(element_type, decoded(element_type, text), rounds=False)
        if _is_narrow(element_type):
            self.writer.droppable.add(value.text)
            self._storage[value.text] = element_type, text
        return value

    def stored(self, element_type: str, value: Value) -> str:
        """C text of the storage element that holds the value: the one that it was loaded from, where there is one."""
        kind, text = self._storage.get(value.text, ("", ""))
        return text if kind == element_type else encoded(element_type, value.text)

    def offset(self, sizes: Sequence[int], order: Sequence[int], index: Index) -> SymbolicExpr:
        """Position in memory, in elements, of an index of an array of `sizes` laid out in `order` (major to minor)."""
        total = constant(0)
        for d in order:
            total = total * sizes[d] + index[d]
        return self.scope.simplify(total)

    def remember(self, instruction: Instruction, index: Index, values: Sequence[Value]) -> None:
        """Keep the values of all arrays of a tuple-shaped instruction."""
        frame = self._frames[-1][0]
        for output, value in enumerate(values):
            self._memo[-1][frame, instruction, output, index] = value

    # ------------------------------------------------------------ statements

    def let(self, element_type: str, text: str, *, rounds: bool = True) -> Value:
        """A constant variable that holds `text`, rounded to its type where that is a float below f32."""
        if rounds and self.rounds and _is_narrow(element_type):
            text = f"@round_{element_type}({text})"
        name = self._name("v")
        self._define(c_type(element_type).compute, name, text)
        return Value(name, element_type)

    def _define(self, kind: str, name: str, text: str, variable: SymbolicExpr | None = None) -> None:
        """Write a constant here, or in front of the loop over lanes."""
        number = None if variable is None else variable.variable_index
        if self.lanes is None or not self.lanes.define(kind, name, text, number):
            self.writer.line(f"const {kind} {name} = {text};")

    def variable(self, element_type: str, initial: str) -> Value:
        """A variable that `assign` may change."""
        name = self._name("v")
        self.writer.line(f"{c_type(element_type).compute} {name} = {initial};")
        return Value(name, element_type)

    def assign(self, variable: Value, text: str) -> None:
        """Write `variable = text;`."""
        self.writer.line(f"{variable.text} = {text};")

    @contextmanager
    def loop(self, size: int) -> Iterator[SymbolicExpr]:
        """Run what is written inside for each index from 0 to `size` - 1."""
        name = self._name("r")
        index = self.scope.add(name, 0, size - 1)
        kind = self.scope.c_type(index)
        with self._nested(f"for ({kind} {name} = 0; {name} < {size}; ++{name})"):
            yield index

    @contextmanager
    def when(self, conditions: Sequence[str]) -> Iterator[None]:
        """Run what is written inside where all conditions hold."""
        text = " && ".join(conditions) if conditions else "true"
        with self._nested(f"if ({text})"):
            yield

    @contextmanager
    def otherwise(self) -> Iterator[None]:
        """Run what is written inside where the conditions of the `when` just before did not hold."""
        with self._nested("else"):
            yield

    @contextmanager
    def base_scope(self) -> Iterator[None]:
        """What is written inside counts as the function's own level, where each instruction is written once."""
        before, self.base_scopes = self.base_scopes, len(self._memo)
        try:
            yield
        finally:
            self.base_scopes = before

    @contextmanager
    def _nested(self, head: str) -> Iterator[None]:
        with self.writer.block(head):
            self._memo.append({})
            self._named_here.append({})
            try:
                yield
            finally:
                self._memo.pop()
                self._named_here.pop()

    # ------------------------------------------------------------ indices

    def indexing(self, instruction: Instruction, output: int) -> Indexing:
        """The instruction's simplified output-to-input maps."""
        return output_to_input(instruction, output)

    def mapped(self, indexing_map: IndexingMap, index: Index, ranges: Index = (), runtimes: Index = ()) -> Mapped:
        """`indexing_map` at `index`: results, and the constraints that are not surely true as C conditions."""
        arguments = [*index, *ranges, *runtimes]
        results = tuple(self._at(e, arguments) for e in indexing_map.results)
        bounds = [*indexing_map.dims, *indexing_map.ranges, *indexing_map.runtimes]
        conditions = [c for e, v in zip(arguments, bounds, strict=True) for c in self._conditions(e, v.interval)]
        for expression, interval in indexing_map.constraints:
            conditions += self._conditions(self._at(expression, arguments), interval)
        return Mapped(results, tuple(conditions))

    def _conditions(self, expression: SymbolicExpr, interval: Interval) -> list[str]:
        """C conditions that the expression lies in the interval; those that surely hold are left out."""
        known = self.scope.range(expression)
        if known.lower >= interval.lower and known.upper <= interval.upper:
            return []
        text = self.scope.atom(expression)
        low = [f"{text} >= {self.scope.text(constant(interval.lower))}"] if known.lower < interval.lower else []
        high = [f"{text} <= {self.scope.text(constant(interval.upper))}"] if known.upper > interval.upper else []
        return low + high

    def _at(self, expression: SymbolicExpr, arguments: list[SymbolicExpr]) -> SymbolicExpr:
        place = expression.variable_index
        if place is not None:
            return arguments[place]
        found = self.scope.simplify(expression.replace_variables(arguments))
        if self.scope.tree_size(found) <= MAX_TREE:
            return found
        bounds = self.scope.range(found)
        return self._named(found, bounds.lower, bounds.upper)

    def _named(self, expression: SymbolicExpr, lower: int, upper: int) -> SymbolicExpr:
        """A variable for the expression, known to lie in [lower, upper]."""
        key = (expression, lower, upper)
        for named in reversed(self._named_here):
            if key in named:
                return named[key]
        name = self._name("j")
        index = self.scope.add(name, lower, upper)
        self._define(self.scope.c_type(expression), name, self.scope.text(expression), index)
        self._named_here[-1][key] = index
        return index

    def inside(self, index: Index, sizes: Sequence[int]) -> Index:
        """The same index with components that might leave the tensor given a variable that does not."""
        out = []
        for expression, size in zip(index, sizes, strict=True):
            known = self.scope.range(expression)
            is_inside = known.lower >= 0 and known.upper < size
            out.append(expression if is_inside else self._named(expression, 0, size - 1))
        return tuple(out)

    def index_variables(self) -> Index:
        """The variables that the scope had when the function began, in order: its own index."""
        return tuple(variable(k) for k in range(len(self.scope.names)))

    def table(self, instruction: Instruction, index: Index) -> Value:
        """An element of a constant: a literal where all elements are the same, else an entry of a table."""
        kind = instruction.shape.element_type
        values = np.asarray(instruction.literal).reshape(-1)
        if values.size <= 1 or _is_splat(values):
            return Value(literal(values[0] if values.size else 0, kind), kind)
        sizes = instruction.shape.dimensions
        offset = self.offset(sizes, range(len(sizes)), index)
        return self.let(kind, f"{self.unit.table(instruction)}[{self.integer(offset)}]", rounds=False)

    def constant(self, value: int) -> SymbolicExpr:
        """An index that is a number."""
        return constant(value)

    def integer(self, expression: SymbolicExpr) -> str:
        """C text of an index expression."""
        return self.scope.text(self.scope.simplify(expression))

    def range(self, expression: SymbolicExpr) -> Interval:
        """Bounds of an index expression."""
        return self.scope.range(self.scope.simplify(expression))

    def checked(self, value: Value, lower: int, upper: int) -> tuple[SymbolicExpr, str]:
        """An integer value as an index, and the C condition that it lies in [lower, upper], under which alone it may
        be used.
        """
        name = self._name("j")
        index = self.scope.add(name, lower, upper)
        kind = self.scope.c_type(index)
        self.writer.line(f"const {kind} {name} = ({kind}){value};")
        if element_type(value.element_type).kind == "unsigned" or lower > upper:
            high = f"{value} <= {upper}" if upper >= 0 else "false"
            return index, high if lower <= 0 else f"{value} >= {lower} && {high}"
        return index, f"{value} >= {lower} && {value} <= {upper}"

    def bounded(self, value: Value, lower: int, upper: int) -> SymbolicExpr:
        """An integer value as an index, clamped to [lower, upper]."""
        kind = element_type(value.element_type)
        wide = f"{'s' if kind.kind == 'signed' else 'u'}{'64' if kind.bits > 32 else '32'}"
        name = self._name("j")
        index = self.scope.add(name, lower, upper)
        self._define(self.scope.c_type(index), name, f"@clamp_{wide}({lower}, {value}, {upper})", index)
        return index

    # ------------------------------------------------------------ computations

    def apply(self, computation: Computation, arguments: Sequence[Value]) -> tuple[Value, ...]:
        """The results of a computation on scalars, written in place."""

        def given(value: Value) -> Callable[[int, Index], Value]:
            return lambda output, index: value

        binding: Binding = {p: given(v) for p, v in zip(computation.parameters, arguments, strict=True)}
        with self._frame(binding):
            root = computation.root
            return tuple(self.value(root, (), k) for k in range(len(leaves(root.shape))))

    @contextmanager
    def unrounded(self) -> Iterator[None]:
        """Keep floats below f32 in f32 in what is written inside."""
        before, self.rounds = self.rounds, False
        try:
            yield
        finally:
            self.rounds = before

    def call(self, computation: Computation, instruction: Instruction, output: int, index: Index) -> Value:
        """An element of the called computation's result, its parameters standing for the instruction's operands."""
        outer = self._frames[-1]

        def bind(k: int) -> Callable[[int, Index], Value]:
            def read(leaf: int, at: Index) -> Value:
                self._frames.append(outer)
                try:
                    return self.value(instruction.operands[k], at, leaf)
                finally:
                    self._frames.pop()

            return read

        with self._frame({p: bind(k) for k, p in enumerate(computation.parameters)}):
            return self.value(computation.root, index, output)

    @contextmanager
    def _frame(self, binding: Binding) -> Iterator[None]:
        self._frame_count += 1
        self._frames.append((self._frame_count, binding))
        try:
            yield
        finally:
            self._frames.pop()

    def _name(self, prefix: str) -> str:
        self._names += 1
        return f"{prefix}{self._names - 1}"


def _is_narrow(name: str) -> bool:
    return element_type(name).is_narrow_float


def _is_splat(values: np.ndarray) -> bool:
    raw = np.ascontiguousarray(values).view(np.uint8).reshape(values.size, -1)
    return bool((raw == raw[0]).all())
