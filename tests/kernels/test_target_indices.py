"""Index expressions as C: random ones, wide and negative ones, against the core's own evaluation."""

import numpy as np
import pytest

from indexing import SymbolicExpr
from indexing._core import constant, variable
from indexing.kernels.ir import nodes as ir
from indexing.kernels.targets import TARGETS
from ir_kernels import BL_X, TH_X, kernel, make_thread_loops, result, run, write

THREADS, BLOCKS = 64, 5
LOOP = variable(6)


def values_of(expressions: list[SymbolicExpr]) -> list[np.ndarray]:
    """Each expression at all threads and blocks and turns of a loop from -3 to 3, as the C kernel computes it."""
    place = (BL_X * THREADS + TH_X) * 7 + LOOP + 3
    stores = tuple(ir.Store(f"o{k}", (place,), ir.IndexValue(e)) for k, e in enumerate(expressions))
    body = [ir.For(6, constant(-3), constant(4), 1, stores)]
    buffers = [result(k, "s64", BLOCKS * THREADS * 7) for k in range(len(expressions))]
    return run(kernel(body, buffers, BLOCKS, THREADS, loop=("loop", -3, 3)))


def expected(expression: SymbolicExpr) -> np.ndarray:
    block, thread, loop = np.meshgrid(np.arange(BLOCKS), np.arange(THREADS), np.arange(-3, 4), indexing="ij")
    none = np.zeros_like(block)
    values = expression.evaluate([thread, none, none, block, none, none, loop])
    return np.broadcast_to(values, block.shape).reshape(-1)


def random_expression(rng: np.random.Generator, depth: int) -> SymbolicExpr:
    if depth == 0:
        return [TH_X, BL_X, LOOP, constant(int(rng.integers(-9, 10)))][rng.integers(0, 4)]
    a, b = random_expression(rng, depth - 1), random_expression(rng, depth - 1)
    divisor = int(rng.choice([2, 3, 4, 7, 16, 25]))
    factor = int(rng.choice([-5, -1, 2, 3, 64]))
    choices = [
        a + b,
        a * factor + b,
        a // divisor,
        a % divisor,
        a.min(b),
        a.max(b),
        a * b,
        a.ceildiv(divisor),
        a // -divisor,
    ]
    return choices[rng.integers(0, len(choices))]


@pytest.mark.parametrize("seed", range(4))
def test_random_expressions(seed: int) -> None:
    rng = np.random.default_rng(seed)
    expressions = [random_expression(rng, int(rng.integers(1, 4))) for _ in range(40)]
    for expression, got in zip(expressions, values_of(expressions), strict=True):
        np.testing.assert_array_equal(got, expected(expression), err_msg=str(expression))


WIDE = [
    TH_X * 100_000_000 + LOOP,
    TH_X * 40_000_000 - BL_X * 500_000_000,
    (TH_X * 40_000_000 - BL_X * 500_000_000) // 7,
    (TH_X * 40_000_000 - BL_X * 500_000_000) % 1000,
    TH_X * BL_X * 10_000_000,
    (TH_X * 2**33 + BL_X).max(LOOP * 2**40),
    (TH_X * 2**33 + LOOP) % 2**32,
    (TH_X * 2**40 + LOOP) // 2**38,
    (LOOP * 2**40).ceildiv(3**20),
    ((TH_X * 70_000 + LOOP) // 2) * ((TH_X * 70_000 + BL_X) // 3),
]


def test_what_leaves_32_bits_is_computed_in_64() -> None:
    for expression, got in zip(WIDE, values_of(WIDE), strict=True):
        np.testing.assert_array_equal(got, expected(expression), err_msg=str(expression))


def text_of(expression: SymbolicExpr) -> str:
    results = kernel([ir.Store("o0", (TH_X,), ir.IndexValue(expression))], [result(0, "s64", THREADS)], BLOCKS, THREADS)
    return write(make_thread_loops(results), TARGETS["c"])


def test_division_and_remainder_are_the_cheapest_that_are_right() -> None:
    assert "th_x >> 4" in text_of(TH_X // 16)
    assert "th_x & 15" in text_of(TH_X % 16)
    assert "th_x / 7" in text_of(TH_X // 7)
    most = -(-(BLOCKS - 1) * 100 // 7)  # multiples of 7 above the least dividend's magnitude
    assert f"(th_x - bl_x * 100 + {most * 7}) / 7 - {most}" in text_of((TH_X - BL_X * 100) // 7)
    assert f"(th_x - bl_x + {-(-(BLOCKS - 1) // 7) * 7}) % 7" in text_of((TH_X - BL_X) % 7)
    assert "(th_x - bl_x) >> 2" in text_of((TH_X - BL_X) // 4)
    factor = (2**31 - 1 - BLOCKS) // (THREADS - 1)  # a multiple of the divisor above would leave 32 bits
    assert f"floor_div_s32(th_x * {factor} - bl_x, 1000003)" in text_of((TH_X * factor - BL_X) // 1000003)


def test_large_expressions_name_their_parts() -> None:
    expression = TH_X
    for k in range(12):  # each turn has the one before twice
        expression = (expression * 3 + k) // 5 + expression % 7
    text = text_of(expression)
    assert max(map(len, text.splitlines())) < 2000
    (got,) = values_of([expression])
    np.testing.assert_array_equal(got, expected(expression))
