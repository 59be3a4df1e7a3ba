"""The products of panels for CPUs, those of `panels.c` for each element type."""

from __future__ import annotations

from collections.abc import Iterator

from indexing.kernels.ir.fragments import PANEL_BYTES, PANEL_ROWS, PANEL_TYPES, panel_columns
from indexing.kernels.targets.library import Definition, read_definitions


def panel_definitions() -> Iterator[Definition]:
    """The width of vectors, and a function for each element type."""
    for kind in PANEL_TYPES:
        sizes = {"ROWS": PANEL_ROWS, "COLUMNS": panel_columns(kind), "BYTES": PANEL_BYTES}
        yield from read_definitions("panels.c", T=kind, W=kind.replace("s", "u"), **sizes)
