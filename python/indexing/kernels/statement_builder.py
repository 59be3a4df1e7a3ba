"""Building of one function's statements and values: names, blocks, conditions, index expressions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Literal

from indexing._core import IndexingMap, Interval, SymbolicExpr, constant, variable
from indexing.kernels.ir import nodes as ir
from indexing.kernels.ir.nodes import IndexVariable
from indexing.kernels.ir.types import compute_type
from indexing.ops.element_context import Mapped, Value
from indexing.ops.element_types import element_type

MAX_TREE = 64  # nodes of an expression as a tree; a larger expression gets a variable


class StatementBuilder:
    """Builds the statements of a function; keeps the open blocks."""

    def __init__(self) -> None:
        """Start with an empty body."""
        self.scope = IndexScope()
        self._blocks: list[list[ir.Statement]] = [[]]
        self._names = 0
        self._mutable: set[str] = set()
        self._promise = ""
        self._named_here: list[dict[tuple[SymbolicExpr, int, int], SymbolicExpr]] = [{}]

    # ------------------------------------------------------------ values

    def fresh(self, prefix: str) -> str:
        """A name that is not in use yet."""
        self._names += 1
        return f"{prefix}{self._names - 1}"

    def node(self, value: Value) -> ir.Value:
        """The IR node of a value."""
        return value.node  # type: ignore[return-value]

    def number(self, kind: str, value: complex | bool) -> Value:
        """A constant of element type `kind`."""
        return Value(ir.Constant(compute_type(kind), value), kind)

    def integer(self, expression: SymbolicExpr) -> Value:
        """An index expression as a value of type s64."""
        return Value(ir.IndexValue(self.scope.simplify(expression)), "s64")

    def op(self, opcode: str, result: str, *operands: Value, format: str = "") -> Value:
        """An operation on values; the result is neither rounded nor named."""
        return Value(ir.Op(opcode, result, tuple(self.node(o) for o in operands), format), result)

    def name(self, node: ir.Value) -> ir.Value:
        """The value under a constant name; constants and values that have one are returned unchanged."""
        if isinstance(node, ir.Constant) or (isinstance(node, ir.Ref) and node.name not in self._mutable):
            return node
        name = self.fresh("v")
        self.add(ir.Let(name, node))
        return ir.Ref(node.type, name)

    def variable(self, kind: str, initial: Value) -> Value:
        """Declare a variable, which `assign` may change."""
        name = self.fresh("v")
        self._mutable.add(name)
        self.add(ir.Var(name, compute_type(kind), self.node(initial)))
        return Value(ir.Ref(compute_type(kind), name), kind)

    def assign(self, variable: Value, value: Value) -> None:
        """Assign a new value to a variable."""
        self.assign_all([variable], [value])

    def assign_all(self, variables: Sequence[Value], values: Sequence[Value]) -> None:
        """Assign new values to variables; all are computed before any is assigned."""
        nodes = [self.node(v) for v in values]
        if len(nodes) > 1:
            nodes = [self.name(n) for n in nodes]
        for target, node in zip(variables, nodes, strict=True):
            ref = self.node(target)
            assert isinstance(ref, ir.Ref)
            if node != ref:
                self.add(ir.Assign(ref.name, node))

    # ------------------------------------------------------------ statements

    @property
    def body(self) -> tuple[ir.Statement, ...]:
        """The statements of the outermost block."""
        return tuple(self._blocks[0])

    @property
    def depth(self) -> int:
        """The number of open blocks, the body included."""
        return len(self._blocks)

    def add(self, statement: ir.Statement) -> None:
        """Append a statement to the current block."""
        self._blocks[-1].append(statement)

    def barrier(self) -> None:
        """Add a barrier for all threads of the block."""
        self.add(ir.Barrier())

    def store(self, buffer: str, index: ir.Index, node: ir.Value) -> None:
        """Store an element, given in its storage type."""
        self.add(ir.Store(buffer, index, node))

    def leave_loop(self, conditions: Sequence[Value]) -> None:
        """Leave the innermost loop if all conditions hold."""
        self.add(ir.Break(tuple(self.node(c) for c in conditions)))

    @contextmanager
    def _block(self, around: Callable[[tuple[ir.Statement, ...]], ir.Statement]) -> Iterator[None]:
        """Run the block, whose statements become one by `around`."""
        self._blocks.append([])
        self._named_here.append({})
        try:
            yield
        finally:
            self._named_here.pop()
            self.add(around(tuple(self._blocks.pop())))

    @contextmanager
    def loop(self, size: int, name: str = "r", *, lanes: bool = False) -> Iterator[SymbolicExpr]:
        """Run the block for each index from 0 to `size` - 1."""
        index = self.scope.add(self.fresh(name), 0, size - 1, "loop")
        number = index.variable_index
        assert number is not None
        with self._block(lambda body: ir.For(number, constant(0), constant(size), 1, body, lanes)):
            yield index

    def when(self, conditions: Sequence[Value]) -> AbstractContextManager[None]:
        """Run the block if all conditions hold."""
        return self._block(lambda body: ir.If(tuple(self.node(c) for c in conditions), body))

    def otherwise(self) -> AbstractContextManager[None]:
        """Run the block if the conditions of the preceding `when` do not hold."""
        before = self._blocks[-1].pop()
        assert isinstance(before, ir.If)
        return self._block(lambda body: ir.If(before.conditions, before.then, body))

    # ------------------------------------------------------------ indices

    def constant(self, value: int) -> SymbolicExpr:
        """A constant index."""
        return constant(value)

    def range(self, expression: SymbolicExpr) -> Interval:
        """Bounds of an index expression."""
        return self.scope.range(self.scope.simplify(expression))

    def within(self, expression: SymbolicExpr, lower: int | None, upper: int | None) -> tuple[Value, ...]:
        """The conditions that an index lies in [lower, upper]; empty if it provably does."""
        index = self.scope.simplify(expression)
        known = self.scope.range(index)
        low = lower if lower is not None and known.lower < lower else None
        high = upper if upper is not None and known.upper > upper else None
        return () if low is None and high is None else (Value(ir.Within(index, low, high), "pred"),)

    def mapped(
        self, indexing_map: IndexingMap, index: ir.Index, ranges: ir.Index = (), runtimes: ir.Index = ()
    ) -> Mapped:
        """`indexing_map` at `index`: its results, and its constraints as conditions, except those that provably hold."""
        arguments = [*index, *ranges, *runtimes]
        results = tuple(self._at(e, arguments) for e in indexing_map.results)
        bounds = [*indexing_map.dims, *indexing_map.ranges, *indexing_map.runtimes]
        conditions: list[Value] = []
        for e, v in zip(arguments, bounds, strict=True):
            conditions += self.within(e, v.interval.lower, v.interval.upper)
        for expression, interval in indexing_map.constraints:
            conditions += self.within(self._at(expression, arguments), interval.lower, interval.upper)
        return Mapped(results, tuple(conditions))

    def _at(self, expression: SymbolicExpr, arguments: list[SymbolicExpr]) -> SymbolicExpr:
        place = expression.variable_index
        if place is not None:
            return arguments[place]
        index = self.scope.simplify(expression.replace_variables(arguments))
        if self.scope.tree_size(index) <= MAX_TREE:
            return index
        bounds = self.scope.range(index)
        return self._named(index, bounds.lower, bounds.upper)

    def _named(self, expression: SymbolicExpr, lower: int, upper: int) -> SymbolicExpr:
        """A variable for an expression that is known to lie in [lower, upper]."""
        key = (expression, lower, upper)
        for named in reversed(self._named_here):
            if key in named:
                return named[key]
        index = self._let_index(expression, lower, upper)
        self._named_here[-1][key] = index
        return index

    def named_index(self, name: str, expression: SymbolicExpr, lower: int, upper: int) -> SymbolicExpr:
        """A variable `name` for an expression that is known to lie in [lower, upper]."""
        return self._let_index(self.scope.simplify(expression), lower, upper, name)

    def _let_index(self, value: SymbolicExpr | ir.Value, lower: int, upper: int, name: str = "") -> SymbolicExpr:
        index = self.scope.add(name or self.fresh("j"), lower, upper, "let")
        number = index.variable_index
        assert number is not None
        self.add(ir.LetIndex(number, value, "" if isinstance(value, SymbolicExpr) else self._promise))
        return index

    def inside(self, index: ir.Index, sizes: Sequence[int]) -> ir.Index:
        """The same index, with components whose range exceeds the tensor replaced by variables within it."""
        out = []
        for expression, size in zip(index, sizes, strict=True):
            known = self.scope.range(expression)
            is_inside = known.lower >= 0 and known.upper < size
            out.append(expression if is_inside else self._named(expression, 0, size - 1))
        return tuple(out)

    def checked(self, value: Value, lower: int, upper: int) -> tuple[SymbolicExpr, Value]:
        """An integer value as an index, clamped to [lower, upper], and the condition that the value lies there, under which
        alone the index may be used.
        """
        named = Value(self.name(self.node(value)), value.element_type)
        condition = self._is_between(named, lower, upper)
        return self.bounded(named, lower, max(lower, upper)), Value(self.name(self.node(condition)), "pred")

    def _is_between(self, value: Value, lower: int, upper: int) -> Value:
        kind = value.element_type
        least, most = _limits(kind)
        if lower > upper or upper < least or lower > most:
            return self.number("pred", False)
        if lower == 0 and least < 0 and upper < most:  # negative numbers are large ones without a sign
            bits = kind.replace("s", "u")
            return self.op("le", "pred", self.op("convert", bits, value), self.number(bits, upper))
        conditions = [self.op("ge", "pred", value, self.number(kind, lower))] if lower > least else []
        conditions += [self.op("le", "pred", value, self.number(kind, upper))] if upper < most else []
        if not conditions:
            return self.number("pred", True)
        return conditions[0] if len(conditions) == 1 else self.op("and", "pred", *conditions)

    @contextmanager
    def assume(self, promise: str) -> Iterator[None]:
        """A scope for building indices of data about which the kernel's caller makes a promise."""
        before, self._promise = self._promise, promise
        yield
        self._promise = before

    def bounded(self, value: Value, lower: int, upper: int) -> SymbolicExpr:
        """An integer value as an index, clamped to [lower, upper]."""
        kind = element_type(value.element_type)
        wide = f"{'s' if kind.kind == 'signed' else 'u'}{'64' if kind.bits > 32 else '32'}"
        if max(abs(lower), abs(upper)) > 0x7FFFFFFF:
            wide = wide[0] + "64"
        node = self.node(value)
        widened = node if node.type == wide else ir.Op("convert", wide, (node,))
        clamped = ir.Op("clamp", wide, (ir.Constant(wide, lower), widened, ir.Constant(wide, upper)))
        return self._let_index(clamped, lower, upper)


def is_narrow(name: str) -> bool:
    """Whether an element type is a float below f32."""
    return element_type(name).is_narrow_float


def _limits(name: str) -> tuple[int, int]:
    kind = element_type(name)
    if kind.kind == "signed":
        return -(1 << (kind.bits - 1)), (1 << (kind.bits - 1)) - 1
    return 0, (1 << kind.bits) - 1


class IndexScope:
    """Index variables in order; expressions are `SymbolicExpr` over their numbers."""

    def __init__(self) -> None:
        """Start without variables."""
        self.variables: list[IndexVariable] = []
        self.intervals: list[Interval] = []
        self._simplified: dict[SymbolicExpr, SymbolicExpr] = {}
        self._ranges: dict[SymbolicExpr, Interval] = {}

    def add(
        self, name: str, lower: int, upper: int, kind: Literal["thread", "parameter", "loop", "let"] = "parameter"
    ) -> SymbolicExpr:
        """Add a variable with values in [lower, upper]."""
        interval = Interval(lower, max(lower, upper))
        self.variables.append(IndexVariable(name, interval, kind))
        self.intervals.append(interval)
        return variable(len(self.variables) - 1)

    def simplify(self, expression: SymbolicExpr) -> SymbolicExpr:
        """The simplest known form on the variables' intervals."""
        simplified = self._simplified.get(expression)
        if simplified is None:
            simplified = self._simplified[expression] = expression.simplify(self.intervals)
        return simplified

    def range(self, expression: SymbolicExpr) -> Interval:
        """Bounds of the expression's value."""
        known = self._ranges.get(expression)
        if known is None:
            known = self._ranges[expression] = expression.range(self.intervals)
        return known

    def tree_size(self, expression: SymbolicExpr) -> int:
        """The number of nodes of the expression as a tree, shared ones counted each time."""
        sizes: list[int] = []
        for _, _, operands in expression.nodes():
            sizes.append(1 + sum(sizes[o] for o in operands))
        return sizes[-1]
