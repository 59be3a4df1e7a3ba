"""The table of devices: a row each."""

from __future__ import annotations

from indexing.device.record import Device, Limits, Widths
from indexing.errors import CompileError

__all__ = ["PORTABLE", "portable_device"]

KIB = 1 << 10

# Sizes of plans: about half of the threads that a large GPU holds keep it busy.
GPU_WIDTHS = Widths(wanted_threads=1 << 17, row_threads=256, block_size=256, tile_threads=128, columns=32)
# A block's threads are a loop on one core: enough for vectors, few enough that their accumulators stay in cache, and wide
# enough for long contiguous accesses.
CORE_WIDTHS = Widths(
    wanted_threads=1 << 14,
    row_threads=64,
    block_size=64,
    tile_threads=256,
    columns=1024,
    caches_rows=True,
    reads_ahead=True,
)
# Those of all NVIDIA GPUs since 2012, by CUDA's programming guide; more shared memory is there only on request.
CUDA_LIMITS = Limits(1024, block=(1024, 1024, 64), grid=(2**31 - 1, 2**16 - 1, 2**16 - 1), shared_bytes=48 * KIB)
# 32 KiB are the least that the full profile of OpenCL guarantees.
OPENCL_LIMITS = Limits(1024, block=(1024, 1024, 64), grid=CUDA_LIMITS.grid, shared_bytes=32 * KIB)
# Blocks are loops, and their shared memory is on the stack of a thread: as much as a second-level cache holds.
CORE_LIMITS = Limits(1024, block=(1024, 1024, 1024), grid=(2**31 - 1,) * 3, shared_bytes=64 * KIB)

#: For each dialect, the device of kernels that are made for any device: its limits are what all of them have.
PORTABLE: dict[str, Device] = {
    d.dialect: d
    for d in (
        Device("any CUDA GPU", "cuda", CUDA_LIMITS, GPU_WIDTHS),
        Device("any CPU", "c", CORE_LIMITS, CORE_WIDTHS),
        Device("any OpenCL device", "opencl", OPENCL_LIMITS, GPU_WIDTHS),
    )
}


def portable_device(dialect: str | None = None) -> Device:
    """The device of kernels in a dialect, by default CUDA C++, that are made for any device that runs it.

    Raises CompileError for an unknown dialect.
    """
    found = PORTABLE.get(dialect or "cuda")
    if found is None:
        raise CompileError(f"there is no dialect {dialect!r}; choose one of {', '.join(PORTABLE)}")
    return found
