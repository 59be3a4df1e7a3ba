"""Steps of the statements of a kernel without threads: what a core does for each of them.

The laws are those of docs/prediction.md, "CPUs".
"""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING, TypeAlias

from indexing.kernels.ir import nodes as ir
from indexing.kernels.ir.fragments import PANEL_PRODUCTS
from indexing.kernels.ir.nodes import Block, Statement, Value
from indexing.kernels.ir.traversal import all_values
from indexing.model.panel_costs import steps_of_panels

if TYPE_CHECKING:
    _Key: TypeAlias = "Value | tuple[str | int, ...]"

__all__ = ["BRANCH", "CHAIN", "ENTRY", "LANES", "SHORT_CHAIN", "UPDATE", "LoopSteps", "delay"]

LANES = 8  # the lanes of a vector

# Steps besides those of operations.
ENTRY = 2  # the cost of entering a loop
BRANCH = 2
CHAIN = 12  # steps from an operation on floats or predicates to the one that waits for it: a few clocks
SHORT_CHAIN = 5  # those from one on integers, a clock
LOAD_CHAIN = 20  # those from an index, or a store, to the value that is loaded
UPDATE = 20  # the cost of an update of an element that stays, or that data choose; no two cores do them
#: The steps of functions: those of their polynomials in 8 lanes, by the time that each takes in a loop on vectors of 32 bytes.
STEPS = {
    **dict.fromkeys(("exp", "exp_narrow", "tanh"), 100),
    **dict.fromkeys(("logistic", "cosh", "erf", "log", "log1p"), 120),
    **dict.fromkeys(("sinh", "cbrt"), 300),
    **dict.fromkeys(("acosh", "asinh", "atanh", "pow"), 400),
    **dict.fromkeys(("sin", "cos", "tan", "asin", "acos", "atan", "atan2"), 500),
    **dict.fromkeys(("maximum", "minimum", "div", "sqrt"), 10),
    "rsqrt": 100,
    "expm1": 200,
    "rem": 700,
}
#: The steps of conversions of narrow floats, to and from f32: those of bf16 shift bits, others have cases to select from.
CONVERSION_STEPS = {"decode": 18, "encode": 24}
BF16_STEPS = {"decode": 4, "encode": 6}
#: The steps of functions of integers, of which processors have no vectors.
INTEGER_STEPS = {"div": 200, "rem": 200, "popcount": 25, "clz": 25}
BY_CONSTANT = 10  # the steps of a division of integers by a constant, which is a product with its reciprocal
REMAINDER_BY_CONSTANT = 175  # those of a remainder of floats, whose quotient has about half the parts


class LoopSteps:
    """The steps of a kernel's statements. A value that a block, or one around it, has computed before takes none."""

    def __init__(self, kernel: ir.Kernel) -> None:
        """Begin without any value."""
        self.functions = {f.name: f for f in kernel.functions}
        self._written = {
            s.buffer for s in ir.statements(kernel.body) if isinstance(s, ir.Store | ir.AtomicUpdate | ir.FetchAdd)
        }
        self._constants: set[str] = set()  # the names of values that are known when the kernel is compiled
        self._of_statement: dict[int, float] = {}
        self._of_function: dict[str, float] = {}
        self._unused = count()
        self._numbers: dict[str, int] = {}  # of named values: equal ones have one
        self._computed: list[dict[_Key, int]] = []  # by the blocks around

    def enter(self) -> None:
        """Begin a block."""
        self._computed.append({})

    def leave(self) -> None:
        """End it: what follows can't use its values."""
        self._computed.pop()

    def of(self, s: Statement) -> float:
        """The steps of a statement, nested blocks excluded."""
        if id(s) not in self._of_statement:
            if isinstance(s, ir.Let) and self._is_constant(s.value):
                self._constants.add(s.name)
            self._of_statement[id(s)] = self._first_of(s)
        return self._of_statement[id(s)]

    def _first_of(self, s: Statement) -> float:
        if isinstance(s, ir.Let) and s.name in self._constants:
            return 0.0
        own = self._of_values(s)
        if isinstance(s, ir.Store | ir.Copy):
            return own + 1
        if isinstance(s, ir.MultiplyPanels):
            return steps_of_panels(PANEL_PRODUCTS[s.product], s.depth)
        if isinstance(s, ir.AtomicUpdate | ir.FetchAdd):
            return own + UPDATE
        return own + self.of_function(s.function) if isinstance(s, ir.CallFunction) else own

    def _of_values(self, s: Statement) -> float:
        steps = 0.0
        numbers: dict[int, int | None] = {}
        for v in all_values(s):
            key = self._key(v, numbers)
            number = next((of[key] for of in self._computed if key in of), None) if key is not None else None
            if isinstance(v, ir.Load | ir.Within):
                steps += 1
            elif isinstance(v, ir.Op) and number is None:
                steps += self._of_operation(v)
            if key is not None and number is None and self._computed:
                number = self._computed[-1][key] = next(self._unused)
            numbers[id(v)] = self._numbers.get(v.name) if isinstance(v, ir.Ref) else number
        if isinstance(s, ir.Let) and (of_value := numbers[id(s.value)]) is not None:
            self._numbers[s.name] = of_value
        return steps

    def _key(self, v: Value, numbers: dict[int, int | None]) -> _Key | None:
        """The part that equal values have in common; None if a value may change, or is known by its name."""
        if isinstance(v, ir.Op):
            operands = [numbers[id(o)] for o in v.operands]
            known = [n for n in operands if n is not None]
            return (v.opcode, v.type, v.format, *known) if len(known) == len(operands) else None
        if isinstance(v, ir.Constant):
            return v.type, repr(v.value)
        return None if isinstance(v, ir.Ref) or (isinstance(v, ir.Load) and v.buffer in self._written) else v

    def _of_operation(self, v: ir.Op) -> int:
        if v.opcode in CONVERSION_STEPS:
            return (BF16_STEPS if v.format == "bf16" else CONVERSION_STEPS)[v.opcode]
        is_by_constant = v.opcode in ("div", "rem") and self._is_constant(v.operands[1])
        if v.type[0] not in "su":
            return REMAINDER_BY_CONSTANT if is_by_constant and v.opcode == "rem" else STEPS.get(v.opcode, 1)
        return BY_CONSTANT if is_by_constant else INTEGER_STEPS.get(v.opcode, 1)

    def _is_constant(self, value: Value) -> bool:
        if isinstance(value, ir.Op):
            return all(map(self._is_constant, value.operands))
        return isinstance(value, ir.Constant) or (isinstance(value, ir.Ref) and value.name in self._constants)

    def is_straight(self, name: str) -> bool:
        """Whether a function has neither loops nor branches: compilers put its body in the place of its call."""
        return not any(isinstance(s, ir.For | ir.If) for s in ir.statements(self.functions[name].body))

    def of_function(self, name: str) -> float:
        """The steps of a call of a function, with its index in the middle of its range."""
        if name not in self._of_function:
            function = self.functions[name]
            middle = [(v.interval.lower + v.interval.upper) // 2 for v in function.variables]
            around = self._computed, self._numbers
            self._computed, self._numbers = [{}], {}
            self._of_function[name] = self._within(function.body, middle)
            self._computed, self._numbers = around
        return self._of_function[name]

    def _within(self, block: Block, values: list[int]) -> float:
        total = 0.0
        for s in block:
            if isinstance(s, ir.For):
                iterations = max(-(-(s.stop.evaluate(values) - s.start.evaluate(values)) // s.step), 0)
                total += ENTRY + iterations * (1 + self._within(s.body, values))
            elif isinstance(s, ir.If):
                total += BRANCH + sum(self._within(b, values) for b in (s.then, s.otherwise)) / 2
            else:
                total += self._first_of(s)
        return total


def delay(v: ir.Op) -> int:
    """The least steps from the operands of an operation to its value, for one that waits for it."""
    return SHORT_CHAIN if v.type[0] in "su" else CHAIN
