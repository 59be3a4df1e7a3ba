"""Give PoCL a processor name that its compiler accepts, on processors newer than the compiler.

PoCL asks LLVM for the host's name once, when a device is made. On a processor that its LLVM does not know the answer is
"generic", which clang refuses for x86-64, so that no program builds (https://github.com/pocl/pocl/issues/1049). No
setting changes the name, so it is replaced in the device itself: the one field of the device that points to "generic".
"""

from __future__ import annotations

import ctypes
from io import RawIOBase
from pathlib import Path

_UNKNOWN = b"generic\0"
_STRUCT_BYTES = 4096  # more than a device takes; what cannot be read is not searched
_AVX512 = ("avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl")
_LEVELS: tuple[tuple[bytes, frozenset[str]], ...] = (  # processor names by the flags that they need, best first
    (b"skylake-avx512", frozenset(["adx", "bmi2", "fma", *_AVX512])),
    (b"haswell", frozenset(["avx", "avx2", "fma", "bmi1", "bmi2", "f16c", "movbe"])),
    (b"x86-64", frozenset()),
)
_kept: list[ctypes.Array[ctypes.c_char]] = []  # PoCL keeps the pointer, so the text must live as long


def name_processor(device_pointer: int) -> None:
    """Where PoCL's device at `device_pointer` targets "generic", make it target what this processor's flags allow."""
    memory = Path("/proc/self/mem")
    if not memory.exists():
        return
    with memory.open("rb", buffering=0) as mapped:
        for offset in range(0, _STRUCT_BYTES, ctypes.sizeof(ctypes.c_void_p)):
            field = device_pointer + offset
            target = int.from_bytes(_read(mapped, field, 8), "little")
            if target and _read(mapped, target, len(_UNKNOWN)) == _UNKNOWN:
                name = ctypes.create_string_buffer(_best_name())
                _kept.append(name)
                ctypes.c_void_p.from_address(field).value = ctypes.addressof(name)
                return


def _read(mapped: RawIOBase, address: int, count: int) -> bytes:
    try:
        mapped.seek(address)
        return mapped.read(count) or b""
    except (OSError, ValueError, OverflowError):  # not mapped
        return b""


def _best_name() -> bytes:
    info = Path("/proc/cpuinfo").read_text()
    line = next((x for x in info.splitlines() if x.startswith("flags")), "")
    flags = frozenset(line.split())
    return next(name for name, needed in _LEVELS if needed <= flags)
