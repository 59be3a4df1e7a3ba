"""Conversion of expressions and maps to and from SymPy, and to LaTeX."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from typing import Any

from indexing._core import IndexingMap, SymbolicExpr, constant, variable
from indexing.arguments import each, of_type, optional, takes
from indexing.convert.expressions import check_has_value, names_of, written
from indexing.errors import InvalidMap, UnsupportedOp
from indexing.extras import missing_extra

MAX_POWER = 64
_UNARY, _PRODUCT, _SUM = 3, 2, 1  # binding strengths of pieces of LaTeX


@takes(e=of_type(SymbolicExpr, IndexingMap), names=optional(each(str)))
def to_sympy(e: SymbolicExpr | IndexingMap, names: Sequence[str] | None = None) -> Any:
    """The SymPy expression, over integer symbols of the variables' names; of a map, the tuple of its results.

    A quotient becomes `floor(a / b)`, a remainder `Mod`, which for positive b lies in [0, b) in both. Raises UnsupportedOp if
    SymPy is not installed.
    """
    sympy = _sympy()
    if isinstance(e, IndexingMap):
        check_has_value(e)
        own = names_of(e)
        return tuple(to_sympy(r, own) for r in e.results)
    return written(e, lambda kind, numbers, parts: _SYMPY[kind](sympy, numbers, parts, names))


_SYMPY: dict[str, Callable[[Any, Sequence[int], list[Any], Sequence[str] | None], Any]] = {
    "variable": lambda s, n, p, names: s.Symbol(_name(n[0], names), integer=True),
    "constant": lambda s, n, p, names: s.Integer(n[0]),
    "sum": lambda s, n, p, names: s.Add(n[0], *(c * x for c, x in zip(n[1:], p, strict=True))),
    "product": lambda s, n, p, names: s.Mul(*p),
    "floordiv": lambda s, n, p, names: s.floor(p[0] / p[1]),
    "mod": lambda s, n, p, names: s.Mod(p[0], s.Abs(p[1])),
    "min": lambda s, n, p, names: s.Min(*p),
    "max": lambda s, n, p, names: s.Max(*p),
}


@takes(names=optional(each(str)))
def from_sympy(e: Any, names: Sequence[str]) -> SymbolicExpr:
    """The expression of a SymPy expression over integer symbols; `names` has the variables' names in order.

    Accepts sums, products and powers, `floor` of a quotient, `Mod` by positive divisors, `Min`, `Max` and `Abs`. Raises
    InvalidMap for anything else, Overflow for integers beyond 64 bits, UnsupportedOp if SymPy is not installed. Text is
    refused: SymPy would execute it.
    """
    sympy = _sympy()
    if not isinstance(e, int | sympy.Basic):
        raise TypeError(f"from_sympy: e is of type {type(e).__name__}; expected an expression of SymPy")
    known = {name: k for k, name in enumerate(names)}
    done: dict[Any, SymbolicExpr] = {}
    for node in sympy.postorder_traversal(sympy.sympify(e)):
        if node not in done and not (node.is_Rational and not node.is_Integer):
            read = _read(sympy, node, done, known)
            if read is not None:
                done[node] = read
    top = sympy.sympify(e)
    if top not in done:
        raise InvalidMap(f"{top} is not an integer expression of sums, floor, Mod, Min and Max")
    return done[top]


def _read(s: Any, node: Any, done: dict[Any, SymbolicExpr], known: dict[str, int]) -> SymbolicExpr | None:
    """Convert a SymPy node whose operands are converted; None for a quotient, which the `floor` above it converts."""
    if node.is_Symbol:
        if node.name not in known:
            raise InvalidMap(f"{node} is none of the names {', '.join(known)}")
        return variable(known[node.name])
    if node.is_Integer:
        return constant(int(node))
    if isinstance(node, s.floor):
        numerator, denominator = s.fraction(s.together(node.args[0]))
        return from_sympy(numerator, list(known)) // from_sympy(denominator, list(known))
    if any(a not in done for a in node.args) or not node.args:
        return None
    if isinstance(node, s.Mod) and not node.args[1].is_positive and not isinstance(node.args[1], s.Abs):
        raise InvalidMap(
            f"{node}: SymPy's remainder has the sign of the divisor, this one is never negative; give a positive divisor"
        )
    parts = [done[a] for a in node.args]
    for kind, join in ((s.Add, lambda a, b: a + b), (s.Mul, lambda a, b: a * b), (s.Mod, lambda a, b: a % b)):
        if isinstance(node, kind):
            return _joined(parts, join)
    if isinstance(node, s.Pow) and node.args[1].is_Integer and 0 < node.args[1] < MAX_POWER:
        return _joined([parts[0]] * int(node.args[1]), lambda a, b: a * b)
    for kind, name in ((s.Min, "min"), (s.Max, "max")):
        if isinstance(node, kind):
            return _joined(parts, lambda a, b, name=name: getattr(a, name)(b))  # type: ignore[misc]
    return abs_of(parts) if isinstance(node, s.Abs) else None


def abs_of(parts: Sequence[SymbolicExpr]) -> SymbolicExpr:
    """The absolute value of one expression."""
    (part,) = parts
    return part.max(-part)


def _joined(parts: Sequence[SymbolicExpr], join: Callable[[Any, Any], Any]) -> SymbolicExpr:
    total = parts[0]
    for part in parts[1:]:
        total = join(total, part)
    return total


# ---------------------------------------------------------------- LaTeX


@takes(e=of_type(SymbolicExpr, IndexingMap), names=optional(each(str)))
def to_latex(e: SymbolicExpr | IndexingMap, names: Sequence[str] | None = None) -> str:
    """LaTeX for an expression, or for the results and the domain of a map."""
    if isinstance(e, SymbolicExpr):
        return _latex(e, names)
    if e.is_undefined or e.is_known_empty:
        return rf"\text{{{e}}}"
    own = names_of(e)
    left = ", ".join(_letter(n) for n in own)
    right = ", ".join(_latex(r, own) for r in e.results)
    bounds = [
        f"{_letter(n)} \\in [{v.interval.lower}, {v.interval.upper}]" for n, v in zip(own, e.variables, strict=True)
    ]
    bounds += [f"{_latex(c, own)} \\in [{i.lower}, {i.upper}]" for c, i in e.constraints]
    domain = rf",\quad {', '.join(bounds)}" if bounds else ""
    return rf"({left}) \mapsto ({right}){domain}"


def _latex(e: SymbolicExpr, names: Sequence[str] | None) -> str:
    text, _ = written(e, lambda kind, numbers, parts: _piece(kind, numbers, parts, names))
    return text


def _piece(
    kind: str, numbers: Sequence[int], parts: Sequence[tuple[str, int]], names: Sequence[str] | None
) -> tuple[str, int]:
    """The LaTeX of one node, and its binding strength."""
    texts = [text for text, _ in parts]
    if kind == "variable":
        return _letter(_name(numbers[0], names)), _UNARY
    if kind == "constant":
        return str(numbers[0]), _UNARY if numbers[0] >= 0 else _SUM
    if kind == "sum":
        return _latex_sum(numbers, parts), _SUM
    if kind == "floordiv":
        return rf"\left\lfloor \frac{{{texts[0]}}}{{{texts[1]}}} \right\rfloor", _UNARY
    if kind == "mod":
        return rf"{_bound(parts[0], _UNARY)} \bmod {_bound(parts[1], _UNARY)}", _SUM
    if kind == "product":
        return r" \cdot ".join(_bound(p, _PRODUCT) for p in parts), _PRODUCT
    return rf"\{kind}({', '.join(texts)})", _UNARY


def _latex_sum(numbers: Sequence[int], parts: Sequence[tuple[str, int]]) -> str:
    """The terms with their coefficients, then the constant, which is the first of `numbers`."""
    text = ""
    for coefficient, part in zip(numbers[1:], parts, strict=True):
        factor = "" if abs(coefficient) == 1 else f"{abs(coefficient)} "
        sign = "-" if coefficient < 0 else "+"
        text += f" {sign} {factor}{_bound(part, _PRODUCT)}"
    if numbers[0]:
        text += f" {'-' if numbers[0] < 0 else '+'} {abs(numbers[0])}"
    return text.removeprefix(" + ").replace(" - ", "-", 1) if text.startswith(" - ") else text.removeprefix(" + ")


def _bound(part: tuple[str, int], least: int) -> str:
    text, binding = part
    return text if binding >= least else rf"\left({text}\right)"


def _letter(name: str) -> str:
    """A name such as d0 as a letter with an index; other names upright, without LaTeX's special characters."""
    plain = name.isascii() and name[:1].isalpha()
    if plain and name[1:].isdigit():
        return f"{name[0]}_{{{name[1:]}}}"
    safe = "".join(c if c.isalnum() else r"\_" for c in name if c.isalnum() or c == "_")
    return rf"\mathit{{{safe}}}"


def _name(number: int, names: Sequence[str] | None) -> str:
    return names[number] if names is not None and number < len(names) else f"v{number}"


def _sympy() -> Any:
    try:
        return importlib.import_module("sympy")
    except ImportError as missing:
        raise UnsupportedOp(missing_extra("an expression of SymPy", "sympy", missing)) from None
