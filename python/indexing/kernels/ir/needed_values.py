"""The loads whose values are needed under a condition alone: a compiler may move them there, so that fewer threads load."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator
from typing import TypeAlias

from indexing._core import SymbolicExpr
from indexing.kernels.ir import nodes as ir
from indexing.kernels.ir.accesses import Access, defined_by
from indexing.kernels.ir.memory import moves
from indexing.kernels.ir.traversal import values_of
from indexing.walks import reached

LOOP = -1
#: The numbers of the statements around one, outermost first, each with the branch that is taken, or LOOP; then its own number.
Path: TypeAlias = "tuple[int, ...]"
_NAMING = (ir.Let, ir.Var, ir.Assign)


class NeededValues:
    """The uses of each value of a body, and of each buffer of registers, by the places of statements.

    A select in a loop by a condition that stays needs one of its operands: compilers make two loops of it.
    """

    def __init__(self, body: ir.Block, registers: Collection[str]) -> None:
        """Follow the values of a body."""
        self._registers = registers
        self._uses: defaultdict[str, list[Path]] = defaultdict(list)
        self._flows: defaultdict[str, set[tuple[str, Path]]] = defaultdict(set)
        self._places: dict[str, Path] = {}  # of definitions, each the last one
        self._defining: set[Path] = set()
        for path, s in _statements(body, ()):
            self._follow(path, s)

    def only_under_condition(self, name: str, path: Path) -> bool:
        """Whether the value that a statement at a place defines is needed under one more condition than it is."""
        if path not in self._defining:
            return False

        def flows(value: tuple[str, Path]) -> Iterator[tuple[str, Path]]:
            return (to for to in self._flows[value[0]] if _may_follow(to[1], value[1]))

        is_used, conditions = False, _conditions(path)
        for value, since in reached([(name, path)], flows):
            uses = [p for p in self._uses[value] if _may_follow(p, since)]
            if any(_conditions(p) <= conditions for p in uses):
                return False
            is_used = is_used or bool(uses)
        return is_used

    def _follow(self, path: Path, s: ir.Statement) -> None:
        target = defined_by(s)
        is_named = isinstance(s, _NAMING) or (isinstance(s, ir.Store | ir.Copy) and target in self._registers)
        read = {use for value in values_of(s) for use in self._read(value, path)}
        read |= {(m.buffer, path) for m in moves(s) if m.kind == "load" and m.buffer in self._registers}
        if is_named:
            self._defining.add(path)
            self._places[target] = path
        for name, place in read:
            if place == path and is_named:
                self._flows[name].add((target, path))
            else:
                self._uses[name].append(place)

    def _read(self, value: ir.Value, path: Path) -> Iterator[tuple[str, Path]]:
        """The names that a value is made of, each with the place where it is needed: a select needs one of two operands."""
        if isinstance(value, ir.Ref):
            yield value.name, path
        elif isinstance(value, ir.Load) and value.buffer in self._registers:
            yield value.buffer, path
        elif isinstance(value, ir.Op):
            is_split = value.opcode == "select" and self._stays(value.operands[0], path)
            for k, operand in enumerate(value.operands):
                yield from self._read(operand, (*path, k, 0) if is_split and k else path)

    def _stays(self, condition: ir.Value, path: Path) -> bool:
        """Whether a condition has one value in all iterations of the innermost loop around a place."""
        inside = next((path[:k] for k in reversed(range(2, len(path))) if path[k - 1] == LOOP), ())
        names = [name for name, _ in self._read(condition, path)]
        return bool(names) and all(self._places.get(n, inside)[: len(inside)] != inside for n in names)


def path_of(access: Access) -> Path:
    """The place of the statement of an access."""
    return tuple(LOOP if isinstance(part, SymbolicExpr) else part for part in access.time[:-1])


def _statements(block: ir.Block, around: Path) -> Iterator[tuple[Path, ir.Statement]]:
    for number, s in enumerate(block):
        yield (*around, number), s
        for branch, inner in enumerate(ir.blocks_of(s)):
            yield from _statements(inner, (*around, number, LOOP if isinstance(s, ir.For) else branch))


def _may_follow(path: Path, since: Path) -> bool:
    """Whether a statement may be executed after another: it is behind it, or in a loop around both."""
    same = next((k for k, (p, s) in enumerate(zip(path, since, strict=False)) if p != s), min(len(path), len(since)))
    is_behind = same % 2 == 0 and same < min(len(path), len(since)) and path[same] > since[same]
    return is_behind or LOOP in path[1:same:2]


def _conditions(path: Path) -> int:
    return sum(branch != LOOP for branch in path[1::2])
