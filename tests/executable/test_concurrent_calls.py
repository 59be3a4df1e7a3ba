"""Threads that call one executable, each with data of its own: every result is that of the caller's data.

Threads start together at a barrier and make a fixed number of calls; Python switches between them as often as it can.
"""

import gc
import sys
import threading
import weakref
from collections.abc import Callable, Iterator, Sequence

import numpy as np
import pytest

import indexing as ix
from indexing.runtime.device import Buffer, Device
from indexing.runtime.identity import core_count
from kernels import as_list, close, compiled, random_value
from opencl_runtime import device as opencl_device
from plain_device import DeviceWithMemory, PlainDevice

THREADS, CALLS = 6, 12

ADD = "add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }"
LESS = "less { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = pred[] compare(a, b), direction=LT }"
STATE = "(s32[], f32[40,50])"

# What a computation does to `x`: a kernel, one with scratch memory, a reference step, an update in place, a constant.
BODIES = {
    "kernel": "r = f32[40,50] tanh(x)",
    "scratch": """none = f32[] constant(0)
  total = f32[] reduce(x, none), dimensions={0,1}, to_apply=add
  each = f32[40,50] broadcast(total), dimensions={}
  r = f32[40,50] subtract(x, each)""",
    "reference": """half = c64[40,26] fft(x), fft_type=RFFT, fft_length={50}
  r = f32[40,50] fft(half), fft_type=IRFFT, fft_length={50}""",
    "in place": """part = f32[1,50] slice(x), slice={[7:8], [0:50]}
  other = f32[1,50] negate(part)
  sines = f32[40,50] sine(x)
  three = s32[] constant(3)
  none = s32[] constant(0)
  r = f32[40,50] dynamic-update-slice(sines, other, three, none)""",
    "view": """flat = f32[2000] bitcast(x)
  again = f32[50,40] reshape(flat)
  r = f32[40,50] bitcast(again)""",
    "constant": f"""factors = f32[50] constant({{{", ".join(map(str, range(50)))}}})
  each = f32[40,50] broadcast(factors), dimensions={{1}}
  scaled = f32[40,50] multiply(x, each)
  r = f32[40,50] sort(scaled), dimensions={{0}}, to_apply=less""",
}


def straight(body: str) -> str:
    return f"""HloModule m
{ADD}
{LESS}
ENTRY main {{
  x = f32[40,50] parameter(0)
  {body}
  ROOT out = f32[40,50] negate(r)
}}"""


def loop(body: str) -> str:
    return f"""HloModule m
{ADD}
{LESS}
body {{
  s = {STATE} parameter(0)
  n = s32[] get-tuple-element(s), index=0
  x = f32[40,50] get-tuple-element(s), index=1
  one = s32[] constant(1)
  m = s32[] subtract(n, one)
  {body}
  ROOT out = {STATE} tuple(m, r)
}}
more {{
  s = {STATE} parameter(0)
  n = s32[] get-tuple-element(s), index=0
  zero = s32[] constant(0)
  ROOT c = pred[] compare(n, zero), direction=GT
}}
ENTRY main {{
  x = f32[40,50] parameter(0)
  i = s32[] parameter(1)
  four = s32[] constant(4)
  n = s32[] remainder(i, four)
  s = {STATE} tuple(n, x)
  w = {STATE} while(s), condition=more, body=body
  ROOT out = f32[40,50] get-tuple-element(w), index=1
}}"""


def branch(body: str) -> str:
    return f"""HloModule m
{ADD}
{LESS}
yes {{
  x = f32[40,50] parameter(0)
  {body}
  ROOT out = f32[40,50] negate(r)
}}
no {{
  x = f32[40,50] parameter(0)
  ROOT out = f32[40,50] cosine(x)
}}
ENTRY main {{
  x = f32[40,50] parameter(0)
  p = pred[] parameter(1)
  y = f32[40,50] add(x, x)
  ROOT out = f32[40,50] conditional(p, y, x), true_computation=yes, false_computation=no
}}"""


# A fusion with scratch memory (several blocks share a sum), which takes its parameter in another layout.
OTHER_LAYOUT = f"""HloModule m
{ADD}
f {{
  x = f32[400,500]{{1,0}} parameter(0)
  e = f32[400,500]{{1,0}} tanh(x)
  zero = f32[] constant(0)
  ROOT total = f32[] reduce(e, zero), dimensions={{0,1}}, to_apply=add
}}
ENTRY main {{
  x = f32[400,500]{{0,1}} parameter(0)
  ROOT y = f32[] fusion(x), kind=kInput, calls=f
}}"""


PROGRAMS = {
    **{f"{name} in {form.__name__}": form(body) for form in (straight, loop, branch) for name, body in BODIES.items()},
    **{
        f"{form.__name__} of many": form(BODIES["scratch"]).replace("[40,50]", "[400,500]") for form in (straight, loop)
    },
    "a fusion of another layout": OTHER_LAYOUT,
}


DEVICES: dict[str, Callable[[], str | Device]] = {
    "cpu": lambda: "cpu",
    "plain": PlainDevice,
    "with memory": DeviceWithMemory,
    "opencl": opencl_device,
}


@pytest.fixture(autouse=True)
def _switch_often() -> Iterator[None]:
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def call_together(call: Callable[[int], None], threads: int = THREADS) -> None:
    """Run `call(k)` on thread k, all from one moment on; raise what the first of them raised."""
    start, failures = threading.Barrier(threads), []

    def work(k: int) -> None:
        start.wait()
        try:
            call(k)
        except BaseException as failure:
            failures.append(failure)

    workers = [threading.Thread(target=work, args=(k,)) for k in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    if failures:
        raise failures[0]


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("name", PROGRAMS)
def test_each_thread_gets_the_result_of_its_own_data(name: str, device: str) -> None:
    run = compiled(PROGRAMS[name], DEVICES[device]()).executable
    parameters = run.module.entry.parameters
    data = [tuple(random_value(p.shape, np.random.default_rng([k, 5])) for p in parameters) for k in range(THREADS)]
    wanted = [as_list(ix.evaluate(run.module, *arrays)) for arrays in data]

    def calls(k: int) -> None:
        for _ in range(CALLS):
            for got, want in zip(as_list(run(*data[k])), wanted[k], strict=True):
                close(got, want, 1e-3)

    call_together(calls)


def test_two_calls_at_a_time_share_no_memory() -> None:
    """Each launches when the other has its buffers."""
    met, held = threading.Barrier(1), dict[int, list[int]]()

    def meet(buffers: Sequence[Buffer]) -> None:
        held[threading.get_ident()] = [id(b.handle) for b in buffers]
        met.wait()

    run = compiled(OTHER_LAYOUT, PlainDevice(meet)).executable
    x = np.ones((400, 500), np.float32)
    run(x)
    met = threading.Barrier(2)
    held.clear()
    call_together(lambda k: run(x + k), threads=2)
    first, second = held.values()
    assert len(first) >= 3  # the parameter, the result, the scratch memory
    assert not {*first} & {*second}


def test_memory_of_many_calls_at_a_time_is_freed() -> None:
    """Threads meet in a step; afterwards idle runs are kept for as many threads as there are cores."""
    met, allocated = threading.Barrier(1), list[weakref.ref]()

    class Counting(PlainDevice):
        def empty(self, nbytes: int) -> Buffer:
            buffer = super().empty(nbytes)
            allocated.append(weakref.ref(buffer.handle))
            return buffer

    run = compiled(straight(BODIES["kernel"]), Counting(lambda _: met.wait())).executable
    x = np.ones((40, 50), np.float32)
    run(x)
    gc.collect()
    of_one_call, threads = sum(r() is not None for r in allocated), 8 * max(core_count(), 2)
    met = threading.Barrier(threads)
    call_together(lambda k: run(x), threads)
    gc.collect()
    assert of_one_call <= sum(r() is not None for r in allocated) <= of_one_call * max(core_count(), 2)


def test_memory_does_not_grow_from_call_to_call() -> None:
    """Of a device that copies arguments: each call uploads them anew."""
    allocated: list[weakref.ref] = []

    class Counting(DeviceWithMemory):
        def empty(self, nbytes: int) -> Buffer:
            buffer = super().empty(nbytes)
            allocated.append(weakref.ref(buffer.handle))
            return buffer

        def upload(self, array: np.ndarray) -> Buffer:
            buffer = super().upload(array)
            allocated.append(weakref.ref(buffer.handle))
            return buffer

    run = compiled(loop(BODIES["reference"]), Counting()).executable
    alive = []
    for n in (3, 1, 2, 3, 0, 3):
        run(np.ones((40, 50), np.float32), np.int32(n))
        gc.collect()
        alive.append(sum(r() is not None for r in allocated))
    assert set(alive) == {alive[0]}


def test_the_arguments_of_a_call_are_not_kept() -> None:
    for device in DEVICES.values():
        run = compiled(straight(BODIES["reference"]), device()).executable
        x = np.ones((40, 50), np.float32)
        run(x)
        gone = weakref.ref(x)
        del x
        gc.collect()
        assert gone() is None
