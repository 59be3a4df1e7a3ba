"""Searches for the fastest plan of a kernel by measurement, kept in a store: what was measured once is known from then on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias, overload

from indexing.analysis.device import Device
from indexing.arguments import integer, of_type, one_of, optional, takes
from indexing.display import shown
from indexing.emitters import emit_fused, fused_computation, knobs_of
from indexing.errors import IndexingError
from indexing.executable.devices import device_of_dialect, has_gpu
from indexing.executable.plan_store import Measured, Store, plan_of, plan_text
from indexing.hlo import Computation, Instruction, Module
from indexing.hlo.program_like import part_of_program, refuse_bare_function
from indexing.runtime.ray_cluster import connected
from indexing.tuning.bench import Bench, ClusterBench, LocalBench
from indexing.tuning.machine import MACHINES, Machine, machine_of
from indexing.tuning.prediction import predict
from indexing.tuning.search import SAMPLERS, Plan, Sampler, candidates, proposals, worth_trying

if TYPE_CHECKING:
    from indexing.emitters.kernel_builder import Dim3
    from indexing.emitters.knob_space import KnobSpace
    from indexing.emitters.targets.target import Dialect
    from indexing.hlo import Program
    from indexing.hlo.program_like import Part
    from indexing.tuning.machine import DeviceLike

__all__ = ["Tried", "Tuning", "tune"]

#: Told how many of how many plans are done.
Progress: TypeAlias = "Callable[[int, int], None]"
MAX_ATTEMPTS = 2  # a plan that ends its process so often is not tried again
FINALISTS = 3  # of the fastest, measured once more
MAX_PREDICTED = 512  # plans of a grid


@dataclass(frozen=True, slots=True)
class Tried:
    """One plan of a search: what was predicted, and what was measured, in seconds; `detail` says why there is no time."""

    plan: Plan
    predicted: float
    measured: Measured

    @property
    def seconds(self) -> float | None:
        """Median of samples; None for a plan without."""
        return self.measured.seconds


@dataclass(frozen=True, slots=True)
class Tuning:
    """The result of a search: `trials` in the order in which they were tried, the first the default plan.

    `key` names the fusion, the device and the versions in the store.
    """

    key: str
    computation: Computation
    space: KnobSpace
    machine: Machine
    trials: tuple[Tried, ...]

    @property
    def best(self) -> Plan:
        """The fastest plan. Raises IndexingError where none could be measured."""
        measured = [t for t in self.trials if t.seconds is not None]
        if not measured:
            raise IndexingError(
                f"no plan of {self.computation.name} could be measured: {self.trials[0].measured.detail}"
            )
        return min(measured, key=lambda t: t.seconds or 0.0).plan

    @property
    def speedup(self) -> float:
        """The default plan's time divided by the best one's."""
        times = {plan_text(t.plan): t.seconds for t in self.trials}
        default, best = times[plan_text(self.trials[0].plan)], times[plan_text(self.best)]
        return default / best if default and best else 1.0

    def cells(self) -> list[list[str]]:
        """A head, then a row a trial, the fastest first, those without a time last, with the problem."""
        names = self.space.names
        ordered = sorted(self.trials, key=lambda t: (t.seconds is None, t.seconds or 0.0))
        head = [*names, "predicted us", "measured us", "spread us", "problem"]
        return [head, *([str(t.plan[n]) for n in names] + _cells(t) for t in ordered)]

    def table(self) -> str:
        """`cells` as lines."""
        rows = self.cells()
        widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
        return "\n".join("  ".join(cell.rjust(w) for cell, w in zip(row, widths, strict=True)).rstrip() for row in rows)

    def __repr__(self) -> str:
        """The fusion, and what the best plan gains; `print` shows the table."""
        measured = sum(t.seconds is not None for t in self.trials)
        gain = f": {self.best}, {self.speedup:.3g} times as fast as the default" if measured else ""
        return f"<{measured} plans of {self.computation.name} measured on {self.machine.name}{gain}>"

    def __str__(self) -> str:
        """`table`."""
        return self.table()

    def _repr_html_(self) -> str | None:
        return shown(self, "trials_table")

    def plot(self, path: str | Path) -> None:
        """Write a picture: time by trial with the best so far, and prediction against measurement. Needs matplotlib."""
        from indexing.tuning.picture import write_picture

        write_picture(self.computation.name, [(t.predicted, t.seconds) for t in self.trials], Path(path))

    def to_kernel_tuner(self) -> dict[str, object]:
        """Kernel Tuner searches the same plans: `kernel_tuner.tune_kernel(**found.to_kernel_tuner())`.

        Source and problem size are functions of the knobs; the threads of a block are the parameter `block_size_x`, which the
        restriction ties to the others. Arguments are those that plans are measured with; plans whose kernels take other
        ones than the default's are left out. Kernels in C run on one core.
        """
        from indexing.tuning.kernel_tuner import tune_kernel_arguments

        return tune_kernel_arguments(self.computation, self.machine)


def _cells(t: Tried) -> list[str]:
    m = t.measured
    predicted = f"{t.predicted * 1e6:.1f}"
    if m.seconds is None:
        return [predicted, "", "", f"{m.state}: {m.detail}"[:80]]
    return [predicted, f"{m.seconds * 1e6:.1f}", f"{(m.spread or 0.0) * 1e6:.1f}", ""]


@overload
def tune(
    fusion: Part,
    budget: int = ...,
    seed: int = ...,
    device: DeviceLike | None = ...,
    sampler: Sampler = ...,
    store: str | Path | None = ...,
    ray: str | None = ...,
    progress: Progress | None = ...,
) -> Tuning: ...
@overload
def tune(
    fusion: Module | tuple[object, ...],
    budget: int = ...,
    seed: int = ...,
    device: DeviceLike | None = ...,
    sampler: Sampler = ...,
    store: str | Path | None = ...,
    ray: str | None = ...,
    progress: Progress | None = ...,
) -> list[Tuning]: ...
@takes(
    fusion=refuse_bare_function,
    budget=integer,
    seed=integer,
    device=optional(of_type(Machine, Device, str)),
    sampler=one_of(*SAMPLERS),
    store=optional(of_type(str, Path)),
    ray=optional(of_type(str)),
)
def tune(
    fusion: Program,
    budget: int = 32,
    seed: int = 0,
    device: DeviceLike | None = None,
    sampler: Sampler = "predicted",
    store: str | Path | None = None,
    ray: str | None = None,
    progress: Progress | None = None,
) -> Tuning | list[Tuning]:
    """The fastest plan of a fusion's kernel on this machine, of `budget` plans that are measured; of a module, or of
    `(function, *arguments)` of JAX, of each of the kernels that `compile` makes of it, those without a choice left out.

    `device` is "cpu", or a GPU by its name; None: a GPU where there is one. The default plan is tried first, then what the
    sampler proposes; plans that can't be launched or are predicted to be hopeless are never compiled. Each kernel's results
    are compared with the reference before it is timed. All is kept in the store (by default in the user's data folder), from
    which an interrupted search goes on, and `compile(..., tuned=True)` takes plans. With `ray` the nodes of the cluster at that
    address measure ("local" begins one), which have devices of one kind; the store stays here. `progress` is told how many of
    how many plans are done.

    Raises IndexingError for a store that can't be used and where the device isn't there, UnsupportedOp where the cluster isn't.
    """
    if budget < 1:
        raise IndexingError(f"budget is a number of plans, at least 1; got {budget}")
    program, one = part_of_program(fusion, "tune: fusion"), isinstance(fusion, Instruction | Computation)
    machine, known = machine_of(device) if device is not None else this_machine(), Store(store)
    with _benches(machine.dialect, seed, ray) as bench:
        parts = [fused_computation(program)] if one else list(_computations(program.module, machine.dialect))
        found = []
        for k, part in enumerate(parts):
            told = _told(progress, k * budget, len(parts) * budget)
            found.append(_Search(part, machine, bench(part), known, seed, told).run(budget, sampler))
        return found[0] if one else found


def _told(progress: Progress | None, before: int, total: int) -> Callable[[int], None]:
    """Tell the number of plans of one search that are done, among all."""
    return lambda done: None if progress is None else progress(before + done, total)


@contextmanager
def _benches(dialect: Dialect, seed: int, ray: str | None) -> Iterator[Callable[[Computation], Bench]]:
    """A function that gives the bench of a fusion."""
    if ray is None:
        device = device_of_dialect(dialect)
        yield lambda computation: LocalBench(computation, device, seed)
        return
    with connected(ray) as cluster:
        yield lambda computation: ClusterBench(cluster, computation, dialect, seed)


def this_machine() -> Machine:
    """The first GPU where there is one, else the processor."""
    return MACHINES["H100"] if has_gpu() else MACHINES["CPU"]


def _computations(module: Module, dialect: Dialect) -> Iterator[Computation]:
    from indexing.executable.program import planned_kernels

    for planned in planned_kernels(module, dialect):
        if knobs_of(planned.computation, dialect).size > 1:
            yield planned.computation


class _Search:
    """The state of one call for one fusion."""

    def __init__(
        self,
        computation: Computation,
        machine: Machine,
        bench: Bench,
        store: Store,
        seed: int,
        told: Callable[[int], None],
    ) -> None:
        self.computation = computation
        self.machine = machine
        self.bench = bench
        self.store = store
        self.seed = seed
        self.told = told
        self.done = 0
        self.space = knobs_of(computation, machine.dialect)
        self.key = bench.key
        self.known = store.found(self.key)

    def run(self, budget: int, sampler: Sampler) -> Tuning:
        request = f"{sampler} {budget} {self.seed} {self.machine!r}"
        before = self.store.search(self.key, request)
        if before is not None and all(plan in self.known for plan, _ in before):
            tried = [Tried(self._plan(text), predicted, self.known[text]) for text, predicted in before]
        else:
            tried = self._measured_again(self._tried(budget, sampler))
            self.store.put_search(self.key, request, [(plan_text(t.plan), t.predicted) for t in tried])
        return Tuning(self.key, self.computation, self.space, self.machine, tuple(tried))

    def _plan(self, text: str) -> Plan:
        """The plan of a text, its knobs in the order of the space."""
        plan = plan_of(text)
        return {name: plan[name] for name in self.space.names}

    def _tried(self, budget: int, sampler: Sampler) -> list[Tried]:
        columns = candidates(self.space, MAX_PREDICTED, self.seed)
        ranked = worth_trying(predict(self.computation, columns, self.machine))
        proposed = proposals(self.space, ranked, sampler, self.seed, budget, self._seconds, self._made)
        if sampler == "tpe":  # what is tried next depends on what was measured
            plans = []
            for plan in proposed:
                self._measure([plan])
                plans.append(plan)
        else:
            plans = list(proposed)
            self._measure(plans)
        return [Tried(plan, self._predicted(plan), self._found(plan)) for plan in plans]

    def _predicted(self, plan: Plan) -> float:
        return float(predict(self.computation, {n: [v] for n, v in plan.items()}, self.machine).time[0])

    def _measure(self, plans: list[Plan]) -> None:
        """Those of which nothing is known; each is in the store before the next one begins."""
        for plan, found in self.bench.outcomes([p for p in plans if not self._is_known(p)], self._begin):
            self._keep(plan, replace(found, attempts=max(self._attempts(plan), 1)))
            self.done += 1
            self.told(self.done)

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
        found = self.known[plan_text(plan)]
        if found.state == "started":
            return replace(found, state="failed", detail="the process ended whenever it was measured")
        return found

    def _measured_again(self, tried: list[Tried]) -> list[Tried]:
        """The fastest measured once more, in turns with the default: the least of many measurements owes something to luck."""
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
        kernel = emit_fused(self.computation, self.machine.dialect, **plan)
        return kernel.source, kernel.launch_grid

    def _is_known(self, plan: Plan) -> bool:
        known = self.known.get(plan_text(plan))
        return known is not None and (known.state != "started" or known.attempts >= MAX_ATTEMPTS)
