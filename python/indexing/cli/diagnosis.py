"""`indexing doctor`: the back ends that work on this machine, why others do not, and how to install what is missing."""

from __future__ import annotations

import argparse
import platform
from dataclasses import dataclass, replace
from importlib.util import find_spec

import indexing as ix
from indexing.cli.answer import Answer, Table
from indexing.cli.console import Json
from indexing.executable.devices import DEVICE_NAMES, DeviceName
from indexing.extras import install_command
from indexing.lazy import np
from indexing.runtime.compiler import find_compiler, version

# The purpose of each extra, and the modules that it installs.
EXTRAS = {
    "cuda": ("kernels on NVIDIA GPUs, and cubins without one", ("cuda.core", "cuda.bindings")),
    "cublas": ("products of matrices by cuBLAS", ("nvmath.bindings",)),
    "cpu": ("a C compiler where the system has none", ("ziglang",)),
    "opencl": ("kernels through OpenCL", ("pyopencl",)),
    "jax": ("programs of JAX, StableHLO, exports", ("jax",)),
    "jax-cuda": ("XLA's GPU compiler for GPUs that aren't there", ("jax", "jax_plugins.xla_cuda12")),
    "data": ("reports as data frames", ("pandas", "pyarrow")),
    "sympy": ("expressions of SymPy", ("sympy",)),
    "isl": ("relations as isl prints them", ("islpy",)),
    "terminal": ("tables and colours on a terminal", ("rich",)),
    "tune": ("samplers of optuna for `tune`, and plots of its trials", ("optuna", "matplotlib")),
    "viz": ("graphs laid out by Graphviz, pictures as PNG", ("pygraphviz", "matplotlib")),
}
TRIAL = "ENTRY trial { p = f32[8] parameter(0) ROOT n = f32[8] negate(p) }"


@dataclass(frozen=True, slots=True)
class Finding:
    """Whether something works on this machine; if not, the reason, or a remedy."""

    name: str
    works: bool
    about: str

    def line(self) -> str:
        """The finding as a line of text."""
        return f"{'ok ' if self.works else 'no '} {self.name:12} {self.about}"


def doctor_options(_sub: argparse.ArgumentParser) -> None:
    """Add nothing: `doctor` has no options of its own."""


def doctor(options: argparse.Namespace) -> Answer:
    """Test each back end by running a program, and look for each extra."""
    backends = [test_device(name) for name in DEVICE_NAMES if name != "auto"]
    extras = [find_extra(extra) for extra in EXTRAS]
    shown = [replace(f, name=f"[{f.name}]") for f in extras]  # as pip writes it: some are named as back ends are
    here = f"indexing {ix.__version__}, Python {platform.python_version()}, {platform.system()} {platform.machine()}"
    lines = ["", "back ends", *(f.line() for f in backends), "", "extras", *(f.line() for f in shown)]
    data: Json = {
        "version": ix.__version__,
        "python": platform.python_version(),
        "platform": platform.platform(),
        "back_ends": [as_json(f) for f in backends],
        "extras": [as_json(f) for f in extras],
    }
    rows = [("yes" if f.works else "no", f.name, f.about) for f in (*backends, *shown)]
    return Answer(data, [here, Table(("works", "back end or extra", "about"), rows, lines)])


def test_device(device: DeviceName) -> Finding:
    """The finding of compiling and running a program on this device, and checking its result."""
    x = np.arange(8, dtype=np.float32)
    try:
        result = np.asarray(ix.compile(TRIAL, device=device)(x))
    except (ix.IndexingError, OSError) as error:
        return Finding(device, False, " ".join(str(error).split()))
    right = bool((result == -x).all())
    about = "runs programs" if right else "runs, but gives wrong results"
    return Finding(device, right, f"{about}; {about_compiler()}" if device == "cpu" else about)


def about_compiler() -> str:
    """The C compiler that is used, with which flags, and why these."""
    compiler = find_compiler()
    return f"{' '.join(compiler.command)} ({version(compiler)}): {compiler.verdict}"


def find_extra(extra: str) -> Finding:
    """The finding about an extra: whether all of its modules are installed, and their versions."""
    purpose, modules = EXTRAS[extra]
    missing = [m for m in modules if not is_installed(m)]
    if missing:
        return Finding(extra, False, f"{purpose}; install {install_command(extra)}")
    return Finding(extra, True, purpose)


def is_installed(module: str) -> bool:
    """Whether a module can be found; only the packages around it are imported."""
    try:
        return find_spec(module) is not None
    except ImportError:
        return False


def as_json(finding: Finding) -> Json:
    """A finding as JSON."""
    return {"name": finding.name, "works": finding.works, "about": finding.about}
