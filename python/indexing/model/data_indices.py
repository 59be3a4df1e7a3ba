"""Indices of a kernel that data decide, such as the rows of a gather: the loops and blocks with which they change."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from indexing._core import SymbolicExpr
from indexing.kernels.ir import nodes as ir
from indexing.kernels.ir.nodes import Statement, Value
from indexing.kernels.ir.traversal import all_values

if TYPE_CHECKING:
    Variables = frozenset[int]

__all__ = ["DataIndices"]

_NONE: Variables = frozenset()


class DataIndices:
    """The counters and ids with which values and index variables change, as far as their definitions were met."""

    def __init__(self) -> None:
        """Start without definitions."""
        self._of_name: dict[str, Variables] = {}
        self._of_index: dict[int, Variables] = {}
        self._of_data: dict[int, Variables] = {}

    def define(self, s: Statement) -> None:
        """Follow a statement's definition; others define nothing."""
        if isinstance(s, ir.Let | ir.Var | ir.Assign):
            changes = map(self._of_value, all_values(s))
            self._of_name[s.name] = self._of_name.get(s.name, _NONE).union(*changes)
        elif isinstance(s, ir.LetIndex) and isinstance(s.value, SymbolicExpr):
            self._of_index[s.variable] = self._of_variables(s.value)
            self._of_data[s.variable] = self.changes(s.value)
        elif isinstance(s, ir.LetIndex):
            decided = _NONE.union(*map(self._of_value, all_values(s)))
            self._of_index[s.variable] = self._of_data[s.variable] = decided

    def changes(self, index: SymbolicExpr) -> Variables:
        """The counters and ids with which data change an index; none if data decide no part of it."""
        return _NONE.union(*(self._of_data.get(k, _NONE) for k in index.used_variables()))

    def _of_value(self, value: Value) -> Variables:
        if isinstance(value, ir.Ref):
            return self._of_name.get(value.name, _NONE)
        if isinstance(value, ir.Load):
            return _NONE.union(*map(self._of_variables, value.index))
        return self._of_variables(value.expression) if isinstance(value, ir.IndexValue | ir.Within) else _NONE

    def _of_variables(self, index: SymbolicExpr) -> Variables:
        each: Iterable[Variables] = (self._of_index.get(k, frozenset((k,))) for k in index.used_variables())
        return _NONE.union(*each)
