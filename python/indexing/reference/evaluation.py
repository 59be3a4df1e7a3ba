"""The numpy reference of HLO: the oracle that maps and kernels are held against.

Values are numpy arrays (ml_dtypes where numpy has no type), tuples of them, and None for tokens. The code is meant to be
read next to HLO's operation semantics, not to be fast.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from indexing.arguments import each, takes
from indexing.errors import UnsupportedOp
from indexing.hlo import Computation, Instruction
from indexing.hlo.front_ends import from_jax, leaves, with_arrays
from indexing.hlo.program_like import WholeProgram, is_function, is_staged, whole_program
from indexing.lazy import np
from indexing.ops.registry import op_of
from indexing.ops.values import HloValue, leaves_of, only_array
from indexing.reference.interpreter import INTERPRETER, conform, evaluate_instruction, run_computation
from indexing.reference.program_arguments import entry_arguments


def evaluate(program: WholeProgram | Callable[..., object], *arrays: HloValue, **keywords: object) -> HloValue:
    """The result of the entry of a module, of HLO text, or of a JAX function's program, for the given arguments.

    A function takes keyword arguments too, and values that JAX holds static; an array is returned for each leaf of its result.

    There is one argument for each parameter: an array, a number or a sequence of numbers of its shape, converted to its
    element type. Integers must be representable in the type; floats are rounded, but no finite number becomes infinite.
    Tuples are Python tuples; a nested tuple is returned as one flat tuple of arrays, as by XLA's executables.
    Floating-point exceptions are silent, as in HLO. Raises IndexingError for arguments that don't fit, UnsupportedOp for an
    instruction without a value (infeed, an unknown custom-call).
    """
    if is_function(program) and not is_staged(program):
        program, arrays, keywords = *with_arrays(program, arrays, keywords), {}
    if keywords:
        raise TypeError("evaluate: a program takes no keyword arguments; only a function does")
    if is_function(program):
        program, arrays = from_jax(program), leaves(arrays)
    module = whole_program(program, "evaluate: program")
    arguments = entry_arguments(module, arrays)
    with np.errstate(all="ignore"):
        result = run_computation(module.entry, arguments)
    return tuple(leaves_of(result)) if isinstance(result, tuple) else result


@takes(arguments=each(tuple, list))
def evaluate_replicas(program: WholeProgram, arguments: Sequence[Sequence[HloValue]]) -> list[HloValue]:
    """The results of a program run by several replicas in lockstep, given a list of arguments for each replica.

    Collectives exchange data among them, without replica groups among all; partition id and replica id are both the position
    in the list.
    """
    module = whole_program(program, "evaluate_replicas: program")
    with np.errstate(all="ignore"):
        return run_on_replicas(module.entry, [entry_arguments(module, a) for a in arguments])


# ---------------------------------------------------------------- several replicas in lockstep


def run_on_replicas(computation: Computation, arguments: Sequence[Sequence[HloValue]]) -> list[HloValue]:
    """The root's value on each replica, given each replica's arguments."""
    values: dict[Instruction, list[HloValue]] = {}
    for i in computation.post_order():
        operands = [[values[o][r] for o in i.operands] for r in range(len(arguments))]
        values[i] = _step(i, operands, arguments)
    return values[computation.root]


def _step(i: Instruction, operands: list[list[HloValue]], arguments: Sequence[Sequence[HloValue]]) -> list[HloValue]:
    across = op_of(i).across_replicas
    if across is not None:
        return [conform(value, i.shape, i) for value in across(i, operands, INTERPRETER)]
    if op_of(i).calls in ("fused", "inlined"):
        return run_on_replicas(i.called[0], operands)
    if op_of(i).calls == "loops":
        return _loop(i, [o[0] for o in operands])
    return [evaluate_instruction(i, o, a) for o, a in zip(operands, arguments, strict=True)]


def _loop(i: Instruction, states: list[HloValue]) -> list[HloValue]:
    condition, body = i.computation_of("condition"), i.computation_of("body")
    while True:
        goes_on = {bool(only_array(v)) for v in run_on_replicas(condition, [[s] for s in states])}
        if len(goes_on) > 1:
            raise UnsupportedOp(f"{i.name}: replicas leave the loop in different iterations")
        if goes_on == {False}:
            return states
        states = run_on_replicas(body, [[s] for s in states])
