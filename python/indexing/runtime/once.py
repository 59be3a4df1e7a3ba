"""Values that a process makes once, even if threads first ask for them at the same moment."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class Once(Generic[T]):
    """Calls a function the first time, and returns its value each time; threads wait for the one that calls it."""

    def __init__(self, make: Callable[[], T]) -> None:
        """Decorate a function without arguments."""
        self._make = make
        self._made: list[T] = []
        self._making = threading.RLock()
        self.__doc__ = make.__doc__
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._after_fork)

    def __call__(self) -> T:
        """The value."""
        while True:
            try:
                return self._made[0]
            except IndexError:
                self._make_once()

    @property
    def is_made(self) -> bool:
        """Whether the value is there."""
        return bool(self._made)

    def cache_clear(self) -> None:
        """Forget the value: the next call makes another."""
        self._made.clear()

    def _make_once(self) -> None:
        with self._making:
            if not self._made:
                self._made.append(self._make())

    def _after_fork(self) -> None:
        """Replace the lock, which a thread that the child lacks may hold."""
        self._making = threading.RLock()
