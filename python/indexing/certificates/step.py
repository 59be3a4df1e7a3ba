"""Certificates and their steps, as data alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, NamedTuple, TypeAlias, TypeVar

__all__ = ["Claims", "MapTable", "Node", "Refused", "Step"]

#: The kind of a node, its numbers, and its operands, which are the numbers of earlier nodes: variable (its index),
#: constant, floordiv, mod, product, min, max, sum (its constant, then a coefficient an operand).
Node: TypeAlias = "tuple[str, tuple[int, ...], tuple[int, ...]]"
#: An expression: the number of a node, or, in the steps of `explain`, its text.
_E = TypeVar("_E")


class MapTable(NamedTuple):
    """A map: its kind ("defined", "known empty" or "undefined"), the names of its dimensions, ranges and runtime variables,
    its results, and the constraints of its domain, with inclusive bounds, None where there is none. Expressions are nodes.
    """

    kind: str = "defined"
    names: tuple[tuple[str, ...], ...] = ((), (), ())
    results: tuple[int, ...] = ()
    domain: tuple[tuple[int, int | None, int | None], ...] = ()


class Step(NamedTuple, Generic[_E]):
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
    before: _E | None = None
    after: _E | None = None
    lower: int | None = None
    upper: int | None = None
    modulus: int = 1
    residue: int = 0
    bindings: tuple[tuple[str, _E], ...] = ()
    reasons: tuple[int, ...] = ()
    facts: tuple[str, ...] = ()

    @property
    def rule(self) -> str:
        """The law's id."""
        return self.law

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


@dataclass(frozen=True)
class Claims:
    """The proof of an answer about maps, whose expressions are `nodes`.

    `question` says what the last of `maps` is: "simplify", a simplified form of the first one; "compose", the second one after
    the first; "instantiate", the simplified form of the second one, which is the first one with `values` for its parameters.
    "is_empty" and "equivalent" have an `answer` about all of `maps`; if it is no, a `point`: of the domain, or at which the
    maps differ. The steps lead from a map to its simplified form; `results[i]` is the number of the step by which result i
    has its new form, None where it stays as it is. Equivalent maps have `parts`: the certificates of their simplification.
    """

    question: str
    nodes: tuple[Node, ...]
    maps: tuple[MapTable, ...]
    steps: tuple[Step[int], ...]
    answer: bool | None
    results: tuple[int | None, ...] = ()
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
