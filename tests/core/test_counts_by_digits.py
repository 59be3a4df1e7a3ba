"""Counts of points and of results where the variables are digits of numbers: reshapes, transposes, threads of a kernel."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import indexing as ix
from random_digits import digit_map

THREADS = "th + bl * 128 + s * 135168"  # the place of an element in an array, by thread, block and step
THREAD_DOMAIN = "th in [0, 127], bl in [0, 1055]"


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32))
def test_counts_are_those_of_all_points(seed: int) -> None:
    random_map = digit_map(random.Random(seed))
    rows = random_map.rows()
    different = len(np.unique(rows, axis=0)) if len(rows) else 0
    m = ix.IndexingMap.parse(random_map.text)
    assert (m.count(), m.image_count(), m.is_injective()) == (len(rows), different, different == len(rows))


@pytest.mark.parametrize(
    ("text", "points", "different"),
    [
        # A reshape from 5440 x 640 to 17 x 2048 x 100: each element once.
        (
            "(d0, d1) -> (d1 floordiv 320, ((d1 mod 320) * 640 + d0) floordiv 100, (d1 * 640 + d0) mod 100), "
            "domain: d0 in [0, 639], d1 in [0, 5439]",
            5440 * 640,
            5440 * 640,
        ),
        # The digits of 2^25 elements in another order, of more threads than there are elements.
        (
            f"(th, bl)[s] -> (((({THREADS}) floordiv 1024) mod 32) * 1048576 + (({THREADS}) floordiv 32768) * 1024 "
            f"+ ({THREADS}) mod 1024), domain: {THREAD_DOMAIN}, s in [0, 248], {THREADS} in [0, 33554431]",
            2**25,
            2**25,
        ),
        # The middle digit is restricted, the highest has an incomplete period: 10 * 1013 + 7 values of it.
        (
            f"(th, bl)[s] -> (({THREADS}) mod 384), domain: {THREAD_DOMAIN}, s in [0, 28], "
            f"({THREADS}) floordiv 384 in [0, 10136], (({THREADS}) floordiv 384) mod 1013 in [5, 1008]",
            (10 * 1004 + 2) * 384,
            384,
        ),
        # A sum of two variables matters, of which 300,000 + 400,000 - 1 values occur; 7 digits of it are dropped.
        (
            "(d0, d1) -> ((d0 + d1) floordiv 1000, (d0 + d1) mod 7), domain: d0 in [0, 299999], d1 in [0, 399999]",
            300_000 * 400_000,
            700 * 7,
        ),
        # 873,087,700 is 1009 * 1700 * 509: each digit counts with another sign or weight, and no value occurs twice.
        (
            "(d0) -> (((d0 floordiv 509) mod 1700) * 1018 - d0), domain: d0 in [0, 873087699]",
            873_087_700,
            873_087_700,
        ),
        # 512 is -138 modulo 650: of 16384 * 650 numbers, all but 5 in 650.
        (
            "(d0, d1) -> (d1 * 512 + d0), domain: d0 in [0, 511], d1 in [0, 20799], "
            "((d0 - d1 * 138) floordiv 5) mod 130 in [1, 129]",
            16384 * 645,
            16384 * 645,
        ),
        # An equation determines a variable.
        (
            "(d0, d1) -> (d0 - d1 * 1024), domain: d0 in [0, 9999999], d1 in [0, 9765], "
            "d1 - d0 floordiv 1024 in [0, 0]",
            10_000_000,
            1024,
        ),
    ],
)  # fmt: skip
def test_counts_of_large_domains(text: str, points: int, different: int) -> None:
    m = ix.IndexingMap.parse(text)
    assert (m.count(), m.image_count(), m.is_injective()) == (points, different, points == different)


@pytest.mark.parametrize("row", [49, 196])
def test_results_that_are_different_though_nothing_counts_them(row: int) -> None:
    """Threads take four neighbours each of a channel of several images; an incomplete digit is completed."""
    place = f"t * 4 + b * {row * 4} + s * 4096 + v + ((t + s * 1024) floordiv {row}) * {row * 4 * 99}"
    m = ix.IndexingMap.parse(
        f"(t, b)[s, v] -> ({place}), domain: t in [0, 1023], b in [0, 99], s in [0, 18], v in [0, 3]"
    )
    assert m.is_injective()


def test_rows_that_no_block_holds_whole() -> None:
    """133 million threads take rows of 127: no two of them write one element, but of rows of half the number some do."""
    domain = "t in [0, 127], b in [0, 1040383]"
    m = ix.IndexingMap.parse(f"(t, b) -> ((t + b * 128) floordiv 127, (t + b) mod 127), domain: {domain}")
    assert m.is_injective()
    m = ix.IndexingMap.parse(f"(t, b) -> ((t + b * 128) floordiv 254, (t + b) mod 127), domain: {domain}")
    assert not m.is_injective()
