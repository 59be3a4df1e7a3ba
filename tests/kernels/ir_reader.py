"""Parsing of the text form of kernels: `read_kernel` parses what `text.print_kernel` prints.

Index variables are numbered in the order in which the text declares them, thread ids first.
"""

from __future__ import annotations

from dataclasses import replace

from indexing._core import Interval
from indexing.kernels.ir.nodes import Buffer, Function, IndexVariable, Kernel, Ref
from indexing.kernels.ir.text import IDS
from indexing.ops.element_types import ELEMENT_TYPES
from ir_scanner import Line, Lines
from ir_statements import INDENT, Body

SPACES = ("global", "shared", "local", "constant")
ROLES = ("input", "output", "scratch")


def read_kernel(text: str) -> Kernel:
    """The kernel of a text; raises ParseError with line, column and caret if the text is invalid."""
    lines = Lines(text)
    head = lines.take("kernel")
    name = head.word()
    head.expect_word("emitter")
    emitter = head.until_space("an emitter")
    grid, block = _sizes(head, "grid"), _sizes(head, "block")
    head.end()
    buffers: dict[str, Buffer] = {}
    while lines.starts_with("buffer"):
        _read_buffer(lines.take("buffer"), buffers)
    functions: dict[str, Function] = {}
    results: dict[str, tuple[str, ...]] = {}
    while lines.starts_with("function"):
        function = _read_function(lines, results)
        functions[function.name] = function
        results[function.name] = tuple(r.type for r in function.results)
    lines.take("entry").end()
    body = Body(lines, results, [IndexVariable(n, Interval(0, 0), "loop") for n in IDS])
    body.given("thread")
    statements = body.block(INDENT)
    rest = lines.next()
    if rest is not None:
        rest.expected("the end of the kernel")
    return Kernel(
        name,
        emitter,
        grid,
        block,
        tuple(buffers.values()),
        tuple(functions.values()),
        tuple(body.variables),
        statements,
        head.comment,
    )


def _sizes(line: Line, word: str) -> tuple[int, int, int]:
    line.expect_word(word)
    at = line.start()
    result = line.integers("(", ")")
    if len(result) != 3:
        line.fail(f"a {word} has three sizes", at)
    return result


def _read_buffer(line: Line, buffers: dict[str, Buffer]) -> None:
    at = line.start()
    name = line.word()
    if name in buffers:
        line.fail(f"there is a buffer {name} already", at)
    line.expect(":")
    kind = line.one_of(ELEMENT_TYPES, "an element type")
    dimensions = line.integers("[", "]")
    layout = line.integers("{", "}") if line.sees("{") else None
    space = line.one_of(SPACES, f"one of {', '.join(SPACES)}")
    buffer = Buffer(name, kind, dimensions, space, layout=layout)  # type: ignore[arg-type]
    if line.next_word() in ROLES:
        buffer = replace(buffer, role=line.word(), number=line.integer())  # type: ignore[arg-type]
    if line.takes_word("in"):
        buffer = replace(buffer, alias_of=line.word("a buffer"))
    if line.takes("="):
        data = [line.number_value()]
        while line.takes(","):
            data.append(line.number_value())
        buffer = replace(buffer, data=tuple(data))
    line.end()
    buffers[name] = buffer


def _read_function(lines: Lines, results: dict[str, tuple[str, ...]]) -> Function:
    line = lines.take("function")
    at = line.start()
    name = line.word()
    if name in results:
        line.fail(f"there is a function {name} already", at)
    line.expect("(")
    parameters: list[Ref] = []
    while not line.takes(")"):
        if parameters:
            line.expect(",")
        own = line.word()
        line.expect(":")
        parameters.append(Ref(line.one_of(ELEMENT_TYPES, "a type"), own))
    inline = {"inline": True, "noinline": False}.get(line.next_word())
    if inline is not None:
        line.word()
    line.end()
    body = Body(lines, results, types={p.name: p.type for p in parameters})
    body.given("parameter")
    statements = body.block(INDENT)
    last = lines.take("return", INDENT)
    result = [body.value(last)]
    while last.takes(","):
        result.append(body.value(last))
    last.end()
    return Function(name, tuple(body.variables), tuple(parameters), statements, tuple(result), line.comment, inline)
