"""Index expressions as C text: each is computed in s32 where interval analysis proves that it fits, else in s64.

`IndexScope` holds the index variables of one generated function: a C name and an interval each. Expressions are
`SymbolicExpr` over their numbers. Floor division and mod are C's own where the dividend cannot be negative, shifts and
masks for powers of two, and intrinsics else.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from indexing._core import Interval, SymbolicExpr, variable

INT32_MIN, INT32_MAX = -(2**31), 2**31 - 1
MAX_TREE = 64  # nodes of an expression written out; a larger one is given a variable

_ATOM, _PRODUCT, _SUM, _SHIFT = range(4)


@dataclass(frozen=True, slots=True)
class _Text:
    """C text with the precedence of its outermost operator, its width, and the range of its value."""

    text: str
    precedence: int
    wide: bool
    lower: int
    upper: int

    def under(self, precedence: int) -> str:
        """The text as an operand of an operator of `precedence` that binds at least as strongly."""
        return f"({self.text})" if self.precedence > precedence else self.text


class IndexScope:
    """The index variables of a function that is being written."""

    def __init__(self) -> None:
        """No variables yet."""
        self.names: list[str] = []
        self.intervals: list[Interval] = []
        self._simplified: dict[SymbolicExpr, SymbolicExpr] = {}

    def add(self, name: str, lower: int, upper: int) -> SymbolicExpr:
        """A new variable called `name` in C, with values in [lower, upper]."""
        self.names.append(name)
        self.intervals.append(Interval(lower, max(lower, upper)))
        return variable(len(self.names) - 1)

    def simplify(self, expression: SymbolicExpr) -> SymbolicExpr:
        """The simplest known form on the variables' intervals."""
        found = self._simplified.get(expression)
        if found is None:
            found = self._simplified[expression] = expression.simplify(self.intervals)
        return found

    def range(self, expression: SymbolicExpr) -> Interval:
        """Bounds of the expression's value."""
        return expression.range(self.intervals)

    def c_type(self, expression: SymbolicExpr) -> str:
        """`s32` or `s64`: the type of `text(expression)`."""
        return "s64" if self._text(expression).wide else "s32"

    def text(self, expression: SymbolicExpr) -> str:
        """C text of the expression."""
        return self._text(expression).text

    def atom(self, expression: SymbolicExpr) -> str:
        """C text that can stand beside any operator."""
        return self._text(expression).under(_ATOM)

    def tree_size(self, expression: SymbolicExpr) -> int:
        """How many nodes the text has, repeated ones counted each time."""
        sizes: list[int] = []
        for _, _, operands in expression.nodes():
            sizes.append(1 + sum(sizes[o] for o in operands))
        return sizes[-1]

    def _text(self, expression: SymbolicExpr) -> _Text:
        done: list[_Text] = []
        for (kind, values, operands), node in zip(expression.nodes(), expression.postorder(), strict=True):
            done.append(self._node(kind, values, node, [done[o] for o in operands]))
        return done[-1]

    def _node(self, kind: str, values: Sequence[int], node: SymbolicExpr, operands: Sequence[_Text]) -> _Text:
        if kind == "constant":
            return _constant(values[0])
        if kind == "variable":
            own = self.intervals[values[0]]
            return _Text(self.names[values[0]], _ATOM, not _fits(own.lower, own.upper), own.lower, own.upper)
        bounds = self.range(node)
        if kind == "sum":
            return _sum(values[0], values[1:], operands, bounds)
        if kind == "product":
            return _product(operands, bounds)
        if kind in ("min", "max"):
            return _extremum(kind, operands, bounds)
        return _quotient(kind, operands[0], operands[1], bounds)


def _fits(lower: int, upper: int) -> bool:
    return lower >= INT32_MIN and upper <= INT32_MAX


def _constant(value: int) -> _Text:
    wide = not _fits(value, value)
    suffix = "ll" if wide else ""
    if value in (INT32_MIN, -(2**63)):  # its magnitude is no literal of its type
        return _Text(f"({value + 1}{suffix} - 1)", _ATOM, wide, value, value)
    text = f"{value}{suffix}"
    return _Text(f"({text})" if value < 0 else text, _ATOM, wide, value, value)


def _as(operand: _Text, wide: bool) -> _Text:
    """The operand in the width of the operation around it."""
    if operand.wide == wide:
        return operand
    kind = "s64" if wide else "s32"
    return _Text(f"({kind}){operand.under(_ATOM)}", _ATOM, wide, operand.lower, operand.upper)


def _finish(text: str, precedence: int, wide: bool, bounds: Interval) -> _Text:
    """The result; what was computed in s64 but fits in s32 is narrowed at once."""
    if wide and _fits(bounds.lower, bounds.upper):
        return _Text(f"(s32)({text})", _ATOM, False, bounds.lower, bounds.upper)
    return _Text(text, precedence, wide, bounds.lower, bounds.upper)


def _sum(constant: int, coefficients: Sequence[int], operands: Sequence[_Text], bounds: Interval) -> _Text:
    """Positive terms first, then negative ones, then the constant; s32 where no partial sum can leave it."""
    reach = abs(constant)
    for factor, operand in zip(coefficients, operands, strict=True):
        reach += abs(factor) * max(abs(operand.lower), abs(operand.upper))
    wide = any(o.wide for o in operands) or reach > INT32_MAX
    text = ""
    for factor, operand in sorted(zip(coefficients, operands, strict=True), key=lambda term: term[0] < 0):
        sign = ("-" if factor < 0 else "") if not text else (" - " if factor < 0 else " + ")
        text += sign + _term(abs(factor), _as(operand, wide))
    if constant:
        sign = ("-" if constant < 0 else "") if not text else (" - " if constant < 0 else " + ")
        text += f"{sign}{abs(constant)}{'ll' if abs(constant) > INT32_MAX else ''}"
    return _finish(text, _SUM, wide, bounds)


def _term(factor: int, operand: _Text) -> str:
    if factor == 1:
        return operand.under(_PRODUCT)
    return f"{operand.under(_ATOM)} * {factor}{'ll' if factor > INT32_MAX else ''}"


def _product(operands: Sequence[_Text], bounds: Interval) -> _Text:
    reach, wide = 1, any(o.wide for o in operands)
    for operand in operands:
        reach *= max(abs(operand.lower), abs(operand.upper), 1)
    wide = wide or reach > INT32_MAX
    return _finish(" * ".join(_as(o, wide).under(_ATOM) for o in operands), _PRODUCT, wide, bounds)


def _extremum(kind: str, operands: Sequence[_Text], bounds: Interval) -> _Text:
    wide = any(o.wide for o in operands)
    name = f"@{kind}_{'s64' if wide else 's32'}"
    text = _as(operands[0], wide).text
    for operand in operands[1:]:
        text = f"{name}({text}, {_as(operand, wide).text})"
    return _finish(text, _ATOM, wide, bounds)


def _quotient(kind: str, a: _Text, b: _Text, bounds: Interval) -> _Text:
    wide = a.wide or b.wide
    left, right = _as(a, wide), _as(b, wide)
    divisor = b.lower if b.lower == b.upper else 0
    if divisor > 0 and divisor & (divisor - 1) == 0 and kind in ("floordiv", "mod"):
        shift = divisor.bit_length() - 1
        if kind == "floordiv":  # shifting right rounds down, for negative numbers too
            return _finish(f"{left.under(_ATOM)} >> {shift}", _SHIFT, wide, bounds)
        mask = f"({left.under(_ATOM)} & {divisor - 1}{'ll' if wide else ''})"  # & binds less than comparisons do
        return _finish(mask, _ATOM, wide, bounds)
    if a.lower >= 0 and b.lower > 0 and kind in ("floordiv", "mod"):
        operator = "/" if kind == "floordiv" else "%"
        return _finish(f"{left.under(_ATOM)} {operator} {right.under(_ATOM)}", _PRODUCT, wide, bounds)
    name = {"floordiv": "floor_div", "mod": "floor_mod", "ceildiv": "ceil_div"}[kind]
    return _finish(f"@{name}_{'s64' if wide else 's32'}({left.text}, {right.text})", _ATOM, wide, bounds)
