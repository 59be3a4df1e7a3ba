"""Questions that certificates answer: the maps that their steps begin with, by definition, and points that are answers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, product
from math import inf, prod

from indexing.certificates.checker.forms import Form, Forms
from indexing.certificates.checker.proof import check_steps, need
from indexing.certificates.checker.reader import MapText, Named, Reader, TextError
from indexing.certificates.step import Claims, Refused

__all__ = ["check"]


def check(of: Claims, by_reasons: bool = True) -> None:
    """Check a certificate; without `by_reasons` all but that each step follows from its reasons. Raises Refused."""
    try:
        QUESTIONS[of.question](of, Forms(), by_reasons)
    except TextError as error:
        raise Refused(None, str(error)) from None
    except (ArithmeticError, ValueError, LookupError, RecursionError) as error:
        raise Refused(None, f"a map that can't be read: {error!r}") from None


def simplified(of: Claims, forms: Forms, by_reasons: bool) -> None:
    reader = Reader(forms)
    check_steps(reader, reader.map(of.before), reader.map(of.after), of.steps, of.results, by_reasons)


def composed(of: Claims, forms: Forms, _: bool) -> None:
    """The second map after the first: its dimensions are the results of that."""
    first, reader = Reader(forms).map(of.maps[0]), Reader(forms)

    def inner(groups: list[list[str]]) -> list[Sequence[Form]]:
        fits = len(first.results) == len(groups[0])
        need(fits, None, "the second map has another number of dimensions than the first one has results")
        return [first.results, *([forms.variable(f"{name}'") for name in group] for group in groups[1:])]

    second = reader.map(of.maps[1], inner if first.kind == "defined" else None)
    names = first.names[0], *(b + a for a, b in zip(first.names[1:], second.names[1:], strict=True))
    made = MapText(
        names,
        second.results,
        first.domain + second.domain,
        first.divisors | second.divisors,
        max(first.kind, second.kind, key=KINDS.index),
    )
    check_steps(reader, made, Reader(forms).map(of.after, like(made)))


def like(of: MapText) -> Named | None:
    """The names of another map, by position; a map without points has no names."""

    def named(groups: list[list[str]]) -> Sequence[Sequence[Form]]:
        alike = [len(group) for group in groups] == [len(group) for group in of.names]
        need(alike, None, "the maps have different numbers of variables")
        return of.names

    return named if of.kind == "defined" else None


def instantiated(of: Claims, forms: Forms, by_reasons: bool) -> None:
    values, reader = dict(of.values), Reader(forms)

    def given(name: str) -> Form:
        return forms.number(values[name]) if name in values else forms.variable(name)

    stated = reader.map(of.maps[0], lambda groups: [[*map(given, group)] for group in groups])
    names = tuple(tuple(e for e in group if e.number is None) for group in stated.names)
    made = stated._replace(names=names)
    check_steps(reader, made, Reader(forms).map(of.before, like(made)))
    simplified(of, forms, by_reasons)


def emptied(of: Claims, forms: Forms, by_reasons: bool) -> None:
    reader = Reader(forms)
    own = reader.map(of.before)
    need(of.after in ("true", "false"), None, f"an answer is true or false, not {of.after!r}")
    if of.after == "false":
        return need(outcome(forms, own, of.point) is not None, None, f"{of.point} is no point of the domain")
    if of.steps or own.kind != "defined":
        return check_steps(reader, own, MapText(kind="KNOWN EMPTY"), of.steps, (), by_reasons)
    return need(all(outcome(forms, own, point) is None for point in box(own)), None, "the domain has a point")


def equated(of: Claims, forms: Forms, by_reasons: bool) -> None:
    first = Reader(forms).map(of.maps[0])
    second = Reader(forms).map(of.maps[1], like(first))
    need("UNDEFINED" not in (first.kind, second.kind), None, "nothing is known about an undefined map")
    need(of.after in ("true", "false"), None, f"an answer is true or false, not {of.after!r}")

    def differ(point: Sequence[int]) -> bool:
        return outcome(forms, first, point) != outcome(forms, second, point)

    if of.after == "false":
        return need(differ(of.point), None, f"the maps do not differ at {of.point}")
    are_theirs = all(part.question == "simplify" for part in of.parts) and tuple(p.before for p in of.parts) == of.maps
    need(are_theirs, None, "the parts are not the simplifications of the maps")
    for part in of.parts:
        check(part, by_reasons)
    try:
        left = Reader(forms).map(of.parts[0].after)
        return check_steps(Reader(forms), left, Reader(forms).map(of.parts[1].after, like(left)))
    except Refused:
        return need(not any(differ(p) for m in (first, second) for p in box(m)), None, "the maps differ at a point")


def box(of: MapText) -> Iterator[tuple[int, ...]]:
    """All points within the bounds of the variables. Raises Refused where these are too many."""
    bounds = {e: range(int(a), int(b) + 1) for e, a, b in of.domain if b - a < inf}
    ranges = [bounds.get(name, range(MAX_POINTS + 1)) for name in chain(*of.names)]
    few = prod(map(len, ranges)) <= MAX_POINTS
    need(few, None, "undecided: the proof is a search of a box of too many points")
    return product(*ranges)


def outcome(forms: Forms, of: MapText, point: Sequence[int]) -> tuple[int, ...] | None:
    """The results at a point; None outside of the domain, where also a divisor is 0."""
    if of.kind != "defined":
        return None
    at = dict(zip((a for name in chain(*of.names) for a in name), point, strict=True))
    if any(forms.value(d, at) == 0 for d in of.divisors):
        return None
    is_inside = all(lower <= forms.value(e, at) <= upper for e, lower, upper in of.domain)
    return tuple(forms.value(e, at) for e in of.results) if is_inside else None


MAX_POINTS = 4096
KINDS = ("defined", "KNOWN EMPTY", "UNDEFINED")
QUESTIONS = {
    "simplify": simplified,
    "compose": composed,
    "instantiate": instantiated,
    "is_empty": emptied,
    "equivalent": equated,
}
