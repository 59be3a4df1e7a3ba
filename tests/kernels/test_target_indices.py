"""Index expressions as C: random ones, wide and negative ones, against the core's own evaluation."""

import numpy as np
import pytest

from indexing import SymbolicExpr
from indexing._core import constant, variable
from indexing.kernels.ir import nodes as ir
from indexing.kernels.targets import TARGETS
from indexing.kernels.targets.c_index import reciprocal_shift
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


def cuda_text_of(expression: SymbolicExpr, threads: int = THREADS, blocks: int = BLOCKS) -> str:
    place = (BL_X * threads + TH_X) * 7 + LOOP + 3
    body = [ir.For(6, constant(-3), constant(4), 1, (ir.Store("o0", (place,), ir.IndexValue(expression)),))]
    return write(
        kernel(body, [result(0, "s64", 7 * blocks * threads)], blocks, threads, loop=("loop", -3, 3)), TARGETS["cuda"]
    )


def test_cuda_divides_by_products() -> None:
    assert "quotient_s32(th_x, 7, 0)" in cuda_text_of(TH_X // 7)
    assert "remainder_s32(th_x, 7, 0)" in cuda_text_of(TH_X % 7)
    raised = -(-(BLOCKS - 1) // 7) * 7
    assert f"remainder_s32(th_x - bl_x + {raised}, 7, 0)" in cuda_text_of((TH_X - BL_X) % 7)
    assert f"quotient_s32(th_x - bl_x + {raised}, 7, 0) - {raised // 7}" in cuda_text_of((TH_X - BL_X) // 7)
    assert "th_x >> 3" in cuda_text_of(TH_X // 8)
    place = BL_X * 1024 + TH_X
    assert f"quotient_s32(th_x + bl_x * 1024, 1000, {reciprocal_shift(1000, 2**31 - 1)})" in cuda_text_of(
        place // 1000, 1024, 2**21
    )
    assert "/ (s64)1000" in cuda_text_of(place // 1000, 1024, 2**22)


@pytest.mark.parametrize("most", [1, 5, 1000, 99_999, 2**20 + 7, 2**31 - 1])
def test_products_with_reciprocals_are_quotients_up_to_the_largest_number(most: int) -> None:
    def is_exact(divisor: int, shift: int) -> bool:
        reciprocal = -(-(2 ** (32 + shift)) // divisor)
        last = (most + 1) // divisor * divisor  # in front of multiples, products are nearest to the next quotient
        near = {x for x in (last - 1, last, most, divisor - 1, divisor) if 0 <= x <= most}
        return reciprocal < 2**32 and all(x * reciprocal >> (32 + shift) == x // divisor for x in near)

    divisors = [
        3,
        5,
        6,
        7,
        641,
        1000,
        65_537,
        10**6 + 3,
        2**30 - 1,
        2**31 - 1,
        *np.random.default_rng(most).integers(3, 2**20, 500),
    ]
    for divisor in (int(d) for d in divisors if d & (d - 1)):
        shift = reciprocal_shift(divisor, most)
        assert is_exact(divisor, shift), (divisor, most)
        assert shift == 0 or most * divisor > 2**32, (divisor, most)


def test_products_with_reciprocals_are_quotients_of_all_small_numbers() -> None:
    numbers = np.arange(3000, dtype=np.uint64)
    for divisor in (d for d in range(3, 1500) if d & (d - 1)):
        shift = reciprocal_shift(divisor, len(numbers) - 1)
        products = numbers * np.uint64(-(-(2 ** (32 + shift)) // divisor))
        np.testing.assert_array_equal(products >> np.uint64(32 + shift), numbers // np.uint64(divisor))


def test_large_expressions_name_their_parts() -> None:
    expression = TH_X
    for k in range(12):  # each turn has the one before twice
        expression = (expression * 3 + k) // 5 + expression % 7
    text = text_of(expression)
    assert max(map(len, text.splitlines())) < 2000
    (got,) = values_of([expression])
    np.testing.assert_array_equal(got, expected(expression))
