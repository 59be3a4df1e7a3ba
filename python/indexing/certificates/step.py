"""A step of a certificate."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Step"]


@dataclass(frozen=True)
class Step:
    """A claim that holds at every point of the domain.

    `claim` is "equal" (`before = after`), "within" (`before` lies in [lower, upper], and is `residue` modulo `modulus`), or
    "never" (the domain has no points). `law` is the id of a law of docs/rules.md, "given" for what the map states,
    "operands" and "chain" for what equality itself gives, "substituted" for a constraint on an equal expression; `bindings`
    are the law's letters. `reasons` are the numbers of earlier steps from which the claim follows.
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

    def __str__(self) -> str:
        """The step in one line."""
        lower, upper = ("-oo" if self.lower is None else self.lower), ("oo" if self.upper is None else self.upper)
        match self.claim:
            case "equal":
                text = f"{self.before} = {self.after}"
            case "within":
                text = f"{self.before} in [{lower}, {upper}]"
                text += f", {self.residue} modulo {self.modulus}" if self.modulus > 1 else ""
            case _:
                text = "no point"
        letters = "".join(f", {letter} = {value}" for letter, value in self.bindings)
        by = f" by {', '.join(map(str, self.reasons))}" if self.reasons else ""
        return f"{self.number}. {text}  [{self.law}{letters}{by}]"
