"""batch-norm-training, batch-norm-inference and batch-norm-grad: one feature dimension, statistics over all others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from indexing.lazy import np
from indexing.ops.contraction import accumulator, to_element
from indexing.ops.op import (
    Array,
    HloValue,
    Indexing,
    Op,
    OperandIndexing,
    identity,
    leaves,
    only_array,
    tensor_map,
    variables,
)

if TYPE_CHECKING:
    from indexing.hlo import Instruction


def _feature(instruction: Instruction) -> int:
    return instruction.integer("feature_index", 0)


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
    """The map between arrays of the full sizes and of one element a feature, whichever each is."""
    full = _sizes(instruction)
    if len(full) == 1:  # the feature is the whole index
        return identity(own)
    if len(other) == 1:
        return _to_feature(instruction, own)
    return identity(own) if same_place else _all_of_feature(instruction, own)


# Which operands each result reads: "place" (the element of the same index, or of the feature), "feature" (all of it).
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
    """out[.., f, ..] reads all of feature f where statistics are taken, and the parameters of f."""
    sizes = leaves(instruction.shape)[output].dimensions
    reads = _READS[instruction.opcode][output]
    return [
        [_between(instruction, sizes, o.shape.dimensions, reads[k] == "place")] if k in reads else []
        for k, o in enumerate(instruction.operands)
    ]


def input_to_output(instruction: Instruction, operand: int) -> Indexing:
    """in[.., f, ..] reaches all of feature f of each result that takes statistics; a parameter of f the same."""
    own = instruction.operands[operand].shape.dimensions
    found: Indexing = []
    for reads, leaf in zip(_READS[instruction.opcode], leaves(instruction.shape), strict=True):
        same_place = reads.get(operand) == "place" and len(own) == len(_sizes(instruction)) and len(own) > 1
        found.append([_between(instruction, own, leaf.dimensions, same_place)] if operand in reads else [])
    return found


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
    """The same with the operand's own mean and (biased) variance, which are results too."""
    operand, scale, offset = _wide(values)
    axes, count = _axes(instruction), _count(instruction)
    with np.errstate(all="ignore"):
        mean = operand.sum(axis=axes) / np.float64(count)
        variance = np.square(operand - _spread(instruction, mean)).sum(axis=axes) / np.float64(count)
        results = (_normalized(instruction, (operand, scale, offset, mean, variance)), mean, variance)
    return tuple(to_element(r, s.dtype) for r, s in zip(results, leaves(instruction.shape), strict=True))


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
    return tuple(to_element(r, s.dtype) for r, s in zip(results, leaves(instruction.shape), strict=True))


OPS = (
    Op(
        "batch-norm-training",
        "out[n, f] = (in[n, f] - mean[f]) / sqrt(var[f] + epsilon) * scale[f] + offset[f]; mean and var over n",
        output_to_input,
        training_reference,
        input_to_output,
    ),
    Op(
        "batch-norm-inference",
        "out[n, f] = (in[n, f] - mean[f]) / sqrt(var[f] + epsilon) * scale[f] + offset[f]",
        output_to_input,
        inference_reference,
        input_to_output,
    ),
    Op(
        "batch-norm-grad",
        "the gradients of batch-norm-training: of in[n, f] from in[:, f] and grad[:, f]; of scale[f] and offset[f]",
        output_to_input,
        grad_reference,
        input_to_output,
    ),
)
