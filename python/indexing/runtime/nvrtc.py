"""Compilation of CUDA C++ to machine code or PTX by NVRTC, through cuda.core, without a GPU or a driver.

cuda.core's program cache keeps results on disk, keyed by source, options and the compiler's version.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable
from typing import TYPE_CHECKING

from indexing.arguments import of_type, takes
from indexing.errors import CompileError
from indexing.extras import install_command, missing_extra
from indexing.runtime import cache
from indexing.runtime.device import CompilableKernel, expect_dialect
from indexing.runtime.listing import compile_error

if TYPE_CHECKING:
    from cuda.core import Program


CACHE_BYTES = 512 * 2**20
ELF_HEADER = 64  # bytes


@takes(kernel=of_type(CompilableKernel), arch=of_type(str))
def cubin(kernel: CompilableKernel, arch: str = "sm_90") -> bytes:
    """Machine code of a kernel in the CUDA dialect for `arch`, such as `sm_90`.

    Raises CompileError for another dialect or an `arch` of another form, without the `cuda` extra, or, with the numbered
    source and the log, if NVRTC refuses the source.
    """
    return _compiled(kernel, arch, _cached)


@takes(kernel=of_type(CompilableKernel), arch=of_type(str))
def ptx(kernel: CompilableKernel, arch: str = "sm_90") -> str:
    """The PTX from which `cubin` is assembled. Raises as `cubin`."""
    return _compiled(kernel, arch, _ptx).decode()


def _compiled(kernel: CompilableKernel, arch: str, compiled: Callable[[str, str], bytes]) -> bytes:
    """The code that `compiled` makes of the kernel's source, or the error that `cubin` describes."""
    expect_dialect(kernel, "cuda")
    if re.fullmatch(r"sm_\d{2,3}[af]?", arch) is None:
        raise CompileError(f"{arch!r} is no GPU architecture; expected sm_ and a number, as in 'sm_90'")
    try:
        from cuda.core._utils.cuda_utils import NVRTCError
        from cuda.pathfinder import DynamicLibNotFoundError
    except ImportError as missing:
        raise CompileError(missing_extra("compiling for a GPU", "cuda", missing)) from missing
    try:
        return compiled(kernel.source, arch)
    except DynamicLibNotFoundError as missing:
        raise CompileError(f"NVRTC is not found ({missing}); install {install_command('cuda')}") from missing
    except NVRTCError as refusal:
        raise compile_error(f"NVRTC for {arch}", kernel.name, kernel.source, str(refusal)) from refusal


def _cached(source: str, arch: str) -> bytes:
    """Machine code from the cache, or compiled and added to it; without a cache if it can't be written."""
    from cuda.core.utils import FileStreamProgramCache

    folder = cache.directory("cubin")
    if folder is not None:
        cache.check_entries(folder)
        try:
            with FileStreamProgramCache(folder, max_size_bytes=CACHE_BYTES) as kept:
                code = bytes(_program(source, arch).compile("cubin", cache=kept).code)
                if is_whole(code):
                    return code
                kept.clear()  # a full disk or a power failure has cut entries off
                return bytes(_program(source, arch).compile("cubin", cache=kept).code)
        except OSError:  # for example, a full disk
            pass
    return bytes(_program(source, arch).compile("cubin").code)


def _ptx(source: str, arch: str) -> bytes:
    """The PTX that NVRTC keeps beside machine code: asked for alone, cuda.core loads the driver, which may be absent."""
    from cuda.bindings import nvrtc

    program = _program(source, arch)
    program.compile("cubin")
    text: bytes = b" " * nvrtc.nvrtcGetPTXSize(program.handle)[1]
    nvrtc.nvrtcGetPTX(program.handle, text)
    return text.rstrip(b"\0")


def is_whole(code: bytes) -> bool:
    """Whether machine code, an ELF file of 64 bits, has all of its tables, the last of which ends it."""
    if len(code) < ELF_HEADER:
        return False
    programs, sections = struct.unpack_from("<QQ", code, 0x20)
    program_size, program_count, section_size, section_count = struct.unpack_from("<4H", code, 0x36)
    end: int = max(programs + program_size * program_count, sections + section_size * section_count)
    return len(code) >= end


def _program(source: str, arch: str) -> Program:
    """The source with NVRTC's options.

    Subnormal numbers are kept; divisions have errors of up to 2 units in the last place, roots of 1, and products are
    contracted with sums, as in XLA's kernels: correct rounding takes several times the instructions.
    """
    from cuda.core import Program, ProgramOptions

    options = ProgramOptions(
        name="kernel.cu", arch=arch, std="c++17", ftz=False, prec_div=False, prec_sqrt=False, fma=True
    )
    return Program(source, "c++", options=options)
