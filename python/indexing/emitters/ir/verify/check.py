"""One thing that a verifier asks of a kernel, and what it found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

Status: TypeAlias = Literal["proved", "refuted", "open"]


@dataclass(frozen=True, slots=True)
class Check:
    """`subject` says of what, `reason` why it is not proved, or on what the proof relies."""

    kind: Literal["typed", "in bounds", "written once", "barrier", "race"]
    subject: str
    status: Status
    reason: str = ""

    def __str__(self) -> str:
        """One line."""
        return f"{self.status}: {self.kind}: {self.subject}" + (f": {self.reason}" if self.reason else "")
