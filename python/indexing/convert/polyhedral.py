"""Conversion of indexing maps to MLIR's affine maps and sets, and back."""

from __future__ import annotations

import re
from collections.abc import Sequence

from indexing._core import IndexingMap, Interval, SymbolicExpr, SymbolicMap, variable
from indexing.arguments import of_type, optional, takes
from indexing.convert.expressions import check_has_value
from indexing.errors import InvalidMap, ParseError

LOWEST, HIGHEST = -(2**63), 2**63 - 1
UNBOUNDED = Interval(LOWEST, HIGHEST)
_AFFINE_KINDS = frozenset({"variable", "constant", "sum", "floordiv", "mod"})


@takes(m=of_type(IndexingMap))
def to_affine_map(m: IndexingMap) -> str:
    """`affine_map<(d0)[s0] -> (..)>`, the results; `to_affine_set` gives the domain.

    Raises InvalidMap for runtime variables, min, max, products of variables and divisors that aren't positive constants.
    """
    check_is_affine(m, "an affine map")
    return f"affine_map<{m.symbolic_map}>"


@takes(m=of_type(IndexingMap))
def to_affine_set(m: IndexingMap) -> str:
    """`affine_set<(d0)[s0] : (.. >= 0, ..)>`, the domain. Raises InvalidMap as `to_affine_map`."""
    check_is_affine(m, "an affine set")
    exprs: list[tuple[SymbolicExpr, str]] = []
    for e, interval in domain_parts(m):
        if interval.is_point:
            exprs.append((e - interval.lower, "=="))
            continue
        if interval.lower > LOWEST:
            exprs.append((e - interval.lower, ">="))
        if interval.upper < HIGHEST:
            exprs.append((interval.upper - e, ">="))
    texts = [f"{_text(e, m)} {sign} 0" for e, sign in exprs] or ["0 == 0"]
    head = str(SymbolicMap(m.num_dims, m.num_ranges, [])).partition(" ->")[0]
    return f"affine_set<{head} : ({', '.join(texts)})>"


@takes(map_text=of_type(str), set_text=optional(of_type(str)))
def from_affine_map(map_text: str, set_text: str | None = None) -> IndexingMap:
    """The map of an affine map and, for its domain, an affine set over the same dimensions and symbols.

    Symbols become range variables. Without a set, every index is in the domain. Raises ParseError for other text, InvalidMap
    if the two have different variables.
    """
    symbolic = SymbolicMap.parse(_inside(map_text, "affine_map"))
    names = [f"d{k}" for k in range(symbolic.num_dims)] + [f"s{k}" for k in range(symbolic.num_symbols)]
    bounds: list[tuple[SymbolicExpr, Interval]] = []
    if set_text is not None:
        head, colon, body = _inside(set_text, "affine_set").partition(":")
        shape = SymbolicMap.parse(f"{head} -> ()")
        if not colon or (shape.num_dims, shape.num_symbols) != (symbolic.num_dims, symbolic.num_symbols):
            raise InvalidMap("map and set have different dimensions or symbols")
        for part in _split(body.strip().removeprefix("(").removesuffix(")"), ","):
            matched = re.fullmatch(r"(.*?)(>=|==)\s*0\s*", part, re.DOTALL)
            if matched is None:
                raise ParseError("expected `expression >= 0` or `expression == 0`", 1, 1, part)
            e = SymbolicExpr.parse(matched[1], num_dims=symbolic.num_dims)
            bounds.append((e, Interval(0, HIGHEST if matched[2] == ">=" else 0)))
    return bounded_map(symbolic, names, symbolic.num_dims, symbolic.num_symbols, bounds)


# ---------------------------------------------------------------- shared with isl


def check_is_affine(m: IndexingMap, what: str, *, runtimes: bool = False, extrema: bool = False) -> None:
    """Raise InvalidMap for a map that is not affine; `what` names the notation in the error, which may have runtime variables,
    and minima and maxima.
    """
    check_has_value(m)
    if m.runtimes and not runtimes:
        raise InvalidMap(f"{what} does not tell runtime variables from range variables")
    for e in (*m.results, *(e for e, _ in m.constraints)):
        nodes = e.nodes()
        for kind, _, operands in nodes:
            if kind not in _AFFINE_KINDS and not (extrema and kind in ("min", "max")):
                raise InvalidMap(f"{what} has no {kind}: {e}")
            if kind in ("floordiv", "mod"):
                divisor = nodes[operands[1]]
                if divisor[0] != "constant" or divisor[1][0] <= 0:
                    raise InvalidMap(f"{what} divides by positive constants only: {e}")


def domain_parts(m: IndexingMap) -> list[tuple[SymbolicExpr, Interval]]:
    """The variables and constraint expressions, each with its interval."""
    return [*((variable(k), v.interval) for k, v in enumerate(m.variables)), *m.constraints]


def _text(e: SymbolicExpr, m: IndexingMap) -> str:
    text = str(SymbolicMap(m.num_dims, m.num_ranges + m.num_runtimes, [e]))
    return text.partition("-> (")[2].removesuffix(")")


def bounded_map(
    symbolic: SymbolicMap,
    names: Sequence[str],
    dims: int,
    ranges: int,
    bounds: Sequence[tuple[SymbolicExpr, Interval]],
) -> IndexingMap:
    """The map with these bounds as domain; bounds of single variables become intervals, others constraints."""
    intervals = [UNBOUNDED] * len(names)
    constraints: dict[SymbolicExpr, Interval] = {}
    for e, interval in bounds:
        kind, numbers, operands = e.nodes()[-1]
        inner, sign, shift = e, 1, 0
        if kind == "sum" and len(operands) == 1 and abs(numbers[1]) == 1:
            inner, sign, shift = e.postorder()[operands[0]], numbers[1], numbers[0]
        elif kind == "sum":
            inner, shift = e - numbers[0], numbers[0]
        moved = interval - shift if sign > 0 else shift - interval
        at = inner.used_variables()
        if inner.nodes()[-1][0] == "variable":
            intervals[at[0]] = intervals[at[0]].intersect(moved)
        elif at or not interval.contains(shift):
            if -inner in constraints:
                inner, moved = -inner, 0 - moved
            constraints[inner] = constraints.get(inner, UNBOUNDED).intersect(moved)
    named = list(zip(names, intervals, strict=True))
    return IndexingMap(symbolic, named[:dims], named[dims : dims + ranges], named[dims + ranges :], constraints)


def _inside(text: str, word: str) -> str:
    matched = re.fullmatch(rf"\s*{word}\s*<(.*)>\s*", text, re.DOTALL)
    if matched is None:
        raise ParseError(f"expected {word}<..>", 1, 1, text)
    return matched[1]


def _split(text: str, separator: str) -> list[str]:
    """Split text at separators outside of parentheses."""
    depth, parts, part = 0, [], ""
    for c in text:
        depth += (c == "(") - (c == ")")
        if c == separator and depth == 0:
            parts.append(part)
            part = ""
        else:
            part += c
    return [*parts, part]
