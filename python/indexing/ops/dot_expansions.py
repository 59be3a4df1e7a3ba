"""Expansions of dots: for operands whose memory layout a dot kernel doesn't read well, which have batch dimensions first, then
free ones, and contracting ones last; and for complex ones, by one product of real matrices.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from indexing.hlo import BuiltInstruction, Computation, Instruction
from indexing.ops.element_types import element_type
from indexing.ops.expansion import Expansion

SIDES = "lhs", "rhs"


def transposed_dot(dot: Instruction, k: int, is_along: bool) -> Computation:
    """The dot with operand `k` transposed: behind the batch dimensions, the contracting ones are the last ones if it `is_along`
    the sums, else the free ones.
    """
    parts = Expansion(dot)
    batch, free, contracted = _dimensions_by_role(dot, k)
    operands: list[BuiltInstruction] = list(parts.parameters)
    operands[k] = parts.transpose(operands[k], (*batch, *((*free, *contracted) if is_along else (*contracted, *free))))
    first, names = len(batch) + (len(free) if is_along else 0), ("batch_dims", "contracting_dims")
    roles = {f"{side}_{name}": tuple(dot.ints(f"{side}_{name}")) for side in SIDES for name in names}
    roles[f"{SIDES[k]}_batch_dims"] = tuple(range(len(batch)))
    roles[f"{SIDES[k]}_contracting_dims"] = tuple(range(first, first + len(contracted)))
    return parts.finish([parts.add("dot", dot.shape.element_type, dot.shape.dimensions, operands, **roles)])


def reduced_dot(dot: Instruction) -> Computation:
    """An elementwise product and a reduction, of operands whose contracting dimensions are made the last ones; floats below
    f32 are multiplied and added in f32.
    """
    parts = Expansion(dot)
    left, right = (parts.transpose(o, order_by_role(dot, k)) for k, o in enumerate(parts.parameters))
    batch, contracted, rows = _counts(dot)
    wide = element_type(dot.shape.element_type).compute_type
    space = (*dot.shape.dimensions, *left.dimensions[len(left.dimensions) - contracted :])
    free = len(dot.shape.dimensions)
    last = range(free, len(space))
    places = ((*range(batch + rows), *last), (*range(batch), *range(batch + rows, free), *last))
    spread = [parts.broadcast(o, space, place) for o, place in zip((left, right), places, strict=True)]
    products = parts.apply("multiply", *(parts.convert(factor, wide) for factor in spread))
    return parts.finish([parts.convert(parts.reduce("add", products, last, 0), dot.shape.element_type)])


def real_dot(dot: Instruction) -> Computation:
    """A complex dot as one of twice the contracting and twice the free elements of its right operand: the parts of the result
    are (Re A, Im A) times the columns (Re B, -Im B) and (Im B, Re B).
    """
    parts = Expansion(dot)
    left, right = (_by_role(parts, dot, k) for k in range(2))
    (batch, rows, _), columns = left.dimensions, right.dimensions[2]
    a, b = (_parts_of(parts, o) for o in (left, right))
    kind = a[0].element_type
    across = [_joined(parts, pair, 2) for pair in (b, (parts.apply("negate", b[1]), b[0]))]
    product = parts.add(
        "dot", kind, [batch, rows, 2 * columns], [_joined(parts, a, 2), _joined(parts, across, 1)],
        lhs_batch_dims=[0], rhs_batch_dims=[0], lhs_contracting_dims=[2], rhs_contracting_dims=[1],
    )  # fmt: skip
    sizes = batch, rows, columns
    real, imaginary = parts.first(product, sizes), parts.last(product, sizes)
    result = parts.add("complex", dot.shape.element_type, sizes, [real, imaginary])
    return parts.finish([parts.reshape(result, dot.shape.dimensions)])


def _by_role(parts: Expansion, dot: Instruction, k: int) -> BuiltInstruction:
    """An operand with one dimension for each role: batch and rows and contracted, or batch and contracted and columns."""
    operand = parts.parameters[k]
    batch, free, contracted = _dimensions_by_role(dot, k)
    roles = (batch, free, contracted) if k == 0 else (batch, contracted, free)
    ordered = parts.transpose(operand, [d for role in roles for d in role])
    return parts.reshape(ordered, [prod(operand.dimensions[d] for d in role) for role in roles])


def _parts_of(parts: Expansion, value: BuiltInstruction) -> tuple[BuiltInstruction, BuiltInstruction]:
    kind = element_type(value.element_type).real
    real, imaginary = (parts.add(opcode, kind, value.dimensions, [value]) for opcode in ("real", "imag"))
    return real, imaginary


def _joined(parts: Expansion, values: Sequence[BuiltInstruction], dimension: int) -> BuiltInstruction:
    sizes = list(values[0].dimensions)
    sizes[dimension] *= len(values)
    return parts.add("concatenate", values[0].element_type, sizes, list(values), dimensions=[dimension])


def _counts(dot: Instruction) -> tuple[int, int, int]:
    """The numbers of the left operand's batch, contracting and free dimensions."""
    batch, contracted = len(dot.ints("lhs_batch_dims")), len(dot.ints("lhs_contracting_dims"))
    return batch, contracted, dot.operands[0].shape.rank - batch - contracted


def order_by_role(dot: Instruction, k: int) -> tuple[int, ...]:
    """The dimensions of an operand: those of the batch, the free and the contracting ones."""
    return tuple(d for role in _dimensions_by_role(dot, k) for d in role)


def _dimensions_by_role(dot: Instruction, k: int) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]:
    side = SIDES[k]
    batch, contracted = dot.ints(f"{side}_batch_dims"), dot.ints(f"{side}_contracting_dims")
    free = tuple(d for d in range(dot.operands[k].shape.rank) if d not in (*batch, *contracted))
    return batch, free, contracted
