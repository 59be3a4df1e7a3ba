"""HLO values in the reference: arrays, tuples of values, tokens."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeAlias, TypeVar

from indexing.hlo import Shape
from indexing.lazy import np

Array: TypeAlias = "np.ndarray"  # any element type of numpy or ml_dtypes
Leaf = TypeVar("Leaf")
Part = TypeVar("Part")
Nested: TypeAlias = "Leaf | tuple[Nested[Leaf], ...] | None"  # a leaf, a tuple of such, or a token (None)
HloValue: TypeAlias = "Nested[Array]"


def broadcast_sizes(*sizes: Sequence[int]) -> tuple[int, ...]:
    """The broadcast of sizes, of any rank: `np.broadcast_shapes` supports only 32 dimensions."""
    rank = max(map(len, sizes), default=0)
    aligned = [(1,) * (rank - len(s)) + tuple(s) for s in sizes]
    return tuple(next((n for n in column if n != 1), 1) for column in zip(*aligned, strict=True))


def only_array(value: HloValue) -> Array:
    """The value as an array; raises TypeError for a tuple or a token."""
    if not isinstance(value, np.ndarray):
        raise TypeError(f"expected an array, got {type(value).__name__}")
    return value


def nested(like: Part, parts: Callable[[Part], Sequence[Part] | None], leaves: Iterator[Leaf]) -> Nested[Leaf]:
    """Nested tuples of leaves, nested as `like` is: `parts` gives the parts of a tuple, and None of a leaf."""
    done: list[Nested[Leaf]] = []
    pending: list[tuple[Part, int | None]] = [(like, None)]
    while pending:
        part, length = pending.pop()
        inner = parts(part)
        if inner is None:
            done.append(next(leaves))
        elif length is None:
            pending.append((part, len(inner)))
            pending.extend((p, None) for p in reversed(inner))
        else:
            start = len(done) - length
            done[start:] = [tuple(done[start:])]
    return done[0]


def of_shape(shape: Shape, leaves: Iterable[Leaf]) -> Nested[Leaf]:
    """The leaves, one for each of a shape's, in its tuples."""
    return nested(shape, lambda s: s.elements if s.is_tuple else None, iter(leaves))


def leaves_of(value: Nested[Leaf]) -> list[Leaf | None]:
    """The leaves and tokens of a value, nested tuples flattened in order: one for each of its shape's leaves."""
    leaves: list[Leaf | None] = []
    pending = [value]
    while pending:
        part = pending.pop()
        if isinstance(part, tuple):
            pending.extend(reversed(part))
        else:
            leaves.append(part)
    return leaves
