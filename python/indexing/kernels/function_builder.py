"""Elemental emission: functions from an index to the element of an instruction, built from the ops' element code.

A `FunctionBuilder` builds the body of one function; buffers and other functions are those of the kernel (`KernelParts`), by
name. Within a function, an instruction is computed once at each index. It is called if the partition puts it into another
function, if its value would be recomputed inside a loop or a branch, or if branches nest too deeply; so kernels are linear in
the graph, and recursion does not follow the graph's depth.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager

from indexing._core import SymbolicExpr
from indexing.errors import UnsupportedOp
from indexing.hlo import Computation, Instruction
from indexing.indexing_analysis.computations import instruction_indexing
from indexing.kernels.ir.nodes import CallFunction, Index, Load, Op, Ref, Statement
from indexing.kernels.ir.nodes import Value as Node
from indexing.kernels.ir.types import compute_type, decoded, encoded, storage_type
from indexing.kernels.kernel_parts import KernelParts
from indexing.kernels.statement_builder import StatementBuilder, is_narrow
from indexing.ops.element.moves import zero
from indexing.ops.element_context import Value
from indexing.ops.operand_indexing import Indexing
from indexing.ops.registry import traits_of
from indexing.ops.tuples import array_source
from indexing.partitioner import Subgraph

MAX_NESTING = 10  # blocks; deeper instructions become functions

Binding = dict["Instruction", "Callable[[int, Index], Value]"]
_Key = tuple[int, "Instruction", int, Index]


class FunctionBuilder(StatementBuilder):
    """Builds the body of one function; the `ElementContext` that element code sees."""

    def __init__(self, kernel: KernelParts) -> None:
        """Start with an empty body, without index variables."""
        super().__init__()
        self.kernel = kernel
        self.rounds = True
        self._memo: list[dict[_Key, Value]] = [{}]
        self._frames: list[tuple[int, Binding]] = [(0, {})]
        self._frame_count = 0
        self._storage: dict[Node, tuple[str, Node]] = {}  # of loaded values: the element type, and the stored value
        self.base_scopes = 1  # blocks around the whole function
        self._active = 0  # element functions that wait for operands
        self.root: Instruction | None = None
        self._current_subgraph: Subgraph | None = (
            None  # the function of the partition that is being built; None: that of `root`
        )
        self._injected: dict[Instruction, tuple[Index | None, tuple[Value, ...]]] = {}

    # ------------------------------------------------------------ values of instructions

    def operand(self, instruction: Instruction, k: int, index: Index, output: int = 0) -> Value:
        """Element `index` of operand `k`."""
        return self.value(instruction.operands[k], index, output)

    def value(self, instruction: Instruction, index: Index, output: int = 0) -> Value:
        """Element `index` of array `output` of an instruction, computed here or called."""
        instruction, output = array_source(instruction, output)
        part = instruction.shape.leaves[output]
        if part.element_count == 0 and part.is_array:  # an empty array: the value is never used
            return zero(self, part.element_type)
        known = self._remembered((self._frames[-1][0], instruction, output, index))
        if known is not None:
            return known
        bound = self._bound(instruction)
        if bound is not None:
            return bound(output, index)
        if not self._is_called(instruction, output):
            self._build_operands(instruction, index, output)
        return self._build(instruction, index, output)

    def read(self, instruction: Instruction, index: Index, output: int = 0) -> Value:
        """As `value`, with the instructions of its subgraph built here, not called."""
        source, leaf = array_source(instruction, output)
        with self.within_subgraph(self.kernel.partition.find(source)):
            return self.value(source, index, leaf)

    @contextmanager
    def within_subgraph(self, subgraph: Subgraph) -> Iterator[None]:
        """A scope in which the instructions of `subgraph` are built here, not called."""
        outer, self._current_subgraph = self._current_subgraph, subgraph
        try:
            yield
        finally:
            self._current_subgraph = outer

    @property
    def current_subgraph(self) -> Subgraph:
        """The function of the partition that is being built."""
        return self._current_subgraph or self.kernel.partition.find(self.root or self.kernel.computation.root)

    def inject(self, hero: Instruction, index: Index | None, values: Sequence[Value]) -> None:
        """Set the values of the arrays of `hero` at `index` (None: at any index), which the kernel has computed."""
        self._injected[hero] = (index, tuple(values))

    def bind(self, parameter: Instruction, read: Callable[[Index], Value]) -> None:
        """Take the elements of a parameter of the kernel from `read` in what follows."""

        def value(output: int, index: Index) -> Value:
            self.remember(parameter, index, [read(index)])
            return self._memo[-1][self._frames[-1][0], parameter, output, index]

        self._frames[0][1][parameter] = value

    def withdraw(self, instructions: Iterable[Instruction]) -> None:
        """Remove the injected values of instructions."""
        for instruction in instructions:
            self._injected.pop(instruction, None)

    def _remembered(self, key: _Key) -> Value | None:
        frame, instruction, output, index = key
        if frame == 0 and instruction in self._injected:
            place, values = self._injected[instruction]
            if place is None or place == index or not self.kernel.partition.holds(instruction):
                return values[output]
        for memo in reversed(self._memo):
            if key in memo:
                return memo[key]
        return None

    def _bound(self, instruction: Instruction) -> Callable[[int, Index], Value] | None:
        return self._frames[-1][1].get(instruction) if instruction.is_parameter else None

    def _build_operands(self, instruction: Instruction, index: Index, output: int) -> None:
        """Build the instructions that `instruction` always needs, at known indices, operands first, without recursion."""
        pending = [(instruction, index, output, False)]
        while pending:
            current, at, leaf, ready = pending.pop()
            if self._remembered((self._frames[-1][0], current, leaf, at)) is not None:
                continue
            if ready or self._is_called(current, leaf):
                if current is not instruction:
                    self._build(current, at, leaf)
                continue
            pending.append((current, at, leaf, True))
            needs = self._certain_needs(current, at, leaf)
            pending.extend((*need, False) for need in reversed(needs))

    def _certain_needs(
        self, instruction: Instruction, index: Index, output: int
    ) -> list[tuple[Instruction, Index, int]]:
        """The operands that are always read, at one index: by an exact map without symbols or constraints."""
        needs = []
        if traits_of(instruction).is_source or instruction.called:
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

    def _build(self, instruction: Instruction, index: Index, output: int) -> Value:
        key = (self._frames[-1][0], instruction, output, index)
        known = self._remembered(key)
        if known is not None:
            return known
        if instruction.is_parameter:
            value = self._parameter(instruction, index)
        elif self._is_called(instruction, output):
            value = self._call(instruction, index, output)
        else:
            value = self._element(instruction, index, output)
        self._memo[-1].setdefault(key, value)
        return self._memo[-1][key]

    def _is_called(self, instruction: Instruction, output: int) -> bool:
        if self._frames[-1][0] or instruction is self.root or traits_of(instruction).is_source:
            return False
        if self.kernel.has_function(instruction, output) or not self.kernel.is_in_function(
            instruction, self.current_subgraph
        ):
            return True
        if (
            self._current_subgraph is not None and self._current_subgraph.injected
        ):  # an epilogue's own instructions need its heroes' values
            return False
        nested = len(self._memo) > self.base_scopes
        return (nested and len(set(instruction.users)) > 1) or max(self.depth, self._active) > MAX_NESTING

    def _element(self, instruction: Instruction, index: Index, output: int) -> Value:
        op = traits_of(instruction)
        if op.element is None:
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
        function, outputs = self.kernel.function(instruction, output)
        kinds = [instruction.shape.leaves[k].element_type for k in outputs]
        names = tuple(self.fresh("v") for _ in kinds)
        self.add(CallFunction(names, function, index))
        for k, name, kind in zip(outputs, names, kinds, strict=True):
            key = (self._frames[-1][0], instruction, k, index)
            self._memo[-1][key] = Value(Ref(compute_type(kind), name), kind)
        return self._memo[-1][self._frames[-1][0], instruction, output, index]

    def _parameter(self, parameter: Instruction, index: Index) -> Value:
        return self.load(self.kernel.input(parameter.parameter_number), parameter.shape.element_type, index)

    def load(self, buffer: str, kind: str, index: Index) -> Value:
        """An element of a buffer, decoded only if it is computed with."""
        return self.loaded(kind, Load(storage_type(kind), buffer, index))

    def element(self, buffer: str, kind: str, place: SymbolicExpr) -> Value:
        """The element at a place of a flat buffer, under a name."""
        return self.load(buffer, kind, (self.scope.simplify(place),))

    def keep(self, buffer: str, place: SymbolicExpr, value: Value) -> None:
        """Store a value of a buffer's storage type at a place of a flat buffer."""
        self.store(buffer, (self.scope.simplify(place),), self.node(value))

    def named(self, value: Value) -> Value:
        """The value under a constant name."""
        return Value(self.name(self.node(value)), value.element_type)

    def loaded(self, kind: str, held: Node) -> Value:
        """The value of an element of type `kind` from its representation in memory."""
        held = self.name(held)
        value = Value(self.name(decoded(kind, held)), kind)
        if value.node is not held:
            self._storage[value.node] = kind, held  # type: ignore[index]
        return value

    def stored(self, kind: str, value: Value) -> Node:
        """The value's representation in memory: the one that was loaded, if it was loaded."""
        held_kind, held = self._storage.get(value.node, ("", None))  # type: ignore[call-overload]
        return held if held_kind == kind else encoded(kind, self.node(value))

    def remember(self, instruction: Instruction, index: Index, values: Sequence[Value]) -> None:
        """Memoize the values of all arrays of a tuple-shaped instruction."""
        frame = self._frames[-1][0]
        for output, value in enumerate(values):
            self._memo[-1][frame, instruction, output, index] = value

    def let(self, element_type: str, value: Value, *, rounds: bool = True) -> Value:
        """Name the value; a float below f32 is rounded to its type."""
        node = self.node(value)
        if rounds and self.rounds and is_narrow(element_type):
            node = Op("round", "f32", (node,), element_type)
        return Value(self.name(node), element_type)

    @contextmanager
    def base_scope(self) -> Iterator[None]:
        """A scope that counts as the function's top level, where each instruction is computed once."""
        before, self.base_scopes = self.base_scopes, len(self._memo)
        try:
            yield
        finally:
            self.base_scopes = before

    def indexing(self, instruction: Instruction, output: int) -> Indexing:
        """The instruction's simplified output-to-input maps."""
        return instruction_indexing(instruction, output)

    def table(self, instruction: Instruction, output: int, index: Index) -> Value:
        """An element of array `output` of a constant: a number if all its elements are equal, else one of a constant buffer."""
        splat = self.kernel.splat(instruction, output)
        kind = instruction.shape.leaves[output].element_type
        if splat is not None:
            return self.number(kind, splat)
        return self.load(self.kernel.table(instruction, output), kind, index)

    @contextmanager
    def _block(self, around: Callable[[tuple[Statement, ...]], Statement]) -> Iterator[None]:
        with super()._block(around):
            self._memo.append({})
            try:
                yield
            finally:
                self._memo.pop()

    # ------------------------------------------------------------ computations

    def apply(self, computation: Computation, arguments: Sequence[Value]) -> tuple[Value, ...]:
        """The results of a computation on scalars, inlined."""

        def given(value: Value) -> Callable[[int, Index], Value]:
            return lambda output, index: value

        binding: Binding = {p: given(v) for p, v in zip(computation.parameters, arguments, strict=True)}
        with self._frame(binding):
            root = computation.root
            return tuple(self.value(root, (), k) for k in range(len(root.shape.leaves)))

    @contextmanager
    def unrounded(self) -> Iterator[None]:
        """Keep floats below f32 in f32 within the scope."""
        before, self.rounds = self.rounds, False
        try:
            yield
        finally:
            self.rounds = before

    def call(self, computation: Computation, instruction: Instruction, output: int, index: Index) -> Value:
        """An element of the called computation's result, with the instruction's operands as arguments."""
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
