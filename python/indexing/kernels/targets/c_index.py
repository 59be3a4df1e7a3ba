"""Printing of index expressions as C: each is computed in s32 if interval analysis proves that it fits, else in s64.

Floor division and mod are C's operators if the dividend cannot be negative, shifts and masks for powers of two, and library
functions otherwise. On targets with instructions for the upper half of a product, what is divided by a constant is
multiplied by its reciprocal: a compiler does so with more instructions, as it knows less of the dividend's range.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from indexing._core import Interval, SymbolicExpr
from indexing.kernels.ir import nodes as ir
from indexing.kernels.ir.traversal import expressions_in

INT32_MIN, INT32_MAX = -(2**31), 2**31 - 1

ATOM, PRODUCT, SUM, SHIFT, COMPARISON, CONDITIONAL = range(6)


@dataclass(frozen=True, slots=True)
class IndexText:
    """C text with the precedence of its outermost operator, its width, and the range of its value."""

    text: str
    precedence: int
    wide: bool
    lower: int
    upper: int

    def as_operand(self, precedence: int) -> str:
        """The text as an operand of an operator of `precedence` that binds at least as strongly."""
        return f"({self.text})" if self.precedence > precedence else self.text


class IndexWriter:
    """Prints index expressions over the variables of one function; `use` is called with each library name."""

    def __init__(
        self, variables: Sequence[ir.IndexVariable], use: Callable[[str], str], has_reciprocals: bool = False
    ) -> None:
        """Start without named expressions; `use` returns the name it is given."""
        self.variables = variables
        self.intervals = [v.interval for v in variables]
        self.use = use
        self._has_reciprocals = has_reciprocals
        self._unknown = {
            k for k, v in enumerate(variables) if v.kind in ("thread", "parameter")
        }  # after loops are unrolled
        self.named: dict[SymbolicExpr, IndexText] = {}  # expressions that have a name at the current point
        self.quotients: dict[SymbolicExpr, IndexText] = {}  # quotients that have a name from here to the end

    def c_type(self, expression: SymbolicExpr) -> str:
        """`s32` or `s64`: the type of `text(expression)`."""
        return self.use("s64" if self.written(expression).wide else "s32")

    def text(self, expression: SymbolicExpr) -> str:
        """C text of the expression."""
        return self.written(expression).text

    def written(self, expression: SymbolicExpr) -> IndexText:
        """C text of the expression, with its precedence, width and range."""
        if expression in self.named:
            return self.named[expression]
        number = expression.variable_index
        if number is not None:
            return self._variable(number)
        done: list[IndexText] = []
        nodes, order = expression.nodes(), expression.postorder()
        for (kind, values, operands), node in zip(nodes, order, strict=True):
            own = (self.named.get(node) or self.quotients.get(node)) if operands else None
            if own is None and kind == "mod" and self.quotients:
                own = self._remainder(node, order[operands[0]], order[operands[1]], done[operands[0]])
            done.append(own or self._node(kind, values, node, [done[o] for o in operands]))
        return done[-1]

    def _remainder(
        self, node: SymbolicExpr, dividend: SymbolicExpr, divisor: SymbolicExpr, text: IndexText
    ) -> IndexText | None:
        """The remainder by a quotient that has a name; None if that has none, or a mask takes fewer instructions."""
        value = divisor.constant_value
        quotient = self.quotients.get(dividend // divisor) if value and not _is_mask(value) else None
        if quotient is None:
            return None
        difference = f"{text.as_operand(SUM)} - {quotient.text} * {value}"
        return self._finish(difference, SUM, False, node.range(self.intervals))

    def variable_type(self, variable: int, last: int = 0) -> str:
        """The type of an index variable that takes values up to `last`, which may exceed its interval."""
        interval = self.intervals[variable]
        return self.use("s32" if _fits(interval.lower, max(interval.upper, last)) else "s64")

    def _node(self, kind: str, values: Sequence[int], node: SymbolicExpr, operands: Sequence[IndexText]) -> IndexText:
        if kind == "constant":
            return _constant(values[0])
        if kind == "variable":
            return self._variable(values[0])
        bounds = node.range(self.intervals)
        if kind == "sum":
            return self._sum(values[0], values[1:], operands, bounds)
        if kind == "product":
            return self._product(operands, bounds)
        if kind in ("min", "max"):
            return self._extremum(kind, operands, bounds)
        return self._quotient(kind, operands[0], operands[1], bounds)

    def _variable(self, number: int) -> IndexText:
        own = self.intervals[number]
        return IndexText(self.variables[number].name, ATOM, not _fits(own.lower, own.upper), own.lower, own.upper)

    def _as(self, operand: IndexText, wide: bool) -> IndexText:
        """The operand in the width of the operation around it."""
        if operand.wide == wide:
            return operand
        kind = self.use("s64" if wide else "s32")
        return IndexText(f"({kind}){operand.as_operand(ATOM)}", ATOM, wide, operand.lower, operand.upper)

    def _finish(self, text: str, precedence: int, wide: bool, bounds: Interval) -> IndexText:
        """The result, narrowed if it was computed in s64 but fits in s32."""
        if wide and _fits(bounds.lower, bounds.upper):
            return IndexText(f"({self.use('s32')})({text})", ATOM, False, bounds.lower, bounds.upper)
        return IndexText(text, precedence, wide, bounds.lower, bounds.upper)

    def _sum(
        self, constant: int, coefficients: Sequence[int], operands: Sequence[IndexText], bounds: Interval
    ) -> IndexText:
        """A sum: positive terms, then negative ones, then the constant; in s32 if no partial sum can overflow."""
        reach = abs(constant)
        for factor, operand in zip(coefficients, operands, strict=True):
            reach += abs(factor) * max(abs(operand.lower), abs(operand.upper))
        wide = any(o.wide for o in operands) or reach > INT32_MAX
        text = ""
        for factor, operand in sorted(zip(coefficients, operands, strict=True), key=lambda term: term[0] < 0):
            sign = ("-" if factor < 0 else "") if not text else (" - " if factor < 0 else " + ")
            text += sign + _term(abs(factor), self._as(operand, wide))
        if constant:
            sign = ("-" if constant < 0 else "") if not text else (" - " if constant < 0 else " + ")
            text += f"{sign}{abs(constant)}{'ll' if abs(constant) > INT32_MAX else ''}"
        is_product = len(operands) == 1 and coefficients[0] > 0 and not constant
        return self._finish(text, PRODUCT if is_product else SUM, wide, bounds)

    def _product(self, operands: Sequence[IndexText], bounds: Interval) -> IndexText:
        reach, wide = 1, any(o.wide for o in operands)
        for operand in operands:
            reach *= max(abs(operand.lower), abs(operand.upper), 1)
        wide = wide or reach > INT32_MAX
        return self._finish(" * ".join(self._as(o, wide).as_operand(ATOM) for o in operands), PRODUCT, wide, bounds)

    def _extremum(self, kind: str, operands: Sequence[IndexText], bounds: Interval) -> IndexText:
        wide = any(o.wide for o in operands)
        name = self.use(f"{kind}imum_{'s64' if wide else 's32'}")
        text = self._as(operands[0], wide).text
        for operand in operands[1:]:
            text = f"{name}({text}, {self._as(operand, wide).text})"
        return self._finish(text, ATOM, wide, bounds)

    def _quotient(self, kind: str, a: IndexText, b: IndexText, bounds: Interval) -> IndexText:
        wide = a.wide or b.wide
        left, right = self._as(a, wide), self._as(b, wide)
        divisor = b.lower if b.lower == b.upper else 0
        if _is_mask(divisor) and kind in ("floordiv", "mod"):
            shift = divisor.bit_length() - 1
            if kind == "floordiv":  # shifting right rounds down, also for negative numbers
                return self._finish(f"{left.as_operand(ATOM)} >> {shift}", SHIFT, wide, bounds)
            mask = f"({left.as_operand(ATOM)} & {divisor - 1}{'ll' if wide else ''})"  # & binds weaker than comparisons
            return self._finish(mask, ATOM, wide, bounds)
        above = -(-max(-a.lower, 0) // divisor) * divisor if divisor > 0 else 0
        limit = 2**63 - 1 if wide else INT32_MAX
        if divisor > 0 and kind in ("floordiv", "mod") and a.upper + above <= limit:
            return self._quotient_from(above, kind, left, right, bounds)
        if a.lower >= 0 and b.lower > 0 and kind in ("floordiv", "mod"):
            operator = "/" if kind == "floordiv" else "%"
            return self._finish(f"{left.as_operand(ATOM)} {operator} {right.as_operand(ATOM)}", PRODUCT, wide, bounds)
        name = {"floordiv": "floor_div", "mod": "floor_mod", "ceildiv": "ceil_div"}[kind]
        name = self.use(f"{name}_{'s64' if wide else 's32'}")
        return self._finish(f"{name}({left.text}, {right.text})", ATOM, wide, bounds)

    def _quotient_from(self, above: int, kind: str, a: IndexText, b: IndexText, bounds: Interval) -> IndexText:
        """The quotient or remainder by a constant of a number that may be negative: of its sum with a multiple `above` it."""
        suffix = "ll" if a.wide else ""
        raised = IndexText(f"{a.as_operand(SUM)} + {above}{suffix}", SUM, a.wide, a.lower + above, a.upper + above)
        raised = raised if above else a
        if self._has_reciprocals and not a.wide:
            name = self.use("quotient_s32" if kind == "floordiv" else "remainder_s32")
            text, precedence = f"{name}({raised.text}, {b.text}, {reciprocal_shift(b.lower, raised.upper)})", ATOM
        else:
            operator = "/" if kind == "floordiv" else "%"
            text, precedence = f"{raised.as_operand(ATOM)} {operator} {b.as_operand(ATOM)}", PRODUCT
        if above and kind == "floordiv":
            text, precedence = f"{text} - {above // b.lower}{suffix}", SUM
        return self._finish(text, precedence, a.wide, bounds)


def repeated_quotients(block: ir.Block, intervals: Sequence[Interval]) -> list[SymbolicExpr]:
    """The quotients of numbers from 0 to INT32_MAX by constants that are no powers of two, those of remainders too, which
    several statements of a block need; what others are computed from first.
    """
    counts: Counter[SymbolicExpr] = Counter()
    for s in ir.statements(block):
        own: dict[SymbolicExpr, None] = {}
        for expression in expressions_in(s):
            order = expression.postorder()
            for kind, _, operands in expression.nodes():
                divisor = order[operands[1]].constant_value if kind in ("floordiv", "mod") else None
                if not divisor or _is_mask(divisor):
                    continue
                dividend = order[operands[0]]
                bounds = dividend.range(intervals)
                if 0 <= bounds.lower <= bounds.upper <= INT32_MAX:
                    own[dividend // divisor] = None
        counts.update(own.keys())
    return [q for q, count in counts.items() if count > 1]


def reciprocal_shift(divisor: int, most: int) -> int:
    """The shift with which the upper half of a product with a reciprocal is the quotient of all numbers from 0 to `most`.

    With r = ceil(2**(32 + shift) / divisor), x * r / 2**(32 + shift) exceeds x / divisor by x * error / (divisor *
    2**(32 + shift)), which is less than 1 / divisor, so that no integer lies between, if x * error < 2**(32 + shift). This
    holds for all x below 2**31 at the largest shift of which r has 32 bits, since the error is less than the divisor.
    """
    shift = 0
    while most * (-(2 ** (32 + shift)) % divisor) >= 2 ** (32 + shift):
        shift += 1
    return shift


def _is_mask(divisor: int) -> bool:
    """Whether remainders by a divisor are masks: whether it is a power of two."""
    return divisor > 0 and divisor & (divisor - 1) == 0


def _fits(lower: int, upper: int) -> bool:
    return lower >= INT32_MIN and upper <= INT32_MAX


def _constant(value: int) -> IndexText:
    wide = not _fits(value, value)
    suffix = "ll" if wide else ""
    if value in (INT32_MIN, -(2**63)):  # its magnitude is not representable as a literal of its type
        return IndexText(f"({value + 1}{suffix} - 1)", ATOM, wide, value, value)
    text = f"{value}{suffix}"
    return IndexText(f"({text})" if value < 0 else text, ATOM, wide, value, value)


def _term(factor: int, operand: IndexText) -> str:
    if factor == 1:
        return operand.as_operand(PRODUCT)
    return f"{operand.as_operand(ATOM)} * {factor}{'ll' if factor > INT32_MAX else ''}"
