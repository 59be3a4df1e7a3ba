"""batch-norm-training, batch-norm-inference and batch-norm-grad: one feature dimension, statistics over all others."""

from __future__ import annotations

from collections.abc import Sequence

from indexing.hlo import BuiltInstruction, Computation, Instruction
from indexing.lazy import np
from indexing.ops.contraction import accumulator, to_element
from indexing.ops.expansion import Expansion, computing_kind
from indexing.ops.op import Op
from indexing.ops.operand_indexing import Indexing, OperandIndexing, identity, tensor_map, variables
from indexing.ops.operation_count import CountInside, OperationCount
from indexing.ops.values import Array, HloValue, only_array


def _feature(instruction: Instruction) -> int:
    return instruction.integer("feature_index")


def _sizes(instruction: Instruction) -> tuple[int, ...]:
    return tuple(instruction.operands[0].shape.dimensions)


def _all_of_feature(instruction: Instruction, sizes: Sequence[int]) -> OperandIndexing:
    """From an array of `sizes` (the operand's own, or the features) to all operand elements of the same feature."""
    f, full = _feature(instruction), _sizes(instruction)
    own = variables(len(sizes))[f if len(sizes) == len(full) and len(full) > 1 else 0]
    results = variables(len(full) - 1, len(sizes))
    results.insert(f, own)
    return OperandIndexing(tensor_map(results, sizes, [n for k, n in enumerate(full) if k != f]))


def _to_feature(instruction: Instruction, sizes: Sequence[int]) -> OperandIndexing:
    """From an array of `sizes` to the element of its feature."""
    if len(sizes) == 1 and len(_sizes(instruction)) > 1:
        return identity(sizes)
    return OperandIndexing(tensor_map([variables(len(sizes))[_feature(instruction)]], sizes))


def _between(instruction: Instruction, own: Sequence[int], other: Sequence[int], same_place: bool) -> OperandIndexing:
    """The map between two arrays, each of the full sizes or of one element per feature."""
    full = _sizes(instruction)
    if len(full) == 1:  # the feature is the whole index
        return identity(own)
    if len(other) == 1:
        return _to_feature(instruction, own)
    return identity(own) if same_place else _all_of_feature(instruction, own)


# The operands that each result reads: "place" (the element at the same index, or of the feature), "feature" (all of it).
_READS = {
    "batch-norm-training": (
        {0: "feature", 1: "place", 2: "place"},
        {0: "feature"},
        {0: "feature"},
    ),
    "batch-norm-inference": (dict.fromkeys(range(5), "place"),),
    "batch-norm-grad": (
        {0: "feature", 1: "place", 2: "place", 3: "place", 4: "feature"},
        {0: "feature", 2: "place", 3: "place", 4: "feature"},
        {4: "feature"},
    ),
}


def output_to_input(instruction: Instruction, output: int) -> Indexing:
    """out[.., f, ..] reads all of feature f if statistics are computed, and the parameters of f."""
    sizes = instruction.shape.leaves[output].dimensions
    reads = _READS[instruction.opcode][output]
    return [
        [_between(instruction, sizes, o.shape.dimensions, reads[k] == "place")] if k in reads else []
        for k, o in enumerate(instruction.operands)
    ]


# ---------------------------------------------------------------- references


def _wide(values: Sequence[HloValue]) -> list[Array]:
    arrays = [only_array(v) for v in values]
    return [a.astype(accumulator(a.dtype)) for a in arrays]


def _spread(instruction: Instruction, feature_values: Array) -> Array:
    return feature_values.reshape([-1 if k == _feature(instruction) else 1 for k in range(len(_sizes(instruction)))])


def _axes(instruction: Instruction) -> tuple[int, ...]:
    return tuple(k for k in range(len(_sizes(instruction))) if k != _feature(instruction))


def _epsilon(instruction: Instruction) -> float:
    return float(instruction.text("epsilon"))


def _count(instruction: Instruction) -> int:
    return int(np.prod([n for k, n in enumerate(_sizes(instruction)) if k != _feature(instruction)], dtype=np.int64))


def _normalized(instruction: Instruction, arrays: Sequence[Array]) -> Array:
    operand, scale, offset, mean, variance = arrays
    factor = _spread(instruction, scale / np.sqrt(variance + _epsilon(instruction)))
    return (operand - _spread(instruction, mean)) * factor + _spread(instruction, offset)


def inference_reference(instruction: Instruction, values: Sequence[HloValue]) -> HloValue:
    """(in - mean) / sqrt(variance + epsilon) * scale + offset."""
    with np.errstate(all="ignore"):
        return to_element(_normalized(instruction, _wide(values)), instruction.shape.dtype)


def training_reference(instruction: Instruction, values: Sequence[HloValue]) -> HloValue:
    """As inference, with the operand's own mean and (biased) variance, which are further results."""
    operand, scale, offset = _wide(values)
    axes, count = _axes(instruction), _count(instruction)
    with np.errstate(all="ignore"):
        mean = operand.sum(axis=axes) / np.float64(count)
        variance = np.square(operand - _spread(instruction, mean)).sum(axis=axes) / np.float64(count)
        results = (_normalized(instruction, (operand, scale, offset, mean, variance)), mean, variance)
    return tuple(to_element(r, s.dtype) for r, s in zip(results, instruction.shape.leaves, strict=True))


def grad_reference(instruction: Instruction, values: Sequence[HloValue]) -> HloValue:
    """The gradients of training's first result with respect to operand, scale and offset."""
    operand, scale, mean, variance, grad = _wide(values)
    axes, count = _axes(instruction), _count(instruction)
    with np.errstate(all="ignore"):
        inverse = 1 / np.sqrt(variance + _epsilon(instruction))
        centered = operand - _spread(instruction, mean)
        to_scale = (grad * centered).sum(axis=axes) * inverse
        to_offset = grad.sum(axis=axes)
        mixed = grad * count - _spread(instruction, to_offset)
        mixed = mixed - centered * _spread(instruction, to_scale * inverse)
        to_operand = _spread(instruction, scale * inverse / np.float64(count)) * mixed
    results = (to_operand, to_scale, to_offset)
    return tuple(to_element(r, s.dtype) for r, s in zip(results, instruction.shape.leaves, strict=True))


# ---------------------------------------------------------------- expansions, for kernels


class _Expansion(Expansion):
    """Builds the expansion of one op, in the element type that it computes in."""

    def __init__(self, instruction: Instruction) -> None:
        """Convert the operands to the computing type."""
        super().__init__(instruction)
        self.kind = computing_kind(instruction.operands[0].shape.element_type)
        self.sizes = _sizes(instruction)
        self.wide = [self.convert(p, self.kind) for p in self.parameters]

    def spread(self, feature_values: BuiltInstruction) -> BuiltInstruction:
        """The value of each feature, broadcast to all elements of the feature."""
        return self.broadcast(feature_values, self.sizes, (_feature(self.call),))

    def total(self, value: BuiltInstruction) -> BuiltInstruction:
        """The sum of each feature."""
        return self.reduce("add", value, _axes(self.call), 0.0)

    def mean(self, value: BuiltInstruction) -> BuiltInstruction:
        """The mean of each feature."""
        return self.apply("divide", self.total(value), self.constant(self.kind, _count(self.call)))

    def factor(self, variance: BuiltInstruction) -> BuiltInstruction:
        """1 / sqrt(variance + epsilon), correctly rounded where division and root are."""
        shifted = self.apply("add", variance, self.constant(self.kind, _epsilon(self.call)))
        return self.apply("divide", self.constant(self.kind, 1.0), self.apply("sqrt", shifted))

    def normalized(
        self, centered: BuiltInstruction, scale: BuiltInstruction, offset: BuiltInstruction, variance: BuiltInstruction
    ) -> BuiltInstruction:
        """centered * scale / sqrt(variance + epsilon) + offset."""
        factor = self.spread(self.apply("multiply", scale, self.factor(variance)))
        return self.apply("add", self.apply("multiply", centered, factor), self.spread(offset))


def inference_expansion(instruction: Instruction) -> Computation:
    """batch-norm-inference as elementwise ops."""
    body = _Expansion(instruction)
    operand, scale, offset, mean, variance = body.wide
    centered = body.apply("subtract", operand, body.spread(mean))
    return body.finish([body.normalized(centered, scale, offset, variance)])


def training_expansion(instruction: Instruction) -> Computation:
    """batch-norm-training as two reductions and elementwise ops; the variance is of the centered operand."""
    body = _Expansion(instruction)
    operand, scale, offset = body.wide
    mean = body.mean(operand)
    centered = body.apply("subtract", operand, body.spread(mean))
    variance = body.mean(body.apply("multiply", centered, centered))
    return body.finish([body.normalized(centered, scale, offset, variance), mean, variance])


def grad_expansion(instruction: Instruction) -> Computation:
    """batch-norm-grad as two reductions and elementwise ops."""
    body = _Expansion(instruction)
    operand, scale, mean, variance, grad = body.wide
    inverse = body.factor(variance)
    centered = body.apply("subtract", operand, body.spread(mean))
    to_scale = body.apply("multiply", body.total(body.apply("multiply", grad, centered)), inverse)
    to_offset = body.total(grad)
    count = body.constant(body.kind, _count(instruction))
    mixed = body.apply("subtract", body.apply("multiply", grad, count), body.spread(to_offset))
    along = body.spread(body.apply("multiply", to_scale, inverse))
    mixed = body.apply("subtract", mixed, body.apply("multiply", centered, along))
    factor = body.apply("divide", body.apply("multiply", scale, inverse), count)
    return body.finish([body.apply("multiply", body.spread(factor), mixed), to_scale, to_offset])


def _operations(instruction: Instruction, inside: CountInside) -> OperationCount:
    """Those of the expansion; XLA's analysis counts none."""
    expansions = {"training": training_expansion, "inference": inference_expansion, "grad": grad_expansion}
    return inside(expansions[instruction.opcode.removeprefix("batch-norm-")](instruction))


OPS = (
    Op(
        "batch-norm-training",
        "out[n, f] = (in[n, f] - mean[f]) / sqrt(var[f] + epsilon) * scale[f] + offset[f]; mean and var over n",
        output_to_input,
        training_reference,
        expansion=training_expansion,
        operations=_operations,
    ),
    Op(
        "batch-norm-inference",
        "out[n, f] = (in[n, f] - mean[f]) / sqrt(var[f] + epsilon) * scale[f] + offset[f]",
        output_to_input,
        inference_reference,
        expansion=inference_expansion,
        operations=_operations,
    ),
    Op(
        "batch-norm-grad",
        "the gradients of batch-norm-training: of in[n, f] from in[:, f] and grad[:, f]; of scale[f] and offset[f]",
        output_to_input,
        grad_reference,
        expansion=grad_expansion,
        operations=_operations,
    ),
)
