"""Copies of statements with fresh names, for inlining, peeling and unrolling."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from indexing._core import Interval, SymbolicExpr, variable
from indexing.cached import cached_property
from indexing.kernels.ir import nodes as ir
from indexing.kernels.ir.traversal import rewrite_blocks, rewrite_statement, rewrite_value

_NAMING = (ir.Let, ir.Var, ir.FetchAdd, ir.Shuffle)


def names_of(statement: ir.Statement) -> tuple[str, ...]:
    """The names that a statement defines."""
    if isinstance(statement, _NAMING):
        return (statement.name,)
    return statement.names if isinstance(statement, ir.CallFunction) else ()


def changed_by(statement: ir.Statement) -> tuple[str, ...]:
    """The variables that a statement itself gives new values."""
    if isinstance(statement, ir.Assign):
        return (statement.name,)
    return statement.names if isinstance(statement, ir.GroupReduce) else ()


class Names:
    """The index variables and the names of a function that copies are added to."""

    def __init__(self, function: ir.Function | ir.Kernel) -> None:
        """Start with the variables and names of a function, or of the entry of a kernel."""
        self.variables = list(function.variables)
        self._function = function
        self._counts: dict[str, int] = {}

    @property
    def intervals(self) -> list[Interval]:
        """The intervals of the index variables."""
        return [v.interval for v in self.variables]

    def simplified(self, expression: SymbolicExpr) -> SymbolicExpr:
        """The simplified expression, for index variables in their intervals."""
        return expression.simplify(self.intervals)

    @cached_property
    def used(self) -> set[str]:
        """The names in use, collected on first access, since most functions never need a fresh one."""
        f = self._function
        used = {n for s in ir.statements(f.body) for n in names_of(s)}
        return used.union((p.name for p in f.parameters), (v.name for v in f.variables))

    def fresh(self, name: str) -> str:
        """A name like `name` that is not in use yet."""
        if name in self.used:
            stem = name.split("_")[0]
            count = self._counts.get(stem, 0)
            while name in self.used:
                count += 1
                name = f"{stem}_{count}"
            self._counts[stem] = count
        self.used.add(name)
        return name

    def add_variable(self, like: ir.IndexVariable) -> int:
        """The number of a new index variable, with a name like that of another, and its interval."""
        self.variables.append(replace(like, name=self.fresh(like.name)))
        return len(self.variables) - 1

    def copied(self, body: ir.Block, places: Mapping[int, SymbolicExpr] | None = None) -> ir.Block:
        """A copy of a part of the function's body, with `places` in the place of index variables."""
        return Copying(self, self.variables, body, places or {}, {}).body


class Copying:
    """A copy of a body: its definitions get fresh names from `names`; `places` and `values` replace free ones."""

    def __init__(
        self,
        names: Names,
        source: tuple[ir.IndexVariable, ...] | list[ir.IndexVariable],
        body: ir.Block,
        places: Mapping[int, SymbolicExpr],
        values: Mapping[str, ir.Value],
    ) -> None:
        """Copy a body whose expressions are over the index variables `source`."""
        self._values: dict[str, ir.Value] = dict(values)
        self._names: dict[str, str] = {}
        self._places = [places.get(k, variable(k)) for k in range(len(source))]
        self._targets: dict[int, int] = {}
        for s in ir.statements(body):
            for name in names_of(s):
                self._names[name] = names.fresh(name)
            if isinstance(s, ir.LetIndex | ir.For):
                number = self._targets[s.variable] = names.add_variable(source[s.variable])
                self._places[s.variable] = variable(number)
        self.body = rewrite_blocks(body, lambda block: tuple(map(self._statement, block)))

    def value(self, value: ir.Value) -> ir.Value:
        """The copy of a value of the body."""
        return rewrite_value(value, self._value, self._index)

    def _value(self, value: ir.Value) -> ir.Value:
        if not isinstance(value, ir.Ref):
            return value
        if value.name in self._values:
            return self._values[value.name]
        name = self._names.get(value.name)
        return value if name is None else ir.Ref(value.type, name)

    def _index(self, expression: SymbolicExpr) -> SymbolicExpr:
        return expression.replace_variables(self._places)

    def _statement(self, statement: ir.Statement) -> ir.Statement:
        copied = rewrite_statement(statement, self._value, self._index)
        if isinstance(copied, ir.LetIndex | ir.For):
            return replace(copied, variable=self._targets[copied.variable])
        if isinstance(copied, ir.CallFunction | ir.GroupReduce):
            return replace(copied, names=tuple(self._names.get(n, n) for n in copied.names))
        name = getattr(copied, "name", None)
        return copied if name is None else replace(copied, name=self._names.get(name, name))
