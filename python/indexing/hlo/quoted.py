"""The contents of strings in HLO text."""

from __future__ import annotations

import re

_ESCAPE = re.compile(rb"\\(?:([0-7]{1,3})|[xX]([0-9a-fA-F]+)|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|(.))", re.DOTALL)
_NAMED = dict(zip(b"abfnrtv", b"\a\b\f\n\r\t\v", strict=True))


def unescaped(text: str) -> str:
    """The string that stands between quotes, with the escapes of C: XLA writes bytes that are not ASCII in octal."""
    if "\\" not in text:
        return text
    return _ESCAPE.sub(_meant, text.encode()).decode("utf-8", "backslashreplace")


def _meant(escape: re.Match[bytes]) -> bytes:
    """The bytes of an escape; those of a number that is too large stay as they are written."""
    octal, byte, short, long, letter = escape.groups()
    if letter is not None:
        return bytes([_NAMED.get(letter[0], letter[0])])
    try:
        if octal or byte:
            return bytes([int(octal, 8) if octal else int(byte, 16)])
        return chr(int(short or long, 16)).encode()
    except (ValueError, OverflowError):
        return escape[0]
