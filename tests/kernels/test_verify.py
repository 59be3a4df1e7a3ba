"""What the verifier says of kernels written by hand."""

from dataclasses import replace

import pytest

import indexing as ix
from indexing._core import constant, variable
from indexing.kernels.ir import nodes as ir
from indexing.kernels.verify import verify
from ir_kernels import TH_X, given, kernel, result


def gathered(index: ir.Value) -> ir.Kernel:
    """out[th_x] = p1[index], with the index taken to lie in [0, 9]."""
    number = 6
    body = [
        ir.LetIndex(number, index),
        ir.Let("v", ir.Load("f32", "p1", (variable(number),))),
        ir.Store("o0", (TH_X,), ir.Ref("f32", "v")),
    ]
    return kernel(body, [given(0, "s64", 32), given(1, "f32", 10), result(0, "f32", 32)], 1, 32, j=("let", 0, 9))


def statuses(result: ir.Kernel) -> set[str]:
    return {c.status for c in verify(result).checks if "index j" in c.subject}


LOADED = ir.Load("s64", "p0", (TH_X,))


def number(value: int) -> ir.Constant:
    return ir.Constant("s64", value)


@pytest.mark.parametrize(
    ("index", "status"),
    [
        (ir.Op("clamp", "s64", (number(0), LOADED, number(9))), "proved"),
        (ir.Op("clamp", "s64", (number(0), LOADED, number(10))), "open"),
        (ir.Op("add", "s64", (LOADED, number(1))), "open"),  # a sum that may wrap
        (ir.Op("sub", "s64", (LOADED, LOADED)), "open"),
        (ir.Op("clamp", "s64", (number(0), ir.Op("add", "s64", (LOADED, LOADED)), number(9))), "proved"),
    ],
)
def test_indices_of_data_are_proved_from_their_clamps(index: ir.Value, status: str) -> None:
    assert statuses(gathered(index)) == {status}


def test_an_index_is_named_as_no_other_in_scope() -> None:
    """CUDA C++ refuses two of a name in one block, and would take the inner one for the outer one in two."""
    store = ir.Store("o0", (variable(7),), ir.Constant("f32", 1.0))
    lets = [ir.LetIndex(6, TH_X), ir.LetIndex(7, TH_X), store]
    for names, body, status in (
        (["j", "k"], lets, "proved"),
        (["j", "j"], lets, "refuted"),
        (["j", "j"], [lets[0], ir.For(7, constant(0), constant(32), 1, (store,))], "refuted"),
    ):
        built = kernel(body, [result(0, "f32", 32)], 1, 32, first=("let", 0, 31), second=("let", 0, 31))
        own = [replace(v, name=name) for v, name in zip(built.variables[6:], names, strict=True)]
        checks = verify(replace(built, variables=(*built.variables[:6], *own))).checks
        assert [c.status for c in checks if c.kind == "typed"] == [status]


@pytest.mark.parametrize(
    ("place", "size", "status"), [(TH_X, 32, "proved"), (TH_X // 2, 16, "refuted"), (TH_X * 2, 64, "refuted")]
)
def test_parts_in_scratch_memory_are_written_once(place: ix.SymbolicExpr, size: int, status: str) -> None:
    """Threads that store to one element race; an element that nobody stores to holds anything."""
    scratch = ir.Buffer("w0", "f32", (size,), "global", "scratch", 0)
    part = ir.Store("w0", (place,), ir.Load("f32", "p0", (TH_X,)))
    whole = ir.Store("o0", (TH_X,), ir.Load("f32", "p0", (TH_X,)))
    built = kernel([part, whole], [given(0, "f32", 32), result(0, "f32", 32), scratch], 1, 32)
    by_subject = {c.subject: c.status for c in verify(built).checks if c.kind == "written once"}
    assert by_subject == {"output o0": "proved", "scratch w0": status}


def test_an_access_outside_is_refuted() -> None:
    for shift, status in ((0, "proved"), (1, "refuted")):
        body = [ir.Store("o0", (TH_X + constant(shift),), ir.Constant("f32", 1.0))]
        checks = verify(kernel(body, [result(0, "f32", 32)], 1, 32)).checks
        assert {c.status for c in checks if c.kind == "in bounds"} == {status}


@pytest.mark.parametrize("has_barrier", [True, False])
@pytest.mark.parametrize("kind", ["store", "load", "atomic"])
def test_atomic_updates_at_indices_of_data_race_with_plain_accesses_alone(kind: str, has_barrier: bool) -> None:
    shared = ir.Buffer("tile", "f32", (32,), "shared", "none")
    one, pair = ir.Constant("f32", 1.0), (ir.Ref("f32", "a"), ir.Ref("f32", "b"))
    update = ir.AtomicUpdate("tile", (variable(6),), "sum", (one,), "add")
    others = {
        "store": ir.Store("tile", (TH_X,), one),
        "load": ir.Store("o0", (TH_X,), ir.Load("f32", "tile", (TH_X,))),
        "atomic": ir.AtomicUpdate("tile", (TH_X // 2,), "sum", (one,), "add"),
    }
    let = ir.LetIndex(6, ir.Op("clamp", "s64", (number(0), LOADED, number(9))))
    body = [let, update, *[ir.Barrier()] * has_barrier, others[kind]]
    combiner = ir.Function("sum", (), pair, (), (ir.Op("add", "f32", pair),))
    built = kernel(body, [given(0, "s64", 32), shared, result(0, "f32", 32)], 1, 32, [combiner], j=("let", 0, 9))
    assert [c.status for c in verify(built).checks if c.kind == "race"] == [
        "proved" if has_barrier or kind == "atomic" else "open"
    ]


@pytest.mark.parametrize(
    ("element", "condition", "status"),
    [
        (TH_X, ir.Within(variable(6), 1, 5), "proved"),  # a condition on data can only take accesses away
        (TH_X // 2, ir.Within(variable(6), 1, 5), "open"),  # unless data keep all but one thread away
        (TH_X // 2, ir.Within(TH_X, 1, 5), "refuted"),
        (variable(6), ir.Within(TH_X, 1, 5), "open"),
    ],
)
def test_races_beside_indices_of_data(element: ix.SymbolicExpr, condition: ir.Value, status: str) -> None:
    shared = ir.Buffer("tile", "f32", (32,), "shared", "none")
    body = [
        ir.LetIndex(6, ir.Op("clamp", "s64", (number(0), LOADED, number(9)))),
        ir.If((condition,), (ir.Store("tile", (element,), ir.Constant("f32", 1.0)),)),
    ]
    checks = verify(kernel(body, [given(0, "s64", 32), shared], 1, 32, j=("let", 0, 9))).checks
    assert [c.status for c in checks if c.kind == "race"] == [status]
