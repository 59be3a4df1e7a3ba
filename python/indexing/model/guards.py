"""Guards around an access in loops: the part that they leave of the lines that the loops reach, and of the bytes.

The laws are those of docs/prediction.md, "CPUs".
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from typing import TypeAlias

from indexing.model.cache_lines import Level

__all__ = ["Guard", "Moving", "first_periods", "reached"]

#: A level of an access or an index, and the variable that moves it.
Moving: TypeAlias = "tuple[int, Level]"


@dataclass(frozen=True, slots=True)
class Guard:
    """A condition that holds with a `probability`. `periods` has the variables with which it changes, and after how many of
    their steps it repeats; it is None where data decide, at each place or else once for a block.
    """

    probability: float
    periods: Mapping[int, float] | None = None
    is_everywhere: bool = False

    def stays(self, variable: int) -> float:
        """The number of steps of a variable for which it holds without a pause."""
        if self.periods is None:
            return 1.0 if self.is_everywhere else inf
        return max(self.probability * self.periods[variable], 1.0)

    def narrowed(self, levels: Sequence[Moving]) -> tuple[list[Moving], float]:
        """The levels without the turns in which it does not hold, where those lead to the same elements again; and the
        probability that is left for other levels.
        """
        narrowed, left = list(levels), self.probability
        for k, (v, (distance, turns)) in reversed(list(enumerate(levels))):
            if distance == 0 and self.moves(v):
                fewer = max(turns * left, 1.0)
                narrowed[k], left = (v, (distance, fewer)), min(left * turns / fewer, 1.0)
        return narrowed, left

    def moves(self, variable: int) -> bool:
        """Whether it may change with a variable."""
        return self.periods is None or variable in self.periods


def reached(
    guards: Iterable[Guard], levels: Sequence[Moving], size: int, line: int
) -> tuple[list[Moving], float, float]:
    """The levels of an access of elements of a size as far as guards hold, and the parts that guards leave of its lines and of
    its bytes: a line moves if they hold at one of its elements.
    """
    moving, of_lines, of_bytes = list(levels), 1.0, 1.0
    for guard in guards:
        moving, left = guard.narrowed(moving)
        near = next((guard.stays(v) * abs(d) * size for v, (d, _) in moving if d and guard.moves(v)), inf)
        of_lines, of_bytes = of_lines * min(left * max(line / near, 1.0), 1.0), of_bytes * left
    return moving, of_lines, of_bytes


def first_periods(levels: Iterable[Moving]) -> dict[int, float]:
    """For each variable that moves an index, the steps after which the index is where it was, or is somewhere else by more than
    its first digit.
    """
    periods: dict[int, float] = {}
    moved = set()
    for v, (distance, length) in levels:
        if v not in moved:
            periods[v] = periods.get(v, 1.0) * length
        if distance:
            moved.add(v)
    return {v: period for v, period in periods.items() if v in moved}
