"""Lines of text about one kernel, and numbers with units."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from indexing.kernels.kernel import Kernel

from indexing.display import count_text

__all__ = ["bytes_text", "count_text", "kernel_line", "number_text", "printable", "seconds_text"]

STEP = 1000
BYTES = ("B", "kB", "MB", "GB", "TB", "PB")
SECONDS = ("ns", "us", "ms", "s")


def kernel_line(kernel: Kernel) -> str:
    """One line: the kernel's name, its emitter and its launch dimensions."""
    return f"{kernel.name}: {kernel.emitter} emitter, grid {kernel.grid}, block {kernel.block}"


def bytes_text(count: float) -> str:
    """Bytes in units of 1000: `24.6 kB`."""
    count, unit = _scaled(count, BYTES)
    return f"{count:.0f} {unit}" if unit == BYTES[0] else f"{count:.3g} {unit}"


def seconds_text(seconds: float) -> str:
    """A time with a unit: `7.3 us`. Times below a picosecond, which are rounding errors of differences, are 0."""
    count, unit = _scaled(0.0 if abs(seconds) < 1e-12 else seconds * 1e9, SECONDS)
    return f"{count:.3g} {unit}"


def number_text(count: float) -> str:
    """A number in units of 1000, with a space before the unit: `24.6 k`, `7.1 T`."""
    count, unit = _scaled(count, ("", "k", "M", "G", "T", "P", "E"))
    return f"{count:.3g} {unit}"


def _scaled(count: float, units: Sequence[str]) -> tuple[float, str]:
    """The number in the largest of the units, each 1000 of the one before, that leaves at least 1 of it."""
    unit = 0
    while abs(count) >= STEP and unit + 1 < len(units):
        count, unit = count / STEP, unit + 1
    return count, units[unit]


def printable(text: str) -> str:
    """The text with control characters escaped."""
    return text if text.isprintable() else text.encode("unicode_escape").decode()
