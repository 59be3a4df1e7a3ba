"""The number of times that each kernel runs, and the range of the time: loops multiply, one branch of a conditional runs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass

from indexing.ops.trip_counts import stated_trip_count
from indexing.reports.steps import Schedule, Step


@dataclass(frozen=True, slots=True)
class TimeRange:
    """The least and the greatest time of a program in seconds, over the branches that conditionals may take."""

    least: float = 0.0
    greatest: float = 0.0

    def __add__(self, other: TimeRange) -> TimeRange:
        """One after the other."""
        return TimeRange(self.least + other.least, self.greatest + other.greatest)

    def repeated(self, times: int) -> TimeRange:
        """As many times."""
        return TimeRange(self.least * times, self.greatest * times)


@dataclass(frozen=True, slots=True)
class Run:
    """A kernel and how often it runs; `note` says what was assumed."""

    step: Step
    times: int
    note: str = ""


@dataclass(slots=True)
class _Use:
    """The number of times that a body runs in all, and what was assumed for it."""

    times: int = 0
    notes: dict[str, None] | None = None


def runs_of(schedule: Schedule, seconds: Callable[[Step], float]) -> tuple[list[Run], TimeRange]:
    """All kernels with the number of their runs, and the range of the program's time; `seconds` is the time of one run.

    Of a conditional the branch of the greatest time runs, of all others no kernel; the body of a loop without a known trip
    count runs once.
    """
    ranges: dict[Hashable, TimeRange] = {}
    for body, steps in schedule.bodies.items():
        ranges[body] = _range(steps, ranges, seconds)
    whole = _range(schedule.root, ranges, seconds)
    uses: dict[Hashable, _Use] = defaultdict(_Use)
    runs = _runs(schedule.root, _Use(1, {}), uses, ranges)
    for body in reversed(schedule.bodies):
        runs += _runs(schedule.bodies[body], uses[body], uses, ranges)
    return runs, whole


def bytes_of_turns(schedule: Schedule, moved: Callable[[Step], float]) -> dict[Step, float]:
    """For each kernel in a loop, the bytes that a turn of the innermost loop around it moves; `moved` are those of one run."""
    bodies = schedule.bodies
    sums: dict[Hashable, float] = {}
    for body, steps in bodies.items():
        sums[body] = sum(sum(sums[b] for b in step.bodies) if step.bodies else moved(step) for step in steps)
    around: dict[Hashable, float] = {}
    turns: dict[Step, float] = {}
    for body in (None, *reversed(bodies)):
        outer = around.get(body)
        for step in schedule.root if body is None else bodies[body]:
            is_loop = step.repeats != 1 and not step.is_choice
            for inner in step.bodies:
                known = sums[inner] if is_loop else outer
                if known is not None:
                    around[inner] = max(around.get(inner, 0.0), known)
            if not step.bodies and outer is not None:
                turns[step] = outer
    return turns


def _range(steps: Sequence[Step], ranges: dict[Hashable, TimeRange], seconds: Callable[[Step], float]) -> TimeRange:
    total = TimeRange()
    for step in steps:
        bodies = [ranges[b] for b in step.bodies]
        if not bodies:
            once = seconds(step)
            total += TimeRange(once, once)
        elif step.is_choice:
            total += TimeRange(min(b.least for b in bodies), max(b.greatest for b in bodies))
        else:
            total += sum(bodies, TimeRange()).repeated(1 if step.repeats is None else step.repeats)
    return total


def _runs(steps: Sequence[Step], use: _Use, uses: dict[Hashable, _Use], ranges: dict[Hashable, TimeRange]) -> list[Run]:
    """The runs of the kernels among steps; control flow adds to the uses of its bodies."""
    notes = use.notes or {}
    of_steps = []
    for step in steps:
        if not step.bodies:
            of_steps.append(Run(step, use.times, "; ".join(notes)))
            continue
        chosen = max(step.bodies, key=lambda b: ranges[b].greatest) if step.is_choice else None
        for body in dict.fromkeys(step.bodies) if step.is_choice else step.bodies:
            of = uses[body]
            runs = step.repeats if step.repeats is not None else 1
            of.times += use.times * runs if chosen is None or body is chosen else 0
            of.notes = {**(of.notes or {}), **notes, **dict.fromkeys(_assumed(step, body is chosen))}
    return of_steps


def _assumed(step: Step, is_chosen: bool) -> Sequence[str]:
    name = step.origin.name
    if step.repeats is None:
        return (f"the trip count of `{name}` is not known: it counts once",)
    stated = stated_trip_count(step.origin)
    if not step.is_choice and stated not in (None, step.repeats):
        return (f"`{name}` states {stated} iterations, but its condition ends it after {step.repeats}, which count",)
    if not step.is_choice or len(set(step.bodies)) == 1:
        return ()
    which = "the slowest branch, which counts" if is_chosen else "not the slowest branch: it does not count"
    return (f"in a branch of `{name}`, {which}",)
