"""Compilation by XLA's GPU compiler for a device that is described, but not present."""

from __future__ import annotations

import json
import os
import sys

from indexing.device.record import Device
from indexing.errors import CompileError, UnsupportedOp
from indexing.extras import missing_extra

_NOTHING_TUNED = "--xla_gpu_autotune_level=0"  # autotuning would measure on a device
_LOG_LINES = 20  # the last lines of the output of a process that died


def compile_for_gpu(program: bytes, target: Device) -> str:
    """The text of the optimized HLO of a StableHLO program (text or bytecode) for this GPU, without tuning or running.

    XLA compiles in a process of its own. Raises UnsupportedOp if the extra is missing, CompileError if XLA refuses the program
    or aborts.
    """
    import subprocess  # imported late: it takes as long as this package

    request = json.dumps({"config": target.xla_description()}).encode() + b"\n" + program
    command = [sys.executable, "-P", "-m", "indexing.hlo.gpu_compiler"]
    done = subprocess.run(command, input=request, capture_output=True, env=_environment(), check=False)
    if done.returncode:
        said = "\n".join(done.stderr.decode(errors="replace").splitlines()[-_LOG_LINES:])
        raise CompileError(f"XLA's compiler for {target.name} ended with status {done.returncode}; it said:\n{said}")
    answer = json.loads(done.stdout)
    if "missing" in answer:
        failure = ImportError(answer["missing"])
        raise UnsupportedOp(missing_extra("compiling for a GPU that isn't there", "jax-cuda", failure))
    if "refused" in answer:
        raise CompileError(f"XLA does not compile this program for {target.name}: {answer['refused'].strip()}")
    return str(answer["program"])


def _environment() -> dict[str, str]:
    """The caller's environment, XLA_FLAGS included, with JAX on the CPU, since its plug-in would look for a GPU."""
    flags = os.environ.get("XLA_FLAGS", "")
    flags = flags if "xla_gpu_autotune_level" in flags else f"{flags} {_NOTHING_TUNED}".strip()
    path = os.pathsep.join(os.path.abspath(p) for p in sys.path)
    settings = {"JAX_PLATFORMS": "cpu", "XLA_FLAGS": flags, "PYTHONPATH": path, "TF_CPP_MIN_LOG_LEVEL": "3"}
    return {**os.environ, **settings}
