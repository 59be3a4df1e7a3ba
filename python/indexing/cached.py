"""Properties of an object that are computed when first asked for, without a lock.

That of `functools` has a lock for all objects of a class before Python 3.12: two threads can wait for each other by two
properties that need one another, and a process that forks while another thread computes one can't compute it any more.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from functools import cached_property as cached_property
else:

    class cached_property(functools.cached_property):
        """A property that is kept; threads that first ask at the same moment may each compute it, and all get one value."""

        def __get__(self, instance: Any, owner: type | None = None) -> Any:
            """The value; the property itself if asked of the class."""
            if instance is None:
                return self
            kept = vars(instance)
            if self.attrname not in kept:
                kept.setdefault(self.attrname, self.func(instance))
            return kept[self.attrname]
