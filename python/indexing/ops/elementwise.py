"""The elementwise ops, one block each: law, numpy reference, element code."""

from __future__ import annotations

from indexing.ops import (
    elementwise_arithmetic,
    elementwise_bitcast,
    elementwise_bits,
    elementwise_convert,
    elementwise_math,
    elementwise_select,
)
from indexing.ops.block import Op

OPS: tuple[Op, ...] = (
    *elementwise_arithmetic.OPS,
    *elementwise_math.OPS,
    *elementwise_bits.OPS,
    *elementwise_select.OPS,
    *elementwise_convert.OPS,
    *elementwise_bitcast.OPS,
)
