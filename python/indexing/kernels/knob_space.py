"""The knobs of an emitter's plan, as data: names, legal values, defaults, and conditions between them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import isqrt, prod
from random import Random
from typing import TYPE_CHECKING, Literal, TypeAlias, overload

from indexing.arguments import integer, of_type, takes
from indexing.errors import IndexingError
from indexing.lazy import np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

#: Legal values of a knob, ascending.
Values: TypeAlias = "range | tuple[int, ...]"
#: Plans as columns: an array of values for each knob.
Columns: TypeAlias = "dict[str, NDArray[np.int64]]"
#: Plans as they are given: columns, or one mapping of values after another.
Plans: TypeAlias = "Mapping[str, ArrayLike] | Sequence[Mapping[str, int]]"
#: The part of a kernel that a knob changes: the work of threads ("kernel"); in a one-dimensional launch, the threads per block
#: ("block") or the largest number of blocks ("grid"); the number of warps that share the work of a block ("warps"); which block
#: does what ("order", as the emitter's `block_order` has it).
Effect: TypeAlias = Literal["kernel", "block", "grid", "warps", "order"]
MAX_CHOICES = 16  # values of a knob in a grid
MAX_SAMPLED = 10_000_000  # plans; as many take half a minute


def check_plan_count(count: int, most: int | None = None) -> None:
    """Raise IndexingError for a number of plans that cannot be had."""
    if count < 0 or (most is not None and count > most):
        limits = "at least 0" if most is None else f"from 0 to {most:,}"
        raise IndexingError(f"count is a number of plans, {limits}; got {count:,}")


@dataclass(frozen=True, slots=True)
class Knob:
    """An integer parameter of a plan: its legal values, and its default."""

    name: str
    values: Values
    default: int
    effect: Effect = "kernel"

    @property
    def choices(self) -> tuple[int, ...]:
        """The values in a grid: all, or, of a long range, its powers of two, its ends, and the default."""
        if len(self.values) <= MAX_CHOICES:
            return tuple(self.values)
        powers = [1 << k for k in range(self.values[-1].bit_length()) if 1 << k in self.values]
        every = -(-len(powers) // MAX_CHOICES)
        return tuple(sorted({*powers[::every], self.values[0], self.values[-1], self.default}))


@dataclass(frozen=True, slots=True)
class Condition:
    """The legal values of `knob` given those of earlier knobs: the latter, in the order of `given`, are keys of `values`."""

    knob: str
    given: tuple[str, ...]
    values: Mapping[tuple[int, ...], Values] = field(hash=False)

    def legal(self, plan: Mapping[str, int]) -> Values:
        """The legal values given those of a plan; where it lacks one, those with any of its values."""
        if all(g in plan for g in self.given):
            return self.values.get(tuple(plan[g] for g in self.given), ())
        every = [
            v
            for key, v in self.values.items()
            if all(g not in plan or plan[g] == k for g, k in zip(self.given, key, strict=True))
        ]
        union = sorted(set().union(*every))
        is_range = bool(union) and len(union) == union[-1] - union[0] + 1
        return range(union[0], union[-1] + 1) if is_range else tuple(union)

    def __str__(self) -> str:
        """A line for each combination of the knobs that it depends on."""
        return "\n".join(self.lines(()))

    def lines(self, whole: Values) -> Iterator[str]:
        """The lines of combinations whose legal values are not `whole`."""
        for key, values in self.values.items():
            if tuple(values) != tuple(whole):
                where = ", ".join(f"{g} = {k}" for g, k in zip(self.given, key, strict=True))
                yield f"{self.knob} in {_text(values)} where {where}"


@dataclass(frozen=True, slots=True)
class BlockLimit:
    """A knob that bounds the number of blocks: all its values with which a block does as many chunks are one plan.

    There are `count` elements, of which a block does as many at once as the product of the `given` knobs.
    """

    knob: str
    given: tuple[str, ...]
    count: int

    def values(self, plan: Mapping[str, int]) -> GridSizes:
        """The numbers of blocks that differ, given the earlier knobs."""
        blocks = self.count
        for name in self.given:
            blocks = -(-blocks // plan[name])
        return GridSizes(max(blocks, 1))


@dataclass(frozen=True, slots=True)
class GridSizes(Sequence[int]):
    """The different quotients, rounded up, of a number of blocks and of 1, 2, 3, ..: not ascending.

    With n = blocks - 1, they are n floordiv k + 1. Those of k <= isqrt(n) are different, and below them each number is one.
    """

    blocks: int

    def __len__(self) -> int:
        """Their number."""
        root = isqrt(self.blocks - 1)
        return root + (self.blocks - 1) // (root + 1) + 1

    @overload
    def __getitem__(self, index: int) -> int: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[int]: ...
    def __getitem__(self, index: int | slice) -> int | Sequence[int]:
        """One of them, or some."""
        if isinstance(index, slice):
            return [self[k] for k in range(*index.indices(len(self)))]
        if not 0 <= index < len(self):
            raise IndexError(index)
        root = isqrt(self.blocks - 1)
        return (self.blocks - 1) // (index + 1) + 1 if index < root else index - root + 1

    def of(self, most: int) -> int:
        """The number of blocks with at most so many."""
        return -(-self.blocks // -(-self.blocks // most))


@dataclass(frozen=True, slots=True)
class KnobSpace:
    """All plans of an emitter for one fusion. Every combination that it allows can be emitted.

    A knob has at most one condition, on earlier knobs; of the values that a `limit` makes equal, all are legal.
    """

    emitter: str
    knobs: tuple[Knob, ...]
    conditions: tuple[Condition, ...] = ()
    limit: BlockLimit | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """The knobs' names, in order."""
        return tuple(k.name for k in self.knobs)

    @property
    def default(self) -> dict[str, int]:
        """The default plan, which `emit` uses."""
        return {k.name: k.default for k in self.knobs}

    def legal(self, name: str, plan: Mapping[str, int]) -> Values:
        """The legal values of a knob, given the values in `plan` of knobs that it depends on, whatever others of them have."""
        for c in self.conditions:
            if c.knob == name:
                return c.legal(plan)
        return self._knob(name).values

    def differing(self, name: str, plan: Mapping[str, int]) -> Sequence[int]:
        """The legal values of a knob that make different plans, given the values of earlier knobs."""
        is_limit = self.limit is not None and self.limit.knob == name
        return self.limit.values(plan) if self.limit is not None and is_limit else self.legal(name, plan)

    def _knob(self, name: str) -> Knob:
        for k in self.knobs:
            if k.name == name:
                return k
        raise IndexingError(
            f"the {self.emitter} emitter has no knob {name!r}; it has {', '.join(self.names) or 'none'}"
        )

    def check(self, plan: Mapping[str, int]) -> dict[str, int]:
        """The complete plan, with defaults for missing knobs; raises IndexingError for a value that is not legal."""
        for name in plan:
            self._knob(name)
        complete = {n: integer(plan.get(n, d), n) for n, d in self.default.items()}
        self.check_given(complete)
        return complete

    @takes(given=of_type(Mapping))
    def check_given(self, given: Mapping[str, int]) -> None:
        """Raise IndexingError for an unknown knob, and for a value that is not legal, whatever values the others have."""
        for name, value in given.items():
            values = self.legal(name, given)
            if value not in values:
                others = ", ".join(f"{n} = {v}" for n, v in given.items() if n != name)
                raise IndexingError(f"{name} is in {_text(values)}{' where ' * bool(others)}{others}; got {value}")

    def columns(self, plans: Plans) -> Columns:
        """Plans as columns of one length; missing knobs have their default, scalars are broadcast.

        Raises IndexingError for unknown knobs and columns of different lengths, TypeError for values that aren't
        integers.
        """
        by_name = plans if isinstance(plans, Mapping) else self._transposed(plans)
        for name in by_name:
            self._knob(name)
        given = {n: _column(n, v) for n, v in by_name.items()}
        for name, column in given.items():
            if column.dtype.kind not in "iu" or column.ndim > 1:
                what = f"{column.ndim} dimensions of {column.dtype}" if column.ndim > 1 else str(column.dtype)
                raise TypeError(f"{name} is an array of {what}; expected one dimension of integers")
        lengths = {n: len(c) for n, c in given.items() if c.ndim}
        if len(set(lengths.values())) > 1:
            raise IndexingError(
                f"columns must have one length; got {', '.join(f'{c} of {n}' for n, c in lengths.items())}"
            )
        rows = next(iter(lengths.values()), 1)
        return {
            n: np.ascontiguousarray(given[n], np.int64) if n in lengths else np.full(rows, given.get(n, d), np.int64)
            for n, d in self.default.items()
        }

    def _transposed(self, plans: Sequence[Mapping[str, int]]) -> dict[str, list[int]]:
        for row, plan in enumerate(plans):
            if not isinstance(plan, Mapping):
                raise TypeError(f"plan {row} is {plan!r}; expected a mapping from the names of knobs to values")
        names = dict.fromkeys([*self.names, *(name for plan in plans for name in plan)])
        return {n: [plan.get(n, self.default.get(n, 0)) for plan in plans] for n in names}

    def allows(self, plans: Plans) -> NDArray[np.bool_]:
        """Whether each plan (a row of the columns) is legal."""
        columns = self.columns(plans)
        allowed = np.ones(len(next(iter(columns.values()), [0])), bool)
        conditions = {c.knob: c for c in self.conditions}
        for k in self.knobs:
            column = columns[k.name]
            if (condition := conditions.get(k.name)) is None:
                allowed &= _is_in(column, k.values)
                continue
            given = [columns[g] for g in condition.given]
            of_condition = np.zeros_like(allowed)
            keys: Iterable[tuple[int, ...]] = condition.values
            if len(allowed) < len(condition.values):
                keys = {*zip(*(g.tolist() for g in given), strict=True)} & condition.values.keys()
            for key in keys:
                rows = np.logical_and.reduce([g == v for g, v in zip(given, key, strict=True)])
                of_condition[rows] = _is_in(column[rows], condition.values[key])
            allowed &= of_condition
        return allowed

    def plans(self, **choices: Sequence[int]) -> Iterator[dict[str, int]]:
        """All legal plans over the given choices of knobs; others have the values of a grid, of equal ones the greatest."""
        for name in choices:
            self._knob(name)
        yield from self._plans({}, choices)

    def _plans(self, begun: dict[str, int], choices: Mapping[str, Sequence[int]]) -> Iterator[dict[str, int]]:
        if len(begun) == len(self.knobs):
            yield dict(begun)
            return
        knob = self.knobs[len(begun)]
        legal, differing = self.legal(knob.name, begun), self.differing(knob.name, begun)
        values: Iterable[int] = choices.get(knob.name, knob.choices)
        if isinstance(differing, GridSizes) and knob.name not in choices:
            values = {differing.of(value): value for value in values}.values()
        for value in values:
            if value in legal:
                yield from self._plans({**begun, knob.name: value}, choices)

    def grid(self, **choices: Sequence[int]) -> Columns:
        """The same plans as `plans`, as columns."""
        plans = list(self.plans(**choices))
        return {n: np.array([p[n] for p in plans], np.int64) for n in self.names}

    @takes(count=integer, seed=integer)
    def sample(self, count: int, seed: int = 0) -> Columns:
        """Random legal plans, deterministic for a seed: each knob is uniform over what differs, given earlier knobs.

        Raises IndexingError for a negative number of plans, and beyond 10 million.
        """
        check_plan_count(count, MAX_SAMPLED)
        random = Random(seed)
        columns: dict[str, list[int]] = {n: [] for n in self.names}
        for _ in range(count):
            plan: dict[str, int] = {}
            for name in self.names:
                plan[name] = random.choice(self.differing(name, plan))
                columns[name].append(plan[name])
        return {n: np.array(c, np.int64) for n, c in columns.items()}

    @property
    def size(self) -> int:
        """The number of legal plans that differ. A target may write the same kernel for two of them; `tune` tries one."""
        restricted = {n for c in self._rules for n in (c.knob, *c.given)}
        free = prod(len(k.values) for k in self.knobs if k.name not in restricted)
        return free * self._restricted([n for n in self.names if n in restricted], {})

    @property
    def _rules(self) -> tuple[Condition | BlockLimit, ...]:
        return self.conditions + (() if self.limit is None else (self.limit,))

    def _restricted(self, names: list[str], begun: dict[str, int]) -> int:
        if not names:
            return 1
        first, *rest = names
        values = self.differing(first, begun)
        if not any(first in c.given for c in self._rules):
            return len(values) * self._restricted(rest, begun)
        return sum(self._restricted(rest, {**begun, first: v}) for v in values)

    def __str__(self) -> str:
        """A line for each knob, then one for each combination that restricts a knob's values."""
        lines = [f"{k.name} in {_text(k.values)}, by default {k.default}" for k in self.knobs]
        lines += [line for c in self.conditions for line in c.lines(self._knob(c.knob).values)]
        return "\n".join([f"{self.emitter} emitter:", *lines])


def _column(name: str, values: ArrayLike) -> NDArray[np.generic]:
    """The values of a knob as a numpy array; an empty one is of integers."""
    try:
        column = np.asarray(values)
    except ValueError:  # lists of different lengths
        raise TypeError(f"{name} is no array; expected one dimension of integers") from None
    return column if column.size else column.astype(np.int64)


def nested_space(
    emitter: str, names: tuple[str, ...], default: object, legal: Mapping[tuple[int, ...], Values]
) -> KnobSpace:
    """The space of knobs whose defaults are attributes of a plan; `legal` has the values of the last knob, given those of all
    others, and so the values of each given those before it.
    """
    knobs: list[Knob] = []
    conditions: list[Condition] = []
    for k, name in enumerate(names):
        begun: dict[tuple[int, ...], dict[int, None]] = {}
        for key in (key for key, values in legal.items() if values):
            begun.setdefault(key[:k], {}).update(dict.fromkeys(key[k : k + 1]))
        values = {key: tuple(of_key) or legal[key] for key, of_key in begun.items()}
        knobs.append(Knob(name, max(values.values(), key=len), int(getattr(default, name))))
        conditions += [Condition(name, names[:k], values)] if k else []
    return KnobSpace(emitter, tuple(knobs), tuple(conditions))


def powers_of_two(most: int) -> tuple[int, ...]:
    """1, 2, 4, ... up to `most`."""
    return tuple(1 << k for k in range(most.bit_length()))


def _is_in(column: NDArray[np.int64], values: Values) -> NDArray[np.bool_]:
    matches: NDArray[np.bool_] = np.zeros(column.shape, bool)
    if values and isinstance(values, range):
        matches = (column >= values[0]) & (column <= values[-1]) & ((column - values[0]) % values.step == 0)
    elif values:
        ascending = np.array(values, np.int64)
        matches = ascending[np.searchsorted(ascending[:-1], column)] == column
    return matches


def _text(values: Values) -> str:
    if isinstance(values, range) and len(values) > 2:
        steps = "" if values.step == 1 else f" in steps of {values.step}"
        return f"[{values[0]}, {values[-1]}]{steps}"
    return "{" + ", ".join(map(str, values)) + "}"
