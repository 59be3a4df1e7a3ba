"""Walks over graphs of any kind, without recursion: what is reached from some nodes, and an order of what is needed."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import TypeVar

Node = TypeVar("Node", bound=Hashable)


def reached(starts: Iterable[Node], following: Callable[[Node], Iterable[Node]]) -> Iterator[Node]:
    """The starts and all that follow them, directly or indirectly, each once, the nearest first."""
    seen = dict.fromkeys(starts)
    pending = deque(seen)
    while pending:
        node = pending.popleft()
        yield node
        new = dict.fromkeys(n for n in following(node) if n not in seen)
        seen |= new
        pending.extend(new)


def post_order(starts: Iterable[Node], needs: Callable[[Node], Iterable[Node]]) -> list[Node]:
    """The starts and all that they need, directly or indirectly, each once, after what it needs; there are no cycles."""
    order: dict[Node, None] = {}
    for start in starts:
        path = [] if start in order else [(start, iter(needs(start)))]
        while path:
            node, needed = path[-1]
            missing = next((n for n in needed if n not in order), None)
            if missing is None:
                order[node] = None
                path.pop()
            else:
                path.append((missing, iter(needs(missing))))
    return list(order)
