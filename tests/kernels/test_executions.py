"""Loads and stores of threads: counts by hand, of what a compiler merges, may merge, and never merges."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from indexing._core import IndexingMap, Interval, SymbolicExpr, constant, variable
from indexing.kernels.ir import nodes as ir
from indexing.kernels.ir.executions import global_executions, shared_executions
from indexing.kernels.targets import TARGETS
from ir_kernels import TH_X, given, kernel, result

STEP, LANE = variable(6), variable(7)
LOOPS = {"step": ("loop", 0, 3), "vector_index": ("loop", 0, 3)}
OTHERS = {**LOOPS, "step_2": ("loop", 0, 3), "vector_index_2": ("loop", 0, 3)}


def load(name: str, index: SymbolicExpr = TH_X) -> ir.Statement:
    return ir.Let(name, ir.Load("f32", "p0", (index,)))


def loop(*body: ir.Statement, number: int = 6, stop: int = 4) -> ir.For:
    return ir.For(number, constant(0), constant(stop), 1, tuple(body), lanes=number == 7)


def when(condition: ir.Value, *body: ir.Statement, otherwise: Sequence[ir.Statement] = ()) -> ir.If:
    return ir.If((condition,), tuple(body), tuple(otherwise))


def several(*conditions: ir.Value) -> ir.If:
    return ir.If(conditions, (STORE,), (load("a"),))


SWAPS = TARGETS["cuda"].compares_and_swaps
BOUND = ir.Within(TH_X, None, 15)  # half of the threads
DATA = ir.Op("lt", "pred", (ir.Load("f32", "p1", ()), ir.Constant("f32", 0.0)))
STORE = ir.Store("o0", (TH_X,), ir.Constant("f32", 0.0))
USE = ir.Store("o0", (TH_X,), ir.Op("neg", "f32", (ir.Ref("f32", "a"),)))
BY_STEP = ir.Store(
    "o0",
    (TH_X,),
    ir.Op("select", "f32", (ir.Within(STEP, 1, 2), ir.Ref("f32", "a"), ir.Constant("f32", 0.0))),
)
IS_LOW = ir.Let("low", ir.Op("lt", "pred", (ir.Load("f32", "p1", ()), ir.Constant("f32", 0.0))))
CHOICE = ir.Store(
    "o0", (TH_X,), ir.Op("select", "f32", (ir.Ref("pred", "low"), ir.Ref("f32", "a"), ir.Constant("f32", 0.0)))
)

CASES = {
    # threads that load, those that load at least, whether no data decides
    "once": ([load("a")], 32, 32, True),
    "merged with a load before": ([load("a"), load("b")], 32, 32, True),
    "merged with a load that came before a condition": ([load("a"), when(BOUND, load("b"))], 32, 32, True),
    "of a condition first": ([when(BOUND, load("a")), load("b")], 48, 16, True),
    "in both branches": ([when(BOUND, load("a"), otherwise=[load("b")])], 32, 16, True),
    "of a lane, in the other branch": (
        [when(BOUND, loop(load("a", TH_X + LANE), number=7), otherwise=[load("b", TH_X + 1)])],
        80,
        64,
        True,
    ),
    "moved in front of a loop": ([loop(load("a"))], 32, 32, True),
    "moved out, and merged with a load behind": ([loop(load("a")), load("b")], 32, 32, True),
    "kept in a loop by a condition": ([loop(when(BOUND, load("a")))], 64, 16, True),
    "of a loop's counter": ([loop(load("a", TH_X + STEP * 32))], 128, 128, True),
    "of the same elements in a second loop": (
        [loop(load("a", TH_X + STEP)), loop(load("b", TH_X + STEP))],
        256,
        128,
        True,
    ),
    "kept in a loop by another around it": ([loop(loop(load("a", TH_X + LANE), number=6), number=7)], 128, 128, True),
    "lanes are written out": ([loop(loop(load("a", TH_X + LANE), number=7))], 128, 128, True),
    "if data say so": ([when(DATA, load("a"))], 32, 32, False),
    "unless all of several bounds hold": ([several(ir.Within(TH_X, 4, 19), ir.Within(TH_X, 8, 40))], 20, 20, True),
    "of what is needed": ([load("a"), USE], 32, 32, True),
    "of what is needed under a condition": ([load("a"), when(BOUND, USE)], 32, 0, True),
    "of what is needed after a condition, too": ([load("a"), when(BOUND, USE), USE], 32, 32, True),
    "of what was needed before": ([USE, load("a"), when(BOUND, USE)], 32, 0, True),
    "of what is needed in the next iteration": ([loop(USE, load("a", TH_X + STEP), when(BOUND, USE))], 128, 128, True),
    "of what a select that data decide leaves out": ([IS_LOW, loop(load("a", TH_X + STEP), CHOICE)], 128, 0, True),
    "of what a select by an index leaves out": ([loop(load("a", TH_X + STEP), BY_STEP)], 128, 128, True),
    "of what a select in each iteration leaves out": ([loop(IS_LOW, load("a", TH_X + STEP), CHOICE)], 128, 128, True),
    "unless data say so": ([when(DATA, STORE, otherwise=[load("a")])], 32, 32, False),
}


def threads(loads: Sequence[tuple[IndexingMap, int]]) -> int:
    return sum(m.count() * times for m, times in loads)


@pytest.mark.parametrize("name", CASES)
def test_loads(name: str) -> None:
    body, most, least, is_certain = CASES[name]
    k = kernel(body, [given(0, "f32", 200), given(1, "f32"), result(0, "f32", 32)], block=32, **LOOPS)
    every = global_executions(k)
    assert not every.unknown
    loads = every.of["p0", "load"]
    assert threads([(e.map, e.times) for e in loads]) == most
    merged = [(e.merged if e.may_merge else e.map, 1) for e in loads if not e.may_merge or e.merged is not None]
    assert threads(merged) == least
    assert any(e.may_merge for e in loads) == (most != least)
    assert all(e.is_certain for e in loads) == is_certain


@pytest.mark.parametrize(("offset", "may_merge"), [(0, True), (512, False)])
def test_short_loops_over_the_same_elements_may_be_merged(offset: int, may_merge: bool) -> None:
    """Vectors of rows that are read again, in loops of their own; not other vectors."""
    first = loop(loop(load("a", TH_X * 16 + STEP * 4 + LANE), number=7))
    place = TH_X * 16 + variable(8) * 4 + variable(9) + offset
    second = loop(loop(load("b", place), number=9), number=8)
    k = kernel([first, second], [given(0, "f32", 1024), result(0, "f32", 32)], block=32, **OTHERS)
    assert [e.may_merge for e in global_executions(k, {"p0"}).of["p0", "load"]] == [False, may_merge]


def test_stores_are_never_merged() -> None:
    k = kernel([loop(STORE), STORE], [result(0, "f32", 32)], block=32, **LOOPS)
    assert threads([(e.map, e.times) for e in global_executions(k).of["o0", "store"]]) == 4 * 32 + 32


def test_loads_of_what_is_written_stay_apart() -> None:
    """A store through an alias, or a barrier, is between them; in a loop with either, a load is repeated."""
    again = [load("a"), load("b"), STORE, load("c"), ir.Barrier(), load("d"), loop(load("e"), STORE)]
    k = kernel(again, [given(0, "f32", 32), result(0, "f32", 32, alias_of="p0")], block=32, **LOOPS)
    loads = global_executions(k).of["p0", "load"]
    assert threads([(e.map, e.times) for e in loads]) == 3 * 32 + 4 * 32


def test_a_loop_with_a_barrier_counts_once() -> None:
    cell = ir.Store("tile", (TH_X,), ir.Constant("f32", 0.0))
    taken = ir.Let("a", ir.Load("f32", "tile", (TH_X,)))
    body = [loop(cell, ir.Barrier(), taken, ir.Let("b", ir.Load("f32", "tile", (TH_X,))), ir.Barrier())]
    buffers = [result(0, "f32", 32), ir.Buffer("tile", "f32", (32,), "shared")]
    actual = shared_executions(kernel(body, buffers, block=32, **LOOPS), SWAPS)
    assert [(a.kind, e.map.count() * e.times) for a, e in actual] == [("store", 128), ("load", 128)]


def test_a_shared_load_that_is_needed_under_a_condition_may_be_done_by_fewer() -> None:
    """The value is that of a variable, which only 16 of 32 threads store."""
    buffers = [result(0, "f32", 32), ir.Buffer("tile", "f32", (32,), "shared")]
    taken = [ir.Var("a", "f32", ir.Constant("f32", 0.0)), ir.Assign("a", ir.Load("f32", "tile", (TH_X,)))]
    for body, may_merge in ([*taken, when(BOUND, USE)], True), ([*taken, USE], False):
        actual = shared_executions(kernel(body, buffers, block=32), SWAPS)
        assert [(e.map.count(), e.may_merge) for _, e in actual] == [(32, may_merge)]


def test_a_load_at_what_a_loop_assigns_is_done_in_each_iteration() -> None:
    """A place that moves by data, as that of a binary search; one that is fixed before the loop is loaded once."""
    at = ir.LetIndex(8, ir.Ref("s32", "place"))
    first = ir.Var("place", "s32", ir.Load("s32", "p1", ()))
    move = ir.Assign("place", ir.Op("add", "s32", (ir.Ref("s32", "place"), ir.Constant("s32", 1))))
    taken = load("a", variable(8))
    buffers = [given(0, "f32", 200), given(1, "s32"), result(0, "f32", 32)]
    for body, times in ([first, loop(at, taken, move)], 4), ([first, at, loop(taken, move)], 1):
        k = kernel(body, buffers, block=32, **LOOPS, j=("data", 0, 199))
        assert [e.times for e in global_executions(k).of["p0", "load"]] == [times]


def test_a_function_loads_as_often_as_it_is_called() -> None:
    own = (ir.IndexVariable("i", Interval(0, 31), "parameter"),)
    function = ir.Function("f", own, (), (), (ir.Load("f32", "p0", (variable(0),)),))
    calls = [ir.CallFunction(("a",), "f", (TH_X,)), ir.CallFunction(("b",), "f", (31 - TH_X,))]
    k = kernel(calls, [given(0, "f32", 32), result(0, "f32", 32)], block=32, functions=[function])
    assert threads([(e.map, e.times) for e in global_executions(k).of["p0", "load"]]) == 64


def test_vectors_of_a_loop_that_is_none_over_lanes_are_fewer_loads() -> None:
    """Threads load rows of 4 elements, one by one, or as vectors."""
    buffers = [given(0, "f32", 200), given(1, "f32"), result(0, "f32", 32)]
    rows = kernel([loop(load("a", TH_X * 4 + STEP), USE)], buffers, block=32, **LOOPS)
    lanes = kernel([loop(load("a", TH_X * 4 + LANE), USE, number=7)], buffers, block=32, **LOOPS)
    same = kernel([loop(load("a", TH_X + LANE // 2), USE, number=7)], buffers, block=32, **LOOPS)
    for k, vectors, may_merge in (
        (rows, (), False),
        (rows, ("p0",), True),
        (lanes, ("p0",), False),
        (same, ("p0",), True),
    ):
        assert [e.may_merge for e in global_executions(k, vectors).of["p0", "load"]] == [may_merge]


def test_vectors_of_a_loop_that_is_none_over_lanes_are_fewer_stores() -> None:
    """Threads store rows of 4 elements, or columns, of which no vectors are made."""
    for index, vectors, may_merge in (
        (TH_X * 4 + STEP, ("o0",), True),
        (TH_X * 4 + STEP, (), False),
        (TH_X + STEP * 32, ("o0",), False),
    ):
        body = [loop(ir.Store("o0", (index,), ir.Constant("f32", 0.0)))]
        k = kernel(body, [result(0, "f32", 128)], block=32, **LOOPS)
        assert [e.may_merge for e in global_executions(k, vectors).of["o0", "store"]] == [may_merge]


@pytest.mark.parametrize(("opcode", "is_loaded"), [("add", False), ("maximum", True), ("", True)])
def test_updates_load_where_the_target_compares_and_swaps_or_looks_first(opcode: str, is_loaded: bool) -> None:
    """The first read of a loop that compares and swaps is a load as any other, of the elements that are updated."""
    update = ir.AtomicUpdate("o0", (TH_X,), "combine0", (ir.Constant("f32", 0.0),), opcode)
    for space, role in (("global", "output"), ("global", "scratch")):
        buffer = ir.Buffer("o0", "f32", (32,), space, role, 0)
        k = kernel([update], [buffer], block=32)
        executed = global_executions(k, (), TARGETS["cuda"].loads_before_update).of
        assert threads([(e.map, e.times) for e in executed["o0", "atomic"]]) == 32
        loads = executed.get(("o0", "load"), ())
        assert threads([(e.map, e.times) for e in loads]) == 32 * (is_loaded and role == "output")
    assert ("o0", "load") not in global_executions(k).of


@pytest.mark.parametrize(("opcode", "times"), [("add", 0), ("maximum", 2)])
def test_updates_of_shared_memory_load_each_element_that_they_compare_and_swap(opcode: str, times: int) -> None:
    """There, vectors are updated element by element, whatever functions global memory has."""
    values = (ir.Constant("f32", 0.0),) * 2
    update = ir.AtomicUpdate("tile", (TH_X * 2,), "combine0", values, opcode)
    k = kernel([update], [result(0, "f32", 32), ir.Buffer("tile", "f32", (64,), "shared")], block=32)
    actual = [(a.kind, a.width, e.map.evaluate([3, 0, 0, 0, 0, 0]), e.times) for a, e in shared_executions(k, SWAPS)]
    assert actual == [("load", 1, (6,), times)] * (times > 0)
