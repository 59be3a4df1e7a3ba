"""CUDA C++ to machine code without a GPU; on a machine with one, launches as well."""

import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import indexing as ix
from indexing.device.detect import gpu_count
from indexing.device.table import portable_device
from indexing.errors import CompileError, IndexingError
from indexing.runtime.cuda import CudaDevice
from indexing.runtime.device import check_limits
from indexing.runtime.nvrtc import cubin
from kernels import WrittenKernel

SCALE = """extern "C" __global__ void scale(const float* __restrict__ x, float* __restrict__ y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = 2.0f * x[i];
}
"""


def kernel(source: str = SCALE, grid=(3, 1, 1), block=(32, 1, 1), dialect="cuda") -> WrittenKernel:
    return WrittenKernel("scale", source, dialect, grid, block)


@pytest.mark.parametrize("arch", ["sm_80", "sm_90", "sm_100"])
def test_a_cubin_needs_no_gpu(arch: str) -> None:
    assert cubin(kernel(), arch).startswith(b"\x7fELF")


def test_a_cubin_comes_from_the_cache_the_second_time(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("INDEXING_CACHE_DIR", str(tmp_path))
    first = cubin(kernel(), "sm_90")
    kept = [f for f in (tmp_path / "cubin").rglob("*") if f.is_file() and f.read_bytes() == first]
    assert len(kept) == 1
    start = time.process_time()
    assert cubin(kernel(), "sm_90") == first
    assert time.process_time() - start < 5
    assert cubin(kernel(SCALE.replace("2.0f", "3.0f")), "sm_90") != first


@pytest.mark.parametrize("arch", ["sm_80", "sm_100"])
def test_the_ptx_of_a_kernel_is_for_its_architecture(arch: str) -> None:
    text = ix.runtime.ptx(kernel(), arch)
    assert f".target {arch}" in text and ".entry scale(" in text and "\0" not in text


def test_a_refused_source_is_shown_with_line_numbers_and_the_log() -> None:
    with pytest.raises(CompileError) as refusal:
        cubin(kernel(SCALE.replace("2.0f", "undeclared_factor")), "sm_90")
    text = str(refusal.value)
    assert "3 |   y[i] = undeclared_factor * x[i];" in text
    assert 'identifier "undeclared_factor" is undefined' in text


def test_what_is_no_architecture_or_no_cuda_is_refused() -> None:
    with pytest.raises(CompileError, match="sm_90"):
        cubin(kernel(), "hopper")
    with pytest.raises(CompileError, match="dialect='cuda'"):
        cubin(kernel(dialect="opencl"), "sm_90")


@pytest.mark.parametrize(
    ("grid", "block", "said"),
    [
        ((1, 65536, 1), (1, 1, 1), "grid"),
        ((1, 1, 1), (1, 1, 65), "block"),
        ((1, 1, 1), (64, 32, 1), "2048 threads"),
    ],
)
def test_a_launch_beyond_every_gpus_limits_is_refused(grid, block, said) -> None:
    with pytest.raises(CompileError, match=said):
        check_limits(kernel(grid=grid, block=block), portable_device("cuda"))


def test_a_machine_without_a_gpu_says_so_and_one_with_a_gpu_runs() -> None:
    if gpu_count() == 0:
        with pytest.raises(IndexingError, match="device='cpu'"):
            CudaDevice()
        return
    device = CudaDevice()
    x = np.arange(96, dtype=np.float32)
    source, target = device.upload(x), device.empty(x.nbytes)
    device.load(kernel())([source, target])
    np.testing.assert_array_equal(device.download(target, x.dtype, x.shape), 2 * x)
    array = device.export(target, x.dtype, x.shape)
    again = device.borrow(array, x.dtype, x.shape)
    np.testing.assert_array_equal(device.download(again, x.dtype, x.shape), 2 * x)


def test_what_runs_on_a_gpu_only_calls_what_cuda_core_has() -> None:
    """`make gpu` runs gpu_device.py; here its kernels compile, and what it calls is there."""
    from cuda.core import Stream
    from cuda.core.graph import GraphBuilder, GraphDefinition, GraphNode

    import gpu_device

    called = {
        Stream: ["create_graph_builder", "record", "sync", "handle"],
        GraphBuilder: ["begin_building", "end_building", "complete"],
        GraphDefinition: ["launch", "memcpy", "instantiate"],
        GraphNode: ["launch", "memcpy"],
        gpu_device.Graph: ["launch"],
        gpu_device.StridedMemoryView: ["from_dlpack", "from_cuda_array_interface", "from_buffer", "__dlpack__"],
    }
    assert [(c.__name__, n) for c, names in called.items() for n in names if not hasattr(c, n)] == []
    for text in (gpu_device.SOFTMAX, gpu_device.TOTAL):
        assert cubin(ix.emit(ix.hlo.parse(text).entry)).startswith(b"\x7fELF")


def test_the_gpu_target_without_a_gpu_says_in_one_line_what_is_missing() -> None:
    if gpu_count():
        return
    example = Path(__file__).parents[2] / "examples" / "embedding.hlo"
    command = [sys.executable, "-m", "indexing", "run", "--device", "cuda", str(example)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 1 and done.stdout == ""
    assert done.stderr.startswith("indexing: GPU 0 can't be used: ") and done.stderr.count("\n") == 1
    assert ".;" not in done.stderr, "the failure is a part of the sentence"
