"""Certificates of the core's answers: as it records simplifications, and as these give other answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, TypeAlias

from indexing.certificates.certificate import Certificate
from indexing.certificates.step import Steps

__all__ = ["of_composition", "of_emptiness", "of_equivalence", "of_instance", "recorded"]

#: A map of the core.
_Map: TypeAlias = Any


def recorded(by: Any, results: tuple[int | None, ...]) -> Certificate:
    """The certificate of a simplification that the core recorded: `by.maps()`, and `by.steps()`, the fields of steps."""
    made = object.__new__(Certificate)
    # To write the maps, and to set the fields of a frozen dataclass, takes as long as several simplifications.
    made.__dict__.update(question="simplify", steps=Steps(by.steps), results=results, _maps=by.maps)
    return made


def of_composition(first: str, second: str, composed: str) -> Certificate:
    """The certificate of a composition, which has no steps: its definition is checked."""
    return Certificate("compose", "", composed, maps=(first, second))


def of_instance(stated: str, values: Mapping[str, Any], simplification: Certificate) -> Certificate:
    """The certificate of an instance: that of its simplification."""
    given = tuple((name, int(value)) for name, value in values.items())
    return replace(simplification, question="instantiate", maps=(stated,), values=given)


def of_emptiness(map: _Map, answer: bool) -> tuple[bool, Certificate]:
    """Whether a map is empty, with a point if it is not, a contradiction if simplification finds one, else nothing but that
    its box was searched."""
    if not answer:
        point = map.equivalent(type(map).known_empty()).counterexample
        return answer, Certificate("is_empty", str(map), "false", point=(*point[0], *point[1]))
    simple, made = map.simplify(certificate=True)
    steps = made.steps if simple.is_known_empty else ()
    return answer, Certificate("is_empty", str(map), "true", steps)


def of_equivalence(first: _Map, second: _Map, answer: Any) -> tuple[Any, Certificate]:
    """Whether maps are equivalent, with a point if they are not, else with their simplifications."""
    maps = (str(first), str(second))
    if not answer:
        dims, symbols = answer.counterexample
        return answer, Certificate("equivalent", "", "false", maps=maps, point=(*dims, *symbols))
    parts = tuple(map.simplify(certificate=True)[1] for map in (first, second))
    return answer, Certificate("equivalent", "", "true", maps=maps, parts=parts)
