"""Predictions for many plans of a fusion's kernel: memory traffic, operations, occupancy, and time, by a model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import prod
from typing import TYPE_CHECKING

from indexing._core import predict_times
from indexing.arguments import integer, of_type, optional, takes
from indexing.device.detect import chosen_device
from indexing.device.record import Device, DeviceLike
from indexing.display import aligned, count_text, shown
from indexing.errors import IndexingError
from indexing.hlo import Computation, Program
from indexing.hlo.module_cache import cached_on_module
from indexing.hlo.program_like import or_function, part_of_program
from indexing.kernels import block_order, emit_fused, fused_computation, knobs_of
from indexing.kernels.knob_space import Columns, KnobSpace, Plans, check_plan_count
from indexing.kernels.largest_array import names_largest_array
from indexing.lazy import np
from indexing.model.loop_costs import costs_of_loops
from indexing.model.must_move import least_bytes
from indexing.model.reuse import Spans
from indexing.model.terms import terms_of
from indexing.model.traffic import SUMS, KernelTraffic, kernel_traffic, needs_kernel, unique_values
from indexing.model.work_time import LIMITS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    _Launch = tuple[NDArray[np.int64], NDArray[np.int64]]

SHOWN = 10  # plans are in a table
REGISTERS_OF_WARP = 256  # or a multiple


@dataclass(frozen=True, slots=True, eq=False)
class Predictions:
    """Arrays with an element for each plan; `plans` are the requested columns, and those of all other knobs.

    `sectors` of global memory that the warps' loads and stores, `instructions`, move, `bytes` of these, of which the L2 cache
    moves `cache_bytes` and device memory `memory_bytes`, `passes` over the banks of shared memory, and `conflicts`, those of
    them due to bank conflicts; `operations`, in those of the busiest unit, all instructions that warps issue (`issued`), and
    how often warps wait for loads (`waits`), all three estimates; loads of warps that the L1 cache lacks (`cache_loads`), and
    those that the L2 cache lacks too (`memory_loads`); `updates`, atomic ones of the address that has most; `occupancy` of a
    processor's threads, `waves` of blocks, `time` in seconds, and its largest part, `limit`: launch, latency, memory,
    arithmetic or issue. `exact` is true where sectors were counted, not sampled or assumed.
    """

    plans: Columns
    device: Device
    emitter: str
    blocks: Floats
    threads: Floats
    registers: Floats
    shared_bytes: Floats
    instructions: Floats
    sectors: Floats
    bytes: Floats
    cache_bytes: Floats
    memory_bytes: Floats
    passes: Floats
    conflicts: Floats
    operations: Floats
    issued: Floats
    waits: Floats
    cache_loads: Floats
    memory_loads: Floats
    updates: Floats
    resident_blocks: Floats
    occupancy: Floats
    waves: Floats
    time: Floats
    limit: NDArray[np.str_]
    exact: NDArray[np.bool_]
    default: Mapping[str, int]

    def __len__(self) -> int:
        """The number of plans."""
        return len(self.time)

    def plan(self, row: int) -> dict[str, int]:
        """One plan, as `emit` takes it."""
        return {name: int(column[row]) for name, column in self.plans.items()}

    @property
    def demands(self) -> dict[str, Floats]:
        """The demands of the kernels, from which times follow: the fields of `indexing_demand` in C, in order."""
        return _demands({name: getattr(self, name) for name in (*DEMANDS, "bytes")}, self.device)

    @takes(count=integer)
    def best(self, count: int = 1) -> list[dict[str, int]]:
        """The plans with the least predicted times, the best first; of those with equal times, the nearest to the default by
        the factors between values of knobs. Raises IndexingError for a negative number of plans.
        """
        check_plan_count(count)
        return [self.plan(row) for row in self._best_rows(count)]

    def _best_rows(self, count: int) -> list[int]:
        factors = [np.abs(np.log2((column + 1) / (self.default[name] + 1))) for name, column in self.plans.items()]
        rows: list[int] = np.lexsort((np.sum(factors, axis=0), self.time))[:count].tolist()
        return rows

    def cells(self, count: int = SHOWN) -> list[list[str]]:
        """A header with units, then a row for each of the plans that `best` returns."""
        head = [*self.plans, "time (us)", "limit", "moved (bytes)", *terms_of(self.device).of_plans]
        rows = ([str(value) for value in self.plan(k).values()] + self._cells(k) for k in self._best_rows(count))
        return [head, *rows]

    def _cells(self, k: int) -> list[str]:
        names = terms_of(self.device).of_plans.values()
        columns = (getattr(self, n) * 100 if n == "occupancy" else getattr(self, n) for n in names)
        return [f"{self.time[k] * 1e6:.4g}", str(self.limit[k]), *(f"{c[k]:,.0f}" for c in (self.bytes, *columns))]

    def __str__(self) -> str:
        """The best plans as a table."""
        more = [f"the best {SHOWN} of {len(self)} plans on {self.device}"] if len(self) > SHOWN else []
        return "\n".join([*aligned(self.cells()), *more])

    def __repr__(self) -> str:
        """The number of plans and the range of their times."""
        times = f": {self.time.min() * 1e6:.3g} to {self.time.max() * 1e6:.3g} us" if len(self) else ""
        return f"<predictions for {count_text(len(self), 'plan')} of a {self.emitter} kernel on {self.device}{times}>"

    def _repr_html_(self) -> str | None:
        return shown(self, "plans_table")


def _plans(value: object, what: str) -> object:
    """The plans; the TypeError for a text, which may be a device's name in the wrong place, says how a device is named."""
    try:
        return of_type(Mapping, list, tuple)(value, what)
    except TypeError as refused:
        remedy = "; a device is named by device=" if isinstance(value, str) else ""
        raise TypeError(f"{refused}{remedy}") from None


@or_function
@takes(plans=optional(_plans), device=optional(of_type(Device, str)))
def predict(
    fusion: Program,
    plans: Plans | None = None,
    device: DeviceLike = None,
) -> Predictions:
    """Predictions for the kernels of a fusion on a device, by default the one that the driver reports, else one that
    `.device` names. `plans` are columns of knob values, with a row for each plan, or a list of plans.

    Knobs that are left out have their default values. Without `plans`, all of `knobs(fusion).grid()` are predicted. Raises
    IndexingError for a plan that is not legal, and for an unknown device; otherwise as `emit`.
    """
    chosen = chosen_device(device)
    computation = fused_computation(part_of_program(fusion, "predict: fusion"))
    known = _fusion_on(computation, chosen)
    columns = known.space.columns(known.space.grid() if plans is None else plans)
    known.check(columns)
    return _predictions(computation, known, columns)


@names_largest_array
def _predictions(computation: Computation, known: _Fusion, columns: Columns) -> Predictions:
    return known.predictions(columns)


@cached_on_module
def _fusion_on(computation: Computation, device: Device) -> _Fusion:
    return _Fusion(computation, device, knobs_of(computation, device))


@dataclass(slots=True)
class _Fusion:
    """A fusion on a device: its kernels, by the values of the knobs that change the work of threads."""

    computation: Computation
    device: Device
    space: KnobSpace
    kernels: dict[tuple[int, ...], KernelTraffic] = field(default_factory=dict)
    walked: dict[tuple[int, ...], dict[str, float]] = field(default_factory=dict)

    def check(self, columns: Columns) -> None:
        """IndexingError for the first plan that is not legal."""
        refused = np.flatnonzero(~self.space.allows(columns))
        if len(refused):
            row = int(refused[0])
            try:
                self.space.check({n: int(c[row]) for n, c in columns.items()})
            except IndexingError as error:
                raise IndexingError(f"plan {row} is not legal: {error}") from None

    def predictions(self, columns: Columns) -> Predictions:
        rows = len(next(iter(columns.values())))
        counts = {name: np.zeros(rows) for name in _COUNTED}
        exact = np.ones(rows, bool)
        if not terms_of(self.device).has_warps:
            exact[:] = False
            self._count_by_loops(columns, counts)
        else:
            self._count_by_warps(columns, counts, exact)
        demands = list(_demands(counts, self.device).values())
        resident, occupancy, waves, time, limits = predict_times(self.device.model_constants, demands)
        return Predictions(
            columns,
            self.device,
            self.space.emitter,
            **counts,
            resident_blocks=resident,
            occupancy=occupancy,
            waves=waves,
            time=time,
            limit=np.array(LIMITS)[limits.astype(np.int64)],
            exact=exact,
            default=self.space.default,
        )

    def _count_by_loops(self, columns: Columns, counts: dict[str, Floats]) -> None:
        """The columns of `_COUNTED` by the loops of each different kernel."""
        for key, places in _groups(list(columns.values()), len(next(iter(columns.values())))):
            if key not in self.walked:
                plan = dict(zip(columns, key, strict=True))
                self.walked[key] = loop_demands(self.computation, plan, self.device)
            for name, value in self.walked[key].items():
                counts[name][places] = value

    def _count_by_warps(self, columns: Columns, counts: dict[str, Floats], exact: NDArray[np.bool_]) -> None:
        """The columns of `_COUNTED` by the accesses of warps: kernels one by one, then all plans at once."""
        rows = len(exact)
        kernel_knobs = [k.name for k in self.space.knobs if needs_kernel(k, self.device)]
        groups = _groups([columns[n] for n in kernel_knobs], rows)
        kernels = [self._kernel(dict(zip(kernel_knobs, key, strict=True)), key) for key, _ in groups]
        which = np.zeros(rows, np.int64)
        for number, (_, places) in enumerate(groups):
            which[places] = number
        of_kernel = np.array([case.numbers for case in kernels], np.float64).reshape(-1, len(KernelTraffic.NUMBERS)).T
        of_plan = dict(zip(KernelTraffic.NUMBERS, of_kernel[:, which], strict=True))
        blocks, threads = self._launch(of_plan, columns)
        sums, spans = np.zeros((rows, len(SUMS) + 1)), Spans()
        for case, (_, places) in zip(kernels, groups, strict=True):
            sums[places] = case.traffic(threads[places], spans)
        self._fill(counts, of_plan, (blocks, threads), sums.T)
        if kernels:
            least = least_bytes(self.computation, kernels[0].kernel)
            counts["memory_bytes"] = np.maximum(counts["memory_bytes"], least)
        in_loops = blocks * threads < of_plan["grid"] * of_plan["block"]
        exact[:] = (sums[:, -1] != 0) & (of_plan["exact"] != 0) & ~(in_loops & (of_plan["hoists"] != 0))

    def _kernel(self, plan: dict[str, int], key: tuple[int, ...]) -> KernelTraffic:
        if key not in self.kernels:
            natural = {k.name: 1 for k in self.space.knobs if k.effect == "order" and plan.get(k.name, 1) != 1}
            if natural:
                counted = self._kernel({**plan, **natural}, tuple({**plan, **natural}.values()))
                self.kernels[key] = counted.in_order(block_order(self.computation, self.device, **plan))
            else:
                self.kernels[key] = kernel_traffic(self.computation, self.space, plan, self.device)
        return self.kernels[key]

    def _fill(self, counts: dict[str, Floats], of_plan: dict[str, Floats], launch: _Launch, sums: Floats) -> None:
        """The columns of `_COUNTED`."""
        counts["blocks"][:], counts["threads"][:] = launch
        counts["instructions"], counts["sectors"], counts["bytes"] = sums[:3]
        counts["cache_bytes"], counts["memory_bytes"], counts["cache_loads"], counts["memory_loads"] = sums[3:7]
        counts["conflicts"] = of_plan["passes"] - of_plan["ideal_passes"]
        counts["registers"] = np.minimum(of_plan["registers"], self._most_registers(launch[1]))
        for name in ("shared_bytes", "passes", "operations", "issued", "waits", "updates"):
            counts[name] = of_plan[name]
        if any(k.effect == "block" for k in self.space.knobs):
            # A warp waits as one of its threads does, which were counted.
            warp = self.device.cores.warp_size
            warps = launch[0] * -(-launch[1] // warp)
            counts["waits"] = of_plan["waits"] * warp / (of_plan["grid"] * of_plan["block"]) * warps

    def _most_registers(self, threads: NDArray[np.int64]) -> NDArray[np.int64]:
        """The registers to which a compiler keeps a thread, for sources state the threads of a block."""
        warp, limits = self.device.cores.warp_size, self.device.limits
        of_block = limits.registers // (-(-threads // warp) * REGISTERS_OF_WARP) * REGISTERS_OF_WARP // warp
        return np.minimum(of_block, limits.thread_registers)

    def _launch(self, of_plan: dict[str, Floats], columns: Columns) -> _Launch:
        """Blocks, and threads of a block."""
        by_effect = {k.effect: columns[k.name] for k in self.space.knobs}
        grid, block = (of_plan[name].astype(np.int64) for name in ("grid", "block"))
        if "block" not in by_effect:
            return grid, by_effect.get("warps", block)
        threads = by_effect["block"]
        blocks = -(-grid * block // threads)
        chunks = -(-blocks // by_effect.get("grid", blocks))
        return -(-blocks // chunks), threads


_COUNTED = (
    *("blocks", "threads", "registers", "shared_bytes", "instructions", "sectors", "bytes", "memory_bytes", "passes"),
    *("conflicts", "operations", "issued", "waits", "updates", "cache_bytes", "cache_loads", "memory_loads"),
)
#: The model's columns for a kernel, in the order of the core.
DEMANDS = (
    *("blocks", "threads", "registers", "shared_bytes", "waits", "cache_loads", "memory_loads", "cache_bytes"),
    *("memory_bytes", "passes", "operations", "issued", "updates"),
)


def loop_demands(computation: Computation, plan: Mapping[str, int], device: Device) -> dict[str, float]:
    """The columns of `_COUNTED` for the kernel of one plan on a device without threads. Caches and memory move the lines that
    its loops fetch, and one more for each run; `loads_under_way` of these are one wait; operations are steps of loops.
    """
    kernel = emit_fused(computation, device, **plan)
    costs, memory = costs_of_loops(kernel.lowered, device.memory), device.memory
    fetched = costs.lines + costs.runs
    return {
        **dict.fromkeys(_COUNTED, 0.0),
        "blocks": prod(kernel.lowered.grid),
        "threads": prod(kernel.block),
        "instructions": costs.lines,
        "sectors": costs.lines,
        "bytes": costs.lines * memory.line_bytes,
        "waits": fetched / memory.loads_under_way,
        "cache_loads": fetched / memory.loads_under_way,
        "memory_loads": costs.from_memory / memory.loads_under_way,
        "cache_bytes": fetched * memory.line_bytes,
        "memory_bytes": max(costs.from_memory * memory.line_bytes, least_bytes(computation, kernel)),
        "operations": costs.steps,
        "shared_bytes": kernel.shared_bytes,
    }


def _demands(counts: Mapping[str, Floats], device: Device) -> dict[str, Floats]:
    """The demands of kernels on a device: a block also takes the shared memory that the device reserves for each; all bytes
    pass through the L1 cache, as those of shared memory do, by lines.
    """
    changed = {
        "shared_bytes": counts["shared_bytes"] + device.limits.reserved_shared_bytes,
        "passes": counts["passes"] + (counts["bytes"] / device.memory.line_bytes if device.cores.shared_bytes else 0.0),
    }
    return {name: changed.get(name, counts[name]) for name in DEMANDS}


def _groups(columns: list[NDArray[np.int64]], rows: int) -> list[tuple[tuple[int, ...], NDArray[np.int64]]]:
    """The distinct rows of columns, each with the indices at which it occurs."""
    if not columns:
        return [((), np.arange(rows))] if rows else []
    numbers = np.zeros(rows, np.int64)
    for column in columns:
        if (column == column[:1]).all():
            continue
        values, index = unique_values(column)
        numbers = unique_values(numbers * len(values) + index)[1]
    order = np.argsort(numbers, kind="stable")
    cuts = np.flatnonzero(np.diff(numbers[order])) + 1
    return [(tuple(int(c[p[0]]) for c in columns), p) for p in np.split(order, cuts) if len(p)]
