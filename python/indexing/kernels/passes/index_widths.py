"""Widths of indices: an index that is used as a value has 32 bits if its range fits."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from indexing.kernels.ir.nodes import Block, Function, IndexValue, IndexVariable, Kernel, Op, Value
from indexing.kernels.ir.traversal import rewrite_bodies, rewrite_value, rewrite_values


def narrow_indices(kernel: Kernel) -> Kernel:
    """The kernel with index values of type s32 where their range fits."""

    def narrowed(f: Function | Kernel) -> tuple[Block, Iterator[Value]]:
        on_value = _narrowing(f.variables)
        return rewrite_values(f.body, on_value), (rewrite_value(r, on_value) for r in f.results)

    return rewrite_bodies(kernel, narrowed)


def _narrowing(variables: tuple[IndexVariable, ...]) -> Callable[[Value], Value]:
    intervals = [v.interval for v in variables]

    def on_value(value: Value) -> Value:
        if not isinstance(value, Op) or not _takes_any_integer(value):
            return value
        (operand,) = value.operands
        narrow = _narrow(operand)
        return value if narrow is operand else replace(value, operands=(narrow,))

    def _narrow(value: Value) -> Value:
        if not isinstance(value, IndexValue) or value.type == "s32":
            return value
        known = value.expression.range(intervals)
        return replace(value, type="s32") if known.lower >= -(2**31) and known.upper < 2**31 else value

    return on_value


def _takes_any_integer(op: Op) -> bool:
    """Whether an operand's type may be changed, which only conversions allow."""
    return op.opcode == "convert"
