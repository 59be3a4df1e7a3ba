"""Waits of warps for loads, by hand: a warp waits once for the loads that are under way together."""

from __future__ import annotations

import pytest

import indexing as ix
from indexing._core import Interval, SymbolicExpr, constant, variable
from indexing.device.detect import find_device
from indexing.kernels.ir import nodes as ir
from indexing.model.instruction_counts import count_instructions
from ir_kernels import TH_X, given, kernel, result

H100 = find_device("h100")
ZERO = constant(0)
STEP = variable(6)


def load(index: SymbolicExpr, buffer: str = "p0") -> ir.Load:
    return ir.Load("f32", buffer, (index,))


def add(index: SymbolicExpr) -> ir.Assign:
    return ir.Assign("v", ir.Op("add", "f32", (ir.Ref("f32", "v"), load(index))))


def waits(*body: ir.Statement, warps: int = 1) -> float:
    """Of a kernel that reads `p0` of floats and `p1` of integers, with one loop of 64 steps."""
    start = ir.Var("v", "f32", ir.Constant("f32", 0.0))
    end = ir.Store("o0", (TH_X,), ir.Ref("f32", "v"))
    buffers = [given(0, "f32", 4096), given(1, "s32", 4096), result(0, "f32", 32 * warps)]
    variables = {"step": ("loop", 0, 63), "index": ("let", 0, 4095)}
    return count_instructions(kernel([start, *body, end], buffers, 1, 32 * warps, **variables), H100).waits


def loop(body: list[ir.Statement], unroll: int) -> ir.For:
    return ir.For(6, ZERO, constant(64), 1, tuple(body), unroll=unroll)


def test_loads_that_follow_each_other_are_under_way_together() -> None:
    assert waits(add(TH_X), add(TH_X + 32), add(TH_X + 64)) == 1
    assert waits(add(TH_X), warps=4) == 4, "each warp waits"
    assert waits() == 0, "a store is not waited for"


@pytest.mark.parametrize(("unroll", "one", "two"), [(0, 8, 16), (1, 64, 64), (4, 16, 16), (16, 4, 4)])
def test_a_loop_waits_for_the_iterations_that_are_unrolled_together(unroll: int, one: int, two: int) -> None:
    """0: as the pass decides, eight of a long loop that loads a word, four of one that loads more."""
    assert waits(loop([add(TH_X + STEP * 32)], unroll)) == one
    assert waits(loop([add(TH_X + STEP * 32), add(STEP)], unroll)) == two


def test_an_unrolled_loop_is_the_statements_around_it_up_to_the_loads_that_a_warp_has_under_way() -> None:
    assert waits(add(TH_X), loop([add(TH_X + STEP * 32)], 64)) == 65 / H100.memory.loads_under_way


def test_a_load_whose_index_was_loaded_waits_for_it() -> None:
    loaded = ir.LetIndex(7, load(TH_X, "p1"))
    assert waits(loaded, add(variable(7))) == 2
    assert waits(loaded, add(variable(7)), add(TH_X)) == 2
    assert waits(loop([ir.LetIndex(7, load(STEP, "p1")), add(variable(7))], 4)) == 2 * 16


def test_a_load_waits_for_the_load_that_a_value_comes_from() -> None:
    """From `p1` to a name, from the name to an index variable, from there to the index."""
    named = ir.Let("n", ir.Op("neg", "s32", (ir.Load("s32", "p1", (TH_X,)),)))
    assert waits(named, ir.LetIndex(7, ir.Ref("s32", "n")), add(variable(7))) == 2
    assert waits(named, ir.LetIndex(7, TH_X), add(variable(7))) == 1


def test_the_waits_of_a_function_are_those_of_its_calls() -> None:
    own = (ir.IndexVariable("at", Interval(0, 4095), "parameter"), ir.IndexVariable("next", Interval(0, 4095), "let"))
    body = (ir.LetIndex(1, load(variable(0), "p1")), ir.Let("v", load(variable(1))))
    function = ir.Function("loaded", own, (), body, (ir.Ref("f32", "v"),))
    calls = [ir.CallFunction((name,), "loaded", (TH_X,)) for name in ("a", "b")]
    end = ir.Store("o0", (TH_X,), ir.Op("add", "f32", (ir.Ref("f32", "a"), ir.Ref("f32", "b"))))
    buffers = [given(0, "f32", 4096), given(1, "s32", 4096), result(0, "f32", 32)]
    assert count_instructions(kernel([*calls, end], buffers, 1, 32, [function]), H100).waits == 4


def test_barriers_and_branches_end_a_run() -> None:
    assert waits(add(TH_X), ir.Barrier(), add(TH_X)) == 2
    never, half = ir.Within(TH_X, 4096, None), ir.Op("lt", "pred", (ir.Ref("f32", "v"), ir.Ref("f32", "v")))
    assert waits(add(TH_X), ir.If((ir.Within(TH_X, 0, 4095),), (add(TH_X + 32),))) == 1, "a guard that always holds"
    assert waits(add(TH_X), ir.If((never,), (add(TH_X + 32), add(TH_X)))) == 1
    assert waits(add(TH_X), ir.If((half,), (add(TH_X + 32), add(TH_X)))) == 1.5


def test_products_of_few_threads_take_latencies_and_not_one_for_each_load() -> None:
    """A dot of 64 results and 6,272 terms: one block. Its two rows are streams of 128 bytes for each four steps, so it takes
    at least 6,272 / 4 latencies of memory if nothing runs ahead, and at least the additions, of which each waits for the other.
    """
    text = """ENTRY e { a = f32[6272,8] parameter(0) b = f32[6272,8] parameter(1)
      ROOT d = f32[8,8] dot(a, b), lhs_contracting_dims={0}, rhs_contracting_dims={0} }"""
    (seconds,) = ix.predict(ix.hlo.parse(text).entry, {}, "h100").time
    assert 6272 / H100.rates.clock < seconds < 2 * 6272 / 4 * H100.memory.latency
