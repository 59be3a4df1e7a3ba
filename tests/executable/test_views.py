"""Arrays that are views of others: nothing is launched for them, and no caller sees that they share memory."""

from collections.abc import Callable

import numpy as np
import pytest

import indexing as ix
from indexing.device.table import portable_device
from indexing.planning.program import planned_kernels
from indexing.runtime.device import Device
from indexing.runtime.tape import Opcode
from kernels import as_list, compiled, random_value
from opencl_runtime import device as opencl_device
from plain_device import DeviceWithMemory, PlainDevice
from tapes import opcodes

DEVICES: dict[str, Callable[[], str | Device]] = {
    "cpu": lambda: "cpu",
    "plain": PlainDevice,
    "with memory": DeviceWithMemory,
    "opencl": opencl_device,
}

BODIES = """HloModule views
f { p = f32[4,6] parameter(0) ROOT n = f32[4,6] negate(p) }
rename { p = f32[4,6] parameter(0) ROOT b = f32[24] bitcast(p) }
"""
G = "x = f32[4,6] parameter(0) g = f32[4,6] fusion(x), kind=kLoop, calls=f"

# The program of an entry, and the numbers of launches and of copies on its tape.
VIEWS = {
    "a bitcast": (f"{G} ROOT b = f32[24] bitcast(g)", 1, 0),
    "a reshape": (f"{G} ROOT b = f32[2,12] reshape(g)", 1, 0),
    "a transpose that moves nothing": (f"{G} ROOT b = f32[6,4]{{0,1}} transpose(g), dimensions={{1,0}}", 1, 0),
    "a copy": (f"{G} ROOT b = f32[4,6] copy(g)", 1, 0),
    "a fusion": (f"{G} ROOT b = f32[24] fusion(g), kind=kLoop, calls=rename", 1, 0),
    "a chain": (f"{G} b = f32[3,8] bitcast(g) c = f32[3,8] copy(b) ROOT d = f32[2,12] reshape(c)", 1, 0),
    "another type": (f"{G} ROOT b = s32[6,4] bitcast(g)", 1, 0),
    "an argument": ("x = f32[4,6] parameter(0) ROOT b = f32[24] bitcast(x)", 0, 1),
    "an argument, twice": (
        "x = f32[4,6] parameter(0) b = f32[24] bitcast(x) ROOT r = (f32[24], f32[24], f32[4,6]) tuple(b, b, x)",
        0,
        3,
    ),
    "a constant": (
        "x = f32[4,6] parameter(0) k = f32[4] constant({1, 2, 3, 4}) b = f32[2,2] bitcast(k) ROOT r = (f32[2,2], f32[4]) tuple(b, k)",
        0,
        2,
    ),
    "of a result": (f"{G} b = f32[24] bitcast(g) ROOT r = (f32[4,6], f32[24]) tuple(g, b)", 1, 1),
    "two of an array": (
        f"{G} b = f32[24] bitcast(g) c = f32[3,8] bitcast(g) ROOT r = (f32[24], f32[3,8]) tuple(b, c)",
        1,
        1,
    ),
    "read by a fusion": (
        "x = f32[24] parameter(0) b = f32[4,6] bitcast(x) ROOT g = f32[4,6] fusion(b), kind=kLoop, calls=f",
        1,
        0,
    ),
    "read by the host": (
        f"{G} b = f32[6,2,2] bitcast(g) "
        'ROOT s = (f32[6,2,2], f32[6,1], s32[6]) custom-call(b), custom_call_target="lapack_sgehrd_ffi"',
        1,
        0,
    ),
}

# What moves elements, or may change bytes, has a kernel.
MOVES = {
    "a transpose": f"{G} ROOT b = f32[6,4] transpose(g), dimensions={{1,0}}",
    "another layout": f"{G} ROOT b = f32[4,6]{{0,1}} copy(g)",
    "a reshape of columns": "x = f32[4,6]{0,1} parameter(0) ROOT b = f32[24] reshape(x)",
    "a part": f"{G} ROOT b = f32[2,6] slice(g), slice={{[0:2], [0:6]}}",
    "backwards": f"{G} ROOT b = f32[4,6] reverse(g), dimensions={{0}}",
    "a predicate": "x = u8[24] parameter(0) ROOT b = pred[24] bitcast(x)",
    "narrow elements": "x = s8[24] parameter(0) ROOT b = s4[48] bitcast(x)",
}


def program(entry: str) -> str:
    return f"{BODIES}ENTRY e {{ {entry} }}"


def data(text: str, seed: int = 3) -> list[object]:
    rng = np.random.default_rng(seed)
    return [random_value(p.shape, rng) for p in ix.hlo.parse(text).entry.parameters]


@pytest.mark.parametrize("name", VIEWS)
def test_nothing_is_launched_for_a_view(name: str) -> None:
    entry, launches, copies = VIEWS[name]
    actual = opcodes(program(entry))
    assert (actual.count(Opcode.LAUNCH), actual.count(Opcode.COPY)) == (launches, copies)
    assert len(compiled(program(entry), "cpu").kernels) == launches
    for dialect in ("c", "cuda", "opencl"):
        assert len(planned_kernels(ix.hlo.parse(program(entry)), portable_device(dialect))) == launches


@pytest.mark.parametrize("name", MOVES)
def test_what_moves_elements_has_a_kernel(name: str) -> None:
    text = program(MOVES[name])
    run, arguments = compiled(text, "cpu"), data(text)
    assert len(run.kernels) == 1 + ("g = " in MOVES[name])
    for got, want in zip(as_list(run(*arguments)), as_list(ix.evaluate(text, *arguments)), strict=True):
        np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("name", VIEWS)
def test_results_are_memory_of_their_own(name: str, device: str) -> None:
    """The caller may write to his arguments and to each result: no other array changes, nor does a later call."""
    text = program(VIEWS[name][0])
    run = compiled(text, DEVICES[device]()).executable
    arguments = [np.array(a) for a in data(text)]
    wanted = [a.copy() for a in as_list(ix.evaluate(text, *arguments))]
    for _ in range(3):
        passed = [a.copy() for a in arguments]
        results = as_list(run(*passed))
        for array in passed:
            array[...] = 77
        for k, (got, want) in enumerate(zip(results, wanted, strict=True)):
            np.testing.assert_array_equal(got, want, err_msg=f"result {k}")
            got[...] = 55
        for array in passed:
            assert (array == 77).all()


@pytest.mark.parametrize("device", DEVICES)
def test_an_array_stays_while_a_view_of_it_is_updated(device: str) -> None:
    """The update takes place in a copy; without the other reader, in the array itself."""
    entry = f"""{G} u = f32[1] parameter(1) three = s32[] constant(3)
  b = f32[24] bitcast(g) d = f32[24] dynamic-update-slice(b, u, three)
  c = f32[2,12] bitcast(g)"""
    read = f"{entry} ROOT r = (f32[24], f32[2,12]) tuple(d, c)"
    for text, copies in ((program(read), 1), (program(f"{entry} ROOT r = (f32[24]) tuple(d)"), 0)):
        arguments = data(text)
        results = compiled(text, DEVICES[device]())(*arguments)
        for got, want in zip(as_list(results), as_list(ix.evaluate(text, *arguments)), strict=True):
            np.testing.assert_array_equal(got, want)
        assert opcodes(text).count(Opcode.COPY) == copies


STATE = "(s32[], f32[4,6], f32[24], f32[24])"
LOOP = f"""{BODIES}body {{ s = {STATE} parameter(0)
  n = s32[] get-tuple-element(s), index=0
  x = f32[4,6] get-tuple-element(s), index=1
  y = f32[24] get-tuple-element(s), index=2
  z = f32[24] get-tuple-element(s), index=3
  one = s32[] constant(1)
  m = s32[] subtract(n, one)
  g = f32[4,6] fusion(x), kind=kLoop, calls=f
  b = f32[24] bitcast(x)
  c = f32[4,6] bitcast(y)
  d = f32[4,6] add(g, c)
  ROOT r = {STATE} tuple(m, d, b, b) }}
more {{ s = {STATE} parameter(0)
  n = s32[] get-tuple-element(s), index=0
  zero = s32[] constant(0)
  ROOT c = pred[] compare(n, zero), direction=GT }}
yes {{ x = f32[4,6] parameter(0) ROOT b = f32[24] bitcast(x) }}
no {{ x = f32[4,6] parameter(0) g = f32[4,6] fusion(x), kind=kLoop, calls=f ROOT b = f32[24] bitcast(g) }}
ENTRY e {{ n = s32[] parameter(0)
  p = pred[] parameter(1)
  x = f32[4,6] parameter(2)
  y = f32[24] bitcast(x)
  s = {STATE} tuple(n, x, y, y)
  w = {STATE} while(s), condition=more, body=body
  v = f32[4,6] get-tuple-element(w), index=1
  t = f32[24] get-tuple-element(w), index=2
  u = f32[24] get-tuple-element(w), index=3
  c = f32[24] conditional(p, v, x), true_computation=yes, false_computation=no
  ROOT r = (f32[4,6], f32[24], f32[24], f32[24], f32[24]) tuple(v, t, u, c, y) }}"""


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("turns", [0, 1, 2, 5])
@pytest.mark.parametrize("which", [True, False])
def test_loops_and_branches_carry_views(device: str, turns: int, which: bool) -> None:
    x = np.linspace(-1, 1, 24, dtype=np.float32).reshape(4, 6)
    run = compiled(LOOP, DEVICES[device]()).executable
    wanted = [a.copy() for a in as_list(ix.evaluate(LOOP, np.int32(turns), which, x))]
    for _ in range(2):
        results = as_list(run(np.int32(turns), which, x))
        for got, want in zip(results, wanted, strict=True):
            np.testing.assert_array_equal(got, want)
            got[...] = 9


def test_readers_of_a_view_may_expect_another_layout() -> None:
    """The view is of the array in its stated layout, in which an argument with rows in order is brought first."""
    text = """columns { p = f32[6,4]{0,1} parameter(0) ROOT n = f32[6,4]{0,1} negate(p) }
rows { p = f32[6,4]{1,0} parameter(0) ROOT n = f32[6,4]{1,0} negate(p) }
ENTRY e { x = f32[4,6]{0,1} parameter(0) k = f32[4,3]{0,1} constant({{1,2,3},{4,5,6},{7,8,9},{10,11,12}})
  b = f32[6,4]{1,0} bitcast(x) c = f32[3,4]{1,0} bitcast(k)
  d = f32[6,4]{1,0} fusion(b), kind=kLoop, calls=rows
  e = f32[6,4]{0,1} fusion(b), kind=kLoop, calls=columns
  ROOT r = (f32[6,4]{1,0}, f32[6,4]{0,1}, f32[3,4]{1,0}, f32[4,6]{0,1}) tuple(d, e, c, x) }"""
    (x,) = data(text)
    for got, want in zip(compiled(text, "cpu")(x), ix.evaluate(text, x), strict=True):
        np.testing.assert_array_equal(got, want)
