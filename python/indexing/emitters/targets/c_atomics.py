"""Atomic updates of one element: native where the target has one for opcode and type, else compare and swap.

An element of one or two bytes is swapped inside of the 32-bit word that holds it, where the target swaps none so narrow.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from indexing.emitters.ir import nodes as ir
from indexing.emitters.ir.types import decoded, encoded, storage_type
from indexing.emitters.targets.c_index import ATOM
from indexing.errors import CompileError

if TYPE_CHECKING:
    from indexing.emitters.targets.c_body import BodyWriter

WORD = 4  # bytes


def write_atomic(body: BodyWriter, s: ir.AtomicUpdate) -> None:
    """Lines for `buffer[index] = combiner(buffer[index], value)`, as if no other thread came between."""
    kind = body.unit.buffers[s.buffer].element_type
    if not body.target.has_threads and body.unit.kernel.grid == (1, 1, 1):
        _update(body, s, kind)
        return
    native = body.target.atomics.get((s.opcode, kind))
    if native is not None:
        text = native.format(pointer=f"({body.pointer(s.buffer, s.index)})", value=body.values.text(s.value))
        body.line(f"{text};")
        return
    storage = storage_type(kind)
    size = int(storage[1:]) // 8
    if size > 8:
        raise CompileError(f"an atomic update of {kind} is wider than a word; the target swaps at most 8 bytes")
    _swap(body, s, kind, size)


def _update(body: BodyWriter, s: ir.AtomicUpdate, kind: str) -> None:
    """Plainly, as no other thread can come between."""
    now = body.fresh("now")
    before = decoded(kind, ir.Load(storage_type(kind), s.buffer, s.index))
    body.block((ir.CallFunction((now,), s.combiner, (), (before, s.value)),))
    body.block((ir.Store(s.buffer, s.index, encoded(kind, ir.Ref(s.value.type, now))),))


def _swap(body: BodyWriter, s: ir.AtomicUpdate, kind: str, size: int) -> None:
    """Until no other thread has come between: read, compute, compare and swap."""
    unit, target = body.unit, body.target
    own = f"u{8 * size}"
    word = unit.use(own if own in target.compare_and_swap else "u32")
    at, old, seen, now = (body.fresh(name) for name in ("at", "old", "seen", "now"))
    pointer = f"{target.spaces[unit.buffers[s.buffer].space]}{target.volatile}{word} *"
    element, shift = body.pointer(s.buffer, s.index), ""
    if word != own:
        parts = WORD // size
        place = body.fresh("place")
        body.line(f"const {unit.use('s64')} {place} = {body.place(s.buffer, s.index)};")
        element, shift = f"{s.buffer} + {place} / {parts}", f"({unit.use('s32')})({place} % {parts}) * {8 * size}"
    given = body.fresh("given")
    body.line(f"const {unit.use(s.value.type)} {given} = {body.values.text(s.value)};")
    body.line(f"{pointer}{at} = ({pointer}){element};")
    body.line(f"{word} {old} = *{at}, {seen};")
    body.line("do {")
    body.depth += 1
    body.line(f"{seen} = {old};")
    current = _from_bits(body, kind, f"({seen} >> ({shift}))" if shift else seen)
    stored = body.fresh("stored")
    body.line(f"const {unit.use(storage_type(kind))} {stored} = {current};")
    before = decoded(kind, ir.Ref(storage_type(kind), stored))
    call = ir.CallFunction((now,), s.combiner, (), (before, ir.Ref(s.value.type, given)))
    body.block((call,))
    fresh = _to_bits(body, kind, encoded(kind, ir.Ref(s.value.type, now)))
    if shift:
        mask = f"({(1 << 8 * size) - 1}u << ({shift}))"
        fresh = f"({seen} & ~{mask}) | (({unit.use('u32')})({fresh}) << ({shift}))"
    swap = target.compare_and_swap[word].format(pointer=at, expected=seen, value=fresh)
    body.line(f"{old} = {swap};")
    body.depth -= 1
    body.line(f"}} while ({old} != {seen});")


def _from_bits(body: BodyWriter, kind: str, bits: str) -> str:
    """C text of the storage element whose bits are the low ones of a word."""
    use = body.unit.use
    if kind in ("f32", "f64"):
        return f"{use('float_' + kind)}({bits})"
    if kind == "c64":
        part, word = use("float_f32"), use("u32")
        return f"{use('make_c64')}({part}(({word})({bits})), {part}(({word})({bits} >> 32)))"
    return f"({use(storage_type(kind))})({bits})"


def _to_bits(body: BodyWriter, kind: str, value: ir.Value) -> str:
    """C text of a word whose low bits are those of a storage element."""
    use = body.unit.use
    text = body.values.written(value).under(ATOM)
    if kind in ("f32", "f64"):
        return f"{use('bits_' + kind)}({text})"
    if kind == "c64":
        part = use("bits_f32")
        return f"(({use('u64')}){part}({text}.y) << 32 | {part}({text}.x))"
    return f"({use('u' + storage_type(kind)[1:])}){text}"
