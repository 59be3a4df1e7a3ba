"""An OpenCL runtime for the tests: the one of Intel for processors, which is a wheel, made known to the loader."""

import ctypes
import os
import sys
import tempfile
from functools import cache
from pathlib import Path

import pytest

from indexing.runtime.opencl import OpenCLDevice

NEEDED = ("libintlc.so.5", "libirng.so", "libimf.so", "libsvml.so", "libtbb.so.12")  # what the runtime is linked with
RUNTIME = "libintelocl.so"


@cache
def device() -> OpenCLDevice:
    """The first device; the test is skipped where the machine is not one that the wheel is for."""
    folder = Path(sys.prefix) / "lib"
    if not (folder / RUNTIME).exists():
        pytest.skip("there is no wheel of an OpenCL runtime for this machine")
    for name in NEEDED:
        ctypes.CDLL(str(folder / name), mode=ctypes.RTLD_GLOBAL)
    listed = Path(tempfile.mkdtemp()) / "runtime.icd"
    listed.write_text(f"{folder / RUNTIME}\n")
    os.environ["OCL_ICD_VENDORS"] = str(listed.parent)
    return OpenCLDevice()
