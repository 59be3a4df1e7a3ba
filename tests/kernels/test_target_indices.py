"""Index expressions as C: random ones, wide and negative ones, against the core's own evaluation."""

import ctypes
import itertools
import subprocess
from pathlib import Path

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


def cuda_lines(*statements: ir.Statement, threads: int = 96) -> list[str]:
    """The lines of a kernel for CUDA of these statements, which may define variable 6, `i`, and count with variable 7, `r`."""
    variables = {"i": ("let", 0, 99), "r": ("loop", 0, 9)}
    text = write(kernel(statements, [result(0, "s64", threads)], BLOCKS, threads, **variables), TARGETS["cuda"])
    return [line.strip() for line in text[text.index("const s32 th_x") :].splitlines()]


def stored_if(bound: int, value: SymbolicExpr) -> ir.If:
    return ir.If((ir.Within(TH_X, bound, bound),), (ir.Store("o0", (TH_X,), ir.IndexValue(value)),))


def test_cuda_names_quotients_that_several_branches_need() -> None:
    """Where their variables are defined; remainders by them are differences, but for masks."""
    i = variable(6)
    values = [
        TH_X // 3,
        TH_X % 3,
        TH_X // 4 % 5,
        TH_X // 20 + 1,
        TH_X // 12 * 8,
        TH_X // 12 + BL_X // 7,
        TH_X // 3 % 4,
        i // 9,
        i % 9,
    ]
    lines = cuda_lines(
        stored_if(0, values[0]), ir.LetIndex(6, TH_X + BL_X), *(stored_if(k, v) for k, v in enumerate(values[1:], 1))
    )
    assert [line for line in lines if "quotient_s32" in line] == [
        "const s32 quotient_1 = quotient_s32(th_x, 3, 0);",
        "const s32 quotient_2 = quotient_s32(th_x, 20, 0);",
        "const s32 quotient_3 = quotient_s32(th_x, 12, 0);",
        "const s32 quotient_4 = quotient_s32(i, 9, 0);",
        "o0[th_x] = (s64)(quotient_3 + quotient_s32(bl_x, 7, 0));",
    ]
    assert lines.index("const s32 i = th_x + bl_x;") + 1 == lines.index("const s32 quotient_4 = quotient_s32(i, 9, 0);")
    for text in (
        "quotient_1",
        "th_x - quotient_1 * 3",
        "quotient_3 * 8",
        "(quotient_1 & 3)",
        "quotient_4",
        "i - quotient_4 * 9",
        "(th_x >> 2) - quotient_2 * 5",
    ):
        assert f"o0[th_x] = (s64){text if ' ' not in text or text == '(quotient_1 & 3)' else f'({text})'};" in lines


def test_cuda_names_no_quotients_of_counters_or_by_shifts_or_of_other_numbers() -> None:
    r = variable(7)
    for value in (r // 3, TH_X // 8, (TH_X - BL_X) // 3, (TH_X * 10**8 + BL_X) // 1_000_003):
        loop = ir.For(7, constant(0), constant(9), 1, (stored_if(1, value), stored_if(2, value)))
        assert not [line for line in cuda_lines(loop) if "quotient_1" in line]


#: What a C compiler needs to take a kernel for CUDA as a function of one thread.
OF_ONE_THREAD = """#define __global__
#define __device__
#define __restrict__ restrict
#define __launch_bounds__(threads)
struct { int x, y, z; } threadIdx, blockIdx;
"""


def cuda_values_of(expressions: list[SymbolicExpr], folder: Path) -> list[np.ndarray]:
    """Each expression as the kernel for CUDA computes it in two branches: by a C compiler, thread by thread."""
    place = (BL_X * THREADS + TH_X) * 7 + LOOP + 3
    stores = tuple(ir.Store(f"o{k}", (place,), ir.IndexValue(e)) for k, e in enumerate(expressions))
    odd = ir.If((ir.Within(TH_X % 2, 1, 1),), stores, stores)
    buffers = [result(k, "s64", BLOCKS * THREADS * 7) for k in range(len(expressions))]
    loop = [ir.For(6, constant(-3), constant(4), 1, (odd,))]
    text = write(kernel(loop, buffers, BLOCKS, THREADS, loop=("loop", -3, 3)), TARGETS["cuda"])
    (folder / "kernel.c").write_text(OF_ONE_THREAD + text.replace('extern "C"', ""))
    subprocess.run(["cc", "-O1", "-shared", "-fPIC", "-w", "-o", folder / "kernel.so", folder / "kernel.c"], check=True)
    library = ctypes.CDLL(str(folder / "kernel.so"))
    thread, block = (ctypes.c_int.in_dll(library, name) for name in ("threadIdx", "blockIdx"))
    values = [np.zeros(BLOCKS * THREADS * 7, np.int64) for _ in expressions]
    for block.value, thread.value in itertools.product(range(BLOCKS), range(THREADS)):
        library.kernel_under_test(*(ctypes.c_void_p(v.ctypes.data) for v in values))
    return values


@pytest.mark.parametrize("seed", range(3))
def test_random_expressions_for_cuda(seed: int, tmp_path: Path) -> None:
    rng = np.random.default_rng(seed)
    expressions = [random_expression(rng, int(rng.integers(1, 4))) for _ in range(40)] + (WIDE if seed == 0 else [])
    for expression, got in zip(expressions, cuda_values_of(expressions, tmp_path), strict=True):
        np.testing.assert_array_equal(got, expected(expression), err_msg=str(expression))


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
