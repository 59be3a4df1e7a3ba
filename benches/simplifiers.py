"""This package and its peers behind one interface: build an expression, simplify it, print the answer as Python.

A peer that isn't installed is left out, and said so. Only `simplify` is timed.
"""

from __future__ import annotations

import ast
import importlib
import re
from collections.abc import Callable
from typing import Any

from problems import Expr, Problem

Build = Callable[[Any, Any], Any]


def fold(e: Expr, leaf: Callable[[int | str], Any], operations: dict[str, Build]) -> Any:
    """Build an expression bottom-up with another package's operations."""
    if not isinstance(e, tuple):
        return leaf(e)
    return operations[e[0]](fold(e[1], leaf, operations), fold(e[2], leaf, operations))


def python_text(source: str) -> str:
    """Index arithmetic as Python writes it; `ceildiv`, which Python has no operator for, as a call."""
    tree = ast.parse(
        source.replace(" floordiv ", " // ").replace(" mod ", " % ").replace(" ceildiv ", " @ "), mode="eval"
    )
    return ast.unparse(Ceilings().visit(tree))


class Ceilings(ast.NodeTransformer):
    """`a @ b`, which stands for ceildiv, as `ceildiv(a, b)`."""

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        self.generic_visit(node)
        if isinstance(node.op, ast.MatMult):
            return ast.Call(ast.Name("ceildiv", ast.Load()), [node.left, node.right], [])
        return node


def conditional(source: str) -> str:
    """C's `c ? a : b ? d : e` as Python writes it."""
    condition, question, rest = source.partition(" ? ")
    if not question:
        return source
    chosen, _, other = rest.partition(" : ")
    return f"({chosen}) if ({condition}) else ({conditional(other)})"


class Indexing:
    """This package."""

    name = "indexing"
    package = "indexing"

    def __init__(self) -> None:
        self.ix = importlib.import_module("indexing")

    def build(self, problem: Problem) -> Any:
        return self.ix.IndexingMap.parse(problem.map_text())

    def simplify(self, built: Any) -> Any:
        return built.simplify()

    def text(self, answer: Any) -> str:
        (result,) = answer.results
        names = {f"d{i}": v.name for i, v in enumerate(answer.dims)}
        text = re.sub(r"\bv(\d+)\b", lambda m: names[f"d{m[1]}"], str(result))
        return python_text(text)


class Tvm:
    """`Analyzer.simplify` with the variables bound."""

    name = "TVM"
    package = "apache-tvm"

    def __init__(self) -> None:
        self.tvm = importlib.import_module("tvm")
        self.tirx = importlib.import_module("tvm.tirx")
        self.sym = importlib.import_module("tvm.sym")

    def build(self, problem: Problem) -> Any:
        t = self.tirx
        analyzer, variables = self.sym.Analyzer(), {n: t.Var(n, "int64") for n in problem.bounds}
        for name, (low, high) in problem.bounds.items():
            extent = t.const(high - low + 1, "int64")
            analyzer.bind(variables[name], self.tvm.ir.Range.from_min_extent(t.const(low, "int64"), extent))
        operations: dict[str, Build] = {
            "+": lambda a, b: a + b,
            "*": lambda a, b: a * b,
            "floordiv": t.floordiv,
            "mod": t.floormod,
            "min": t.min,
            "max": t.max,
        }
        leaf = lambda x: t.const(x, "int64") if isinstance(x, int) else variables[x]  # noqa: E731
        return analyzer, fold(problem.expr, leaf, operations)

    def simplify(self, built: Any) -> Any:
        return built[0].simplify(built[1])

    def text(self, answer: Any) -> str:
        return re.sub(r"T\.int64\((-?\d+)\)", r"\1", str(answer).splitlines()[-1]).replace("T.", "")


class Tinygrad:
    """`UOp.simplify` over variables with bounds."""

    name = "tinygrad"
    package = "tinygrad"

    def __init__(self) -> None:
        self.uop = importlib.import_module("tinygrad.uop.ops").UOp

    def build(self, problem: Problem) -> Any:
        variables = {n: self.uop.variable(n, low, high) for n, (low, high) in problem.bounds.items()}
        operations: dict[str, Build] = {
            "+": lambda a, b: a + b,
            "*": lambda a, b: a * b,
            "floordiv": lambda a, b: a // b,
            "mod": lambda a, b: a % b,
            "min": lambda a, b: a.minimum(b),
            "max": lambda a, b: a.maximum(b),
        }
        return fold(problem.expr, lambda x: variables.get(x, x), operations)  # its operators take integers as they are

    def simplify(self, built: Any) -> Any:
        return built.simplify()

    def text(self, answer: Any) -> str:
        return answer.render(simplify=False)


class Sympy:
    """`sympy.simplify`, variables declared integer and not negative."""

    name = "SymPy"
    package = "sympy"

    def __init__(self) -> None:
        self.sympy = importlib.import_module("sympy")

    def build(self, problem: Problem) -> Any:
        s = self.sympy
        operations: dict[str, Build] = {
            "+": lambda a, b: a + b,
            "*": lambda a, b: a * b,
            "floordiv": lambda a, b: s.floor(a / b),
            "mod": s.Mod,
            "min": s.Min,
            "max": s.Max,
        }
        leaf = lambda x: s.Integer(x) if isinstance(x, int) else s.Symbol(x, integer=True, nonnegative=True)  # noqa: E731
        return fold(problem.expr, leaf, operations)

    def simplify(self, built: Any) -> Any:
        return self.sympy.simplify(built)

    def text(self, answer: Any) -> str:
        return str(answer)


class Isl:
    """A piecewise quasi-affine function: coalesced, its gist over the domain, the expression that isl makes of it."""

    name = "isl"
    package = "islpy"

    def __init__(self) -> None:
        self.isl = importlib.import_module("islpy")

    def build(self, problem: Problem) -> Any:
        names = ", ".join(problem.bounds)
        limits = " and ".join(f"{low} <= {n} <= {high}" for n, (low, high) in problem.bounds.items())
        domain = self.isl.Set(f"{{ [{names}] : {limits} }}")
        space = self.isl.LocalSpace.from_space(domain.get_space())
        places = {n: k for k, n in enumerate(problem.bounds)}

        def leaf(x: int | str) -> Any:
            if isinstance(x, int):
                return self.isl.PwAff.from_aff(self.isl.Aff.val_on_domain(space, self.isl.Val(x)))
            return self.isl.PwAff.from_aff(self.isl.Aff.var_on_domain(space, self.isl.dim_type.set, places[x]))

        operations: dict[str, Build] = {
            "+": lambda a, b: a.add(b),
            "*": lambda a, b: a.mul(b),
            "floordiv": lambda a, b: a.div(b).floor(),
            "mod": lambda a, b: a.sub(b.mul(a.div(b).floor())),
            "min": lambda a, b: a.min(b),
            "max": lambda a, b: a.max(b),
        }
        return domain, fold(problem.expr, leaf, operations)

    def simplify(self, built: Any) -> Any:
        domain, function = built
        reduced = function.coalesce().gist(domain)
        return self.isl.AstBuild.from_context(domain).expr_from_pw_aff(reduced)

    def text(self, answer: Any) -> str:
        return conditional(answer.to_C_str().replace("/", "//").replace("&&", "and").replace("||", "or"))


class Mlir:
    """`AffineExpr` through jaxlib's bindings: it simplifies as it builds, and knows no bounds and no min or max."""

    name = "MLIR"
    package = "jaxlib"

    def __init__(self) -> None:
        self.ir = importlib.import_module("jaxlib.mlir.ir")
        self.context = self.ir.Context()

    def build(self, problem: Problem) -> Any:
        return problem

    def simplify(self, built: Any) -> Any:
        places = {n: k for k, n in enumerate(built.bounds)}
        e = self.ir.AffineExpr
        with self.context:
            operations: dict[str, Build] = {
                "+": e.get_add,
                "*": e.get_mul,
                "floordiv": e.get_floor_div,
                "mod": e.get_mod,
            }
            leaf = lambda x: e.get_constant(x) if isinstance(x, int) else e.get_dim(places[x])  # noqa: E731
            answer = fold(built.expr, leaf, operations)
            return list(built.bounds), e.simplify_affine_expr(answer, len(places), 0)

    def text(self, answer: Any) -> str:
        names, expr = answer
        return python_text(re.sub(r"\bd(\d+)\b", lambda m: names[int(m[1])], str(expr)))


class Z3:
    """`z3.simplify`, which knows no bounds; minima and maxima are `If`s."""

    name = "Z3"
    package = "z3-solver"

    def __init__(self) -> None:
        self.z3 = importlib.import_module("z3")

    def build(self, problem: Problem) -> Any:
        z = self.z3
        operations: dict[str, Build] = {
            "+": lambda a, b: a + b,
            "*": lambda a, b: a * b,
            "floordiv": lambda a, b: a / b,
            "mod": lambda a, b: a % b,
            "min": lambda a, b: z.If(a <= b, a, b),
            "max": lambda a, b: z.If(a >= b, a, b),
        }
        return fold(problem.expr, lambda x: z.IntVal(x) if isinstance(x, int) else z.Int(x), operations)

    def simplify(self, built: Any) -> Any:
        return self.z3.simplify(built)

    def text(self, answer: Any) -> str:
        """The answer as Python writes it, minima and maxima as such."""
        z = self.z3
        signs = {z.Z3_OP_ADD: "+", z.Z3_OP_MUL: "*", z.Z3_OP_IDIV: "//", z.Z3_OP_MOD: "%"}
        if not answer.num_args():
            return str(answer)
        children = answer.children()
        if z.is_app_of(answer, z.Z3_OP_ITE):
            condition, first, second = children
            if {c.get_id() for c in condition.children()} != {first.get_id(), second.get_id()}:
                raise ValueError(f"no minimum or maximum: {answer}")
            is_least = z.is_le(condition) == (condition.arg(0).get_id() == first.get_id())
            return f"{'min' if is_least else 'max'}({self.text(first)}, {self.text(second)})"
        return f"({f' {signs[answer.decl().kind()]} '.join(map(self.text, children))})"


SIMPLIFIERS = (Indexing, Tvm, Tinygrad, Isl, Mlir, Z3, Sympy)
