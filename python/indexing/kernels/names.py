"""Names from HLO in kernels: in comments, and in the names of functions."""

from __future__ import annotations


def sanitized(name: str) -> str:
    """A name from HLO for a comment, reduced to at most 80 letters, digits, `_`, `.` and `-`."""
    return "".join(c if c.isascii() and (c.isalnum() or c in "_.-") else "_" for c in name)[:80]


def identifier(text: str) -> str:
    """An opcode as part of an identifier: letters, digits and `_`."""
    return "".join(c if c.isascii() and c.isalnum() else "_" for c in text)
