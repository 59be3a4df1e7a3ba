"""Simplification where sizes are variables: places in arrays of symbolic shapes, as dynamic shapes and strides make them."""

from __future__ import annotations

import itertools
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import indexing as ix
from exact_maps import read

#: Values of variables; sizes `n` and `m` are positive.
BOUNDS = {"x": (-9, 9), "y": (0, 7), "z": (0, 3), "n": (1, 5), "m": (1, 4)}
#: Variables that are places within a size.
INSIDE = {"y": ("n", "n - y in [1, 9]"), "z": ("m", "m - z in [1, 9]")}

CASES = [
    # places from indices, and back
    ("(x * n + y) floordiv n", "x", "y"),
    ("(x * n + y) mod n", "y", "y"),
    ("((x * n + y) * m + z) floordiv (n * m)", "x", "yz"),
    ("((x * n + y) * m + z) floordiv m mod n", "y", "yz"),
    ("((x * n + y) * m + z) mod (n * m)", "z + y * m", "yz"),
    ("(x * n + y) floordiv (n * m)", "x floordiv m", "y"),
    ("x floordiv n * n + x mod n", "x", ""),
    ("x floordiv (n * m) * (n * m) + x mod (n * m)", "x", ""),
    ("x floordiv (n * m) * n + x floordiv m mod n", "x floordiv m", ""),
    ("x floordiv (n * 4) * n + x floordiv 4 mod n", "x floordiv 4", ""),
    ("(x floordiv (n * m) * m + x floordiv n mod m) * n + x mod n", "x", ""),
    ("x floordiv n mod m * n + x mod n", "x mod (n * m)", ""),
    # digits of digits
    ("x floordiv n floordiv m", "x floordiv (n * m)", ""),
    ("x floordiv 4 floordiv n", "x floordiv (n * 4)", ""),
    ("(x floordiv n + 3) floordiv 4", "(x + n * 3) floordiv (n * 4)", ""),
    ("x mod (n * m) floordiv n", "(x floordiv n) mod m", ""),
    ("x mod (n * m) mod n", "x mod n", ""),
    ("x mod n floordiv n", "0", ""),
    ("(x mod n * y + z mod n) mod n", "(z + x * y) mod n", ""),
    # common factors, rests below them, multiples
    ("(x * n) floordiv (n * m)", "x floordiv m", ""),
    ("(x * 4 + 3) floordiv (n * 4)", "x floordiv n", ""),
    ("(x * 4 + z) mod (n * 4)", "z + (x mod n) * 4", ""),
    ("(x * n + y mod n) mod (n * 4)", "y mod n + n * (x mod 4)", ""),
    ("(n * n + n) floordiv n", "n + 1", ""),
    ("(n * n - 1) floordiv (n + 1)", "n - 1", ""),
    ("(x * (n * 4 + 4) + z * (n + 1) + y) floordiv (n + 1)", "x * 4 + z + y floordiv (n + 1)", ""),
    # sizes rounded up, and what is missing to a multiple
    ("(x + n - 1) floordiv n * n - x", "(-x) mod n", ""),
    ("(x - x mod n) floordiv n", "x floordiv n", ""),
    ("(n - 1 - x) floordiv n", "-(x floordiv n)", ""),
    ("x floordiv -n", "(-x) floordiv n", ""),
    ("x mod -n", "x mod n", ""),
    # clamps
    ("min(x floordiv n, y floordiv n)", "min(x, y) floordiv n", ""),
    ("max(x * n, y * n)", "n * max(x, y)", ""),
    ("min(-x * n, -y * n)", "-(n * max(x, y))", ""),
    ("min(x mod n, n - 1)", "x mod n", ""),
    ("max(x mod n, n)", "n", ""),
    ("max((x + n - 1) floordiv n * n, x)", "-(n * ((-x) floordiv n))", ""),
]


def with_domain(result: str, inside: str) -> str:
    """A map of all variables."""
    bounds = [f"{v} in [{low}, {high}]" for v, (low, high) in BOUNDS.items()]
    return f"({', '.join(BOUNDS)}) -> ({result}), domain: {', '.join([*bounds, *(INSIDE[v][1] for v in inside)])}"


def same_values(before: str, after: str) -> None:
    written, simplified = read(before), read(after)
    for point in itertools.product(*(range(low, high + 1) for low, high in BOUNDS.values())):
        named = dict(zip(BOUNDS, point, strict=True))
        assert written.contains(named) == simplified.contains(named)
        if written.contains(named):
            assert written.at(named) == simplified.at(named), point


@pytest.mark.parametrize(("before", "after", "inside"), CASES, ids=[case[0] for case in CASES])
def test_sizes_may_be_variables(before: str, after: str, inside: str) -> None:
    text = with_domain(before, inside)
    simplified, certificate = ix.IndexingMap.parse(text).simplify(certificate=True)
    assert str(simplified).partition(") -> (")[2].partition("), domain:")[0] == after
    assert certificate.check()
    same_values(text, str(simplified))


def size(rng: random.Random) -> str:
    return rng.choice(["n", "m", "n * m", "n * 2", "4", "(n + 1)", "(n * 2 + 2)", "-n", "m * n * 2"])


def term(rng: random.Random) -> str:
    return f"{rng.choice('xxyzn')} * {rng.choice([1, 1, 2, 4, -1, -3])} + {rng.choice([0, 0, 1, -1, 3])}"


def dividend(rng: random.Random) -> str:
    kind = rng.choice(["{0}", "{0}", "({0}) mod ({1})", "({0}) floordiv ({1})", "min({0}, {2})", "({0}) * {1}"])
    return kind.format(term(rng), size(rng), term(rng))


def random_result(rng: random.Random) -> str:
    u, v, a, b = size(rng), size(rng), dividend(rng), dividend(rng)
    forms = [
        f"({a}) floordiv ({u} * {v}) * ({v}) + ({a}) floordiv ({u}) mod ({v})",
        f"({a}) floordiv ({u}) mod ({v}) * ({u}) + ({a}) mod ({u})",
        f"(({a}) * ({u}) + ({b}) mod ({u})) floordiv ({u} * {v})",
        f"(({a}) * ({u}) + ({b}) mod ({u})) mod ({u} * {v})",
        f"(({a}) + {u} - 1) floordiv ({u}) * ({u}) - ({a})",
        f"(({a}) - ({a}) mod ({u}) + {b}) floordiv ({u})",
        f"min(({a}) floordiv ({u}), ({b}) floordiv ({u}))",
        f"max(({a}) * ({u}), ({b}) * ({u}))",
        f"(({a}) mod ({u} * {v}) * ({b}) + {b}) mod ({u})",
        f"({a}) floordiv ({u}) floordiv ({v}) - ({b}) mod ({u} * {v}) floordiv ({u})",
        f"({u} - 1 - ({a})) floordiv ({u}) + ({b}) mod ({u}) - {u}",
    ]
    return rng.choice(forms)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32))
def test_random_places_keep_their_values(seed: int) -> None:
    rng = random.Random(seed)
    # Sizes that may be 0 or negative: then nothing of the above holds without a condition.
    low, high = rng.choice([(1, 5), (-2, 3), (0, 3), (-4, -1)])
    bounds = f"x in [-6, 6], y in [0, 4], z in [0, 2], n in [{low}, {high}], m in [{low}, {high}]"
    m = ix.IndexingMap.parse(f"(x, y, z, n, m) -> ({random_result(rng)}), domain: {bounds}")
    simplified = m.simplify()
    assert str(simplified.simplify()) == str(simplified)
    written, read_back = read(str(m)), read(str(simplified))
    for _ in range(120):
        point = (
            rng.randint(-6, 6),
            rng.randint(0, 4),
            rng.randint(0, 2),
            rng.randint(low, high),
            rng.randint(low, high),
        )
        named = dict(zip(BOUNDS, point, strict=True))
        assert written.contains(named) == read_back.contains(named), point
        assert not written.contains(named) or written.at(named) == read_back.at(named), point
