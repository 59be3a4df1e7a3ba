"""One thing that a verifier asks of a kernel, and what it found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Check:
    """`subject` says of what, `reason` why it is not proved."""

    kind: Literal["typed", "in bounds", "written once", "barrier", "race"]
    subject: str
    status: Literal["proved", "refuted", "open"]
    reason: str = ""

    def __str__(self) -> str:
        """One line."""
        return f"{self.status}: {self.kind}: {self.subject}" + (f": {self.reason}" if self.reason else "")
