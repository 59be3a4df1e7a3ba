"""Reducers in the reference: those that are a numpy ufunc are folded by it, others by a tree over whole arrays.

HLO leaves the order of a reduction open for an associative function. A ufunc folds floats in float64, and rounds once; the
tree combines neighbours, which keeps the operands' order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from indexing.hlo import Computation
from indexing.lazy import np
from indexing.ops.contraction import accumulator, is_complex, is_float, to_element
from indexing.ops.op import Interpreter
from indexing.ops.values import Array, only_array

_UFUNCS = {
    "add": "add",
    "multiply": "multiply",
    "maximum": "maximum",
    "minimum": "minimum",
    "and": "bitwise_and",
    "or": "bitwise_or",
    "xor": "bitwise_xor",
}
_PREDICATES = {
    "add": "logical_or",
    "multiply": "logical_and",
    "maximum": "logical_or",
    "minimum": "logical_and",
    "and": "logical_and",
    "or": "logical_or",
    "xor": "logical_xor",
}


@dataclass(frozen=True, slots=True)
class Reducer:
    """A reducer that is a numpy ufunc, with the type in which it is folded and its neutral element in that type."""

    ufunc: np.ufunc
    wide: np.dtype
    neutral: Array


def reducer_of(computation: Computation, dtype: np.dtype) -> Reducer | None:
    """The ufunc that a scalar computation of two parameters is equal to on an element type; None if there is none."""
    root = computation.root
    if len(computation.parameters) != 2 or root.opcode not in _UFUNCS:
        return None
    if {operand.name for operand in root.operands} != {p.name for p in computation.parameters}:
        return None
    if any(p.shape.dtype != dtype for p in computation.parameters) or root.shape.dtype != dtype:
        return None
    ufunc: np.ufunc = getattr(np, (_PREDICATES if dtype.kind == "b" else _UFUNCS)[root.opcode])
    if is_complex(dtype) and root.opcode in ("maximum", "minimum"):
        return None
    wide = accumulator(dtype)
    return Reducer(ufunc, wide, _neutral(root.opcode, dtype, wide))


def _neutral(opcode: str, dtype: np.dtype, wide: np.dtype) -> Array:
    if wide.kind == "b":
        return np.array(opcode in ("multiply", "minimum", "and"), wide)
    simple = {"add": 0, "or": 0, "xor": 0, "multiply": 1, "and": -1}
    if opcode in simple:
        return np.array(simple[opcode], wide)
    if is_float(dtype):
        return np.array(-np.inf if opcode == "maximum" else np.inf, wide)
    limits = np.iinfo(np.int64)
    return np.array(limits.min if opcode == "maximum" else limits.max, wide)


def widen(values: Array, reducer: Reducer) -> Array:
    """Values in the type in which they are folded. Unsigned 64-bit integers keep their bits, but not their order."""
    return values.astype(reducer.wide)


def foldable(reducer: Reducer | None, dtype: np.dtype) -> bool:
    """Whether a ufunc was found and is correct in the wide type, where uint64 values beyond int64 have another order."""
    return reducer is not None and not (dtype == np.uint64 and reducer.ufunc in (np.maximum, np.minimum))


def apply(computation: Computation, arguments: Sequence[Array], interpreter: Interpreter) -> tuple[Array, ...]:
    """The results of a scalar computation applied elementwise to whole arrays."""
    result = interpreter.apply(computation, *arguments)
    return tuple(only_array(r) for r in result) if isinstance(result, tuple) else (only_array(result),)


def fold_rows(computation: Computation, rows: Sequence[Array], interpreter: Interpreter) -> tuple[Array, ...]:
    """Fold the leading axis (of length at least 1) of each array by a computation of twice as many scalars."""
    values = tuple(rows)
    while values[0].shape[0] > 1:
        even = values[0].shape[0] // 2 * 2
        left, right = [v[0:even:2] for v in values], [v[1:even:2] for v in values]
        folded = apply(computation, [*left, *right], interpreter)
        values = tuple(np.concatenate([f, v[even:]]) for f, v in zip(folded, values, strict=True))
    return tuple(v[0] for v in values)


def fold_ufunc(reducer: Reducer, values: Array, axes: tuple[int, ...], start: Array) -> Array:
    """Fold some axes of an array, from `start`; the result has the array's element type."""
    with np.errstate(all="ignore"):
        wide = reducer.ufunc.reduce(widen(values, reducer), axis=axes, initial=reducer.neutral[()], dtype=reducer.wide)
        return to_element(reducer.ufunc(widen(start, reducer), wide), values.dtype)
