"""Libraries of devices that multiply matrices: the types that they take, and what a call costs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from indexing.hlo import Instruction
from indexing.kernels.products import StridedProduct, strided_product


@dataclass(frozen=True, slots=True)
class Library:
    """A library: its name, and the types of results for each type of the factors. Sums have at least the precision of f32. A
    call takes `call_seconds` longer than a launch.
    """

    name: str
    types: Mapping[str, tuple[str, ...]]
    call_seconds: float = 0.0


# Types for which numpy calls BLAS.
EQUAL_TYPES = {kind: (kind,) for kind in ("f32", "f64", "c64", "c128")}
#: The libraries of devices, by the dialect of their kernels.
LIBRARIES: Mapping[str, Library] = {
    "c": Library("numpy", EQUAL_TYPES, call_seconds=5e-6),
    "cuda": Library("cublas", {"f16": ("f16", "f32"), "bf16": ("bf16", "f32"), **EQUAL_TYPES}),
}


def library_product(instruction: Instruction, dialect: str) -> StridedProduct | None:
    """An instruction as a product that the library of a dialect's devices computes; None if there is none, or it can't."""
    product = strided_product(instruction)
    if product is None or dialect not in LIBRARIES:
        return None
    left, right, result = product.types
    return product if left == right and result in LIBRARIES[dialect].types.get(left, ()) else None
