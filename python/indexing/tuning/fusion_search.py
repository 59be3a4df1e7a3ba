"""The search for one fusion: proposed plans are measured, and each result is stored at once."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from math import inf
from typing import TYPE_CHECKING, TypeAlias

from indexing._core import __version__
from indexing.executable.devices import device_of_dialect
from indexing.kernels import emit_fused, knobs_of
from indexing.model.prediction import predict
from indexing.runtime.plan_store import NO_GAIN, FusionRow, Gain, Measured, Store, plan_text
from indexing.runtime.ray_cluster import connected
from indexing.tuning.bench import Bench, ClusterBench, LocalBench
from indexing.tuning.gains import gain_of, is_certain
from indexing.tuning.measurement import timing_of
from indexing.tuning.search import candidates, promising_plans, proposals
from indexing.tuning.stored_searches import Request, row_of_plan, stored_trials
from indexing.tuning.trials import Trial, Tuning, TuningTarget

if TYPE_CHECKING:
    from indexing.hlo import Computation
    from indexing.kernels.kernel_builder import Dim3
    from indexing.tuning.search import Plan, Sampler

#: Called with the number of plans that are done, and the number of all.
Progress: TypeAlias = "Callable[[int, int], None]"
MAX_ATTEMPTS = 2  # a plan that ends its process is tried so often
FINALISTS = 3  # the fastest plans, which are compared with the default one
MAX_PREDICTED = 512  # plans of a grid


def searches(
    store: Store, target: TuningTarget, request: Request, ray: str | None, progress: Progress | None
) -> list[Tuning]:
    """The searches for all kernels of a target. Raises as `tune`."""
    with _benches(request, ray) as bench:
        computations, tunings = target.computations, []
        for k, computation in enumerate(computations):
            on_progress = _report_progress(progress, k * request.budget, len(computations) * request.budget)
            search = FusionSearch(computation, request, bench(computation), store, on_progress)
            tunings.append(search.run(target, k))
        return tunings


def _report_progress(progress: Progress | None, before: int, total: int) -> Callable[[int], None]:
    """Report the number of plans of one search that are done, among those of all searches."""
    return lambda done: None if progress is None else progress(before + done, total)


@contextmanager
def _benches(request: Request, ray: str | None) -> Iterator[Callable[[Computation], Bench]]:
    """A function that returns the bench for a fusion."""
    if ray is None:
        device = device_of_dialect(request.device.dialect)
        yield lambda computation: LocalBench(computation, device, request.device, request.conditions)
        return
    with connected(ray) as cluster:
        yield lambda computation: ClusterBench(cluster, computation, request.device, request.conditions)


class FusionSearch:
    """The state of one call for one fusion, whose plans a bench measures."""

    def __init__(
        self, computation: Computation, request: Request, bench: Bench, store: Store, on_progress: Callable[[int], None]
    ) -> None:
        """Read what the store knows of the fusion."""
        self.computation = computation
        self.request = request
        self.device = request.device
        self.bench = bench
        self.store = store
        self.on_progress = on_progress
        self.done = 0
        self.space = knobs_of(computation, request.device)
        self.key = bench.key
        self.conditions = request.conditions.key
        self.known = store.plans(self.key, self.conditions)
        self.deadline = inf if request.seconds is None else time.monotonic() + request.seconds

    def run(self, target: TuningTarget, number: int) -> Tuning:
        """Search for the kernel `number` of a target, unless the store has the finished search."""
        name, space = self.computation.name, self.space
        trials = stored_trials(self.store, self.key, space.names, self.request, self.known)
        if trials is None:
            self.store.put_fusion(FusionRow(self.key, name, space.emitter, str(self.device), __version__))
            trials = tuple(self._compared(self._trials(self.request.budget, self.request.sampler)))
            self.store.put_search(self.key, str(self.request), [(plan_text(t.plan), t.predicted) for t in trials])
        return Tuning(self.key, name, space.emitter, space.names, self.device, trials, target, number)

    def _trials(self, budget: int, sampler: Sampler) -> list[Trial]:
        columns = candidates(self.space, MAX_PREDICTED, self.request.conditions.seed)
        ranked = promising_plans(predict(self.computation, columns, self.device))
        seed = self.request.conditions.seed
        proposed = proposals(self.space, ranked, sampler, seed, budget, self._seconds, self._made)
        # With "tpe", what is tried next depends on what was measured.
        groups = ([plan] for plan in proposed) if sampler == "tpe" else [list(proposed)]
        plans = [plan for group in groups for plan in self._measure(group)]
        return [Trial(plan, self._predicted(plan), self._row(plan)) for plan in plans]

    def _predicted(self, plan: Plan) -> float:
        return float(predict(self.computation, {n: [v] for n, v in plan.items()}, self.device).time[0])

    def _measure(self, plans: list[Plan]) -> list[Plan]:
        """Measure the plans that have no result yet, while there is time; each is stored before the next one begins.

        Returns those that have one; the first plan of a search is always measured.
        """
        for plan, measured in self.bench.outcomes([p for p in plans if not self._is_known(p)], self._begin):
            self._keep(plan, replace(measured, attempts=max(self._attempts(plan), 1)))
            self.done += 1
            self.on_progress(self.done)
            if time.monotonic() > self.deadline:
                break
        return [p for p in plans if self._is_known(p)]

    def _begin(self, plan: Plan) -> None:
        self._keep(plan, Measured("started", self._attempts(plan) + 1))

    def _attempts(self, plan: Plan) -> int:
        before = self.known.get(plan_text(plan))
        return before.attempts if before is not None else 0

    def _keep(self, plan: Plan, measured: Measured) -> None:
        text = plan_text(plan)
        self.store.put(self.key, text, measured, self.conditions)
        self.known[text] = measured

    def _row(self, plan: Plan) -> Measured:
        return row_of_plan(self.known[plan_text(plan)])

    def _compared(self, tried: list[Trial]) -> list[Trial]:
        """Compare the fastest plans with the default one; the gain of the best is stored if it holds in samples of its own.

        The least of many noisy measurements is too low, so that none of those by which a plan was chosen counts.
        """
        for t in tried:
            if t.measured.gain is not None:  # of a search before
                self._keep(t.plan, replace(t.measured, gain=None))
        right = sorted((t for t in tried if t.seconds is not None), key=lambda t: t.seconds or 0.0)
        default = tried[0]
        finalists = [t for t in right[: FINALISTS + 1] if t is not default][:FINALISTS]
        if default in right:
            self._keep_gain(default.plan, NO_GAIN)
            best = self._best_of(default.plan, [t.plan for t in finalists])
            if best is not None:
                self._keep_if_faster(default.plan, best)
        elif right:
            self._keep_gain(right[0].plan, Gain(inf, inf, inf))
        return [replace(t, measured=self._row(t.plan)) for t in tried]

    def _best_of(self, default: Plan, finalists: list[Plan]) -> Plan | None:
        """The plan of the greatest gain; None if none is faster than the default."""
        first, *others = self.bench.samples([default, *finalists]) if finalists else [[]]
        gains = [(gain_of(first, samples).median, k) for k, samples in enumerate(others)]
        greatest, k = max(gains, default=(0.0, 0))
        return finalists[k] if greatest > 1 else None

    def _keep_if_faster(self, default: Plan, plan: Plan) -> None:
        ours, others = self.bench.samples([default, plan])
        gain = gain_of(ours, others)
        for each, samples in ((default, ours), (plan, others)):
            timing = timing_of(samples)
            known = self.known[plan_text(each)]
            self._keep(each, replace(known, seconds=timing.seconds, spread=timing.spread))
        if is_certain(gain):
            self._keep_gain(plan, gain)

    def _keep_gain(self, plan: Plan, gain: Gain) -> None:
        self._keep(plan, replace(self.known[plan_text(plan)], gain=gain))

    def _seconds(self, plan: Plan) -> float | None:
        known = self.known.get(plan_text(plan))
        return None if known is None else known.seconds

    def _made(self, plan: Plan) -> tuple[str, Dim3]:
        kernel = emit_fused(self.computation, self.device, **plan)
        return kernel.source, kernel.launch_grid

    def _is_known(self, plan: Plan) -> bool:
        known = self.known.get(plan_text(plan))
        return known is not None and (known.state != "started" or known.attempts >= MAX_ATTEMPTS)
