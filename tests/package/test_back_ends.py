"""What "auto" runs on where back ends are missing or broken, and how what is missing can be installed."""

import os
import shlex
import subprocess
import sys
import warnings
from collections.abc import Iterator
from importlib import metadata
from typing import Any

import numpy as np
import pytest

import indexing as ix
from indexing import extras
from indexing.executable import devices
from indexing.runtime.host import Host

NEGATE = "ENTRY e { p = f32[4] parameter(0) ROOT n = f32[4] negate(p) }"
WITHOUT = """
import sys
for name in {missing}: sys.modules[name] = None
import numpy as np, indexing as ix
from indexing import compile
for k in range(3):
    run = compile({program!r})
    assert run(np.full(4, k, np.float32)).tolist() == [-float(k)] * 4
print(run.device)
"""


WITHOUT_COMPILER = {k: v for k, v in os.environ.items() if k != "CC"} | {"PATH": ""}


@pytest.fixture(autouse=True)
def found_anew() -> Iterator[None]:
    devices.first_that_works.cache_clear()
    yield
    devices.first_that_works.cache_clear()


def test_auto_runs_in_the_reference_where_nothing_else_works_and_says_so_once() -> None:
    program = WITHOUT.format(missing=["ziglang", "cuda"], program=NEGATE)
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=120, env=WITHOUT_COMPILER
    )
    assert (done.returncode, done.stdout) == (0, "reference\n"), done.stderr
    assert done.stderr.count("ReferenceFallback") == 1
    assert "device='auto' runs programs on 'reference', slowly: device 'cpu' does not work: " in done.stderr
    assert "install it with: " + shlex.quote(sys.executable) + " -m pip install" in done.stderr


def test_the_command_line_says_it_as_well() -> None:
    program = "import sys\nfor n in ('ziglang', 'cuda'): sys.modules[n] = None\nfrom indexing.cli import main\nmain(['run', '-'])"
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, input=NEGATE, capture_output=True, text=True, timeout=120, env=WITHOUT_COMPILER)
    assert "0 kernels on reference" in done.stdout
    assert done.stderr.startswith("indexing: warning: device='auto' runs programs on 'reference'")


def test_a_back_end_that_opens_but_makes_no_kernel_does_not_work() -> None:
    class WithoutLinker(Host):
        def load(self, kernel: object) -> Any:
            raise ix.CompileError("no linker")

    with pytest.warns(ix.ReferenceFallback, match="device 'cpu' does not work: no linker"):
        assert devices.first_working({"cpu": WithoutLinker}) == "reference"


def test_a_gpu_that_cannot_be_used_is_named() -> None:
    def no_gpu() -> Host:
        raise ix.IndexingError("GPU 0 can't be used")

    with pytest.warns(ix.ReferenceFallback, match="runs programs on 'cpu': device 'cuda' does not work: GPU 0"):
        assert devices.first_working({"cuda": no_gpu, "cpu": Host}) == "cpu"


def test_nothing_is_said_where_the_first_works() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert devices.first_that_works() in ("cuda", "cpu")


@pytest.mark.parametrize("device", ["cpu", "cuda"])
def test_a_device_that_was_asked_for_is_not_replaced(device: str) -> None:
    program = WITHOUT.format(missing=["ziglang", "cuda"], program=NEGATE).replace(
        "compile('", f"compile(device={device!r}, module='"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=120, env=WITHOUT_COMPILER
    )
    assert done.returncode == 1 and "CompileError: " in done.stderr and "install" in done.stderr


@pytest.mark.parametrize("extra", ["cpu", "cuda", "jax"])
def test_commands_install_what_the_extra_lists(extra: str) -> None:
    words = shlex.split(extras.install_command(extra))
    assert words[:6] == ["it", "with:", sys.executable, "-m", "pip", "install"]
    listed = [r for r in metadata.requires("indexing") or [] if r.replace('"', "'").endswith(f"extra == '{extra}'")]
    assert words[6:] == [r.split(";")[0].strip() for r in listed] != []
    # Each is met here, where the extra is installed: nothing is left to download, and the command ends well.
    done = subprocess.run([*words[2:], "--no-index", "--quiet"], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr


def test_a_source_tree_that_is_not_installed_names_its_list(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(name: str) -> list[str]:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "requires", absent)
    assert extras.install_command("cpu") == "the packages that pyproject.toml lists for cpu"


def test_no_message_names_a_package_that_no_index_has() -> None:
    with pytest.raises(ix.UnsupportedOp) as caught, pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "jax", None)
        ix.from_jax(np.sin, np.float32(1))
    assert "install it with" in str(caught.value) and "indexing[" not in str(caught.value)
