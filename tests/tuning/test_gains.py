"""Gains of plans: the interval holds the true ratio as often as it says, whatever the noise."""

import random

import pytest

from indexing.tuning.gains import gain_of, is_certain


def test_the_interval_is_that_of_the_sign_test() -> None:
    """Ranks of a tabulated nonparametric interval of the median: of 9 values the 2nd and the 8th, of 25 the 8th and the 18th."""
    for count, low, high in ((6, 1, 6), (9, 2, 8), (15, 4, 12), (20, 6, 15), (25, 8, 18)):
        actual = gain_of([float(k) for k in range(1, count + 1)], [1.0] * count)
        assert (actual.low, actual.high) == (low, high)


@pytest.mark.parametrize("pairs", [1, 5])
def test_of_few_pairs_nothing_is_certain(pairs: int) -> None:
    assert not is_certain(gain_of([5.0] * pairs, [1.0] * pairs))


@pytest.mark.parametrize("ratio", [0.8, 1.0, 1.3])
def test_the_true_ratio_lies_in_the_interval(ratio: float) -> None:
    """In 95 of 100 cases; noise is common to a pair, skewed, and has outliers."""
    chance = random.Random(7)
    inside = certain = 0
    for _ in range(400):
        load = [1 + chance.expovariate(2) for _ in range(25)]
        noise = [1 + chance.expovariate(20) for _ in range(50)]
        actual = gain_of(
            [ratio * a * n for a, n in zip(load, noise[:25], strict=True)],
            [a * n for a, n in zip(load, noise[25:], strict=True)],
        )
        inside += actual.low <= ratio <= actual.high
        certain += is_certain(actual)
    assert inside >= 0.93 * 400
    assert certain >= 0.99 * 400 if ratio > 1.2 else certain <= 0.025 * 400
