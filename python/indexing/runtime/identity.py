"""Names of devices, by which stores tell their measurements apart; and numbers of cores and GPUs."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from indexing.runtime.compiler import find_compiler

if TYPE_CHECKING:
    from indexing.runtime.device import Device

__all__ = ["HOST_DIALECT", "core_count", "device_identity", "gpu_count", "processor_identity"]

HOST_DIALECT = "c"  # of the kernels that the processor runs


def device_identity(device: Device) -> str:
    """The name of a device that is open: its `identity` if it has one, else its name."""
    return str(getattr(device, "identity", device.name))


def processor_identity() -> str:
    """The name of the processor with its compiler. Raises CompileError where there is none."""
    return f"cpu of {core_count()} cores, {find_compiler().identity}"


def core_count() -> int:
    """The number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def gpu_count() -> int:
    """The number of GPUs; 0 without a driver or without the `cuda` extra."""
    try:
        from cuda.bindings import driver
        from cuda.pathfinder import DynamicLibNotFoundError
    except ImportError:
        return 0
    try:
        (status,) = driver.cuInit(0)
        if int(status) != 0:
            return 0
        status, count = driver.cuDeviceGetCount()
    except (DynamicLibNotFoundError, RuntimeError):
        return 0
    return int(count) if int(status) == 0 else 0
