"""SymPy's expressions have the same values at every point tried, and come back; LaTeX is what a formula would say."""

import itertools
import sys

import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st

import indexing as ix
from indexing.convert import from_sympy, to_latex, to_sympy

NAMES = ["a", "b"]
VALUES = list(itertools.product(range(-7, 8, 3), range(-5, 6, 2)))
VARIABLES = st.sampled_from([ix.variable(0), ix.variable(1)])
NUMBERS = st.integers(-6, 6)
EXPRESSIONS = st.recursive(
    VARIABLES | NUMBERS.map(ix.constant),
    lambda e: st.one_of(
        st.tuples(e, e).map(lambda p: p[0] + p[1]),
        st.tuples(e, e).map(lambda p: p[0] * p[1]),
        st.tuples(e, NUMBERS.filter(bool)).map(lambda p: p[0] // p[1]),
        st.tuples(e, NUMBERS.filter(bool)).map(lambda p: p[0] % p[1]),
        st.tuples(e, e).map(lambda p: p[0].min(p[1])),
        st.tuples(e, e).map(lambda p: p[0].max(p[1])),
    ),
    max_leaves=8,
)


@settings(max_examples=60, deadline=None)
@given(EXPRESSIONS)
def test_sympy_has_the_same_values_and_comes_back(e: ix.SymbolicExpr) -> None:
    symbols = sympy.symbols(NAMES, integer=True)
    symbolic = to_sympy(e, NAMES)
    back = from_sympy(symbolic, NAMES)
    for values in VALUES:
        wanted = e.evaluate(list(values))
        value = symbolic.subs(dict(zip(symbols, values, strict=True))).doit()  # subs may leave a Max(0, 2)
        assert value == wanted == back.evaluate(list(values))


def test_maps_of_sympy_have_the_names_of_variables() -> None:
    m = ix.IndexingMap.parse("(th)[s0]{rt0} -> (th * 2 + s0, rt0), domain: th in [0, 3], s0 in [0, 1], rt0 in [0, 5]")
    th, s0, rt0 = sympy.symbols(["th", "s0", "rt0"], integer=True)
    assert to_sympy(m) == (2 * th + s0, rt0)


def test_what_sympy_says_otherwise_is_refused() -> None:
    x, y = sympy.symbols("a b", integer=True)
    for wrong in (sympy.sin(x), x / 2, x**y, sympy.Rational(1, 2)):
        with pytest.raises(ix.InvalidMap):
            from_sympy(wrong, NAMES)
    with pytest.raises(ix.InvalidMap, match="sign of the divisor"):
        from_sympy(sympy.Mod(x, y), NAMES)
    with pytest.raises(ix.InvalidMap, match="none of the names"):
        from_sympy(sympy.Symbol("z"), NAMES)
    with pytest.raises(ix.InvalidMap, match="nothing to convert"):
        to_sympy(ix.IndexingMap.undefined())


def test_without_sympy_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sympy", None)
    with pytest.raises(ix.UnsupportedOp, match="needs the sympy extra"):
        to_sympy(ix.variable(0))


A, B = ix.variable(0), ix.variable(1)


@pytest.mark.parametrize(
    ("e", "latex"),
    [
        (ix.constant(-3), "-3"),
        (A * 2 - B + 1, "2 \\mathit{a} - \\mathit{b} + 1"),
        (-A, "-\\mathit{a}"),
        ((A + B) * A, None),
        ((A + B) // 3, "\\left\\lfloor \\frac{\\mathit{a} + \\mathit{b}}{3} \\right\\rfloor"),
        ((A + B) % 3 * 2, "2 \\left(\\left(\\mathit{a} + \\mathit{b}\\right) \\bmod 3\\right)"),
        (A.min(B), "\\min(\\mathit{a}, \\mathit{b})"),
    ],
)
def test_latex(e: ix.SymbolicExpr, latex: str | None) -> None:
    actual = to_latex(e, NAMES)
    assert actual.count("{") == actual.count("}") and actual.count("\\left") == actual.count("\\right")
    assert latex is None or actual == latex


def test_latex_of_maps() -> None:
    m = ix.IndexingMap.parse("(d0, d1) -> (d1 mod 2), domain: d0 in [0, 9], d1 in [0, 3], d0 + d1 in [0, 9]")
    assert to_latex(m) == (
        "(d_{0}, d_{1}) \\mapsto (d_{1} \\bmod 2),\\quad d_{0} \\in [0, 9], d_{1} \\in [0, 3], d_{0} + d_{1} \\in [0, 9]"
    )
    assert to_latex(ix.IndexingMap.undefined()) == "\\text{UNDEFINED}"
    hostile = ix.IndexingMap(ix.SymbolicMap(1, 0, [A]), [("th_x", ix.Interval(0, 3))])
    assert "\\mathit{th\\_x}" in to_latex(hostile)


@pytest.mark.parametrize("value", ["x + 1", None, 1.5, object()])
def test_only_expressions_of_sympy_are_read(value: object) -> None:
    with pytest.raises(TypeError, match="expected an expression of SymPy"):
        ix.convert.from_sympy(value, ["x"])
