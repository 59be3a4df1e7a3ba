"""Atomic updates: native if the target has one for opcode and type, of neighbours together; else by compare-and-swap.

An element of one or two bytes is swapped within its 32-bit word if the target can't swap elements that narrow.
"""

from __future__ import annotations

from dataclasses import replace

from indexing.errors import CompileError
from indexing.kernels.ir import nodes as ir
from indexing.kernels.ir.types import decoded, encoded, storage_type
from indexing.kernels.targets.c_index import ATOM
from indexing.kernels.targets.c_statements import StatementWriter

WORD = 4  # bytes


def write_atomic(writer: StatementWriter, s: ir.AtomicUpdate) -> None:
    """Write an atomic `buffer[index] = combiner(buffer[index], value)`, of neighbours one by one unless there is a function."""
    buffer = writer.unit.buffers[s.buffer]
    name = f"{s.opcode}_at_{buffer.element_type}_{len(s.values)}"
    if buffer.space == "global" and name in writer.target.library:
        values = [writer.values.text(_in_memory(buffer.element_type, v)) for v in s.values]
        writer.line(f"{writer.unit.use(name)}({', '.join([writer.pointer(s.buffer, s.index), *values])});")
        return
    for k, value in enumerate(s.values):
        place = (s.index[0] + k,) if k else s.index
        _write_one(writer, replace(s, index=place, values=(value,)), buffer.element_type)


def _in_memory(kind: str, value: ir.Value) -> ir.Value:
    """The element in memory for a value, which may have been decoded from one."""
    if isinstance(value, ir.Op) and value.opcode == "decode" and value.format == kind:
        return value.operands[0]
    return encoded(kind, value)


def _write_one(writer: StatementWriter, s: ir.AtomicUpdate, kind: str) -> None:
    """Write the update of one element."""
    if not writer.target.has_threads and writer.unit.kernel.grid == (1, 1, 1):
        _update(writer, s, kind)
        return
    (value,) = s.values
    native = writer.target.atomics.get((s.opcode, kind))
    if native is not None:
        text = native.format(pointer=f"({writer.pointer(s.buffer, s.index)})", value=writer.values.text(value))
        writer.line(f"{text};")
        return
    storage = storage_type(kind)
    size = int(storage[1:]) // 8
    if size > 8:
        raise CompileError(f"an atomic update of {kind} is wider than a word; the target swaps at most 8 bytes")
    _swap(writer, s, kind, size)


def _update(writer: StatementWriter, s: ir.AtomicUpdate, kind: str) -> None:
    """Write a plain update, since no other thread can interfere."""
    now = writer.fresh("now")
    before = decoded(kind, ir.Load(storage_type(kind), s.buffer, s.index))
    writer.statement(ir.CallFunction((now,), s.combiner, (), (before, *s.values)))
    writer.statement(ir.Store(s.buffer, s.index, encoded(kind, ir.Ref(s.values[0].type, now))))


def _swap(writer: StatementWriter, s: ir.AtomicUpdate, kind: str, size: int) -> None:
    """Write a loop that reads, computes, and compares and swaps, until no other thread has interfered."""
    unit, target = writer.unit, writer.target
    (value,) = s.values
    own = f"u{8 * size}"
    word = unit.use(own if own in target.compare_and_swap else "u32")
    at, old, seen, now = (writer.fresh(name) for name in ("at", "old", "seen", "now"))
    space = target.spaces[unit.buffers[s.buffer].space]
    pointer = f"{space}{word} *"
    element, shift = writer.pointer(s.buffer, s.index), ""
    if word != own:
        parts = WORD // size
        place = writer.fresh("place")
        writer.line(f"const {unit.use('s64')} {place} = {writer.place(s.buffer, s.index)};")
        element, shift = f"{s.buffer} + {place} / {parts}", f"({unit.use('s32')})({place} % {parts}) * {8 * size}"
    given = writer.fresh("given")
    writer.line(f"const {unit.use(value.type)} {given} = {writer.values.text(value)};")
    writer.line(f"{pointer}{at} = ({pointer}){element};")
    # Others swap this word meanwhile: a plain read would race with them, and the compiler might repeat it within the loop.
    writer.line(f"{word} {old} = *({space}volatile {word} *){at}, {seen};")
    writer.line("do {")
    writer.depth += 1
    writer.line(f"{seen} = {old};")
    current = _from_bits(writer, kind, f"({seen} >> ({shift}))" if shift else seen)
    stored = writer.fresh("stored")
    writer.line(f"const {unit.use(storage_type(kind))} {stored} = {current};")
    before = decoded(kind, ir.Ref(storage_type(kind), stored))
    call = ir.CallFunction((now,), s.combiner, (), (before, ir.Ref(value.type, given)))
    writer.statement(call)
    fresh = _to_bits(writer, kind, encoded(kind, ir.Ref(value.type, now)))
    if shift:
        mask = f"({(1 << 8 * size) - 1}u << ({shift}))"
        fresh = f"({seen} & ~{mask}) | (({unit.use('u32')})({fresh}) << ({shift}))"
    swap = target.compare_and_swap[word].format(pointer=at, expected=seen, value=fresh)
    writer.line(f"{old} = {swap};")
    writer.depth -= 1
    writer.line(f"}} while ({old} != {seen});")


def _from_bits(writer: StatementWriter, kind: str, bits: str) -> str:
    """C text of the storage element whose bits are the low ones of a word."""
    use = writer.unit.use
    if kind in ("f32", "f64"):
        return f"{use('float_' + kind)}({bits})"
    if kind == "c64":
        part, word = use("float_f32"), use("u32")
        return f"{use('make_c64')}({part}(({word})({bits})), {part}(({word})({bits} >> 32)))"
    return f"({use(storage_type(kind))})({bits})"


def _to_bits(writer: StatementWriter, kind: str, value: ir.Value) -> str:
    """C text of a word whose low bits are those of a storage element."""
    use = writer.unit.use
    text = writer.values.written(value).as_operand(ATOM)
    if kind in ("f32", "f64"):
        return f"{use('bits_' + kind)}({text})"
    if kind == "c64":
        part = use("bits_f32")
        return f"(({use('u64')}){part}({text}.y) << 32 | {part}({text}.x))"
    return f"({use('u' + storage_type(kind)[1:])}){text}"
