"""Constants of the model fitted to times: of a machine that follows the model, and of this processor."""

import numpy as np
import pytest

import indexing as ix
from indexing.device.detect import find_device
from indexing.device.table import CPU
from indexing.tuning.calibration import Calibration, Point, corpus, fitted, measured_times, rank_correlation


def test_a_machine_that_follows_the_model_is_found_again() -> None:
    h100 = find_device("h100")
    truth = h100.with_memory(bandwidth=h100.memory.bandwidth / 4).with_rates(launch=h100.rates.launch * 5)
    measured = []
    for name, computation in corpus():
        columns = ix.knobs(computation).sample(4, seed=2)
        measured.append((name, ix.predict(computation, columns, h100), ix.predict(computation, columns, truth).time))
    fit = fitted(h100, measured)
    ratios = np.array([p.after / p.measured for p in fit.points])
    assert fit.correlation > 0.99 >= fit.correlation_before - 0.01 and fit.correlation >= fit.correlation_before
    assert np.abs(np.log(ratios)).mean() < 0.3 < np.abs(np.log([p.before / p.measured for p in fit.points])).mean()
    assert fit.device.reached_bandwidth < h100.reached_bandwidth / 2
    assert [p.plan for p in fit.points[:4]] == [measured[0][1].plan(k) for k in range(4)]


def test_correlations_of_each_fusion() -> None:
    """By hand: one whose order the fit mends, one whose order it breaks."""
    times = [
        ("a", 1.0, 9.0, 1.0),
        ("b", 5.0, 1.0, 7.0),
        ("a", 2.0, 8.0, 2.0),
        ("b", 6.0, 2.0, 6.0),
        ("a", 3.0, 7.0, 9.0),
    ]
    points = tuple(Point(name, {}, measured, before, after) for name, measured, before, after in times)
    calibration = Calibration(CPU, points)
    assert calibration.of_fusions["a"] == pytest.approx((-1, 1)) and calibration.of_fusions["b"] == pytest.approx(
        (1, -1)
    )
    assert "of the plans of one fusion, median: 0.000, before the fit 0.000" in calibration.report()


def test_rank_correlation() -> None:
    """By hand, and where ranks are shared."""
    assert rank_correlation([1, 2, 3], [10, 20, 500]) == pytest.approx(1)
    assert rank_correlation([1, 2, 3], [3, 2, 1]) == pytest.approx(-1)
    assert rank_correlation([1, 2, 3, 4], [1, 3, 2, 4]) == pytest.approx(1 - 6 * 2 / (4 * 15))
    assert rank_correlation([1, 1, 2], [5, 6, 7]) == pytest.approx(3**0.5 / 2)
    assert rank_correlation([1, 1], [1, 2]) == 0
    assert rank_correlation([0.3, 0.1 + 0.2, 1], [1, 1, 2]) == pytest.approx(1)


def test_this_processor() -> None:
    fusions = [(name, c) for name, c in corpus() if name in ("small copy", "exponential")]
    actual = fitted(CPU, list(measured_times(CPU, fusions, plans=2, seed=0)))
    assert len(actual.points) == 4 and all(p.measured > 0 for p in actual.points)
    assert actual.device.limits == CPU.limits and actual.device.name == CPU.name and -1 <= actual.correlation <= 1
    assert actual.report().startswith("CPU: rank correlation ") and len(actual.report().splitlines()) == 2 + 6 + 4
    loop = ix.hlo.parse("ENTRY f { p = f32[64] parameter(0)\n ROOT n = f32[64] negate(p) }").entry
    assert (ix.predict(loop, device=actual.device).time > 0).all()
    with pytest.raises(ix.IndexingError, match="plans is at least 1"):
        ix.calibrate("cpu", plans=0)
