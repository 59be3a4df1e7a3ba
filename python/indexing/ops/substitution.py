"""Expansions of cholesky and triangular-solve: a loop over the columns of the factor, or over the equations.

A step computes one column, or one unknown of all right-hand sides, from those before it: by a product of the matrix that is
known so far with one of its rows.
"""

from __future__ import annotations

import math

from indexing.hlo import BuiltInstruction, Computation, Instruction
from indexing.ops.element_types import element_type
from indexing.ops.expansion import Expansion, Loop, computing_kind

PANEL = 32  # columns of a factor
MAX_ROWS = 256  # larger matrices take more passes over memory than the reference, which leaves out what is zero


def cholesky_expansion(instruction: Instruction) -> Computation | None:
    """A computation equal to cholesky; None for matrices of more than MAX_ROWS, and of no elements."""
    if not 0 < instruction.shape.dimensions[-1] <= MAX_ROWS or not instruction.shape.element_count:
        return None
    parts, is_lower = Expansion(instruction), instruction.flag("lower")
    a = matrices(parts, parts.operand(0))
    factor = _lower_factor(parts, a if is_lower else adjoint(parts, a))
    factor = factor if is_lower else adjoint(parts, factor)
    return parts.finish([parts.reshape(factor, instruction.shape.dimensions)])


def _lower_factor(parts: Expansion, a: BuiltInstruction) -> BuiltInstruction:
    """L with L L^H = a, by the lower triangle of a alone. Panels of columns come one after another, so that most of what is
    known is subtracted by products of matrices.
    """
    kind, (batch, n, _) = a.element_type, a.dimensions
    if n < 2 * PANEL:
        return _columns(parts, a, parts.constant("s32", 0), parts.loop())

    count, left = divmod(n, PANEL)
    loop = parts.loop()

    def panel(k: BuiltInstruction, values: list[BuiltInstruction]) -> list[BuiltInstruction]:
        return with_columns(k, values, PANEL, loop)

    def with_columns(
        k: BuiltInstruction, values: list[BuiltInstruction], size: int, loop: Loop
    ) -> list[BuiltInstruction]:
        factor, a = values
        first = parts.apply("multiply", k, parts.constant("s32", PANEL))
        rows = parts.slice_at(factor, first, [1], keeps=True, size=size)
        known = parts.add(
            "dot", kind, [batch, n, size], [factor, conjugate(parts, rows)],
            lhs_batch_dims=[0], rhs_batch_dims=[0], lhs_contracting_dims=[2], rhs_contracting_dims=[2],
        )  # fmt: skip
        rest = parts.apply("subtract", parts.slice_at(a, first, [2], keeps=True, size=size), known)
        return [parts.update_at(factor, _columns(parts, rest, first, loop), first, 2), a]

    values = parts.repeat(count, [parts.filled(kind, 0, a.dimensions), a], panel)
    return with_columns(parts.constant("s32", count), values, left, parts.loop())[0] if left else values[0]


def _columns(parts: Expansion, a: BuiltInstruction, first: BuiltInstruction, loop: Loop) -> BuiltInstruction:
    """Columns of the lower factor, of which `first` is the number of the first one in the matrix; `a` has the same columns,
    without what the columns before them explain.
    """
    kind, (batch, n, count) = a.element_type, a.dimensions

    def column(j: BuiltInstruction, values: list[BuiltInstruction]) -> list[BuiltInstruction]:
        factor, a, first = values
        own = parts.apply("add", first, j)
        known = product(parts, factor, 2, conjugate(parts, parts.slice_at(factor, own, [1])))
        rest = parts.apply("subtract", parts.slice_at(a, j, [2]), known)
        square = _real(parts, parts.slice_at(rest, own, [1]))
        zero, nan = (parts.filled(square.element_type, x, [batch]) for x in (0, math.nan))
        is_positive = parts.compare(square, zero, "GT")
        root = parts.apply("sqrt", parts.select(is_positive, square, nan))
        root = parts.broadcast(parts.convert(root, kind), [batch, n], [0])
        row, own = parts.index_along([batch, n], 1), parts.broadcast(own, [batch, n], ())
        below = parts.select(parts.compare(row, own, "GT"), parts.apply("divide", rest, root), _zero_like(parts, rest))
        entry = parts.select(parts.compare(row, own, "EQ"), root, below)
        return [parts.update_at(factor, entry, j, 2), a, first]

    zeros = parts.filled(kind, 0, a.dimensions)
    return parts.repeat(count, [zeros, a, first], column, loop)[0]


def solve_expansion(instruction: Instruction) -> Computation | None:
    """A computation equal to triangular-solve; None for matrices of more than MAX_ROWS, and of no elements."""
    parts = Expansion(instruction)
    a, b = (parts.operand(k) for k in range(2))
    if not 0 < a.dimensions[-1] <= MAX_ROWS or not instruction.shape.element_count:
        return None
    is_left, transpose = instruction.flag("left_side"), instruction.text("transpose_a")
    a, b = matrices(parts, a), matrices(parts, b)
    b = b if is_left else parts.transpose(b, [0, 2, 1])
    is_transposed = (transpose != "NO_TRANSPOSE") == is_left  # a's coefficient of unknown c in equation i is a[c, i]
    is_lower = instruction.flag("lower") != is_transposed
    a = conjugate(parts, a) if transpose == "ADJOINT" else a
    x = _substituted(parts, a, b, 2 if is_transposed else 1, is_lower, instruction.flag("unit_diagonal"))
    x = x if is_left else parts.transpose(x, [0, 2, 1])
    return parts.finish([parts.reshape(x, instruction.shape.dimensions)])


def _substituted(
    parts: Expansion, a: BuiltInstruction, b: BuiltInstruction, equation: int, is_lower: bool, is_unit: bool
) -> BuiltInstruction:
    """The solutions x of a x = b, where an index of dimension `equation` of a, 1 or 2, is that of an equation."""
    batch, n, columns = b.dimensions

    def unknown(k: BuiltInstruction, values: list[BuiltInstruction]) -> list[BuiltInstruction]:
        x, a, b = values
        i = k if is_lower else parts.apply("subtract", parts.constant("s32", n - 1), k)
        row, index = parts.slice_at(a, i, [equation]), parts.index_along([batch, n], 1)
        is_solved = parts.compare(index, i, "LT" if is_lower else "GT")
        coefficients = parts.select(is_solved, row, _zero_like(parts, row))
        known = product(parts, *(x, 1) if columns > 1 else (parts.reshape(x, [batch, 1, n]), 2), coefficients)
        rest = parts.apply("subtract", parts.slice_at(b, i, [1]), known)
        if not is_unit:
            diagonal = parts.slice_at(a, i, [1, 2])
            rest = parts.apply("divide", rest, parts.broadcast(diagonal, [batch, columns], [0]))
        return [parts.update_at(x, rest, i, 1), a, b]

    return parts.repeat(n, [_zero_like(parts, b), a, b], unknown)[0]


def adjoint(parts: Expansion, a: BuiltInstruction) -> BuiltInstruction:
    """The conjugated transposes of matrices."""
    return conjugate(parts, parts.transpose(a, [0, 2, 1]))


def magnitude(parts: Expansion, value: BuiltInstruction) -> BuiltInstruction:
    """|x| of each element; of complex ones |Re x| + |Im x|, by which LAPACK compares."""
    if value.element_type[0] != "c":
        return parts.apply("abs", value)
    real = _real(parts, value)
    imaginary = parts.add("imag", real.element_type, value.dimensions, [value])
    return parts.apply("add", parts.apply("abs", real), parts.apply("abs", imaginary))


def conjugate(parts: Expansion, value: BuiltInstruction) -> BuiltInstruction:
    """The conjugate of each element."""
    if value.element_type[0] != "c":
        return value
    real = _real(parts, value)
    imaginary = parts.apply("negate", parts.add("imag", real.element_type, value.dimensions, [value]))
    return parts.add("complex", value.element_type, value.dimensions, [real, imaginary])


def _real(parts: Expansion, value: BuiltInstruction) -> BuiltInstruction:
    kind = element_type(value.element_type).real
    return value if kind == value.element_type else parts.add("real", kind, value.dimensions, [value])


def matrices(parts: Expansion, value: BuiltInstruction) -> BuiltInstruction:
    """The matrices of all batch dimensions as one dimension, in the element type that is computed in."""
    *batch, m, n = value.dimensions
    return parts.convert(parts.reshape(value, [math.prod(batch), m, n]), computing_kind(value.element_type))


def product(
    parts: Expansion, matrices: BuiltInstruction, dimension: int, vectors: BuiltInstruction
) -> BuiltInstruction:
    """The sums over a dimension, 1 or 2, of the products of each matrix with its vector."""
    sizes = [matrices.dimensions[0], matrices.dimensions[3 - dimension]]
    return parts.add(
        "dot", matrices.element_type, sizes, [matrices, vectors],
        lhs_batch_dims=[0], rhs_batch_dims=[0], lhs_contracting_dims=[dimension], rhs_contracting_dims=[1],
    )  # fmt: skip


def _zero_like(parts: Expansion, value: BuiltInstruction) -> BuiltInstruction:
    return parts.filled(value.element_type, 0, value.dimensions)
