"""Questions that certificates answer: the maps that their steps begin with, by definition, and points that are answers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, product
from math import prod

from indexing.certificates.checker.reader import Expr, MapText, TextError, read_map, replaced, value_at
from indexing.certificates.checker.step_check import check_steps
from indexing.certificates.step import Claims, Refused

__all__ = ["check"]

MAX_POINTS = 4096


def check(of: Claims, by_reasons: bool = True) -> None:
    """Check a certificate; without `by_reasons` all but that each step follows from its reasons. Raises Refused."""
    try:
        QUESTIONS[of.question](of, by_reasons)
    except TextError as error:
        raise Refused(None, str(error)) from None
    except (ValueError, LookupError, RecursionError) as error:
        raise Refused(None, f"a map that can't be read: {error!r}") from None


def simplified(of: Claims, by_reasons: bool) -> None:
    check_steps(read_map(of.before), read_map(of.after), of.steps, of.results, by_reasons)


def composed(of: Claims, by_reasons: bool) -> None:
    first, second = map(read_map, of.maps)
    after = read_map(of.after)
    if "UNDEFINED" in (first.kind, second.kind):
        own = MapText(kind="UNDEFINED")
    elif "KNOWN EMPTY" in (first.kind, second.kind):
        own = MapText(kind="KNOWN EMPTY")
    else:
        own = composition(first, second)
    check_steps(named(own, after), after)


def composition(first: MapText, second: MapText) -> MapText:
    """`second` after `first`: its dimensions are replaced by the results of `first`."""
    if len(first.results) != len(second.names[0]):
        raise Refused(None, "the second map has another number of dimensions than the first one has results")
    (dims, *symbols), symbols2 = first.names, second.names[1:]
    names = (dims, *(tuple(f"{n}'" for n in b) + a for a, b in zip(symbols, symbols2, strict=True)))
    by: dict[str, Expr] = {n: f"{n}'" for n in chain(*symbols2)} | dict(
        zip(second.names[0], first.results, strict=True)
    )
    moved = with_names(second, by)
    return MapText(names, moved.results, first.domain + moved.domain)


def with_names(of: MapText, by: Mapping[str, Expr]) -> MapText:
    """The map with names replaced."""
    return MapText(
        (), tuple(replaced(e, by) for e in of.results), tuple((replaced(e, by), a, b) for e, a, b in of.domain)
    )


def named(of: MapText, like: MapText) -> MapText:
    """The map with the names of another one, by position; a map without points has no names."""
    if of.kind != "defined" or like.kind != "defined":
        return of
    if [len(group) for group in of.names] != [len(group) for group in like.names]:
        raise Refused(None, "the maps have different numbers of variables")
    moved = with_names(of, dict(zip(chain(*of.names), chain(*like.names), strict=True)))
    return MapText(like.names, moved.results, moved.domain)


def instantiated(of: Claims, by_reasons: bool) -> None:
    (stated,) = map(read_map, of.maps)
    values = dict(of.values)
    moved = with_names(stated, values)
    names = tuple(tuple(n for n in group if n not in values) for group in stated.names)
    own = MapText(names, moved.results, moved.domain, stated.kind)
    before = read_map(of.before)
    check_steps(named(own, before), before)
    simplified(of, by_reasons)


def emptied(of: Claims, by_reasons: bool) -> None:
    own = read_map(of.before)
    if of.after == "false":
        if not is_inside(own, of.point):
            raise Refused(None, f"{of.point} is no point of the domain")
    elif of.after != "true":
        raise Refused(None, f"an answer is true or false, not {of.after!r}")
    elif of.steps or own.kind != "defined":
        check_steps(own, MapText(kind="KNOWN EMPTY"), of.steps, (), by_reasons)
    elif any(is_inside(own, point) for point in box(own)):
        raise Refused(None, "the domain has a point")


def equated(of: Claims, by_reasons: bool) -> None:
    first, second = map(read_map, of.maps)
    if "UNDEFINED" in (first.kind, second.kind):
        raise Refused(None, "nothing is known about an undefined map")
    second = named(second, first)
    if of.after == "false":
        if outcome(first, of.point) == outcome(second, of.point):
            raise Refused(None, f"the maps do not differ at {of.point}")
        return
    if of.after != "true":
        raise Refused(None, f"an answer is true or false, not {of.after!r}")
    if tuple(part.before for part in of.parts) != of.maps or any(part.question != "simplify" for part in of.parts):
        raise Refused(None, "the parts are not the simplifications of the maps")
    for part in of.parts:
        check(part, by_reasons)
    left, right = (read_map(part.after) for part in of.parts)
    try:
        check_steps(left, named(right, left))
    except Refused:
        points = chain(box(first), box(second))
        if any(outcome(first, point) != outcome(second, point) for point in points):
            raise Refused(None, "the maps differ at a point") from None


def is_inside(of: MapText, point: Sequence[int]) -> bool:
    return outcome(of, point) is not None


def outcome(of: MapText, point: Sequence[int]) -> tuple[int, ...] | None:
    """The results at a point; None outside of the domain, where also a divisor is 0."""
    if of.kind != "defined":
        return None
    at = dict(zip(chain(*of.names), point, strict=True))
    try:
        values = tuple(value_at(e, at) for e in of.results)
        return values if all(a <= value_at(e, at) <= b for e, a, b in of.domain) else None
    except ZeroDivisionError:
        return None


def box(of: MapText) -> Iterator[tuple[int, ...]]:
    """All points within the bounds of the variables. Raises Refused beyond a limit."""
    bounds = {e: range(a, b + 1) for e, a, b in of.domain if isinstance(e, str)}
    ranges = [bounds[name] for name in chain(*of.names)] if of.kind == "defined" else [range(0)]
    if prod(max(r.stop - r.start, 0) for r in ranges) > MAX_POINTS:
        raise Refused(None, f"undecided: the proof is a search of a box of more than {MAX_POINTS} points")
    return product(*ranges)


QUESTIONS = {
    "simplify": simplified,
    "compose": composed,
    "instantiate": instantiated,
    "is_empty": emptied,
    "equivalent": equated,
}
