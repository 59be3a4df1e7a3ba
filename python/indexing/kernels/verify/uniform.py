"""The check of barriers: each is reached by all threads of its block, or by none, since control flow around it is uniform."""

from __future__ import annotations

from collections.abc import Iterator

from indexing._core import SymbolicExpr
from indexing.kernels.ir import nodes as ir
from indexing.kernels.ir.copying import names_of
from indexing.kernels.ir.traversal import expressions_of, may_leave, subvalues, values_of
from indexing.kernels.verify.check import Check


def has_barrier(block: ir.Block) -> bool:
    """Whether a block of statements has a barrier, or one that all threads of a warp execute together."""
    return any(
        isinstance(s, ir.Barrier | ir.GroupReduce | ir.LoadMatrices | ir.MatrixMultiply) for s in ir.statements(block)
    )


def check_barriers(kernel: ir.Kernel) -> Iterator[Check]:
    """One check for each branch or loop that has barriers."""
    if has_barrier(kernel.body):
        uniformity = _Uniformity(kernel)
        known = -1
        while known < uniformity.count:  # an iteration of a loop reads what the previous one assigned
            known = uniformity.count
            checks = list(uniformity.block(kernel.body))
        yield from checks


class _Uniformity:
    """The names and index variables that may differ among threads of a block."""

    def __init__(self, kernel: ir.Kernel) -> None:
        ids = range(3)
        self.variables = {k for k in ids if kernel.variables[k].interval.upper > 0}
        self.names: set[str] = set()
        self.same_for_all = {b.name for b in kernel.buffers if b.space in ("shared", "constant") or b.role == "input"}
        self.depth = 0

    @property
    def count(self) -> int:
        """The number of names and variables that may differ."""
        return len(self.names) + len(self.variables)

    def block(self, block: ir.Block) -> Iterator[Check]:
        for statement in block:
            yield from self._statement(statement)

    def _statement(self, s: ir.Statement) -> Iterator[Check]:
        if isinstance(s, ir.If):
            varies = any(map(self._varies, s.conditions))
            yield from self._check_barriers(s, varies, "a branch")
            yield from self._inside(varies, (*s.then, *s.otherwise))
        elif isinstance(s, ir.For):
            varies = self._index_varies(s.start) or self._index_varies(s.stop)
            varies = varies or may_leave(s.body)
            if varies:
                self.variables.add(s.variable)
            yield from self._check_barriers(s, varies, "a loop")
            yield from self._inside(varies, s.body)
        else:
            self._define(s)

    def _inside(self, varies: bool, block: ir.Block) -> Iterator[Check]:
        self.depth += varies
        yield from self.block(block)
        self.depth -= varies

    def _check_barriers(self, s: ir.If | ir.For, varies: bool, what: str) -> Iterator[Check]:
        blocks = (s.then, s.otherwise) if isinstance(s, ir.If) else (s.body,)
        if any(map(has_barrier, blocks)):
            reason = "not all threads of the block reach its barriers" if varies else ""
            yield Check("barrier", f"{what} with barriers", "refuted" if varies else "proved", reason)

    def _define(self, s: ir.Statement) -> None:
        if isinstance(s, ir.LetIndex):
            varies = self._index_varies(s.value) if isinstance(s.value, SymbolicExpr) else self._varies(s.value)
            if varies:
                self.variables.add(s.variable)
        elif isinstance(s, ir.Assign | ir.Let) or names_of(s):
            is_own = isinstance(s, ir.FetchAdd | ir.Shuffle | ir.CallFunction | ir.GroupReduce)
            if is_own or self.depth or any(map(self._varies, values_of(s))):
                self.names.update(names_of(s))
                if isinstance(s, ir.Assign):
                    self.names.add(s.name)
        if isinstance(s, ir.GroupReduce):
            self.names.update(s.names)

    def _index_varies(self, expression: SymbolicExpr) -> bool:
        return bool(self.variables.intersection(expression.used_variables()))

    def _varies(self, value: ir.Value) -> bool:
        for v in subvalues(value):
            if isinstance(v, ir.Ref) and v.name in self.names:
                return True
            if any(map(self._index_varies, expressions_of(v))):
                return True
            if isinstance(v, ir.Load) and v.buffer not in self.same_for_all:
                return True
        return False
