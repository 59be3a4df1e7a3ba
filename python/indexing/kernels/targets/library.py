"""The library of intrinsics: definitions that a source contains only if it uses them.

A definition is a typedef, a macro that gives a target's intrinsic a common name (`#define exp_f32 expf`), a table or a
function. All targets use the same names, so that most functions are shared; a definition needs those that its text has. Most
stand in the C files of this folder, between empty lines, each after comments that do not become part of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from string import Template

from indexing.walks import post_order

_WORD = re.compile(r"\b[A-Za-z_]\w*\b")
_NO_CODE = re.compile(r"//.*|\"[^\"]*\"")  # comments and strings
_COMMENTS = re.compile(r"(//.*\n?)+")
_FUNCTION = re.compile(r"(\w+)\([^()]*\) \{")
_OTHER = re.compile(r"#define (\w+)|typedef .* (\w+);|(\w+)\[")


#: The numbers of the IR as C, and CUDA C++, spell them.
C_TYPES = {
    "s8": "signed char",
    "s16": "short",
    "s32": "int",
    "s64": "long long",
    "u8": "unsigned char",
    "u16": "unsigned short",
    "u32": "unsigned int",
    "u64": "unsigned long long",
    "f32": "float",
    "f64": "double",
}
#: Functions of floats that all languages have by these names.
MATH = (
    *("acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "cbrt", "ceil", "copysign", "cos", "cosh", "erf"),
    *("exp", "expm1", "floor", "log", "log1p", "pow", "sin", "sinh", "sqrt", "tan", "tanh", "trunc"),
)


@dataclass(frozen=True, slots=True)
class Definition:
    """Text that defines `name`, preceded by the target's qualifier for functions."""

    name: str
    text: str
    is_function: bool = False


def typedef(name: str, spelling: str) -> Definition:
    """The definition of an IR type."""
    return Definition(name, f"typedef {spelling} {name};" if spelling != name else "")


def macro(name: str, spelling: str) -> Definition:
    """A macro for the target's spelling of a common name."""
    return Definition(name, f"#define {name} {spelling}")


def call_macro(name: str, parameters: str, text: str) -> Definition:
    """A macro with parameters."""
    return Definition(name, f"#define {name}({parameters}) {text}")


def definition_of(text: str, /, **names: object) -> Definition:
    """The definition in a text, in which `$T` and the like are replaced by `names`."""
    text = _filled_in(text, names)
    function = _FUNCTION.search(text)
    name = function or _OTHER.search(text)
    assert name is not None, f"no definition: {text}"
    return Definition(next(filter(None, name.groups())), text, is_function=function is not None)


def read_definitions(file: str, /, **names: object) -> Iterator[Definition]:
    """The definitions of a file of this folder, in which `$T` and the like are replaced by `names`."""
    for part in read_text(file).strip().split("\n\n"):
        if text := _COMMENTS.sub("", part, count=1) if part.startswith("//") else part:
            yield definition_of(text, **names)


def read_text(file: str, /, **names: object) -> str:
    """The text of a file of this folder, in which `$T` and the like are replaced by `names`."""
    return _filled_in(files(__package__).joinpath(file).read_text(encoding="utf-8"), names)


def _filled_in(text: str, names: Mapping[str, object]) -> str:
    return Template(text).substitute(names) if names else text


def library_of(*parts: Iterable[Definition]) -> dict[str, Definition]:
    """Definitions by name; later ones override earlier ones."""
    return {definition.name: definition for part in parts for definition in part}


def closure(names: Iterable[str], definitions: Mapping[str, Definition]) -> list[Definition]:
    """The definitions of `names` and of all that they need, in topological order."""

    def needs(name: str) -> Iterator[str]:
        return (word for word in _words(definitions[name].text) if word in definitions and word != name)

    return [definitions[name] for name in post_order(sorted(names), needs)]


@cache
def _words(text: str) -> tuple[str, ...]:
    """The words of a definition's code, each once, in order."""
    return tuple(dict.fromkeys(_WORD.findall(_NO_CODE.sub("", text))))
