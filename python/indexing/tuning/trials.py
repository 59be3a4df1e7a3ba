"""The result of a search: its trials, the fastest plan, tables and pictures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING

from indexing.cached import cached_property
from indexing.display import aligned, count_text, shown
from indexing.errors import IndexingError
from indexing.extras import missing_extra
from indexing.hlo import Instruction
from indexing.runtime.plan_store import NO_GAIN, Gain, Measured

if TYPE_CHECKING:
    from indexing.device.record import Device
    from indexing.hlo import Computation
    from indexing.hlo.program_like import Part
    from indexing.kernels.knob_space import KnobSpace
    from indexing.tuning.search import Plan


@dataclass(frozen=True)
class TuningTarget:
    """The target of `tune`: a fusion, or the kernels that `compile` makes of a program."""

    part: Part
    is_fusion: bool
    device: Device

    @property
    def name(self) -> str:
        """The name of the part, with its computation: instructions of different computations may have equal names."""
        if isinstance(self.part, Instruction):
            return f"{self.part.computation.name}/{self.part.name}"
        return self.part.name

    @cached_property
    def computations(self) -> list[Computation]:
        """The computation of each kernel that has more than one plan."""
        from indexing.kernels import fused_computation, knobs_of
        from indexing.planning.program import planned_kernels

        if self.is_fusion:
            return [fused_computation(self.part)]
        computations = (k.computation for k in planned_kernels(self.part.module, self.device))
        return [c for c in computations if knobs_of(c, self.device).size > 1]


@dataclass(frozen=True, slots=True)
class Trial:
    """One plan of a search: its predicted and its measured seconds; `detail` is the reason if it was not measured."""

    plan: Plan
    predicted: float
    measured: Measured

    @property
    def seconds(self) -> float | None:
        """The median of samples; None if the plan was not measured."""
        return self.measured.seconds


@dataclass(frozen=True, slots=True)
class Tuning:
    """The result of a search: `trials` in the order in which they were tried, the first the default plan.

    `key` identifies the fusion, the device and the versions in the store; `name` is that of the computation, `knobs` are those
    of `emitter`. The fusion is kernel `number` of `target`.
    """

    key: str
    name: str
    emitter: str
    knobs: tuple[str, ...]
    device: Device
    trials: tuple[Trial, ...]
    target: TuningTarget = field(compare=False, repr=False)
    number: int = 0

    @property
    def computation(self) -> Computation:
        """The computation of its kernel; if the result came from a store, it is planned on first use."""
        return self.target.computations[self.number]

    @property
    def space(self) -> KnobSpace:
        """The knobs of its kernel."""
        from indexing.kernels import knobs_of

        return knobs_of(self.computation, self.target.device)

    @property
    def best(self) -> Plan:
        """The fastest plan whose gain over the default is certain, else the default one.

        Raises IndexingError if no plan could be measured.
        """
        return self._best.plan

    @property
    def gain(self) -> Gain:
        """The default plan's time divided by the best one's, in samples of their own: the median, and the ends of a confidence
        interval of 95 %. 1 if the default is the best; infinite if the default could not be measured.
        """
        return self._best.measured.gain or NO_GAIN

    @property
    def _best(self) -> Trial:
        compared = [(t.measured.gain.median, t) for t in self.trials if t.measured.gain is not None]
        if not compared:
            raise IndexingError(f"no plan of {self.name} could be measured: {self.trials[0].measured.detail}")
        return max(compared, key=lambda pair: pair[0])[1]

    def cells(self) -> list[list[str]]:
        """A header, then a row for each trial: the fastest first, those without a time last, with the reason."""
        names = self.knobs
        ordered = sorted(self.trials, key=lambda t: (t.seconds is None, t.seconds or 0.0))
        head = [*names, "predicted us", "measured us", "spread us", "problem"]
        return [head, *([str(t.plan[n]) for n in names] + _cells(t) for t in ordered)]

    def table(self) -> str:
        """`cells` as lines of text."""
        return "\n".join(aligned(self.cells()))

    def __repr__(self) -> str:
        """The fusion, and the gain of the best plan; `print` shows the table."""
        measured = sum(t.seconds is not None for t in self.trials)
        gain = f": {self.best}, {gain_text(self.gain)}" if measured else ""
        return f"<{count_text(measured, 'plan')} of {self.name} measured on {self.device}{gain}>"

    def __str__(self) -> str:
        """`table`."""
        return self.table()

    def _repr_html_(self) -> str | None:
        return shown(self, "trials_table")

    def plot(self, path: str | Path) -> None:
        """Write a picture: times by trial with the best so far, and predicted against measured times. Needs matplotlib."""
        _write_picture(self.name, [(t.predicted, t.seconds) for t in self.trials], Path(path))

    def to_kernel_tuner(self) -> dict[str, object]:
        """The arguments with which Kernel Tuner searches these plans: `kernel_tuner.tune_kernel(**tuning.to_kernel_tuner())`.

        Source and problem size are functions of the knobs; the number of threads of a block is the parameter `block_size_x`,
        which a restriction makes consistent with the others. The kernel's arguments are those with which plans are measured;
        plans whose kernels have other arguments than the default's are left out. Kernels in C run on one core.
        """
        from indexing.tuning.kernel_tuner import tune_kernel_arguments

        return tune_kernel_arguments(self.computation, self.device)


def _cells(t: Trial) -> list[str]:
    m = t.measured
    predicted = f"{t.predicted * 1e6:.1f}"
    if m.seconds is None:
        return [predicted, "", "", f"{m.state}: {m.detail}"[:80]]
    return [predicted, f"{m.seconds * 1e6:.1f}", f"{(m.spread or 0.0) * 1e6:.1f}", ""]


def gain_text(gain: Gain) -> str:
    """A gain in words."""
    if gain == NO_GAIN:
        return "the default, which no plan is certainly faster than"
    if gain.median == inf:
        return "where the default can't be measured"
    return f"{gain.median:.2f} times as fast as the default ({gain.low:.2f} to {gain.high:.2f})"


def _write_picture(title: str, trials: Sequence[tuple[float, float | None]], path: Path) -> None:
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
