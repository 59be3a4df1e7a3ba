"""What PoCL needs to be told before it compiles: where it may keep programs, and which processor it runs on.

PoCL asks LLVM for the processor's name. The LLVM inside of the wheel (14) answers `generic` for processors that are
newer than itself, and its own compiler then refuses that name, so that no program can be built. There is no option to
set another name; it is a string that the device's record points to, and the record is corrected here.
"""

from __future__ import annotations

import ctypes
import os
import platform
import struct
from pathlib import Path

from indexing.runtime import cache

RECORD_BYTES = 4096  # more than the record has; reading stops at the end of the memory that is mapped
POINTER_BYTES = 8
UNKNOWN = b"generic"

# The levels of x86-64, best first, with the features that tell them.
LEVELS = (
    (b"x86-64-v4", {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"}),
    (b"x86-64-v3", {"avx2", "bmi1", "bmi2", "f16c", "fma", "movbe"}),
    (b"x86-64", set[str]()),
)
_NAMES = {name: ctypes.create_string_buffer(name) for name, _ in LEVELS}  # PoCL keeps pointing to these


def choose_cache_folder() -> None:
    """Let PoCL keep compiled programs beside ours, unless the user has chosen a folder.

    pyopencl keeps what it makes in the user's cache folder; where that can't be written, it is told to keep nothing.
    """
    if not cache.of_user_can_be_written():
        os.environ.setdefault("PYOPENCL_NO_CACHE", "1")
    folder = cache.directory("pocl")
    if "POCL_CACHE_DIR" not in os.environ and folder is not None:
        os.environ["POCL_CACHE_DIR"] = str(folder)


def name_the_processor(device_address: int) -> None:
    """Give the device at `device_address` (a `cl_device_id` of PoCL) a processor name that its compiler knows.

    Does nothing where the name is known, and on anything but Linux on x86-64.
    """
    if platform.system() != "Linux" or platform.machine() != "x86_64":
        return
    memory = os.open("/proc/self/mem", os.O_RDONLY)
    try:
        record = _read(memory, device_address, RECORD_BYTES)
        for offset in range(0, len(record) - POINTER_BYTES + 1, POINTER_BYTES):
            (pointer,) = struct.unpack_from("<Q", record, offset)
            if _read(memory, pointer, len(UNKNOWN) + 1) == UNKNOWN + b"\0":
                name = _NAMES[_level()]
                ctypes.c_void_p.from_address(device_address + offset).value = ctypes.addressof(name)
    finally:
        os.close(memory)


def _read(memory: int, address: int, count: int) -> bytes:
    """Up to `count` bytes of this process; none where nothing is mapped."""
    if not 0 < address < 2**47:
        return b""
    try:
        return os.pread(memory, count, address)
    except OSError:
        return b""


def _level() -> bytes:
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    features = next((set(line.split(":")[1].split()) for line in lines if line.startswith("flags")), set[str]())
    return next(name for name, needed in LEVELS if needed <= features)
