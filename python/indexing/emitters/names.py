"""Names from HLO in kernels: in comments, and as parts of the names of functions."""

from __future__ import annotations


def sanitized(name: str) -> str:
    """A name from HLO as it may stand in a comment: letters, digits, `_`, `.`, `-`, at most 80 of them."""
    return "".join(c if c.isascii() and (c.isalnum() or c in "_.-") else "_" for c in name)[:80]


def identifier(text: str) -> str:
    """An opcode as part of a name: letters, digits and `_`."""
    return "".join(c if c.isascii() and c.isalnum() else "_" for c in text)
