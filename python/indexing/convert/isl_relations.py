"""Conversion of indexing maps to isl's relations, and back from the same form or from any that isl reads."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from indexing._core import IndexingMap, Interval, SymbolicExpr, SymbolicMap, constant, variable
from indexing.arguments import described, of_type, takes
from indexing.convert.expressions import names_of, written
from indexing.convert.polyhedral import HIGHEST, LOWEST, bounded_map, check_is_affine, domain_parts
from indexing.errors import InvalidMap, ParseError
from indexing.extras import missing_extra

if TYPE_CHECKING:
    import islpy

MAX_OPERATIONS = 10_000_000  # isl may use so many for one relation: about a second


@takes(m=of_type(IndexingMap))
def to_isl(m: IndexingMap) -> str:
    """The relation from index to result; range variables are `exists`, runtime variables parameters.

    Raises InvalidMap as `to_affine_map`, but not for runtime variables, minima and maxima.
    """
    check_is_affine(m, "an isl relation", runtimes=True, extrema=True)
    names = names_of(m)
    if len(set(names)) < len(names) or not all(re.fullmatch(r"[A-Za-z_]\w*", n) for n in names):
        raise InvalidMap("the names of the variables are not distinct identifiers")
    dims, ranges = names[: m.num_dims], names[m.num_dims : m.num_dims + m.num_ranges]
    runtimes = names[m.num_dims + m.num_ranges :]
    outputs = [f"out{k}" for k in range(m.num_results)]
    if set(outputs) & set(names):
        raise InvalidMap("the names out0, out1, .. are those of the results")
    parts = [f"{o} = {_isl(e, names)}" for o, e in zip(outputs, m.results, strict=True)]
    for e, interval in domain_parts(m):
        low = f"{interval.lower} <= " if interval.lower > LOWEST else ""
        high = f" <= {interval.upper}" if interval.upper < HIGHEST else ""
        if low or high:
            parts.append(f"{low}{_isl(e, names)}{high}")
    body = " and ".join(parts)
    if ranges:
        body = f"exists ({', '.join(ranges)} : {body})"
    head = f"[{', '.join(runtimes)}] -> " if runtimes else ""
    condition = f" : {body}" if body else ""
    return f"{head}{{ [{', '.join(dims)}] -> [{', '.join(outputs)}]{condition} }}"


def from_isl(relation: str | islpy.Map | islpy.BasicMap) -> IndexingMap:
    """The map of a relation in the form of `to_isl`, or of any relation of one piece (which takes the extra `isl`).

    A relation is text, or a value of islpy whose text is one (Map, BasicMap, PwMultiAff, ...).
    In the latter case, an output that is a function of the index is a result, any other a range variable under the relation's
    constraints. A relation that isl reads as empty is KNOWN EMPTY. Raises ParseError for text that is no relation, InvalidMap
    for several pieces.
    """
    text = str(relation) if type(relation).__module__.partition(".")[0] == "islpy" else relation
    if not isinstance(text, str):
        raise TypeError(f"from_isl: relation is {described(relation)}; expected a str, or a map of islpy")
    try:
        return _written_here(text)
    except ParseError as failure:
        if not text.isascii() or "\0" in text:  # isl reads C strings
            raise
        return _read_by_isl(text, failure)


# ---------------------------------------------------------------- relations in the form of to_isl


def _written_here(text: str) -> IndexingMap:
    form = r"\s*(?:\[([^\]]*)\]\s*->\s*)?\{\s*\[([^\]]*)\]\s*->\s*\[([^\]]*)\]\s*(?::(.*))?\}\s*"
    matched = re.fullmatch(form, text, re.DOTALL)
    if matched is None:
        raise ParseError("expected `[parameters] -> { [..] -> [..] : .. }`", 1, 1, text)
    runtimes, dims, outputs = (_listed(matched[k]) for k in (1, 2, 3))
    body = (matched[4] or "").strip()
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
    return bounded_map(symbolic, names, len(dims), len(ranges), bounds)


def _bounds_of(sides: list[str], numbers: dict[str, int], part: str) -> list[tuple[SymbolicExpr, Interval]]:
    bounds = []
    for left, sign, right in zip(sides[::2], sides[1::2], sides[2::2], strict=False):
        difference = _read_isl(left, numbers) - _read_isl(right, numbers)
        interval = {"<=": Interval(LOWEST, 0), ">=": Interval(0, HIGHEST), "=": Interval(0, 0)}[sign]
        bounds.append((difference, interval))
    if not bounds:
        raise ParseError("expected a comparison", 1, 1, part)
    return bounds


def _isl(e: SymbolicExpr, names: Sequence[str]) -> str:
    """An expression in isl's syntax."""
    return written(e, lambda kind, numbers, parts: _isl_node(kind, numbers, parts, names))


def _isl_node(kind: str, numbers: Sequence[int], parts: Sequence[str], names: Sequence[str]) -> str:
    if kind == "variable":
        return names[numbers[0]]
    if kind == "constant":
        return str(numbers[0])
    if kind == "sum":
        terms = [f"{c}*{p}" if c != 1 else p for c, p in zip(numbers[1:], parts, strict=True)]
        return f"({' + '.join([*terms, *([str(numbers[0])] if numbers[0] else [])])})"
    if kind in ("min", "max"):
        return f"{kind}({', '.join(parts)})"
    if kind == "floordiv":
        return f"floor(({parts[0]})/{parts[1]})"
    return f"(({parts[0]}) mod {parts[1]})"


def _read_isl(text: str, numbers: dict[str, int]) -> SymbolicExpr:
    """Parse an expression with `floor(../n)` as floor division."""
    return SymbolicExpr.parse(re.sub(r"\bfloor\b", "", text).replace("/", " floordiv "), names=numbers)


def _listed(text: str | None) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()] if text else []


# ---------------------------------------------------------------- relations that isl reads


def _read_by_isl(text: str, failure: ParseError) -> IndexingMap:
    """The map of a relation's only piece, parsed by isl; `failure` is the error of parsing it without isl."""
    try:
        import islpy
    except ImportError as missing:
        what = "a relation in another form than that of to_isl"
        raise InvalidMap(f"{missing_extra(what, 'isl', missing)}; read without isl: {failure}") from None
    context = islpy.Context()
    context.set_max_operations(MAX_OPERATIONS)
    try:
        pieces = islpy.Map(text, context).compute_divs().coalesce().get_basic_maps()
        if not pieces:
            return IndexingMap.known_empty()
        if len(pieces) == 1:
            return _map_of_piece(pieces[0])
    except islpy.Error as refusal:
        raise ParseError(f"expected one relation `{{ [..] -> [..] : .. }}`; isl says: {refusal}", 1, 1, text) from None
    raise InvalidMap(f"the relation has {len(pieces)} pieces; an indexing map is one: convert them one by one")


def _map_of_piece(piece: islpy.BasicMap) -> IndexingMap:
    import islpy

    kinds = islpy.dim_type
    counts = [piece.dim(kind) for kind in (kinds.in_, kinds.out, kinds.param)]
    functions = [_function(piece, k) for k in range(counts[1])]
    free = [k for k, function in enumerate(functions) if function is None]
    dims = [variable(k) for k in range(counts[0])]
    runtimes = [variable(counts[0] + len(free) + k) for k in range(counts[2])]
    results = [
        variable(counts[0] + free.index(k)) if function is None else _result(function, dims, runtimes)
        for k, function in enumerate(functions)
    ]
    bounds = []
    for c in piece.wrap().flatten().get_constraints():
        stated = _expression(c.get_aff(), [*dims, *results], runtimes)
        bounds.append((stated, Interval(0, 0 if c.is_equality() else HIGHEST)))
    names = [*_names(piece, kinds.in_, "d"), *(f"s{k}" for k in range(len(free))), *_names(piece, kinds.param, "rt")]
    symbolic = SymbolicMap(counts[0], len(free) + counts[2], results)
    return bounded_map(symbolic, names, counts[0], len(free), bounds).simplify()


def _function(piece: islpy.BasicMap, output: int) -> islpy.Aff | None:
    """Output `output` as a function of the index; None if it has several values, or a piecewise formula."""
    import islpy

    kind, alone = islpy.dim_type.out, piece.to_map()
    alone = alone.project_out(kind, output + 1, alone.dim(kind) - output - 1).project_out(kind, 0, output)
    if not alone.is_single_valued():
        return None
    functions: list[islpy.Aff] = []
    islpy.PwMultiAff.from_map(alone).coalesce().foreach_piece(lambda _, function: functions.append(function.get_at(0)))
    return functions[0] if len(functions) == 1 else None


def _result(function: islpy.Aff, *values: Sequence[SymbolicExpr]) -> SymbolicExpr:
    return _expression(function, *values) // function.get_denominator_val().to_python()


def _expression(
    function: islpy.Aff, variables: Sequence[SymbolicExpr], runtimes: Sequence[SymbolicExpr]
) -> SymbolicExpr:
    """The expression of a function of isl."""
    import islpy

    quotients: list[SymbolicExpr] = []  # each is a function of the ones before it
    for k in range(function.dim(islpy.dim_type.div)):
        inner = function.get_div(k)
        divisor = inner.get_denominator_val().to_python()
        quotients.append(_numerator(inner, variables, runtimes, quotients) // divisor)
    return _numerator(function, variables, runtimes, quotients)


def _numerator(function: islpy.Aff, *values: Sequence[SymbolicExpr]) -> SymbolicExpr:
    """The expression of a function times its denominator; `values` replace its inputs, parameters and quotients."""
    import islpy

    scale = function.get_denominator_val()
    total = constant((function.get_constant_val() * scale).to_python())
    for kind, known in zip((islpy.dim_type.in_, islpy.dim_type.param, islpy.dim_type.div), values, strict=True):
        for k, value in enumerate(known):
            total = total + value * (function.get_coefficient_val(kind, k) * scale).to_python()
    return total


def _names(piece: islpy.BasicMap, kind: islpy.dim_type, letter: str) -> list[str]:
    return [piece.get_dim_name(kind, k) or f"{letter}{k}" for k in range(piece.dim(kind))]
