"""Prefixes: windows that hold all elements up to their own, as cumulative sums have them, in parts.

A window as long as its dimension reads a square of elements. In runs of RUN elements, the prefix of an element is what the
runs before it add up to, and the prefix within its run; the sums of the runs are prefixes again, of fewer elements.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from indexing.hlo import parse
from indexing.hlo.layout import major_to_minor
from indexing.hlo.window import WindowDim
from indexing.ops.element_types import element_type
from indexing.ops.reducer_ops import neutral_element
from indexing.ops.registry import traits_of
from indexing.ops.window import REDUCE_WINDOW

if TYPE_CHECKING:
    from indexing.hlo import Computation, Instruction

RUN = 16
WORTH_PARTS = 64  # elements


def prefix_in_parts(instruction: Instruction) -> Computation | None:
    """A computation of the same operands that does the work of a window over all elements up to each in a dimension, from
    the first or from the last; None for another instruction.
    """
    if traits_of(instruction) is not REDUCE_WINDOW or instruction.shape.is_tuple or not _starts_neutral(instruction):
        return None
    sizes = instruction.shape.dimensions
    long = [(d, w) for d, w in enumerate(instruction.window()) if w != WindowDim(1)]
    is_row_major = major_to_minor(instruction.shape) == tuple(range(len(sizes)))
    if len(long) != 1 or sizes != instruction.operands[0].shape.dimensions or not is_row_major:
        return None
    ((d, window),) = long
    n = sizes[d]
    is_forward = window == WindowDim(n, pad_low=n - 1)
    if n < WORTH_PARTS or not (is_forward or window == WindowDim(n, pad_high=n - 1)):
        return None
    opcode = instruction.computation_of("to_apply").root.opcode
    return parse(_text(sizes, d, instruction.shape.element_type, opcode, is_forward)).entry


def _starts_neutral(instruction: Instruction) -> bool:
    """Whether the initial value may be added as often as one likes, and sums may be rounded on the way."""
    neutral, initial = neutral_element(instruction), instruction.operands[-1]
    if neutral is None or not initial.is_constant or element_type(instruction.shape.element_type).is_narrow_float:
        return False
    return bool(initial.literal == neutral)


@lru_cache(maxsize=64)
def _text(sizes: tuple[int, ...], d: int, kind: str, opcode: str, is_forward: bool) -> str:
    runs = -(-sizes[d] // RUN)
    before, after = sizes[:d], sizes[d + 1 :]
    total, split, sums = (*before, runs * RUN, *after), (*before, runs, RUN, *after), (*before, runs, *after)

    def shape(dimensions: tuple[int, ...]) -> str:
        return f"{kind}[{','.join(map(str, dimensions))}]"

    def prefix(rank: int, at: int, size: int) -> str:
        ends = f"{size - 1}_0" if is_forward else f"0_{size - 1}"
        window = "x".join(str(size) if k == at else "1" for k in range(rank))
        pads = "x".join(ends if k == at else "0_0" for k in range(rank))
        return f"window={{size={window} pad={pads}}}, to_apply=combine_{opcode}_{kind}"

    def padding(rank: int, ends: str) -> str:
        return "padding=" + "x".join(ends if k == d else "0_0" for k in range(rank))

    kept = ",".join(str(k) for k in range(len(split)) if k != d + 1)
    cut = ", ".join(f"[0:{n}]" for n in sizes)
    return f"""HloModule prefix
combine_{opcode}_{kind} {{
  a = {kind}[] parameter(0)
  b = {kind}[] parameter(1)
  ROOT c = {kind}[] {opcode}(a, b)
}}
ENTRY prefix {{
  x = {shape(sizes)} parameter(0)
  z = {kind}[] parameter(1)
  whole = {shape(total)} pad(x, z), {padding(len(sizes), f"0_{runs * RUN - sizes[d]}")}
  runs = {shape(split)} reshape(whole)
  within = {shape(split)} reduce-window(runs, z), {prefix(len(split), d + 1, RUN)}
  sums = {shape(sums)} reduce(runs, z), dimensions={{{d + 1}}}, to_apply=combine_{opcode}_{kind}
  through = {shape(sums)} reduce-window(sums, z), {prefix(len(sums), d, runs)}
  beyond = {shape(sums)} pad(through, z), {padding(len(sums), "1_-1" if is_forward else "-1_1")}
  spread = {shape(split)} broadcast(beyond), dimensions={{{kept}}}
  both = {shape(split)} {opcode}(spread, within)
  flat = {shape(total)} reshape(both)
  ROOT y = {shape(sizes)} slice(flat), slice={{{cut}}}
}}
"""
