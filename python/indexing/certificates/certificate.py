"""Certificates as data: numbered steps, each a claim about the domain with its law and the steps that it follows from."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

from indexing.certificates.checker import check
from indexing.certificates.json_text import read, written
from indexing.certificates.solver import prove
from indexing.certificates.step import Claims, Refused, Step

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

    def __getattr__(self, name: str) -> str:
        """Writes the maps of a certificate that the core recorded, when one is first read."""
        if name not in ("before", "after") or "_maps" not in self.__dict__:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        self.__dict__["before"], self.__dict__["after"] = self.__dict__.pop("_maps")()
        return str(self.__dict__[name])

    def __getstate__(self) -> dict[str, Any]:
        """The fields, written."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def __str__(self) -> str:
        """The steps, one a line, between the maps."""
        lines = [*(f"{name} = {value}" for name, value in self.values), *self.maps, self.before]
        lines += [*(f"  {step}" for step in self.steps), *map(str, self.parts)]
        lines += [f"  at {self.point}"] if self.after == "false" else []
        return "\n".join(line for line in [*lines, self.after] if line)

    def explained(self) -> tuple[Step, ...]:
        """The steps, each with what its reasons claim as its `facts`."""
        return tuple(s._replace(facts=tuple(self.steps[k].text for k in s.reasons)) for s in self.steps)

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
                prove(part.before, part.steps)
        except Refused as refused:
            undecided = refused.reason.startswith("undecided: ")
            return Verdict(refused.step, refused.reason.removeprefix("undecided: "), undecided)
        return Verdict()
