"""Rewriting of kernels: each value and each index of every kind of statement is reached, and what stays is not made anew."""

from indexing._core import SymbolicExpr, variable
from indexing.kernels.ir import nodes as ir
from indexing.kernels.ir.traversal import rewrite_values


def every_statement(name: str, x: SymbolicExpr) -> ir.Block:
    """One of each kind, with `name` and `x` wherever a statement names a value or an index."""
    v = ir.Op("add", "f32", (ir.Ref("f32", name), ir.Load("f32", "p", (x, x + 1))))
    bit = ir.Op("and", "pred", (ir.Within(x, 0, 3), ir.Op("eq", "pred", (v, ir.Constant("f32", 1.0)))))
    return (
        ir.Let("a", v),
        ir.Var("b", "f32", v),
        ir.Assign("b", v),
        ir.LetIndex(7, x * 2),
        ir.LetIndex(8, v, "unique_indices"),
        ir.CallFunction(("c",), "f", (x,), (v, ir.IndexValue(x))),
        ir.Store("o", (x, x * 3), v),
        ir.Copy("l", x, "p", x + 4, 4),
        ir.CopyAsync("t", x, "p", x * 4, 4),
        ir.WaitCopies(),
        ir.LoadMatrices("r", x, "t", x * 8, 8, True),
        ir.MatrixMultiply("bf16", "q", x, "r", x + 1, "r", x + 2),
        ir.MultiplyPanels("f32", "q", x, "t", x + 1, "t", x + 2, 16),
        ir.AtomicUpdate("o", (x * 2,), "sum", (v, v), "add"),
        ir.FetchAdd("n", "w", (x,), v),
        ir.GroupReduce(("b",), ("f32",), "sum", 32, 1, True),
        ir.Shuffle("s", v, 16, 2),
        ir.For(9, x, x + 8, 2, (ir.Store("o", (x,), v), ir.Break((bit,))), True, 4),
        ir.If((bit, ir.Within(x, None, 5)), (ir.Assign("b", v),), (ir.Let("e", v),)),
        ir.Barrier(),
        ir.Fence(),
    )


def test_every_value_and_every_index_is_rewritten() -> None:
    given = every_statement("v", variable(0))
    assert {type(s).__name__ for s in ir.statements(given)} == set(ir.Statement.replace('"', "").split(" | "))

    def renamed(value: ir.Value) -> ir.Value:
        return ir.Ref("f32", "u") if value == ir.Ref("f32", "v") else value

    actual = rewrite_values(given, renamed, lambda e: e.replace_variables([variable(1)]))
    assert actual == every_statement("u", variable(1))


def test_what_stays_is_the_same_object() -> None:
    given = every_statement("v", variable(0))
    assert rewrite_values(given, lambda value: value) is given
    assert rewrite_values(given, lambda value: value, lambda e: e) is given
