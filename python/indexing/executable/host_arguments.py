"""Arguments in host memory that a device reads in place, by their addresses."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from indexing._core import HostViews
from indexing.hlo import Shape
from indexing.reference.program_arguments import array_of, is_on_gpu
from indexing.runtime.memory import ArrayFormat


class HostArguments:
    """The arrays that a program takes, all of them row-major."""

    def __init__(self, shapes: Sequence[Shape]) -> None:
        """Expect one array of each shape."""
        self._shapes = tuple(shapes)
        self._dtypes = tuple(s.dtype for s in shapes)
        self._sizes = tuple(s.dimensions for s in shapes)

    def views(self, arrays: tuple[object, ...]) -> HostViews | None:
        """Views of all arguments, converted where they aren't such arrays; None if one lies on a GPU.

        Raises IndexingError for an argument that doesn't fit.
        """
        views = HostViews(arrays, self._dtypes, self._sizes)
        addresses = views.addresses()
        if all(addresses):  # the common case: to ask where an array lies takes longer than to view it
            return views
        others = [k for k, address in enumerate(addresses) if not address]
        if any(is_on_gpu(arrays[k]) for k in others):
            return None
        converted = list(arrays)
        for k in others:
            converted[k] = np.asarray(array_of(arrays[k], self._shapes[k], f"argument {k}"), order="C")
        return HostViews(tuple(converted), self._dtypes, self._sizes)


def read_in_place(shapes: Sequence[Shape], formats: Sequence[ArrayFormat]) -> HostArguments | None:
    """The arguments of a program whose parameters are row-major arrays of fixed sizes; None if some are not."""
    fixed = all(s.is_array and not s.is_bounded for s in shapes)
    return HostArguments(shapes) if fixed and all(form.is_row_major for form in formats) else None
