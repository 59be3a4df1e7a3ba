"""Devices that run programs: their names, the dialects of their kernels, and the choice of `auto`."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from functools import cache
from typing import Literal, TypeAlias

from indexing.device.detect import gpu_count
from indexing.errors import IndexingError, ReferenceFallback
from indexing.hlo import parse
from indexing.kernels import emit
from indexing.runtime.device import TimingDevice

DeviceName: TypeAlias = Literal["auto", "cuda", "cpu", "reference"]
DEVICE_NAMES: tuple[DeviceName, ...] = ("auto", "cuda", "cpu", "reference")
REFERENCE = "reference"  # numpy: no device, and no kernels
PROBE = "ENTRY trial { p = f32[] parameter(0) ROOT n = f32[] negate(p) }"


Opener: TypeAlias = "Callable[[], TimingDevice]"


def _cuda() -> TimingDevice:
    from indexing.runtime.cuda import CudaDevice

    return CudaDevice()


def _cpu() -> TimingDevice:
    from indexing.runtime.host import Host

    return Host()


# The devices that run kernels, by name: the kernels' dialect, and the function that opens the device.
_OPENERS: dict[DeviceName, tuple[str, Opener]] = {"cuda": ("cuda", _cuda), "cpu": ("c", _cpu)}


def open_device(name: str) -> TimingDevice:
    """Open the device of that name. Raises IndexingError for an unknown name, CompileError if there is no such device."""
    if name not in _OPENERS:
        raise IndexingError(f"{name!r} is no device; expected one of {', '.join(map(repr, DEVICE_NAMES))}")
    _, opened = _OPENERS[name]
    return opened()


def device_of_dialect(dialect: str) -> TimingDevice:
    """Open the device whose kernels have that dialect. Raises IndexingError if there is none, CompileError as `open_device`."""
    for known, opened in _OPENERS.values():
        if known == dialect:
            return opened()
    raise IndexingError(f"nothing is measured in dialect {dialect!r}: tune for a CPU or a CUDA device")


@cache
def first_that_works() -> DeviceName:
    """The device that `"auto"` stands for, found once."""
    return first_working({name: opened for name, (_, opened) in _OPENERS.items() if name != "cuda" or gpu_count()})


def first_working(openers: Mapping[DeviceName, Opener]) -> DeviceName:
    """The first of these devices that loads a small kernel, else the reference; warns of devices that do not work."""
    broken: list[str] = []
    for name, opened in openers.items():
        try:
            device = opened()
            device.load(emit(parse(PROBE).entry, dialect=device.dialect))
        except IndexingError as failure:
            broken.append(f"device {name!r} does not work: {failure}")
        else:
            break
    else:
        name = "reference"
    if broken:
        slow = ", slowly" if name == REFERENCE else ""
        warnings.warn(f"device='auto' runs programs on {name!r}{slow}: {'; '.join(broken)}", ReferenceFallback, 4)
    return name
