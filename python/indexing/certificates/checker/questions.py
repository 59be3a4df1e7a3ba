"""Questions that certificates answer: the maps that their steps begin with, by definition, and points that are answers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import chain, islice, product
from math import inf, prod

from indexing.certificates.checker.forms import Form, Forms, constant
from indexing.certificates.checker.proof import check_steps, need
from indexing.certificates.checker.table import MapValues, Table
from indexing.certificates.step import Claims, Refused

__all__ = ["check"]

MAX_POINTS = 4096
KINDS = ("defined", "known empty", "undefined")


def check(of: Claims, by_reasons: bool = True) -> None:
    """Check a certificate; without `by_reasons` all but that each step follows from its reasons. Raises Refused."""
    try:
        QUESTIONS[of.question](of, Forms(), by_reasons)
    except (ArithmeticError, LookupError, RecursionError, TypeError, ValueError) as error:
        raise Refused(None, f"a certificate that states no maps: {error}") from None


def sizes(of: Claims, place: int) -> list[int]:
    """The numbers of dimensions, ranges and runtime variables of a map."""
    return [len(group) for group in of.maps[place].names]


def read(of: Claims, place: int, forms: Forms, variables: Sequence[Form] | None = None) -> tuple[Table, MapValues]:
    """The expressions of a certificate and one of its maps, with values given for its variables, or variables."""
    count = sum(sizes(of, place))
    own = forms.variables(count) if variables is None else variables
    need(len(own) == count, None, "the maps have different numbers of variables")
    need(of.maps[place].kind in KINDS, None, f"a map is of one of these kinds: {', '.join(KINDS)}")
    table = Table(of.nodes, forms, dict(enumerate(own)))
    return table, table.map(of.maps[place], own)


def simplified(of: Claims, forms: Forms, by_reasons: bool, first: int = 0) -> None:
    """A map and its simplified form, which has the names of its variables."""
    table, before = read(of, first, forms)
    after = table.map(of.maps[first + 1], before.variables)
    is_named = after.kind != "defined" or of.maps[first].names == of.maps[first + 1].names
    need(is_named, None, "the maps have different variables")
    check_steps(table, before, after, of.steps, of.results, by_reasons)


def composed(of: Claims, forms: Forms, _: bool) -> None:
    """The second map after the first: its dimensions are the results of that."""
    table, after = read(of, 2, forms)
    kind = max(of.maps[0].kind, of.maps[1].kind, key=KINDS.index)
    if kind != "defined":
        return check_steps(table, MapValues(kind=kind), after)
    (dims, *a), (inner, *b) = sizes(of, 0), sizes(of, 1)
    rest, counts = iter(forms.variables(dims + sum(a) + sum(b))), (dims, b[0], a[0], b[1], a[1])
    outer, ranges, own_ranges, runtimes, own_runtimes = groups = [[*islice(rest, count)] for count in counts]
    first = read(of, 0, forms, [*outer, *own_ranges, *own_runtimes])[1]
    fits = len(first.results) == inner
    need(fits, None, "the second map has another number of dimensions than the first one has results")
    second = read(of, 1, forms, [*first.results, *ranges, *runtimes])[1]
    are_all = after.kind != "defined" or sizes(of, 2) == [dims, a[0] + b[0], a[1] + b[1]]
    need(are_all, None, "the maps have different variables")
    domain, divisors = first.domain + second.domain, first.divisors | second.divisors
    return check_steps(table, MapValues(tuple(chain(*groups)), second.results, domain, divisors), after)


def instantiated(of: Claims, forms: Forms, by_reasons: bool) -> None:
    """A map with values for parameters, and its simplified form."""
    values, rest = dict(of.values), iter(forms.variables(sum(sizes(of, 1))))
    names = [[name for name in group if name not in values] for group in of.maps[0].names]
    need(names == [*map(list, of.maps[1].names)], None, "the maps have different variables")
    given = [constant(values[x]) if x in values else next(rest) for group in of.maps[0].names for x in group]
    stated = read(of, 0, forms, given)[1]
    table, bound = read(of, 1, forms)
    check_steps(table, stated._replace(variables=bound.variables), bound)
    simplified(of, forms, by_reasons, 1)


def emptied(of: Claims, forms: Forms, by_reasons: bool) -> None:
    """Whether a map has no points."""
    table, own = read(of, 0, forms)
    if not of.answer:
        return need(outcome(forms, own, of.point) is not None, None, f"{of.point} is no point of the domain")
    if of.steps or own.kind != "defined":
        return check_steps(table, own, MapValues(kind="known empty"), of.steps, (), by_reasons)
    return need(all(outcome(forms, own, point) is None for point in box(own)), None, "the domain has a point")


def equated(of: Claims, forms: Forms, by_reasons: bool) -> None:
    """Whether the maps that the parts simplify have the same points and results."""
    need([part.question for part in of.parts] == ["simplify"] * 2, None, "there are not two maps")
    (_, first), (_, second) = (read(part, 0, forms) for part in of.parts)
    alike = len({first.kind, second.kind}) == 2 or sizes(of.parts[0], 0) == sizes(of.parts[1], 0)
    need(alike, None, "the maps have different numbers of variables")
    need("undefined" not in (first.kind, second.kind), None, "nothing is known about an undefined map")

    def differ(point: Sequence[int]) -> bool:
        return outcome(forms, first, point) != outcome(forms, second, point)

    if not of.answer:
        return need(differ(of.point), None, f"the maps do not differ at {of.point}")
    for part in of.parts:
        check(part, by_reasons)
    try:
        (table, left), (_, right) = (read(part, 1, forms) for part in of.parts)
        return check_steps(table, left, right)
    except Refused:
        return need(not any(differ(p) for m in (first, second) for p in box(m)), None, "the maps differ at a point")


def box(of: MapValues) -> Iterator[tuple[int, ...]]:
    """All points within the bounds of the variables. Raises Refused where these are too many."""
    bounds = {e: range(int(a), int(b) + 1) for e, a, b in of.domain if b - a < inf}
    ranges = [bounds.get(name, range(MAX_POINTS + 1)) for name in of.variables]
    few = prod(map(len, ranges)) <= MAX_POINTS
    need(few, None, "undecided: the proof is a search of a box of too many points")
    return product(*ranges)


def outcome(forms: Forms, of: MapValues, point: Sequence[int]) -> tuple[int, ...] | None:
    """The results at a point; None outside of the domain, where also a divisor is 0."""
    if of.kind != "defined":
        return None
    at = dict(zip((a for name in of.variables for a in name), point, strict=True))
    if any(forms.value(d, at) == 0 for d in of.divisors):
        return None
    is_inside = all(lower <= forms.value(e, at) <= upper for e, lower, upper in of.domain)
    return tuple(forms.value(e, at) for e in of.results) if is_inside else None


QUESTIONS: dict[str, Callable[[Claims, Forms, bool], None]] = {
    "simplify": simplified,
    "compose": composed,
    "instantiate": instantiated,
    "is_empty": emptied,
    "equivalent": equated,
}
