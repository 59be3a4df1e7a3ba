"""Convolutions whose output features do not lie side by side in memory, in parts.

Neighbouring threads have neighbouring elements of the output. Where these are features, they read neighbouring weights and
the same element of the input; where they are places of a picture, each is at another distance from its border. So the
weights are transposed first, and the result last.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from indexing.hlo import parse
from indexing.hlo.layout import major_to_minor
from indexing.ops.convolution import CONVOLUTION
from indexing.ops.element_types import element_type
from indexing.ops.registry import traits_of

if TYPE_CHECKING:
    from indexing.hlo import Computation, Instruction

MIN_FEATURES = 16


def convolution_in_parts(i: Instruction) -> Computation | None:
    """A computation of the same operands with the features of its convolution last; None where they are, or are few."""
    if traits_of(i) is not CONVOLUTION or not all(map(_is_plain, (i, *i.operands))):
        return None
    if i.integer("feature_group_count", 1) != 1 or i.integer("batch_group_count", 1) != 1:
        return None
    feature = i.dim_labels().output.feature
    if feature == i.shape.rank - 1 or i.shape.dimensions[feature] < MIN_FEATURES:
        return None
    shapes = tuple((s.element_type, s.dimensions) for s in (i.shape, *(o.shape for o in i.operands)))
    return parse(_text(shapes, i.attributes["dim_labels"], i.attributes.get("window", ""))).entry


def _is_plain(i: Instruction) -> bool:
    s = i.shape
    if s.is_tuple or 0 in s.dimensions or element_type(s.element_type).kind != "float":
        return False
    return major_to_minor(s) == tuple(range(s.rank))


@lru_cache(maxsize=64)
def _text(shapes: tuple[tuple[str, tuple[int, ...]], ...], labels: str, window: str) -> str:
    (kind, result), (of_input, given), (of_kernel, weights) = shapes
    operands, _, output = labels.partition("->")
    first, _, kernel = operands.partition("_")
    spatial = "".join(sorted(c for c in output if c.isdigit()))
    turned, last = f"{spatial}io", f"b{spatial}f"

    def shape(element: str, sizes: tuple[int, ...], own: str, wanted: str) -> str:
        return f"{element}[{','.join(str(sizes[own.index(c)]) for c in wanted)}]"

    def order(own: str, wanted: str) -> str:
        return f"dimensions={{{','.join(str(own.index(c)) for c in wanted)}}}"

    windowed = f", window={window}" if window else ""
    return f"""HloModule features
ENTRY features {{
  x = {shape(of_input, given, first, first)} parameter(0)
  w = {shape(of_kernel, weights, kernel, kernel)} parameter(1)
  t = {shape(of_kernel, weights, kernel, turned)} transpose(w), {order(kernel, turned)}
  c = {shape(kind, result, output, last)} convolution(x, t){windowed}, dim_labels={first}_{turned}->{last}
  ROOT y = {shape(kind, result, output, output)} transpose(c), {order(last, output)}
}}
"""
