"""Places in a launch at which some of its blocks, or warps of a block, stand for all."""

from __future__ import annotations

__all__ = ["PLACES", "at_place"]

#: Places between 0 and `_PARTS`, a prime number: rows and tiles seldom begin there.
PLACES = (317, 541, 769)
_PARTS = 1009


def at_place(count: int, place: int) -> int:
    """The number below `count` at a place."""
    return count * place // _PARTS
