"""A caller's arguments as arrays of its parameters' shapes and element types.

A number is taken for a number of another type where it stays what it is: integers and truth values must be what the
parameter's type can hold exactly (3.0 is 3, 3.5 is no integer, 300 is no s8), floats are rounded to the nearest, but no
finite number becomes infinite or NaN. A complex number without an imaginary part is real.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from indexing.errors import IndexingError
from indexing.hlo import DTYPES, Module, Shape
from indexing.lazy import ml_dtypes, np
from indexing.ops.bounded import sizes_fit
from indexing.ops.values import HloValue
from indexing.reference.interpreter import check_rank

__all__ = ["GPU_KINDS", "check_count", "entry_arguments", "host_array", "host_value", "is_on_gpu"]

GPU_KINDS = (2, 13)  # DLPack's kDLCUDA and kDLCUDAManaged
NO_DATA = ("token", "opaque")


def entry_arguments(module: Module, arrays: Sequence[object]) -> list[HloValue]:
    """The arguments as the entry's parameters want them; IndexingError with the first that doesn't fit."""
    check_count(module, arrays)
    parameters = module.entry.parameters
    return [host_value(a, p.shape, f"argument {k}") for k, (a, p) in enumerate(zip(arrays, parameters, strict=True))]


def check_count(module: Module, arrays: Sequence[object]) -> None:
    """IndexingError where there is not one argument a parameter of the entry."""
    parameters = module.entry.parameters
    if len(arrays) != len(parameters):
        names = ", ".join(f"{p.name}: {p.shape}" for p in parameters)
        raise IndexingError(f"{len(arrays)} arrays were passed; expected {len(parameters)} ({names})")


def host_value(value: object, shape: Shape, what: str) -> HloValue:
    """The value as numpy arrays of the shape, converted; nested tuples for a tuple, None for what has no data.

    `what` names it in errors. Raises IndexingError where it doesn't fit.
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
    return _nested(shape, iter(flat))


def is_on_gpu(array: object) -> bool:
    """Whether an array of another library lies in GPU memory."""
    if isinstance(array, np.ndarray | np.generic | tuple | list | int | float | complex):
        return False
    describe = getattr(array, "__dlpack_device__", None)
    if describe is not None:
        return int(describe()[0]) in GPU_KINDS
    return hasattr(array, "__cuda_array_interface__")


def _nested(shape: Shape, values: Iterator[HloValue]) -> HloValue:
    """The values of a shape's arrays as nested tuples; None for what has no data."""
    done: list[HloValue] = []
    pending: list[tuple[Shape, bool]] = [(shape, False)]
    while pending:
        part, has_elements = pending.pop()
        if has_elements:
            start = len(done) - len(part.elements)
            done[start:] = [tuple(done[start:])]
        elif part.is_tuple:
            pending.append((part, True))
            pending.extend((element, False) for element in reversed(part.elements))
        else:
            done.append(None if part.element_type in NO_DATA else next(values))
    return done[0]


def host_array(value: object, shape: Shape, what: str) -> np.ndarray:
    """The value as a numpy array of the shape, converted; IndexingError where it doesn't fit."""
    check_rank(shape, what)
    if is_on_gpu(value):
        raise IndexingError(f"{what} lies on a GPU; expected an array in host memory")
    try:
        array = np.asarray(value)
    except (TypeError, ValueError, RuntimeError, BufferError) as error:
        reason = f"{what} is {_described(value)} that numpy makes no array of: {error}"
        raise IndexingError(f"{reason}; expected an array of shape {shape}") from error
    if not sizes_fit(array.shape, shape):
        sizes = list(shape.dimensions)
        raise IndexingError(f"{what} has shape {list(array.shape)}; expected {sizes} ({shape})")
    return array if array.dtype == shape.dtype else _converted(array, shape, what)


def _converted(array: np.ndarray, shape: Shape, what: str) -> np.ndarray:
    """The array in the shape's element type; IndexingError with the first number that it can't hold."""
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
    """The same numbers in a type of numpy's own, which can be compared and converted to any other."""
    if array.dtype.kind in "biufc":
        return array
    if array.dtype not in DTYPES.values():
        raise IndexingError(f"{what} has element type {array.dtype}, whose elements are no numbers; expected {shape}")
    return array.astype(np.float64 if "float" in array.dtype.name else np.int64)


def _is_whole(shape: Shape) -> bool:
    return shape.element_type == "pred" or shape.element_type[0] in "su"


def _is_complex(shape: Shape) -> bool:
    return shape.element_type[0] == "c"


def _unlike_integers(wide: np.ndarray, shape: Shape) -> np.ndarray:
    """The numbers that are none of an integer type, or neither 0 nor 1 for pred."""
    low, high = (0, 1) if shape.element_type == "pred" else _bounds(shape.dtype)
    if wide.dtype.kind in "bui":
        least, greatest = _bounds(wide.dtype)  # numpy compares numbers of its type alone
        beyond: np.ndarray = (wide < max(low, least)) | (wide > min(high, greatest))
        return beyond
    outside: np.ndarray = ~((wide.real >= low) & (wide.real < float(high + 1)))  # NaN is outside too
    outside |= (wide.real != np.floor(wide.real)) | (wide.imag != 0)
    return outside


def _overflown(wide: np.ndarray, shape: Shape) -> np.ndarray:
    """The numbers that would be finite, infinite or NaN and weren't, or have an imaginary part that the type has not."""
    converted = (wide if _is_complex(shape) else wide.real).astype(shape.dtype)
    lost: np.ndarray = np.isfinite(wide) != np.isfinite(converted)
    lost |= np.isnan(wide) != np.isnan(converted)
    # A type without infinities ends at its largest number.
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
