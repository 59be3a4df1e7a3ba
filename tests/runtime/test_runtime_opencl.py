"""The OpenCL runtime, on kernels written by hand."""

import os
import shutil
import subprocess
import sys
import tempfile

import numpy as np
import pytest

from indexing.errors import CompileError
from indexing.runtime import cache
from indexing.runtime.opencl import OpenCLDevice
from kernels import WrittenKernel
from opencl_runtime import device as opencl_device

SCALE = """__kernel void scale(__global const float* x, __global float* y) {
  __local float tile[32];
  tile[get_local_id(0)] = x[get_global_id(0)];
  barrier(CLK_LOCAL_MEM_FENCE);
  y[get_global_id(0)] = 2.0f * tile[31 - get_local_id(0)];
}
"""


@pytest.fixture(scope="module")
def device() -> OpenCLDevice:
    return opencl_device()


def kernel(source: str = SCALE, blocks: int = 3, threads: int = 32, shared: int = 128) -> WrittenKernel:
    return WrittenKernel("scale", source, "opencl", (blocks, 1, 1), (threads, 1, 1), shared)


def test_a_kernel_runs_with_local_memory_and_barriers(device: OpenCLDevice) -> None:
    x = np.arange(96, dtype=np.float32)
    source, target = device.upload(x), device.empty(x.nbytes)
    device.load(kernel())([source, target])
    got = device.download(target, x.dtype, x.shape)
    np.testing.assert_array_equal(got, 2 * x.reshape(3, 32)[:, ::-1].reshape(96))


def test_an_empty_grid_launches_nothing(device: OpenCLDevice) -> None:
    device.load(kernel(blocks=0))([device.empty(0), device.empty(0)])
    assert device.download(device.empty(0), np.dtype(np.float32), (0, 3)).shape == (0, 3)


def test_a_copy_leaves_its_source_alone(device: OpenCLDevice) -> None:
    x = np.arange(5, dtype=np.int16)
    source, target = device.upload(x), device.empty(x.nbytes)
    device.copy(source, target)
    np.testing.assert_array_equal(device.download(target, x.dtype, x.shape), x)


def test_a_refused_source_is_shown_with_line_numbers_and_the_log(device: OpenCLDevice) -> None:
    broken = SCALE.replace("2.0f", "undeclared_factor")
    with pytest.raises(CompileError) as refusal:
        device.load(kernel(broken))
    text = str(refusal.value)
    assert "refuses kernel scale" in text
    assert "5 |   y[get_global_id(0)] = undeclared_factor" in text
    assert text.count("undeclared_factor") >= 2, "the compiler's log is missing"


@pytest.mark.parametrize(
    ("change", "said"),
    [({"threads": 1 << 20}, "threads of a block"), ({"shared": 1 << 40}, "bytes of shared memory")],
)
def test_a_launch_beyond_the_devices_limits_is_refused(device: OpenCLDevice, change: dict[str, int], said: str) -> None:
    with pytest.raises(CompileError, match=said):
        device.load(kernel(**change))


def test_a_kernel_of_the_other_dialect_is_refused(device: OpenCLDevice) -> None:
    cuda = WrittenKernel("k", "", "cuda", (1, 1, 1), (1, 1, 1))
    with pytest.raises(CompileError, match="dialect='opencl'"):
        device.load(cuda)


def test_the_cache_folder_is_the_configured_one(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("INDEXING_CACHE_DIR", str(tmp_path / "kept"))
    assert cache.directory("cubin") == tmp_path / "kept" / "cubin"
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("INDEXING_CACHE_DIR", str(tmp_path / "file"))
    assert cache.directory("cubin").is_dir()


def test_the_cache_folder_is_never_one_of_somebody_else(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("INDEXING_CACHE_DIR", "/proc/none")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    own = tmp_path / f"indexing-{os.getuid()}"
    assert cache.directory("cubin") == own / "cubin"
    own.chmod(0o777)
    assert cache.directory("cubin") is None
    shutil.rmtree(own)
    (tmp_path / "elsewhere").mkdir()
    own.symlink_to(tmp_path / "elsewhere")
    assert cache.directory("cubin") is None


UNWRITABLE = """
import tempfile
import numpy as np
import indexing as ix
from indexing import compile
module = ix.hlo.parse("ENTRY e { p = f32[4] parameter(0) ROOT n = f32[4] negate(p) }")
run = compile(module, device="cpu")
assert run(np.ones(4, np.float32)).tolist() == [-1.0] * 4 and run(np.zeros(4, np.float32)).tolist() == [0.0] * 4
assert ix.runtime.cubin(ix.emit(module.entry))[:4] == b"\x7fELF"
tempfile.tempdir = "/proc/none"
assert ix.runtime.cubin(ix.emit(module.entry))[:4] == b"\x7fELF"
"""


def test_everything_works_in_a_home_that_cannot_be_written() -> None:
    without = {"XDG_CACHE_HOME", "INDEXING_CACHE_DIR", "POCL_CACHE_DIR"}
    environment = {k: v for k, v in os.environ.items() if k not in without} | {"HOME": "/proc/none"}
    done = subprocess.run(
        [sys.executable, "-c", UNWRITABLE], env=environment, capture_output=True, text=True, timeout=300
    )
    assert (done.returncode, done.stderr) == (0, "")
