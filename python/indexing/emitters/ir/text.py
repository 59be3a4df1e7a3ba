"""The text form of kernels: one statement a line, blocks indented by two spaces.

    kernel loop_add emitter loop grid (13, 1, 1) block (128, 1, 1)
    buffer p0: f32[100,64] global input 0
    buffer o0: f32[100,64] global output 0
    entry
      index th_x in [0, 127] thread
      if th_x + bl_x * 128 <= 1599
        i in [0, 1599] = th_x + bl_x * 128
        v1 = load.f32 p0[i floordiv 64, i mod 64]
        store o0[i floordiv 64, i mod 64] = add.f32(v1, 1.0)

Index expressions print as maps do. `parse` (in `reader`) reads what `print_kernel` writes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from indexing._core import SymbolicExpr
from indexing.emitters.ir.nodes import (
    Assign,
    AtomicUpdate,
    Barrier,
    Block,
    Break,
    Buffer,
    CallFunction,
    Constant,
    Copy,
    Fence,
    FetchAdd,
    For,
    Function,
    If,
    IndexValue,
    IndexVariable,
    Kernel,
    Let,
    LetIndex,
    Load,
    Op,
    Ref,
    Shuffle,
    Statement,
    Store,
    TeamReduce,
    Var,
    Within,
)

if TYPE_CHECKING:
    from indexing.emitters.ir.nodes import Value


def print_kernel(kernel: Kernel) -> str:
    """The text form of a kernel."""
    grid, block = (", ".join(map(str, sizes)) for sizes in (kernel.grid, kernel.block))
    lines = [f"kernel {kernel.name} emitter {kernel.emitter} grid ({grid}) block ({block})"]
    if kernel.comment:
        lines[0] += f"  # {kernel.comment}"
    lines += [_buffer(b) for b in kernel.buffers]
    for function in kernel.functions:
        lines += _function(function)
    lines += ["entry", *_indented(_variables(kernel.variables, "thread"))]
    return "\n".join([*lines, *_indented(_block(kernel.body, kernel.variables))]) + "\n"


def _buffer(b: Buffer) -> str:
    sizes = ",".join(map(str, b.dimensions))
    layout = "" if b.layout is None else "{" + ",".join(map(str, b.layout)) + "}"
    text = f"buffer {b.name}: {b.element_type}[{sizes}]{layout} {b.space}"
    if b.role != "none":
        text += f" {b.role} {b.number}"
    if b.alias_of is not None:
        text += f" in {b.alias_of}"
    return text + (f" = {', '.join(number(v) for v in b.data)}" if b.data else "")


def _function(f: Function) -> Iterator[str]:
    parameters = ", ".join(f"{p.name}: {p.type}" for p in f.parameters)
    kept = {None: "", False: " noinline", True: " inline"}[f.inline]
    comment = f"  # {f.comment}" if f.comment else ""
    yield f"function {f.name}({parameters}){kept}{comment}"
    yield from _indented(_variables(f.variables, "parameter"))
    yield from _indented(_block(f.body, f.variables))
    names = [v.name for v in f.variables]
    yield f"  return {', '.join(value_text(r, names) for r in f.results)}"


def _variables(variables: Sequence[IndexVariable], kind: str) -> Iterator[str]:
    for v in variables:
        if v.kind == kind:
            yield f"index {v.name} in [{v.interval.lower}, {v.interval.upper}] {v.kind}"


def _indented(lines: Iterator[str]) -> Iterator[str]:
    return ("  " + line for line in lines)


def _block(block: Block, variables: Sequence[IndexVariable]) -> Iterator[str]:
    names = [v.name for v in variables]
    for statement in block:
        yield from statement_lines(statement, variables, names)


def statement_lines(statement: Statement, variables: Sequence[IndexVariable], names: list[str]) -> Iterator[str]:
    """The lines of one statement, the blocks within included."""
    if isinstance(statement, For):
        start, stop = (index_text(e, names) for e in (statement.start, statement.stop))
        unroll = f" unroll {statement.unroll}" if statement.unroll else ""
        yield f"for {_declared(variables[statement.variable])} = {start} to {stop} step {statement.step}{unroll}"
        yield from _indented(_block(statement.body, variables))
    elif isinstance(statement, If):
        yield f"if {_conditions(statement.conditions, names)}"
        yield from _indented(_block(statement.then, variables))
        if statement.otherwise:
            yield "else"
            yield from _indented(_block(statement.otherwise, variables))
    elif isinstance(statement, LetIndex):
        given = statement.value
        text = index_text(given, names) if isinstance(given, SymbolicExpr) else value_text(given, names)
        yield f"{_declared(variables[statement.variable])} = {text}"
    else:
        yield _simple(statement, names)


def _declared(v: IndexVariable) -> str:
    return f"{v.name} in [{v.interval.lower}, {v.interval.upper}]"


def _simple(statement: Statement, names: list[str]) -> str:
    match statement:
        case Let(name, value):
            return f"{name} = {value_text(value, names)}"
        case Var(name, kind, initial):
            return f"var {name}: {kind} = {value_text(initial, names)}"
        case Assign(name, value):
            return f"set {name} = {value_text(value, names)}"
        case CallFunction(results, function, index, arguments):
            given = ", ".join(value_text(a, names) for a in arguments)
            return f"{', '.join(results)} = call {function}{_place(index, names)}({given})"
        case Store(buffer, index, value):
            return f"store {buffer}{_place(index, names)} = {value_text(value, names)}"
        case AtomicUpdate(buffer, index, combiner, value, opcode):
            how = f"{combiner}.{opcode}" if opcode else combiner
            return f"atomic {buffer}{_place(index, names)} = {how}({value_text(value, names)})"
        case FetchAdd(name, buffer, index, value):
            return f"{name} = fetch_add {buffer}{_place(index, names)} += {value_text(value, names)}"
        case Copy(destination, to, source, start, width):
            ends = _place((to,), names), _place((start,), names)
            return f"copy {width}: {destination}{ends[0]} = {source}{ends[1]}"
        case TeamReduce(results, types, combiner, threads, distance, to_all):
            pairs = ", ".join(f"{n}: {t}" for n, t in zip(results, types, strict=True))
            how = " to all" if to_all else ""
            return f"team_reduce {pairs} by {combiner} threads {threads} distance {distance}{how}"
        case Shuffle(name, value, offset, group):
            how = f"first of {group}" if group else str(offset)
            return f"{name} = shuffle {how} of {value_text(value, names)}"
        case Break(conditions):
            return f"break if {_conditions(conditions, names)}" if conditions else "break"
        case Barrier():
            return "barrier"
        case Fence():
            return "fence"
        case _:
            raise TypeError(f"{type(statement).__name__} is no statement of one line")


def _conditions(conditions: Sequence[Value], names: list[str]) -> str:
    return " and ".join(value_text(c, names) for c in conditions)


def _place(index: Sequence[SymbolicExpr], names: list[str]) -> str:
    return f"[{', '.join(index_text(e, names) for e in index)}]"


def index_text(expression: SymbolicExpr, names: list[str]) -> str:
    """An index expression by the names of its variables."""
    return expression.to_text(names)


def value_text(value: Value, names: list[str]) -> str:
    """One value."""
    match value:
        case Constant(kind, given):
            return f"{kind} {number(given)}"
        case Ref(_, name):
            return name
        case IndexValue(expression, kind):
            return f"index.{kind}({index_text(expression, names)})"
        case Within(expression, lower, upper):
            low, high = ("" if b is None else str(b) for b in (lower, upper))
            return f"within({index_text(expression, names)}, [{low}, {high}])"
        case Load(kind, buffer, index):
            return f"load.{kind} {buffer}{_place(index, names)}"
        case Op(opcode, kind, operands, fmt):
            suffix = f".{fmt}" if fmt else ""
            return f"{opcode}.{kind}{suffix}({', '.join(value_text(o, names) for o in operands)})"


def number(value: complex | bool) -> str:
    """A number as Python reads it back."""
    return repr(value)
