"""Conversion of a caller's arguments to arrays of the parameters' shapes and element types.

Conversions to integers and predicates must be exact (3.0 is 3, 3.5 is no integer, 300 is no s8). Floats are rounded to
nearest, but no finite number may become infinite or NaN. A complex number without an imaginary part is accepted as real.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence

from indexing.errors import IndexingError
from indexing.hlo import DTYPES, Module, Shape
from indexing.lazy import ml_dtypes, np
from indexing.ops.bounded import sizes_fit
from indexing.ops.values import HloValue, of_shape
from indexing.reference.interpreter import check_rank

GPU_KINDS = (2, 13)  # DLPack's kDLCUDA and kDLCUDAManaged
NO_DATA = ("token", "opaque")


def entry_arguments(module: Module, arrays: Sequence[object]) -> list[HloValue]:
    """The arguments converted for the entry's parameters; raises IndexingError for the first that doesn't fit."""
    check_count(module, arrays)
    parameters = module.entry.parameters
    return [host_value(a, p.shape, f"argument {k}") for k, (a, p) in enumerate(zip(arrays, parameters, strict=True))]


def check_count(module: Module, arrays: Sequence[object]) -> None:
    """Raise IndexingError unless there is one argument for each parameter of the entry."""
    parameters = module.entry.parameters
    if len(arrays) != len(parameters):
        names = ", ".join(f"{p.name}: {p.shape}" for p in parameters)
        passed = "1 array was passed" if len(arrays) == 1 else f"{len(arrays)} arrays were passed"
        is_list = len(arrays) == 1 and isinstance(arrays[0], list | tuple) and len(arrays[0]) == len(parameters)
        remedy = ": of a list, pass each array by itself, as in f(*arrays)" if is_list else ""
        raise IndexingError(f"{passed}; expected {len(parameters)} ({names}){remedy}")


def host_value(value: object, shape: Shape, what: str) -> HloValue:
    """The value converted to numpy arrays of the shape; nested tuples for a tuple, None for tokens and opaque values.

    `what` names it in errors. Raises IndexingError if it doesn't fit.
    """
    flat: list[HloValue] = []
    pending: list[tuple[object, Shape, str]] = [(value, shape, what)]
    while pending:
        part, expected, name = pending.pop()
        if expected.is_tuple:
            if not isinstance(part, tuple | list) or len(part) != len(expected.elements):
                count = len(expected.elements)
                raise IndexingError(f"{name} is {_described(part)}; expected a tuple of {count} values ({expected})")
            named = [(p, s, f"{name}[{k}]") for k, (p, s) in enumerate(zip(part, expected.elements, strict=True))]
            pending.extend(reversed(named))
        elif expected.element_type not in NO_DATA:
            flat.append(host_array(part, expected, name))
    return nested_value(shape, iter(flat))


def is_on_gpu(array: object) -> bool:
    """Whether an array of another library lies in GPU memory."""
    if type(array) is np.ndarray:  # the common case: the other checks take as long as a small kernel
        return False
    if isinstance(array, (np.ndarray, np.generic, tuple, list, int, float, complex)):
        return False
    describe = getattr(array, "__dlpack_device__", None)
    if describe is not None:
        try:
            return int(describe()[0]) in GPU_KINDS
        except (TypeError, ValueError, RuntimeError, BufferError):
            return False  # an array that was donated, or lies on several devices: numpy converts it, or says why not
    return hasattr(array, "__cuda_array_interface__")


def nested_value(shape: Shape, values: Iterator[HloValue]) -> HloValue:
    """The values of a shape's arrays as nested tuples; None for tokens and opaque values."""
    return of_shape(shape, (None if s.element_type in NO_DATA else next(values) for s in shape.leaves))


def host_array(value: object, shape: Shape, what: str) -> np.ndarray:
    """The value converted to a numpy array of the shape; raises IndexingError if it doesn't fit, or lies on a GPU."""
    if is_on_gpu(value):
        raise IndexingError(f"{what} lies on a GPU; expected an array in host memory")
    return array_of(value, shape, what)


def array_of(value: object, shape: Shape, what: str) -> np.ndarray:
    """As `host_array`, for values that are known to lie in host memory."""
    if isinstance(value, np.ma.MaskedArray) and np.ma.is_masked(value):
        raise IndexingError(f"{what} is a masked array; expected {shape} without masked elements, as by its `filled`")
    try:
        array = np.asarray(value)
    except (TypeError, ValueError, RuntimeError, BufferError) as error:
        if str(getattr(value, "dtype", "")).startswith("key<"):  # a random key of JAX, whose numbers the program takes
            return array_of(sys.modules["jax"].random.key_data(value), shape, what)
        check_rank(shape, what)
        reason = f"{what} is {_described(value)} that numpy can't convert to an array: {error}"
        raise IndexingError(f"{reason}; expected an array of shape {shape}") from error
    if array.shape == shape.dimensions and array.dtype == shape.dtype:  # the common case
        return array
    check_rank(shape, what)
    if array.dtype == object and not array.shape:
        raise IndexingError(f"{what} is {_described(value)}, which has no numbers; expected {shape}")
    if not sizes_fit(array.shape, shape):
        sizes = list(shape.dimensions)
        raise IndexingError(f"{what} has shape {list(array.shape)}; expected {sizes} ({shape})")
    return array if array.dtype == shape.dtype else _converted(array, shape, what)


def _converted(array: np.ndarray, shape: Shape, what: str) -> np.ndarray:
    """The array in the shape's element type; raises IndexingError for the first number that the type can't hold."""
    with np.errstate(all="ignore"):
        wide = _widened(array, shape, what)
        lost = _unlike_integers(wide, shape) if _is_whole(shape) else _overflown(wide, shape)
        if not lost.any():
            return wide.real.astype(shape.dtype) if not _is_complex(shape) else wide.astype(shape.dtype)
    at = tuple(int(k) for k in np.argwhere(lost)[0])
    place = f" at {list(at)}" if at else ""
    raise IndexingError(
        f"{what} has element type {array.dtype}; {array[at]}{place} is no {shape.element_type} ({shape})"
    )


def _widened(array: np.ndarray, shape: Shape, what: str) -> np.ndarray:
    """The array in a builtin numpy type, which can be compared and converted to any other."""
    if array.dtype.kind in "biufc":
        return array
    if array.dtype not in DTYPES.values():
        raise IndexingError(f"{what} has element type {array.dtype}, whose elements aren't numbers; expected {shape}")
    return array.astype(np.float64 if "float" in array.dtype.name else np.int64)


def _is_whole(shape: Shape) -> bool:
    return shape.element_type == "pred" or shape.element_type[0] in "su"


def _is_complex(shape: Shape) -> bool:
    return shape.element_type[0] == "c"


def _unlike_integers(wide: np.ndarray, shape: Shape) -> np.ndarray:
    """A mask of the numbers that an integer type can't represent; for pred, those that are neither 0 nor 1."""
    low, high = (0, 1) if shape.element_type == "pred" else _bounds(shape.dtype)
    if wide.dtype.kind in "bui":
        least, greatest = _bounds(wide.dtype)  # numpy compares with numbers of the array's type only
        beyond: np.ndarray = (wide < max(low, least)) | (wide > min(high, greatest))
        return beyond
    outside: np.ndarray = ~((wide.real >= low) & (wide.real < float(high + 1)))  # NaN is outside too
    outside |= (wide.real != np.floor(wide.real)) | (wide.imag != 0)
    return outside


def _overflown(wide: np.ndarray, shape: Shape) -> np.ndarray:
    """A mask of the numbers whose kind (finite, infinite, NaN) would change, or whose imaginary part would be lost."""
    converted = (wide if _is_complex(shape) else wide.real).astype(shape.dtype)
    lost: np.ndarray = np.isfinite(wide) != np.isfinite(converted)
    lost |= np.isnan(wide) != np.isnan(converted)
    # A type without infinities saturates at its largest number.
    lost |= np.isfinite(wide) & (np.abs(wide) >= 2 * float(ml_dtypes.finfo(shape.dtype).max))
    if not _is_complex(shape):
        lost |= wide.imag != 0
    return lost


def _bounds(dtype: np.dtype) -> tuple[int, int]:
    if dtype.kind == "b":
        return 0, 1
    info = ml_dtypes.iinfo(dtype)
    return int(info.min), int(info.max)


def _described(value: object) -> str:
    return f"a {type(value).__name__}" + (f" of {len(value)} values" if isinstance(value, tuple | list) else "")
