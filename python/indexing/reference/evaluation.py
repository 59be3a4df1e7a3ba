"""The numpy reference of HLO: the oracle that maps and kernels are held against.

Values are numpy arrays (ml_dtypes where numpy has no type), tuples of them, and None for tokens. The code is meant to be
read next to HLO's operation semantics, not to be fast.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from indexing.hlo.front_ends import from_jax, leaves, with_arrays
from indexing.hlo.program_like import WholeProgram, is_function, is_staged, whole_program
from indexing.lazy import np
from indexing.ops.values import HloValue, leaves_of
from indexing.reference.interpreter import run_computation
from indexing.reference.program_arguments import entry_arguments
from indexing.reference.replicas import run_on_replicas


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


def evaluate_replicas(program: WholeProgram, arguments: Sequence[Sequence[HloValue]]) -> list[HloValue]:
    """The results of a program run by several replicas in lockstep, given a list of arguments for each replica.

    Collectives exchange data among them; partition id and replica id are both the position in the list.
    """
    module = whole_program(program, "evaluate_replicas: program")
    with np.errstate(all="ignore"):
        return run_on_replicas(module.entry, [entry_arguments(module, a) for a in arguments])
