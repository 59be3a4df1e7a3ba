"""Programs whose products a library computes: which, with what result, and what the profile and the analysis say of it."""

import numpy as np
import pytest

import indexing as ix
from indexing.device.table import DEVICES, portable_device
from indexing.model.instruction_time import predict_instruction, predict_library
from indexing.runtime.device import Buffer, Launch
from indexing.runtime.host import numpy_launch
from kernels import compiled
from plain_device import DeviceWithMemory

RNG = np.random.default_rng(3)

# Complex products have no panels, so that numpy is faster on a CPU.
PROGRAM = """ENTRY products {
  x = c64[96,80]{1,0} parameter(0)
  y = c64[64,80]{1,0} parameter(1)
  shifted = c64[96,80] add(x, x)
  d = c64[96,64] dot(shifted, y), lhs_contracting_dims={1}, rhs_contracting_dims={1}
  ROOT out = c64[96,64] negate(d)
}"""

LOOP = """HloModule loop
body {
  state = (s32[], c64[256,256], c64[256,256]) parameter(0)
  i = s32[] get-tuple-element(state), index=0
  a = c64[256,256] get-tuple-element(state), index=1
  b = c64[256,256] get-tuple-element(state), index=2
  one = s32[] constant(1)
  j = s32[] add(i, one)
  d = c64[256,256] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT out = (s32[], c64[256,256], c64[256,256]) tuple(j, d, b)
}
condition {
  state = (s32[], c64[256,256], c64[256,256]) parameter(0)
  i = s32[] get-tuple-element(state), index=0
  n = s32[] constant(3)
  ROOT more = pred[] compare(i, n), direction=LT
}
ENTRY main {
  start = s32[] parameter(0)
  a = c64[256,256] parameter(1)
  b = c64[256,256] parameter(2)
  init = (s32[], c64[256,256], c64[256,256]) tuple(start, a, b)
  loop = (s32[], c64[256,256], c64[256,256]) while(init), condition=condition, body=body
  ROOT y = c64[256,256] get-tuple-element(loop), index=1
}
"""


def values(*sizes: int) -> np.ndarray:
    return (RNG.integers(-2, 3, sizes) + 1j * RNG.integers(-2, 3, sizes)).astype(np.complex64)


class MultiplyingPlainDevice(DeviceWithMemory):
    """A device of a user, with a library: the interpreter runs its tapes."""

    def multiply(self, product: object) -> Launch:
        return numpy_launch(product)  # type: ignore[arg-type]


DEVICES_WITH_LIBRARIES = {"cpu": lambda: "cpu", "interpreted": MultiplyingPlainDevice}


@pytest.mark.parametrize("device", DEVICES_WITH_LIBRARIES)
def test_a_library_computes_a_product_where_it_is_faster(device: str) -> None:
    run = compiled(PROGRAM, DEVICES_WITH_LIBRARIES[device](), matmul="library")
    assert [i.name for i in run.library_steps] == ["d"]
    assert run.reference_steps == ()
    assert [k.emitter for k in run.kernels] == ["loop", "loop"]  # what is before and after
    x, y = values(96, 80), values(64, 80)
    for _ in range(2):
        np.testing.assert_array_equal(run(x, y), -((x + x) @ y.T))
    assert "1 step by a library" in repr(run.executable)


@pytest.mark.parametrize("device", DEVICES_WITH_LIBRARIES)
def test_a_library_within_a_loop_that_exchanges_arrays(device: str) -> None:
    run = compiled(LOOP, DEVICES_WITH_LIBRARIES[device](), matmul="library")
    assert [i.name for i in run.library_steps] == ["d"]
    a, b = values(256, 256), np.eye(256, k=1, dtype=np.complex64)
    for start in (0, 1, 3):
        np.testing.assert_array_equal(run(np.int32(start), a, b), a @ np.linalg.matrix_power(b, 3 - start))


def test_products_of_constants_and_of_counts_are_read_from_memory() -> None:
    text = """ENTRY products {
      x = c64[256,256] parameter(0)
      n = f32[256,256] iota(), iota_dimension=1
      zero = f32[] constant(0)
      zeros = f32[256,256] broadcast(zero), dimensions={}
      y = c64[256,256] complex(n, zeros)
      s = c64[] constant((0, 2))
      z = c64[256,256] broadcast(s), dimensions={}
      d = c64[256,256] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}
      ROOT e = c64[256,256] dot(d, z), lhs_contracting_dims={1}, rhs_contracting_dims={0}
    }"""
    x, counts = values(256, 256), np.broadcast_to(np.arange(256), (256, 256))
    for device in DEVICES_WITH_LIBRARIES.values():
        run = compiled(text, device(), matmul="library")
        assert [i.name for i in run.library_steps] == ["d", "e"] and run.reference_steps == ()
        np.testing.assert_array_equal(run(x), x @ counts @ np.full((256, 256), 2j), strict=False)


def test_layouts_of_arguments_and_results() -> None:
    text = """HloModule layouts, entry_computation_layout={(c64[256,192]{0,1}, c64[192,320]{0,1})->c64[256,320]{0,1}}
    ENTRY products {
      x = c64[256,192]{0,1} parameter(0)
      y = c64[192,320]{0,1} parameter(1)
      ROOT d = c64[256,320]{0,1} dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}
    }"""
    run = compiled(text, "cpu", matmul="library")
    assert len(run.library_steps) == 1
    x, y = values(256, 192), values(192, 320)
    np.testing.assert_array_equal(run(x, y), x @ y)


def test_kernels_compute_products_unless_a_library_is_asked_for_and_faster() -> None:
    assert compiled(PROGRAM, "cpu").library_steps == ()
    real = PROGRAM.replace("c64", "f32")
    run = compiled(real, "cpu", matmul="library")
    dot = ix.hlo.parse(real).entry.instructions["d"]
    cpu = DEVICES["CPU"]
    kernel, library = predict_instruction(dot, cpu).seconds, predict_library(dot, cpu).seconds
    assert kernel is not None and library is not None
    assert len(run.library_steps) == (library < kernel)


def test_a_fusion_of_the_program_keeps_its_product() -> None:
    text = """fused {
      x = c64[96,80] parameter(0)
      y = c64[64,80] parameter(1)
      d = c64[96,64] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={1}
      ROOT out = c64[96,64] negate(d)
    }
    ENTRY main {
      x = c64[96,80] parameter(0)
      y = c64[64,80] parameter(1)
      ROOT f = c64[96,64] fusion(x, y), kind=kLoop, calls=fused
    }"""
    run = compiled(text, "cpu", matmul="library")
    assert run.library_steps == () and len(run.kernels) == 1


def test_the_profile_names_the_library() -> None:
    run = compiled(PROGRAM, "cpu", matmul="library")
    steps = {s.name: s for s in run.profile(values(96, 80), values(64, 80)).steps}
    assert (steps["d"].emitter, steps["d"].launches) == ("numpy", 1)
    assert steps["d"].seconds > 0 and len(steps) == 3


def test_an_analysis_predicts_it() -> None:
    text = """ENTRY e {
      a = bf16[4096,4096] parameter(0)
      b = bf16[4096,4096] parameter(1)
      d = bf16[4096,4096] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
      ROOT z = bf16[4096,4096] negate(d)
    }"""
    own, handed = ix.analyze(text, "h100"), ix.analyze(text, "h100", matmul="library")
    assert len(own.fusions) == 1
    d = next(k for k in handed.fusions if k.name == "d")
    assert "handed to cublas" in d.note and "handed to cublas" in str(handed)
    dot = ix.hlo.parse(text).entry.instructions["d"]
    alone = predict_instruction(dot, DEVICES["H100 SXM"]).seconds
    assert d.seconds is not None and alone is not None and d.seconds < alone
    assert d.bytes == 3 * 4096 * 4096 * 2


def test_exact_f32_is_predicted_on_scalar_units() -> None:
    text = "ENTRY e { a = f32[4096,4096] parameter(0) ROOT d = f32[4096,4096] dot(a, a), lhs_contracting_dims={1}, rhs_contracting_dims={0} }"
    h100 = DEVICES["H100 SXM"]
    seconds = predict_library(ix.hlo.parse(text).entry.root, h100).seconds
    assert seconds is not None and seconds > 2 * 4096**3 / h100.flops("f32")


@pytest.mark.parametrize("sizes", [(1024, 1024, 1024), (96, 512, 640)])
def test_no_kernel_multiplies_faster_than_a_processor_can(sizes: tuple[int, int, int]) -> None:
    m, k, n = sizes
    text = f"ENTRY e {{ a = f32[{m},{k}] parameter(0) b = f32[{k},{n}] parameter(1) ROOT d = f32[{m},{n}] dot(a, b), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}} }}"
    cpu = DEVICES["CPU"]
    seconds = predict_instruction(ix.hlo.parse(text).entry.root, cpu).seconds
    assert seconds is not None and seconds >= 0.9 * 2 * m * k * n / cpu.flops("f32")


def test_what_cannot_be_handed_over_is_refused() -> None:
    refused = {
        "matmul is 'kernels' or 'library'; got 'blas'": lambda: ix.compile(PROGRAM, "cpu", matmul="blas"),  # type: ignore[arg-type]
        "matmul is 'kernels' or 'library'; got 5": lambda: ix.compile(PROGRAM, "reference", matmul=5),  # type: ignore[arg-type]
        "device 'plain' has no `multiply`.*use matmul='kernels'": lambda: ix.compile(
            PROGRAM, DeviceWithMemory(), matmul="library"
        ),
        "no library multiplies matrices for dialect 'opencl'": lambda: ix.analyze(
            PROGRAM, portable_device("opencl"), matmul="library"
        ),
    }
    for said, call in refused.items():
        with pytest.raises(ix.IndexingError, match=said):
            call()


def test_a_failing_library_leaves_the_program_as_it_was() -> None:
    class Failing(MultiplyingPlainDevice):
        calls = 0

        def multiply(self, product: object) -> Launch:
            launch = super().multiply(product)

            def failing(buffers: list[Buffer]) -> None:
                self.calls += 1
                if self.calls == 1:
                    raise ZeroDivisionError
                launch(buffers)

            return failing  # type: ignore[return-value]

    run = compiled(PROGRAM, Failing(), matmul="library")
    x, y = values(96, 80), values(64, 80)
    with pytest.raises(ZeroDivisionError):
        run(x, y)
    np.testing.assert_array_equal(run(x, y), -((x + x) @ y.T))
