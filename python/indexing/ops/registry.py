"""The registry of ops: each module of this package ends with its `OPS`; the tuple below lists the modules."""

from __future__ import annotations

from types import ModuleType

from indexing.errors import did_you_mean
from indexing.hlo import Instruction
from indexing.ops import (
    assemble,
    batch_norm,
    collective,
    control,
    convolution,
    dot,
    dynamic,
    elementwise,
    gather,
    linalg,
    reduce,
    rng,
    scan,
    scatter,
    shape,
    sort,
    tuples,
    window,
)
from indexing.ops.library_calls import custom_call
from indexing.ops.op import Op
from indexing.ops.operand_indexing import Indexing, unknown

MODULES: tuple[ModuleType, ...] = (
    assemble,
    batch_norm,
    collective,
    control,
    convolution,
    dot,
    dynamic,
    elementwise,
    gather,
    custom_call,
    linalg,
    reduce,
    rng,
    scan,
    scatter,
    shape,
    sort,
    tuples,
    window,
)

REGISTRY: dict[str, Op] = {op.opcode: op for module in MODULES for op in module.OPS}


def op_of(instruction: Instruction) -> Op:
    """The op of the instruction's opcode; UnsupportedOp where there is none."""
    op = REGISTRY.get(instruction.opcode)
    if op is None:
        known = f"opcode {instruction.opcode!r} is not one of HLO's {len(REGISTRY)} known opcodes"
        raise instruction.unsupported(f"{instruction.name}: {known}{did_you_mean(instruction.opcode, REGISTRY)}")
    return op


def _unknown(instruction: Instruction, which: int) -> Indexing:
    return [[unknown(f"{instruction.opcode!r} is no opcode of HLO")] for _ in instruction.operands]


UNKNOWN = Op("unknown", "whatever it means", _unknown, None, exactness="unknown")


def traits_of(instruction: Instruction) -> Op:
    """The instruction's op, for its traits; UNKNOWN for an opcode that HLO doesn't have."""
    return REGISTRY.get(instruction.opcode, UNKNOWN)
