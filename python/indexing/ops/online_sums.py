"""Online sums: sums of terms that subtract another reduction of the same row, computed in one pass with it.

A pass keeps a few accumulators, the other reduction's first. They are combined for two parts of a row, and those of a whole
row give the sum.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

from indexing.hlo import BuiltInstruction, Computation, ComputationBuilder, Instruction, ModuleBuilder, Shape
from indexing.ops.reducer_ops import reducer_opcode
from indexing.ops.tuples import array_source

KINDS = ("f32", "f64")
COUNT = "s32"
MAX_COUNT = 2**31 - 1  # elements of a row, which COUNT holds

_Values: TypeAlias = "Sequence[BuiltInstruction]"
_Build: TypeAlias = "Callable[[_Scalars, _Values], _Values]"


@dataclass(frozen=True, slots=True)
class OnlineForm:
    """The accumulators of a part of a row: their `kinds`, and `neutral`, their values for an empty part.

    Scalar computations: `element` gives the accumulators of one element, `combined` those of two parts from those of each,
    `total` the sum from the row's accumulators and the value that its terms actually subtract.
    """

    kinds: tuple[str, ...]
    neutral: tuple[complex | bool, ...]
    element: Computation
    combined: Computation
    total: Computation


def online_form(total: Instruction, result: Instruction) -> OnlineForm | None:
    """The online form of the sum `total`, whose terms subtract a value derived from `result`, a reduction of the same
    elements; None if there is no such form.
    """
    form = _form_of(total)
    if form is None or result.shape.is_tuple or result.shape.element_type != total.shape.element_type:
        return None
    is_its_own = reducer_opcode(result.computation_of("to_apply")) == form.reducer
    count = total.operands[0].shape.element_count // max(total.shape.element_count, 1)
    return _built(form, total.shape.element_type) if is_its_own and count <= MAX_COUNT else None


def summed_difference(reduce: Instruction) -> Instruction | None:
    """The subtraction in the terms of a sum that may have an online form; None for other reductions."""
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
    """A pattern: `term` is the opcode applied to the difference, `reducer` the opcode of the other reduction.

    The functions build computations from lists of values; an empty kind is that of the sum.
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
    """Adds operations on scalars of one floating-point type to a computation."""

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
    """Combine two pairs of a maximum m and a sum of exp(x - m): the sum of the smaller maximum is rescaled (Milakov and
    Gimelshein, Online normalizer calculation for softmax, 2018).

    The factor is 1 for equal maxima, infinite ones included; `_exponentials_total` then gives the right sum for them:
    exp(inf - inf) makes it NaN, exp(inf - 0) infinite.
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
    """Combine sums, counts, means and sums of (x - mean)^2; the latter add up with a term for the difference of the means
    (Chan, Golub and LeVeque, Updating formulae and a pairwise algorithm for computing sample variances, 1979).

    The mean is a weighted average, not the sum divided by the count, so that it is finite even if the sum overflows. The
    difference of equal means is 0, also of infinite ones.
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
    """The sum of (x - shift)^2, for any shift."""
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
