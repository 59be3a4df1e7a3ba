"""Kernels built by hand, written for all targets: run as C on the processor, taken by NVRTC, and run by OpenCL."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from indexing.errors import CompileError
from indexing.kernels.ir import nodes as ir
from indexing.kernels.passes.affine import make_indices_affine
from indexing.kernels.passes.group_reductions import lower_group_reductions
from indexing.kernels.targets import TARGETS, arguments, shared_bytes
from ir_kernels import NUMPY, TH_X, compiled, given, kernel, make_thread_loops, run, write
from sum_kernels import f32
from target_kernels import CASES


@pytest.mark.parametrize("name", CASES)
def test_runs_as_c(name: str) -> None:
    case = CASES[name]
    once = compiled(case.kernel)
    for seed in (1, 2):
        inputs = case.inputs(np.random.default_rng(seed))
        for got, expected in zip(run(once, *inputs, of=case.kernel), case.expected(*inputs), strict=True):
            np.testing.assert_array_equal(got, expected)


def lowered(ir_kernel: ir.Kernel, target: str) -> ir.Kernel:
    return lower_group_reductions(ir_kernel, TARGETS[target].shuffle_width)


@pytest.mark.parametrize("name", CASES)
def test_nvrtc_takes_it(name: str) -> None:
    program = pytest.importorskip("cuda.core").Program
    from cuda.core import ProgramOptions

    source = write(lowered(CASES[name].kernel, "cuda"), TARGETS["cuda"])
    options = ProgramOptions(name="kernel.cu", arch="sm_80", std="c++17")
    assert program(source, "c++", options=options).compile("cubin").code


@pytest.mark.parametrize("name", CASES)
def test_runs_as_opencl(name: str) -> None:
    cl = pytest.importorskip("pyopencl")
    from opencl_runtime import device as opencl_device

    device = opencl_device()
    case = CASES[name]
    ir_kernel = lowered(case.kernel, "opencl")
    source = write(ir_kernel, TARGETS["opencl"])
    entry = cl.Kernel(cl.Program(device._context, source).build(options=["-w", "-cl-std=CL1.2"]), ir_kernel.name)
    for seed in (1, 2):
        inputs = case.inputs(np.random.default_rng(seed))
        buffers = []
        for k, b in enumerate(arguments(ir_kernel)):
            empty = np.zeros(-(-max(b.size, 1) * NUMPY[b.element_type].itemsize // 16) * 16, np.uint8)
            data = inputs[k].view(np.uint8) if k < len(inputs) else empty
            empty[: data.size] = data
            buffers.append(device.upload(empty))
        size = tuple(g * b for g, b in zip(ir_kernel.grid, ir_kernel.block, strict=True))
        entry(device._queue, size, ir_kernel.block, *(b.handle for b in buffers))
        written = [k for k, b in enumerate(arguments(ir_kernel)) if b.role != "input" or _in_place(ir_kernel, b.name)]
        for k, expected in zip(written, case.expected(*inputs), strict=True):
            buffer = arguments(ir_kernel)[k]
            got = device.download(buffers[k], NUMPY[buffer.element_type], (buffer.size,))
            np.testing.assert_array_equal(got, expected)


def _in_place(ir_kernel: ir.Kernel, name: str) -> bool:
    return any(b.alias_of == name for b in ir_kernel.buffers)


# ---------------------------------------------------------------- what the text says


def source_of(name: str) -> str:
    return write(make_thread_loops(CASES[name].kernel), TARGETS["c"])


def test_a_shared_loop_stands_outside_of_the_threads() -> None:
    lines = [line.strip() for line in source_of("matmul").splitlines()]
    loops = [line.split()[2] for line in lines if line.startswith("for (")]
    assert loops.index("k") < len(loops) - 1 - loops[::-1].index("th_x")


def test_rows_of_threads_are_as_long_as_memory_is_walked_evenly() -> None:
    assert make_indices_affine(CASES["column_sum"].kernel).block == (32, 8, 1)
    assert make_indices_affine(CASES["row_sum_rows_a_warp"].kernel).block == (8, 8, 1)
    assert make_indices_affine(CASES["matmul"].kernel).block == (128, 1, 1)


def test_values_of_one_region_stay_out_of_memory() -> None:
    assert "local" not in source_of("early_exit")
    assert "_of[" not in source_of("early_exit")
    assert "_of[" in source_of("branch_around_loops")


def test_shared_memory_counts_bytes() -> None:
    assert shared_bytes(CASES["transpose"].kernel) == 32 * 33 * 4


def test_a_barrier_under_a_condition_of_single_threads_is_refused() -> None:
    flag = ir.Op("gt", "pred", (ir.Load("f32", "p0", (TH_X,)), f32(0.0)))
    ir_kernel = kernel([ir.If((flag,), (ir.Barrier(),))], [given(0, "f32", 64)], 1, 64)
    with pytest.raises(CompileError, match="barrier"):
        make_thread_loops(ir_kernel)


def test_a_name_from_outside_ends_no_comment() -> None:
    ir_kernel = replace(CASES["vectors"].kernel, comment="a\nint x; \\ b */ c")
    for target in TARGETS.values():
        text = write(ir_kernel if target.has_threads else make_thread_loops(ir_kernel), target)
        assert "int x" not in text.splitlines()[1]
        assert text.splitlines()[0] == "// a int x; _ b */ c"
