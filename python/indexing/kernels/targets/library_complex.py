"""Library functions on complex numbers, those of `complex.c` for both types."""

from __future__ import annotations

from indexing.kernels.targets.library import Definition, read_definitions

COMPLEX: tuple[Definition, ...] = (
    *read_definitions("complex.c", C="c64", T="f32"),
    *read_definitions("complex.c", C="c128", T="f64"),
)
