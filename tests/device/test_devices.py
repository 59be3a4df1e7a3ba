"""Figures of devices, against XLA's own descriptions of GPUs and NVIDIA's documents; how a device is chosen."""

import pickle
from collections.abc import Callable
from dataclasses import replace

import pytest

import indexing as ix
from indexing.device import detect
from indexing.device.detect import chosen_device, find_device, reported_device
from indexing.device.table import PORTABLE, portable_device
from indexing.kernels.targets import TARGETS

KIB, MIB = 1 << 10, 1 << 20
#: Of the files `xla/backends/gpu/target_config/specs/*.txtpb` of github.com/openxla/xla (July 2026): cores, f32 units of a core,
#: threads, shared memory of a core and of a block on request, gigahertz, bytes of the L2 cache, of memory, and per second.
XLA = {
    "V100": (80, 64, 2048, 98304, 98304, 1.53, 6291456, 16935682048, 898048000000),
    "A100 SXM 80GB": (108, 64, 2048, 167936, 166912, 1.41, 41943040, 85100068864, 2039040000000),
    "A100 SXM 40GB": (108, 64, 2048, 167936, 166912, 1.41, 41943040, 42331013120, 1555200000000),
    "A100 PCIe 80GB": (108, 64, 2048, 167936, 166912, 1.1105, 41943040, 79050250240, 2039000000000),
    "RTX A6000": (84, 128, 1536, 102400, 101376, 1.8, 6291456, 51041271808, 768096000000),
    "H100 SXM": (132, 128, 2048, 233472, 232448, 1.98, 52428800, 84942979072, 3352320000000),
    "H100 PCIe": (114, 128, 2048, 233472, 232448, 1.755, 52428800, 84942979072, 2039040000000),
    "H200": (132, 128, 2048, 233472, 232448, 1.98, 52428800, 151397597184, 4800000000000),
    "B200": (148, 128, 2048, 233472, 232448, 1.965, 132644864, 191514411008, 7672320000000),
}
FIELDS = (
    *(
        "core_count",
        "fpus_per_core",
        "threads_per_core_limit",
        "shared_memory_per_core",
        "shared_memory_per_block_optin",
    ),
    *("clock_rate_ghz", "l2_cache_size", "device_memory_size", "memory_bandwidth"),
)
#: The same in all of these files.
COMMON = {
    "threads_per_block_limit": 1024,
    "threads_per_warp": 32,
    "shared_memory_per_block": 49152,
    "block_dim_limit_x": 2147483647,
    "block_dim_limit_y": 65535,
    "block_dim_limit_z": 65535,
    "registers_per_core_limit": 65536,
    "registers_per_block_limit": 65536,
}
CAPABILITIES = {
    "V100": (7, 0, False),
    "V100 PCIe 32GB": (7, 0, False),
    "T4": (7, 5, False),
    "A100 SXM 80GB": (8, 0, False),
    "A100 SXM 40GB": (8, 0, False),
    "A100 PCIe 80GB": (8, 0, False),
    "A100 PCIe 40GB": (8, 0, False),
    "RTX A6000": (8, 6, False),
    "L4": (8, 9, False),
    "H100 SXM": (9, 0, True),
    "H100 PCIe": (9, 0, True),
    "H200": (9, 0, True),
    "B200": (10, 0, True),
}
#: The products of units_per_core and ops_per_clock in the same files, by the element type of the key (xla_data.proto).
SCALAR = {
    "H100 SXM": {"s32": 64, "f16": 256, "f32": 128, "f64": 64, "bf16": 256},
    "H100 PCIe": {"s32": 64, "f16": 256, "f32": 128, "f64": 64, "bf16": 256},
    "H200": {"s32": 64, "f16": 256, "f32": 128, "f64": 64, "bf16": 256},
    "B200": {"s32": 64, "f16": 128, "f32": 128, "f64": 64, "bf16": 128},
}
HOPPER = {
    "s8": 4096,
    "f16": 2048,
    "f32": 1024,
    "f64": 128,
    "bf16": 2048,
    "f8e5m2": 4096,
    "f8e4m3fn": 4096,
    "f8e4m3": 4096,
}
MATRIX = {
    "H100 SXM": (1.8295201, HOPPER),
    "H100 PCIe": (1.62162, HOPPER),
    "H200": (1.8295201, HOPPER),
    "B200": (
        1.8353101,
        {k: 2 * v for k, v in HOPPER.items() if k != "f64"} | {"f64": 64, "f4e2m1fn": 16384},
    ),
}
#: Teraflops of the makers' data sheets, without sparsity: of f32, and of the tensor cores by type.
SHEETS = {
    "V100": (15.7, {"f16": 125}),
    "V100 PCIe 32GB": (14.1, {"f16": 112}),
    "T4": (8.1, {"f16": 65, "s8": 130, "s4": 260}),
    "A100 SXM 80GB": (19.5, {"f64": 19.5, "f32": 156, "bf16": 312, "f16": 312, "s8": 624, "s4": 1248}),
    "RTX A6000": (38.7, {"f32": 77.4, "f16": 154.8, "s8": 309.7}),
    "L4": (30.3, {"f32": 60, "f16": 121, "f8e4m3fn": 242.5, "s8": 242.5, "s4": 485}),
    "H100 SXM": (67, {"f64": 67, "f32": 494.5, "bf16": 989.5, "f8e4m3fn": 1979, "s8": 1979}),
    "H100 PCIe": (51, {"f64": 51, "f32": 378, "bf16": 756, "f8e4m3fn": 1513}),
    "B200": (75, {"f64": 37, "f32": 1100, "bf16": 2250, "f8e4m3fn": 4500, "f4e2m1fn": 9000}),
}
#: Of NVIDIA's documents, where XLA has no description: cores, threads and blocks of a core, KiB of shared memory of a core and
#: on request, gigabytes a second, megabytes of L2 cache.
DOCUMENTED = {
    "V100 PCIe 32GB": (80, 2048, 32, 96, 96, 898, 6),
    "T4": (40, 1024, 16, 64, 64, 320, 4),
    "L4": (58, 1536, 24, 100, 99, 300, 48),
    "A100 PCIe 40GB": (108, 2048, 32, 164, 163, 1555, 40),
}
#: CUDA's programming guide, "Technical Specifications per Compute Capability": resident blocks of a core.
BLOCKS = {(7, 0): 32, (7, 5): 16, (8, 0): 32, (8, 6): 16, (8, 9): 24, (9, 0): 32, (10, 0): 32}


def described(name: str) -> dict[str, str]:
    """The fields of our text for XLA."""
    lines = (line.split(": ", 1) for line in find_device(name).xla_description().splitlines())
    return {pair[0].strip(): pair[1] for pair in lines if len(pair) == 2}


@pytest.mark.parametrize("name", XLA)
def test_figures_are_those_of_xla(name: str) -> None:
    actual = described(name)
    for field, value in (COMMON | dict(zip(FIELDS, XLA[name], strict=True))).items():
        assert float(actual[field]) == value, field
    device = find_device(name)
    cores, lanes, threads, shared, optin, clock, l2, memory, bandwidth = XLA[name]
    assert (device.cores.count, device.cores.lanes, device.cores.threads) == (cores, lanes, threads)
    assert (device.cores.shared_bytes, device.limits.optin_shared_bytes) == (shared, optin)
    assert (device.memory.l2_bytes, device.memory.bytes, device.memory.bandwidth) == (l2, memory, bandwidth)
    assert device.rates.clock == clock * 1e9 and device.limits.block == (1024, 1024, 64)


@pytest.mark.parametrize("name", SCALAR)
def test_rates_are_those_of_xla(name: str) -> None:
    rates, (clock, matrix) = find_device(name).rates, MATRIX[name]
    assert rates.scalar == SCALAR[name] and rates.matrix == matrix and rates.matrix_clock == clock * 1e9


@pytest.mark.parametrize("name", CAPABILITIES)
def test_architectures(name: str) -> None:
    device, (major, minor, accelerated) = find_device(name), CAPABILITIES[name]
    assert device.architecture is not None and device.architecture.name == f"sm_{major}{minor}"
    feature = " feature_extension: ACCELERATED_FEATURES" if accelerated else ""
    text = device.xla_description()
    assert f"  cuda_compute_capability {{ major: {major} minor: {minor}{feature} }}\n" in text
    assert text.endswith(f'platform_name: "CUDA"\ndevice_description_str: "{device.description}"\n')
    assert text.count("{") == text.count("}") == 2
    assert device.cores.blocks == BLOCKS[major, minor]
    reserved = (
        KIB if major >= 8 else 0
    )  # CUDA's programming guide: a block takes 1 KiB of it from compute capability 8.0 on
    assert device.limits.reserved_shared_bytes == reserved
    assert device.limits.optin_shared_bytes == device.cores.shared_bytes - reserved


def test_every_gpu_has_its_expectations() -> None:
    gpus = {d.name for d in ix.devices() if d.architecture is not None}
    assert gpus == set(CAPABILITIES) == set(XLA) | set(DOCUMENTED)
    assert [d.name for d in ix.devices() if d.architecture is None] == ["CPU"]


@pytest.mark.parametrize("name", SHEETS)
def test_flops_are_those_of_data_sheets(name: str) -> None:
    device, (scalar, matrix) = find_device(name), SHEETS[name]
    assert device.flops("f32") / 1e12 == pytest.approx(scalar, rel=0.02)
    for kind, teraflops in matrix.items():
        assert device.matrix_flops(kind) / 1e12 == pytest.approx(teraflops, rel=0.065), kind


@pytest.mark.parametrize("name", DOCUMENTED)
def test_figures_of_documents(name: str) -> None:
    d, (cores, threads, blocks, shared, optin, bandwidth, l2) = find_device(name), DOCUMENTED[name]
    assert (d.cores.count, d.cores.threads, d.cores.blocks, d.cores.shared_bytes) == (
        cores,
        threads,
        blocks,
        shared * KIB,
    )
    assert d.limits.optin_shared_bytes == optin * KIB and d.memory.l2_bytes == l2 * MIB
    assert d.memory.bandwidth / 1e9 == pytest.approx(bandwidth, rel=0.001)


@pytest.mark.parametrize(("name", "clocks"), [("V100", (193, 375)), ("A100 PCIe 40GB", (261.5, 466.3))])
def test_latencies_are_those_of_microbenchmarks(name: str, clocks: tuple[float, float]) -> None:
    """Of Z. Jia et al. (2018), and of W. Luo et al. (IPDPS 2024), in clocks."""
    d = find_device(name)
    known = d.memory.l2_latency * d.rates.clock, d.memory.latency * d.rates.clock
    assert known == pytest.approx(clocks, rel=0.005)
    assert d.memory.l1_latency < d.memory.l2_latency


def test_rates_that_are_not_known_are_refused() -> None:
    with pytest.raises(ix.IndexingError, match="the matrix units of V100 have no known rate of 'bf16'; known: f16"):
        find_device("v100").matrix_flops("bf16")
    with pytest.raises(ix.IndexingError, match="the scalar units of CPU have no known rate of 's32'; known: f32, f64"):
        find_device("cpu").flops("s32")
    with pytest.raises(ix.IndexingError, match="knows no target 'CPU'"):
        find_device("cpu").xla_description()


# ---- the choice of a device


@pytest.mark.parametrize(
    ("asked", "name"),
    [
        ("h100", "H100 SXM"),
        ("H100 pcie", "H100 PCIe"),
        ("h100_sxm", "H100 SXM"),
        ("NVIDIA H100 80GB HBM3", "H100 SXM"),
        ("a100", "A100 SXM 80GB"),
        ("V100-PCIE-32GB", "V100 PCIe 32GB"),
        ("a100-40gb", "A100 SXM 40GB"),
        ("pcie a100", "A100 PCIe 80GB"),
        ("a6000", "RTX A6000"),
        ("CPU", "CPU"),
    ],
)
def test_names(asked: str, name: str) -> None:
    device = find_device(asked)
    assert device.name == name and device.origin == "" and str(device) == name
    assert chosen_device(asked) == device and chosen_device(device) is device


@pytest.mark.parametrize("asked", ["h1000", "", " ", "a100 h100"])
def test_names_of_no_device(asked: str) -> None:
    with pytest.raises(ix.IndexingError, match=r"there is no device '.*'; one of 'V100', .*, or a Device of your own"):
        find_device(asked)


def test_a_device_that_no_one_named_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(detect, "detected_device", lambda: None)
    default = ix.find_device()
    assert str(default) == "H100 SXM (default; none detected)" and default != ix.find_device("h100")
    actual = replace(find_device("l4"), origin="detected")
    monkeypatch.setattr(detect, "detected_device", lambda: actual)
    module = ix.hlo.parse(
        "ENTRY e { p = f32[64,64] parameter(0)\n ROOT t = f32[64,64] transpose(p), dimensions={1,0} }"
    )
    assert "on L4 (detected), " in str(ix.analyze(module)) and "on L4 (detected): " in repr(ix.coalescing(module))
    assert "on L4 (detected): " in repr(ix.predict(module)) and ix.predict(module).device is actual
    assert " (d" not in str(ix.analyze(module, "l4"))


def attributes_of(device: ix.Device, **others: int) -> Callable[[str], int]:
    """A driver that reports the figures of a device."""
    assert device.architecture is not None
    limits, cores, memory = device.limits, device.cores, device.memory
    known = {
        "COMPUTE_CAPABILITY_MAJOR": device.architecture.capability[0],
        "COMPUTE_CAPABILITY_MINOR": device.architecture.capability[1],
        "MULTIPROCESSOR_COUNT": cores.count,
        "CLOCK_RATE": round(device.rates.clock / 1e3),
        "MAX_THREADS_PER_MULTIPROCESSOR": cores.threads,
        "MAX_BLOCKS_PER_MULTIPROCESSOR": cores.blocks,
        "MAX_SHARED_MEMORY_PER_MULTIPROCESSOR": cores.shared_bytes,
        "MAX_REGISTERS_PER_MULTIPROCESSOR": cores.registers,
        "WARP_SIZE": cores.warp_size,
        "MAX_THREADS_PER_BLOCK": limits.threads,
        **{f"MAX_BLOCK_DIM_{axis}": size for axis, size in zip("XYZ", limits.block, strict=True)},
        **{f"MAX_GRID_DIM_{axis}": size for axis, size in zip("XYZ", limits.grid, strict=True)},
        "MAX_SHARED_MEMORY_PER_BLOCK": limits.shared_bytes,
        "MAX_SHARED_MEMORY_PER_BLOCK_OPTIN": limits.optin_shared_bytes,
        "RESERVED_SHARED_MEMORY_PER_BLOCK": limits.reserved_shared_bytes,
        "MAX_REGISTERS_PER_BLOCK": limits.registers,
        "GLOBAL_MEMORY_BUS_WIDTH": 5120,
        "MEMORY_CLOCK_RATE": round(memory.bandwidth / 5120 * 8 / 2e3),
        "L2_CACHE_SIZE": memory.l2_bytes,
    }
    return (known | others).__getitem__


@pytest.mark.parametrize("name", CAPABILITIES)
def test_a_gpu_that_reports_its_figures_is_the_one_of_the_table(name: str) -> None:
    known = find_device(name)
    device = reported_device(known.description, known.memory.bytes, attributes_of(known))
    assert (device.origin, device.name, device.architecture) == ("detected", known.description, known.architecture)
    assert (device.limits, device.widths, device.cores) == (known.limits, known.widths, known.cores)
    assert device.memory.bandwidth == pytest.approx(known.memory.bandwidth, rel=1e-5)
    assert device.memory.l2_bandwidth == pytest.approx(known.memory.l2_bandwidth)
    assert device.rates.matrix_clock == pytest.approx(known.rates.matrix_clock)


def test_the_driver_has_each_attribute_that_is_read() -> None:
    names, known = set(), attributes_of(find_device("H100 SXM"))

    def read(name: str) -> int:
        names.add(name)
        return known(name)

    reported_device("NVIDIA H100", 10**9, read)
    assert len(names) > 20 and all(int(detect.attribute(name)) > 0 for name in names)


def test_a_gpu_of_which_nothing_is_known_but_what_it_reports() -> None:
    """A third of an H100, of a newer architecture: with its rates a core; and one that is older than all."""
    h100 = find_device("h100")
    read = attributes_of(h100, MULTIPROCESSOR_COUNT=44, COMPUTE_CAPABILITY_MINOR=3, MAX_THREADS_PER_BLOCK=512)
    device = reported_device("NVIDIA H33", 10**9, read)
    assert str(device) == "NVIDIA H33 (detected)" and device.architecture is not None
    assert (device.architecture.name, device.limits.threads, device.memory.bytes) == ("sm_93", 512, 10**9)
    assert device.matrix_flops("bf16") == pytest.approx(h100.matrix_flops("bf16") / 3)
    assert device.rates.operations == pytest.approx(h100.rates.operations / 3)
    assert device.widths.wanted_threads == 32768  # of 44 * 2048 / 2
    same = reported_device("NVIDIA H100 NVL", 10**9, attributes_of(h100))
    assert same.rates.matrix == h100.rates.matrix and same.rates.scalar == h100.rates.scalar
    older = reported_device("old", 10**9, attributes_of(h100, COMPUTE_CAPABILITY_MAJOR=6))
    assert older.rates.scalar == find_device("v100").rates.scalar


# ---- the record


def test_records_are_values() -> None:
    device = find_device("h100")
    assert pickle.loads(pickle.dumps(device)) == device and hash(device) == hash(pickle.loads(pickle.dumps(device)))
    assert device.with_memory(bandwidth=1e12).memory == replace(device.memory, bandwidth=1e12)
    assert device.with_cores(count=1).cores.count == 1 and device.with_rates(launch=0.0).rates.launch == 0
    assert device.with_limits(threads=96).widths.block_size == 64, "a power of two within the limit"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda d: d.with_memory(bandwidth=0.0), "bandwidth of Memory is positive; got 0.0"),
        (lambda d: d.with_memory(sector_bytes=48), "a line of memory is whole sectors"),
        (lambda d: d.with_cores(count=0), "count of Cores is positive"),
        (lambda d: d.with_rates(launch=-1.0), "launch of Rates is not negative"),
        (lambda d: d.with_rates(clock=float("nan")), "clock of Rates is positive"),
        (lambda d: d.with_limits(block=(1, 1)), "in x, y and z"),
        (lambda d: replace(d, description='a"b'), "must not contain quotes"),
    ],
)
def test_what_is_no_device_is_refused(change: Callable[[ix.Device], ix.Device], said: str) -> None:
    with pytest.raises(ix.IndexingError, match=said):
        change(find_device("h100"))


def test_values_of_other_types_are_refused() -> None:
    with pytest.raises(TypeError, match="Cores: count is a str; expected an integer"):
        find_device("h100").with_cores(count="84")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="Device: memory is an int; expected a Memory"):
        replace(find_device("h100"), memory=3)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="find_device: name is an int"):
        ix.find_device(3)  # type: ignore[arg-type]


def test_kernels_for_any_device_keep_the_limits_of_all() -> None:
    """Each dialect has one, whose limits no device of the dialect undercuts."""
    assert set(PORTABLE) == set(TARGETS)
    for device in (*ix.devices(), *PORTABLE.values()):
        least = portable_device(device.dialect).limits
        assert least.threads <= device.limits.threads and least.shared_bytes <= device.limits.shared_bytes
        assert all(
            a <= b
            for a, b in zip((*least.block, *least.grid), (*device.limits.block, *device.limits.grid), strict=True)
        )
    with pytest.raises(
        ix.CompileError, match="there is no dialect 'ptx'; choose one of cuda, c, opencl; devices are named by device="
    ):
        portable_device("ptx")


def test_plans_are_made_for_the_device() -> None:
    """A device with few cores is busy with fewer blocks: a long reduction is split among fewer."""
    text = """add { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT c = f32[] add(a, b) }
    ENTRY f { p = f32[4194304] parameter(0)\n z = f32[] constant(0)\n ROOT r = f32[] reduce(p, z), dimensions={0}, to_apply=add }"""
    computation = ix.hlo.parse(text).entry
    large, few = (ix.emit(computation, device=name) for name in ("h100", "t4"))
    assert (large.device.name, few.device.name) == ("H100 SXM", "T4")
    assert large.grid[0] == 8 * few.grid[0], "131072 and 16384 threads keep them busy"
    assert ix.knobs(computation, device="t4").default["split_k"] == few.grid[0]
    assert ix.emit(computation).device.name == "any CUDA GPU"
    assert ix.emit(computation, device="cpu").dialect == "c"
    kernels = ix.emit_all(ix.hlo.parse(text), device="t4")
    assert [k.grid for k in kernels] == [few.grid]
