"""Bounded dimensions, `f32[<=8]`: the number of elements in use is known at run time only.

A value of such a shape is an array of the elements in use. Ops whose references take sizes from their operands state so
(`Op.bounded`); every other op refuses, and so do kernels. Maps are unknown: elements beyond those in use are never read,
and sizes depend on operands whose elements are not.
"""

from __future__ import annotations

from collections.abc import Sequence

from indexing.errors import IndexingError, UnsupportedOp
from indexing.hlo import Computation, Instruction, Shape
from indexing.ops.values import Array
from indexing.walks import reached


def bounded_value(instruction: Instruction) -> Instruction | None:
    """The first of the instruction and its operands that has a bounded dimension; None if none has."""
    return next((i for i in (instruction, *instruction.operands) if i.shape.is_bounded), None)


def refusal_of_bounds(instruction: Instruction, supported: bool) -> str | None:
    """The reason why an instruction has no value: bounded dimensions that its op's reference doesn't take; None if it has."""
    if supported or (bounded := bounded_value(instruction)) is None:
        return None
    what = f"{bounded.name} is {bounded.shape}"
    what = f"{instruction.name}: {instruction.opcode} has no reference for bounded dimensions ({what})"
    return f"{what}; pad to the bound and mask, or compute it before set-dimension-size"


def check_kernel_sizes(computation: Computation) -> None:
    """Raise UnsupportedOp for the first instruction with a bounded dimension, in called computations as well."""
    for current in reached([computation], lambda c: c.called):
        for instruction in current.instructions.values():
            if instruction.shape.is_bounded:
                raise UnsupportedOp(
                    f"{instruction.name} is {instruction.shape}: no kernel computes on bounded dimensions; run the "
                    "program by ix.evaluate, or pad to the bound and mask"
                )


def check_has_size(instruction: Instruction) -> None:
    """Raise UnsupportedOp if a dimension has neither a size nor a bound, `f32[?]`."""
    if instruction.shape.is_bounded and any(-1 in leaf.dimensions for leaf in instruction.shape.leaves):
        raise UnsupportedOp(f"{instruction.name} is {instruction.shape}: give each dimension a size or a bound")


def sizes_fit(sizes: Sequence[int], shape: Shape) -> bool:
    """Whether an array of `sizes` is a value of the shape: no more elements than a bounded dimension may have."""
    if not shape.is_bounded:
        return tuple(sizes) == shape.dimensions
    return len(sizes) == shape.rank and all(
        n == size or (dynamic and (size < 0 or n <= size))
        for n, size, dynamic in zip(sizes, shape.dimensions, shape.dynamic_dimensions, strict=True)
    )


def check_same_sizes(instruction: Instruction, arrays: Sequence[Array]) -> None:
    """Raise IndexingError if operands of equal shapes (scalars aside) have different numbers of elements in use."""
    sizes = {a.shape for a in arrays if a.ndim}
    if instruction.shape.is_bounded and len(sizes) > 1:
        in_use = " and ".join(map(str, sorted(sizes)))
        raise IndexingError(
            f"{instruction.name}: operands of {instruction.opcode} have different sizes: {in_use} in use"
        )
