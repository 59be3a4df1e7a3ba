"""Protocol buffers' wire format: the fields of a message by their numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

#: The values of each field: contents of strings and messages; numbers as the bytes that hold them, least first.
Fields: TypeAlias = Mapping[int, Sequence[bytes]]


def fields_of(message: bytes) -> Fields:
    """The fields of a message. Raises ValueError if it is none."""
    fields: dict[int, list[bytes]] = {}
    at = 0
    while at < len(message):
        tag, at = _varint(message, at)
        kind, length = tag & 7, 0
        if kind == 0:
            value, at = _varint(message, at)
            fields.setdefault(tag >> 3, []).append(value.to_bytes(8, "little"))
            continue
        if kind == 2:
            length, at = _varint(message, at)
        elif kind in (1, 5):
            length = 8 if kind == 1 else 4
        else:
            raise ValueError(f"a field of kind {kind} at byte {at}")
        if at + length > len(message):
            raise ValueError(f"a field of {length} bytes ends beyond its message")
        fields.setdefault(tag >> 3, []).append(message[at : at + length])
        at += length
    return fields


def varint_of(message: Fields, number: int) -> int:
    """The last value of an integer field; 0 if it is absent."""
    return int.from_bytes(message[number][-1], "little") if number in message else 0


def text_of(message: Fields, number: int) -> str:
    """The last value of a string field; empty if it is absent."""
    return message[number][-1].decode() if number in message else ""


def _varint(message: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        if at >= len(message) or shift > 63:
            raise ValueError(f"a number at byte {at} does not end")
        byte = message[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value & (2**64 - 1), at
