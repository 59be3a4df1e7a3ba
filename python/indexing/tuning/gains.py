"""The gain of a plan over the default one, from samples that were taken in turns."""

from __future__ import annotations

from collections.abc import Sequence
from math import comb, inf
from statistics import median

from indexing.runtime.plan_store import Gain

CONFIDENCE = 0.95
MIN_GAIN = 1.02  # smaller ones don't survive another process, whose memory lies elsewhere


def gain_of(default: Sequence[float], plan: Sequence[float]) -> Gain:
    """The median of the ratios of samples taken one after the other, with a confidence interval of 95 %.

    Its ends are order statistics of the ratios: how many of n ratios lie above their true median is binomial, whatever the
    distribution of times is. Of fewer than six pairs, nothing is certain.
    """
    ratios = sorted(d / p for d, p in zip(default, plan, strict=True))
    beyond = _ratios_beyond(len(ratios))
    return Gain(median(ratios), ratios[beyond - 1] if beyond else 0.0, ratios[-beyond] if beyond else inf)


def is_certain(gain: Gain) -> bool:
    """Whether a plan is faster than the default one, by enough to be worth a choice."""
    return gain.low >= MIN_GAIN


def _ratios_beyond(count: int) -> int:
    """The number of ratios at each end, the last one included, that lie beyond the interval."""
    tail, k = 0.0, 0
    while k < count and (tail := tail + comb(count, k) / 2**count) <= (1 - CONFIDENCE) / 2:
        k += 1
    return k
