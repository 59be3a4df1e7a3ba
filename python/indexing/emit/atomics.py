"""Atomic updates of one element of an array: native where the type and the reducer have one, else compare-and-swap.

Elements of one or two bytes are swapped inside of the 32-bit word that holds them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from indexing.emit.types import c_type, decoded, encoded
from indexing.ops.element import Value
from indexing.ops.element_types import element_type

if TYPE_CHECKING:
    from indexing.emit.elemental import FunctionWriter
    from indexing.hlo import Computation

ATOMIC_SIZES = (1, 2, 4, 8)
WORD = 4
INT64_ATOMICS = "#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable"

# Names by reducer; CUDA's take the types listed, OpenCL C's 32-bit integers.
_CUDA_NAMES = {
    "add": "atomicAdd",
    "maximum": "atomicMax",
    "minimum": "atomicMin",
    "and": "atomicAnd",
    "or": "atomicOr",
    "xor": "atomicXor",
}
_OPENCL_NAMES = {
    "add": "atomic_add",
    "maximum": "atomic_max",
    "minimum": "atomic_min",
    "and": "atomic_and",
    "or": "atomic_or",
    "xor": "atomic_xor",
}
_INTEGERS = frozenset({"s32", "u32", "s64", "u64"})
_CUDA_TYPES = {name: _INTEGERS | ({"f32", "f64"} if name == "add" else set()) for name in _CUDA_NAMES}
_OPENCL_TYPES = frozenset({"s32", "u32"})


def reducer_opcode(computation: Computation) -> str | None:
    """The opcode of a reducer that is one op on its two parameters; "second" where it returns the second one."""
    root = computation.root
    if root.opcode == "parameter" and root.parameter_number == 1:
        return "second"
    if [o.opcode for o in root.operands] != ["parameter", "parameter"] or root.operands[0] is root.operands[1]:
        return None
    return str(root.opcode)


def native_function(computation: Computation, kind: str, dialect: str) -> str | None:
    """The dialect's atomic function for a reducer on an element type; None where it has none."""
    opcode = reducer_opcode(computation)
    if opcode not in _CUDA_NAMES:
        return None
    if dialect == "cuda":
        return _CUDA_NAMES[opcode] if kind in _CUDA_TYPES[opcode] else None
    return _OPENCL_NAMES[opcode] if kind in _OPENCL_TYPES else None


def update_atomically(body: FunctionWriter, array: str, offset: str, computation: Computation, update: Value) -> None:
    """array[offset] = computation(array[offset], update), as if no other thread came between."""
    kind = update.element_type
    if reducer_opcode(computation) == "second":  # whichever thread comes last; one store can't be torn
        body.writer.line(f"{array}[{offset}] = {encoded(kind, update.text)};")
        return
    native = native_function(computation, kind, body.unit.dialect)
    if native is not None:
        pointer, argument = _pointer(computation, array, kind), _argument(computation, kind, update)
        body.writer.line(f"{native}({pointer} + {offset}, {argument});")
    else:
        _swap(body, array, offset, computation, update)


def _pointer(computation: Computation, array: str, kind: str) -> str:
    return f"(u64 *){array}" if _is_taken_as_unsigned(computation, kind) else array


def _argument(computation: Computation, kind: str, update: Value) -> str:
    return f"(u64){update}" if _is_taken_as_unsigned(computation, kind) else update.text


def _is_taken_as_unsigned(computation: Computation, kind: str) -> bool:
    """CUDA has the signed 64-bit forms of min and max alone; the others give the same bits."""
    return kind == "s64" and reducer_opcode(computation) not in ("maximum", "minimum")


def _swap(body: FunctionWriter, array: str, offset: str, computation: Computation, update: Value) -> None:
    """Until no other thread has come between: read, compute, compare and swap."""
    kind = update.element_type
    storage, w = c_type(kind), body.writer
    word = "u64" if storage.size == 8 else "u32"
    at, old, seen = (body.fresh(name) for name in ("at", "old", "seen"))
    volatile = "volatile " if body.unit.dialect == "opencl" else ""
    index, shift = offset, ""
    if storage.size < WORD:
        parts = WORD // storage.size
        place = body.fresh("place")
        w.line(f"const s64 {place} = {offset};")
        index, shift = f"{place} / {parts}", f"(s32)({place} % {parts}) * {8 * storage.size}"
    w.line(f"@global {volatile}{word} *{at} = (@global {volatile}{word} *){array} + {index};")
    w.line(f"{word} {old} = *{at}, {seen};")
    with w.block("do"):
        w.line(f"{seen} = {old};")
        bits = f"({seen} >> ({shift}))" if shift else seen
        current = body.let(kind, decoded(kind, _from_bits(kind, bits)), rounds=False)
        (new,) = body.apply(computation, [current, update])
        fresh = _to_bits(kind, encoded(kind, new.text))
        if shift:
            mask = f"({(1 << 8 * storage.size) - 1}u << ({shift}))"
            fresh = f"({seen} & ~{mask}) | ((u32)({fresh}) << ({shift}))"
        w.line(f"{old} = {_compare_and_swap(body, word)}({at}, {seen}, {fresh});")
    w.lines[-1] += f" while ({old} != {seen});"


def _compare_and_swap(body: FunctionWriter, word: str) -> str:
    if body.unit.dialect == "cuda":
        return "atomicCAS"
    return "atom_cmpxchg" if word == "u64" else "atomic_cmpxchg"


def _from_bits(kind: str, bits: str) -> str:
    """C text of the storage element whose bits are the low ones of a word."""
    storage = c_type(kind).storage
    if kind in ("f32", "f64"):
        return f"@float_{kind}({bits})"
    if kind == "c64":
        return f"@c64(@float_f32((u32)({bits})), @float_f32((u32)({bits} >> 32)))"
    return f"({storage})({bits})"


def _to_bits(kind: str, value: str) -> str:
    """C text of a word whose low bits are those of a storage element."""
    if kind in ("f32", "f64"):
        return f"@bits_{kind}({value})"
    if kind == "c64":
        return f"((u64)@bits_f32({value}.y) << 32 | @bits_f32({value}.x))"
    size = element_type(kind).bits
    return f"({_unsigned(max(size, 8))})({value})"


def _unsigned(bits: int) -> str:
    return f"u{bits}"
