"""Attributes of an instruction as values: integers, flags, slices, windows, labels, groups."""

from __future__ import annotations

from abc import abstractmethod
from typing import TypeVar

from indexing._core import HloModule
from indexing.errors import ParseError
from indexing.hlo.quoted import unescaped
from indexing.hlo.window import ConvolutionLabels, DimensionLabels, WindowDim

T = TypeVar("T")


class AttributeReader:
    """Reads the attributes of an instruction as values."""

    __slots__ = ()

    _id: int

    @property
    @abstractmethod
    def _tables(self) -> HloModule:
        """The tables in which the instruction is row `_id`."""

    @abstractmethod
    def _bad(self, key: str, wanted: str) -> ParseError:
        """The error for an attribute that does not have the expected form."""

    def ints(self, key: str) -> tuple[int, ...]:
        """The integers of an attribute such as `dimensions={0,1}` or `index_vector_dim=1`; `()` if it is absent."""
        values = self._tables.integers(self._id, key)
        return () if values is None else tuple(values)

    def integer(self, key: str, default: int | None = None) -> int:
        """The integer of an attribute, else the default. Raises ParseError if there is neither."""
        values = self._tables.integers(self._id, key)
        if values is not None and len(values) == 1:
            return int(values[0])
        if values is None and default is not None:
            return default
        raise self._bad(key, "one integer")

    def flag(self, key: str) -> bool:
        """Whether an attribute is `true`; absent means `false`."""
        value = self._tables.attribute(self._id, key)
        if value in (None, "false", "0"):
            return False
        if value in ("true", "1"):
            return True
        raise self._bad(key, "true or false")

    def text(self, key: str, default: str | None = None) -> str:
        """An attribute as written, of a string its contents, else the default. Raises ParseError if there is neither."""
        value: str | None = self._tables.attribute(self._id, key)
        if value is None:
            if default is not None:
                return default
            raise self._bad(key, "a value")
        if len(value) >= 2 and value[0] == value[-1] == '"':
            return unescaped(value[1:-1])
        return value

    def slices(self) -> tuple[tuple[int, int, int], ...]:
        """Start, limit and stride of each dimension of a slice."""
        return tuple(self._required(self._tables.slices(self._id, "slice"), "slice"))

    def padding(self) -> tuple[tuple[int, int, int], ...]:
        """Low, high and interior padding of each dimension of a pad; `()` for a scalar without the attribute."""
        return tuple(self._tables.padding(self._id, "padding") or ())

    def window(self) -> tuple[WindowDim, ...]:
        """The window, dimension by dimension, with defaults filled in; `()` if there is none."""
        dims = self._tables.window(self._id, "window")
        return tuple(WindowDim(*dim) for dim in dims or ())

    def dim_labels(self) -> ConvolutionLabels:
        """The role of each dimension of a convolution's arrays."""
        rows = self._required(self._tables.labels(self._id, "dim_labels"), "dim_labels")
        labels = [DimensionLabels(batch, feature, tuple(spatial)) for batch, feature, spatial in rows]
        return ConvolutionLabels(*labels)

    def replica_groups(self, key: str = "replica_groups") -> tuple[tuple[int, ...], ...]:
        """The groups of replicas, each a tuple of ids; `()` if the attribute is absent or empty."""
        groups = self._tables.replica_groups(self._id, key)
        return tuple(tuple(group) for group in groups or ())

    def _required(self, value: T | None, key: str) -> T:
        if value is None:
            raise self._bad(key, "a value")
        return value
