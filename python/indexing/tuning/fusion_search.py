"""The search for one fusion: proposed plans are measured, and each result is stored at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

from indexing.executable.devices import device_of_dialect
from indexing.kernels import emit_fused, knobs_of
from indexing.model.prediction import predict
from indexing.runtime.plan_store import Measured, Store, plan_text
from indexing.runtime.ray_cluster import connected
from indexing.tuning.bench import Bench, ClusterBench, LocalBench
from indexing.tuning.search import candidates, promising_plans, proposals
from indexing.tuning.stored_searches import Request, row_of_plan, stored_trials
from indexing.tuning.trials import Trial, Tuning, TuningTarget

if TYPE_CHECKING:
    from indexing.hlo import Computation
    from indexing.kernels.kernel_builder import Dim3
    from indexing.tuning.search import Plan, Sampler

__all__ = ["Progress", "searches"]

#: Called with the number of plans that are done, and the number of all.
Progress: TypeAlias = "Callable[[int, int], None]"
MAX_ATTEMPTS = 2  # of a plan that ends its process
FINALISTS = 3  # the fastest plans, which are measured once more
MAX_PREDICTED = 512  # plans of a grid


def searches(
    store: Store, target: TuningTarget, request: Request, ray: str | None, progress: Progress | None
) -> list[Tuning]:
    """The searches for all kernels of a target. Raises as `tune`."""
    with _benches(request, ray) as bench:
        computations, found = target.computations, []
        for k, computation in enumerate(computations):
            on_progress = _report_progress(progress, k * request.budget, len(computations) * request.budget)
            search = _Search(computation, request, bench(computation), store, on_progress)
            found.append(search.run(target, k))
        return found


def _report_progress(progress: Progress | None, before: int, total: int) -> Callable[[int], None]:
    """Report the number of plans of one search that are done, among those of all searches."""
    return lambda done: None if progress is None else progress(before + done, total)


@contextmanager
def _benches(request: Request, ray: str | None) -> Iterator[Callable[[Computation], Bench]]:
    """A function that returns the bench for a fusion."""
    if ray is None:
        device = device_of_dialect(request.device.dialect)
        yield lambda computation: LocalBench(computation, device, request.device, request.seed)
        return
    with connected(ray) as cluster:
        yield lambda computation: ClusterBench(cluster, computation, request.device, request.seed)


class _Search:
    """The state of one call for one fusion."""

    def __init__(
        self, computation: Computation, request: Request, bench: Bench, store: Store, on_progress: Callable[[int], None]
    ) -> None:
        self.computation = computation
        self.request = request
        self.device = request.device
        self.bench = bench
        self.store = store
        self.on_progress = on_progress
        self.done = 0
        self.space = knobs_of(computation, request.device)
        self.key = bench.key
        self.known = store.found(self.key)

    def run(self, target: TuningTarget, number: int) -> Tuning:
        names = self.space.names
        trials = stored_trials(self.store, self.key, names, self.request, self.known)
        if trials is None:
            trials = tuple(self._measured_again(self._trials(self.request.budget, self.request.sampler)))
            self.store.put_search(self.key, str(self.request), [(plan_text(t.plan), t.predicted) for t in trials])
        name, emitter = self.computation.name, self.space.emitter
        return Tuning(self.key, name, emitter, names, self.device, trials, target, number)

    def _trials(self, budget: int, sampler: Sampler) -> list[Trial]:
        columns = candidates(self.space, MAX_PREDICTED, self.request.seed)
        ranked = promising_plans(predict(self.computation, columns, self.device))
        proposed = proposals(self.space, ranked, sampler, self.request.seed, budget, self._seconds, self._made)
        if sampler == "tpe":  # what is tried next depends on what was measured
            plans = []
            for plan in proposed:
                self._measure([plan])
                plans.append(plan)
        else:
            plans = list(proposed)
            self._measure(plans)
        return [Trial(plan, self._predicted(plan), self._found(plan)) for plan in plans]

    def _predicted(self, plan: Plan) -> float:
        return float(predict(self.computation, {n: [v] for n, v in plan.items()}, self.device).time[0])

    def _measure(self, plans: list[Plan]) -> None:
        """Measure the plans that have no result yet; each is stored before the next one begins."""
        for plan, found in self.bench.outcomes([p for p in plans if not self._is_known(p)], self._begin):
            self._keep(plan, replace(found, attempts=max(self._attempts(plan), 1)))
            self.done += 1
            self.on_progress(self.done)

    def _begin(self, plan: Plan) -> None:
        self._keep(plan, Measured("started", self._attempts(plan) + 1))

    def _attempts(self, plan: Plan) -> int:
        before = self.known.get(plan_text(plan))
        return before.attempts if before is not None else 0

    def _keep(self, plan: Plan, found: Measured) -> None:
        text = plan_text(plan)
        self.store.put(self.key, text, found)
        self.known[text] = found

    def _found(self, plan: Plan) -> Measured:
        return row_of_plan(self.known[plan_text(plan)])

    def _measured_again(self, tried: list[Trial]) -> list[Trial]:
        """Measure the fastest plans again, in turns with the default: the least of many noisy measurements is too low."""
        right = sorted((t for t in tried if t.seconds is not None), key=lambda t: t.seconds or 0.0)
        again = [t.plan for t in tried if t in right[:FINALISTS] or (t is tried[0] and t in right)]
        if len(again) > 1:
            for plan, timing in zip(again, self.bench.timings(again), strict=True):
                known = self.known[plan_text(plan)]
                self._keep(plan, replace(known, seconds=timing.seconds, spread=timing.spread))
        return [replace(t, measured=self._found(t.plan)) for t in tried]

    def _seconds(self, plan: Plan) -> float | None:
        known = self.known.get(plan_text(plan))
        return None if known is None else known.seconds

    def _made(self, plan: Plan) -> tuple[str, Dim3]:
        kernel = emit_fused(self.computation, self.device, **plan)
        return kernel.source, kernel.launch_grid

    def _is_known(self, plan: Plan) -> bool:
        known = self.known.get(plan_text(plan))
        return known is not None and (known.state != "started" or known.attempts >= MAX_ATTEMPTS)
