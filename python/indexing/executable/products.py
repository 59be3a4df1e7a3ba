"""Products of matrices whose operands do not lie in memory as the dot emitter reads them, in parts.

Neighbouring threads of a dot have neighbouring columns. Where the contracting dimension of the right operand is the fastest
one, that operand is transposed first, which is little beside the product; where there are few rows or few columns, and both
operands have their contracting dimension last, the product is a reduction of rows.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from math import prod
from typing import TYPE_CHECKING

from indexing.emitters.heroes.dot import MIN_COLUMNS, MIN_CONTRACTED, Product, product_of
from indexing.hlo import parse
from indexing.hlo.layout import major_to_minor
from indexing.ops.dot import DOT
from indexing.ops.element_types import element_type
from indexing.ops.registry import traits_of

if TYPE_CHECKING:
    from indexing.hlo import Computation, Instruction, Shape

MIN_ROWS = 4  # fewer do not pay for a transpose


def dot_in_parts(instruction: Instruction) -> Computation | None:
    """A computation of the same operands that does the work of a dot; None where the dot does it best itself."""
    if traits_of(instruction) is not DOT or not all(map(_is_plain, (instruction, *instruction.operands))):
        return None
    p = product_of(instruction)
    left, right = (o.shape for o in instruction.operands)
    is_last = (_is_last(instruction, "lhs", left, p.rows), _is_last(instruction, "rhs", right, p.columns))
    if prod(p.contracted) < MIN_CONTRACTED or not is_last[1]:
        return None
    if prod(p.columns) < MIN_COLUMNS or prod(p.rows) < MIN_ROWS:
        return parse(_reduction(p, *_kinds(instruction))).entry if is_last[0] else None
    numbers = instruction.ints("lhs_batch_dims"), instruction.ints("lhs_contracting_dims")
    return parse(_transposed(p, left.dimensions, numbers, *_kinds(instruction))).entry


def _kinds(dot: Instruction) -> tuple[str, str, str]:
    left, right = dot.operands
    return dot.shape.element_type, left.shape.element_type, right.shape.element_type


def _is_plain(i: Instruction) -> bool:
    s = i.shape
    if s.is_tuple or 0 in s.dimensions or element_type(s.element_type).kind != "float":
        return False
    return major_to_minor(s) == tuple(range(s.rank))


def _is_last(dot: Instruction, side: str, shape: Shape, free: tuple[int, ...]) -> bool:
    """Whether an operand has its batch first, then its free dimensions, then those that are contracted, in order."""
    batch, contracted = dot.ints(f"{side}_batch_dims"), dot.ints(f"{side}_contracting_dims")
    order = (*batch, *range(len(batch), len(batch) + len(free)), *contracted)
    return order == tuple(range(shape.rank))


def _text(numbers: Iterable[int]) -> str:
    return ",".join(map(str, numbers))


@lru_cache(maxsize=64)
def _transposed(
    p: Product,
    left: tuple[int, ...],
    numbers: tuple[tuple[int, ...], tuple[int, ...]],
    kind: str,
    of_left: str,
    of_right: str,
) -> str:
    """The dot of the left operand and the right one with its columns last."""
    batch, free, gone = len(p.batch), len(p.columns), len(p.contracted)
    order = (*range(batch), *range(batch + free, batch + free + gone), *range(batch, batch + free))
    right, turned = (*p.batch, *p.columns, *p.contracted), (*p.batch, *p.contracted, *p.columns)
    return f"""HloModule product
ENTRY product {{
  x = {of_left}[{_text(left)}] parameter(0)
  y = {of_right}[{_text(right)}] parameter(1)
  t = {of_right}[{_text(turned)}] transpose(y), dimensions={{{_text(order)}}}
  ROOT d = {kind}[{_text((*p.batch, *p.rows, *p.columns))}] dot(x, t), lhs_batch_dims={{{_text(numbers[0])}}}, \
lhs_contracting_dims={{{_text(numbers[1])}}}, rhs_batch_dims={{{_text(range(batch))}}}, \
rhs_contracting_dims={{{_text(range(batch, batch + gone))}}}
}}
"""


@lru_cache(maxsize=64)
def _reduction(p: Product, kind: str, of_left: str, of_right: str) -> str:
    """The sums of products of elements, over rows, columns and what is contracted; floats below f32 in f32."""
    wide = kind if kind == "f64" else "f32"
    batch, rows, columns, gone = (len(sizes) for sizes in (p.batch, p.rows, p.columns, p.contracted))
    space = _text((*p.batch, *p.rows, *p.columns, *p.contracted))
    free = batch + rows + columns
    last = range(free, free + gone)
    result = _text((*p.batch, *p.rows, *p.columns))
    return f"""HloModule product
add {{
  a = {wide}[] parameter(0)
  b = {wide}[] parameter(1)
  ROOT c = {wide}[] add(a, b)
}}
ENTRY product {{
  x = {of_left}[{_text((*p.batch, *p.rows, *p.contracted))}] parameter(0)
  y = {of_right}[{_text((*p.batch, *p.columns, *p.contracted))}] parameter(1)
  xs = {of_left}[{space}] broadcast(x), dimensions={{{_text((*range(batch + rows), *last))}}}
  ys = {of_right}[{space}] broadcast(y), dimensions={{{_text((*range(batch), *range(batch + rows, free), *last))}}}
{_widened("xw", "xs", of_left, wide, space)}
{_widened("yw", "ys", of_right, wide, space)}
  z = {wide}[] constant(0)
  m = {wide}[{space}] multiply(xw, yw)
  s = {wide}[{result}] reduce(m, z), dimensions={{{_text(last)}}}, to_apply=add
  ROOT{_widened(" r", "s", wide, kind, result)}
}}
"""


def _widened(name: str, operand: str, source: str, target: str, sizes: str) -> str:
    """The line of an operand in another type."""
    change = f"convert({operand})" if source != target else f"reshape({operand})"
    return f"  {name} = {target}[{sizes}] {change}"
