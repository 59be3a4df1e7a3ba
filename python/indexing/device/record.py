"""The record of a device: limits of launches, cores, memory, rates, and the description that XLA's compiler takes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Literal, TypeAlias

from indexing.arguments import check_fields, integer, of_type
from indexing.device.limits import Dim3, Limits, Widths
from indexing.errors import IndexingError

#: A device, its name, or None: the one that the driver reports, else a default.
DeviceLike: TypeAlias = "Device | str | None"
#: The origin of a device that no one named.
Origin: TypeAlias = Literal["", "detected", "default; none detected"]


@dataclass(frozen=True, slots=True)
class Cores:
    """The cores of a device (streaming multiprocessors): each holds up to `threads` in warps of `warp_size`, `blocks` blocks,
    `registers` and `shared_bytes` (0: no limit), has `lanes` units for f32, and issues `issue` instructions of warps a clock.
    """

    count: int
    threads: int
    blocks: int
    lanes: int
    shared_bytes: int
    registers: int = 65536
    warp_size: int = 32
    issue: int = 4

    def __post_init__(self) -> None:
        _check_numbers(self, may_be_zero=("registers", "shared_bytes"))


@dataclass(frozen=True, slots=True)
class Memory:
    """The memory of a device: bytes, and bytes per second, of all of it, of its L2 cache (a CPU's last one), and the bytes of a
    core's L1 cache.

    Global memory is transferred in sectors of `sector_bytes`, with cache lines of `line_bytes`; shared memory has `banks`
    banks, each `bank_bytes` wide. A load takes `latency` seconds, `l2_latency` or `l1_latency` where a cache has its value, and
    a warp has up to `loads_under_way` loads. Kernels that only stream reach the share `reached` of the bandwidth.
    """

    bandwidth: float
    bytes: int
    l1_bytes: int
    l2_bytes: int
    l2_bandwidth: float
    latency: float = 600e-9
    l2_latency: float = 200e-9
    l1_latency: float = 30e-9
    loads_under_way: int = 32
    sector_bytes: int = 32
    line_bytes: int = 128
    banks: int = 32
    bank_bytes: int = 4
    reached: float = 0.9

    def __post_init__(self) -> None:
        _check_numbers(self)
        if self.line_bytes % self.sector_bytes:
            raise IndexingError(
                f"a line of memory is whole sectors; got {self.line_bytes} bytes for sectors of {self.sector_bytes}"
            )


@dataclass(frozen=True, slots=True)
class Rates:
    """The rates of a device: `clock` in hertz, that of its matrix units, and `operations` on elements per second.

    `scalar` and `matrix` have the multiply-adds of a core in a clock by element type; in `matrix`, f32 stands for tf32. A core
    does `special` functions (exponentials, reciprocals, ...) in a clock. A launch takes `launch` seconds, that of a kernel
    which follows another one `following`, and each block `block` seconds besides its work. Kernels reach the share `reached`
    of the rates of cores. Products by a library reach the share `product_share` of these rates with its largest
    tiles; `tile_cost` elements of a tile's rows and columns cost as much as they are multiplied. Seconds m of memory and a of
    arithmetic take `(m^p + a^p)^(1/p)`, with `overlap` as p; 0: the longer of both (see docs/prediction.md).
    """

    clock: float
    matrix_clock: float
    operations: float
    scalar: Mapping[str, int] = field(hash=False)
    matrix: Mapping[str, int] = field(hash=False)
    launch: float = 3.3e-6
    following: float = 0.75e-6
    block: float = 0.0
    reached: float = 1.0
    special: int = 16
    product_share: float = 0.8
    tile_cost: float = 16.0
    overlap: float = 0.0

    def __post_init__(self) -> None:
        check_fields(self, scalar=of_type(Mapping), matrix=of_type(Mapping))
        _check_numbers(self, may_be_zero=("block", "launch", "following", "overlap"))


@dataclass(frozen=True, slots=True)
class Architecture:
    """The instructions that a GPU runs: its compute `capability`; with `accelerated` ones of only this one, such as sm_90a."""

    capability: tuple[int, int]
    accelerated: bool = False

    @property
    def name(self) -> str:
        """The architecture as NVRTC takes it, such as `sm_90`."""
        return f"sm_{self.capability[0]}{self.capability[1]}"


@dataclass(frozen=True, slots=True)
class Device:
    """One record of a device, from the table of `ix.devices()`, from its driver, or one's own.

    Kernels for it are in `dialect`; `description` is the driver's name for it. `origin` says how it was chosen if no one named
    it. Figures are in bytes, seconds, and per second; `with_memory(bandwidth=1e12)` and the like replace them.
    """

    name: str
    dialect: str
    limits: Limits
    widths: Widths
    cores: Cores
    memory: Memory
    rates: Rates
    description: str = ""
    architecture: Architecture | None = None
    origin: Origin = field(default="", repr=False)

    def __new__(cls, *figures: object, **named: object) -> Device:
        """Refuses a name alone, which stands for a device of the table elsewhere."""
        if len(figures) == 1 and not named:
            remedy = "is the one of a name, and device.with_memory(bandwidth=1e12) and the like change it"
            raise TypeError(f"Device is the whole record of a device: ix.find_device({figures[0]!r}) {remedy}")
        return object.__new__(cls)

    def __post_init__(self) -> None:
        check_fields(self, name=of_type(str), dialect=of_type(str), description=of_type(str), limits=of_type(Limits))
        check_fields(self, widths=of_type(Widths), cores=of_type(Cores), memory=of_type(Memory), rates=of_type(Rates))
        object.__setattr__(self, "widths", self.widths.within(self.limits.block_size))
        if '"' in self.description:
            raise IndexingError(f"device {self.name!r}: the description must not contain quotes")

    def __str__(self) -> str:
        """The name, and, if no one named the device, its origin: `H100 SXM (default; none detected)`."""
        return f"{self.name} ({self.origin})" if self.origin else self.name

    def flops(self, element_type: str) -> float:
        """The floating-point (or integer) operations per second of its scalar units, a multiply-add counted as two.

        Raises IndexingError for an element type of which no rate is known.
        """
        return 2.0 * _rate(self, "scalar", self.rates.scalar, element_type) * self.cores.count * self.rates.clock

    def matrix_flops(self, element_type: str) -> float:
        """As `flops`, of its matrix units (tensor cores); those of f64 have the clock of the scalar units."""
        clock = self.rates.clock if element_type == "f64" else self.rates.matrix_clock
        return 2.0 * _rate(self, "matrix", self.rates.matrix, element_type) * self.cores.count * clock

    def with_limits(self, **limits: int | Dim3) -> Device:
        """The device with other limits, given by name."""
        return replace(self, limits=replace(self.limits, **limits))  # type: ignore[arg-type]

    def with_cores(self, **figures: int) -> Device:
        """The device with other cores, by the names of `Cores`."""
        return replace(self, cores=replace(self.cores, **figures))

    def with_memory(self, **figures: float) -> Device:
        """The device with another memory, by the names of `Memory`."""
        return replace(self, memory=replace(self.memory, **figures))  # type: ignore[arg-type]

    def with_rates(self, **rates: float) -> Device:
        """The device with other rates, by the names of `Rates`."""
        return replace(self, rates=replace(self.rates, **rates))  # type: ignore[arg-type]

    @property
    def model_constants(self) -> tuple[float, ...]:
        """The constants of the model of times, in the order in which the core expects them; see docs/prediction.md."""
        c, m, r = self.cores, self.memory, self.rates
        held = (c.count, c.warp_size, c.threads, c.blocks, c.registers, c.shared_bytes)
        clock = r.clock * r.reached
        moved = (self.reached_bandwidth, m.l2_bandwidth, r.operations * r.reached, clock * c.issue, clock)
        served = (clock, r.clock, m.latency, m.l2_latency, m.l1_latency)
        return tuple(map(float, (*held, *moved, *served, r.launch, r.block, r.overlap)))

    @property
    def launch_seconds(self) -> float:
        """The seconds of a kernel besides its work: those of its launch, and of its first load."""
        return self.rates.launch + self.memory.latency

    def after_another(self) -> Device:
        """The device as a kernel of a program finds it that starts when another one ends: its launch was under way before."""
        return self.with_rates(launch=self.rates.following)

    @property
    def first_launch_seconds(self) -> float:
        """The seconds by which the launch of a program's first kernel takes longer than that of another one."""
        return max(self.rates.launch - self.rates.following, 0.0)

    @property
    def reached_bandwidth(self) -> float:
        """The bytes per second that a kernel reaches which only streams."""
        return self.memory.bandwidth * self.memory.reached

    def xla_description(self) -> str:
        """The text of XLA's GpuTargetConfigProto. Raises IndexingError for a device that is no CUDA GPU."""
        if self.architecture is None:
            raise IndexingError(f"XLA's GPU compiler knows no target {self.name!r}: it is no CUDA GPU")
        major, minor = self.architecture.capability
        feature = " feature_extension: ACCELERATED_FEATURES" if self.architecture.accelerated else ""
        lines = [f"  {key}: {value}" for key, value in self._xla_figures().items()]
        lines.append(f"  cuda_compute_capability {{ major: {major} minor: {minor}{feature} }}")
        body = "\n".join(lines)
        about = f'platform_name: "CUDA"\ndevice_description_str: "{self.description or self.name}"\n'
        return f"gpu_device_info {{\n{body}\n}}\n{about}"

    def _xla_figures(self) -> dict[str, object]:
        limits, cores, memory = self.limits, self.cores, self.memory
        return {
            "threads_per_block_limit": limits.threads,
            "threads_per_warp": cores.warp_size,
            "shared_memory_per_block": limits.shared_bytes,
            "shared_memory_per_core": cores.shared_bytes,
            "threads_per_core_limit": cores.threads,
            "core_count": cores.count,
            "fpus_per_core": cores.lanes,
            "block_dim_limit_x": limits.grid[0],
            "block_dim_limit_y": limits.grid[1],
            "block_dim_limit_z": limits.grid[2],
            "memory_bandwidth": int(memory.bandwidth),
            "l2_cache_size": memory.l2_bytes,
            "clock_rate_ghz": self.rates.clock / 1e9,
            "device_memory_size": memory.bytes,
            "shared_memory_per_block_optin": limits.optin_shared_bytes,
            "registers_per_core_limit": cores.registers,
            "registers_per_block_limit": limits.registers,
        }


def _rate(device: Device, units: str, rates: Mapping[str, int], element_type: str) -> int:
    if element_type not in rates:
        known = ", ".join(rates) or "none"
        raise IndexingError(
            f"the {units} units of {device.name} have no known rate of {element_type!r}; known: {known}"
        )
    return rates[element_type]


def _check_numbers(part: Cores | Memory | Rates, may_be_zero: tuple[str, ...] = ()) -> None:
    """Raise TypeError for a field of numbers that has another value, IndexingError for one that isn't positive."""
    kinds = {"int": integer, "float": of_type(int, float)}
    for f in fields(part):
        if f.type not in kinds:
            continue
        check_fields(part, **{f.name: kinds[str(f.type)]})
        value = getattr(part, f.name)
        if not (value >= 0 if f.name in may_be_zero else value > 0):
            what = "not negative" if f.name in may_be_zero else "positive"
            raise IndexingError(f"{f.name} of {type(part).__name__} is {what}; got {value}")
