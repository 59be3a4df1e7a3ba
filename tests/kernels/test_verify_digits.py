"""Ids as digits: the map over them has the same results as often, and tells what the map over ids does not."""

from collections import Counter

import numpy as np
import pytest

import indexing as ix
from indexing.kernels.verify.cover import normalized
from indexing.kernels.verify.digits import with_digits


def results(m: ix.IndexingMap) -> Counter[tuple[int, ...]]:
    return Counter(m.evaluate(*point) for point in m.points())


def accesses(m: ix.IndexingMap) -> set[tuple[int, ...]]:
    """The elements with the threads that access them."""
    return {(*dims, *m.evaluate(dims, symbols)) for dims, symbols in m.points()}


def test_the_results_stay() -> None:
    rng = np.random.default_rng(0)
    digits = 0
    for _ in range(200):
        threads, rows, blocks = (int(n) for n in rng.integers((2, 2, 2), (9, 4, 6)))
        row, other, stride, extra = (int(n) for n in rng.integers((2, 2, 1, -1), (12, 20, 4, 2)))
        number = f"t + r * {threads} + b * {threads * rows + extra * int(rng.integers(3) == 0) * row}"
        text = (
            f"(t, r, b)[s] -> (({number}) floordiv {row}, ({number} + s) mod {other}, "
            f"((({number}) floordiv {row}) mod {stride + 1}) * {stride} + ({number}) mod {row} + s), "
            f"domain: t in [0, {threads - 1}], r in [0, {rows - 1}], b in [0, {blocks - 1}], s in [0, 1], "
            f"({number}) mod {row} in [0, {row - 1 - stride % row}]"
        )
        m = ix.IndexingMap.parse(text).simplify()
        actual = with_digits(m)
        digits += actual != m
        assert results(actual) == results(m), text
    assert digits > 150


def test_rows_that_no_block_holds_whole() -> None:
    """133 million threads take rows of 127: no two of them write one element, but of rows of half the number some do."""
    domain = "t in [0, 127], b in [0, 1040383]"
    m = ix.IndexingMap.parse(f"(t, b) -> ((t + b * 128) floordiv 127, (t + b) mod 127), domain: {domain}").simplify()
    assert m.is_injective()
    assert with_digits(m).is_injective()
    m = ix.IndexingMap.parse(f"(t, b) -> ((t + b * 128) floordiv 254, (t + b) mod 127), domain: {domain}").simplify()
    assert not m.is_injective()
    assert not with_digits(m).is_injective()


def test_counters_that_others_determine_or_no_result_needs() -> None:
    rng = np.random.default_rng(1)
    shorter = 0
    for _ in range(200):
        threads, row, last = (int(n) for n in rng.integers((2, 3, 0), (12, 9, 4)))
        first, sign = int(rng.integers(-3, 10)), int(rng.choice((-1, 1)))
        e = f"t * {int(rng.integers(1, 4))} + s * {row * sign}"
        result = str(rng.choice(("s", "s * 2 + t", "t", "5")))
        domain = f"t in [0, {threads}], s in [0, 3], {e} in [{first}, {first + last}]"
        m = ix.IndexingMap.parse(f"(t)[s] -> ({result}), domain: {domain}")
        actual = normalized(m.simplify())
        shorter += not actual.is_known_empty and actual.num_ranges == 0
        assert (set() if actual.is_known_empty else accesses(actual)) == accesses(m), str(m)
    assert shorter > 75


ROTATED = """fused {
  x = bf16[1,8192,8,128] parameter(0)
  a = bf16[1,8192,8,127] slice(x), slice={[0:1], [0:8192], [0:8], [0:127]}
  b = bf16[1,8192,8,127] slice(x), slice={[0:1], [0:8192], [0:8], [1:128]}
  s = bf16[1,8192,8,127] add(a, b)
  l = bf16[1,8192,8,1] slice(x), slice={[0:1], [0:8192], [0:8], [127:128]}
  ROOT r = bf16[1,8192,8,128] concatenate(s, l), dimensions={3}
}"""

DILATED = """fused {
  x = f32[96,576,7,7] parameter(0)
  w = f32[576,1,3,3] parameter(1)
  ROOT c = f32[96,576,14,14] convolution(x, w), window={size=3x3 pad=1_2x1_2 lhs_dilate=2x2}, dim_labels=bf01_oi01->bf01, feature_group_count=576
}"""


@pytest.mark.parametrize("dialect", ["c", "cuda", "opencl"])
@pytest.mark.parametrize("text", [ROTATED, DILATED], ids=["rotated", "dilated"])
def test_threads_whose_rows_cross_blocks(text: str, dialect: str) -> None:
    proofs = ix.emit(ix.hlo.parse(text).entry, dialect).verify()
    assert proofs.refuted == ()
    assert proofs.open == ()
