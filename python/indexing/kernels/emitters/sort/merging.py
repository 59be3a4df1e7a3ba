"""The merge of two sorted runs by threads, each of which writes some neighbouring elements of the result.

A thread finds by bisection how many of the elements before its own come from the left run. Then it takes the next element of
either run in turn: that of the right one only if it must come before, so that equal elements stay in order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from indexing._core import SymbolicExpr
from indexing.kernels.emitters.sort.match import Elements
from indexing.kernels.function_builder import FunctionBuilder
from indexing.kernels.launch import loop_over
from indexing.ops.element_context import Value
from indexing.ops.library_calls.sorted_runs import ORDER

PLACE = ORDER  # the element type of places


@dataclass(frozen=True, slots=True)
class Runs:
    """Two neighbouring runs of a row by their places: from `start` to `middle`, and from there to `end`."""

    start: Value
    middle: Value
    end: Value


@dataclass(frozen=True)
class Merge:
    """The merge of runs of elements, which `load` loads from a place of the row, whatever place that is."""

    body: FunctionBuilder
    elements: Elements
    load: Callable[[Value], list[Value]]

    def build(
        self, runs: Runs, first: Value, count: int, steps: int, keep: Callable[[SymbolicExpr, Sequence[Value]], None]
    ) -> None:
        """Call `keep` for each of `count` elements of the result, from the place `first` of the row on; bisection takes at most
        so many `steps`.
        """
        body = self.body
        before = self._sub(first, runs.start)
        low = self._from_left(runs, before, steps)
        places = [self._add(runs.start, low), self._add(runs.middle, self._sub(before, low))]
        left, right = (body.variable(PLACE, body.named(p)) for p in places)
        heads = [self.elements.variables(self.load(p)) for p in (left, right)]
        with loop_over(body, count, "lane") as lane:
            is_right = self._takes_right(runs, left, right, heads)
            keep(lane, self.elements.choose(is_right, heads[1], heads[0]))
            one = body.number(PLACE, 1)
            next_left, next_right = (body.named(self._add(p, one)) for p in (left, right))
            body.assign(left, body.op("select", PLACE, is_right, left, next_left))
            body.assign(right, body.op("select", PLACE, is_right, next_right, right))
            follower = self.load(body.named(body.op("select", PLACE, is_right, next_right, next_left)))
            for held, sides in ((heads[0], (heads[0], follower)), (heads[1], (follower, heads[1]))):
                body.assign_all(held, self.elements.choose(is_right, *sides))

    def _from_left(self, runs: Runs, before: Value, steps: int) -> Value:
        """The number of elements from the left run that come before the first one."""
        body, zero = self.body, self.body.number(PLACE, 0)
        sizes = self._sub(runs.middle, runs.start), self._sub(runs.end, runs.middle)
        low = body.variable(PLACE, body.op("maximum", PLACE, zero, self._sub(before, sizes[1])))
        high = body.variable(PLACE, body.op("minimum", PLACE, before, sizes[0]))
        last = body.named(self._sub(self._add(runs.middle, before), body.number(PLACE, 1)))
        with body.loop(steps, "step"):
            body.leave_loop([body.op("ge", "pred", low, high)])
            half = body.named(body.op("shr_logical", PLACE, self._add(low, high), body.number(PLACE, 1)))
            left, right = self.load(self._add(runs.start, half)), self.load(self._sub(last, half))
            is_right = self.elements.comes_before(right, left)
            above = body.named(self._add(half, body.number(PLACE, 1)))
            pairs = (low, above), (half, high)
            body.assign_all([low, high], [body.op("select", PLACE, is_right, *pair) for pair in pairs])
        return low

    def _takes_right(self, runs: Runs, left: Value, right: Value, heads: Sequence[Sequence[Value]]) -> Value:
        """Whether the next element is that of the right run."""
        body = self.body
        has_left, has_right = (
            body.op("lt", "pred", place, end) for place, end in ((left, runs.middle), (right, runs.end))
        )
        must = self.elements.comes_before(heads[1], heads[0])
        wins = body.op("or", "pred", body.op("not", "pred", has_left), must)
        return body.named(body.op("and", "pred", has_right, wins))

    def _add(self, a: Value, b: Value) -> Value:
        return self.body.op("add", PLACE, a, b)

    def _sub(self, a: Value, b: Value) -> Value:
        return self.body.op("sub", PLACE, a, b)
