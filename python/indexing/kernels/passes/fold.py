"""Constant folding: of copies and constants, operations on constants, conditions decided by the ranges of index variables
or by conditions around them, and branches and loops that depend on these. Bits of indices become indices. A variable that
gets its only value before it is read is a name for that value.
"""

from __future__ import annotations

import math
import struct
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

from indexing._core import Interval, SymbolicExpr
from indexing.kernels.ir import nodes as ir
from indexing.kernels.ir.copying import changed_by
from indexing.kernels.ir.traversal import (
    names_in,
    rewrite_bodies,
    rewrite_statement,
    rewrite_value,
    same_block,
    values_of,
)
from indexing.kernels.passes.remainders import Names, floor_remainder, truncated_remainder

TRUE, FALSE = ir.Constant("pred", True), ir.Constant("pred", False)
MAX_NESTED = 4  # bitwise operations, one around the other, whose lowest bits are computed of those of their operands


def fold_constants(kernel: ir.Kernel) -> ir.Kernel:
    """The kernel after constant folding."""
    return rewrite_bodies(kernel, lambda f: _folded(f.variables, f.body, f.results))


def _folded(
    variables: tuple[ir.IndexVariable, ...], body: ir.Block, results: tuple[ir.Value, ...]
) -> tuple[ir.Block, tuple[ir.Value, ...]]:
    """The body of a function and its results; again if branches that went gave variables values, which may have one now."""
    folding = _Folder(variables, body)
    body, results = folding.block(body), tuple(map(folding.value, results))
    return _folded(variables, body, results) if folding.drops_changes else (body, results)


class _Folder:
    """Folds one function, with the constants among its names, in program order."""

    def __init__(self, variables: tuple[ir.IndexVariable, ...], body: ir.Block) -> None:
        self.intervals = [v.interval for v in variables]
        inner = ir.statements(body)
        self.mutable = {s.name for s in inner if isinstance(s, ir.Var)}
        self.changes = Counter(n for s in inner for n in changed_by(s))
        self.drops_changes = False  # whether a branch that changes variables is never taken
        self.defined: dict[str, ir.Value] = {}
        self.holding: frozenset[ir.Value] = frozenset()  # conditions of indices around the statement
        self._simplified: dict[SymbolicExpr, SymbolicExpr] = {}

    def block(self, block: ir.Block) -> ir.Block:
        out: list[ir.Statement] = []
        unread: set[str] = set()  # variables that this block declares, and of which it has not read the value
        named: set[str] = set()
        for statement in block:
            for s in self._statement(statement):
                if isinstance(s, ir.Assign) and s.name in unread and s.name not in names_in((s.value,)):
                    named.add(s.name)
                    out += self._final(s.name, s.value)
                elif isinstance(s, ir.Var) and not self.changes[s.name]:
                    out += self._final(s.name, s.initial)
                else:
                    out.append(s)
                if unread:
                    unread.difference_update(_mentioned(s))
                if isinstance(s, ir.Var) and self.changes[s.name] == 1:
                    unread.add(s.name)
        return same_block(block, [s for s in out if not (isinstance(s, ir.Var) and s.name in named)])

    def _final(self, name: str, value: ir.Value) -> list[ir.Statement]:
        """A variable that has one value, as a name for it."""
        self.mutable.discard(name)
        return self._let(ir.Let(name, value))

    def value(self, value: ir.Value) -> ir.Value:
        return rewrite_value(value, self._value, self._index)

    def _statement(self, statement: ir.Statement) -> list[ir.Statement]:
        if isinstance(statement, ir.For):
            rewritten = rewrite_statement(statement, self._value, self._index)
            assert isinstance(rewritten, ir.For)
            body = self.block(statement.body)
            return [rewritten if body is statement.body else replace(rewritten, body=body)]
        if isinstance(statement, ir.If):
            return self._if(statement)
        rewritten = rewrite_statement(statement, self._value, self._index)
        if isinstance(rewritten, ir.Let):
            return self._let(rewritten)
        return (
            []
            if isinstance(rewritten, ir.Assign) and rewritten.value == ir.Ref(rewritten.value.type, rewritten.name)
            else [rewritten]
        )

    def _let(self, s: ir.Let) -> list[ir.Statement]:
        self.defined[s.name] = s.value
        return [] if self._is_final(s.value) else [s]

    def _is_final(self, value: ir.Value) -> bool:
        """Whether a name for the value can be replaced by the value."""
        return isinstance(value, ir.Constant) or (isinstance(value, ir.Ref) and value.name not in self.mutable)

    def _if(self, statement: ir.If) -> list[ir.Statement]:
        conditions = [c for c in map(self.value, statement.conditions) if c != TRUE and c not in self.holding]
        if FALSE in conditions:
            self._drop(statement.then)
            return list(self.block(statement.otherwise))
        outer = self.holding
        self.holding = outer | {c for c in conditions if isinstance(c, ir.Within)}
        then = self.block(statement.then)
        self.holding = outer
        if not conditions:
            self._drop(statement.otherwise)
            return list(then)
        folded = ir.If(tuple(dict.fromkeys(conditions)), then, self.block(statement.otherwise))
        return [statement if folded == statement else folded]

    def _drop(self, branch: ir.Block) -> None:
        self.drops_changes |= any(changed_by(s) for s in ir.statements(branch))

    def _index(self, expression: SymbolicExpr) -> SymbolicExpr:
        simplified = self._simplified.get(expression)
        if simplified is None:
            simplified = expression.simplify(self.intervals)
            simplified = self._simplified[expression] = expression if simplified == expression else simplified
        return simplified

    def _value(self, value: ir.Value) -> ir.Value:
        if isinstance(value, ir.Ref):
            known = self.defined.get(value.name)
            return known if known is not None and self._is_final(known) else value
        if isinstance(value, ir.Within):
            return _decided(value, value.expression.range(self.intervals))
        if isinstance(value, ir.IndexValue):
            number = value.expression.constant_value
            return value if number is None else ir.Constant(value.type, number)
        return self._op(value) if isinstance(value, ir.Op) else value

    def _op(self, op: ir.Op) -> ir.Value:
        first = op.operands[0]
        if op.opcode == "convert" and first.type == op.type:
            return first
        if op.opcode in _PREDICATES and first.type == "pred":
            return _predicate(op)
        if _never_holds(op):
            return FALSE
        if op.opcode in _ORDERS and (decided := self._ordered(op)) is not None:
            return TRUE if decided else FALSE
        if op.opcode in _BITS and (bits := self._bits_of_index(op)) is not None:
            return bits
        if op.opcode == "clamp" and self._lies_between(*op.operands):
            return op.operands[1]
        if op.opcode in _EXTREMA and (operand := _beside_neutral(op)) is not None:
            return operand
        if op.opcode == "select":
            return self._selected(op)
        if op.opcode == "convert" and isinstance(first, ir.Constant):
            return _converted(op, first)
        return _root(op) if op.opcode == "pow" and isinstance(first, ir.Ref) else op

    def _selected(self, op: ir.Op) -> ir.Value:
        condition = op.operands[0]
        if isinstance(condition, ir.Constant):
            return op.operands[1] if condition.value else op.operands[2]
        if op.type[0] != "s":
            return op
        names = Names(self._known, lambda ref: ref.name not in self.mutable)
        bits = floor_remainder(op, names)
        return self._op(bits) if isinstance(bits, ir.Op) else truncated_remainder(op, names) or op

    def _bits_of_index(self, op: ir.Op) -> ir.Value | None:
        """An index that is shifted right, or its lowest bits, as an index: what is known of its terms decides some."""
        value, number = op.operands
        if op.opcode == "and":
            value, number = (number, value) if isinstance(value, ir.Constant) else (value, number)
        if not isinstance(number, ir.Constant) or not isinstance(number.value, int):
            return None
        if op.opcode == "and":
            is_mask = 0 < number.value < 1 << 62 and not number.value & (number.value + 1)
            return self._lowest_bits(value, number.value + 1) if is_mask else None
        own, known = self._expression(value), self._range(value)
        is_defined = 0 <= number.value < int(op.type[1:]) and number.value < 63
        if own is None or known is None or not is_defined or (op.opcode == "shr_logical" and known.lower < 0):
            return None
        return self._as_value(own // (1 << number.value), op.type)

    def _lowest_bits(self, value: ir.Value, modulus: int, nested: int = MAX_NESTED) -> ir.Value | None:
        """The remainder of an index, or of what is combined of indices bit by bit, in few steps; None for other values."""
        own = self._expression(value)
        if own is not None:
            return self._as_value(own % modulus, value.type)
        value = self._known(value)
        if not isinstance(value, ir.Op) or value.opcode not in ("and", "or", "xor") or nested == 0:
            return None
        bits = [self._lowest_bits(operand, modulus, nested - 1) for operand in value.operands]
        known = tuple(b for b in bits if b is not None)
        return replace(value, operands=known) if len(known) == len(bits) else None

    def _as_value(self, expression: SymbolicExpr, kind: str) -> ir.Value:
        index = self._value(ir.IndexValue(self._index(expression)))
        return self._op(ir.Op("convert", kind, (index,)))

    def _expression(self, value: ir.Value) -> SymbolicExpr | None:
        """The index that a value is, as it is or converted to integer types that have it; None for others."""
        source, known = self._source(value)
        return source.expression if isinstance(source, ir.IndexValue) and known is not None else None

    def _known(self, value: ir.Value) -> ir.Value:
        return self.defined.get(value.name, value) if isinstance(value, ir.Ref) else value

    def _ordered(self, op: ir.Op) -> bool | None:
        """Whether a comparison of integers holds; None if their ranges don't decide it."""
        low, high = map(self._range, op.operands if op.opcode in ("lt", "le") else reversed(op.operands))
        if low is None or high is None:
            return None
        is_strict = op.opcode in ("lt", "gt")
        if low.upper + is_strict <= high.lower:
            return True
        return False if low.lower + is_strict > high.upper else None

    def _lies_between(self, least: ir.Value, value: ir.Value, most: ir.Value) -> bool:
        low, own, high = map(self._range, (least, value, most))
        if low is None or own is None or high is None:
            return False
        return low.upper <= own.lower and own.upper <= high.lower

    def _range(self, value: ir.Value) -> Interval | None:
        """The range of an integer that is constant, an index or so many bits; None for others."""
        return self._source(value)[1]

    def _source(self, value: ir.Value) -> tuple[ir.Value, Interval | None]:
        """The value that others are conversions of, and its range, if it is an integer that each of their types has."""
        value, kinds = self._known(value), list[str]()
        while isinstance(value, ir.Op) and value.opcode == "convert" and value.type[0] in "su":
            kinds.append(value.type)
            value = self._known(value.operands[0])
        known: Interval | None = None
        if isinstance(value, ir.IndexValue):
            known = value.expression.range(self.intervals)
        elif isinstance(value, ir.Constant) and value.type[0] in "su" and isinstance(value.value, int):
            known = Interval(value.value, value.value) if value.value <= _most("s64") else None
        elif isinstance(value, ir.Op) and value.opcode == "and" and value.type[0] in "su":
            masks = [o.value for o in value.operands if isinstance(o, ir.Constant) and isinstance(o.value, int)]
            known = Interval(0, masks[0]) if masks and 0 <= masks[0] <= _most("s64") else None
        if known is None or any(known.lower < _least(k) or known.upper > _most(k) for k in kinds):
            return value, None
        return value, known


def _least(kind: str) -> int:
    """The least number of an integer type."""
    return -_most(kind) - 1 if kind[0] == "s" else 0


def _most(kind: str) -> int:
    """The greatest number of an integer type."""
    return (1 << (int(kind[1:]) - (kind[0] == "s"))) - 1


_EXTREMA = {"maximum": -math.inf, "minimum": math.inf}  # with the value that leaves every other one as it is, also NaN
_ORDERS = frozenset({"lt", "le", "gt", "ge"})
_BITS = frozenset({"and", "shr_arithmetic", "shr_logical"})
_PREDICATES = frozenset({"and", "or", "not", "xor", "eq", "ne"})


def _mentioned(s: ir.Statement) -> Iterator[str]:
    """The names that a statement and those nested in it read or change."""
    for inner in ir.statements((s,)):
        yield from names_in(values_of(inner))
        yield from changed_by(inner)


def _predicate(op: ir.Op) -> ir.Value:
    if op.opcode == "not":
        operand = op.operands[0]
        return ir.Constant("pred", not operand.value) if isinstance(operand, ir.Constant) else op
    a, b = op.operands
    for known, other in ((a, b), (b, a)):
        if not isinstance(known, ir.Constant):
            continue
        if op.opcode in ("and", "or"):
            return other if bool(known.value) == (op.opcode == "and") else known
        if bool(known.value) == (op.opcode == "eq"):
            return other
    return op


def _never_holds(op: ir.Op) -> bool:
    """Whether a comparison is for less than -inf or more than inf, which is false for every number and for NaN."""
    if op.opcode not in ("lt", "gt") or len(op.operands) != 2:
        return False
    small, large = op.operands if op.opcode == "lt" else reversed(op.operands)
    return _is_float(small, math.inf) or _is_float(large, -math.inf)


def _beside_neutral(op: ir.Op) -> ir.Value | None:
    """The other operand of an extremum with an infinity that never is the result; None if there is no such operand."""
    a, b = op.operands
    neutral = _EXTREMA[op.opcode]
    return b if _is_float(a, neutral) else a if _is_float(b, neutral) else None


def _root(power: ir.Op) -> ir.Op:
    """A power of 1/2 or -1/2 as a root of the base. Powers of -0 and of -inf, unlike their roots, are those of 0 and inf."""
    base, exponent = power.operands
    function = next((f for f, number in (("sqrt", 0.5), ("rsqrt", -0.5)) if _is_float(exponent, number)), None)
    if function is None or power.type not in ("f32", "f64"):
        return power
    zero, pole = ir.Constant(power.type, 0.0), ir.Constant(power.type, -math.inf)
    root = ir.Op(function, power.type, (ir.Op("add", power.type, (base, zero)),))
    end = ir.Constant(power.type, math.inf if function == "sqrt" else 0.0)
    return ir.Op("select", power.type, (ir.Op("eq", "pred", (base, pole)), end, root))


def _is_float(value: ir.Value, number: float) -> bool:
    return isinstance(value, ir.Constant) and isinstance(value.value, float) and value.value == number


def _converted(op: ir.Op, constant: ir.Constant) -> ir.Value:
    """A constant converted between integers, or from an integer that the float type holds exactly, or between f32 and f64."""
    value = constant.value
    if isinstance(value, float) and {op.type, constant.type} == {"f32", "f64"} and math.isfinite(value):
        return ir.Constant(op.type, _rounded(value))
    if isinstance(value, complex | float) or op.type in ("c64", "c128"):
        return op
    if op.type == "pred":
        return ir.Constant("pred", value != 0)
    if op.type in ("f32", "f64"):
        return ir.Constant(op.type, float(value)) if abs(value) <= 1 << 24 else op
    bits = int(op.type[1:])
    wrapped = int(value) & ((1 << bits) - 1)
    is_negative = op.type[0] == "s" and wrapped >> (bits - 1)
    return ir.Constant(op.type, wrapped - (1 << bits) if is_negative else wrapped)


def _rounded(number: float) -> float:
    """The number of f32 that is nearest to a number."""
    try:
        (rounded,) = struct.unpack("f", struct.pack("f", number))
    except OverflowError:
        return math.copysign(math.inf, number)
    return float(rounded)


def _decided(condition: ir.Within, known: Interval) -> ir.Value:
    """A condition without bounds that always hold; a constant if all do, or if one never does."""
    low, high = condition.lower, condition.upper
    if (holds := condition.decided(known)) is not None:
        return TRUE if holds else FALSE
    low = None if low is not None and known.lower >= low else low
    high = None if high is not None and known.upper <= high else high
    if (low, high) == (condition.lower, condition.upper):
        return condition
    return replace(condition, lower=low, upper=high)
