"""Sums whose elements subtract a result of their own row, found in the pass over the row that finds this result.

Of a part of a row a few numbers are known, the result first. Those of two parts give those of both, and those of the whole
row give the sum.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, TypeAlias

from indexing.hlo import ModuleBuilder, Shape
from indexing.ops.reducer_ops import reducer_opcode
from indexing.ops.tuples import array_source

if TYPE_CHECKING:
    from indexing.hlo import BuiltInstruction, Computation, ComputationBuilder, Instruction

KINDS = ("f32", "f64")
COUNT = "s32"
MAX_COUNT = 2**31 - 1  # elements of a row

_Values: TypeAlias = "Sequence[BuiltInstruction]"
_Build: TypeAlias = "Callable[[_Scalars, _Values], _Values]"


@dataclass(frozen=True, slots=True)
class OnlineForm:
    """The numbers of a part of a row: their `kinds`, and `neutral`, those of a part without elements.

    Computations on scalars: `element` gives the numbers of one element; `combined` those of two parts from those of each;
    `total` the sum from those of the row and what its elements really subtract.
    """

    kinds: tuple[str, ...]
    neutral: tuple[complex | bool, ...]
    element: Computation
    combined: Computation
    total: Computation


def online_form(total: Instruction, result: Instruction) -> OnlineForm | None:
    """The form of the sum `total`, in case its elements subtract what follows from `result`, a reduction of the same elements;
    None where it has none.
    """
    form = _form_of(total)
    if form is None or result.shape.is_tuple or result.shape.element_type != total.shape.element_type:
        return None
    is_its_own = reducer_opcode(result.computation_of("to_apply")) == form.reducer
    count = total.operands[0].shape.element_count // max(total.shape.element_count, 1)
    return _built(form, total.shape.element_type) if is_its_own and count <= MAX_COUNT else None


def summed_difference(reduce: Instruction) -> Instruction | None:
    """The subtraction in the elements of a sum that has a form; None for another reduction."""
    return None if _form_of(reduce) is None else _operands(_operands(reduce)[0])[0]


def _form_of(reduce: Instruction) -> _Form | None:
    if reduce.shape.is_tuple or reduce.shape.element_type not in KINDS:
        return None
    if reducer_opcode(reduce.computation_of("to_apply")) != "add":
        return None
    term = _operands(reduce)[0]
    inner = set(_operands(term))
    if len(inner) != 1 or inner.pop().opcode != "subtract":
        return None
    return next((form for form in FORMS if form.term == term.opcode), None)


def _operands(i: Instruction) -> list[Instruction]:
    return [array_source(o, 0)[0] for o in i.operands]


# ---------------------------------------------------------------- computations


@dataclass(frozen=True, slots=True)
class _Form:
    """`term`: the opcode of what is added, of one difference; `reducer`: that of the result's reducer.

    The computations are built from lists of values; a kind that is empty is that of the sum.
    """

    term: str
    reducer: str
    kinds: tuple[str, ...]
    neutral: tuple[complex | bool, ...]
    element: _Build
    combined: _Build
    total: _Build


@lru_cache(maxsize=2 * len(KINDS))
def _built(form: _Form, kind: str) -> OnlineForm:
    module = ModuleBuilder("online")
    kinds = tuple(k or kind for k in form.kinds)
    parts = ((form.element, (kind,)), (form.combined, kinds * 2), (form.total, (*kinds, kind)))
    bodies = [module.computation(name) for name in ("element", "combined", "total")]
    for body, (build, parameters) in zip(bodies, parts, strict=True):
        scalars = _Scalars(body, kind)
        scalars.finish(build(scalars, [body.parameter(Shape.array(k, ())) for k in parameters]))
    module.entry.constant(Shape.array("pred", ()), 1)
    built = module.build()
    return OnlineForm(kinds, form.neutral, *(built.computations[b.name] for b in bodies))


@dataclass(frozen=True, slots=True)
class _Scalars:
    """Adds operations on scalars of one floating point type to a computation."""

    body: ComputationBuilder
    kind: str

    def __call__(self, opcode: str, *operands: BuiltInstruction) -> BuiltInstruction:
        return self.body.add(opcode, Shape.array(self.kind, ()), operands)

    def number(self, value: float) -> BuiltInstruction:
        return self.body.constant(Shape.array(self.kind, ()), value)

    def count(self, value: int) -> BuiltInstruction:
        return self.body.constant(Shape.array(COUNT, ()), value)

    def counted(self, opcode: str, *operands: BuiltInstruction) -> BuiltInstruction:
        return self.body.add(opcode, Shape.array(COUNT, ()), operands)

    def compared(self, direction: str, a: BuiltInstruction, b: BuiltInstruction) -> BuiltInstruction:
        return self.body.add("compare", Shape.array("pred", ()), [a, b], direction=direction)

    def finish(self, results: _Values) -> None:
        if len(results) > 1:
            self.body.tuple_of(results)


def _exponential_of_one(add: _Scalars, values: _Values) -> _Values:
    return [*values, add.number(1.0)]


def _exponentials_combined(add: _Scalars, values: _Values) -> _Values:
    """Of a maximum m and a sum of exp(x - m): with a larger maximum the sum is scaled (Milakov and Gimelshein, Online
    normalizer calculation for softmax, 2018).

    The exponential of equal numbers' difference counts as 1, infinite ones included; then the factor of the total is what it
    should be: exp(inf - inf) makes the row's sum NaN, exp(inf - 0) infinite.
    """
    m, s, n, t = values
    below = add("exponential", add("negate", add("abs", add("subtract", m, n))))
    factor = add("select", add.compared("EQ", m, n), add.number(1.0), below)
    first, second = add("add", s, add("multiply", t, factor)), add("add", add("multiply", s, factor), t)
    return [add("maximum", m, n), add("select", add.compared("GT", m, n), first, second)]


def _exponentials_total(add: _Scalars, values: _Values) -> _Values:
    m, s, shift = values
    return [add("multiply", s, add("exponential", add("subtract", m, shift)))]


def _square_of_one(add: _Scalars, values: _Values) -> _Values:
    (x,) = values
    return [x, add.count(1), x, add.number(-0.0)]


def _squares_combined(add: _Scalars, values: _Values) -> _Values:
    """Of a sum, a count, a mean and the sum of (x - mean)^2: those of both parts, and what lies between the means (Chan, Golub
    and LeVeque, Updating formulae and a pairwise algorithm for computing sample variances, 1979).

    The mean is a weighted one, not the sum by the count, and so finite where the sum is not. Equal means lie 0 apart, infinite
    ones included.
    """
    sum_a, count_a, a, squares_a, sum_b, count_b, b, squares_b = values
    count = add.counted("add", count_a, count_b)
    some = add("convert", add.counted("maximum", count, add.count(1)))
    weight = add("divide", add("convert", count_b), some)
    rest = add("subtract", add.number(1.0), weight)
    mean = add("add", add("multiply", a, rest), add("multiply", b, weight))
    apart = add("select", add.compared("EQ", a, b), add.number(0.0), add("subtract", b, a))
    between = add("multiply", add("multiply", apart, add("multiply", add("convert", count_a), weight)), apart)
    squares = add("add", add("add", squares_a, squares_b), between)
    return [add("add", sum_a, sum_b), count, mean, squares]


def _squares_total(add: _Scalars, values: _Values) -> _Values:
    """The sum of (x - shift)^2, whatever is subtracted."""
    _, count, mean, squares, shift = values
    apart = add("subtract", mean, shift)
    return [add("add", squares, add("multiply", add("convert", count), add("multiply", apart, apart)))]


FORMS = (
    _Form(
        "exponential",
        "maximum",
        ("", ""),
        (float("-inf"), 0.0),
        _exponential_of_one,
        _exponentials_combined,
        _exponentials_total,
    ),
    _Form(
        "multiply",
        "add",
        ("", COUNT, "", ""),
        (-0.0, 0, 0.0, 0.0),
        _square_of_one,
        _squares_combined,
        _squares_total,
    ),
)
