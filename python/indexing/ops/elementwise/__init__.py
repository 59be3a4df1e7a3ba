"""The elementwise ops, one block each: formula, numpy reference, element code."""

from __future__ import annotations

from dataclasses import replace

from indexing.ops.elementwise import arithmetic, bitcast_convert, bits, conversion, high_product, math, selection
from indexing.ops.op import Op

_MODULES = (arithmetic, high_product, math, bits, selection, conversion, bitcast_convert)

OPS: tuple[Op, ...] = tuple(replace(op, is_elementwise=True) for module in _MODULES for op in module.OPS)
