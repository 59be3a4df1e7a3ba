"""What a GPU does beyond launching one kernel: graphs, streams of other libraries, arrays that are shared. `make gpu` runs it."""

from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec

import numpy as np
import pytest
from cuda.core.graph import Graph
from cuda.core.utils import StridedMemoryView

import indexing as ix
from indexing.errors import IndexingError
from indexing.executable import DeviceExecutable
from indexing.runtime.cuda import CudaDevice, DeviceArray

X = np.arange(6000, dtype=np.float32).reshape(60, 100)
SOFTMAX = """add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }
ENTRY softmax {
  x = f32[60,100] parameter(0)
  z = f32[] constant(0)
  e = f32[60,100] exponential(x)
  s = f32[60] reduce(e, z), dimensions={1}, to_apply=add
  b = f32[60,100] broadcast(s), dimensions={0}
  ROOT y = f32[60,100] divide(e, b)
}"""
TOTAL = """add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }
ENTRY total { x = f32[4000000] parameter(0) z = f32[] constant(0) ROOT s = f32[] reduce(x, z), dimensions={0}, to_apply=add }"""


def on_gpu(device: CudaDevice, array: np.ndarray) -> DeviceArray:
    return device.export(device.upload(array), array.dtype, array.shape)


def softmax(x: np.ndarray) -> np.ndarray:
    e = np.exp(x.astype(np.float64))
    return (e / e.sum(1, keepdims=True)).astype(np.float32)


def captured(device: CudaDevice, text: str, arrays: list[np.ndarray], result: np.ndarray) -> tuple[Graph, list]:
    """A graph of two launches of a program's only kernel, and the buffers of its arguments."""
    kernel = ix.emit(ix.hlo.parse(text).entry)
    given = {"input": arrays, "output": [result]}
    buffers = [device.upload(given[a.kind][a.number] if a.kind in given else a.zeros()) for a in kernel.arguments]
    launch = device.load(kernel)
    device.finish()
    builder = device.stream.create_graph_builder()
    builder.begin_building()
    launch(buffers)
    launch(buffers)
    return builder.end_building().complete(), buffers


def test_launches_are_captured_in_a_graph_which_runs_on_other_data() -> None:
    device = CudaDevice()
    graph, (source, target) = captured(device, SOFTMAX, [X / 6000], np.zeros_like(X))
    assert not device.download(target, X.dtype, X.shape).any()  # nothing has run yet
    for x in (X / 6000, -X / 3000):
        device.copy(device.upload(x), source)
        graph.launch(device.stream)
        np.testing.assert_allclose(device.download(target, X.dtype, X.shape), softmax(x), rtol=1e-5)


def test_blocks_that_count_each_other_leave_their_counters_as_a_graph_needs_them() -> None:
    device = CudaDevice()
    x = np.random.default_rng(0).integers(-8, 9, 4_000_000).astype(np.float32)
    graph, buffers = captured(device, TOTAL, [x], np.zeros((), np.float32))
    for _ in range(3):
        graph.launch(device.stream)
        assert device.download(buffers[1], x.dtype, ()) == x.sum()


LOOP = """less { s = (s32[], f32[60,100]) parameter(0) n = s32[] get-tuple-element(s), index=0 m = s32[] constant(5)
  ROOT p = pred[] compare(n, m), direction=LT }
step { s = (s32[], f32[60,100]) parameter(0) n = s32[] get-tuple-element(s), index=0 one = s32[] constant(1)
  x = f32[60,100] get-tuple-element(s), index=1 y = f32[60,100] call(x), to_apply=softmax m = s32[] add(n, one)
  ROOT r = (s32[], f32[60,100]) tuple(m, y) }
ENTRY loop { n = s32[] parameter(0) x = f32[60,100] parameter(1) s = (s32[], f32[60,100]) tuple(n, x)
  w = (s32[], f32[60,100]) while(s), condition=less, body=step ROOT y = f32[60,100] get-tuple-element(w), index=1 }"""


def test_programs_run_as_graphs() -> None:
    """Data decide how often the loop turns; arguments lie at old and new addresses, in host memory and on the GPU."""
    device = CudaDevice(graphs=True)
    run = DeviceExecutable(ix.hlo.parse(SOFTMAX.replace("ENTRY ", "") + LOOP), device)
    resident = on_gpu(device, X / 6000)
    for n in (0, 3, 3, 3, 5, 0, 0):
        for x in (X / 6000, -X / 3000, X / 6000):
            want = x
            for _ in range(n, 5):
                want = softmax(want)
            np.testing.assert_allclose(run(np.int32(n), x), want, rtol=1e-4)
        turns = run(on_gpu(device, np.int32(n)), resident)
        np.testing.assert_allclose(turns.numpy(), run(np.int32(n), X / 6000), rtol=1e-5)


def test_threads_call_one_executable_with_graphs() -> None:
    run = DeviceExecutable(ix.hlo.parse(SOFTMAX), CudaDevice(graphs=True))
    with ThreadPoolExecutor(4) as threads:
        for k, result in enumerate(threads.map(lambda k: run(X / (6000 + k % 3)), range(40))):
            np.testing.assert_allclose(result, softmax(X / (6000 + k % 3)), rtol=1e-5)


def test_work_is_queued_on_the_stream_that_is_given() -> None:
    stream = CudaDevice().device.create_stream()
    device = CudaDevice(stream=stream)
    assert int(device.stream.handle) == int(stream.handle)
    result = DeviceExecutable(ix.hlo.parse(SOFTMAX), device)(X / 6000)
    np.testing.assert_allclose(result, softmax(X / 6000), rtol=1e-5)


def test_threads_call_one_executable() -> None:
    run = DeviceExecutable(ix.hlo.parse(SOFTMAX), CudaDevice())
    with ThreadPoolExecutor(4) as threads:
        for k, result in enumerate(threads.map(lambda k: run(X / (6000 + 100 * k)), range(40))):
            np.testing.assert_allclose(result, softmax(X / (6000 + 100 * k)), rtol=1e-5)


def test_results_of_arrays_on_the_gpu_stay_there() -> None:
    device = CudaDevice()
    run = DeviceExecutable(ix.hlo.parse(SOFTMAX), device)
    for x in (X / 6000, -X / 3000):
        once = run(on_gpu(device, x))
        assert isinstance(once, DeviceArray)
        np.testing.assert_allclose(once.numpy(), softmax(x), rtol=1e-5)
        np.testing.assert_allclose(run(once).numpy(), softmax(softmax(x)), rtol=1e-5)


@pytest.mark.parametrize("kind", ["float32", "float16", "int32", "uint8", "complex64"])
def test_others_read_an_array_where_it_lies(kind: str) -> None:
    device = CudaDevice()
    array = on_gpu(device, X.astype(kind))
    for view in (StridedMemoryView.from_dlpack(array, -1), StridedMemoryView.from_cuda_array_interface(array, -1)):
        place = np.asarray(array.__cuda_array_interface__["data"])[0]
        assert (view.ptr, view.device_id, tuple(view.shape)) == (place, 0, X.shape)
        assert view.dtype == X.astype(kind).dtype
    assert array.__dlpack_device__() == (2, 0)


class Strided:
    """Another library's array whose rows have gaps."""

    def __init__(self, array: DeviceArray) -> None:
        self.array = array
        sizes = (X.shape[0], X.shape[1] // 2)
        self.__cuda_array_interface__ = {**array.__cuda_array_interface__, "shape": sizes, "strides": (400, 4)}


def test_an_array_with_gaps_is_refused() -> None:
    device = CudaDevice()
    with pytest.raises(IndexingError, match="expected row-major elements without gaps"):
        device.borrow(Strided(on_gpu(device, X)), X.dtype, (60, 50))


def test_an_array_of_another_type_or_shape_is_refused() -> None:
    device = CudaDevice()
    run = DeviceExecutable(ix.hlo.parse(SOFTMAX), device)
    with pytest.raises(IndexingError, match="element type float64 on a GPU; expected float32"):
        run(on_gpu(device, X.astype(np.float64)))
    with pytest.raises(IndexingError, match=r"shape \[60, 99\]; expected \[60, 100\]"):
        run(on_gpu(device, np.ascontiguousarray(X[:, :99])))


def test_what_a_step_takes_is_timed_on_the_device() -> None:
    run = DeviceExecutable(ix.hlo.parse(SOFTMAX), CudaDevice())
    profile = run.profile(X / 6000)
    assert {step.name: step.launches for step in profile.steps} == {k.name: 1 for k in run.kernels}
    assert all(step.seconds > 0 for step in profile.steps)


def test_products_by_cublas() -> None:
    text = """ENTRY product {
      x = f32[2048,1024]{1,0} parameter(0)
      y = f32[2048,1024]{1,0} parameter(1)
      d = f32[2048,2048] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={1}
      ROOT out = f32[2048,2048] negate(d)
    }"""
    module, device = ix.hlo.parse(text), CudaDevice()
    if find_spec("nvmath") is None:
        with pytest.raises(ix.CompileError, match="the cublas extra"):
            (lambda: ix.compile(module, device, matmul="library"))()
        return
    run = DeviceExecutable(module, device, matmul="library")
    assert [i.name for i in run.library_steps] == ["d"]
    rng = np.random.default_rng(0)
    for _ in range(2):
        x, y = rng.standard_normal((2, 2048, 1024), np.float32)
        np.testing.assert_allclose(run(x, y), -(x @ y.T), rtol=1e-3, atol=1e-3)
