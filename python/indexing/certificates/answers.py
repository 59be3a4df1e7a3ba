"""Certificates of the core's answers: as it records simplifications, and as these give other answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import starmap
from typing import Any, TypeAlias

from indexing.certificates.certificate import Certificate
from indexing.certificates.step import MapTable, Step

__all__ = ["of_composition", "of_emptiness", "of_equivalence", "of_instance", "recorded"]

#: A map of the core.
_Map: TypeAlias = Any


def recorded(by: Any, results: tuple[int | None, ...]) -> Certificate:
    """The certificate of a simplification that the core recorded: `by.tables()` gives nodes, maps, and the fields of steps."""

    def fields() -> dict[str, Any]:
        nodes, maps, steps = by.tables()
        return {"nodes": nodes, "maps": tuple(starmap(MapTable, maps)), "steps": tuple(starmap(Step, steps))}

    made = object.__new__(Certificate)
    # To write the maps, and to set the fields of a frozen dataclass, takes as long as several simplifications.
    made.__dict__.update(question="simplify", answer=None, results=results, _recorded=fields)
    return made


def of_composition(by: Any) -> Certificate:
    """The certificate of a composition, which has no steps: its definition is checked."""
    nodes, maps, _ = by.tables()
    return Certificate("compose", nodes, tuple(starmap(MapTable, maps)), (), None)


def of_instance(values: Mapping[str, Any], simplification: Certificate) -> Certificate:
    """The certificate of an instance: that of its simplification, whose first map is the one with parameters."""
    given = tuple((name, int(value)) for name, value in values.items())
    return replace(simplification, question="instantiate", values=given)


def of_emptiness(map: _Map, answer: bool) -> tuple[bool, Certificate]:
    """Whether a map is empty, with a point if it is not, a contradiction if simplification finds one, else nothing but that
    its box was searched."""
    simple, made = map.simplify(certificate=True)
    about = Certificate("is_empty", made.nodes, made.maps[:1], (), answer)
    if answer:
        return answer, replace(about, steps=made.steps if simple.is_known_empty else ())
    point = map.equivalent(type(map).known_empty()).counterexample
    return answer, replace(about, point=(*point[0], *point[1]))


def of_equivalence(first: _Map, second: _Map, answer: Any) -> tuple[Any, Certificate]:
    """Whether maps are equivalent, with their simplifications, and a point if they are not."""
    parts = tuple(map.simplify(certificate=True)[1] for map in (first, second))
    dims, symbols = answer.counterexample or ((), ())
    return answer, Certificate("equivalent", (), (), (), bool(answer), point=(*dims, *symbols), parts=parts)
