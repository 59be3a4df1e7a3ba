"""scan: a fold along a dimension that yields a result at each step, and the last states.

Operands are inputs, then initial states; results are outputs, then final states; the computation takes and gives slices
(or, where its parameters are scalars, single elements) in the same order.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from indexing._core import SymbolicExpr, variable
from indexing.hlo import Computation, Instruction
from indexing.lazy import np
from indexing.ops.dependence import UNUSED_REASON, FoldDependence, fold_dependence
from indexing.ops.op import Interpreter, Op, RunsComputations
from indexing.ops.operand_indexing import Constraint, Exactness, Indexing, OperandIndexing, tensor_map, variables
from indexing.ops.operation_count import CountInside, OperationCount, called_once
from indexing.ops.reducer import apply
from indexing.ops.values import Array, HloValue, only_array

_SLICES = "the computation takes whole slices: each element of one is said to read all of the others"


@dataclass(frozen=True, slots=True)
class _Scan:
    computation: Computation
    dimension: int
    inputs: int
    operand_sizes: tuple[tuple[int, ...], ...]
    result_sizes: tuple[tuple[int, ...], ...]
    backward: bool

    @property
    def states(self) -> int:
        return len(self.operand_sizes) - self.inputs

    @property
    def outputs(self) -> int:
        return len(self.result_sizes) - self.states

    @property
    def length(self) -> int:
        return self.operand_sizes[0][self.dimension] if self.inputs else self.result_sizes[0][self.dimension]

    @property
    def takes_elements(self) -> bool:
        return not any(p.shape.dimensions for p in self.computation.parameters)

    def dependence(self) -> FoldDependence:
        return fold_dependence(self.computation, self.states, self.inputs, elements_first=True)


def _read(instruction: Instruction) -> _Scan:
    states = instruction.integer("num_carries", 0)
    return _Scan(
        instruction.called[0],
        (instruction.ints("dimensions") or (0,))[0],
        len(instruction.operands) - states,
        tuple(tuple(o.shape.dimensions) for o in instruction.operands),
        tuple(tuple(leaf.dimensions) for leaf in instruction.shape.leaves),
        instruction.flag("is_reverse"),
    )


# ---------------------------------------------------------------- maps


def output_to_input(instruction: Instruction, output: int) -> Indexing:
    """out[b, i] reads in[b, :i+1] if the state depends on it, else in[b, i]; a final state reads the whole row."""
    s = _read(instruction)
    return [[_read_of(s, output, operand)] for operand in range(len(s.operand_sizes))]


def _read_of(s: _Scan, output: int, operand: int) -> OperandIndexing:
    """The map from a result to an operand: both have batch dimensions, one or both have steps."""
    own, other = s.result_sizes[output], s.operand_sizes[operand]
    own_step, other_step = output < s.outputs, operand < s.inputs
    earlier, same, exact = _steps(s, output, operand)
    d = variables(len(own))
    batch = [e for k, e in enumerate(d) if not (own_step and k == s.dimension)]
    ranges: list[int] = []
    if not s.takes_elements:
        ranges = [n for k, n in enumerate(other) if not (other_step and k == s.dimension)]
        batch = variables(len(ranges), len(own))
    results, constraints = list(batch), list[Constraint]()
    if other_step:
        step = variable(len(own) + len(ranges))
        if own_step and not earlier:
            step = d[s.dimension]
        else:
            ranges.append(s.length)
            constraints = _order(s, step, d[s.dimension], same) if own_step else []
        results.insert(s.dimension, step)
    exactness: Exactness = "exact" if exact and s.takes_elements else "over-approximate"
    reason = "" if exactness == "exact" else _SLICES if exact else UNUSED_REASON
    pieces = None if exact else ()
    m = tensor_map(results, own, ranges, constraints=constraints)
    return OperandIndexing(m, (), exactness, reason, pieces=pieces)


def _steps(s: _Scan, output: int, operand: int) -> tuple[bool, bool, bool]:
    """Whether the output reads the operand at earlier steps, at its own step, and at all."""
    dependence = s.dependence()
    direct, closed = dependence.direct[output], dependence.closed[output]
    if operand >= s.inputs:
        number = operand - s.inputs
        unchanged = not s.length and output - s.outputs == number
        return True, True, number in closed or unchanged
    number = s.states + operand
    earlier = any(number in dependence.closed[s.outputs + k] for k in direct if k < s.states)
    return earlier, number in direct, number in closed


def _order(s: _Scan, read: SymbolicExpr, written: SymbolicExpr, same: bool) -> list[Constraint]:
    distance = read - written if s.backward else written - read
    return [(distance, (0 if same else 1, s.length - 1))]


# ---------------------------------------------------------------- reference


def reference(instruction: Instruction, values: Sequence[HloValue], interpreter: Interpreter) -> HloValue:
    """Run step by step, from the first slice on, or from the last one if `is_reverse`."""
    s = _read(instruction)
    arrays = [only_array(v) for v in values]
    slices = [np.moveaxis(a, s.dimension, 0) for a in arrays[: s.inputs]]
    states = tuple(arrays[s.inputs :])
    shapes = instruction.shape.leaves
    outputs = [np.zeros((s.length, *_slice_sizes(s, k)), shapes[k].dtype) for k in range(s.outputs)]
    steps = range(s.length)
    for i in reversed(steps) if s.backward else steps:
        results = _step(s, [a[i] for a in slices], states, interpreter)
        for into, result in zip(outputs, results[: s.outputs], strict=True):
            into[i] = result
        states = results[s.outputs :]
    folded = (*(np.moveaxis(o, 0, s.dimension) for o in outputs), *states)
    return folded if instruction.shape.is_tuple else folded[0]


def _slice_sizes(s: _Scan, output: int) -> tuple[int, ...]:
    return tuple(n for k, n in enumerate(s.result_sizes[output]) if k != s.dimension)


def _step(s: _Scan, inputs: list[Array], states: tuple[Array, ...], interpreter: Interpreter) -> tuple[Array, ...]:
    if s.takes_elements:
        return apply(s.computation, [*inputs, *states], interpreter)
    result = interpreter.run(s.computation, [*inputs, *states])
    return tuple(only_array(r) for r in result) if isinstance(result, tuple) else (only_array(result),)


def _operations(instruction: Instruction, inside: CountInside) -> OperationCount:
    """The computation once for each step, and for each element of one if it takes elements."""
    s = _read(instruction)
    elements = math.prod(_slice_sizes(s, 0)) if s.takes_elements and s.outputs else 1
    return called_once(instruction, inside).repeated(s.length * elements)


OPS = (
    Op(
        "scan",
        "out[b, i], state = step(in[b, i], state), for i in order; then the last state",
        output_to_input,
        RunsComputations(reference),
        exactness="exact for computations that use all; else a bound",
        calls="combines",
        operations=_operations,
    ),
)
