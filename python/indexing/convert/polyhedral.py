"""Indexing maps as MLIR's affine maps and sets, and as isl's relations; and back from the same forms."""

from __future__ import annotations

import re
from collections.abc import Sequence

from indexing._core import IndexingMap, Interval, SymbolicExpr, SymbolicMap, variable
from indexing.arguments import of_type, optional, takes
from indexing.errors import InvalidMap, ParseError

__all__ = ["from_affine_map", "from_isl", "to_affine_map", "to_affine_set", "to_isl"]

_LOW, _HIGH = -(2**63), 2**63 - 1
_SAYABLE = frozenset({"variable", "constant", "sum", "floordiv", "mod"})


@takes(m=of_type(IndexingMap))
def to_affine_map(m: IndexingMap) -> str:
    """`affine_map<(d0)[s0] -> (..)>`: the results. With `to_affine_set`, the domain, nothing is lost.

    Raises InvalidMap for runtime variables, min, max, products of variables and divisors that are no positive constants.
    """
    _check(m, "an affine map")
    return f"affine_map<{m.symbolic_map}>"


@takes(m=of_type(IndexingMap))
def to_affine_set(m: IndexingMap) -> str:
    """`affine_set<(d0)[s0] : (.. >= 0, ..)>`: the domain. Raises InvalidMap as `to_affine_map`."""
    _check(m, "an affine set")
    exprs: list[tuple[SymbolicExpr, str]] = []
    for e, interval in _domain(m):
        if interval.is_point:
            exprs.append((e - interval.lower, "=="))
            continue
        if interval.lower > _LOW:
            exprs.append((e - interval.lower, ">="))
        if interval.upper < _HIGH:
            exprs.append((interval.upper - e, ">="))
    texts = [f"{_text(e, m)} {sign} 0" for e, sign in exprs] or ["0 == 0"]
    head = str(SymbolicMap(m.num_dims, m.num_ranges, [])).partition(" ->")[0]
    return f"affine_set<{head} : ({', '.join(texts)})>"


@takes(map_text=of_type(str), set_text=optional(of_type(str)))
def from_affine_map(map_text: str, set_text: str | None = None) -> IndexingMap:
    """The map of an affine map and, for its domain, an affine set over the same dimensions and symbols.

    Symbols become range variables. Without a set, every index is in the domain. Raises ParseError, and InvalidMap where
    the two have different variables.
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
            found = re.fullmatch(r"(.*?)(>=|==)\s*0\s*", part, re.DOTALL)
            if found is None:
                raise ParseError("expected `expression >= 0` or `expression == 0`", 1, 1, part)
            e = SymbolicExpr.parse(found[1], num_dims=symbolic.num_dims)
            bounds.append((e, Interval(0, _HIGH if found[2] == ">=" else 0)))
    return _built(symbolic, names, symbolic.num_dims, symbolic.num_symbols, bounds)


@takes(m=of_type(IndexingMap))
def to_isl(m: IndexingMap) -> str:
    """The relation from index to result; range variables are `exists`, runtime variables parameters.

    Raises InvalidMap as `to_affine_map`, runtime variables apart.
    """
    _check(m, "an isl relation", runtimes=True)
    names = [v.name or f"v{k}" for k, v in enumerate(m.variables)]
    if len(set(names)) < len(names) or not all(re.fullmatch(r"[A-Za-z_]\w*", n) for n in names):
        raise InvalidMap("the names of the variables are not different identifiers")
    dims, ranges = names[: m.num_dims], names[m.num_dims : m.num_dims + m.num_ranges]
    runtimes = names[m.num_dims + m.num_ranges :]
    outputs = [f"out{k}" for k in range(m.num_results)]
    if set(outputs) & set(names):
        raise InvalidMap("the names out0, out1, .. are those of the results")
    parts = [f"{o} = {_isl(e, names)}" for o, e in zip(outputs, m.results, strict=True)]
    for e, interval in _domain(m):
        low = f"{interval.lower} <= " if interval.lower > _LOW else ""
        high = f" <= {interval.upper}" if interval.upper < _HIGH else ""
        if low or high:
            parts.append(f"{low}{_isl(e, names)}{high}")
    body = " and ".join(parts)
    if ranges:
        body = f"exists ({', '.join(ranges)} : {body})"
    head = f"[{', '.join(runtimes)}] -> " if runtimes else ""
    condition = f" : {body}" if body else ""
    return f"{head}{{ [{', '.join(dims)}] -> [{', '.join(outputs)}]{condition} }}"


@takes(text=of_type(str))
def from_isl(text: str) -> IndexingMap:
    """The map of a relation as `to_isl` writes it: one conjunction that says each output, and bounds.

    Raises ParseError for other text.
    """
    form = r"\s*(?:\[([^\]]*)\]\s*->\s*)?\{\s*\[([^\]]*)\]\s*->\s*\[([^\]]*)\]\s*(?::(.*))?\}\s*"
    found = re.fullmatch(form, text, re.DOTALL)
    if found is None:
        raise ParseError("expected `[parameters] -> { [..] -> [..] : .. }`", 1, 1, text)
    runtimes, dims, outputs = (_listed(found[k]) for k in (1, 2, 3))
    body = (found[4] or "").strip()
    inner = re.fullmatch(r"exists\s*\(([^:]*):(.*)\)", body, re.DOTALL)
    ranges = _listed(inner[1]) if inner else []
    body = inner[2] if inner else body
    names = [*dims, *ranges, *runtimes]
    numbers = {name: k for k, name in enumerate(names)}
    results: dict[str, SymbolicExpr] = {}
    bounds: list[tuple[SymbolicExpr, Interval]] = []
    for part in filter(None, (p.strip() for p in re.split(r"\band\b", body))):
        sides = [s.strip() for s in re.split(r"(<=|>=|=)", part)]
        if len(sides) == 3 and sides[1] == "=" and sides[0] in outputs:
            results[sides[0]] = _read_isl(sides[2], numbers)
            continue
        bounds += _bounds_of(sides, numbers, part)
    if set(results) != set(outputs):
        raise ParseError("expected each output once, as `output = expression`", 1, 1, text)
    symbolic = SymbolicMap(len(dims), len(ranges) + len(runtimes), [results[o] for o in outputs])
    return _built(symbolic, names, len(dims), len(ranges), bounds)


def _bounds_of(sides: list[str], numbers: dict[str, int], part: str) -> list[tuple[SymbolicExpr, Interval]]:
    found = []
    for left, sign, right in zip(sides[::2], sides[1::2], sides[2::2], strict=False):
        difference = _read_isl(left, numbers) - _read_isl(right, numbers)
        interval = {"<=": Interval(_LOW, 0), ">=": Interval(0, _HIGH), "=": Interval(0, 0)}[sign]
        found.append((difference, interval))
    if not found:
        raise ParseError("expected a comparison", 1, 1, part)
    return found


# ---------------------------------------------------------------- what they share


def _check(m: IndexingMap, what: str, *, runtimes: bool = False) -> None:
    if m.is_undefined or m.is_known_empty:
        raise InvalidMap(f"the map is {m}: there is nothing to convert")
    if m.runtimes and not runtimes:
        raise InvalidMap(f"{what} does not tell runtime variables from range variables")
    for e in (*m.results, *(e for e, _ in m.constraints)):
        nodes = e.nodes()
        for kind, _, operands in nodes:
            if kind not in _SAYABLE:
                raise InvalidMap(f"{what} has no {kind}: {e}")
            if kind in ("floordiv", "mod"):
                divisor = nodes[operands[1]]
                if divisor[0] != "constant" or divisor[1][0] <= 0:
                    raise InvalidMap(f"{what} divides by positive constants only: {e}")


def _domain(m: IndexingMap) -> list[tuple[SymbolicExpr, Interval]]:
    return [*((variable(k), v.interval) for k, v in enumerate(m.variables)), *m.constraints]


def _text(e: SymbolicExpr, m: IndexingMap) -> str:
    text = str(SymbolicMap(m.num_dims, m.num_ranges + m.num_runtimes, [e]))
    return text.partition("-> (")[2].removesuffix(")")


def _isl(e: SymbolicExpr, names: Sequence[str]) -> str:
    """An expression in isl's words."""
    done: list[str] = []
    nodes = e.nodes()
    for kind, numbers, operands in nodes:
        parts = [done[k] for k in operands]
        if kind == "variable":
            done.append(names[numbers[0]])
        elif kind == "constant":
            done.append(str(numbers[0]))
        elif kind == "sum":
            terms = [f"{c}*{p}" if c != 1 else p for c, p in zip(numbers[1:], parts, strict=True)]
            done.append(f"({' + '.join([*terms, *([str(numbers[0])] if numbers[0] else [])])})")
        elif kind == "floordiv":
            done.append(f"floor(({parts[0]})/{parts[1]})")
        else:
            done.append(f"(({parts[0]}) mod {parts[1]})")
    return done[-1]


def _read_isl(text: str, numbers: dict[str, int]) -> SymbolicExpr:
    """An expression with `floor(../n)`, which is a floor division here."""
    return SymbolicExpr.parse(re.sub(r"\bfloor\b", "", text).replace("/", " floordiv "), names=numbers)


def _built(
    symbolic: SymbolicMap,
    names: Sequence[str],
    dims: int,
    ranges: int,
    bounds: Sequence[tuple[SymbolicExpr, Interval]],
) -> IndexingMap:
    """The map on the domain where all bounds hold; those of single variables are these variables' intervals."""
    intervals = [Interval(_LOW, _HIGH)] * len(names)
    constraints: dict[SymbolicExpr, Interval] = {}
    for e, interval in bounds:
        kind, numbers, operands = e.nodes()[-1]
        inner, sign, shift = e, 1, 0
        if kind == "sum" and len(operands) == 1 and abs(numbers[1]) == 1:
            inner, sign, shift = e.postorder()[operands[0]], numbers[1], numbers[0]
        elif kind == "sum":
            inner, shift = e - numbers[0], numbers[0]
        ends = [end if end in (_LOW, _HIGH) else end - shift for end in (interval.lower, interval.upper)]
        if sign < 0:
            ends = [_LOW if end == _HIGH else _HIGH if end == _LOW else -end for end in reversed(ends)]
        at = inner.used_variables()
        if inner.nodes()[-1][0] == "variable":
            intervals[at[0]] = intervals[at[0]].intersect(Interval(*ends))
        elif at or not interval.contains(shift):
            negated = -inner
            if negated in constraints:
                inner, ends = negated, [_LOW if x == _HIGH else _HIGH if x == _LOW else -x for x in reversed(ends)]
            known = constraints.get(inner, Interval(_LOW, _HIGH))
            constraints[inner] = known.intersect(Interval(*ends))
    named = list(zip(names, intervals, strict=True))
    return IndexingMap(symbolic, named[:dims], named[dims : dims + ranges], named[dims + ranges :], constraints)


def _inside(text: str, word: str) -> str:
    found = re.fullmatch(rf"\s*{word}\s*<(.*)>\s*", text, re.DOTALL)
    if found is None:
        raise ParseError(f"expected {word}<..>", 1, 1, text)
    return found[1]


def _split(text: str, separator: str) -> list[str]:
    """At separators outside of parentheses."""
    depth, parts, part = 0, [], ""
    for c in text:
        depth += (c == "(") - (c == ")")
        if c == separator and depth == 0:
            parts.append(part)
            part = ""
        else:
            part += c
    return [*parts, part]


def _listed(text: str | None) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()] if text else []
