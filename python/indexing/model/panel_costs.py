"""The cost of a product of panels on a CPU, in steps of loops."""

from __future__ import annotations

from indexing.kernels.ir.fragments import PanelProduct

VECTOR_BYTES = 32
VECTOR = 2  # the cost of an operation on vectors
TILES = 300  # the cost of a product of 16 rows and 32 columns by matrix instructions, for each unit of the depth


def steps_of_panels(product: PanelProduct, depth: int) -> float:
    """The steps of a product of two panels; those whose elements are in groups are multiplied by tiles, else by vectors."""
    if product.group > 1:
        return TILES * (1 + depth // product.depth_unit)
    vectors = product.row_bytes // VECTOR_BYTES
    return depth * VECTOR * (product.rows * vectors + product.rows + vectors)
