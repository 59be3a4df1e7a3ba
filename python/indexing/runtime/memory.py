"""Formats of arrays in memory."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from indexing.cached import cached_property


@dataclass(frozen=True)
class ArrayFormat:
    """The element type and the sizes of an array, and its dimensions in memory from the slowest to the fastest."""

    dtype: np.dtype
    sizes: tuple[int, ...]
    order: tuple[int, ...]

    @property
    def nbytes(self) -> int:
        """The size in bytes; elements narrower than a byte take one."""
        return self.dtype.itemsize * math.prod(self.sizes)

    @cached_property
    def stored_sizes(self) -> tuple[int, ...]:
        """The sizes in the order of memory."""
        return tuple(self.sizes[d] for d in self.order)

    @cached_property
    def is_row_major(self) -> bool:
        """Whether the dimensions lie in memory in their own order."""
        return self.order == tuple(range(len(self.order)))

    @property
    def row_major(self) -> ArrayFormat:
        """The format with the dimensions in their own order."""
        return ArrayFormat(self.dtype, self.sizes, tuple(range(len(self.sizes))))

    def has_memory_of(self, other: ArrayFormat) -> bool:
        """Whether the same bytes represent the same array in both formats."""
        return self is other or (self.order == other.order and self.nbytes == other.nbytes)

    def stored(self, array: np.ndarray) -> np.ndarray:
        """A view of an array with its dimensions in the order of memory."""
        return array.transpose(self.order)

    def logical(self, stored: np.ndarray) -> np.ndarray:
        """A view of a stored array with its dimensions in their own order."""
        return stored if self.is_row_major else stored.transpose(tuple(np.argsort(self.order)))
