"""Verification of kernels: types, bounds, single writes of output elements, uniform barriers, races in shared memory,
limits of a launch.

Each check is proved, refuted (with the reason why the kernel is wrong) or open (with the reason why there is no proof).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from indexing.kernels.ir.nodes import Kernel
from indexing.kernels.verify.bounds import check_bounds
from indexing.kernels.verify.check import Check
from indexing.kernels.verify.initialized import check_initialized
from indexing.kernels.verify.last_block import check_last_block
from indexing.kernels.verify.once import check_written_once
from indexing.kernels.verify.races import check_races
from indexing.kernels.verify.typed import check_types
from indexing.kernels.verify.uniform import check_barriers


@dataclass(frozen=True, slots=True)
class Verification:
    """The checks of one kernel."""

    checks: tuple[Check, ...]

    @property
    def proved(self) -> tuple[Check, ...]:
        """The checks that are proved."""
        return tuple(c for c in self.checks if c.status == "proved")

    @property
    def open(self) -> tuple[Check, ...]:
        """The checks that are neither proved nor refuted."""
        return tuple(c for c in self.checks if c.status == "open")

    @property
    def refuted(self) -> tuple[Check, ...]:
        """The checks that are refuted."""
        return tuple(c for c in self.checks if c.status == "refuted")

    def listing(self) -> str:
        """A line of counts, then a line for each check: those that are not proved first, then proofs by kind."""
        kinds = dict.fromkeys(c.kind for c in self.proved)
        return "\n".join([str(self), *(str(c) for kind in kinds for c in self.proved if c.kind == kind)])

    def __repr__(self) -> str:
        """The counts; `print` shows the checks that are not proved."""
        return f"<verification: {str(self).splitlines()[0]}>"

    def __str__(self) -> str:
        """A line of counts, then a line for each check that is not proved."""
        counts = f"{len(self.proved)} of {len(self.checks)} checks proved"
        return "\n".join([counts, *(str(c) for c in (*self.refuted, *self.open))])


def verify(kernel: Kernel) -> Verification:
    """All checks of a kernel, which may be at any stage, but that of its launch."""
    types = tuple(check_types(kernel))
    if any(c.status == "refuted" for c in types):
        return Verification(types)
    return Verification((*types, *check_memory(kernel), *check_threads(kernel)))


def check_memory(kernel: Kernel) -> Iterator[Check]:
    """The checks of bounds, of single writes of output elements, and of what local arrays hold."""
    yield from check_bounds(kernel)
    yield from check_written_once(kernel)
    yield from check_initialized(kernel)


def check_threads(kernel: Kernel) -> Iterator[Check]:
    """The checks of barriers and races."""
    yield from check_barriers(kernel)
    yield from check_races(kernel)
    yield from check_last_block(kernel)
