"""Printing of typed values as C, from tables: C's operators where they have the same semantics, else library functions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from indexing.errors import CompileError
from indexing.kernels.ir import nodes as ir
from indexing.kernels.ir.opcodes import OPCODES
from indexing.kernels.targets.c_index import ATOM, COMPARISON, CONDITIONAL, PRODUCT, SUM, IndexWriter
from indexing.kernels.targets.target import Target
from indexing.lazy import np
from indexing.ops.element_types import ELEMENT_TYPES, element_type

_COMPARISONS = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}
_ARITHMETIC = {"add": ("+", SUM), "sub": ("-", SUM), "mul": ("*", PRODUCT), "div": ("/", PRODUCT)}
_BITWISE = {"and": "&", "or": "|", "xor": "^"}
_EXACT_NANS = ("f16", "bf16")  # formats whose NaN bits `exact_bits` preserves
#: The library functions of operations that are called by the type or format of the result, or by the operand's type.
_CALLS = {
    "complex": "make_{type}",
    "bits": "bits_{operand}",
    "from_bits": "float_{type}",
    "encode": "encode_{format}",
    "decode": "decode_{format}",
    "wrap": "wrap_{format}",
    "saturate": "saturate_{format}_{operand}",
    "reduce_precision": "reduce_precision_{format}",
    **dict.fromkeys(("pack", "unpack_low", "unpack_high"), "{opcode}"),
    **{name: f"{name}_{{format}}" for name in OPCODES if name.startswith("packed_")},
}


def kind_of(name: str) -> str:
    """`pred`, `integer`, `float` or `complex`."""
    kind = ELEMENT_TYPES[name]
    return "integer" if kind.is_integer else kind.kind


@dataclass(frozen=True, slots=True)
class Text:
    """C text with the precedence of its outermost operator."""

    text: str
    precedence: int = ATOM

    def as_operand(self, precedence: int) -> str:
        """The text as an operand of an operator of `precedence` that binds at least as strongly."""
        return f"({self.text})" if self.precedence > precedence else self.text


_Spelling: TypeAlias = "Callable[[ir.Op, list[Text]], Text]"


def _is_safe_anywhere(condition: ir.Value) -> bool:
    """Whether a condition on an index has a value where the conditions before it don't hold: it divides by constants only."""
    if not isinstance(condition, ir.Within):
        return False
    nodes = list(condition.expression.nodes())
    divisors = (operands[1] for kind, _, operands in nodes if kind in ("floordiv", "ceildiv", "mod"))
    return all(nodes[divisor][0] == "constant" for divisor in divisors)


class ValueWriter:
    """Prints the values of one function; `use` is called with each library name, `load` returns the text of a load."""

    def __init__(
        self,
        index: IndexWriter,
        use: Callable[[str], str],
        load: Callable[[ir.Load], str],
        target: Target,
    ) -> None:
        """Start a printer; `index` prints the function's index expressions."""
        self.index, self.use, self.load = index, use, load
        self.select = target.select
        self.joins_conditions = target.joins_conditions

    def text(self, value: ir.Value) -> str:
        """C text of a value."""
        return self.written(value).text

    def conditions(self, conditions: tuple[ir.Value, ...]) -> str:
        """C text of the conjunction; a condition is evaluated only if those before it hold."""
        written = [self.written(c) for c in conditions]
        if len(written) == 1:
            return written[0].text
        if self.joins_conditions and all(map(_is_safe_anywhere, conditions)):
            return " & ".join(w.as_operand(ATOM) for w in written)
        return " && ".join(w.as_operand(COMPARISON) for w in written)

    def written(self, value: ir.Value) -> Text:
        """C text of a value, with its precedence."""
        match value:
            case ir.Constant():
                return Text(literal(value.value, value.type, self.use))
            case ir.Ref():
                return Text(value.name)
            case ir.IndexValue():
                index = self.index.written(value.expression)
                if (value.type == "s64") == index.wide and value.type in ("s32", "s64"):
                    return Text(index.text, index.precedence)
                return Text(f"({self.use(value.type)}){index.as_operand(ATOM)}")
            case ir.Within():
                return self._within(value)
            case ir.Load():
                return Text(self.load(value))
            case ir.Op():
                return self._op(value)

    def _within(self, value: ir.Within) -> Text:
        index = self.index.written(value.expression)
        lower = None if value.lower is not None and value.lower <= index.lower else value.lower
        upper = None if value.upper is not None and value.upper >= index.upper else value.upper
        if lower is not None and upper is not None:
            if lower == upper:
                return Text(f"{index.as_operand(SUM)} == {self._bound(lower)}", COMPARISON)
            name = self.use(f"within_{'s64' if index.wide else 's32'}")
            return Text(f"{name}({index.text}, {self._bound(lower)}, {self._bound(upper)})")
        if lower is None and upper is None:
            return Text(literal(True, "pred", self.use))
        operator, bound = (">=", lower) if lower is not None else ("<=", upper)
        return Text(f"{index.as_operand(SUM)} {operator} {self._bound(bound or 0)}", COMPARISON)

    def _bound(self, value: int) -> str:
        return literal(value, "s32" if -(2**31) <= value < 2**31 else "s64", self.use)

    # ------------------------------------------------------------ operations

    def _op(self, op: ir.Op) -> Text:
        opcode = OPCODES.get(op.opcode)
        if opcode is None or len(op.operands) != opcode.arity:
            raise CompileError(f"no operation {op.opcode!r} on {len(op.operands)} values; see kernels.ir.opcodes")
        kind = kind_of(op.operands[-1].type)
        operands = [self.written(o) for o in op.operands]
        special: _Spelling | None = getattr(self, f"_{op.opcode}", None)
        if special is not None:
            return special(op, operands)
        if op.opcode in _CALLS:
            name = _CALLS[op.opcode].format(
                opcode=op.opcode, type=op.type, format=op.format, operand=op.operands[0].type
            )
            return self._call(name, operands)
        if op.opcode in _COMPARISONS and kind != "complex":
            left, right = (o.as_operand(SUM) for o in operands)
            return Text(f"{left} {_COMPARISONS[op.opcode]} {right}", COMPARISON)
        if op.opcode in _BITWISE:
            text = f"{operands[0].as_operand(ATOM)} {_BITWISE[op.opcode]} {operands[1].as_operand(ATOM)}"
            return Text(f"({text})") if kind == "pred" else Text(f"({self.use(op.type)})({text})")
        if op.opcode in _ARITHMETIC and kind == "float":
            operator, precedence = _ARITHMETIC[op.opcode]
            right = operands[1].as_operand(ATOM if op.opcode == "div" else precedence - 1)
            return Text(f"{operands[0].as_operand(precedence)} {operator} {right}", precedence)
        if op.opcode in ("add", "sub", "mul") and kind == "integer":
            return self._modular(op, operands)
        return self._call(f"{op.opcode}_{op.operands[-1].type}", operands)

    def _call(self, name: str, operands: list[Text]) -> Text:
        return Text(f"{self.use(name)}({', '.join(o.text for o in operands)})")

    def _modular(self, op: ir.Op, operands: list[Text]) -> Text:
        """Arithmetic by unsigned types, which wraps; narrow types use 32 bits."""
        operator, _ = _ARITHMETIC[op.opcode]
        wide = self.use("u64" if op.type in ("s64", "u64") else "u32")
        a, b = (o.as_operand(ATOM) if op.type == wide else f"({wide}){o.as_operand(ATOM)}" for o in operands)
        return Text(f"({a} {operator} {b})") if op.type == wide else Text(f"({self.use(op.type)})({a} {operator} {b})")

    def _neg(self, op: ir.Op, operands: list[Text]) -> Text:
        kind = kind_of(op.type)
        if kind == "complex":
            return self._call(f"neg_{op.type}", operands)
        if kind == "float":
            return Text(f"(-{operands[0].as_operand(ATOM)})")
        wide = self.use("u64" if op.type in ("s64", "u64") else "u32")
        return Text(f"({self.use(op.type)})(0 - ({wide}){operands[0].as_operand(ATOM)})")

    def _not(self, op: ir.Op, operands: list[Text]) -> Text:
        a = operands[0].as_operand(ATOM)
        return Text(f"!{a}") if op.type == "pred" else Text(f"({self.use(op.type)})~{a}")

    def _select(self, op: ir.Op, operands: list[Text]) -> Text:
        if kind_of(op.type) == "complex":
            return self._call(f"select_{op.type}", operands)
        by_function = op.type == "pred" or any(isinstance(o, ir.Constant) for o in op.operands[1:])
        if op.type in self.select and by_function:
            return self._call(self.select[op.type], operands)
        p, a, b = (o.as_operand(COMPARISON) for o in operands)
        return Text(f"{p} ? {a} : {b}", CONDITIONAL)

    def _convert(self, op: ir.Op, operands: list[Text]) -> Text:
        (a,) = operands
        source, target = element_type(op.operands[0].type), element_type(op.type)
        if source.name == target.name:
            return a
        if target.kind == "complex":
            parts = (
                (f"{a.as_operand(ATOM)}.x", f"{a.as_operand(ATOM)}.y")
                if source.kind == "complex"
                else (a.as_operand(ATOM), "0")
            )
            real = self.use(target.real)
            return Text(f"{self.use('make_' + target.name)}(({real}){parts[0]}, ({real}){parts[1]})")
        if target.kind == "pred":
            if source.kind == "complex":
                return Text(f"({a.as_operand(ATOM)}.x != 0 || {a.as_operand(ATOM)}.y != 0)")
            return Text(f"{a.as_operand(SUM)} != 0", COMPARISON)
        text = f"{a.as_operand(ATOM)}.x" if source.kind == "complex" else a.as_operand(ATOM)
        if target.is_integer and source.kind in ("float", "complex"):
            return self._call(f"saturate_{target.name}_{source.real}", [Text(text)])
        if source.kind == "pred" and target.kind == "float":  # gcc makes no vectors of a conversion in one step
            text = f"({self.use('s32')}){text}"
        return Text(f"({self.use(target.name)}){text}")

    def _real(self, op: ir.Op, operands: list[Text]) -> Text:
        return Text(f"{operands[0].as_operand(ATOM)}.x")

    def _imag(self, op: ir.Op, operands: list[Text]) -> Text:
        return Text(f"{operands[0].as_operand(ATOM)}.y")

    def _exact_bits(self, op: ir.Op, operands: list[Text]) -> Text:
        return self._call(f"{'exact_bits' if op.format in _EXACT_NANS else 'encode'}_{op.format}", operands)


def literal(value: complex, name: str, use: Callable[[str], str]) -> str:
    """C text of a constant; negative numbers are in parentheses."""
    kind = element_type(name)
    if kind.kind == "pred":
        use("bool")
        return "true" if value else "false"
    if kind.kind == "complex":
        number = complex(value)
        parts = f"{_real_literal(number.real, kind.real, use)}, {_real_literal(number.imag, kind.real, use)}"
        return f"{use('make_' + name)}({parts})"
    if kind.kind == "float":
        return _real_literal(float(value), name, use)  # type: ignore[arg-type]
    return _integer(int(value), name)  # type: ignore[call-overload]


def entry(value: complex, name: str, use: Callable[[str], str]) -> str:
    """C text of one element as a static initializer, without function calls."""
    kind = element_type(name)
    if kind.kind == "complex":
        number = complex(value)
        return f"{{{_real_entry(number.real, kind.real, use)}, {_real_entry(number.imag, kind.real, use)}}}"
    return _real_entry(float(value), name, use) if kind.kind == "float" else literal(value, name, use)  # type: ignore[arg-type]


def _real_entry(value: float, real: str, use: Callable[[str], str]) -> str:
    return use(f"static_nan_{real}") if value != value else _real_literal(value, real, use)


def _integer(value: int, name: str) -> str:
    kind = element_type(name)
    suffix = {"u32": "u", "s64": "ll", "u64": "ull"}.get(name, "")
    if kind.kind == "signed" and kind.bits >= 32 and value == -(1 << (kind.bits - 1)):
        return f"({value + 1}{suffix} - 1)"
    return f"({value}{suffix})" if value < 0 else f"{value}{suffix}"


def _real_literal(value: float, real: str, use: Callable[[str], str]) -> str:
    if real == "f32":
        with np.errstate(over="ignore"):
            value = float(np.float32(value))
    if value != value:
        return use(f"nan_{real}")
    if value in (float("inf"), float("-inf")):
        return use(f"inf_{real}") if value > 0 else f"(-{use(f'inf_{real}')})"
    text = f"{np.float32(value)!s}f" if real == "f32" else repr(value)
    return f"({text})" if text.startswith("-") else text
