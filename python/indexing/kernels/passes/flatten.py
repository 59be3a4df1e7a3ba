"""Flattening of buffers: each multi-dimensional index becomes the linear position that the buffer's layout gives it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from indexing._core import SymbolicExpr, constant
from indexing.hlo.layout import element_strides
from indexing.kernels.ir import nodes as ir
from indexing.kernels.ir.traversal import replace_statements, rewrite_bodies, rewrite_statement, rewrite_value


def flatten_buffers(kernel: ir.Kernel) -> ir.Kernel:
    """The kernel with one-dimensional accesses; the `dimensions` of arguments stay those that callers pass."""
    buffers = {b.name: b for b in kernel.buffers}

    def flat(f: ir.Function | ir.Kernel) -> tuple[ir.Block, Iterator[ir.Value]]:
        flattening = _Flattener(buffers, f.variables)
        body = replace_statements(f.body, flattening.statement)
        return body, (rewrite_value(r, flattening.value) for r in f.results)

    return rewrite_bodies(kernel, flat)


def position(buffer: ir.Buffer, index: Sequence[SymbolicExpr]) -> SymbolicExpr:
    """The position of an index in memory, in elements."""
    strides = element_strides(buffer.dimensions, buffer.layout)
    return sum((e * stride for e, stride in zip(index, strides, strict=True)), constant(0))


class _Flattener:
    def __init__(self, buffers: dict[str, ir.Buffer], variables: tuple[ir.IndexVariable, ...]) -> None:
        self.buffers = buffers
        self.intervals = [v.interval for v in variables]

    def value(self, value: ir.Value) -> ir.Value:
        if isinstance(value, ir.Load):
            return ir.Load(value.type, value.buffer, self._flat(value.buffer, value.index))
        return value

    def statement(self, statement: ir.Statement) -> ir.Block:
        rewritten = rewrite_statement(statement, self.value)
        if isinstance(rewritten, ir.Store | ir.AtomicUpdate | ir.FetchAdd):
            return (replace(rewritten, index=self._flat(rewritten.buffer, rewritten.index)),)
        return (rewritten,)

    def _flat(self, name: str, index: ir.Index) -> ir.Index:
        return (position(self.buffers[name], index).simplify(self.intervals),)
