"""The numpy reference of HLO: the oracle that maps and kernels are held against.

Values are numpy arrays (ml_dtypes where numpy has no type), tuples of them, and None for tokens. Nothing here is
fast on purpose; everything is meant to be read next to the operation semantics of HLO.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from indexing import hlo
from indexing.arguments import of_type, takes
from indexing.errors import IndexingError
from indexing.hlo import Module
from indexing.lazy import np
from indexing.ops.bounded import sizes_fit
from indexing.ops.interpret import check_rank, run_computation
from indexing.ops.op import HloValue
from indexing.reference.replicas import run_on_replicas

if TYPE_CHECKING:
    from indexing.hlo import Shape

__all__ = ["evaluate", "evaluate_replicas"]


@takes(module_or_text=of_type(Module, str))
def evaluate(module_or_text: Module | str, *arrays: HloValue) -> HloValue:
    """The result of a program's entry computation on these arguments, one a parameter of the entry.

    Arguments are converted to the parameters' types and must have their shapes; tuples are Python tuples, and of a
    result that nests them, all arrays are given in one flat tuple, as XLA's executables do. Floating point exceptions
    are silent, as they are in HLO. Raises IndexingError for arguments that don't fit, UnsupportedOp for an instruction
    without a value (infeed, an unknown custom-call).
    """
    module = hlo.parse(module_or_text) if isinstance(module_or_text, str) else module_or_text
    arguments = entry_arguments(module, arrays)
    with np.errstate(all="ignore"):
        result = run_computation(module.entry, arguments)
    return _flattened(result) if isinstance(result, tuple) else result


@takes(module_or_text=of_type(Module, str))
def evaluate_replicas(module_or_text: Module | str, arguments: Sequence[Sequence[HloValue]]) -> list[HloValue]:
    """The results of a program run by several replicas in lockstep: one list of arguments a replica, one result each.

    Collectives exchange data among them; partition and replica id are both the position in the list.
    """
    module = hlo.parse(module_or_text) if isinstance(module_or_text, str) else module_or_text
    with np.errstate(all="ignore"):
        return run_on_replicas(module.entry, [entry_arguments(module, a) for a in arguments])


def _flattened(values: tuple[HloValue, ...]) -> tuple[HloValue, ...]:
    flat: list[HloValue] = []
    pending = list(reversed(values))
    while pending:
        value = pending.pop()
        if isinstance(value, tuple):
            pending += reversed(value)
        else:
            flat.append(value)
    return tuple(flat)


def entry_arguments(module: Module, arrays: Sequence[HloValue]) -> list[HloValue]:
    """The arguments as the entry's parameters want them; IndexingError with the first that doesn't fit."""
    parameters = module.entry.parameters
    if len(arrays) != len(parameters):
        raise IndexingError(f"{module.entry.name} takes {len(parameters)} arguments, not {len(arrays)}")
    return [_argument(a, p.shape, p.name) for a, p in zip(arrays, parameters, strict=True)]


def _argument(value: HloValue, shape: Shape, name: str) -> HloValue:
    if shape.is_tuple:
        if not isinstance(value, (tuple, list)) or len(value) != len(shape.elements):
            raise IndexingError(f"parameter {name} is a tuple of {len(shape.elements)}: give a tuple of as many values")
        return tuple(_argument(v, s, name) for v, s in zip(value, shape.elements, strict=True))
    if shape.element_type in ("token", "opaque"):
        return None
    check_rank(shape, f"parameter {name}")
    array = np.asarray(value)
    if not sizes_fit(array.shape, shape):
        raise IndexingError(f"parameter {name} is {shape}: an array of shape {array.shape} doesn't fit")
    return array if array.dtype == shape.dtype else array.astype(shape.dtype)
