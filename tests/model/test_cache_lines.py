"""Lines that accesses in loops fetch, beside a simulated cache; digits of loops and spans of accesses by their definitions."""

import random
from collections import OrderedDict, defaultdict
from itertools import pairwise, product
from statistics import median

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexing.model.cache_lines import Cache, Level, digits, fetched_by_several, fetched_lines, spans

LINE = 64


def missed(levels: list[Level], length: int, cache: Cache, starts: tuple[int, ...] = (0,)) -> int:
    """The misses of a cache that replaces the line of a set that was used least recently; levels are innermost first. Each turn
    accesses so many bytes from each of the starts on.
    """
    ways = cache.ways or cache.size // cache.line
    count, misses = cache.size // cache.line // ways, 0
    sets: dict[int, OrderedDict[int, None]] = defaultdict(OrderedDict)
    for turn in product(*(range(iterations) for _, iterations in reversed(levels))):
        address = sum(t * distance for t, (distance, _) in zip(turn, reversed(levels), strict=True))
        touched = ((address + s, address + s + length - 1) for s in starts)
        for line in (n for begin, end in touched for n in range(begin // LINE, end // LINE + 1)):
            of_set = sets[line % count]
            misses += line not in of_set
            of_set[line] = None
            of_set.move_to_end(line)
            if len(of_set) > ways:
                of_set.popitem(last=False)
    return misses


def ratio(rng: random.Random) -> float:
    """The lines that the law states for a random nest of loops, over those that a cache misses."""
    length = rng.choice((4, 8, 16, 32, 64))
    distances = (0, length, 4, 64, 68, 128, 256, 1000, 1024, 4096, 4160, 4400, 65536)
    levels = [(rng.choice(distances), rng.choice((2, 3, 8, 16, 30))) for _ in range(rng.randint(1, 3))]
    cache = Cache(rng.choice((4096, 8192)), LINE, rng.choice((4, 8, 0)))
    return fetched_lines(levels, length, length, cache).lines / missed(levels, length, cache)


def test_lines_are_about_those_that_a_cache_misses() -> None:
    rng = random.Random(7)
    ratios = [ratio(rng) for _ in range(300)]
    assert median(ratios) == pytest.approx(1)
    assert sum(0.5 <= r <= 2 for r in ratios) >= 0.93 * len(ratios)
    assert sum(0.9 <= r <= 1.1 for r in ratios) >= 0.7 * len(ratios)


@pytest.mark.parametrize(
    ("levels", "length"),
    [
        ([(64, 100)], 64),  # one after another
        ([(4096, 8), (4, 16)], 4),  # columns that fit into their sets
        ([(4096, 9), (4, 16)], 4),  # one too many
        ([(4160, 30), (4, 16)], 4),  # as many, in sets of their own
        ([(0, 30), (4160, 30), (0, 5)], 4),
        ([(1088, 3), (1088, 20)], 64),  # a window over rows
        ([(64, 200), (0, 3)], 64),  # again, more than the cache holds
        ([(64, 40), (0, 3)], 64),  # again, and all of it is there
    ],
)
def test_lines_of_plain_loops_are_those_that_a_cache_misses(levels: list[Level], length: int) -> None:
    for cache in (Cache(4096, LINE, 8), Cache(4096, LINE)):
        expected = missed(levels, length, cache)
        assert fetched_lines(levels, length, length, cache).lines == pytest.approx(expected), cache


@pytest.mark.parametrize("cache", [Cache(4096, LINE, 8), Cache(16384, LINE, 8), Cache(65536, LINE)])
@pytest.mark.parametrize("starts", [(0, 384, 768), (0, 1536, 3072, 4608), (0, 128), tuple(range(0, 9 * 384, 384))])
def test_taps_of_a_window_fetch_together_if_the_cache_keeps_all_between_them(
    starts: tuple[int, ...], cache: Cache
) -> None:
    levels = [(4, 96), (384, 40), (20480, 3)]
    of_law = fetched_by_several(levels, [(s, 4) for s in starts], cache).lines
    assert 0.9 < of_law / missed(levels, 4, cache, starts) < 1.3


def test_what_loops_leave_out_between_accesses_is_not_fetched() -> None:
    cache, starts = Cache(32768, LINE, 8), (0, 4096, 12288)
    of_law = fetched_by_several([(4, 32)], [(s, 4) for s in starts], cache)
    assert (of_law.lines, of_law.used) == (missed([(4, 32)], 4, cache, starts), 3 * 32 * 4)


def test_bytes_between_elements_are_not_used() -> None:
    cache = Cache(4096, LINE, 8)
    assert fetched_lines([(8, 16), (4096, 3)], 4, 4, cache).used == 4 * 16 * 3
    assert fetched_lines([(4, 16), (32, 3)], 4, 4, cache).used == 128  # rows that overlap
    assert (
        fetched_lines([(64, 200), (4, 3)], 4, 4, cache).used == 4 * 200 * 3
    )  # each time from lines that are fetched again


def test_runs_beyond_those_that_are_fetched_ahead_begin_anew() -> None:
    few, many = (fetched_lines([(4160, rows), (64, 10)], 64, 64, Cache(1 << 20, LINE)) for rows in (16, 17))
    assert (few.lines, few.runs) == (160, 16)
    assert (many.lines, many.runs) == (170, 170)


@given(
    st.integers(2, 9),
    st.integers(2, 9),
    st.integers(1, 9),
    st.tuples(*[st.integers(-50, 50)] * 3),
)
def test_digits_of_a_loop_have_its_addresses(a: int, b: int, c: int, factors: tuple[int, int, int]) -> None:
    x, y, z = factors

    def address(t: int) -> int:
        return 7 + t % a * x + t // a % b * y + t // (a * b) * z

    addresses = [7]
    for distance, count in digits(address, a * b * c):
        addresses = [first + k * distance for k in range(count) for first in addresses]
    assert addresses[: a * b * c] == [address(t) for t in range(a * b * c)]


def test_a_loop_that_moves_evenly_is_one_digit() -> None:
    assert list(digits(lambda t: 3 * t, 1000)) == [(3, 1000)]
    assert list(digits(lambda _: 5, 10)) == [(0, 10)]
    assert list(digits(lambda t: t % 4 * 8 + t // 4, 32)) == [(8, 4), (1, 8)]


@given(st.lists(st.tuples(st.integers(-200, 200), st.integers(1, 16)), min_size=1, max_size=12), st.integers(0, 64))
def test_spans_hold_all_bytes_and_no_wide_gap(accesses: list[tuple[int, int]], gap: int) -> None:
    used = sorted({byte for first, size in accesses for byte in range(first, first + size)})
    parts = [[used[0]]]
    for before, byte in pairwise(used):
        if byte - before - 1 > gap:
            parts.append([])
        parts[-1].append(byte)
    assert list(spans(accesses, gap)) == [(part[-1] - part[0] + 1, len(part)) for part in parts]
