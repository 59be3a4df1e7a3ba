"""Reductions of dimensions of one element each, as gradients of broadcasts have them: one operation for each element."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from indexing.hlo import parse
from indexing.hlo.layout import major_to_minor
from indexing.ops.reduce import REDUCE
from indexing.ops.reducer_ops import neutral_element
from indexing.ops.registry import traits_of

if TYPE_CHECKING:
    from indexing.hlo import Computation, Instruction, Shape


def unit_reduction(instruction: Instruction) -> Computation | None:
    """A computation of the same operands, without a reduction, of one that takes a single element for each result; None for
    another instruction.
    """
    if traits_of(instruction) is not REDUCE or neutral_element(instruction) is None:
        return None
    operand, shape = instruction.operands[0].shape, instruction.shape
    if operand.element_count != shape.element_count or not all(map(_is_row_major, (operand, shape))):
        return None
    root = instruction.computation_of("to_apply").root
    return parse(_text(operand.dimensions, shape.dimensions, shape.element_type, root.opcode)).entry


def _is_row_major(shape: Shape) -> bool:
    return major_to_minor(shape) == tuple(range(len(shape.dimensions)))


@lru_cache(maxsize=64)
def _text(sizes: tuple[int, ...], result: tuple[int, ...], kind: str, opcode: str) -> str:
    of, to = (f"{kind}[{','.join(map(str, dimensions))}]" for dimensions in (sizes, result))
    return f"""HloModule unit
ENTRY unit {{
  x = {of} parameter(0)
  z = {kind}[] parameter(1)
  flat = {to} reshape(x)
  start = {to} broadcast(z), dimensions={{}}
  ROOT y = {to} {opcode}(start, flat)
}}
"""
