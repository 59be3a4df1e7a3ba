"""Certificates and their steps, as data alone."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import starmap
from typing import Any, NamedTuple

__all__ = ["Claims", "Refused", "Step", "Steps"]


class Step(NamedTuple):
    """A claim that holds at every point of the domain.

    `claim` is "equal" (`before = after`), "within" (`before` lies in [lower, upper], and is `residue` modulo `modulus`), or
    "never" (the domain has no points). `law` is the id of a law of docs/rules.md, "given" for what the map states,
    "operands" and "chain" for what equality itself gives, "substituted" for a constraint on an equal expression; `bindings`
    are the law's letters. `reasons` are the numbers of earlier steps from which the claim follows; `facts`, in the steps of
    `explain`, what these claim.
    """

    number: int
    claim: str
    law: str
    before: str = ""
    after: str = ""
    lower: int | None = None
    upper: int | None = None
    modulus: int = 1
    residue: int = 0
    bindings: tuple[tuple[str, str], ...] = ()
    reasons: tuple[int, ...] = ()
    facts: tuple[str, ...] = ()

    @property
    def rule(self) -> str:
        """The law's id."""
        return self.law

    @property
    def texts(self) -> tuple[str, ...]:
        """The expressions of the claim."""
        return tuple(text for text in (self.before, self.after) if text)

    @property
    def text(self) -> str:
        """The claim."""
        lower, upper = ("-oo" if self.lower is None else self.lower), ("oo" if self.upper is None else self.upper)
        if self.claim == "equal":
            return f"{self.before} = {self.after}"
        if self.claim == "never":
            return "no point"
        residue = f", {self.residue} modulo {self.modulus}" if self.modulus > 1 else ""
        return f"{self.before} in [{lower}, {upper}]{residue}"

    def __str__(self) -> str:
        """The step in one line."""
        letters = "".join(f", {letter} = {value}" for letter, value in self.bindings)
        by = f" by {', '.join(map(str, self.reasons))}" if self.reasons else ""
        return f"{self.number}. {self.text}  [{self.law}{letters}{by}]"


class Steps(Sequence[Step]):
    """Steps that are made when they are first read, as a tuple."""

    def __init__(self, fields: Callable[[], Iterable[tuple[Any, ...]]]) -> None:
        """`fields()` gives those of each step."""
        self._fields = fields

    @cached_property
    def made(self) -> tuple[Step, ...]:
        """The steps."""
        return tuple(starmap(Step, self._fields()))

    def __len__(self) -> int:
        return len(self.made)

    def __iter__(self) -> Iterator[Step]:
        return iter(self.made)

    def __getitem__(self, place: Any) -> Any:
        """The step of a number, or the tuple of those of a slice."""
        return self.made[place]

    def __eq__(self, other: object) -> bool:
        return self.made == (other.made if isinstance(other, Steps) else other)

    def __hash__(self) -> int:
        return hash(self.made)

    def __repr__(self) -> str:
        return repr(self.made)

    def __reduce__(self) -> tuple[Any, ...]:
        return tuple, (self.made,)


@dataclass(frozen=True)
class Claims:
    """The proof of an answer about maps.

    `question` says what `after` is: "simplify", a simplified form of the map `before`; "compose", the second of `maps` after
    the first; "instantiate", the simplified form of the first of `maps` with `values` for its parameters, which is `before`;
    "is_empty" and "equivalent", the answer "true" or "false" about `before`, or about `maps`. A false answer has a `point`: of
    the domain, or at which the maps differ. The steps lead from `before` to the result; `results[i]` is the number of the step
    by which result i has its new form, None where it stays as it is. Equivalent maps have `parts`: the certificates of
    their simplification.
    """

    question: str
    before: str
    after: str
    steps: Sequence[Step] = ()
    results: tuple[int | None, ...] = ()
    maps: tuple[str, ...] = ()
    values: tuple[tuple[str, int], ...] = ()
    point: tuple[int, ...] = ()
    parts: tuple[Claims, ...] = ()


class Refused(Exception):
    """A certificate that does not prove what it claims: the number of the step (None: the whole), and what is wrong."""

    def __init__(self, step: int | None, reason: str) -> None:
        """`reason`: what does not follow."""
        super().__init__(step, reason)
        self.step = step
        self.reason = reason
