"""Parsing of the statements of a kernel's text: one statement per line, blocks by indentation."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Literal

from indexing._core import Interval, SymbolicExpr
from indexing.errors import IndexingError
from indexing.kernels.ir.fragments import PANEL_PRODUCTS
from indexing.kernels.ir.nodes import (
    Assign,
    AtomicUpdate,
    Barrier,
    Block,
    Break,
    CallFunction,
    Copy,
    CopyAsync,
    Fence,
    FetchAdd,
    For,
    GroupReduce,
    If,
    IndexVariable,
    Let,
    LetIndex,
    LoadMatrices,
    MatrixMultiply,
    MultiplyPanels,
    Shuffle,
    Statement,
    Store,
    Var,
    WaitCopies,
)
from indexing.ops.element_types import ELEMENT_TYPES
from ir_scanner import OPERATORS, Line, Lines
from ir_values import read_place, read_value

if TYPE_CHECKING:
    from indexing.kernels.ir.nodes import Value

INDENT = 2
MAX_DEPTH = 64  # blocks are nested at most so deep


class Body:
    """The body of a function or of the entry.

    `variables` are the index variables declared so far, `types` the types of names, `results` the result types of functions.
    """

    def __init__(
        self,
        lines: Lines,
        results: Mapping[str, Sequence[str]],
        variables: Sequence[IndexVariable] = (),
        types: Mapping[str, str] | None = None,
    ) -> None:
        self.lines, self.results = lines, results
        self.variables = list(variables)
        self.declared: set[str] = set()
        self.numbers: dict[str, int] = {}  # of index variables in scope
        self._all = {v.name: k for k, v in enumerate(variables)}
        self.types = dict(types or {})
        self._simple: dict[str, Callable[[Line], Statement]] = {
            "var": self._var,
            "set": self._set,
            "store": self._store,
            "copy": self._copy,
            "copy_async": self._copy_async,
            "wait_copies": lambda line: WaitCopies(line.integer() if line.has_more() else 0),
            "load_matrices": self._load_matrices,
            "matrix_multiply": self._matrix_multiply,
            "multiply_panels": self._multiply_panels,
            "atomic": self._atomic,
            "group_reduce": self._group_reduce,
            "break": self._break,
            "barrier": lambda line: Barrier(),
            "fence": lambda line: Fence(),
        }

    def given(self, kind: Literal["thread", "parameter"]) -> None:
        """Read the lines of thread ids or of index parameters."""
        while self.lines.starts_with("index", INDENT):
            line = self.lines.take("index", INDENT)
            name = line.word()
            self._declare(line, name, kind)
            line.expect_word(kind)
            line.end()

    def block(self, indent: int) -> Block:
        """Read the statements indented by `indent` spaces."""
        out: list[Statement] = []
        while (line := self.lines.next()) is not None and line.indent >= indent and line.next_word() != "return":
            if line.indent > indent:
                line.fail(f"this line is indented by {line.indent} spaces; expected {indent}")
            if indent > INDENT * MAX_DEPTH:
                line.fail(f"blocks are nested too deeply; the limit is {MAX_DEPTH}")
            self.lines.skip()
            out.append(self._statement(line))
        return tuple(out)

    def value(self, line: Line) -> Value:
        """Read one value."""
        return read_value(line, self.numbers, self.types)

    # ------------------------------------------------------------ statements

    def _statement(self, line: Line) -> Statement:
        word = line.next_word()
        if word == "for":
            return self._for(line)
        if word == "if":
            return self._if(line)
        if word in self._simple:
            line.word()
            result = self._simple[word](line)
        else:
            result = self._named(line)
        line.end()
        return result

    def _for(self, line: Line) -> For:
        line.word()
        name = line.word()
        number = self._declare(line, name, "loop")
        line.expect("=")
        start = line.expression(self.numbers, ("to",))
        line.expect_word("to")
        stop = line.expression(self.numbers, ("step",))
        line.expect_word("step")
        step = line.integer()
        lanes = line.takes_word("lanes")
        unroll = line.integer() if line.takes_word("unroll") else 0
        line.end()
        return For(number, start, stop, step, self.block(line.indent + INDENT), lanes, unroll)

    def _if(self, line: Line) -> If:
        line.word()
        conditions = self._conditions(line)
        line.end()
        then = self.block(line.indent + INDENT)
        otherwise: Block = ()
        if self.lines.starts_with("else", line.indent):
            self.lines.take("else", line.indent).end()
            otherwise = self.block(line.indent + INDENT)
        return If(conditions, then, otherwise)

    def _conditions(self, line: Line) -> tuple[Value, ...]:
        result = [self.value(line)]
        while line.takes_word("and"):
            result.append(self.value(line))
        return tuple(result)

    def _var(self, line: Line) -> Var:
        name, kind = self._pair(line)
        line.expect("=")
        result = Var(name, kind, self.value(line))
        self.types[name] = kind
        return result

    def _pair(self, line: Line) -> tuple[str, str]:
        name = line.word()
        line.expect(":")
        return name, line.one_of(ELEMENT_TYPES, "a type")

    def _set(self, line: Line) -> Assign:
        name = line.word()
        line.expect("=")
        return Assign(name, self.value(line))

    def _store(self, line: Line) -> Store:
        buffer, index = line.word("a buffer"), read_place(line, self.numbers)
        line.expect("=")
        return Store(buffer, index, self.value(line))

    def _copy(self, line: Line) -> Copy:
        width = line.integer()
        line.expect(":")
        destination, to = line.word("a buffer"), self._one_place(line)
        line.expect("=")
        source, start = line.word("a buffer"), self._one_place(line)
        return Copy(destination, to, source, start, width)

    def _copy_async(self, line: Line) -> CopyAsync:
        copy = self._copy(line)
        return CopyAsync(copy.destination, copy.destination_index, copy.source, copy.source_index, copy.width)

    def _flat_place(self, line: Line) -> tuple[str, SymbolicExpr]:
        return line.word("a buffer"), self._one_place(line)

    def _load_matrices(self, line: Line) -> LoadMatrices:
        width = line.integer()
        line.expect(":")
        to = self._flat_place(line)
        line.expect("=")
        return LoadMatrices(*to, *self._flat_place(line), width, line.takes_word("transposed"))

    def _matrix_multiply(self, line: Line) -> MatrixMultiply:
        kind = line.one_of(ELEMENT_TYPES, "a type")
        return MatrixMultiply(kind, *self._sum_and_factors(line))

    def _multiply_panels(self, line: Line) -> MultiplyPanels:
        kind, depth = line.one_of(PANEL_PRODUCTS, "a product of panels"), line.integer()
        return MultiplyPanels(kind, *self._sum_and_factors(line), depth)

    def _sum_and_factors(self, line: Line) -> tuple[str, SymbolicExpr, str, SymbolicExpr, str, SymbolicExpr]:
        line.expect(":")
        total = self._flat_place(line)
        line.expect("+=")
        left = self._flat_place(line)
        line.expect("*")
        return (*total, *left, *self._flat_place(line))

    def _one_place(self, line: Line) -> SymbolicExpr:
        at = line.start()
        result = read_place(line, self.numbers)
        if len(result) != 1:
            line.fail("a copy takes flat buffers, whose index has one component", at)
        return result[0]

    def _atomic(self, line: Line) -> AtomicUpdate:
        buffer, index = line.word("a buffer"), read_place(line, self.numbers)
        line.expect("=")
        combiner = self._function(line)
        opcode = line.word("an operation") if line.takes(".") else ""
        line.expect("(")
        values = [self.value(line)]
        while line.takes(","):
            values.append(self.value(line))
        line.expect(")")
        return AtomicUpdate(buffer, index, combiner, tuple(values), opcode)

    def _group_reduce(self, line: Line) -> GroupReduce:
        pairs = [self._pair(line)]
        while line.takes(","):
            pairs.append(self._pair(line))
        line.expect_word("by")
        combiner = self._function(line)
        line.expect_word("threads")
        threads = line.integer()
        line.expect_word("distance")
        distance = line.integer()
        to_all = line.takes_word("to")
        if to_all:
            line.expect_word("all")
        names, types = zip(*pairs, strict=True)
        return GroupReduce(names, types, combiner, threads, distance, to_all)

    def _break(self, line: Line) -> Break:
        return Break(self._conditions(line)) if line.takes_word("if") else Break()

    def _named(self, line: Line) -> Statement:
        """Read a statement that begins with the names it defines."""
        names = [line.word("a statement")]
        if line.next_word() == "in":
            return self._let_index(line, names[0])
        while line.takes(","):
            names.append(line.word())
        line.expect("=")
        word = line.next_word()
        if word == "call":
            return self._call(line, tuple(names))
        if len(names) != 1:
            line.expected("'call'")
        result: Let | Shuffle | FetchAdd
        if word == "shuffle":
            line.word()
            is_first = line.takes_word("first")
            count = line.integer()
            line.expect_word("of")
            value = self.value(line)
            result = Shuffle(names[0], value, 0, count) if is_first else Shuffle(names[0], value, count)
            self.types[names[0]] = result.value.type
        elif word == "fetch_add":
            line.word()
            buffer, index = line.word("a buffer"), read_place(line, self.numbers)
            line.expect("+=")
            result = FetchAdd(names[0], buffer, index, self.value(line))
            self.types[names[0]] = "u32"
        else:
            result = Let(names[0], self.value(line))
            self.types[names[0]] = result.value.type
        return result

    def _call(self, line: Line, names: tuple[str, ...]) -> CallFunction:
        line.word()
        at = line.start()
        function = self._function(line)
        index = read_place(line, self.numbers)
        line.expect("(")
        arguments: list[Value] = []
        while not line.takes(")"):
            if arguments:
                line.expect(",")
            arguments.append(self.value(line))
        results = self.results[function]
        if len(results) != len(names):
            line.fail(f"{function} has {len(results)} results; {len(names)} are named", at)
        self.types.update(zip(names, results, strict=True))
        return CallFunction(names, function, index, tuple(arguments))

    def _function(self, line: Line) -> str:
        at = line.start()
        name = line.word("a function")
        if name not in self.results:
            line.fail(f"there is no function {name} above", at)
        return name

    def _let_index(self, line: Line, name: str) -> LetIndex:
        number = self._declare(line, name, "let", is_known=False)
        line.expect("=")
        word = line.next_word()
        is_value = word and word not in self.numbers and word not in OPERATORS
        value = self.value(line) if is_value else line.expression(self.numbers)
        self.numbers[name] = number
        promise = line.word("a promise") if is_value and line.takes_word("by") else ""
        return LetIndex(number, value, promise)

    # ------------------------------------------------------------ index variables

    def _declare(
        self, line: Line, name: str, kind: Literal["thread", "parameter", "loop", "let"], is_known: bool = True
    ) -> int:
        """Read the interval of an index variable; returns its number. A variable declared again is the same one."""
        at = line.start()
        line.expect_word("in")
        line.expect("[")
        lower = line.integer()
        line.expect(",")
        upper = line.integer()
        line.expect("]")
        try:
            actual = IndexVariable(name, Interval(lower, upper), kind)
        except (IndexingError, OverflowError) as error:
            line.fail(str(error).splitlines()[0], at)
        number = self._all.setdefault(name, len(self.variables))
        if number == len(self.variables):
            self.variables.append(actual)
        elif name in self.declared and self.variables[number] != actual:
            line.fail(f"{name} was declared with another interval or of another kind", at)
        self.variables[number] = actual
        self.declared.add(name)
        if is_known:
            self.numbers[name] = number
        return number
