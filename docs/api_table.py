"""The public names with what their documentation says first: docs/api.md is written from this (`make docs`)."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import indexing as ix

PACKAGE = Path(ix.__file__).parent
MODULES = ("hlo", "convert", "layout", "reference", "show")
_HEAD = """# Public names

Everything that `import indexing as ix` offers, with the first sentence of its documentation; `help` has the rest. This file is
written by `make docs`.
"""


def public_names(module: object) -> list[str]:
    """Names that a module exports and that are no modules themselves."""
    names = getattr(module, "__all__", None) or [n for n in vars(module) if not n.startswith("_")]
    found = ((n, getattr(module, n)) for n in sorted(names))
    return [n for n, value in found if not inspect.ismodule(value) and n != "TYPE_CHECKING"]


def members(kind: type) -> list[str]:
    """The public methods and properties of a class; its own documentation tells of its fields."""
    found = {n: v for base in kind.__mro__ if base.__module__.startswith("indexing") for n, v in vars(base).items()}
    told = (n for n, v in found.items() if not inspect.ismemberdescriptor(v) and not isinstance(v, str | int | tuple))
    return sorted(n for n in told if not n.startswith("_"))


@cache
def stub() -> dict[str, str]:
    """The docstrings of `_core.pyi`, by `name` and `Class.name`."""
    tree = ast.parse((PACKAGE / "_core.pyi").read_text(encoding="utf-8"))
    found: dict[str, str] = {}
    for node in tree.body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef):
            found[node.name] = ast.get_docstring(node) or ""
        for inner in node.body if isinstance(node, ast.ClassDef) else ():
            if isinstance(inner, ast.FunctionDef):
                name = f"{node.name}.{inner.name}"  # of overloads one has the text
                found[name] = found.get(name, "") or ast.get_docstring(inner) or ""
    return found


def documentation(owner: type | None, name: str, value: object) -> str:
    """The docstring, of the core's names that of the stub."""
    if isinstance(value, staticmethod | classmethod):
        value = value.__func__
    own = inspect.getdoc(value.fget if isinstance(value, property) else value) or ""
    return own or stub().get(f"{owner.__name__}.{name}" if owner else name, "")


def first_sentence(text: str) -> str:
    """Up to the first full stop at the end of a word, or the first empty line."""
    line = " ".join(text.split("\n\n")[0].split())
    end = line.find(". ")
    return line if end < 0 else line[: end + 1]


def entries() -> Iterator[tuple[str, str]]:
    """Every public name, members of classes among them, with its documentation."""
    for prefix, module in (("ix", ix), *((f"ix.{m}", getattr(ix, m)) for m in MODULES)):
        for name in public_names(module):
            value = getattr(module, name)
            if isinstance(value, str | tuple | dict) or not (inspect.isclass(value) or callable(value)):
                continue
            if not (getattr(value, "__module__", None) or "indexing").startswith("indexing"):
                continue
            yield f"{prefix}.{name}", documentation(None, name, value)
            for member in members(value) if inspect.isclass(value) and prefix == "ix" else ():
                yield f"{name}.{member}", documentation(value, member, inspect.getattr_static(value, member))


def api_table() -> str:
    """The whole text of docs/api.md."""
    lines = [_HEAD]
    for name, text in entries():
        is_member = not name.startswith("ix.")
        mark = "  - " if is_member else "- "
        lines.append(f"{mark}`{name.partition('.')[2] if is_member else name}`: {first_sentence(text)}")
    return "\n".join([*lines, ""])
