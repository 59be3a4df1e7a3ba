"""Shapes: element types with their numpy types, sizes, layouts, tuples."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache

from indexing import _core
from indexing.arguments import integer, integers, item, of_type, takes
from indexing.errors import IndexingError, UnsupportedOp
from indexing.lazy import ml_dtypes, np

_NUMPY_WORDS = {"s": "int", "u": "uint", "f": "float", "bf": "bfloat", "c": "complex"}


def _numpy_name(name: str) -> str:
    """The name in numpy or ml_dtypes of an element type of arrays: float8_e5m2 for f8e5m2."""
    word, bits, variant = re.findall(r"([a-z]+)(\d+)(\w*)", name)[0]
    return f"{_NUMPY_WORDS[word]}{bits}_{variant}".rstrip("_")


#: The name in numpy or ml_dtypes of each element type that arrays can have. They have no integers of one bit.
_NUMPY_NAMES = {"pred": "bool_"}
_NUMPY_NAMES |= {name: _numpy_name(name) for name, *_ in _core.hlo_element_types() if name not in _NUMPY_NAMES}
_NUMPY_NAMES |= {"s1": "int8", "u1": "uint8"}


@cache
def _dtype(name: str) -> np.dtype[np.generic]:
    known = _NUMPY_NAMES[name]
    scalar: type[np.generic] = getattr(np, known, None) or getattr(ml_dtypes, known)
    return np.dtype(scalar)


class _NumpyTypes(Mapping[str, "np.dtype[np.generic]"]):
    """A table whose values are created on access, so that parsing programs does not import numpy."""

    def __getitem__(self, name: str) -> np.dtype[np.generic]:
        return _dtype(name)

    def __contains__(self, name: object) -> bool:
        return name in _NUMPY_NAMES

    def __iter__(self) -> Iterator[str]:
        return iter(_NUMPY_NAMES)

    def __len__(self) -> int:
        return len(_NUMPY_NAMES)


#: The numpy type of each element type that arrays can have.
DTYPES: Mapping[str, np.dtype[np.generic]] = _NumpyTypes()


@dataclass(frozen=True, slots=True)
class Shape:
    """A shape: an array's element type and sizes, a tuple's elements, a buffer's one element, a token, an opaque value.

    `dimensions` has upper bounds of dynamic dimensions, -1 if unknown. `layout` lists dimensions, the fastest varying one
    first, or is `None` if the text has none; `layout_text` is the whole layout as written, tiles and memory space included.
    Two shapes are equal if all of these are. `is_tuple` is whether it is a tuple's shape, `is_bounded` whether an array has a
    dynamic dimension.
    """

    element_type: str
    dimensions: tuple[int, ...] = ()
    layout: tuple[int, ...] | None = None
    elements: tuple[Shape, ...] = ()
    layout_text: str = ""
    dynamic_dimensions: tuple[bool, ...] = ()
    element_count: int = field(default=0, compare=False)
    is_tuple: bool = field(init=False, compare=False, repr=False)
    is_bounded: bool = field(init=False, compare=False, repr=False)
    _leaves: tuple[Shape, ...] | None = field(default=None, init=False, repr=False, compare=False)
    _offsets: tuple[int, ...] | None = field(default=None, init=False, repr=False, compare=False)
    _hash: int = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        """Compute the properties that are accessed most."""
        key = (
            self.element_type,
            self.dimensions,
            self.layout,
            self.elements,
            self.layout_text,
            self.dynamic_dimensions,
        )
        object.__setattr__(self, "is_tuple", self.element_type == "tuple")
        bounded = True in self.dynamic_dimensions or any(e.is_bounded for e in self.elements)
        object.__setattr__(self, "is_bounded", bounded)
        try:
            object.__setattr__(self, "_hash", hash(key))
        except TypeError:
            raise TypeError(f"Shape: sizes, layout and elements are tuples; got {key}") from None

    def __hash__(self) -> int:
        """A hash that is equal for equal shapes."""
        return self._hash

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle the fields, not the hash, which differs between processes."""
        layout = (self.layout, self.elements, self.layout_text, self.dynamic_dimensions, self.element_count)
        return Shape, (self.element_type, self.dimensions, *layout)

    @classmethod
    @takes(element_type=of_type(str), dimensions=integers)
    def array(cls, element_type: str, dimensions: tuple[int, ...] | list[int]) -> Shape:
        """An array's shape without a layout. Raises IndexingError for an unknown element type or a negative size."""
        sizes = tuple(dimensions)
        if element_type not in _NUMPY_NAMES:
            raise IndexingError(f"{element_type!r} is no element type of arrays; one of {', '.join(_NUMPY_NAMES)}")
        if min(sizes, default=0) < 0:
            raise IndexingError(f"sizes cannot be negative, found {sizes}")
        return cls(element_type, sizes, None, (), "", (False,) * len(sizes), math.prod(sizes))

    @property
    def is_array(self) -> bool:
        """Whether this is an array's shape: no tuple, token or opaque value."""
        return self.element_type in _NUMPY_NAMES

    @property
    def rank(self) -> int:
        """The number of an array's dimensions."""
        return len(self.dimensions)

    @property
    def dtype(self) -> np.dtype[np.generic]:
        """The numpy type of the elements. Raises UnsupportedOp if there is none (tuples, tokens)."""
        try:
            return _dtype(self.element_type)
        except KeyError:
            raise UnsupportedOp(f"{self.element_type} has no numpy type; ask an array's shape") from None

    @property
    def minor_to_major(self) -> tuple[int, ...]:
        """The layout, or the default one: the last dimension varies fastest."""
        return tuple(reversed(range(len(self.dimensions)))) if self.layout is None else self.layout

    @property
    def leaves(self) -> tuple[Shape, ...]:
        """The arrays and tokens of the shape, nested tuples flattened in order; the shape itself if it is not a tuple."""
        leaves = self._leaves
        if leaves is None:
            inner = [leaf for element in self.elements for leaf in element.leaves]
            leaves = tuple(inner) if self.is_tuple else (self,)
            object.__setattr__(self, "_leaves", leaves)
        return leaves

    @property
    def leaf_offsets(self) -> tuple[int, ...]:
        """For each element of a tuple, the number of leaves before it; then the number of all leaves."""
        offsets = self._offsets
        if offsets is None:
            counts = [len(element.leaves) for element in self.elements]
            offsets = tuple(itertools.accumulate(counts, initial=0))
            object.__setattr__(self, "_offsets", offsets)
        return offsets

    @takes(dimension=integer)
    def is_dynamic(self, dimension: int) -> bool:
        """Whether the size of a dimension is known at run time only. Raises IndexingError if there is no such dimension."""
        return item(self.dynamic_dimensions, dimension, f"{self} has", "dimensions")

    def without_layout(self) -> Shape:
        """The same shape without layouts, also within tuples."""
        if self.elements:
            return Shape(self.element_type, elements=tuple(e.without_layout() for e in self.elements))
        return Shape(self.element_type, self.dimensions, None, (), "", self.dynamic_dimensions, self.element_count)

    def __str__(self) -> str:
        """The shape as HLO text."""
        if self.is_tuple or self.element_type == "buffer":
            return f"{'' if self.is_tuple else 'b'}({', '.join(map(str, self.elements))})"
        sizes = ",".join(map(_size_text, self.dimensions, self.dynamic_dimensions))
        return f"{self.element_type}[{sizes}]{self.layout_text}"


def _size_text(size: int, dynamic: bool) -> str:
    if size < 0:
        return "?"
    return f"<={size}" if dynamic else str(size)
