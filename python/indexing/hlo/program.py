"""Modules, computations and instructions: views of the tables that Rust has parsed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import repeat
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, TypeAlias, TypeVar, cast

from indexing import _core
from indexing.arguments import integer, of_type, takes
from indexing.display import shown
from indexing.errors import IndexingError, ParseError, UnsupportedOp, at_place
from indexing.hlo.attributes import AttributeReader
from indexing.hlo.shape import Shape
from indexing.lazy import np
from indexing.walks import post_order

T = TypeVar("T")
_READ_TOGETHER = frozenset({"name", "opcode", "shape", "signature"})

#: A constant's value: an array, a tuple of values, or `None` for a token.
LiteralValue: TypeAlias = "np.ndarray | tuple[LiteralValue, ...] | None"


class Instruction(AttributeReader):
    """One instruction of a computation."""

    __slots__ = (
        "__weakref__",
        "_attributes",
        "_called",
        "_id",
        "_literal",
        "_users",
        "computation",
        "name",
        "opcode",
        "operands",
        "shape",
        "signature",
    )

    name: str
    """The name, without `%`."""
    opcode: str
    """The opcode as in HLO text."""
    shape: Shape
    """The shape of the result."""
    signature: int
    """A key for caches: equal for instructions of a module with equal opcode, shape, operand shapes, literal and attributes
    other than annotations (metadata, sharding, backend_config, frontend_attributes)."""
    computation: Final[Computation]
    """The computation that holds it."""
    operands: tuple[Instruction, ...]
    """The operands, in order."""

    def __init__(self, computation: Computation, row: int) -> None:
        """Made by its computation."""
        self.computation = computation
        self._id = row

    if not TYPE_CHECKING:  # a type checker would accept any name

        def __getattr__(self, name: str) -> object:
            """Read a property from the tables on first access: most instructions are never accessed."""
            if name == "operands":
                self.operands = self.computation._at(self._tables.operands(self._id))
            elif name in _READ_TOGETHER:
                self.name, self.opcode, shape, self.signature = self._tables.instruction(self._id)
                self.shape = self.module._shape(shape)
            else:
                raise AttributeError(f"an instruction has no attribute {name!r}", name=name, obj=self)
            return getattr(self, name)

    @property
    def module(self) -> Module:
        """The module that holds it."""
        return self.computation.module

    @property
    def _tables(self) -> _core.HloModule:
        return self.computation.module._core

    @property
    def users(self) -> tuple[Instruction, ...]:
        """The instructions that have this one as an operand, each once, in text order."""
        try:
            return self._users
        except AttributeError:
            rows = self._tables.users(self._id)
            self._users: tuple[Instruction, ...] = self.computation._at(rows)
            return self._users

    @property
    def called(self) -> tuple[Computation, ...]:
        """The computations that the attributes name (`to_apply`, `calls`, `body`, ...), in text order; branches by their index,
        that for true first.
        """
        try:
            return self._called
        except AttributeError:
            rows = self._tables.calls(self._id)
            self._called: tuple[Computation, ...] = tuple(self.module._computations[row] for _, row in rows)
            return self._called

    @property
    def attributes(self) -> Mapping[str, str]:
        """The attributes, each value as written; a computation as `%name`."""
        try:
            return self._attributes
        except AttributeError:
            written = MappingProxyType(dict(self._tables.attributes(self._id)))
            self._attributes: Mapping[str, str] = written
            return written

    @property
    def row(self) -> int:
        """The position among the instructions of all computations of the module, from 0."""
        return self._id

    @property
    def index(self) -> int:
        """The position in the computation, from 0."""
        return self._id - self.computation._first

    @property
    def is_root(self) -> bool:
        """Whether this is the root of its computation."""
        return self._id == self.computation._root

    @property
    def is_parameter(self) -> bool:
        """Whether this is a parameter of its computation."""
        return self.opcode == "parameter"

    @property
    def is_constant(self) -> bool:
        """Whether this is a constant, with a literal."""
        return self.opcode == "constant"

    @property
    def is_fusion(self) -> bool:
        """Whether this is a fusion, whose instructions are in `called[0]`."""
        return self.opcode == "fusion"

    @property
    def parameter_number(self) -> int:
        """The number of a parameter. Raises UnsupportedOp for any other opcode."""
        number: int = self._tables.parameter_number(self._id)
        if number < 0:
            raise UnsupportedOp(f"{self.name} is a {self.opcode}, not a parameter")
        return number

    @property
    def literal(self) -> LiteralValue:
        """The value of a constant: a read-only array, a tuple of values, `None` for a token.

        Raises UnsupportedOp for any other opcode, and if the text elides the elements (`{...}`).
        """
        if not self.is_constant:
            raise UnsupportedOp(f"{self.name} is a {self.opcode}, not a constant")
        try:
            return self._literal
        except AttributeError:
            self._literal: LiteralValue = self._value(self._tables.literal(self._id))
            return self._literal

    def _value(self, literal: _core._LiteralData) -> LiteralValue:
        if literal is None:
            return None
        if isinstance(literal, list):
            return tuple(self._value(element) for element in literal)
        row, data = literal
        shape = self.module._shape(row)
        if data is None:
            raise UnsupportedOp(
                f"the text elides the elements of constant {self.name}, {shape} ('{{...}}'); print the program with "
                "large constants to use their values"
            )
        values = np.frombuffer(data, shape.dtype)
        if len(values) == 1 != shape.element_count:
            return np.broadcast_to(values[0], shape.dimensions)
        return values.reshape(shape.dimensions)

    @takes(key=of_type(str))
    def computation_of(self, key: str) -> Computation:
        """The computation that an attribute such as `to_apply` names. Raises ParseError if it names none."""
        for name, row in self._tables.calls(self._id):
            if name == key:
                return self.module._computations[row]
        raise self._bad(key, "a computation")

    @takes(message=of_type(str))
    def unsupported(self, message: str) -> UnsupportedOp:
        """The error with the instruction's position in the text, its line, and a caret under its name."""
        line, column, excerpt, caret = self._tables.place(self._id)
        return UnsupportedOp(at_place(message, line, column, excerpt, caret, self.module.file), line, column)

    def _bad(self, key: str, wanted: str) -> ParseError:
        line, column, excerpt, caret = self._tables.place(self._id)
        value = self._tables.attribute(self._id, key)
        given = "it is absent" if value is None else f"found {value}"
        message = f"{self.opcode} {self.name}: attribute {key} needs {wanted}, {given}"
        return ParseError(message, line, column, excerpt, caret, self.module.file)

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle the computation and the name."""
        return _instruction, (self.computation, self.name)

    def __str__(self) -> str:
        """The instruction as one line of HLO text."""
        return str(self._tables.instruction_text(self._id))

    def __repr__(self) -> str:
        """The instruction as one line of HLO text, in angle brackets."""
        return f"<Instruction {self}>"

    def _repr_svg_(self) -> str | None:
        return shown(self, "graph")


class Computation:
    """A computation: instructions in text order, operands before their users."""

    __slots__ = (
        "__weakref__",
        "_first",
        "_instructions",
        "_last",
        "_list",
        "_order",
        "_parameters",
        "_root",
        "_row",
        "module",
        "name",
    )

    name: str
    """The name, without `%`; `_` or `_.1` for one written inside an instruction."""
    module: Module
    """The module that holds it."""

    def __init__(self, module: Module, row: int, name: str, first: int, last: int, root: int) -> None:
        """Made by its module."""
        self.module = module
        self._row = row
        self.name = name
        self._first = first
        self._last = last
        self._root = root
        self._list: list[Instruction] | None = None
        self._instructions: Mapping[str, Instruction] | None = None
        self._order: tuple[Instruction, ...] | None = None
        self._parameters: tuple[Instruction, ...] | None = None

    def _all(self) -> list[Instruction]:
        """The views of all instructions, created by the first call."""
        views = self._list
        if views is None:
            made = list(map(Instruction, repeat(self), range(self._first, self._last)))
            # One view of each, whatever the threads.
            views = self._list = self.module._views.setdefault(self._row, made)
        return views

    def _at(self, rows: list[int]) -> tuple[Instruction, ...]:
        views, first = self._all(), self._first
        return tuple([views[row - first] for row in rows])

    @property
    def listed(self) -> Sequence[Instruction]:
        """The instructions in text order."""
        return self._all()

    @property
    def called(self) -> tuple[Computation, ...]:
        """The computations that its instructions call, in text order; one that is called several times as often."""
        return tuple(c for i in self._all() for c in i.called)

    @property
    def instructions(self) -> Mapping[str, Instruction]:
        """The instructions by name, in text order."""
        instructions = self._instructions
        if instructions is None:
            instructions = MappingProxyType({view.name: view for view in self._all()})
            self._instructions = instructions
        return instructions

    @property
    def root(self) -> Instruction:
        """The instruction whose value is the computation's."""
        return self._all()[self._root - self._first]

    @property
    def row(self) -> int:
        """The position in the module, from 0."""
        return self._row

    @property
    def first_row(self) -> int:
        """The row of its first instruction."""
        return self._first

    def instruction_at(self, row: int) -> Instruction:
        """The instruction of this row of the module; raises IndexingError for a row of another computation."""
        if type(row) is not int:
            row = integer(row, "instruction_at: row")
        instructions = self._all()
        place = row - self._first
        if not 0 <= place < len(instructions):
            last = self._first + len(instructions) - 1
            raise IndexingError(f"row {row} is not one of {self.name}, whose rows are {self._first} to {last}")
        return instructions[place]

    @property
    def shape(self) -> Shape:
        """The shape of the root."""
        return self.root.shape

    @property
    def operands(self) -> tuple[Instruction, ...]:
        """The parameters, so that a computation can be used like an instruction."""
        return self.parameters

    @property
    def parameters(self) -> tuple[Instruction, ...]:
        """The parameters, by number."""
        if self._parameters is None:
            views, number = self._all(), self.module._core.parameter_number
            rows = [(n, row) for row in range(self._first, self._last) if (n := number(row)) >= 0]
            self._parameters = tuple(views[row - self._first] for _, row in sorted(rows))
        return self._parameters

    @property
    def attributes(self) -> Mapping[str, str]:
        """The attributes after the closing brace, such as `execution_thread`."""
        return MappingProxyType(dict(self.module._core.computation_attributes(self._row)))

    @property
    def is_entry(self) -> bool:
        """Whether this is the module's entry."""
        return self.module._core.entry == self._row

    def post_order(self) -> tuple[Instruction, ...]:
        """All instructions, operands before users: a post-order from the root, then those on which it does not depend."""
        if self._order is None:
            self._order = tuple(post_order((self.root, *self._all()), lambda i: i.operands))
        return self._order

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle the module and the name."""
        return _computation, (self.module, self.name)

    def __str__(self) -> str:
        """The computation as HLO text."""
        return str(self.module._core.computation_text(self._row))

    def __repr__(self) -> str:
        """The name and the number of instructions."""
        return f"<Computation {self.name}: {self._last - self._first} instructions>"

    def _repr_svg_(self) -> str | None:
        return shown(self, "graph")


class Module:
    """An HLO module."""

    __slots__ = ("__weakref__", "_attached", "_by_name", "_computations", "_core", "_shapes", "_views", "file")

    def __init__(self, core: _core.HloModule, file: str = "") -> None:
        """Made by `parse`, and by `load`, which says what file of HLO text it read: errors in a line name it."""
        self.file = file
        self._core = core
        self._views: dict[int, list[Instruction]] = {}
        self._shapes: dict[int, Shape] = {}
        self._attached: dict[object, object] = {}
        self._computations = [Computation(self, row, *fields) for row, fields in enumerate(core.computations())]
        self._by_name = MappingProxyType({c.name: c for c in self._computations})

    @property
    def name(self) -> str:
        """The module's name; that of the entry if the text has no header."""
        return str(self._core.name)

    @property
    def tables(self) -> _core.HloModule:
        """The tables that the core has parsed, from which all views read."""
        return self._core

    @property
    def entry(self) -> Computation:
        """The entry computation: the one marked ENTRY, or the last one."""
        return self._computations[self._core.entry]

    @property
    def computations(self) -> Mapping[str, Computation]:
        """The computations by name, in text order."""
        return self._by_name

    @property
    def attributes(self) -> Mapping[str, str]:
        """The header's attributes, each value as written."""
        return MappingProxyType(dict(self._core.header()))

    def attached(self, kind: type[T]) -> T:
        """The object of a class that is attached to this module, created on first access.

        Analyses keep their results for the module in it; it is freed with the module.
        """
        existing = self._attached.get(kind)
        if existing is None:
            existing = self._attached.setdefault(kind, kind())
        return cast(T, existing)

    @property
    def instruction_count(self) -> int:
        """The number of instructions in all computations."""
        return int(self._core.instruction_count)

    def _shape(self, row: int) -> Shape:
        shape = self._shapes.get(row)
        if shape is None:
            element, sizes, dynamic, layout, elements, count = self._core.shape(row)
            order, text = (None, "") if layout is None else (tuple(layout[0]), layout[1])
            inner = tuple(self._shape(e) for e in elements)  # the parser bounds the nesting
            shape = Shape(element, tuple(sizes), order, inner, text, tuple(dynamic), count)
            shape = self._shapes.setdefault(row, shape)
        return shape

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle the text."""
        return _module, (str(self),)

    def __str__(self) -> str:
        """The module as HLO text that parses again."""
        return str(self._core.text())

    def __repr__(self) -> str:
        """The name and the sizes."""
        return f"<Module {self.name}: {len(self._computations)} computations, {self.instruction_count} instructions>"

    def _repr_svg_(self) -> str | None:
        return shown(self, "graph")


def entry_of(program: Module | Computation) -> Computation:
    """The computation itself, or a module's entry."""
    return program.entry if isinstance(program, Module) else program


def _module(text: str) -> Module:
    return Module(_core.parse_hlo(text))


def _computation(module: Module, name: str) -> Computation:
    return module.computations[name]


def _instruction(computation: Computation, name: str) -> Instruction:
    return computation.instructions[name]
