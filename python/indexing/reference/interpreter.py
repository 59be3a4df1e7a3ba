"""The interpreter of computations, for references of ops: runs a computation, or applies a scalar one to arrays."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from indexing.arguments import check_number, of_type, takes
from indexing.errors import IndexingError, UnsupportedOp
from indexing.hlo import Computation, Instruction, Shape
from indexing.lazy import np
from indexing.ops.bounded import refusal_of_bounds, sizes_fit
from indexing.ops.registry import op_of, traits_of
from indexing.ops.values import HloValue, broadcast_sizes
from indexing.walks import reached

_PASSES_THROUGH = ("fused", "inlined", "applies")  # an op that calls so equals, for scalars, what it calls


class _Interpreter:
    """The `Interpreter` that is passed to references which run computations."""

    def run(self, computation: Computation, arguments: Sequence[HloValue]) -> HloValue:
        return run_computation(computation, arguments)

    def apply(self, computation: Computation, *arrays: HloValue) -> HloValue:
        return apply(computation, *arrays)


INTERPRETER = _Interpreter()


@takes(computation=of_type(Computation), arguments=of_type(tuple, list))
def run_computation(computation: Computation, arguments: Sequence[HloValue]) -> HloValue:
    """The value of the root, given one value for each parameter; values are freed after their last use.

    Instructions that the root doesn't depend on are not computed. Raises IndexingError for another number of values.
    """
    check_arguments(computation, arguments)
    order = _needed(computation)
    uses = _count_uses(order)
    values: dict[Instruction, HloValue] = {}
    for instruction in order:
        values[instruction] = _value(instruction, [values[o] for o in instruction.operands], arguments)
        for operand in instruction.operands:
            uses[operand] -= 1
            if not uses[operand] and not operand.is_root:
                values.pop(operand, None)
    return values[computation.root]


@takes(instruction=of_type(Instruction), operands=of_type(tuple, list), arguments=of_type(tuple, list))
def evaluate_instruction(
    instruction: Instruction, operands: Sequence[HloValue], arguments: Sequence[HloValue] = ()
) -> HloValue:
    """The value of one instruction, checked against its shape; `arguments` are those of its computation.

    Raises IndexingError for another number of operands than it has, or where it is a parameter without an argument.
    """
    count = len(instruction.operands)
    if len(operands) != count:
        raise IndexingError(f"{instruction.name} has {count} operands, not {len(operands)}")
    if instruction.is_parameter:
        check_number(instruction.parameter_number, len(arguments), f"{instruction.name}: there are", "arguments")
    return _value(instruction, operands, arguments)


def _value(instruction: Instruction, operands: Sequence[HloValue], arguments: Sequence[HloValue]) -> HloValue:
    if instruction.is_parameter:
        return arguments[instruction.parameter_number]
    op = op_of(instruction)
    check_rank(instruction.shape, instruction.name)
    refusal = refusal_of_bounds(instruction, op.bounded)
    if refusal:
        raise UnsupportedOp(refusal)
    return conform(op.evaluate(instruction, operands, INTERPRETER), instruction.shape, instruction)


def check_rank(shape: Shape, name: str) -> None:
    """Raise UnsupportedOp for an array of more dimensions than numpy supports."""
    limit = 32 if np.__version__.startswith("1.") else 64
    for part in shape.leaves:
        if part.rank > limit:
            raise UnsupportedOp(
                f"{name} has {part.rank} dimensions; arrays of numpy {np.__version__} have at most {limit}"
            )


def check_has_value(instruction: Instruction) -> None:
    """Raise UnsupportedOp if the instruction, or one that it calls, has no value here, whatever its operands are."""
    for i in reached([instruction], lambda caller: (inner for c in caller.called for inner in _needed(c))):
        op = op_of(i)
        refusal = refusal_of_bounds(i, op.bounded)
        refusal = op.refusal(i) if op.refusal else refusal
        if op.reference is None:
            refusal = f"{i.name}: {i.opcode} has no value that can be computed here"
        if refusal:
            raise UnsupportedOp(refusal)


@takes(computation=of_type(Computation))
def apply(computation: Computation, *arrays: HloValue) -> HloValue:
    """The result of a scalar computation applied elementwise to arrays, which are broadcast.

    The result has the broadcast shape; it is a tuple of such arrays if the root is a tuple. Elementwise computations run on
    whole arrays; others run once for each element. Raises IndexingError for another number of arrays than it has parameters.
    """
    check_arguments(computation, arrays)
    if _is_elementwise(computation):
        return _apply_whole(computation, [np.asarray(a) for a in arrays])
    return _apply_each(computation, [np.asarray(a) for a in arrays])


def conform(value: HloValue, shape: Shape, instruction: Instruction) -> HloValue:
    """The value as arrays of the shape's type; raises IndexingError if a reference computed another shape.

    A tuple may hold the one result of an instruction that gives one for each operand.
    """
    if shape.is_tuple:
        if len(shape.elements) == 1 and not isinstance(value, tuple):
            value = (value,)
        if not isinstance(value, tuple) or len(value) != len(shape.elements):
            raise IndexingError(
                f"{instruction.name}: {instruction.opcode} gave no tuple of {len(shape.elements)} values"
            )
        return tuple(conform(v, s, instruction) for v, s in zip(value, shape.elements, strict=True))
    if shape.element_type in ("token", "opaque"):
        return None
    array = np.asarray(value)
    if not sizes_fit(array.shape, shape):
        bounded = any(o.shape.is_bounded for o in instruction.operands)
        remedy = "; as its operands have bounds, write its sizes as bounds too: <=8" if bounded else ""
        raise IndexingError(f"{instruction.name}: {instruction.opcode} gave shape {array.shape}, not {shape}{remedy}")
    return array if array.dtype == shape.dtype else array.astype(shape.dtype)


def check_arguments(computation: Computation, arguments: Sequence[HloValue]) -> None:
    """Raise IndexingError unless there is one argument for each parameter."""
    parameters = computation.parameters
    if len(arguments) != len(parameters):
        raise IndexingError(f"computation {computation.name} takes {len(parameters)} arguments, not {len(arguments)}")


def _needed(computation: Computation) -> Sequence[Instruction]:
    order = computation.post_order()  # operands come before users
    return order[: order.index(computation.root) + 1]


def _count_uses(order: Sequence[Instruction]) -> dict[Instruction, int]:
    uses = dict.fromkeys(order, 0)
    for instruction in order:
        for operand in instruction.operands:
            uses[operand] += 1
    return uses


def _is_elementwise(computation: Computation) -> bool:
    """Whether every instruction is elementwise on scalars, so that it can run on whole arrays instead."""

    def passed_through(c: Computation) -> Iterator[Computation]:
        return (called for i in c.instructions.values() if traits_of(i).calls in _PASSES_THROUGH for called in i.called)

    def is_of_scalars(i: Instruction) -> bool:
        op = traits_of(i)
        computes = op.is_elementwise or op.has_no_compute or op.calls in _PASSES_THROUGH
        return computes and not any(part.dimensions for part in i.shape.leaves)

    return all(all(map(is_of_scalars, c.instructions.values())) for c in reached([computation], passed_through))


def _apply_whole(computation: Computation, arrays: Sequence[np.ndarray]) -> HloValue:
    sizes = broadcast_sizes(*(a.shape for a in arrays))
    values: dict[Instruction, HloValue] = {}
    for i in _needed(computation):
        operands = [values[o] for o in i.operands]
        if i.is_parameter:
            values[i] = arrays[i.parameter_number]
        elif op_of(i).kind == "moves":
            values[i] = _reread(operands[0], i.shape)
        elif op_of(i).calls in _PASSES_THROUGH:
            values[i] = _apply_whole(i.called[0], [np.asarray(o) for o in operands])
        else:
            values[i] = _typed(op_of(i).evaluate(i, operands, INTERPRETER), i.shape)
    return _spread(values[computation.root], sizes)


def _reread(value: HloValue, shape: Shape) -> HloValue:
    """The value's bits as the type of `shape`, which a bitcast may have changed."""
    array = np.asarray(value)
    return array if array.dtype == shape.dtype else array.view(shape.dtype)


def _typed(value: HloValue, shape: Shape) -> HloValue:
    if isinstance(value, tuple) or value is None:
        return value
    return np.asarray(value).astype(shape.dtype, copy=False)


def _spread(value: HloValue, sizes: tuple[int, ...]) -> HloValue:
    if isinstance(value, tuple):
        return tuple(_spread(part, sizes) for part in value)
    return np.broadcast_to(np.asarray(value), sizes)


def _apply_each(computation: Computation, arrays: Sequence[np.ndarray]) -> HloValue:
    sizes = broadcast_sizes(*(a.shape for a in arrays))
    spread = [np.broadcast_to(a, sizes) for a in arrays]
    shapes = computation.root.shape.leaves
    out = [np.empty(sizes, dtype=s.dtype) for s in shapes]
    for at in np.ndindex(*sizes):
        value = run_computation(computation, [np.asarray(a[at]) for a in spread])
        for into, part in zip(out, value if isinstance(value, tuple) else (value,), strict=True):
            into[at] = np.asarray(part)
    return tuple(out) if computation.root.shape.is_tuple else out[0]
