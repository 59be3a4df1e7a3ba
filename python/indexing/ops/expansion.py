"""Builder of expansions: computations of simpler ops that replace an instruction (library calls, batch normalization)."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TypeAlias

from indexing.errors import UnsupportedOp
from indexing.hlo import (
    AttributeValue,
    BuiltInstruction,
    Computation,
    ComputationBuilder,
    Instruction,
    ModuleBuilder,
    Shape,
    WindowDim,
)
from indexing.hlo.window import padding_text

#: The opcode of a binary op, or a computation of two scalars.
Reducer: TypeAlias = "str | Computation"
#: An element and its place, as scalars of a computation.
Scalars: TypeAlias = "tuple[BuiltInstruction, BuiltInstruction]"
NO_PLACE = -1  # the place of an element that is none


Loop: TypeAlias = "tuple[ComputationBuilder, ComputationBuilder]"  # the condition and the body


class Expansion:
    """Builds the computation that replaces one instruction; its parameters are the instruction's operands."""

    def __init__(self, call: Instruction) -> None:
        """Start with the parameters."""
        self.call = call
        self._module = ModuleBuilder("expansion", call.name)
        self._body = self._module.entry
        self.parameters = [self._body.parameter(o.shape) for o in call.operands]
        self.results: tuple[Shape, ...] = call.shape.leaves

    def operand(self, number: int) -> BuiltInstruction:
        """The parameter of that number; UnsupportedOp if the instruction has no such operand."""
        if number >= len(self.parameters):
            raise UnsupportedOp(f"it has {len(self.parameters)} operands, and needs operand {number}")
        return self.parameters[number]

    def add(
        self,
        opcode: str,
        element_type: str,
        sizes: Sequence[int],
        operands: Sequence[BuiltInstruction],
        **attributes: AttributeValue,
    ) -> BuiltInstruction:
        """Add an instruction whose result is an array."""
        return self._body.add(opcode, Shape.array(element_type, tuple(sizes)), operands, **attributes)

    def apply(self, opcode: str, *operands: BuiltInstruction) -> BuiltInstruction:
        """Add an elementwise op; scalars are broadcast to the shape of the other operands."""
        spread = self._spread(operands)
        return self.add(opcode, operands[0].element_type, spread[0].dimensions, spread)

    def _spread(self, operands: Sequence[BuiltInstruction]) -> list[BuiltInstruction]:
        sizes = max((o.dimensions for o in operands), key=len)
        return [self.broadcast(o, sizes, ()) if o.dimensions != sizes else o for o in operands]

    def constant(self, element_type: str, number: complex) -> BuiltInstruction:
        """Add a scalar constant."""
        return self._body.constant(Shape.array(element_type, ()), number)

    def filled(self, element_type: str, number: complex, sizes: Sequence[int]) -> BuiltInstruction:
        """An array of a shape, all of whose elements are one number."""
        return self.broadcast(self.constant(element_type, number), sizes, ())

    def literal(self, element_type: str, sizes: Sequence[int], text: str) -> BuiltInstruction:
        """Add an array of constants, given as HLO text."""
        return self._body.constant(Shape.array(element_type, tuple(sizes)), text)

    def broadcast(self, value: BuiltInstruction, sizes: Sequence[int], dimensions: Sequence[int]) -> BuiltInstruction:
        """The value along `dimensions` of a shape of `sizes`."""
        return self.add("broadcast", value.element_type, sizes, [value], dimensions=dimensions)

    def aligned(self, value: BuiltInstruction, sizes: Sequence[int]) -> BuiltInstruction:
        """The value broadcast as numpy does: last dimensions are aligned, those of one element are repeated."""
        first = len(sizes) - len(value.dimensions)
        kept = [k for k, n in enumerate(value.dimensions) if n != 1 or sizes[first + k] == 1]
        if first < 0 or any(value.dimensions[k] != sizes[first + k] for k in kept):
            raise UnsupportedOp(f"an operand of sizes {value.dimensions} can't be broadcast to {tuple(sizes)}")
        of_kept = self.reshape(value, [value.dimensions[k] for k in kept])
        return self.broadcast(of_kept, sizes, [first + k for k in kept])

    def reshape(self, value: BuiltInstruction, sizes: Sequence[int]) -> BuiltInstruction:
        """The same elements in row-major order."""
        return value if tuple(sizes) == value.dimensions else self.add("reshape", value.element_type, sizes, [value])

    def transpose(self, value: BuiltInstruction, order: Sequence[int]) -> BuiltInstruction:
        """The value with its dimensions in another order."""
        if list(order) == sorted(order):
            return value
        sizes = [value.dimensions[k] for k in order]
        return self.add("transpose", value.element_type, sizes, [value], dimensions=order)

    def convert(self, value: BuiltInstruction, element_type: str) -> BuiltInstruction:
        """The value converted to another element type."""
        if value.element_type == element_type:
            return value
        return self.add("convert", element_type, value.dimensions, [value])

    def compare(self, left: BuiltInstruction, right: BuiltInstruction, direction: str) -> BuiltInstruction:
        """Add an elementwise comparison (`EQ`, `GT`, ...); a scalar is broadcast."""
        spread = self._spread([left, right])
        return self.add("compare", "pred", spread[0].dimensions, spread, direction=direction)

    def select(self, condition: BuiltInstruction, yes: BuiltInstruction, no: BuiltInstruction) -> BuiltInstruction:
        """The elements of `yes` where the condition holds, else those of `no`."""
        return self.add("select", yes.element_type, yes.dimensions, [condition, yes, no])

    def scaled(self, value: BuiltInstruction, factor: complex | BuiltInstruction) -> BuiltInstruction:
        """The value times a constant, or times a scalar of the computation."""
        if not isinstance(factor, BuiltInstruction):
            return value if factor == 1 else self.apply("multiply", value, self.constant(value.element_type, factor))
        if factor.dimensions and math.prod(factor.dimensions) != 1:
            raise UnsupportedOp(f"it scales by an operand of sizes {factor.dimensions}, not by a scalar")
        return self.apply("multiply", value, self.convert(self.reshape(factor, ()), value.element_type))

    def reduce(
        self, reducer: Reducer, value: BuiltInstruction, dimensions: Sequence[int], start: float | BuiltInstruction
    ) -> BuiltInstruction:
        """The value reduced over dimensions."""
        kind, combine = value.element_type, self.reducer(reducer, value.element_type)
        sizes = [n for k, n in enumerate(value.dimensions) if k not in dimensions]
        operands = [value, start if isinstance(start, BuiltInstruction) else self.constant(kind, start)]
        return self.add("reduce", kind, sizes, operands, dimensions=dimensions, to_apply=combine)

    def reduce_window(
        self, reducer: Reducer, value: BuiltInstruction, window: Sequence[WindowDim], start: BuiltInstruction
    ) -> BuiltInstruction:
        """The value reduced over windows; the result has the value's sizes."""
        kind, combine = value.element_type, self.reducer(reducer, value.element_type)
        return self.add("reduce-window", kind, value.dimensions, [value, start], window=window, to_apply=combine)

    def combine(self, reducer: Reducer, first: BuiltInstruction, second: BuiltInstruction) -> BuiltInstruction:
        """The elements of two values of equal sizes combined by a reducer."""
        if isinstance(reducer, str):
            return self.apply(reducer, first, second)
        combine, every = self.copy(reducer), range(len(first.dimensions))
        return self.add(
            "map", first.element_type, first.dimensions, [first, second], dimensions=every, to_apply=combine
        )

    def reducer(self, reducer: Reducer, element_type: str) -> ComputationBuilder:
        """The computation of a reducer, added once; it must be added before a loop whose body calls it."""
        return self._module.reducer(reducer, element_type) if isinstance(reducer, str) else self.copy(reducer)

    def pad(
        self, value: BuiltInstruction, filler: BuiltInstruction, ends: Sequence[tuple[int, int]]
    ) -> BuiltInstruction:
        """The value padded with `filler`, by the numbers in `ends` before and after each dimension; negative ones crop it."""
        if not ends:
            return value  # a scalar
        sizes = [n + low + high for n, (low, high) in zip(value.dimensions, ends, strict=True)]
        return self.add("pad", value.element_type, sizes, [value, filler], padding=padding_text(ends))

    def first(self, value: BuiltInstruction, sizes: Sequence[int]) -> BuiltInstruction:
        """The first elements of each dimension."""
        return self.add("slice", value.element_type, sizes, [value], slice=[slice(n) for n in sizes])

    def last(self, value: BuiltInstruction, sizes: Sequence[int]) -> BuiltInstruction:
        """The last elements of each dimension."""
        ends = [slice(whole - n, whole) for whole, n in zip(value.dimensions, sizes, strict=True)]
        return self.add("slice", value.element_type, sizes, [value], slice=ends)

    def several(
        self, opcode: str, operands: Sequence[BuiltInstruction], **attributes: AttributeValue
    ) -> list[BuiltInstruction]:
        """The results of an op whose result shapes are those of the call, except for layouts."""
        return self.results_of(opcode, [s.without_layout() for s in self.results], operands, **attributes)

    def results_of(
        self, opcode: str, shapes: Sequence[Shape], operands: Sequence[BuiltInstruction], **attributes: AttributeValue
    ) -> list[BuiltInstruction]:
        """The results, of these shapes, of an op."""
        whole = self._body.add(opcode, Shape("tuple", elements=tuple(shapes)), operands, **attributes)
        return [self._body.element(whole, k) for k in range(len(shapes))]

    def index_along(self, sizes: Sequence[int], dimension: int) -> BuiltInstruction:
        """The index of each element of a shape along a dimension."""
        return self.add("iota", "s32", sizes, [], iota_dimension=dimension)

    def slice_at(
        self,
        value: BuiltInstruction,
        index: BuiltInstruction,
        dimensions: Sequence[int],
        keeps: bool = False,
        size: int = 1,
    ) -> BuiltInstruction:
        """The slice of `size` elements from an index on of each of some dimensions, without these unless it `keeps` them."""
        sizes = [size if k in dimensions else n for k, n in enumerate(value.dimensions)]
        part = self.add(
            "dynamic-slice", value.element_type, sizes, [value, *self._starts(sizes, index, dimensions)],
            dynamic_slice_sizes=sizes,
        )  # fmt: skip
        return part if keeps else self.reshape(part, [n for k, n in enumerate(sizes) if k not in dimensions])

    def update_at(
        self, value: BuiltInstruction, update: BuiltInstruction, index: BuiltInstruction, dimension: int
    ) -> BuiltInstruction:
        """The value with another slice from an index of a dimension on, of one element if the slice lacks the dimension."""
        sizes = [1 if k == dimension else n for k, n in enumerate(value.dimensions)]
        sizes = list(update.dimensions) if len(update.dimensions) == len(sizes) else sizes
        operands = [value, self.reshape(update, sizes), *self._starts(sizes, index, [dimension])]
        return self.add("dynamic-update-slice", value.element_type, value.dimensions, operands)

    def _starts(
        self, sizes: Sequence[int], index: BuiltInstruction, dimensions: Sequence[int]
    ) -> list[BuiltInstruction]:
        zero = self.constant("s32", 0)
        return [index if k in dimensions else zero for k in range(len(sizes))]

    def loop(self) -> Loop:
        """The computations of a loop; those of one that a loop's step runs must be added before that loop."""
        return self.computation("condition"), self.computation("body")

    def repeat(
        self,
        count: int,
        values: Sequence[BuiltInstruction],
        step: Callable[[BuiltInstruction, list[BuiltInstruction]], Sequence[BuiltInstruction]],
        loop: Loop | None = None,
    ) -> list[BuiltInstruction]:
        """The values after `count` steps; `step` adds the instructions of one, given its number and the values before it."""
        number = self.constant("s32", 0)
        carried = Shape("tuple", elements=(number.shape, *(v.shape for v in values)))
        before, (condition, body) = self._body, loop or self.loop()
        done = condition.element(condition.parameter(carried), 0)
        last = condition.constant(number.shape, count)
        condition.add("compare", Shape.array("pred", ()), [done, last], direction="LT")
        state = body.parameter(carried)
        current, *parts = [body.element(state, k) for k in range(len(values) + 1)]
        self._body = body
        changed = [self.apply("add", current, self.constant("s32", 1)), *step(current, parts)]
        self._body = before
        body.tuple_of(changed)
        whole = before.add("while", carried, [before.tuple_of([number, *values])], condition=condition, body=body)
        return [before.element(whole, k + 1) for k in range(len(values))]

    def copy(self, computation: Computation) -> ComputationBuilder:
        """A copy of a computation of the call's module, for the expansion's to call."""
        return self._module.copy(computation)

    def computation(self, name: str) -> ComputationBuilder:
        """A computation for the expansion's to call."""
        return self._module.computation(name)

    def placed_choice(
        self, name: str, element_type: str, place_type: str, is_first: Callable[[Scalars, Scalars], BuiltInstruction]
    ) -> ComputationBuilder:
        """A computation that takes one of two elements, each with its place: the first if `is_first` says so of both, in
        which scalars it may add. An element at the place NO_PLACE is none: the other one is taken.
        """
        body = self.computation(name)
        element, place, flag = (Shape.array(t, ()) for t in (element_type, place_type, "pred"))
        first, second = ((body.parameter(element), body.parameter(place)) for _ in range(2))
        none = body.constant(place, NO_PLACE)
        exists = body.add("compare", flag, [first[1], none], direction="NE")
        is_alone = body.add("compare", flag, [second[1], none], direction="EQ")
        wins = body.add("and", flag, [exists, is_first(first, second)])
        keeps = body.add("or", flag, [is_alone, wins])
        body.tuple_of([body.add("select", a.shape, [keeps, a, b]) for a, b in zip(first, second, strict=True)])
        return body

    def finish(self, first: Sequence[BuiltInstruction]) -> Computation:
        """The computation with `first` as the call's first results; the remaining ones are workspaces, filled with zeros."""
        results = [self._result(k, shape, first) for k, shape in enumerate(self.results)]
        placed = [self._placed(r, s) for s, r in zip(self.results, results, strict=True)]
        is_tuple = self.call.shape.is_tuple
        self._body.root = self._body.add("tuple", self.call.shape, placed) if is_tuple else placed[0]
        return self._module.build().entry

    def _placed(self, value: BuiltInstruction, shape: Shape) -> BuiltInstruction:
        """The value in the layout of a result of the call."""
        is_there = value.shape.minor_to_major == shape.minor_to_major and value not in self.parameters
        return value if is_there else self._body.add("copy", shape, [value])

    def _result(self, number: int, shape: Shape, first: Sequence[BuiltInstruction]) -> BuiltInstruction:
        if number < len(first):
            value = self.convert(first[number], shape.element_type)
            if value.dimensions != shape.dimensions:
                raise UnsupportedOp(f"it gives sizes {value.dimensions}, its result {number} is {shape}")
            return value
        if not _holds_bytes(shape):
            raise UnsupportedOp(f"its result {number}, {shape}, has no known meaning")
        return self.broadcast(self.constant(shape.element_type, 0), shape.dimensions, ())


def is_workspace(result: Instruction) -> bool:
    """Whether a result of an expansion is a workspace: a vector of bytes that no operand is read for."""
    return _holds_bytes(result.shape) and result.opcode == "broadcast" and result.operands[0].opcode == "constant"


def _holds_bytes(shape: Shape) -> bool:
    return shape.element_type in ("s8", "u8") and shape.rank <= 1


def computing_kind(kind: str) -> str:
    """The element type in which a library computes results that it rounds to `kind` at the end."""
    return "f32" if kind[0] in "fb" and kind not in ("f32", "f64") else kind
