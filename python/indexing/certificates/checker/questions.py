"""Questions that certificates answer: the maps that their steps begin with, by definition, and points that are answers."""

from __future__ import annotations

from itertools import chain

from indexing.certificates.checker.proof import check_steps, need
from indexing.certificates.checker.reader import MapText, TextError, read_map
from indexing.certificates.step import Claims, Refused

__all__ = ["check"]


def check(of: Claims, by_reasons: bool = True) -> None:
    """Check a certificate; without `by_reasons` all but that each step follows from its reasons. Raises Refused."""
    try:
        QUESTIONS[of.question](of, [read_map(text) for text in of.maps], by_reasons)
    except TextError as error:
        raise Refused(None, str(error)) from None
    except (ArithmeticError, ValueError, LookupError, RecursionError) as error:
        raise Refused(None, f"a map that can't be read: {error!r}") from None


def simplified(of: Claims, _: list[MapText], by_reasons: bool) -> None:
    check_steps(read_map(of.before), read_map(of.after), of.steps, of.results, by_reasons)


def composed(of: Claims, maps: list[MapText], _: bool) -> None:
    after = read_map(of.after)
    first, second = maps
    check_steps(named(composition(first, second), after), after)


def composition(first: MapText, second: MapText) -> MapText:
    """`second` after `first`: its dimensions are replaced by the results of `first`."""
    for kind in ("UNDEFINED", "KNOWN EMPTY"):
        if kind in (first.kind, second.kind):
            return MapText(kind=kind)
    fits = len(first.results) == len(second.names[0])
    need(fits, None, "the second map has another number of dimensions than the first one has results")
    dims, *own = first.names
    symbols = [tuple(f"{name}'" for name in group) for group in second.names[1:]]
    by = dict(zip(chain(*second.names), (*first.results, *chain(*symbols)), strict=True))
    moved = second.replaced(by, (dims, *(a + b for a, b in zip(symbols, own, strict=True))))
    return MapText(moved.names, moved.results, first.domain + moved.domain)


def named(of: MapText, like: MapText) -> MapText:
    """The map with the names of another one, by position; a map without points has no names."""
    if of.kind != "defined" or like.kind != "defined":
        return of
    alike = [len(group) for group in of.names] == [len(group) for group in like.names]
    need(alike, None, "the maps have different numbers of variables")
    return of.replaced(dict(zip(chain(*of.names), chain(*like.names), strict=True)), like.names)


def instantiated(of: Claims, maps: list[MapText], by_reasons: bool) -> None:
    (stated,), values, before = maps, dict(of.values), read_map(of.before)
    names = tuple(tuple(name for name in group if name not in values) for group in stated.names)
    check_steps(named(stated.replaced(values, names), before), before)
    simplified(of, maps, by_reasons)


def emptied(of: Claims, _: list[MapText], by_reasons: bool) -> None:
    own = read_map(of.before)
    need(of.after in ("true", "false"), None, f"an answer is true or false, not {of.after!r}")
    if of.after == "false":
        return need(own.outcome(of.point) is not None, None, f"{of.point} is no point of the domain")
    if of.steps or own.kind != "defined":
        return check_steps(own, MapText(kind="KNOWN EMPTY"), of.steps, (), by_reasons)
    points = own.points()
    need(points is not None, None, "undecided: the proof is a search of a box of too many points")
    return need(all(own.outcome(point) is None for point in points or ()), None, "the domain has a point")


def equated(of: Claims, maps: list[MapText], by_reasons: bool) -> None:
    first, second = maps[0], named(maps[1], maps[0])
    need("UNDEFINED" not in (first.kind, second.kind), None, "nothing is known about an undefined map")
    need(of.after in ("true", "false"), None, f"an answer is true or false, not {of.after!r}")
    if of.after == "false":
        differ = first.outcome(of.point) != second.outcome(of.point)
        return need(differ, None, f"the maps do not differ at {of.point}")
    are_theirs = all(part.question == "simplify" for part in of.parts) and tuple(p.before for p in of.parts) == of.maps
    need(are_theirs, None, "the parts are not the simplifications of the maps")
    for part in of.parts:
        check(part, by_reasons)
    left, right = (read_map(part.after) for part in of.parts)
    try:
        return check_steps(left, named(right, left))
    except Refused:
        boxes = [m.points() for m in (first, second)]
        need(None not in boxes, None, "undecided: the proof is a search of a box of too many points")
        same = all(first.outcome(p) == second.outcome(p) for box in boxes for p in box or ())
        return need(same, None, "the maps differ at a point")


QUESTIONS = {
    "simplify": simplified,
    "compose": composed,
    "instantiate": instantiated,
    "is_empty": emptied,
    "equivalent": equated,
}
