"""A check of the verifier, with its outcome."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

Status: TypeAlias = Literal["proved", "refuted", "open"]


@dataclass(frozen=True, slots=True)
class Check:
    """A check of `subject`; `reason` says why it is not proved, or on what its proof relies."""

    kind: Literal[
        "typed",
        "in bounds",
        "written once",
        "barrier",
        "race",
        "launch",
        "same accesses",
        "same order",
        "same values",
        "reduction",
        "initialized",
    ]
    subject: str
    status: Status
    reason: str = ""

    def __str__(self) -> str:
        """The check in one line."""
        return f"{self.status}: {self.kind}: {self.subject}" + (f": {self.reason}" if self.reason else "")
