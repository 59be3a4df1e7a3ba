"""The time of a kernel in a loop: the mean of its runs, of which later ones find in caches what those before left there."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from indexing.device.record import Device
from indexing.lazy import np
from indexing.model.instruction_time import KernelTime, inlined, repeated
from indexing.runtime.compiled_loops import MIN_LAUNCHES

if TYPE_CHECKING:
    from indexing.model.prediction import Predictions


@dataclass(frozen=True, slots=True)
class LoopRuns:
    """The runs of a kernel in a loop: so many `times`, and the bytes of memory that a turn of the loop moves."""

    times: int
    turn_bytes: float

    def first_and_later(self, once: KernelTime, device: Device) -> tuple[KernelTime, KernelTime]:
        """The first run and each later one, where a kernel alone takes `once`."""
        later = repeated(once, device, self.turn_bytes)
        if self.times >= MIN_LAUNCHES:
            later = inlined(later, device)
            return later, later
        return once, later

    def mean(self, first: float, later: float) -> float:
        """The mean of the first run and the later ones."""
        return later + (first - later) / self.times

    def seconds(self, once: KernelTime, device: Device) -> float:
        """The mean seconds of the runs of a kernel that alone takes `once`."""
        first, later = self.first_and_later(once, device)
        return self.mean(first.seconds or 0.0, later.seconds or 0.0)

    def mean_of_plans(self, predictions: Predictions) -> Predictions:
        """Predictions whose times are the means of these runs."""
        device, demands = predictions.device, predictions.demands
        seconds, limits = [], []
        for row in range(len(predictions)):
            alone = KernelTime(float(predictions.time[row]), demand={n: float(d[row]) for n, d in demands.items()})
            first, later = self.first_and_later(alone, device)
            seconds.append(self.mean(first.seconds or 0.0, later.seconds or 0.0))
            limits.append(later.limit or predictions.limit[row])
        return replace(predictions, time=np.array(seconds), limit=np.array(limits))
