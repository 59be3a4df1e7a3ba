"""Element code of ops that move elements: index transformations, concatenate, pad, iota, constants, calls, map."""

from __future__ import annotations

from indexing.errors import UnsupportedOp
from indexing.hlo import Instruction
from indexing.hlo.layout import bit_width, linearize, major_to_minor
from indexing.ops.element_context import ElementContext, Index, Value
from indexing.ops.element_types import ElementType, element_type
from indexing.ops.elementwise.bitcast_convert import bits_of, from_bits, joined_bits, part_of_bits
from indexing.ops.elementwise.conversion import convert_code


def move(ctx: ElementContext, instruction: Instruction, output: int, index: Index) -> Value:
    """The element of operand 0 that the op's map names."""
    source = ctx.indexing(instruction, output)[0][0]
    return ctx.operand(instruction, 0, ctx.mapped(source.map, index).index, source.leaf)


def bitcast(ctx: ElementContext, instruction: Instruction, output: int, index: Index) -> Value:
    """The element at the same memory; a change of type keeps the bits, a change of width splits or joins elements."""
    source = element_type(instruction.operands[0].shape.element_type)
    target = element_type(instruction.shape.element_type)
    if bit_width(source.name) != bit_width(target.name):
        return _of_another_width(ctx, instruction, output, index, source, target)
    value = move(ctx, instruction, output, index)
    if source is target:
        return value
    bits = bits_of(ctx, source, value)
    return ctx.let(target.name, from_bits(ctx, target, bits), rounds=False)


def _of_another_width(
    ctx: ElementContext, instruction: Instruction, output: int, index: Index, source: ElementType, target: ElementType
) -> Value:
    """The element joined from narrower ones that are adjacent in memory, lowest bits first, or a part of a wider one."""
    if "complex" in (source.kind, target.kind):
        what = f"a kernel cannot read {source.name} memory as {target.name}"
        raise UnsupportedOp(f"{instruction.name}: {what}: complex elements stay whole; bitcast their real type")
    adjacent = ctx.indexing(instruction, output)[0][0].map
    wide, narrow = bit_width(target.name), bit_width(source.name)
    if wide > narrow:
        places = [ctx.mapped(adjacent, index, (ctx.constant(k),)).index for k in range(wide // narrow)]
        bits = joined_bits(ctx, [ctx.operand(instruction, 0, at) for at in places], source, target)
    else:
        order = major_to_minor(instruction.shape)
        sizes = instruction.shape.dimensions
        part = linearize([index[d] for d in order], [sizes[d] for d in order]) % (narrow // wide)
        bits = part_of_bits(ctx, source, ctx.operand(instruction, 0, ctx.mapped(adjacent, index).index), part * wide)
    return ctx.let(target.name, from_bits(ctx, target, bits), rounds=False)


def constant(ctx: ElementContext, instruction: Instruction, output: int, index: Index) -> Value:
    """A literal, or an element of a constant table."""
    return ctx.table(instruction, output, index)


def iota(ctx: ElementContext, instruction: Instruction, output: int, index: Index) -> Value:
    """The index along the iota dimension, converted to the element type."""
    kind = element_type(instruction.shape.element_type)
    number = ctx.integer(index[instruction.integer("iota_dimension")])
    return ctx.let(kind.name, convert_code(ctx, number, kind))


def concatenate(ctx: ElementContext, instruction: Instruction, output: int, index: Index) -> Value:
    """A branch for each operand: reads the operand whose part of the dimension contains the index."""
    kind = instruction.shape.element_type
    result = ctx.variable(kind, zero(ctx, kind))
    for k, (operand, indexing) in enumerate(zip(instruction.operands, ctx.indexing(instruction, output), strict=True)):
        if not indexing or operand.shape.element_count == 0:
            continue
        at = ctx.mapped(indexing[0].map, index)
        with ctx.when(at.conditions):
            ctx.assign(result, ctx.operand(instruction, k, ctx.inside(at.index, operand.shape.dimensions)))
    return result


def pad(ctx: ElementContext, instruction: Instruction, output: int, index: Index) -> Value:
    """The padding value, replaced by the operand's element where the map's constraints hold."""
    value = ctx.operand(instruction, 1, ())
    result = ctx.variable(instruction.shape.element_type, value)
    indexing = ctx.indexing(instruction, output)[0]
    sizes = instruction.operands[0].shape.dimensions
    if indexing and instruction.operands[0].shape.element_count and not indexing[0].map.is_known_empty:
        at = ctx.mapped(indexing[0].map, index)
        with ctx.when(at.conditions):
            ctx.assign(result, ctx.operand(instruction, 0, ctx.inside(at.index, sizes)))
    return result


def call(ctx: ElementContext, instruction: Instruction, output: int, index: Index) -> Value:
    """The called computation, inlined."""
    return ctx.call(instruction.called[0], instruction, output, index)


def apply_map(ctx: ElementContext, instruction: Instruction, output: int, index: Index) -> Value:
    """The scalar computation, on the operands' elements at the index."""
    values = [ctx.operand(instruction, k, index) for k in range(len(instruction.operands))]
    return ctx.apply(instruction.called[0], values)[output]


def pass_on(ctx: ElementContext, instruction: Instruction, output: int, index: Index) -> Value:
    """The operand itself, array by array."""
    return ctx.operand(instruction, 0, index, output)


def zero(ctx: ElementContext, name: str) -> Value:
    """Zero of an element type."""
    kind = element_type(name).kind
    return ctx.number(name, {"pred": False, "float": 0.0, "complex": 0j}.get(kind, 0))
