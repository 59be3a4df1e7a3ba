"""Lossless conversions between indexing maps and other notations; maps that a notation can't express are refused."""

from indexing.convert.isl_relations import from_isl as from_isl
from indexing.convert.isl_relations import to_isl as to_isl
from indexing.convert.numeric import Strided as Strided
from indexing.convert.numeric import from_cute as from_cute
from indexing.convert.numeric import from_linear_layout as from_linear_layout
from indexing.convert.numeric import from_strides as from_strides
from indexing.convert.numeric import to_cute as to_cute
from indexing.convert.numeric import to_linear_layout as to_linear_layout
from indexing.convert.numeric import to_strides as to_strides
from indexing.convert.polyhedral import from_affine_map as from_affine_map
from indexing.convert.polyhedral import to_affine_map as to_affine_map
from indexing.convert.polyhedral import to_affine_set as to_affine_set
from indexing.convert.symbolic import from_sympy as from_sympy
from indexing.convert.symbolic import to_latex as to_latex
from indexing.convert.symbolic import to_sympy as to_sympy
