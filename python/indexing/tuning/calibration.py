"""Calibration: the model's constants are fitted to the times of a corpus of fusions, with several plans each, on a device."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from indexing._core import predict_times
from indexing.arguments import integer, of_type, optional, takes
from indexing.device.detect import chosen_device
from indexing.device.record import Device, DeviceLike
from indexing.errors import IndexingError
from indexing.executable.devices import device_of_dialect
from indexing.hlo import Computation, parse
from indexing.kernels import emit_fused, knobs_of
from indexing.lazy import np
from indexing.model.prediction import Predictions, predict
from indexing.tuning.conditions import Conditions
from indexing.tuning.measurement import Benchmark
from indexing.tuning.tuner import device_here

if TYPE_CHECKING:
    from numpy.typing import NDArray


#: The figures that are fitted, by the part of the device that has them.
FITTED = (
    *(("memory", "reached"), ("memory", "l2_bandwidth"), ("memory", "latency")),
    *(("rates", "operations"), ("rates", "launch"), ("rates", "block")),
)
STEPS = (0.25, 0.5, 0.8, 0.97, 0.995, 1.005, 1.03, 1.25, 2.0, 4.0)  # factors that are tried on each constant
MAX_ROUNDS = 60
MAX_CHANGE = 50.0  # a constant's largest factor; one that the measurements do not determine would move beyond

_ADD = "add { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT c = f32[] add(a, b) }\n"


@dataclass(frozen=True, slots=True)
class Point:
    """One plan of one fusion: the measured seconds, and those that the model predicts before and after the fit."""

    fusion: str
    plan: dict[str, int]
    measured: float
    before: float
    after: float


@dataclass(frozen=True, slots=True)
class Calibration:
    """The `device` with fitted figures, which `predict(device=...)` takes, and the points that they were fitted to."""

    device: Device
    points: tuple[Point, ...]

    @property
    def correlation(self) -> float:
        """Spearman's rank correlation of predicted and measured times over all points; 1 if their order is the same."""
        return rank_correlation([p.after for p in self.points], [p.measured for p in self.points])

    @property
    def correlation_before(self) -> float:
        """The rank correlation with the rates before the fit."""
        return rank_correlation([p.before for p in self.points], [p.measured for p in self.points])

    @property
    def of_fusions(self) -> dict[str, tuple[float, float]]:
        """The rank correlations over the plans of each fusion: before the fit, and after it."""
        correlations = {}
        for name in dict.fromkeys(p.fusion for p in self.points):
            rows = [p for p in self.points if p.fusion == name]
            measured = [p.measured for p in rows]
            before, after = [p.before for p in rows], [p.after for p in rows]
            correlations[name] = rank_correlation(before, measured), rank_correlation(after, measured)
        return correlations

    def report(self) -> str:
        """The fitted constants, the correlations, and a line for each point."""
        before, after = (float(np.median(part)) for part in zip(*self.of_fusions.values(), strict=True))
        lines = [
            f"{self.device}: rank correlation {self.correlation:.3f}, before the fit {self.correlation_before:.3f}",
            f"of the plans of one fusion, median: {after:.3f}, before the fit {before:.3f}",
        ]
        lines += [f"  {part}.{name} = {_figure(self.device, part, name):.4g}" for part, name in FITTED]
        for p in self.points:
            plan = ", ".join(f"{n}={v}" for n, v in p.plan.items())
            lines.append(f"{p.fusion:12} {p.measured * 1e6:10.1f} us measured {p.after * 1e6:10.1f} predicted  {plan}")
        return "\n".join(lines)


@takes(device=optional(of_type(Device, str)), plans=integer, seed=integer)
def calibrate(device: DeviceLike = None, plans: int = 5, seed: int = 0) -> Calibration:
    """Fit the figures of a device to `plans` plans of each fusion of a corpus, measured on this machine's device.

    `device` is "cpu", or the name of a GPU; None means a GPU if there is one. Takes some seconds for each fusion. Raises
    IndexingError if the device is not available.
    """
    if plans < 1:
        raise IndexingError(f"plans is at least 1 a fusion; got {plans}")
    chosen = device_here() if device is None else chosen_device(device)
    return fitted(chosen, list(measured_times(chosen, corpus(), plans, seed)))


def measured_times(
    described: Device, fusions: Iterable[tuple[str, Computation]], plans: int, seed: int
) -> Iterator[tuple[str, Predictions, NDArray[np.float64]]]:
    """The predictions and the times of each fusion, one for each plan."""
    device = device_of_dialect(described.dialect)
    for name, computation in fusions:
        space = knobs_of(computation, described)
        columns = {n: np.array([space.default[n], *c]) for n, c in space.sample(plans - 1, seed).items()}
        benchmark = Benchmark(computation, device, Conditions(seed))
        rows = [{n: int(c[k]) for n, c in columns.items()} for k in range(plans)]
        times = [benchmark.timing(emit_fused(computation, described, **row)).seconds for row in rows]
        yield name, predict(computation, columns, described), np.array(times)


def fitted(device: Device, measured: Sequence[tuple[str, Predictions, NDArray[np.float64]]]) -> Calibration:
    """The rates with the least sum of squared logarithmic errors, found one constant after another."""
    demands = [np.concatenate(parts) for parts in zip(*(p.demands.values() for _, p, _ in measured), strict=True)]
    times = np.concatenate([t for _, _, t in measured])
    before = predict_times(device.model_constants, demands)[3]

    def error(candidate: Device) -> float:
        return float((np.log(predict_times(candidate.model_constants, demands)[3] / times) ** 2).sum())

    best, least = device, error(device)
    for _ in range(MAX_ROUNDS):
        start = least
        for part, name in FITTED:
            for factor in STEPS:
                value = _figure(best, part, name) * factor
                if not 1 / MAX_CHANGE <= value / (_figure(device, part, name) or 1.0) <= MAX_CHANGE:
                    continue
                candidate = replace(best, **{part: replace(getattr(best, part), **{name: value})})
                if (with_candidate := error(candidate)) < least:
                    best, least = candidate, with_candidate
        if least == start:
            break
    after = predict_times(best.model_constants, demands)[3]
    plans = [(name, p.plan(k)) for name, p, _ in measured for k in range(len(p))]
    rows = zip(plans, times.tolist(), before.tolist(), after.tolist(), strict=True)
    return Calibration(best, tuple(Point(name, plan, *seconds) for (name, plan), *seconds in rows))


def _figure(device: Device, part: str, name: str) -> float:
    return float(getattr(getattr(device, part), name))


def rank_correlation(one: Sequence[float], other: Sequence[float]) -> float:
    """Spearman's rank correlation. Equal values, and those that differ by rounding alone, have their mean rank; the result is 0
    if all values of one side are equal.
    """
    a, b = _ranks(np.asarray(one)), _ranks(np.asarray(other))
    a, b = a - a.mean(), b - b.mean()
    scale = float(np.sqrt((a * a).sum() * (b * b).sum()))
    return float((a * b).sum()) / scale if scale else 0.0


def _ranks(values: NDArray[np.float64]) -> NDArray[np.float64]:
    rounded = [float(f"{value:.12g}") for value in values.tolist()]
    _, index, counts = np.unique(rounded, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    ranks: NDArray[np.float64] = (last - (counts - 1) / 2)[index]
    return ranks


def corpus() -> Iterator[tuple[str, Computation]]:
    """Fusions of several sizes that move, reduce, or compute elements."""
    for name, text in _TEXTS.items():
        yield name, parse(text).entry


def _unary(opcode: str, rows: int, columns: int) -> str:
    shape = f"f32[{rows},{columns}]"
    return f"ENTRY f {{ p = {shape} parameter(0)\n ROOT n = {shape} {opcode}(p) }}"


def _transposed(rows: int, columns: int) -> str:
    return f"""ENTRY f {{ p = f32[{rows},{columns}] parameter(0)
      ROOT t = f32[{columns},{rows}] transpose(p), dimensions={{1,0}} }}"""


def _reduced(rows: int, columns: int, dimension: int) -> str:
    return f"""{_ADD}ENTRY f {{ p = f32[{rows},{columns}] parameter(0)
      z = f32[] constant(0)
      ROOT r = f32[{columns if dimension == 0 else rows}] reduce(p, z), dimensions={{{dimension}}}, to_apply=add }}"""


_TEXTS = {
    "small copy": _unary("negate", 16, 64),
    "copy": _unary("negate", 1024, 1024),
    "large copy": _unary("negate", 4096, 1024),
    "exponential": _unary("exponential", 1024, 1024),
    "tangent": _unary("tanh", 1024, 1024),
    "transpose": _transposed(1000, 1100),
    "tall transpose": _transposed(65536, 16),
    "rows": _reduced(1024, 1024, 1),
    "columns": _reduced(1024, 1024, 0),
    "long rows": _reduced(8, 131072, 1),
}
