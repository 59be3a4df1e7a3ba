"""Benches that measure plans: a device of this machine, or the nodes of a Ray cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from indexing.errors import CompileError, IndexingError
from indexing.executable.devices import device_of_dialect
from indexing.executable.tuned_plans import fusion_key
from indexing.hlo import parse
from indexing.kernels import emit_fused
from indexing.runtime.identity import HOST_DIALECT
from indexing.runtime.plan_store import Measured
from indexing.tuning.measurement import Benchmark

if TYPE_CHECKING:
    from indexing.device.record import Device
    from indexing.hlo import Computation
    from indexing.kernels.kernel import Kernel
    from indexing.kernels.targets.target import Dialect
    from indexing.runtime.device import TimingDevice
    from indexing.tuning.conditions import Conditions
    from indexing.tuning.search import Plan

RETRIES = 5  # a task on Ray is tried again so often when nodes die
#: Called before each measurement, because a plan may end this process.
Begin: TypeAlias = "Callable[[Plan], None]"


class Bench(Protocol):
    """Measures plans of one fusion."""

    @property
    def key(self) -> str:
        """The fusion's key in the store for these devices."""

    def outcomes(self, plans: Sequence[Plan], begin: Begin) -> Iterator[tuple[Plan, Measured]]:
        """Yield each plan with its time, or the reason why it has none, as soon as it is known."""

    def samples(self, plans: Sequence[Plan]) -> list[list[float]]:
        """Samples of the times of plans whose results are correct, taken in turns."""


class LocalBench:
    """A device of this machine."""

    def __init__(
        self, computation: Computation, device: TimingDevice, planned_for: Device, conditions: Conditions
    ) -> None:
        """Store the arguments; nothing is run yet."""
        self.computation = computation
        self.device = device
        self.planned_for = planned_for
        self.conditions = conditions
        self._benchmark: Benchmark | None = None

    @property
    def key(self) -> str:
        """The key, by the device and its compiler."""
        return fusion_key(self.computation, self.planned_for, self.device)

    def outcomes(self, plans: Sequence[Plan], begin: Begin) -> Iterator[tuple[Plan, Measured]]:
        """Measure plans one after another; their sources are compiled in parallel first."""
        kernels = [self._kernel(p) for p in plans]
        compile_together(kernels, self.device)
        for plan, kernel in zip(plans, kernels, strict=True):
            begin(plan)
            yield plan, self._measured(kernel)

    def samples(self, plans: Sequence[Plan]) -> list[list[float]]:
        """Samples on this device."""
        return self._benchmark_of().samples([self._kernel(p) for p in plans])

    def _kernel(self, plan: Plan) -> Kernel:
        return emit_fused(self.computation, self.planned_for, **plan)

    def _benchmark_of(self) -> Benchmark:
        if self._benchmark is None:
            self._benchmark = Benchmark(self.computation, self.device, self.conditions)
        return self._benchmark

    def _measured(self, kernel: Kernel) -> Measured:
        try:
            benchmark = self._benchmark_of()
            if problem := benchmark.problem(kernel):
                return Measured("wrong", 1, detail=problem)
            timing = benchmark.timing(kernel)
        except (CompileError, MemoryError) as error:
            return Measured("failed", 1, detail=str(error).splitlines()[0] if str(error) else "out of memory")
        return Measured("measured", 1, timing.seconds, timing.spread)


def compile_together(kernels: Sequence[Kernel], device: TimingDevice) -> None:
    """Compile in parallel: C compilers are processes, and NVRTC releases Python's lock. Errors are reported when the plan is
    measured.
    """

    def attempt(kernel: Kernel) -> None:
        try:
            device.compile(kernel)
        except CompileError:
            return

    with ThreadPoolExecutor() as pool:
        list(pool.map(attempt, {k.source: k for k in kernels}.values()))


class ClusterBench:
    """The nodes of a Ray cluster, all of one kind. Each task has a node to itself, and is repeated if its node dies."""

    def __init__(self, ray: Any, computation: Computation, planned_for: Device, conditions: Conditions) -> None:
        """Query a node for its device."""
        self._ray = ray
        self._given = (str(computation.module), computation.name, planned_for, conditions)
        self._needs = _needs(ray, planned_for.dialect)
        self.key: str = ray.get(self._submit(key_of, self._given))

    def outcomes(self, plans: Sequence[Plan], begin: Begin) -> Iterator[tuple[Plan, Measured]]:
        """Yield plans in the order in which they are finished."""
        running = {self._submit(measure_one, self._given, self.key, plan): plan for plan in plans}
        while running:
            (done,), _ = self._ray.wait(list(running), num_returns=1)
            yield running.pop(done), self._outcome(done)

    def samples(self, plans: Sequence[Plan]) -> list[list[float]]:
        """Samples on one node."""
        samples: list[list[float]] = self._ray.get(self._submit(samples_in_turns, self._given, list(plans)))
        return samples

    def _submit(self, function: Callable[..., object], *given: object) -> Any:
        return self._ray.remote(max_retries=RETRIES, **self._needs)(function).remote(*given)

    def _outcome(self, reference: Any) -> Measured:
        try:
            outcome: Measured = self._ray.get(reference)
        except IndexingError:
            raise
        except self._ray.exceptions.RayError as error:
            return Measured("failed", 1, detail=f"{type(error).__name__}: {str(error).strip().splitlines()[-1]}")
        return outcome


def _needs(ray: Any, dialect: Dialect) -> dict[str, float]:
    """The resources of a task: all cores of a node, or a GPU. Raises IndexingError if the cluster has none."""
    if dialect == HOST_DIALECT:
        return {"num_cpus": max(float(n["Resources"].get("CPU", 0)) for n in ray.nodes() if n["Alive"])}
    if not ray.cluster_resources().get("GPU"):
        raise IndexingError("the Ray cluster has no GPU: tune for device='cpu', or begin nodes with GPUs")
    return {"num_gpus": 1}


Given: TypeAlias = "tuple[str, str, Device, Conditions]"


def key_of(given: Given) -> str:
    """The fusion's key in the store of the machine that this runs on."""
    return _bench(given).key


def measure_one(given: Given, key: str, plan: Plan) -> Measured:
    """Measure one plan. Raises IndexingError if this node's device is not that of the `key`."""
    bench = _bench(given)
    if bench.key != key:
        raise IndexingError("nodes of the Ray cluster differ in their devices or compilers: tune on nodes of one kind")
    ((_, measured),) = bench.outcomes([plan], lambda plan: None)
    return measured


def samples_in_turns(given: Given, plans: list[Plan]) -> list[list[float]]:
    """Measure several plans in turns."""
    return _bench(given).samples(plans)


@lru_cache(maxsize=1)
def _bench(given: Given) -> LocalBench:
    text, name, planned_for, conditions = given
    computation = parse(text).computations[name]
    return LocalBench(computation, device_of_dialect(planned_for.dialect), planned_for, conditions)
