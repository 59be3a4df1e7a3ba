"""Certificates of the core's answers: as it records simplifications, and as these give other answers."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, TypeAlias

from indexing.certificates.certificate import Certificate
from indexing.certificates.step import Step

__all__ = ["of_composition", "of_emptiness", "of_equivalence", "of_instance", "recorded"]

#: A bound of this size means "unbounded".
UNBOUNDED = (-(2**63), 2**63 - 1)
IS_NAME = re.compile(r"[^\W\d][\w.]*").fullmatch
_Parts: TypeAlias = "tuple[str, list[str], list[int] | None, list[tuple[str, str]], list[int]]"
#: A map of the core.
_Map: TypeAlias = Any


def recorded(maps: tuple[str, str], steps: list[_Parts], results: list[int | None]) -> Certificate:
    """The certificate of a simplification, as the core recorded it."""
    made = [_recorded(k, *parts) for k, parts in enumerate(steps)]
    return Certificate("simplify", maps[0], maps[1], tuple(made), tuple(results))


def _recorded(
    number: int,
    law: str,
    texts: list[str],
    ranged: list[int] | None,
    letters: list[tuple[str, str]],
    reasons: list[int],
) -> Step:
    lower, upper, modulus, residue = ranged or [*UNBOUNDED, 1, 0]
    ends = (None if lower == UNBOUNDED[0] else lower, None if upper == UNBOUNDED[1] else upper)
    # The bounds of a variable are numbers, however large; those of a constraint on another expression may be none.
    is_bound = law != "substituted" and len(texts) == 1 and IS_NAME(texts[0]) is not None
    ends = (lower, upper) if lower == upper or is_bound else ends
    claim = "never" if not texts else "equal" if len(texts) == 2 else "within"
    before, after = (*texts, "", "")[:2]
    modulus, residue = (modulus, residue) if modulus > 1 else (1, 0)
    return Step(number, claim, law, before, after, *ends, modulus, residue, tuple(letters), tuple(reasons))


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
