"""Configurations of library calls, from their `backend_config`."""

from __future__ import annotations

import json
import re
import struct
from collections.abc import Mapping
from typing import Any, TypeAlias

from indexing.errors import IndexingError, UnsupportedOp
from indexing.hlo import Instruction

Config: TypeAlias = Mapping[str, Any]
#: The errors of reading a configuration whose values are not those of its format.
UNREADABLE = (
    IndexingError,
    ArithmeticError,
    ValueError,
    TypeError,
    AttributeError,
    LookupError,
    RecursionError,
    struct.error,
)
_ENTRY = re.compile(r'([\w.]+) = ("[^"]*"|[^,}\s]+)')  # an entry of an attribute dictionary: `uplo = 76 : ui8`
_WORDS = {"true": True, "false": False}


def backend_config(instruction: Instruction) -> Config:
    """The backend_config of a call, JSON (quoted or not) or a dictionary of attributes; empty if there is none."""
    text = instruction.text("backend_config", "").strip()
    if not text or text == "{}":
        return {}
    try:
        config = json.loads(text)
    except ValueError:
        config = {key: _scalar(value) for key, value in _ENTRY.findall(text)}
    if not isinstance(config, dict) or not config:
        raise UnsupportedOp(f"its backend_config can't be read: {text[:80]}")
    return config


def _scalar(text: str) -> bool | int | str:
    if text in _WORDS:
        return _WORDS[text]
    return int(text) if re.fullmatch(r"-?\d+", text) else text.strip('"')


def letter(config: Config, key: str) -> str:
    """A flag of LAPACK, given as a letter or as its character code."""
    value = config.get(key)
    if value is None:
        raise UnsupportedOp(f"its backend_config has no {key}")
    return chr(value) if isinstance(value, int) else str(value)
