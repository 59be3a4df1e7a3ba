"""jaxlib's CPU client: HLO text compiled, called with arrays, as the oracle of this fuzzer.

The text becomes StableHLO on its way, which drops layouts and fusions, and XLA makes of it what it likes. The process may
die of a program (a check inside of XLA fails), which the caller has to survive.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

import numpy as np

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("JAX_PLATFORMS", "cpu")
if "jax" not in sys.modules:  # not in tests that have imported it, whose other programs are of 32 bits
    os.environ["JAX_ENABLE_X64"] = "1"  # without it, arrays of 64 bits are passed as of 32

import jax
import jaxlib._hlo as hlo  # type: ignore[import-not-found, unused-ignore]
import jaxlib._jax as xla  # type: ignore[import-not-found, unused-ignore]
import jaxlib.version
from jax.core import ShapedArray
from jaxlib import xla_client

VERSION = jaxlib.version.__version_info__
_ERRORS = (RuntimeError, ValueError, TypeError)  # what jaxlib raises


class Refused(RuntimeError):
    """jaxlib doesn't accept the program, or can't run it."""


class Compiled:
    """A program that jaxlib compiled: quickly, by kernels of XLA's older emitters, or as it does by default.

    The older emitters take a fifth of the time, and answer some questions of arithmetic otherwise than those in use.
    jaxlib 0.11.1 has them no more: both ways are the default there.
    """

    def __init__(self, text: str, quick: bool = True) -> None:
        try:
            module = hlo.hlo_module_from_text(text)
            stable = xla.mlir.hlo_to_stablehlo(module.as_serialized_hlo_module_proto())
            self._executable = _CLIENT.compile_and_load(stable, xla.DeviceList((_DEVICE,)), _options(quick))
        except _ERRORS as error:
            raise Refused(_one_line(str(error))) from error
        self._placed: list[tuple[np.ndarray, object]] = []

    def __call__(self, arguments: Sequence[np.ndarray]) -> list[np.ndarray]:
        old = {id(array): placed for array, placed in self._placed}
        self._placed = [(a, old[id(a)] if id(a) in old else _put(a)) for a in arguments]
        given = [placed for _, placed in self._placed]
        try:
            results = self._executable.execute_sharded(given).disassemble_into_single_device_arrays()
            return [np.asarray(r[0]) for r in results]
        except _ERRORS as error:
            raise Refused(_one_line(str(error))) from error


def _options(quick: bool) -> object:
    """No arithmetic beyond the types' own precision; the least optimization, since programs run once or a few times."""
    options = xla.CompileOptions()
    options.env_option_overrides = [("xla_allow_excess_precision", False), ("xla_cpu_enable_fast_math", False)]
    if VERSION < (0, 11, 1):
        options.env_option_overrides += [("xla_cpu_use_fusion_emitters", not quick)]
    options.executable_build_options.debug_options.xla_backend_optimization_level = 0
    return options


def _put(array: np.ndarray) -> object:
    aval = ShapedArray(array.shape, array.dtype)
    with jax.enable_x64(True):  # else JAX, once it has run in this process, narrows numbers of 64 bits
        return xla.batched_device_put(aval, _SHARDING, [np.ascontiguousarray(array)], [_DEVICE])


def _one_line(text: str) -> str:
    return " ".join(text.split())[:300]


_CLIENT = xla_client.make_cpu_client()
_DEVICE = _CLIENT.devices()[0]
_SHARDING = xla.SingleDeviceSharding(_DEVICE)
