"""bitcast-convert: the same bits as another type; a change of width moves bits between elements and the last dimension.

Element 0 of the narrow side holds the least significant bits.
"""

from __future__ import annotations

from collections.abc import Sequence

from indexing._core import SymbolicExpr
from indexing.errors import UnsupportedOp
from indexing.hlo import Instruction
from indexing.lazy import np
from indexing.ops.element_context import ElementContext, Index, Value
from indexing.ops.element_types import ElementType, element_type
from indexing.ops.elementwise.builders import narrow_integer
from indexing.ops.op import Op
from indexing.ops.operand_indexing import Indexing, OperandIndexing, identity, tensor_map, variables
from indexing.ops.operation_count import one_each_element
from indexing.ops.values import Array, HloValue, only_array


def _width(kind: ElementType) -> int:
    """The width of an element in bits as bitcast-convert counts it; pred takes a byte."""
    return 8 if kind.kind == "pred" else kind.bits


def _kinds(instruction: Instruction) -> tuple[ElementType, ElementType]:
    source = element_type(instruction.operands[0].shape.element_type)
    target = element_type(instruction.shape.element_type)
    if source is not target and "complex" in (source.kind, target.kind):
        raise UnsupportedOp(f"bitcast-convert from {source.name} to {target.name}: complex bits stay complex")
    return source, target


def _output_to_input(instruction: Instruction, output: int) -> Indexing:
    """out[i...] = bits of in[i...]; out[i..., k] = part k of in[i...]; out[i...] = parts in[i..., :] joined."""
    sizes, operand = instruction.shape.dimensions, instruction.operands[0].shape.dimensions
    if len(sizes) == len(operand):
        return [[identity(sizes)]]
    if len(sizes) > len(operand):
        return [[OperandIndexing(tensor_map(variables(len(operand)), sizes))]]
    return [[OperandIndexing(tensor_map(variables(len(operand)), sizes, operand[-1:]))]]


def _to_bits(array: Array, kind: ElementType) -> Array:
    bits = array.view(np.dtype(f"u{max(_width(kind) // 8, 1)}")).astype(np.uint64)
    return bits & np.uint64((1 << _width(kind)) - 1)


def _from_bits(bits: Array, kind: ElementType) -> Array:
    if kind.is_byte_packed and kind.kind == "signed":
        sign = np.uint64(1 << (kind.bits - 1))
        return ((bits ^ sign).astype(np.int64) - np.int64(sign)).astype(np.int8).astype(kind.dtype)
    raw = bits.astype(np.dtype(f"u{max(_width(kind) // 8, 1)}"))
    return (raw != 0) if kind.kind == "pred" else raw.view(kind.dtype)


def _reference(instruction: Instruction, arguments: Sequence[HloValue]) -> HloValue:
    source, target = _kinds(instruction)
    array = only_array(arguments[0])
    if source is target or source.kind == "complex":
        return array
    bits = _to_bits(array, source)
    rank, own = len(instruction.shape.dimensions), len(instruction.operands[0].shape.dimensions)
    if rank > own:  # by the shapes: in a computation of scalars applied to whole arrays, the array has more dimensions
        shifts = np.arange(instruction.shape.dimensions[-1], dtype=np.uint64) * np.uint64(_width(target))
        bits = (bits[..., None] >> shifts) & np.uint64((1 << _width(target)) - 1)
    elif rank < own:
        shifts = np.arange(array.shape[-1], dtype=np.uint64) * np.uint64(_width(source))
        bits = np.bitwise_or.reduce(bits << shifts, axis=-1)
    return _from_bits(np.asarray(bits), target)


def bits_of(ctx: ElementContext, kind: ElementType, value: Value) -> Value:
    """The bits of a value as an unsigned integer of at least a byte; 16-bit NaNs keep theirs."""
    unsigned = f"u{max(_width(kind), 8)}"
    if kind.is_narrow_float:
        opcode = "exact_bits" if kind.bits == 16 else "encode"
        return ctx.op(opcode, unsigned, value, format=kind.name)
    if kind.kind == "float":
        return ctx.op("bits", unsigned, value)
    bits = value if kind.compute_type == unsigned else ctx.op("convert", unsigned, value)
    if not kind.is_byte_packed:
        return bits
    return ctx.op("and", unsigned, bits, ctx.number(unsigned, (1 << kind.bits) - 1))


def from_bits(ctx: ElementContext, kind: ElementType, bits: Value) -> Value:
    """The value of type `kind` whose bits are the low bits of an unsigned integer."""
    unsigned = f"u{max(_width(kind), 8)}"
    low = bits if bits.element_type == unsigned else ctx.op("convert", unsigned, bits)
    if kind.is_narrow_float:
        if kind.bits < 8:
            low = ctx.op("and", unsigned, low, ctx.number(unsigned, (1 << kind.bits) - 1))
        return ctx.op("decode", "f32", low, format=kind.name)
    if kind.kind == "float":
        return ctx.op("from_bits", kind.name, low)
    if kind.kind == "pred":
        return ctx.op("ne", "pred", low, ctx.number(unsigned, 0))
    computed = low if kind.compute_type == unsigned else ctx.op("convert", kind.compute_type, low)
    return narrow_integer(ctx, kind, computed)


def part_of_bits(ctx: ElementContext, source: ElementType, whole: Value, shift: SymbolicExpr) -> Value:
    """The bits of a value of `source` from bit `shift` on."""
    bits = bits_of(ctx, source, whole)
    return ctx.op("shr_logical", bits.element_type, bits, ctx.op("convert", bits.element_type, ctx.integer(shift)))


def joined_bits(ctx: ElementContext, parts: Sequence[Value], source: ElementType, target: ElementType) -> Value:
    """The bits of a value of `target`, joined from the bits of values of `source`, lowest first."""
    unsigned = f"u{max(_width(target), 8)}"
    joined = ctx.number(unsigned, 0)
    for k, part in enumerate(parts):
        own = bits_of(ctx, source, part)
        wide = own if own.element_type == unsigned else ctx.op("convert", unsigned, own)
        shifted = ctx.op("shl", unsigned, wide, ctx.number(unsigned, k * _width(source)))
        joined = ctx.op("or", unsigned, joined, shifted)
    return joined


def _element(ctx: ElementContext, instruction: Instruction, output: int, index: Index) -> Value:
    source, target = _kinds(instruction)
    rank, operand_rank = len(index), len(instruction.operands[0].shape.dimensions)
    if source is target:
        return ctx.operand(instruction, 0, index)
    if rank == operand_rank:
        bits = bits_of(ctx, source, ctx.operand(instruction, 0, index))
    elif rank > operand_rank:
        bits = part_of_bits(ctx, source, ctx.operand(instruction, 0, index[:-1]), index[-1] * _width(target))
    else:
        count = instruction.operands[0].shape.dimensions[-1]
        parts = [ctx.operand(instruction, 0, (*index, ctx.constant(k))) for k in range(count)]
        bits = joined_bits(ctx, parts, source, target)
    return ctx.let(target.name, from_bits(ctx, target, bits), rounds=False)


def resized(memory: Array, source: ElementType, target: ElementType) -> Array:
    """A row of elements reinterpreted as elements of another width, lowest bits first."""
    narrow, wide = sorted((_width(source), _width(target)))
    bits, mask = _to_bits(memory, source), np.uint64((1 << narrow) - 1)
    shifts = np.arange(wide // narrow, dtype=np.uint64) * np.uint64(narrow)
    if narrow == _width(target):
        return _from_bits(((bits[:, None] >> shifts) & mask).reshape(-1), target)
    return _from_bits(np.bitwise_or.reduce(bits.reshape(-1, len(shifts)) << shifts, axis=1), target)


OPS: tuple[Op, ...] = (
    Op(
        "bitcast-convert",
        "out[i] = the bits of in[i] as another type; another width splits or joins along the last dimension",
        _output_to_input,
        _reference,
        element=_element,
        operations=one_each_element,
    ),
)
