"""Certificates as data: numbered steps, each a claim about the domain with its law and the steps that it follows from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from indexing.certificates.checker import check
from indexing.certificates.json_text import read, written
from indexing.certificates.solver import prove
from indexing.certificates.step import Claims, Refused, Step
from indexing.certificates.text import text_of_map, texts

__all__ = ["Certificate", "Verdict"]


@dataclass(frozen=True)
class Verdict:
    """Whether a certificate proves what it claims: it converts to bool.

    If not, `reason` says what is wrong, and `step` with which step (None: with the whole). `is_undecided`: nothing is known to
    be wrong, but the check is beyond a limit, or the solver gave up.
    """

    step: int | None = None
    reason: str = ""
    is_undecided: bool = False

    def __bool__(self) -> bool:
        return not self.reason

    def __str__(self) -> str:
        """The reason, after the number of the step."""
        if self:
            return "holds"
        return self.reason if self.step is None else f"step {self.step}: {self.reason}"


@dataclass(frozen=True)
class Certificate(Claims):
    """The proof of an answer about maps: see `Claims`. It prints its steps, is read from JSON and written, and checked."""

    def __getattr__(self, name: str) -> Any:
        """Makes the nodes, maps and steps of a certificate that the core recorded, when one of them is first read."""
        if name not in ("nodes", "maps", "steps") or "_recorded" not in self.__dict__:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        self.__dict__.update(self.__dict__.pop("_recorded")())
        return self.__dict__[name]

    def __getstate__(self) -> dict[str, Any]:
        """The fields, made."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def __str__(self) -> str:
        """The steps, one a line, between the maps."""
        own = self.maps[-2 if self.question in ("simplify", "instantiate") else 0]
        written = texts(self.nodes, [name for group in own.names for name in group])
        *first, last = (text_of_map(of, self.nodes) for of in self.maps)
        lines = [*(f"{name} = {value}" for name, value in self.values), *first]
        lines += [last] if self.answer is not None else []
        lines += [*(f"  {with_texts(step, written)}" for step in self.steps), *map(str, self.parts)]
        lines += [f"  at {self.point}"] if self.answer is False else []
        return "\n".join([*lines, last if self.answer is None else str(self.answer).lower()])

    @property
    def before(self) -> str:
        """The text of the map before the last one, which a simplification begins with."""
        return text_of_map(self.maps[-2], self.nodes)

    @property
    def after(self) -> str:
        """The text of the last map."""
        return text_of_map(self.maps[-1], self.nodes)

    def explained(self, texts: Mapping[int, str]) -> tuple[Step[str], ...]:
        """The steps with texts for their expressions, each with what its reasons claim as its `facts`."""
        steps = [with_texts(step, texts) for step in self.steps]
        return tuple(s._replace(facts=tuple(steps[k].text for k in s.reasons)) for s in steps)

    def to_json(self) -> str:
        """The certificate as JSON; equal certificates give equal texts."""
        return written(self)

    @staticmethod
    def from_json(text: str) -> Certificate:
        """The certificate that `to_json` wrote. Raises ParseError with the place of what is wrong."""
        return read(text, Certificate)

    def check(self, solver: str | None = None) -> Verdict:
        """Check each step; with `solver="z3"` by the solver (extra `[proofs]`), over unbounded integers."""
        if solver not in (None, "z3"):
            raise ValueError(f"expected solver None or 'z3', not {solver!r}")
        try:
            check(self, by_reasons=not solver)
            for part in (self, *self.parts) if solver else ():
                prove(part)
        except Refused as refused:
            undecided = refused.reason.startswith("undecided: ")
            return Verdict(refused.step, self._said(refused).removeprefix("undecided: "), undecided)
        return Verdict()

    def _said(self, refused: Refused) -> str:
        """The fault, with the claim of the step for `it`."""
        if refused.step is None or not self.steps or not refused.reason.startswith("it "):
            return refused.reason
        own = self.maps[1 if self.question == "instantiate" else 0]
        written = texts(self.nodes, [name for group in own.names for name in group])
        return with_texts(self.steps[refused.step], written).text + refused.reason.removeprefix("it")


def with_texts(step: Step[int], texts: Any) -> Step[str]:
    """A step with texts for its expressions, by their numbers."""
    before, after = (None if e is None else texts[e] for e in (step.before, step.after))
    letters = tuple((letter, texts[e]) for letter, e in step.bindings)
    number, claim, law, _, _, lower, upper, modulus, residue, *_ = step
    return Step(number, claim, law, before, after, lower, upper, modulus, residue, letters, step.reasons)
