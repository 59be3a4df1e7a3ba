"""The table of devices, a row each: figures of XLA's descriptions where it has one, else of NVIDIA's documents.

Limits and rates of an architecture are those of CUDA's programming guide; bandwidths of L2 caches are measured ones, which
no vendor publishes. Shares of peak rates are fitted to one half of the times of elementwise kernels and of cuBLAS products in
f32 that S. Lee, A. Phanishayee and D. Mahajan measured (NeuSight, ASPLOS 2025) on V100, A100 (PCIe), L4, T4 and H100, by
benches/gpu_times.py; other devices have those of the nearest.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace

from indexing.device.limits import Limits, Widths
from indexing.device.record import Architecture, Cores, Device, Memory, Rates
from indexing.errors import CompileError

KIB, MIB, GIGA = 1 << 10, 1 << 20, 1e9

# Those of all NVIDIA GPUs since 2012; more shared memory is there only on request.
CUDA_LIMITS = Limits(1024, block=(1024, 1024, 64), grid=(2**31 - 1, 2**16 - 1, 2**16 - 1), shared_bytes=48 * KIB)
# 32 KiB are the least that the full profile of OpenCL guarantees.
OPENCL_LIMITS = replace(CUDA_LIMITS, shared_bytes=32 * KIB)
# Blocks are loops; their shared memory, and what their threads keep, is on the stack of a thread, and fits into its L2 cache.
CORE_LIMITS = Limits(1024, block=(1024, 1024, 1024), grid=(2**31 - 1,) * 3, shared_bytes=64 * KIB)
# A block's threads are a loop on one core: enough for vectors, few enough that their accumulators stay in cache, and wide
# enough for long contiguous accesses.
CORE_WIDTHS = Widths(
    1 << 14, row_threads=64, block_size=64, tile_threads=256, columns=1024, caches_rows=True, reads_ahead=True
)


# Measured by chasing pointers, on V100: Z. Jia et al., "Dissecting the NVIDIA Volta GPU Architecture via Microbenchmarking"
# (2018), figure 3.2, that of memory without a miss of the TLB; on A100, RTX 4090 and H800, W. Luo et al., "Benchmarking and
# Dissecting the Nvidia Hopper GPU Architecture" (IPDPS 2024), table IV.
VOLTA_WAITS, AMPERE_WAITS, ADA_WAITS, HOPPER_WAITS = (28, 193, 375), (38, 262, 466), (43, 273, 542), (41, 263, 479)
# Those of caches were measured on an RTX 2070 (repository gpu-arch-microbenchmark, 2021). Those of memory here, and all of
# Blackwell's, have no source: they are Ampere's and Hopper's.
TURING_WAITS = (32, 236, 466)


@dataclass(frozen=True, slots=True)
class _Shares:
    """The shares of the peak bandwidth and of the peak rate of products that are reached, the cost of a tile's elements, and
    the share of the rates of cores.
    """

    reached: float
    product_share: float
    tile_cost: float
    cores: float = 1.0


#: That of the A100 PCIe 80GB is of the clock that XLA states for it, which it exceeds; L4 and T4 are limited by their power.
VOLTA_SHARES = _Shares(0.91, 0.9, 4.0)
AMPERE_SHARES = _Shares(0.875, 0.84, 64.0)
SLOW_CLOCK_SHARES = _Shares(0.82, 1.21, 64.0)
TURING_SHARES = _Shares(0.74, 0.51, 4.0)
ADA_SHARES = _Shares(0.78, 0.3, 4.0)
# Of an H200: kernels that issue or arithmetic limits took 1.13 to 1.17 times as long as at the clock that its maker states.
HOPPER_SHARES = _Shares(0.9, 0.75, 24.0, cores=0.87)
H200_SHARES = replace(HOPPER_SHARES, reached=0.8725)  # 4,188 GB/s, which copies were measured to reach


@dataclass(frozen=True, slots=True)
class _Chip:
    """The figures that all GPUs of a compute capability have, and the shares that most do; `shared` is the KiB of shared memory
    of a core, of which blocks reserve `reserved` each. `waits` are the clocks from a load to its value, where the L1 cache, the
    L2 cache or memory has it.
    """

    capability: tuple[int, int]
    threads: int
    blocks: int
    lanes: int
    shared: int
    reserved: int
    l1: int  # KiB, shared memory included
    waits: tuple[int, int, int]
    scalar: Mapping[str, int]
    matrix: Mapping[str, int]
    shares: _Shares
    accelerated: bool = False


def _by_type(**rates: int) -> Mapping[str, int]:
    """The rates by element type, that of `f8` for all formats of eight bits."""
    formats = ("f8e5m2", "f8e4m3", "f8e4m3fn")
    rate = rates.pop("f8", None)
    return rates if rate is None else rates | dict.fromkeys(formats, rate)


VOLTA = _Chip(
    *((7, 0), 2048, 32, 64, 96, 0, 128, VOLTA_WAITS, _by_type(f16=128, f32=64, f64=32, s32=64)),
    _by_type(f16=512),
    VOLTA_SHARES,
)
TURING = _Chip(
    *((7, 5), 1024, 16, 64, 64, 0, 96, TURING_WAITS, _by_type(f16=128, f32=64, f64=2, s32=64)),
    _by_type(f16=512, s8=1024, s4=2048),
    TURING_SHARES,
)
AMPERE = _Chip(
    *((8, 0), 2048, 32, 64, 164, 1, 192, AMPERE_WAITS, _by_type(f16=256, bf16=128, f32=64, f64=32, s32=64)),
    _by_type(f16=1024, bf16=1024, f32=512, f64=64, s8=2048, s4=4096),
    AMPERE_SHARES,
)
AMPERE_GRAPHICS = _Chip(
    *((8, 6), 1536, 16, 128, 100, 1, 128, AMPERE_WAITS, _by_type(f16=128, bf16=128, f32=128, f64=2, s32=64)),
    _by_type(f16=512, bf16=512, f32=256, s8=1024, s4=2048),
    AMPERE_SHARES,
)
ADA = _Chip(
    *((8, 9), 1536, 24, 128, 100, 1, 128, ADA_WAITS, _by_type(f16=128, bf16=128, f32=128, f64=2, s32=64)),
    _by_type(f16=512, bf16=512, f32=256, f8=1024, s8=1024, s4=2048),
    ADA_SHARES,
)
HOPPER = _Chip(
    *((9, 0), 2048, 32, 128, 228, 1, 256, HOPPER_WAITS, _by_type(f16=256, bf16=256, f32=128, f64=64, s32=64)),
    _by_type(f16=2048, bf16=2048, f32=1024, f64=128, f8=4096, s8=4096),
    HOPPER_SHARES,
    accelerated=True,
)
BLACKWELL = _Chip(
    *((10, 0), 2048, 32, 128, 228, 1, 256, HOPPER_WAITS, _by_type(f16=128, bf16=128, f32=128, f64=64, s32=64)),
    _by_type(f16=4096, bf16=4096, f32=2048, f64=64, f8=8192, s8=8192, f4e2m1fn=16384),
    HOPPER_SHARES,
    accelerated=True,
)


def wanted_threads(cores: Cores) -> int:
    """The threads that keep a GPU busy: about half of those that it holds, a power of two."""
    return 1 << ((cores.count * cores.threads // 2).bit_length() - 1)


def _gpu(
    name: str,
    description: str,
    chip: _Chip,
    cores: int,
    clock: float,
    l2: tuple[int, float],
    memory: tuple[float, int],
    shares: _Shares | None = None,
    matrix_clock: float | None = None,
) -> Device:
    """A GPU: gigahertz; bytes and gigabytes per second of its L2 cache; gigabytes per second and bytes of its memory; by
    default the chip's shares.
    """
    shares = shares or chip.shares
    held = Cores(cores, chip.threads, chip.blocks, chip.lanes, chip.shared * KIB)
    limits = replace(
        CUDA_LIMITS,
        optin_shared_bytes=(chip.shared - chip.reserved) * KIB,
        reserved_shared_bytes=chip.reserved * KIB,
    )
    rates = Rates(
        clock * GIGA,
        (matrix_clock or clock) * GIGA,
        cores * chip.lanes * clock * GIGA,
        chip.scalar,
        chip.matrix,
        product_share=shares.product_share,
        tile_cost=shares.tile_cost,
        reached=shares.cores,
    )
    return Device(
        name,
        "cuda",
        limits,
        Widths(wanted_threads(held), row_threads=256, block_size=256, tile_threads=128, columns=32),
        held,
        Memory(
            *(memory[0] * GIGA, memory[1], chip.l1 * KIB, l2[0], l2[1] * GIGA),
            latency=chip.waits[2] / (clock * GIGA),
            l2_latency=chip.waits[1] / (clock * GIGA),
            l1_latency=chip.waits[0] / (clock * GIGA),
            reached=shares.reached,
        ),
        rates,
        description,
        Architecture(chip.capability, chip.accelerated),
    )


def _cpu(name: str, count: int) -> Device:
    """A processor, for kernels in C: a core runs one block at a time, moves whole lines, and does steps of loops.

    A launch is the call of a function (the fastest of 138 fusions took 6 ns), in a program a step of a tape. Loads are on
    their way before loops need them: a kernel waits for the first one as for a cache of its core.
    """
    wait = 2e-9
    memory = Memory(
        *(100 * GIGA, 1 << 34, 32 * KIB, 16 * MIB, 40 * GIGA * count, wait, wait, wait),
        loads_under_way=64,
        sector_bytes=64,
        line_bytes=64,
        reached=0.25,
    )
    cores = Cores(count, threads=1024, blocks=1, lanes=16, shared_bytes=0, registers=0, warp_size=16)
    products = _by_type(f32=48, f64=24)  # multiply-adds in a nanosecond, of vectors in registers
    rates = Rates(GIGA, GIGA, 14 * GIGA * count, products, {}, launch=5e-9, following=2e-8, block=1e-9, overlap=2.0)
    return Device(name, "c", CORE_LIMITS, CORE_WIDTHS, cores, memory, rates)


CPU = _cpu("CPU", os.cpu_count() or 1)  # this processor
#: All devices by name; of several that a shorter name fits, it means the first.
DEVICES: dict[str, Device] = {
    d.name: d
    for d in (
        _gpu("V100", "Tesla V100-SXM2-16GB", VOLTA, 80, 1.53, (6 * MIB, 2500), (898.048, 16_935_682_048)),
        _gpu("V100 PCIe 32GB", "Tesla V100-PCIE-32GB", VOLTA, 80, 1.38, (6 * MIB, 2250), (898.048, 34_089_730_048)),
        _gpu("A100 SXM 80GB", "NVIDIA A100-SXM4-80GB", AMPERE, 108, 1.41, (40 * MIB, 4000), (2039.04, 85_100_068_864)),
        _gpu("A100 SXM 40GB", "NVIDIA A100-SXM4-40GB", AMPERE, 108, 1.41, (40 * MIB, 4000), (1555.2, 42_331_013_120)),
        _gpu(
            *(
                "A100 PCIe 80GB",
                "NVIDIA A100 80GB PCIe",
                AMPERE,
                108,
                1.1105,
                (40 * MIB, 3200),
                (2039.0, 79_050_250_240),
            ),
            shares=SLOW_CLOCK_SHARES,
        ),
        _gpu("A100 PCIe 40GB", "NVIDIA A100-PCIE-40GB", AMPERE, 108, 1.41, (40 * MIB, 4000), (1555.2, 42_331_013_120)),
        _gpu("RTX A6000", "NVIDIA RTX A6000", AMPERE_GRAPHICS, 84, 1.8, (6 * MIB, 2500), (768.096, 51_041_271_808)),
        _gpu("T4", "Tesla T4", TURING, 40, 1.59, (4 * MIB, 1270), (320.064, 15_828_320_256)),
        _gpu("L4", "NVIDIA L4", ADA, 58, 2.04, (48 * MIB, 2500), (300.096, 23_580_639_232)),
        _gpu(
            *("H100 SXM", "NVIDIA H100 80GB HBM3", HOPPER, 132, 1.98, (50 * MIB, 5500), (3352.32, 84_942_979_072)),
            matrix_clock=1.8295201,
        ),
        _gpu(
            *("H100 PCIe", "NVIDIA H100 PCIe", HOPPER, 114, 1.755, (50 * MIB, 4200), (2039.04, 84_942_979_072)),
            matrix_clock=1.62162,
        ),
        _gpu(
            *("H200", "NVIDIA H200", HOPPER, 132, 1.98, (50 * MIB, 8400), (4800.0, 151_397_597_184), H200_SHARES),
            matrix_clock=1.8295201,
        ),
        _gpu(
            *("B200", "NVIDIA B200", BLACKWELL, 148, 1.965, (132_644_864, 9000), (7672.32, 191_514_411_008)),
            matrix_clock=1.8353101,
        ),
        CPU,
    )
}
DEFAULT = DEVICES["H100 SXM"]
#: For each dialect, the device of kernels that are made for any device: its limits are what all of them have, its other
#: figures, from which default plans take their widths, are those of a large one.
PORTABLE: dict[str, Device] = {
    "cuda": replace(DEFAULT, name="any CUDA GPU", limits=CUDA_LIMITS, description="", architecture=None),
    "c": _cpu("any CPU", 16),
    "opencl": replace(
        DEFAULT, name="any OpenCL device", dialect="opencl", limits=OPENCL_LIMITS, description="", architecture=None
    ),
}


def portable_device(dialect: str | None = None) -> Device:
    """The device of kernels in a dialect, by default CUDA C++, that are made for any device that runs it.

    Raises CompileError for an unknown dialect.
    """
    device = PORTABLE.get(dialect or DEFAULT.dialect)
    if device is None:
        known = ", ".join(PORTABLE)
        raise CompileError(f"there is no dialect {dialect!r}; choose one of {known}; devices are named by device=")
    return device
