"""Lookup of the fastest measured plans, for programs that are compiled with `tuned`."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from indexing._core import __version__
from indexing.device.table import portable_device
from indexing.emitters import emit_fused, knobs_of
from indexing.errors import UnsupportedOp
from indexing.runtime.identity import device_identity
from indexing.runtime.plan_store import Store

if TYPE_CHECKING:
    from indexing.emitters.knob_space import KnobSpace
    from indexing.hlo import Computation
    from indexing.runtime.device import Device


def tuned_plan(computation: Computation, device: Device, store: Store | None = None) -> dict[str, int]:
    """The fastest plan measured on a device; no knobs, which means the default plan, if none was measured."""
    try:
        key = fusion_key(computation, knobs_of(computation, portable_device(device.dialect)), device)
    except UnsupportedOp:
        return {}
    return (store or Store()).best(key) or {}


def fusion_key(computation: Computation, space: KnobSpace, device: Device) -> str:
    """A hash of the default kernel's source, the knobs, the device and its compiler, and the package's version."""
    source = emit_fused(computation, portable_device(device.dialect)).source
    text = "\n".join([source, str(space), device_identity(device), __version__])
    return hashlib.sha256(text.encode()).hexdigest()
