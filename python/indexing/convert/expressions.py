"""Translation of expressions to another notation, node by node."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from indexing._core import IndexingMap, SymbolicExpr
from indexing.errors import InvalidMap

Written = TypeVar("Written")


def written(e: SymbolicExpr, node: Callable[[str, Sequence[int], list[Written]], Written]) -> Written:
    """The expression translated bottom-up, each node once, by `node(kind, numbers, translated operands)`.

    Kinds and numbers are those of `SymbolicExpr.nodes`.
    """
    done: list[Written] = []
    for kind, numbers, operands in e.nodes():
        done.append(node(kind, numbers, [done[k] for k in operands]))
    return done[-1]


def names_of(m: IndexingMap) -> list[str]:
    """A name for each variable: its own, or `v` and its number."""
    return [v.name or f"v{k}" for k, v in enumerate(m.variables)]


def check_has_value(m: IndexingMap) -> None:
    """Raise InvalidMap for a map that is undefined or known to be empty."""
    if m.is_undefined or m.is_known_empty:
        raise InvalidMap(f"the map is {m}: there is nothing to convert")
