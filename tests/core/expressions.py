"""Random expressions for property tests: a tree, its meaning in Python's integers, and the package's expression."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import strategies as st

import indexing as ix

OPERATORS = ("+", "-", "*", "//", "%", "ceildiv", "min", "max")


@dataclass(frozen=True)
class Tree:
    """A constant (`value`), a variable (`value` its index), or an operator with two operands."""

    op: str
    value: int = 0
    left: Tree | None = None
    right: Tree | None = None

    def operands(self) -> tuple[Tree, Tree]:
        assert self.left is not None
        assert self.right is not None
        return self.left, self.right


def trees(num_variables: int, leaves: int = 12, largest: int = 20) -> st.SearchStrategy[Tree]:
    constants = st.integers(-largest, largest).map(lambda c: Tree("constant", c))
    variables = st.integers(0, num_variables - 1).map(lambda v: Tree("variable", v))
    divisors = st.one_of(st.integers(1, largest), st.integers(-largest, -1)).map(lambda c: Tree("constant", c))

    def grow(children: st.SearchStrategy[Tree]) -> st.SearchStrategy[Tree]:
        free = st.builds(
            lambda op, a, b: Tree(op, 0, a, b), st.sampled_from(("+", "-", "*", "min", "max")), children, children
        )
        scaled = st.builds(lambda a, b: Tree("*", 0, a, b), children, constants)
        divided = st.builds(
            lambda op, a, b: Tree(op, 0, a, b), st.sampled_from(("//", "%", "ceildiv")), children, divisors
        )
        return st.one_of(free, scaled, divided, divided)

    return st.recursive(st.one_of(variables, variables, constants), grow, max_leaves=leaves)


def meaning(tree: Tree, values: list[int]) -> int:
    if tree.op == "constant":
        return tree.value
    if tree.op == "variable":
        return values[tree.value]
    left, right = tree.operands()
    a, b = meaning(left, values), meaning(right, values)
    match tree.op:
        case "+":
            return a + b
        case "-":
            return a - b
        case "*":
            return a * b
        case "//":
            return a // b
        case "%":
            return a % abs(b)
        case "ceildiv":
            return -(-a // b)
        case "min":
            return min(a, b)
        case _:
            return max(a, b)


def expression(tree: Tree) -> ix.SymbolicExpr:
    if tree.op == "constant":
        return ix.constant(tree.value)
    if tree.op == "variable":
        return ix.variable(tree.value)
    left, right = tree.operands()
    a, b = expression(left), expression(right)
    match tree.op:
        case "+":
            return a + b
        case "-":
            return a - b
        case "*":
            return a * b
        case "//":
            return a // b
        case "%":
            return a % b
        case "ceildiv":
            return a.ceildiv(b)
        case "min":
            return a.min(b)
        case _:
            return a.max(b)


def text(tree: Tree) -> str:
    """The tree fully bracketed, as a reader gets it."""
    if tree.op == "constant":
        return str(tree.value)
    if tree.op == "variable":
        return f"v{tree.value}"
    left, right = tree.operands()
    if tree.op in ("min", "max"):
        return f"{tree.op}({text(left)}, {text(right)})"
    return f"(({text(left)}) {tree.op} ({text(right)}))"
