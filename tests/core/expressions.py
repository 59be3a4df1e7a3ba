"""Random expressions for property tests: as `exact_maps` evaluates and writes them, and the package's expression."""

from __future__ import annotations

import operator
from collections.abc import Callable

from hypothesis import strategies as st

import indexing as ix
from exact_maps import Expr, evaluate

#: Operators by the package's own functions.
FUNCTIONS: dict[str, Callable[[ix.SymbolicExpr, ix.SymbolicExpr], ix.SymbolicExpr]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "floordiv": operator.floordiv,
    "mod": operator.mod,
    "ceildiv": ix.SymbolicExpr.ceildiv,
    "min": ix.SymbolicExpr.min,
    "max": ix.SymbolicExpr.max,
}


def trees(num_variables: int, leaves: int = 12, largest: int = 20) -> st.SearchStrategy[Expr]:
    """Expressions over v0, v1, ..., none of which divides by 0."""
    constants = st.integers(-largest, largest)
    variables = st.integers(0, num_variables - 1).map(lambda v: f"v{v}")
    divisors = st.one_of(st.integers(1, largest), st.integers(-largest, -1))

    def grow(children: st.SearchStrategy[Expr]) -> st.SearchStrategy[Expr]:
        free = st.tuples(st.sampled_from(("+", "-", "*", "min", "max")), children, children)
        scaled = st.tuples(st.just("*"), children, constants)
        divided = st.tuples(st.sampled_from(("floordiv", "mod", "ceildiv")), children, divisors)
        return st.one_of(free, scaled, divided, divided)

    return st.recursive(st.one_of(variables, variables, constants), grow, max_leaves=leaves)


def meaning(tree: Expr, values: list[int]) -> int:
    """The value where v0, v1, ... have these values."""
    return evaluate(tree, {f"v{k}": value for k, value in enumerate(values)})


def expression(tree: Expr) -> ix.SymbolicExpr:
    """The package's expression, built by its operators."""
    if isinstance(tree, int):
        return ix.constant(tree)
    if isinstance(tree, str):
        return ix.variable(int(tree[1:]))
    name, left, right = tree
    return FUNCTIONS[name](expression(left), expression(right))
