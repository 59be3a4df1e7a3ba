"""Threads: long calls let other threads run, and threads that share values get the same results."""

import _thread
import operator
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest

import indexing as ix
from indexing import _core

TERMS = [f"(d0 * {i} + d1) floordiv {i + 2} + (d1 + {i}) mod {i + 3}" for i in range(1000)]
LARGE = f"(d0, d1) -> ({', '.join(TERMS)}), domain: d0 in [0, 999], d1 in [0, 999]"
SUM = " + ".join(TERMS).replace("d0", "v0").replace("d1", "v1")
HARD = "(d0, d1) -> ((d0 * d1) mod 1009), domain: d0 in [0, 399], d1 in [0, 399], (d0 * d0 + d1) mod 997 in [3, 5]"
SPARSE = "(d0) -> (d0), domain: d0 in [0, 199999], (d0 * d0) mod 16777216 in [3, 3]"  # 3 is no square modulo 4
PROGRAM = "\n".join(f"c{i} {{\n  ROOT p{i} = f32[{i + 1},8] parameter(0)\n}}" for i in range(4000))

large, hard, sparse = map(ix.IndexingMap.parse, (LARGE, HARD, SPARSE))
total = ix.SymbolicExpr.parse(SUM)

# Of each call what makes it: a callable without bytecode.
LONG_CALLS: dict[str, Callable[[], Callable[[], object]]] = {
    "parse": lambda: partial(ix.IndexingMap.parse, LARGE),
    "simplify": lambda: large.simplify,
    "explain": lambda: large.explain,
    "compose": lambda: partial(ix.compose, ix.IndexingMap.identity([1000, 1000]), large),
    "to_text": lambda: large.to_text,
    "remove_unused_symbols": lambda: large.remove_unused_symbols,
    "range": lambda: partial(large.range, ix.variable(0) + ix.variable(1)),
    "image_count": lambda: hard.image_count,
    "is_injective": lambda: hard.is_injective,
    "points": lambda: partial(list, sparse.points()),
    "parse_all": lambda: partial(ix.parse_all, [LARGE] * 2, threads=1),
    "simplify_all": lambda: partial(ix.simplify_all, [large] * 2, threads=1),
    "SymbolicExpr.parse": lambda: partial(ix.SymbolicExpr.parse, SUM),
    "SymbolicExpr.simplify": lambda: partial(total.simplify, [ix.Interval(0, 999)] * 2),
    "SymbolicMap.parse": lambda: partial(ix.SymbolicMap.parse, LARGE.split(", domain")[0]),
    "hlo.parse": lambda: partial(_core.parse_hlo, PROGRAM),
}


def runs_beside(call: Callable[[], object]) -> bool:
    """Whether this thread got to run while another one was in the call.

    The other thread starts this one and makes the call, and both are noted, with no bytecode between: what keeps the
    GIL for the call has noted both before this thread runs.
    """
    started, noted = _thread.allocate_lock(), []
    started.acquire()
    worker = threading.Thread(target=lambda: noted.extend(map(operator.call, (started.release, call))))
    worker.start()
    started.acquire()
    seen = len(noted)
    worker.join()
    return seen < 2


@pytest.mark.parametrize("name", LONG_CALLS)
def test_long_calls_let_other_threads_run(name: str) -> None:
    # Now and then the call is over before this thread is woken.
    assert any(runs_beside(LONG_CALLS[name]()) for _ in range(500))


def test_a_call_that_keeps_the_gil_is_told_from_one_that_does_not() -> None:
    has_gil = getattr(sys, "_is_gil_enabled", lambda: True)()
    assert any(runs_beside(partial(sum, range(100_000))) for _ in range(50)) is not has_gil


def test_threads_that_share_values_get_the_same_results() -> None:
    maps = [ix.IndexingMap.parse(LARGE), ix.IndexingMap.parse(HARD), ix.IndexingMap.parse(SPARSE)]

    def results(_: int) -> list[object]:
        actual: list[object] = []
        for m in maps:
            actual += [m.simplify(), hash(m), str(m), m * ix.IndexingMap.identity([1000] * m.num_results)]
        return [*actual, maps[1].count(), maps[1].image_count(), maps[1].inverse(), maps[0].results[7].postorder()]

    expected = results(0)
    with ThreadPoolExecutor(4) as pool:
        assert all(actual == expected for actual in pool.map(results, range(16)))


def test_one_iterator_gives_each_point_once_to_several_threads() -> None:
    points = ix.IndexingMap.parse("(d0, d1) -> (d0), domain: d0 in [0, 99], d1 in [0, 99], d0 + d1 in [0, 99]").points()
    with ThreadPoolExecutor(4) as pool:
        actual = [p for part in pool.map(lambda _: list(points), range(4)) for p in part]
    assert sorted(actual) == [((a, b), ()) for a in range(100) for b in range(100 - a)]
