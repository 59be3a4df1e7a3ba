"""The library of intrinsics: device functions that are written into a source when, and only when, it uses them."""

from __future__ import annotations

import re

from indexing.emit.dialect import TABLES, spelled
from indexing.emit.intrinsics_complex import COMPLEX
from indexing.emit.intrinsics_float import CUDA_FLOAT, FLOAT, OPENCL_FLOAT
from indexing.emit.intrinsics_integer import INTEGER
from indexing.emit.kernel import Dialect

_TOKEN = re.compile(r"@(\w+)(?:\.(f32|f64))?")
_SPELLED = re.compile(_TOKEN.pattern + "( ?)")

LIBRARY: dict[Dialect, dict[str, str]] = {
    "cuda": {**INTEGER, **FLOAT, **COMPLEX, **CUDA_FLOAT},
    "opencl": {**INTEGER, **FLOAT, **COMPLEX, **OPENCL_FLOAT},
}


def tokens(text: str) -> list[str]:
    """The names that `text` takes from the dialect or the library, in order of appearance."""
    return [f"{name}_{real}" if real else name for name, real in _TOKEN.findall(text)]


def spell(text: str, dialect: Dialect) -> str:
    """`text` with each `@name` as the dialect writes it; intrinsics keep their own name."""
    table = TABLES[dialect]

    def replace(match: re.Match[str]) -> str:
        name, real, space = match.groups()
        token = f"{name}_{real}" if real else name
        found = spelled(token, table)
        if found == "":  # the dialect has no word for it, and needs none
            return ""
        return (token if found is None else found) + space

    return _SPELLED.sub(replace, text)


def library_functions(text: str, dialect: Dialect) -> list[str]:
    """The definitions that `text` needs, each after those that it calls itself; spelled for the dialect."""
    library, table = LIBRARY[dialect], TABLES[dialect]
    done: dict[str, str] = {}
    pending = [token for token in reversed(tokens(text)) if spelled(token, table) is None]
    while pending:
        token = pending[-1]
        needs = [] if token in done else [t for t in tokens(library[token]) if t not in done and t in library]
        if not needs:
            done.setdefault(pending.pop(), token)
        pending.extend(reversed(needs))
    return [spell(library[token], dialect) for token in done]
