"""Builders of modules, instruction by instruction, with the checks of the parser, but without text."""

from __future__ import annotations

import operator
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias, TypeGuard, TypeVar

from indexing import _core
from indexing.arguments import item
from indexing.errors import UnsupportedOp
from indexing.hlo.program import Computation, Instruction, Module
from indexing.hlo.shape import Shape
from indexing.hlo.window import ConvolutionLabels, WindowDim, labels_text, slices_text, window_text
from indexing.walks import post_order

if TYPE_CHECKING:
    from indexing._core import _Draft

T = TypeVar("T")

#: The value of an attribute: HLO text, a boolean, a number, integers (`{0,1}`), the slice or the window of each dimension,
#: the labels of a convolution, or one or several computations.
AttributeValue: TypeAlias = (
    "str | float | ComputationBuilder | ConvolutionLabels "
    "| Sequence[int] | Sequence[slice] | Sequence[WindowDim] | Sequence[ComputationBuilder]"
)

_Argument: TypeAlias = tuple[int, ...] | int | str  # operands, a parameter's number, a literal
_Attributes: TypeAlias = tuple[tuple[str, str | tuple[int, ...]], ...]
_Row: TypeAlias = tuple[str, str, _Argument, _Attributes]  # shape, opcode, argument, attributes


@dataclass(frozen=True, slots=True, eq=False)
class BuiltInstruction:
    """An instruction of a computation under construction, which later ones take as an operand."""

    computation: ComputationBuilder
    index: int
    name: str
    shape: Shape

    @property
    def element_type(self) -> str:
        """The element type of its array."""
        return self.shape.element_type

    @property
    def dimensions(self) -> tuple[int, ...]:
        """The sizes of its array."""
        return self.shape.dimensions


class ComputationBuilder:
    """A computation under construction; its root is the last instruction, unless `root` is set to another."""

    def __init__(self, module: ModuleBuilder, name: str, number: int | None) -> None:
        """Made by the module builder; `number` is its position in the module, None for the entry."""
        self.module = module
        self.name = name
        self.root: BuiltInstruction | None = None
        self._number = number
        self._names: dict[str, int] = {}
        self._rows: list[_Row] = []
        self._parameter_count = 0

    @property
    def number(self) -> int:
        """Its position among the module's computations. Raises UnsupportedOp for the entry, which can't be called."""
        if self._number is None:
            raise UnsupportedOp(f"{self.name} is the entry of {self.module.name}: no instruction may call it")
        return self._number

    def parameter(self, shape: Shape, name: str = "") -> BuiltInstruction:
        """Add the next parameter."""
        number = self._parameter_count
        self._parameter_count += 1
        return self._append(name or f"p{number}", shape, "parameter", number)

    def constant(self, shape: Shape, value: complex | str, name: str = "") -> BuiltInstruction:
        """Add a scalar constant, or a literal as HLO text. Raises UnsupportedOp for a number of another kind than the type."""
        text = value if isinstance(value, str) else _scalar_text(shape.element_type, value)
        return self._append(name, shape, "constant", text)

    def add(
        self,
        opcode: str,
        shape: Shape,
        operands: Iterable[BuiltInstruction] = (),
        name: str = "",
        /,
        **attributes: AttributeValue,
    ) -> BuiltInstruction:
        """Add an instruction; its attributes have the names of HLO."""
        written = tuple((key, _attribute(value)) for key, value in attributes.items())
        return self._append(name, shape, opcode, self._indices(operands), written)

    def element(self, operand: BuiltInstruction, index: int) -> BuiltInstruction:
        """Add a get-tuple-element. Raises IndexingError if there is no such element."""
        shape = item(operand.shape.elements, index, f"{operand.name} has", "elements")
        return self.add("get-tuple-element", shape, [operand], index=index)

    def tuple_of(self, operands: Sequence[BuiltInstruction]) -> BuiltInstruction:
        """Add a tuple."""
        return self.add("tuple", Shape("tuple", elements=tuple(o.shape for o in operands)), operands)

    def copy(
        self,
        instruction: Instruction,
        operands: Iterable[BuiltInstruction] = (),
        name: str = "",
        shape: Shape | None = None,
    ) -> BuiltInstruction:
        """Add a copy of an instruction of another module with other operands, and copies of the computations that it calls.

        `shape` is for a shape in another layout. Attributes that do not affect its value (metadata, sharding, ...) are omitted.
        """
        tables, row = instruction._tables, instruction._id
        called: dict[str, tuple[int, ...]] = {}
        for (key, _), computation in zip(tables.calls(row), instruction.called, strict=True):
            called[key] = (*called.get(key, ()), self.module.copy(computation).number)
        argument: _Argument = self._indices(operands)
        if instruction.is_parameter:
            argument = instruction.parameter_number
        elif instruction.is_constant:
            argument = tables.literal_text(row)
        attributes = tuple((k, called.get(k, v)) for k, v in tables.computing_attributes(row))
        return self._append(
            name or instruction.name, shape or instruction.shape, instruction.opcode, argument, attributes
        )

    def _draft(self) -> tuple[str, int, list[_Draft]]:
        rows: list[_Draft] = [(name, *row) for name, row in zip(self._names, self._rows, strict=True)]
        return self.name, self._root, rows

    @property
    def _root(self) -> int:
        return max(len(self._rows) - 1, 0) if self.root is None else self.root.index

    def _indices(self, operands: Iterable[BuiltInstruction]) -> tuple[int, ...]:
        built = tuple(operands)
        for operand in built:
            if operand.computation is not self:
                raise UnsupportedOp(
                    f"{operand.name} belongs to another computation, {operand.computation.name}; give one of {self.name}"
                )
        return tuple(operand.index for operand in built)

    def _append(
        self, name: str, shape: Shape, opcode: str, argument: _Argument, attributes: _Attributes = ()
    ) -> BuiltInstruction:
        distinct = _distinct(name or opcode, self._names)
        self._names[distinct] = 0
        self._rows.append((str(shape), opcode, argument, attributes))
        return BuiltInstruction(self, len(self._rows) - 1, distinct, shape)


class ModuleBuilder:
    """A module under construction: the entry, and the computations that it calls, callees first."""

    def __init__(self, name: str = "module", entry: str = "entry") -> None:
        """Start with an empty entry."""
        self.name = name
        self.entry = ComputationBuilder(self, entry, None)
        self._names = {entry: 0}
        self._computations: list[ComputationBuilder] = []
        self._copies: dict[Computation, ComputationBuilder] = {}
        self._by_rows: dict[tuple[_Row, ...], ComputationBuilder] = {}
        self._reducers: dict[tuple[str, str], ComputationBuilder] = {}

    def computation(self, name: str) -> ComputationBuilder:
        """Add a computation that instructions can call; its name is made unique by a number."""
        distinct = _distinct(name, self._names)
        self._names[distinct] = 0
        self._computations.append(ComputationBuilder(self, distinct, len(self._computations)))
        return self._computations[-1]

    def reducer(self, opcode: str, element_type: str) -> ComputationBuilder:
        """The computation that applies a binary op to two scalars; added once."""
        reducer = self._reducers.get((opcode, element_type))
        if reducer is None:
            reducer = self._reducers[opcode, element_type] = self.computation(f"{opcode}_{element_type}")
            scalar = Shape.array(element_type, ())
            reducer.add(opcode, scalar, [reducer.parameter(scalar), reducer.parameter(scalar)])
        return reducer

    def copy(self, computation: Computation) -> ComputationBuilder:
        """A copy of a computation of another module, with its callees; made once."""
        if computation in self._copies:
            return self._copies[computation]
        for called in post_order(
            [computation], lambda c: (callee for callee in _callees(c) if callee not in self._copies)
        ):
            copied = self.computation(called.name)
            built: dict[Instruction, BuiltInstruction] = {}
            for instruction in called.post_order():
                if instruction is not called.root:
                    built[instruction] = copied.copy(instruction, [built[o] for o in instruction.operands])
            copied.copy(called.root, [built[o] for o in called.root.operands])
            self._copies[called] = self._first_equal(copied)
        return self._copies[computation]

    def _first_equal(self, last: ComputationBuilder) -> ComputationBuilder:
        """The first computation equal to the last one, which is removed if it is a duplicate."""
        first = self._by_rows.setdefault(tuple(last._rows), last)
        if first is not last:
            del self._names[self._computations.pop().name]
        return first

    @property
    def content(self) -> Hashable:
        """A key that is equal for modules that differ in names only."""
        return tuple((c._root, *c._rows) for c in (*self._computations, self.entry))

    def build(self) -> Module:
        """The module. Raises ParseError, as for its text, if it is inconsistent."""
        return Module(_core.build_hlo(self.name, [c._draft() for c in (*self._computations, self.entry)]))


def _callees(computation: Computation) -> list[Computation]:
    """The computations that a computation calls, the last one first."""
    return [c for i in reversed(computation.post_order()) for c in reversed(i.called)]


def _distinct(name: str, taken: dict[str, int]) -> str:
    """The name, with a number appended if it is taken."""
    candidate = name
    while candidate in taken:
        taken[name] += 1
        candidate = f"{name}.{taken[name]}"
    return candidate


def _scalar_text(element_type: str, number: complex) -> str:
    if element_type[0] == "c":
        return f"({complex(number).real}, {complex(number).imag})"
    if isinstance(number, complex):
        raise UnsupportedOp(f"{number} is complex, {element_type} is not")
    if element_type == "pred":
        return str(bool(number)).lower()
    if element_type[0] in "su":
        if number != int(number):
            raise UnsupportedOp(f"{number} is not an integer, as {element_type} requires")
        return str(int(number))
    return repr(float(number))


def _attribute(value: AttributeValue) -> str | tuple[int, ...]:
    """The value as HLO text; of computations, their numbers."""
    if isinstance(value, str):
        return value
    if isinstance(value, ComputationBuilder):
        return (value.number,)
    if isinstance(value, ConvolutionLabels):
        return labels_text(value)
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | float):
        return repr(value)
    if _are(value, ComputationBuilder):
        return tuple(computation.number for computation in value)
    if _are(value, WindowDim):
        return window_text(value)
    if _are(value, slice):
        return slices_text(value)
    return "{" + ",".join(str(operator.index(number)) for number in value) + "}"  # type: ignore[arg-type]


def _are(values: Sequence[object], kind: type[T]) -> TypeGuard[Sequence[T]]:
    return bool(values) and all(isinstance(value, kind) for value in values)
