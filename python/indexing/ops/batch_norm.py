"""batch-norm-training, batch-norm-inference and batch-norm-grad: one feature dimension, statistics over all others.

They are what their expansions into reductions and elementwise ops are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod

from indexing.hlo import BuiltInstruction, Computation, Instruction
from indexing.ops.expansion import Expansion, computing_kind
from indexing.ops.op import ComputationMaps, Interpreter, Op, RunsComputations, ThroughComputations
from indexing.ops.operand_indexing import Indexing
from indexing.ops.operation_count import CountInside, OperationCount
from indexing.ops.values import HloValue


def _feature(instruction: Instruction) -> int:
    return instruction.integer("feature_index")


def _sizes(instruction: Instruction) -> tuple[int, ...]:
    return tuple(instruction.operands[0].shape.dimensions)


def _axes(instruction: Instruction) -> tuple[int, ...]:
    return tuple(k for k in range(len(_sizes(instruction))) if k != _feature(instruction))


def _epsilon(instruction: Instruction) -> float:
    return float(instruction.text("epsilon"))


def _count(instruction: Instruction) -> int:
    return prod(n for k, n in enumerate(_sizes(instruction)) if k != _feature(instruction))


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


def _op(opcode: str, formula: str, expansion: Callable[[Instruction], Computation]) -> Op:
    """The op that is what its expansion is; XLA's analysis counts no operations of it."""

    def output_to_input(instruction: Instruction, output: int, maps: ComputationMaps) -> Indexing:
        return maps.output_to_input(expansion(instruction), output, instruction.operands)

    def reference(instruction: Instruction, operands: Sequence[HloValue], interpreter: Interpreter) -> HloValue:
        return interpreter.run(expansion(instruction), operands)

    def operations(instruction: Instruction, inside: CountInside) -> OperationCount:
        return inside(expansion(instruction))

    run = RunsComputations(reference)
    return Op(opcode, formula, ThroughComputations(output_to_input), run, expansion=expansion, operations=operations)


_FORMULA = "out[n, f] = (in[n, f] - mean[f]) / sqrt(var[f] + epsilon) * scale[f] + offset[f]"
_GRADIENTS = "the gradients of batch-norm-training: of in[n, f] from in[:, f] and grad[:, f]; of scale[f] and offset[f]"
OPS = (
    _op("batch-norm-training", f"{_FORMULA}; mean and var over n", training_expansion),
    _op("batch-norm-inference", _FORMULA, inference_expansion),
    _op("batch-norm-grad", _GRADIENTS, grad_expansion),
)
