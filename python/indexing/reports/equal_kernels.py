"""Equality of kernels: equal computations on arrays of equal shapes and layouts, regardless of names."""

from __future__ import annotations

from typing import TypeAlias

from indexing.hlo import Computation, Instruction

#: The key that equal kernels have in common.
Key: TypeAlias = "tuple[object, ...]"
_NAMES = frozenset({"metadata", "backend_config", "frontend_attributes", "calls", "to_apply", "sharding"})


def content_key(i: Instruction) -> Key:
    """Opcode, shapes and attributes of the instruction, and of all instructions within, without names."""
    return (_own(i), *(str(o.shape) for o in i.operands), *(_inside(c) for c in i.called))


def _inside(computation: Computation) -> Key:
    order = computation.post_order()
    number = {i: k for k, i in enumerate(order)}
    return tuple((_own(i), *(number[o] for o in i.operands), *map(_inside, i.called)) for i in order)


def _own(i: Instruction) -> Key:
    kept = tuple(sorted((k, v) for k, v in i.attributes.items() if k not in _NAMES))
    literal = str(i).split(" = ", 1)[-1].partition(", metadata=")[0] if not i.operands else ""
    return i.opcode, str(i.shape), kept, literal
