"""Arrays through maps: what Python's integers give, of every size of number, across blocks, up to the ends of int64."""

from collections.abc import Callable, Sequence
from random import Random

import numpy as np
import pytest

import indexing as ix

LEAST, MOST = -(2**63), 2**63 - 1
# What numbers are taken from: small ones, negative ones, those around each power that a shorter computation stops at.
RANGES: dict[str, Callable[[Random], int]] = {
    "small": lambda r: r.randrange(1000),
    "negative": lambda r: r.randrange(-1000, 1000),
    "around 2^31": lambda r: r.choice((-1, 1)) * (2**31 + r.randrange(-3, 3)),
    "around 2^32": lambda r: 2**32 + r.randrange(-3, 3),
    "around 2^60": lambda r: r.choice((-1, 1)) * 2**60 + r.randrange(-3, 3),
    "around 2^62": lambda r: r.choice((-1, 1)) * 2**62 + r.randrange(-3, 3),
    "ends": lambda r: r.choice((LEAST, LEAST + 1, -1, 0, 1, MOST - 1, MOST)),
}
RESULTS: dict[str, Callable[[int, int], Sequence[int]]] = {
    "d0 + d1": lambda x, y: [x + y],
    "d0 - d1": lambda x, y: [x - y],
    "d0 * 3 + d1 + 9": lambda x, y: [x * 3 + y + 9],
    "d0 * -5 + d1 * 2147483647": lambda x, y: [x * -5 + y * (2**31 - 1)],
    "d0 * -2147483648 + 1, d1 * 4294967296": lambda x, y: [x * -(2**31) + 1, y * 2**32],
    "d0 * -4294967295 + d1 * 4294967295 - 1": lambda x, y: [(y - x) * (2**32 - 1) - 1],
    "d0 * -2, d1 * 2, d0 * 2 - d1 * 2": lambda x, y: [x * -2, y * 2, (x - y) * 2],
    "d0 * d1": lambda x, y: [x * y],
    "d0 * d0 * d0, d1 * d1 * d1 * d1": lambda x, y: [x**3, y**4],
    "min(d0, d1), max(d0, d1, 7), min(d1, -3)": lambda x, y: [min(x, y), max(x, y, 7), min(y, -3)],
    "max(d0, d1), min(-1, d0, d1)": lambda x, y: [max(x, y), min(-1, x, y)],
    "d1, 5, d0 mod 24, d1, d0 mod 24": lambda x, y: [y, 5, x % 24, y, x % 24],
    "d0 floordiv 64, (d0 floordiv 64) * 64, d1 floordiv 7": lambda x, y: [x // 64, x // 64 * 64, y // 7],
    "d0 floordiv (d1 * d1 + 1)": lambda x, y: [x // (y * y + 1)],
}


def columns(kind: str, count: int) -> list[list[int]]:
    random = Random(f"{kind} {count}")
    return [[RANGES[kind](random) for _ in range(count)] for _ in range(2)]


@pytest.mark.parametrize("count", [1, 63, 1024, 2500])
@pytest.mark.parametrize("kind", RANGES)
@pytest.mark.parametrize("text", RESULTS)
def test_values_are_those_of_integers(text: str, kind: str, count: int) -> None:
    m = ix.SymbolicMap.parse(f"(d0, d1) -> ({text})")
    given = columns(kind, count)
    expected = [RESULTS[text](x, y) for x, y in zip(*given, strict=True)]
    arrays = [np.array(column) for column in given]
    # Values in between, such as divisors, may leave int64.
    if all(LEAST <= value <= MOST for row in expected for value in row):
        assert [list(row) for row in zip(*(a.tolist() for a in m.evaluate(arrays)), strict=True)] == expected
    else:
        with pytest.raises(ix.Overflow):
            m.evaluate(arrays)
    # One that overflows leaves the others of its block alone.
    kept = [k for k, row in enumerate(expected) if all(LEAST <= v <= MOST for v in row)]
    if kept:
        values = m.evaluate([a[kept] for a in arrays])
        assert [list(row) for row in zip(*(a.tolist() for a in values), strict=True)] == [expected[k] for k in kept]


BOUNDS = [
    (LEAST, MOST),
    (LEAST, 5),
    (3, MOST),
    (0, 999),
    (-7, 2**62),
    (-(2**62), -(2**62)),
    (2**62, MOST),
    (MOST, MOST),
]


@pytest.mark.parametrize("kind", RANGES)
@pytest.mark.parametrize("bounds", BOUNDS)
def test_bounds_are_those_of_integers(bounds: tuple[int, int], kind: str) -> None:
    lower, upper = bounds
    given = columns(kind, 2500)
    inside = [lower <= x <= upper and y >= 3 for x, y in zip(*given, strict=True)]
    m = ix.IndexingMap.parse(f"(d0, d1) -> (0), domain: d0 in [{lower}, {upper}], d1 in [3, {MOST}]")
    arrays = [np.array(column) for column in given]
    assert m.contains(arrays).tolist() == inside
    assert m.contains([arrays[1][:, None], arrays[0][None, :3]]).shape == (2500, 3)
    held = ix.IndexingMap.parse(
        f"(d0, d1) -> (0), domain: d0 in [{LEAST}, {MOST}], d1 in [3, {MOST}], d0 mod 8 in [2, 4], max(d0, -9) in [-9, {max(upper, 0)}]"
    )
    expected = [y >= 3 and 2 <= x % 8 <= 4 and max(x, -9) <= max(upper, 0) for x, y in zip(*given, strict=True)]
    assert held.contains(arrays).tolist() == expected


def test_a_divisor_of_zero_is_outside_and_the_rest_is_not() -> None:
    m = ix.IndexingMap.parse("(d0, d1) -> (d0 floordiv d1), domain: d0 in [0, 99], d1 in [-5, 5]")
    x, y = (a.ravel() for a in np.meshgrid(np.arange(-3, 300), np.arange(-9, 10)))
    assert (m.contains([x, y]) == ((x >= 0) & (x <= 99) & (abs(y) <= 5) & (y != 0))).all()
    within = m.contains([x, y])
    assert (m.evaluate([x[within], y[within]])[0] == x[within] // y[within]).all()
