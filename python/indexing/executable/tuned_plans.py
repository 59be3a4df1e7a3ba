"""Lookup of the fastest measured plans, for programs that are compiled with `tuned`."""

from __future__ import annotations

import hashlib

from indexing._core import __version__
from indexing.device.record import Device as DeviceRecord
from indexing.errors import UnsupportedOp
from indexing.graph.extraction import content_key
from indexing.hlo import Computation
from indexing.kernels import knobs_of
from indexing.runtime.device import Device
from indexing.runtime.identity import described, device_identity
from indexing.runtime.plan_store import Store


def tuned_plan(computation: Computation, device: Device, store: Store | None = None) -> dict[str, int]:
    """The fastest plan measured on a device; no knobs, which means the default plan, if none was measured."""
    try:
        key = fusion_key(computation, described(device), device)
    except UnsupportedOp:
        return {}
    return (store or Store()).best(key) or {}


def fusion_key(computation: Computation, planned_for: DeviceRecord, device: Device) -> str:
    """A hash of the computation's content, of its knobs on a device as it is described, of the device that runs it and its
    compiler, and of the package's version. No names occur in it.

    Raises UnsupportedOp if no kernel computes the computation.
    """
    space = knobs_of(computation, planned_for)
    text = "\n".join([content_key(computation), str(space), device_identity(device), __version__])
    return hashlib.sha256(text.encode()).hexdigest()
