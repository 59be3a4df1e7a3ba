"""Names of devices, by which stores tell their measurements apart; their records, and the number of cores."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from indexing.device.record import Device as DeviceRecord
from indexing.device.table import portable_device
from indexing.runtime.compiler import find_compiler

if TYPE_CHECKING:
    from indexing.runtime.device import Device  # imports numpy

HOST_DIALECT = "c"  # the dialect of the kernels that the processor runs


def device_identity(device: Device) -> str:
    """The name of a device that is open: its `identity` if it has one, else its name."""
    return str(getattr(device, "identity", device.name))


def processor_identity() -> str:
    """The name of the processor with its compiler. Raises CompileError where there is none."""
    return f"cpu of {core_count()} cores, {find_compiler().identity}"


def core_count() -> int:
    """The number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def described(device: Device) -> DeviceRecord:
    """The record of an open device, for which its kernels are planned: its own, else one with the limits of all that run the
    dialect.
    """
    record = getattr(device, "record", None)
    return record if isinstance(record, DeviceRecord) else portable_device(device.dialect)
