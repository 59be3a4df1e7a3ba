"""Lossless conversions between indexing maps and other notations; maps that a notation can't express are refused."""

from indexing.convert.isl_relations import from_isl, to_isl
from indexing.convert.numeric import (
    Strided,
    from_cute,
    from_linear_layout,
    from_strides,
    to_cute,
    to_linear_layout,
    to_strides,
)
from indexing.convert.polyhedral import from_affine_map, to_affine_map, to_affine_set
from indexing.convert.symbolic import from_sympy, to_latex, to_sympy

__all__ = [
    "Strided",
    "from_affine_map",
    "from_cute",
    "from_isl",
    "from_linear_layout",
    "from_strides",
    "from_sympy",
    "to_affine_map",
    "to_affine_set",
    "to_cute",
    "to_isl",
    "to_latex",
    "to_linear_layout",
    "to_strides",
    "to_sympy",
]
