"""The library of intrinsics: definitions that a source contains only if it uses them.

A definition is a typedef, a macro that gives a target's intrinsic a common name (`#define exp_f32 expf`), or a function. It
lists the names that it uses; all targets use the same names, so that most functions are shared.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from string import Template


@dataclass(frozen=True, slots=True)
class Definition:
    """Text that defines `name`, preceded by the target's qualifier for functions; `needs` are the names that it uses."""

    name: str
    text: str
    needs: tuple[str, ...] = ()
    is_function: bool = False


def typedef(name: str, spelling: str) -> Definition:
    """The definition of an IR type."""
    return Definition(name, f"typedef {spelling} {name};" if spelling != name else "")


def macro(name: str, spelling: str, needs: str = "") -> Definition:
    """A macro for the target's spelling of a common name."""
    return Definition(name, f"#define {name} {spelling}", tuple(needs.split()))


def call_macro(name: str, parameters: str, text: str, needs: str = "") -> Definition:
    """A macro with parameters."""
    return Definition(name, f"#define {name}({parameters}) {text}", tuple(needs.split()))


def function(name: str, text: str, needs: str, /, **names: object) -> Definition:
    """A function; `$T` and the like are replaced by `names` in all three texts."""

    def filled(template: str) -> str:
        return Template(template).substitute({k: str(v) for k, v in names.items()}) if names else template

    return Definition(filled(name), filled(text), tuple(filled(needs).split()), is_function=True)


def library_of(*parts: Iterable[Definition]) -> dict[str, Definition]:
    """Definitions by name; later ones override earlier ones."""
    return {definition.name: definition for part in parts for definition in part}


def closure(names: Iterable[str], definitions: Mapping[str, Definition]) -> list[Definition]:
    """The definitions of `names` and of all that they need, in topological order."""
    done: dict[str, Definition] = {}
    pending = sorted(names, reverse=True)
    while pending:
        definition = definitions[pending[-1]]
        missing = [need for need in definition.needs if need not in done] if definition.name not in done else []
        if not missing:
            done.setdefault(pending.pop(), definition)
        pending.extend(reversed(missing))
    return list(done.values())
