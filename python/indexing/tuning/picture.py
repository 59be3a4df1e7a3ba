"""A picture of a search: times by trial, and predictions against measurements."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from pathlib import Path

from indexing.errors import IndexingError
from indexing.extras import missing_extra


def write_picture(title: str, trials: Sequence[tuple[float, float | None]], path: Path) -> None:
    """Write the picture in the format of the suffix of `path`. A trial is its predicted seconds, and its measured ones."""
    try:
        from matplotlib.figure import Figure
    except ImportError as failure:
        raise IndexingError(missing_extra("a picture of a search", "tune", failure)) from failure
    measured = [(k, guess * 1e6, seconds * 1e6) for k, (guess, seconds) in enumerate(trials) if seconds is not None]
    numbers = [k for k, _, _ in measured]
    times = [seconds for _, _, seconds in measured]
    figure = Figure(figsize=(9, 4), layout="constrained")
    by_trial, by_prediction = figure.subplots(1, 2)
    by_trial.plot(numbers, times, ".", label="measured")
    by_trial.step(numbers, list(accumulate(times, min)), where="post", label="best so far")
    by_trial.set(xlabel="trial", ylabel="us", yscale="log", title=title.replace("$", r"\$"))
    by_trial.legend()
    by_prediction.plot([predicted for _, predicted, _ in measured], times, ".")
    by_prediction.set(xlabel="predicted us", ylabel="measured us", xscale="log", yscale="log")
    figure.savefig(path)
