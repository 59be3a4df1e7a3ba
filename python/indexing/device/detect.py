"""The choice of a device: by name, as its driver reports it, or a default that says so."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

from indexing.arguments import of_type, optional, takes
from indexing.device.record import Architecture, Device, DeviceLike
from indexing.device.table import DEFAULT, DEVICES, wanted_threads
from indexing.errors import IndexingError

#: Reads an attribute of a GPU, by the end of its name in the driver's CUdevice_attribute.
Reader = Callable[[str], int]


def devices() -> tuple[Device, ...]:
    """All devices that are known by name."""
    return tuple(DEVICES.values())


@takes(name=optional(of_type(str)))
def find_device(name: str | None = None) -> Device:
    """The device of a name, or of words of it, in any case (`"h100"`); without one, the GPU that the driver reports, else a
    default. `device.origin` says which. Raises IndexingError if there is no device of that name.
    """
    if name is None:
        return detected_device() or replace(DEFAULT, origin="default; none detected")
    words = set(_words(name))
    for device in DEVICES.values():
        if words and (words <= set(_words(device.name)) or words == set(_words(device.description))):
            return device
    raise IndexingError(f"there is no device {name!r}; one of {', '.join(map(repr, DEVICES))}, or a Device of your own")


@cache
def _words(name: str) -> tuple[str, ...]:
    return tuple(name.casefold().replace("-", " ").replace("_", " ").split())


def chosen_device(device: DeviceLike) -> Device:
    """A device itself, or the one that `find_device` finds."""
    return device if isinstance(device, Device) else find_device(device)


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


@cache
def detected_device(ordinal: int = 0) -> Device | None:
    """The GPU of that number as the driver reports it; None if there is none."""
    if ordinal >= gpu_count():
        return None
    from cuda.bindings import driver

    gpu = _answer(driver.cuDeviceGet(ordinal))

    def read(name: str) -> int:
        return int(_answer(driver.cuDeviceGetAttribute(attribute(name), gpu)))

    name = bytes(_answer(driver.cuDeviceGetName(256, gpu))).split(b"\0")[0].decode()
    return reported_device(name, int(_answer(driver.cuDeviceTotalMem(gpu))), read)


def attribute(name: str) -> Any:
    """The driver's CUdevice_attribute of a name, without its prefix."""
    from cuda.bindings import driver

    return getattr(driver.CUdevice_attribute, f"CU_DEVICE_ATTRIBUTE_{name}")  # not an Enum: it can't be subscripted


def _answer(result: tuple[Any, Any]) -> Any:
    status, value = result
    if int(status) != 0:
        raise IndexingError(f"the CUDA driver returned {status!r}; name a device instead")
    return value


def reported_device(description: str, memory_bytes: int, read: Reader) -> Device:
    """A GPU by the attributes that its driver reports; what no driver reports is as of the known GPU that is most like it."""
    capability = (read("COMPUTE_CAPABILITY_MAJOR"), read("COMPUTE_CAPABILITY_MINOR"))
    like = _most_like(description, capability)
    count, clock = read("MULTIPROCESSOR_COUNT"), read("CLOCK_RATE") * 1e3  # from kilohertz
    cores = replace(
        like.cores,
        count=count,
        threads=read("MAX_THREADS_PER_MULTIPROCESSOR"),
        blocks=read("MAX_BLOCKS_PER_MULTIPROCESSOR"),
        shared_bytes=read("MAX_SHARED_MEMORY_PER_MULTIPROCESSOR"),
        registers=read("MAX_REGISTERS_PER_MULTIPROCESSOR"),
        warp_size=read("WARP_SIZE"),
    )
    limits = replace(
        like.limits,
        threads=read("MAX_THREADS_PER_BLOCK"),
        block=(read("MAX_BLOCK_DIM_X"), read("MAX_BLOCK_DIM_Y"), read("MAX_BLOCK_DIM_Z")),
        grid=(read("MAX_GRID_DIM_X"), read("MAX_GRID_DIM_Y"), read("MAX_GRID_DIM_Z")),
        shared_bytes=read("MAX_SHARED_MEMORY_PER_BLOCK"),
        optin_shared_bytes=read("MAX_SHARED_MEMORY_PER_BLOCK_OPTIN"),
        reserved_shared_bytes=read("RESERVED_SHARED_MEMORY_PER_BLOCK"),
        registers=read("MAX_REGISTERS_PER_BLOCK"),
    )
    faster = count * clock / (like.cores.count * like.rates.clock)
    width = read("GLOBAL_MEMORY_BUS_WIDTH") // 8
    memory = replace(
        like.memory,
        bandwidth=2e3 * read("MEMORY_CLOCK_RATE") * width,  # two transfers a clock
        bytes=memory_bytes,
        l2_bytes=read("L2_CACHE_SIZE"),
        l2_bandwidth=like.memory.l2_bandwidth * faster,
    )
    ratio = like.rates.matrix_clock / like.rates.clock
    rates = replace(like.rates, clock=clock, matrix_clock=clock * ratio, operations=like.rates.operations * faster)
    return replace(
        like,
        name=description,
        limits=limits,
        widths=replace(like.widths, wanted_threads=wanted_threads(cores)),
        cores=cores,
        memory=memory,
        rates=rates,
        description=description,
        architecture=Architecture(capability, like.architecture is not None and like.architecture.accelerated),
        origin="detected",
    )


def _most_like(description: str, capability: tuple[int, int]) -> Device:
    """The known GPU of that description, else the first of the nearest compute capability that is no newer, else the oldest."""
    known = [d for d in DEVICES.values() if d.architecture is not None]
    for device in known:
        if _words(device.description) == _words(description):
            return device
    older = [d for d in known if d.architecture is not None and d.architecture.capability <= capability]
    return max(older, key=_capability, default=min(known, key=_capability))


def _capability(device: Device) -> tuple[int, int]:
    assert device.architecture is not None
    return device.architecture.capability
