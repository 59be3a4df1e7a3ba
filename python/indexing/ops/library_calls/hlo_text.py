"""A library call written as HLO: what it computes, as text that is parsed into a computation of the call's operands."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from indexing import hlo
from indexing.errors import UnsupportedOp

if TYPE_CHECKING:
    from indexing.hlo import Computation, Instruction, Shape

Config: TypeAlias = Mapping[str, Any]
_ENTRY = re.compile(r'([\w.]+) = ("[^"]*"|[^,}\s]+)')  # of an attribute dictionary: `uplo = 76 : ui8`
_WORDS = {"true": True, "false": False}


def backend_config(instruction: Instruction) -> Config:
    """The backend_config of a call: JSON, quoted or not, or a dictionary of attributes; empty where there is none."""
    text = instruction.attributes.get("backend_config", "").strip()
    if text.startswith('"'):
        text = text[1:-1].replace('\\"', '"').replace("\\\\", "\\")
    if not text or text == "{}":
        return {}
    try:
        found = json.loads(text)
    except ValueError:
        found = {key: _scalar(value) for key, value in _ENTRY.findall(text)}
    if not isinstance(found, dict) or not found:
        raise UnsupportedOp(f"its backend_config can't be read: {text[:80]}")
    return found


def _scalar(text: str) -> bool | int | str:
    if text in _WORDS:
        return _WORDS[text]
    return int(text) if re.fullmatch(r"-?\d+", text) else text.strip('"')


def braces(values: Sequence[int]) -> str:
    """Integers as an attribute has them."""
    return "{" + ",".join(map(str, values)) + "}"


@dataclass(frozen=True, slots=True)
class Value:
    """A line of the text: its name and the shape of its array."""

    name: str
    kind: str
    sizes: tuple[int, ...]


class HloText:
    """The lines that stand for one call; parameters are the call's operands."""

    def __init__(self, call: Instruction) -> None:
        """Lines for the parameters alone."""
        self.call = call
        self.parameters = [
            Value(f"p{k}", o.shape.element_type, o.shape.dimensions) for k, o in enumerate(call.operands)
        ]
        self.results: tuple[Shape, ...] = call.shape.leaves
        self._lines = [f"p{k} = {o.shape} parameter({k})" for k, o in enumerate(call.operands)]
        self._computations: dict[str, str] = {}

    def operand(self, number: int) -> Value:
        """A parameter; UnsupportedOp where the call has no such operand."""
        if number >= len(self.parameters):
            raise UnsupportedOp(f"it has {len(self.parameters)} operands, and needs operand {number}")
        return self.parameters[number]

    def line(self, kind: str, sizes: Sequence[int], text: str) -> Value:
        """One more line, of an opcode with its operands and attributes."""
        value = Value(f"v{len(self._lines)}", kind, tuple(sizes))
        self._lines.append(f"{value.name} = {_shape(kind, sizes)} {text}")
        return value

    def apply(self, opcode: str, *operands: Value, attributes: str = "") -> Value:
        """An elementwise op; scalars are broadcast to the shape of the others."""
        sizes = max((o.sizes for o in operands), key=len)
        names = ", ".join(self.broadcast(o, sizes, ()).name if o.sizes != sizes else o.name for o in operands)
        return self.line(operands[0].kind, sizes, f"{opcode}({names}){attributes}")

    def constant(self, kind: str, number: complex) -> Value:
        """A scalar."""
        if kind[0] == "c":
            text = f"({complex(number).real}, {complex(number).imag})"
        elif isinstance(number, complex):
            raise UnsupportedOp(f"it scales {kind} by the complex {number}")
        elif kind == "pred":
            text = str(bool(number)).lower()
        elif kind[0] in "su" and number != int(number):
            raise UnsupportedOp(f"it scales {kind} by {number}")
        else:
            text = str(int(number)) if kind[0] in "su" else repr(float(number))
        return self.line(kind, (), f"constant({text})")

    def broadcast(self, value: Value, sizes: Sequence[int], dimensions: Sequence[int]) -> Value:
        """The value along `dimensions` of a shape of `sizes`."""
        return self.line(value.kind, sizes, f"broadcast({value.name}), dimensions={braces(dimensions)}")

    def aligned(self, value: Value, sizes: Sequence[int]) -> Value:
        """The value broadcast as numpy does: last dimensions meet, those of one element are repeated."""
        first = len(sizes) - len(value.sizes)
        kept = [k for k, n in enumerate(value.sizes) if n != 1 or sizes[first + k] == 1]
        if first < 0 or any(value.sizes[k] != sizes[first + k] for k in kept):
            raise UnsupportedOp(f"an operand of sizes {value.sizes} doesn't spread over {tuple(sizes)}")
        return self.broadcast(self.reshape(value, [value.sizes[k] for k in kept]), sizes, [first + k for k in kept])

    def reshape(self, value: Value, sizes: Sequence[int]) -> Value:
        """The same elements in row-major order."""
        return value if tuple(sizes) == value.sizes else self.line(value.kind, sizes, f"reshape({value.name})")

    def transpose(self, value: Value, order: Sequence[int]) -> Value:
        """Dimensions in another order."""
        sizes = [value.sizes[k] for k in order]
        return self.line(value.kind, sizes, f"transpose({value.name}), dimensions={braces(order)}")

    def convert(self, value: Value, kind: str) -> Value:
        """The value as another element type."""
        return value if value.kind == kind else self.line(kind, value.sizes, f"convert({value.name})")

    def scaled(self, value: Value, factor: complex | Value) -> Value:
        """The value times a number, or times a scalar of the text."""
        if not isinstance(factor, Value):
            return value if factor == 1 else self.apply("multiply", value, self.constant(value.kind, factor))
        if factor.sizes and math.prod(factor.sizes) != 1:
            raise UnsupportedOp(f"it scales by an operand of sizes {factor.sizes}, not by a scalar")
        return self.apply("multiply", value, self.convert(self.reshape(factor, ()), value.kind))

    def reduce(self, opcode: str, value: Value, dimensions: Sequence[int], start: float) -> Value:
        """The value folded over dimensions by an elementwise op."""
        name = f"fold_{opcode}_{value.kind}"
        self._computations[name] = (
            f"{name} {{\n  a = {value.kind}[] parameter(0)\n  b = {value.kind}[] parameter(1)\n"
            f"  ROOT c = {value.kind}[] {opcode}(a, b)\n}}\n"
        )
        sizes = [n for k, n in enumerate(value.sizes) if k not in dimensions]
        initial = self.constant(value.kind, start).name
        text = f"reduce({value.name}, {initial}), dimensions={braces(dimensions)}, to_apply={name}"
        return self.line(value.kind, sizes, text)

    def tuple_line(self, shapes: Sequence[Shape], text: str) -> list[Value]:
        """One more line, of an opcode with several results."""
        name = f"v{len(self._lines)}"
        self._lines.append(f"{name} = ({', '.join(str(s.without_layout()) for s in shapes)}) {text}")
        parts = enumerate(shapes)
        return [self.line(s.element_type, s.dimensions, f"get-tuple-element({name}), index={k}") for k, s in parts]

    def finish(self, found: Sequence[Value]) -> Computation:
        """The computation that gives `found` as the first results of the call; what is left are workspaces of zeros."""
        results = [self._result(k, shape, found) for k, shape in enumerate(self.results)]
        names = [f"r{k}" for k in range(len(results))]
        self._lines += [f"{n} = {s} copy({r.name})" for n, s, r in zip(names, self.results, results, strict=True)]
        if self.call.shape.is_tuple:
            self._lines.append(f"ROOT out = {self.call.shape} tuple({', '.join(names)})")
        else:
            self._lines[-1] = f"ROOT {self._lines[-1]}"
        body = "\n".join(f"  {line}" for line in self._lines)
        text = f"HloModule library_call\n\n{''.join(self._computations.values())}ENTRY call {{\n{body}\n}}\n"
        return hlo.parse(text).entry

    def _result(self, number: int, shape: Shape, found: Sequence[Value]) -> Value:
        if number < len(found):
            value = self.convert(found[number], shape.element_type)
            if value.sizes != shape.dimensions:
                raise UnsupportedOp(f"it gives sizes {value.sizes}, its result {number} is {shape}")
            return value
        if shape.element_type not in ("s8", "u8") or shape.rank > 1:
            raise UnsupportedOp(f"its result {number}, {shape}, has no known meaning")
        return self.broadcast(self.constant(shape.element_type, 0), shape.dimensions, ())


def _shape(kind: str, sizes: Sequence[int]) -> str:
    return f"{kind}[{','.join(map(str, sizes))}]"


def computing_kind(kind: str) -> str:
    """The element type in which a library computes what it rounds to `kind` at the end."""
    return "f32" if kind[0] in "fb" and kind not in ("f32", "f64") else kind
