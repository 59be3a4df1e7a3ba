"""The text form of kernels: one statement per line, blocks indented by two spaces.

    kernel loop_add emitter loop grid (13, 1, 1) block (128, 1, 1)
    buffer p0: f32[100,64] global input 0
    buffer o0: f32[100,64] global output 0
    entry
      index th_x in [0, 127] thread
      if th_x + bl_x * 128 <= 1599
        i in [0, 1599] = th_x + bl_x * 128
        v1 = load.f32 p0[i floordiv 64, i mod 64]
        store o0[i floordiv 64, i mod 64] = add.f32(v1, 1.0)

Index expressions print as maps do; their variables are ordered by declaration in the text, not by number.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from indexing._core import SymbolicExpr, variable
from indexing.kernels.ir import nodes as ir

IDS = ("th_x", "th_y", "th_z", "bl_x", "bl_y", "bl_z")  # the first variables of an entry


def print_kernel(kernel: ir.Kernel) -> str:
    """The text form of a kernel."""
    grid, block = (", ".join(map(str, sizes)) for sizes in (kernel.grid, kernel.block))
    lines = [f"kernel {kernel.name} emitter {kernel.emitter} grid ({grid}) block ({block}){_comment(kernel)}"]
    lines += [_buffer(b) for b in kernel.buffers]
    for function in kernel.functions:
        lines += _function(function)
    body = _Body(kernel.variables, range(len(IDS)), kernel.body)
    lines += ["entry", *_indented(body.given("thread")), *_indented(body.block(kernel.body))]
    return "\n".join(lines) + "\n"


def _comment(f: ir.Kernel | ir.Function) -> str:
    return f"  # {' '.join(f.comment.split())}" if f.comment else ""


def _buffer(b: ir.Buffer) -> str:
    sizes = ",".join(map(str, b.dimensions))
    layout = "" if b.layout is None else "{" + ",".join(map(str, b.layout)) + "}"
    text = f"buffer {b.name}: {b.element_type}[{sizes}]{layout} {b.space}"
    if b.role != "none":
        text += f" {b.role} {b.number}"
    if b.alias_of is not None:
        text += f" in {b.alias_of}"
    return text + (f" = {', '.join(number(v) for v in b.data)}" if b.data else "")


def _function(f: ir.Function) -> Iterator[str]:
    parameters = ", ".join(f"{p.name}: {p.type}" for p in f.parameters)
    kept = {None: "", False: " noinline", True: " inline"}[f.inline]
    body = _Body(f.variables, f.index, f.body)
    yield f"function {f.name}({parameters}){kept}{_comment(f)}"
    yield from _indented(body.given("parameter"))
    yield from _indented(body.block(f.body))
    yield f"  return {', '.join(map(body.value, f.results))}"


def _indented(lines: Iterator[str]) -> Iterator[str]:
    return ("  " + line for line in lines)


class _Body:
    """Prints the statements of a function, or of the entry."""

    def __init__(self, variables: Sequence[ir.IndexVariable], given: Iterable[int], body: ir.Block) -> None:
        self.variables = variables
        order = dict.fromkeys(given)
        order.update(dict.fromkeys(s.variable for s in ir.statements(body) if isinstance(s, ir.For | ir.LetIndex)))
        order.update(dict.fromkeys(range(len(variables))))  # variables without a declaration
        self.names = [variables[k].name for k in order]
        place = {k: n for n, k in enumerate(order)}
        self.places = [variable(place[k]) for k in range(len(variables))]

    def given(self, kind: str) -> Iterator[str]:
        """The declarations of thread ids, or of a function's parameters."""
        for v in self.variables:
            if v.kind == kind:
                yield f"index {v.name} in [{v.interval.lower}, {v.interval.upper}] {v.kind}"

    def block(self, block: ir.Block) -> Iterator[str]:
        """The lines of a block's statements."""
        for statement in block:
            yield from self._statement(statement)

    def _statement(self, statement: ir.Statement) -> Iterator[str]:
        if isinstance(statement, ir.For):
            start, stop = self._index(statement.start), self._index(statement.stop)
            form = " lanes" if statement.lanes else ""
            form += f" unroll {statement.unroll}" if statement.unroll else ""
            yield f"for {self._declared(statement.variable)} = {start} to {stop} step {statement.step}{form}"
            yield from _indented(self.block(statement.body))
        elif isinstance(statement, ir.If):
            yield f"if {self._conditions(statement.conditions)}"
            yield from _indented(self.block(statement.then))
            if statement.otherwise:
                yield "else"
                yield from _indented(self.block(statement.otherwise))
        elif isinstance(statement, ir.LetIndex):
            given = statement.value
            text = self._index(given) if isinstance(given, SymbolicExpr) else self.value(given)
            promise = f" by {statement.promise}" if statement.promise else ""
            yield f"{self._declared(statement.variable)} = {text}{promise}"
        else:
            yield self._simple(statement)

    def _declared(self, k: int) -> str:
        v = self.variables[k]
        return f"{v.name} in [{v.interval.lower}, {v.interval.upper}]"

    def _simple(self, statement: ir.Statement) -> str:
        match statement:
            case ir.Let(name, value):
                return f"{name} = {self.value(value)}"
            case ir.Var(name, kind, initial):
                return f"var {name}: {kind} = {self.value(initial)}"
            case ir.Assign(name, value):
                return f"set {name} = {self.value(value)}"
            case ir.CallFunction(results, function, index, arguments):
                given = ", ".join(map(self.value, arguments))
                return f"{', '.join(results)} = call {function}{self._place(index)}({given})"
            case ir.Store(buffer, index, value):
                return f"store {buffer}{self._place(index)} = {self.value(value)}"
            case ir.AtomicUpdate(buffer, index, combiner, values, opcode):
                how = f"{combiner}.{opcode}" if opcode else combiner
                return f"atomic {buffer}{self._place(index)} = {how}({', '.join(map(self.value, values))})"
            case ir.FetchAdd(name, buffer, index, value):
                return f"{name} = fetch_add {buffer}{self._place(index)} += {self.value(value)}"
            case ir.Copy(destination, to, source, start, width):
                return f"copy {width}: {destination}{self._place((to,))} = {source}{self._place((start,))}"
            case ir.CopyAsync(destination, to, source, start, width):
                return f"copy_async {width}: {destination}{self._place((to,))} = {source}{self._place((start,))}"
            case ir.WaitCopies(pending):
                return f"wait_copies {pending}" if pending else "wait_copies"
            case ir.LoadMatrices(destination, to, source, start, width, transposed):
                how = " transposed" if transposed else ""
                return (
                    f"load_matrices {width}: {destination}{self._place((to,))} = {source}{self._place((start,))}{how}"
                )
            case ir.MatrixMultiply(kind, total, at, left, row, right, column):
                factors = f"{left}{self._place((row,))} * {right}{self._place((column,))}"
                return f"matrix_multiply {kind}: {total}{self._place((at,))} += {factors}"
            case ir.MultiplyPanels(kind, total, at, left, row, right, column, depth):
                factors = f"{left}{self._place((row,))} * {right}{self._place((column,))}"
                return f"multiply_panels {kind} {depth}: {total}{self._place((at,))} += {factors}"
            case ir.GroupReduce(results, types, combiner, threads, distance, to_all):
                pairs = ", ".join(f"{n}: {t}" for n, t in zip(results, types, strict=True))
                how = " to all" if to_all else ""
                return f"group_reduce {pairs} by {combiner} threads {threads} distance {distance}{how}"
            case ir.Shuffle(name, value, offset, group):
                how = f"first {group}" if group else str(offset)
                return f"{name} = shuffle {how} of {self.value(value)}"
            case ir.Break(conditions):
                return f"break if {self._conditions(conditions)}" if conditions else "break"
            case ir.Barrier():
                return "barrier"
            case ir.Fence():
                return "fence"
            case _:
                raise TypeError(f"{type(statement).__name__} is no statement of one line")

    def _conditions(self, conditions: Sequence[ir.Value]) -> str:
        return " and ".join(map(self.value, conditions))

    def _place(self, index: Sequence[SymbolicExpr]) -> str:
        return f"[{', '.join(map(self._index, index))}]"

    def _index(self, expression: SymbolicExpr) -> str:
        return expression.replace_variables(self.places).to_text(self.names)

    def value(self, value: ir.Value) -> str:
        """The text of one value."""
        match value:
            case ir.Constant(kind, given):
                return f"{kind} {number(given)}"
            case ir.Ref(_, name):
                return name
            case ir.IndexValue(expression, kind):
                return f"index.{kind}({self._index(expression)})"
            case ir.Within(expression, lower, upper):
                low, high = ("" if b is None else str(b) for b in (lower, upper))
                return f"within({self._index(expression)}, [{low}, {high}])"
            case ir.Load(kind, buffer, index):
                return f"load.{kind} {buffer}{self._place(index)}"
            case ir.Op(opcode, kind, operands, fmt):
                suffix = f".{fmt}" if fmt else ""
                return f"{opcode}.{kind}{suffix}({', '.join(map(self.value, operands))})"


def number(value: complex | bool) -> str:
    """The text of a number, in Python's notation."""
    return repr(value)
