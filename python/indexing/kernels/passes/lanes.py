"""Index expressions in a loop over the lanes of a vector: their values relative to what is the same for all lanes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from indexing._core import SymbolicExpr, constant, variable
from indexing.kernels.ir.copying import names_of
from indexing.kernels.ir.nodes import Assign, For, IndexVariable, LetIndex, Load, Ref, Value, Within, statements
from indexing.kernels.ir.traversal import expressions_of, rewrite_value, subvalues


def lane_count(loop: For) -> int:
    """The number of lanes of a loop over lanes; 0 for other loops."""
    count = loop.stop.constant_value
    return count if loop.lanes and count is not None and loop.start.constant_value == 0 and loop.step == 1 else 0


@dataclass(frozen=True, slots=True)
class Place:
    """An index as `anchor + distance`: the anchor is the same for all lanes and has no constant term; `distance` depends on
    the lane alone, and has the values `offsets`, one for each lane.
    """

    anchor: SymbolicExpr
    distance: SymbolicExpr
    offsets: tuple[int, ...]

    @property
    def is_run(self) -> bool:
        """Whether the lanes have neighbouring elements, in their order."""
        return all(b == a + 1 for a, b in zip(self.offsets, self.offsets[1:], strict=False))


class LaneIndices:
    """The index expressions in one loop over lanes."""

    def __init__(self, variables: Sequence[IndexVariable], loop: For) -> None:
        """Collect the definitions of indices in the loop, over variables that are defined in front of it."""
        self.lane, self.count = loop.variable, lane_count(loop)
        self.intervals = [v.interval for v in variables]
        inner = list(statements(loop.body))
        self._definitions = [variable(k) for k in range(len(variables))]
        self._changing = {self.lane, *(s.variable for s in inner if isinstance(s, LetIndex | For))}
        self._names = {n for s in inner for n in names_of(s)} | {s.name for s in inner if isinstance(s, Assign)}
        self._known: dict[SymbolicExpr, tuple[SymbolicExpr, SymbolicExpr] | None] = {}
        for s in inner:
            if isinstance(s, LetIndex) and isinstance(s.value, SymbolicExpr):
                self._definitions[s.variable] = s.value.replace_variables(self._definitions)

    def place(self, index: SymbolicExpr, lanes: Sequence[int]) -> Place | None:
        """An index relative to an anchor; None if its distances from one depend on more than the lane."""
        if index not in self._known:
            self._known[index] = self._parts(index.replace_variables(self._definitions))
        parts = self._known[index]
        if parts is None:
            return None
        offsets = [self._at(parts[1], lane).constant_value for lane in lanes]
        return None if None in offsets else Place(*parts, tuple(n for n in offsets if n is not None))

    def _parts(self, whole: SymbolicExpr) -> tuple[SymbolicExpr, SymbolicExpr] | None:
        """The anchor, and the distance from it as an expression of the lane."""
        anchor = self._at(whole, 0).simplify(self.intervals)
        anchor = anchor - _constant_term(anchor)
        distance = (whole - anchor).simplify(self.intervals)
        if self._changing.intersection(anchor.used_variables()) or set(distance.used_variables()) - {self.lane}:
            return None
        return anchor, distance

    def _at(self, expression: SymbolicExpr, lane: int) -> SymbolicExpr:
        return expression.replace({variable(self.lane): constant(lane)})

    def decided(self, conditions: Sequence[Value], lane: int) -> bool | None:
        """Whether all conditions hold for a lane, if nothing else decides."""
        known = [self._holds(c, lane) for c in conditions]
        return False if False in known else None if None in known else True

    def _holds(self, condition: Value, lane: int) -> bool | None:
        if not isinstance(condition, Within):
            return None
        of_lane = self._at(condition.expression.replace_variables(self._definitions), lane).range(self.intervals)
        named = condition.expression.range(self.intervals)  # a name's interval may be less than that of its definition
        return condition.decided(of_lane.intersect(named))

    def uniform(self, conditions: Sequence[Value]) -> tuple[Value, ...] | None:
        """The conditions over what is defined in front of the loop, if they are the same for all lanes; None otherwise."""
        rewritten = tuple(rewrite_value(c, self._of_first_lane, self._in_front) for c in conditions)
        return rewritten if all(self._is_uniform(v) for c in rewritten for v in subvalues(c)) else None

    def _of_first_lane(self, value: Value) -> Value:
        """A condition on the first of neighbouring places, if none of its bounds lies between two of them."""
        if not isinstance(value, Within) or self.lane not in value.expression.used_variables():
            return value
        place = self.place(value.expression, range(self.count))
        if place is None or not place.is_run or not place.anchor.is_multiple_of(self.count):
            return value
        first, last = place.offsets[0], self.count - 1
        ends = [n - first for n in (value.lower, None if value.upper is None else value.upper + 1) if n is not None]
        if any(n % self.count for n in ends):
            return value
        return Within(place.anchor + first, value.lower, None if value.upper is None else value.upper - last)

    def _in_front(self, expression: SymbolicExpr) -> SymbolicExpr:
        return expression.replace_variables(self._definitions)

    def _is_uniform(self, value: Value) -> bool:
        if isinstance(value, Load) or (isinstance(value, Ref) and value.name in self._names):
            return False
        return all(self._changing.isdisjoint(e.used_variables()) for e in expressions_of(value))


def _constant_term(expression: SymbolicExpr) -> int:
    kind, numbers, _ = expression.nodes()[-1]
    return numbers[0] if kind in ("sum", "constant") else 0
