"""The elementwise ops, one block each: formula, numpy reference, element code."""

from __future__ import annotations

from indexing.ops.elementwise import arithmetic, bitcast_convert, bits, conversion, math, selection
from indexing.ops.op import Op

OPS: tuple[Op, ...] = (
    *arithmetic.OPS,
    *math.OPS,
    *bits.OPS,
    *selection.OPS,
    *conversion.OPS,
    *bitcast_convert.OPS,
)
