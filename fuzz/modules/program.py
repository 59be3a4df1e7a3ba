"""A random program as it grows: arrays, instructions, called computations, and its two texts.

`Program.text()` is HLO for this package; `text(oracle=True)` is the same program for jaxlib's CPU client, which has no
fusions of arbitrary instructions and no bitcasts: a fusion is written as a call, a bitcast as the transposes and the
reshape that it stands for.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from modules.values import ANY, Data


@dataclass(frozen=True, slots=True)
class Array:
    kind: str
    sizes: tuple[int, ...] = ()
    layout: tuple[int, ...] | None = None  # dimensions from the fastest to the slowest

    def __str__(self) -> str:
        layout = "" if self.layout is None else braces(self.layout)
        return f"{self.kind}[{','.join(map(str, self.sizes))}]{layout}"

    @property
    def count(self) -> int:
        count = 1
        for size in self.sizes:
            count *= size
        return count


Shape: TypeAlias = "Array | tuple[Shape, ...]"


@dataclass(frozen=True, slots=True)
class Tolerance:
    """How far two results may lie apart: in units of the last place, of each element or of the array's largest."""

    ulps: float = 0
    of_largest: bool = False

    def __or__(self, other: Tolerance) -> Tolerance:
        return Tolerance(max(self.ulps, other.ulps), self.of_largest or other.of_largest)


EXACT = Tolerance()
MAX_ELEMENTS = 2000  # larger arrays are not read: broadcasts would make them larger and larger
SUM = Tolerance(0.5)  # sums are equal as numbers; whether one of zeros is 0 or -0 is left open


def shape_text(shape: Shape) -> str:
    return str(shape) if isinstance(shape, Array) else f"({', '.join(map(shape_text, shape))})"


@dataclass(frozen=True, slots=True)
class Value:
    """The result of an instruction. `data` says what is known of its elements, `tolerance` how exact they are."""

    name: str
    shape: Shape
    tolerance: Tolerance = EXACT
    data: Data = ANY

    @property
    def kind(self) -> str:
        return self.array.kind

    @property
    def sizes(self) -> tuple[int, ...]:
        return self.array.sizes

    @property
    def array(self) -> Array:
        assert isinstance(self.shape, Array)
        return self.shape


@dataclass(frozen=True, slots=True)
class Computation:
    """A called computation; the last instruction is its root."""

    name: str
    instructions: tuple[Instruction, ...]

    def text(self, oracle: bool, entry: bool = False) -> str:
        lines = [i.line(oracle) for i in self.instructions[:-1]] + [f"ROOT {self.instructions[-1].line(oracle)}"]
        return ("ENTRY " if entry else "") + f"{self.name} {{\n  " + "\n  ".join(lines) + "\n}\n"


@dataclass(frozen=True, slots=True)
class Instruction:
    """`name = shape opcode(operands), attributes`; `literal` stands between the brackets where no operands do.

    `oracle` are the lines for jaxlib where it has another spelling; the last of them defines `name`.
    """

    name: str
    shape: Shape
    opcode: str
    operands: tuple[str, ...] = ()
    attributes: str = ""
    called: tuple[Computation, ...] = ()
    literal: str = ""
    oracle: tuple[str, ...] = ()
    tolerance: Tolerance = EXACT

    def line(self, oracle: bool) -> str:
        if oracle and self.oracle:
            return "\n  ".join(self.oracle)
        opcode, attributes = self.opcode, self.attributes
        if oracle and opcode == "fusion":
            opcode, attributes = "call", f"to_apply={self.called[0].name}"
        inside = ", ".join(self.operands) or self.literal
        text = f"{self.name} = {shape_text(self.shape)} {opcode}({inside})"
        return text + (f", {attributes}" if attributes else "")


@dataclass
class Program:
    """Instructions of the entry in order, what is known of their elements, and what it returns."""

    instructions: list[Instruction] = field(default_factory=list)
    data: dict[str, Data] = field(default_factory=dict)
    outputs: dict[str, Tolerance] = field(default_factory=dict)

    def text(self, oracle: bool = False) -> str:
        numbers = {name: k for k, name in enumerate(self.parameters)}
        body = [replace(i, literal=str(numbers[i.name])) if i.opcode == "parameter" else i for i in self.instructions]
        shapes = {i.name: i.shape for i in body}
        root = Instruction("result", tuple(shapes[o] for o in self.outputs), "tuple", tuple(self.outputs))
        entry = Computation("entry", (*body, root))
        return "HloModule m\n\n" + "\n".join(c.text(oracle, c is entry) for c in (*self.called(), entry))

    def called(self) -> list[Computation]:
        """Computations that are called, each after those that it calls."""
        by_name: dict[str, Computation] = {}

        def visit(instructions: Sequence[Instruction]) -> None:
            for instruction in instructions:
                for computation in instruction.called:
                    if computation.name not in by_name:
                        visit(computation.instructions)
                        by_name[computation.name] = computation

        visit(self.instructions)
        return list(by_name.values())

    @property
    def parameters(self) -> list[str]:
        return [i.name for i in self.instructions if i.opcode == "parameter"]

    def opcodes(self) -> list[str]:
        return [i.opcode for i in self._everywhere()]

    def keeps_last(self) -> bool:
        """Whether updates of a scatter replace each other: HLO leaves open which one wins."""
        scatters = (i for i in self._everywhere() if i.opcode == "scatter")
        return any(i.called[0].instructions[-1].opcode == "copy" for i in scatters)

    def _everywhere(self) -> list[Instruction]:
        bodies = [self.instructions, *(c.instructions for c in self.called())]
        return [i for body in bodies for i in body]

    def reduced(self, outputs: Sequence[str]) -> Program:
        """The program that returns only these, without what they don't need."""
        needed, kept = set(outputs), []
        for i in reversed(self.instructions):
            if i.name in needed:
                needed |= set(i.operands)
                kept.append(i)
        data = {name: d for name, d in self.data.items() if name in needed}
        return Program(kept[::-1], data, {o: self.outputs[o] for o in outputs})

    def with_parameter(self, name: str) -> Program:
        """The program that is given the value of an instruction instead of computing it."""
        place = next(k for k, i in enumerate(self.instructions) if i.name == name)
        parameter = Instruction(name, self.instructions[place].shape, "parameter")
        instructions = [*self.instructions[:place], parameter, *self.instructions[place + 1 :]]
        replaced = Program(instructions, {name: ANY} | self.data, self.outputs)
        return replaced.reduced([o for o in self.outputs if o != name] or list(self.outputs))


class Builder:
    """Adds instructions to a list: the entry's, or those of a computation that is going to be called."""

    def __init__(self, rng: random.Random, names: Names, ranks: tuple[int, int] = (0, 4), reuse: float = 0.6) -> None:
        self.rng = rng
        self.names = names
        self.ranks = ranks  # of the arrays that elementwise instructions read
        self.reuse = reuse  # the share of operands that are arrays from before, where there are any that fit
        self.instructions: list[Instruction] = []
        self.values: list[Value] = []  # what later instructions may read
        self.data: dict[str, Data] = {}
        self.results: list[Value] = []  # what is worth returning

    def nested(self, ranks: tuple[int, int] = (0, 4), reuse: float = 0.6) -> Builder:
        """A builder for a computation that this one's instructions call."""
        return Builder(self.rng, self.names, ranks, reuse)

    def parameter(self, array: Array, data: Data = ANY) -> Value:
        return self._parameter(array, data, remember=True)

    def fresh(self, shape: Shape, data: Data = ANY) -> Value:
        """A parameter that no other instruction reads."""
        return self._parameter(shape, data, remember=False)

    def _parameter(self, shape: Shape, data: Data, remember: bool) -> Value:
        value = Value(self.names.new("p"), shape, EXACT, data)
        number = str(sum(i.opcode == "parameter" for i in self.instructions))
        self.instructions.append(Instruction(value.name, shape, "parameter", literal=number))
        self.data[value.name] = data
        if remember:
            self.values.append(value)
        return value

    def emit(
        self,
        opcode: str,
        shape: Shape,
        operands: Sequence[Value] = (),
        attributes: str = "",
        *,
        called: Sequence[Computation] = (),
        literal: str = "",
        tolerance: Tolerance | None = None,
        data: Data = ANY,
        oracle: Sequence[str] = (),
        name: str = "",
        returned: bool = True,
    ) -> Value:
        """Append an instruction. Without a tolerance it moves data: the result is as exact as its operands, of their data."""
        if tolerance is None:
            data = common_data(operands)
            tolerance = EXACT
            for operand in operands:
                tolerance |= operand.tolerance
        value = Value(name or self.names.new("v"), shape, tolerance, data)
        self.data[value.name] = data
        names = tuple(o.name for o in operands)
        self.instructions.append(
            Instruction(value.name, shape, opcode, names, attributes, tuple(called), literal, tuple(oracle), tolerance)
        )
        if returned and isinstance(shape, Array):
            self.values.append(value)
            self.results.append(value)
        return value

    def split(self, value: Value, tolerances: Sequence[Tolerance] = ()) -> list[Value]:
        """The elements of a tuple, each an instruction; tuples inside of it are taken apart as well."""
        assert isinstance(value.shape, tuple)
        parts: list[Value] = []
        for k, shape in enumerate(value.shape):
            exact = tolerances[k] if tolerances else value.tolerance
            part = self.emit("get-tuple-element", shape, [value], f"index={k}", tolerance=exact)
            parts += [part] if isinstance(shape, Array) else self.split(part)
        return parts

    def computation(self, root: Value | Sequence[Value], prefix: str = "f") -> Computation:
        """What was built so far as a computation; several roots are returned as a tuple."""
        if isinstance(root, Value):
            shape: Shape = root.shape
            last = next(i for i in self.instructions if i.name == root.name)
            rest = [i for i in self.instructions if i is not last]
            if any(root.name in i.operands for i in rest) or last.opcode == "parameter":
                rest, last = self.instructions, Instruction(self.names.new("r"), shape, "copy", (root.name,))
        else:
            shape = tuple(r.shape for r in root)
            rest, last = (
                self.instructions,
                Instruction(self.names.new("r"), shape, "tuple", tuple(r.name for r in root)),
            )
        return Computation(self.names.new(prefix), (*rest, last))

    # Choices.

    def chance(self, probability: float) -> bool:
        return self.rng.random() < probability

    def pick(self, *choices: str) -> str:
        return self.rng.choice(choices)

    def array(
        self,
        kinds: Sequence[str],
        sizes: tuple[int, ...] | None = None,
        data: Data = ANY,
        *,
        ranks: tuple[int, int] = (0, 4),
        moved: bool = False,
    ) -> Value:
        """An array of one of these types: one that there is, or a new parameter.

        Only what `moved` data comes from may be inexact; data of another kind than any comes from parameters alone.
        """
        fits = [v for v in self.values if self._fits(v, kinds, sizes, data, ranks, moved)]
        if fits and self.chance(self.reuse):
            return self.rng.choice(fits)
        if sizes is None:
            sizes = random_sizes(self.rng, *ranks)
        return self.parameter(Array(self.rng.choice(kinds), sizes), data)

    def _fits(
        self,
        v: Value,
        kinds: Sequence[str],
        sizes: tuple[int, ...] | None,
        data: Data,
        ranks: tuple[int, int],
        moved: bool,
    ) -> bool:
        if not isinstance(v.shape, Array) or v.kind not in kinds or v.array.count > MAX_ELEMENTS:
            return False
        if not (moved or v.tolerance == EXACT) or data not in (v.data, ANY):
            return False
        return v.sizes == sizes if sizes is not None else ranks[0] <= len(v.sizes) <= ranks[1]


def common_data(operands: Sequence[Value]) -> Data:
    """What is known of elements that are moved from these arrays."""
    known = {o.data for o in operands}
    return known.pop() if len(known) == 1 and {d.style for d in known} <= {"small", "real", "range"} else ANY


class Names:
    """Counters of the names of one module."""

    def __init__(self) -> None:
        self.counts: dict[str, int] = {}

    def new(self, prefix: str) -> str:
        self.counts[prefix] = self.counts.get(prefix, 0) + 1
        return f"{prefix}{self.counts[prefix]}"


def random_sizes(rng: random.Random, least: int = 0, most: int = 4, elements: int = 200) -> tuple[int, ...]:
    """Sizes of an array: mostly small, at times with a dimension of 1, rarely one of 0, rarely of high rank."""
    rank = rng.choice([r for r in (0, 1, 1, 2, 2, 2, 3, 3, 4) if least <= r <= most] or [least])
    if most >= 4 and rng.random() < 0.03:
        rank = rng.randint(5, 9)
    largest = 7 if rank < 3 else 4 if rank < 5 else 2
    sizes = [1 if rng.random() < 0.12 else rng.randint(2, largest) for _ in range(rank)]
    if rank and rng.random() < 0.04:
        sizes[rng.randrange(rank)] = 0
    while rank and product(sizes) > elements:
        sizes[rng.randrange(rank)] = 1
    return tuple(sizes)


def wide_sizes(rng: random.Random) -> tuple[int, ...]:
    """Sizes whose rows, or the whole, are longer than a warp, and of which few divide anything."""
    rank = rng.choice((1, 2, 2, 2, 3, 3))
    if rank == 1:
        return (rng.randint(33, 200),)
    if rank == 2:
        return (rng.randint(2, 8), rng.choice((17, 31, 32, 33, 36, 40, 64, 65, rng.randint(17, 70))))
    return (rng.randint(2, 4), rng.randint(2, 12), rng.randint(3, 12))


def product(sizes: Sequence[int]) -> int:
    result = 1
    for size in sizes:
        result *= size
    return result


def braces(numbers: Sequence[int]) -> str:
    return "{" + ",".join(map(str, numbers)) + "}"
