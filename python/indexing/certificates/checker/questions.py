"""Questions that certificates answer: the maps that their steps begin with, by definition, and points that are answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from indexing.certificates.checker.proof import check_steps, need
from indexing.certificates.checker.reader import MapText, Named, Reader, Table, TextError
from indexing.certificates.step import Claims, Refused

__all__ = ["check"]


def check(of: Claims, by_reasons: bool = True) -> None:
    """Check a certificate; without `by_reasons` all but that each step follows from its reasons. Raises Refused."""
    try:
        QUESTIONS[of.question](of, Table(), by_reasons)
    except TextError as error:
        raise Refused(None, str(error)) from None
    except (ArithmeticError, ValueError, LookupError, RecursionError) as error:
        raise Refused(None, f"a map that can't be read: {error!r}") from None


def simplified(of: Claims, table: Table, by_reasons: bool) -> None:
    reader = Reader(table)
    check_steps(reader, reader.map(of.before), Reader(table).map(of.after), of.steps, of.results, by_reasons)


def composed(of: Claims, table: Table, _: bool) -> None:
    """The second map after the first: its dimensions are the results of that."""
    first = Reader(table).map(of.maps[0])

    def inner(groups: list[list[str]]) -> list[Sequence[int]]:
        fits = len(first.results) == len(groups[0])
        need(fits, None, "the second map has another number of dimensions than the first one has results")
        return [first.results, *([table.add(f"{name}'") for name in group] for group in groups[1:])]

    second = Reader(table).map(of.maps[1], inner if first.kind == "defined" else None)
    names = first.names[0], *(b + a for a, b in zip(first.names[1:], second.names[1:], strict=True))
    made = MapText(names, second.results, first.domain + second.domain, max(first.kind, second.kind, key=KINDS.index))
    check_steps(Reader(table), made, Reader(table).map(of.after, like(made)))


def like(of: MapText) -> Named | None:
    """The names of another map, by position; a map without points has no names."""

    def named(groups: list[list[str]]) -> Sequence[Sequence[int]]:
        alike = [len(group) for group in groups] == [len(group) for group in of.names]
        need(alike, None, "the maps have different numbers of variables")
        return of.names

    return named if of.kind == "defined" else None


def instantiated(of: Claims, table: Table, by_reasons: bool) -> None:
    values = dict(of.values)
    stated = Reader(table).map(of.maps[0], lambda groups: [[table.add(values.get(n, n)) for n in g] for g in groups])
    names = tuple(tuple(name for name in group if isinstance(table.nodes[name], str)) for group in stated.names)
    made = replace(stated, names=names)
    check_steps(Reader(table), made, Reader(table).map(of.before, like(made)))
    simplified(of, table, by_reasons)


def emptied(of: Claims, table: Table, by_reasons: bool) -> None:
    reader = Reader(table)
    own = reader.map(of.before)
    need(of.after in ("true", "false"), None, f"an answer is true or false, not {of.after!r}")
    if of.after == "false":
        return need(own.outcome(table, of.point) is not None, None, f"{of.point} is no point of the domain")
    if of.steps or own.kind != "defined":
        return check_steps(reader, own, MapText(kind="KNOWN EMPTY"), of.steps, (), by_reasons)
    points = own.points()
    need(points is not None, None, "undecided: the proof is a search of a box of too many points")
    return need(all(own.outcome(table, point) is None for point in points or ()), None, "the domain has a point")


def equated(of: Claims, table: Table, by_reasons: bool) -> None:
    first = Reader(table).map(of.maps[0])
    second = Reader(table).map(of.maps[1], like(first))
    need("UNDEFINED" not in (first.kind, second.kind), None, "nothing is known about an undefined map")
    need(of.after in ("true", "false"), None, f"an answer is true or false, not {of.after!r}")
    if of.after == "false":
        differ = first.outcome(table, of.point) != second.outcome(table, of.point)
        return need(differ, None, f"the maps do not differ at {of.point}")
    are_theirs = all(part.question == "simplify" for part in of.parts) and tuple(p.before for p in of.parts) == of.maps
    need(are_theirs, None, "the parts are not the simplifications of the maps")
    for part in of.parts:
        check(part, by_reasons)
    try:
        left = Reader(table).map(of.parts[0].after)
        return check_steps(Reader(table), left, Reader(table).map(of.parts[1].after, like(left)))
    except Refused:
        boxes = [m.points() for m in (first, second)]
        need(None not in boxes, None, "undecided: the proof is a search of a box of too many points")
        same = all(first.outcome(table, p) == second.outcome(table, p) for box in boxes for p in box or ())
        return need(same, None, "the maps differ at a point")


KINDS = ("defined", "KNOWN EMPTY", "UNDEFINED")
QUESTIONS = {
    "simplify": simplified,
    "compose": composed,
    "instantiate": instantiated,
    "is_empty": emptied,
    "equivalent": equated,
}
