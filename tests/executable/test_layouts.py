"""Programs whose readers expect arrays in other layouts than they were written in; results that are arguments or constants."""

from collections.abc import Callable

import numpy as np
import pytest

import indexing as ix
from indexing.runtime.tape import Opcode
from kernels import as_list, close, compiled, random_value
from plain_device import DeviceWithMemory, PlainDevice
from tapes import opcodes

DEVICES: dict[str, Callable[[], str | PlainDevice]] = {
    "cpu": lambda: "cpu",
    "plain": PlainDevice,
    "with memory": DeviceWithMemory,
}
LESS = "less { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = pred[] compare(a, b), direction=LT }"
ROWS = "rows { p = f32[3,4]{1,0} parameter(0) ROOT n = f32[3,4]{1,0} negate(p) }"
COLUMNS = "columns { p = f32[3,4]{0,1} parameter(0) ROOT n = f32[3,4]{0,1} sine(p) }"
STATE = "(s32[], f32[3,4]{1,0}, f32[3,4]{0,1}, f32[3,4]{0,1})"

PROGRAMS = {
    "one array twice": """both { p = f32[3,4]{1,0} parameter(0) q = f32[3,4]{0,1} parameter(1)
  b = f32[3,4]{1,0} reverse(p), dimensions={0,1} ROOT n = f32[3,4]{1,0} add(b, q) }
ENTRY main { x = f32[3,4] parameter(0) y = f32[3,4] sine(x) ROOT r = f32[3,4] fusion(y, y), kind=kLoop, calls=both }""",
    "readers in turns": f"""{ROWS}
{COLUMNS}
ENTRY main {{ x = f32[3,4]{{0,1}} parameter(0)
  a = f32[3,4]{{1,0}} fusion(x), kind=kLoop, calls=rows
  b = f32[3,4]{{0,1}} fusion(x), kind=kLoop, calls=columns
  c = f32[3,4]{{0,1}} fusion(a), kind=kLoop, calls=columns
  d = f32[3,4]{{1,0}} fusion(b), kind=kLoop, calls=rows
  ROOT r = (f32[3,4]{{1,0}}, f32[3,4]{{0,1}}, f32[3,4]{{1,0}}, f32[3,4]{{0,1}}) tuple(d, c, a, x) }}""",
    "a constant": f"""{ROWS}
ENTRY main {{ x = f32[3,4] parameter(0)
  k = f32[3,4]{{0,1}} constant({{{{1, 2, 3, 4}}, {{5, 6, 7, 8}}, {{9, 10, 11, 12}}}})
  n = f32[3,4] fusion(k), kind=kLoop, calls=rows
  a = f32[3,4] add(n, x)
  ROOT r = (f32[3,4], f32[3,4]{{0,1}}) tuple(a, k) }}""",
    "a loop": f"""{ROWS}
{COLUMNS}
body {{ s = {STATE} parameter(0)
  n = s32[] get-tuple-element(s), index=0
  x = f32[3,4]{{1,0}} get-tuple-element(s), index=1
  y = f32[3,4]{{0,1}} get-tuple-element(s), index=2
  z = f32[3,4]{{0,1}} get-tuple-element(s), index=3
  one = s32[] constant(1)
  m = s32[] subtract(n, one)
  a = f32[3,4]{{1,0}} fusion(y), kind=kLoop, calls=rows
  b = f32[3,4]{{0,1}} fusion(x), kind=kLoop, calls=columns
  c = f32[3,4]{{1,0}} fusion(z), kind=kLoop, calls=rows
  d = f32[3,4]{{1,0}} add(a, c)
  ROOT r = {STATE} tuple(m, d, b, z) }}
more {{ s = {STATE} parameter(0)
  n = s32[] get-tuple-element(s), index=0
  zero = s32[] constant(0)
  ROOT c = pred[] compare(n, zero), direction=GT }}
ENTRY main {{ n = s32[] parameter(0)
  x = f32[3,4]{{1,0}} parameter(1)
  y = f32[3,4]{{0,1}} parameter(2)
  five = s32[] constant(5)
  m = s32[] remainder(n, five)
  s = {STATE} tuple(m, x, y, y)
  ROOT w = {STATE} while(s), condition=more, body=body }}""",
    "branches": f"""{ROWS}
{COLUMNS}
yes {{ x = f32[3,4]{{0,1}} parameter(0) ROOT n = f32[3,4]{{1,0}} fusion(x), kind=kLoop, calls=rows }}
no {{ x = f32[3,4]{{1,0}} parameter(0) ROOT n = f32[3,4]{{0,1}} fusion(x), kind=kLoop, calls=columns }}
ENTRY main {{ p = pred[] parameter(0)
  x = f32[3,4] parameter(1)
  y = f32[3,4] cosine(x)
  c = f32[3,4]{{0,1}} conditional(p, y, y), true_computation=yes, false_computation=no
  ROOT r = (f32[3,4]{{0,1}}, f32[3,4]) tuple(c, y) }}""",
    "in place": """placed { x = f32[3,4]{0,1} parameter(0) y = f32[1,4]{1,0} parameter(1) i = s32[] parameter(2) z = s32[] constant(0)
  ROOT out = f32[3,4]{0,1} dynamic-update-slice(x, y, i, z) }
ENTRY main { x = f32[3,4] parameter(0) y = f32[1,4] parameter(1) i = s32[] parameter(2)
  a = f32[3,4] sine(x)
  b = f32[3,4]{0,1} fusion(a, y, i), kind=kLoop, calls=placed
  c = f32[3,4]{0,1} fusion(x, y, i), kind=kLoop, calls=placed
  ROOT r = (f32[3,4]{0,1}, f32[3,4], f32[3,4]{0,1}) tuple(b, a, c) }""",
    "the reference": f"""{LESS}
{COLUMNS}
ENTRY main {{ x = (f32[3,4]{{0,1}}, f32[1,5,1]{{1,0,2}}) parameter(0)
  a = f32[3,4]{{0,1}} get-tuple-element(x), index=0
  b = f32[1,5,1]{{1,0,2}} get-tuple-element(x), index=1
  h = c64[3,3]{{0,1}} fft(a), fft_type=RFFT, fft_length={{4}}
  s = f32[3,4]{{0,1}} fft(h), fft_type=IRFFT, fft_length={{4}}
  t = f32[3,4]{{0,1}} fusion(s), kind=kLoop, calls=columns
  u = f32[1,5,1]{{2,1,0}} sort(b), dimensions={{1}}, to_apply=less
  ROOT r = (f32[3,4]{{0,1}}, f32[3,4]{{0,1}}, f32[1,5,1]{{2,1,0}}) tuple(s, t, u) }}""",
}
PROGRAMS["the reference of two callers"] = f"""{COLUMNS}
transformed {{ x = f32[3,4]{{1,0}} parameter(0) ROOT s = c64[3,3]{{1,0}} fft(x), fft_type=RFFT, fft_length={{4}} }}
ENTRY main {{ x = f32[3,4] parameter(0)
  p = pred[] parameter(1)
  y = f32[3,4]{{0,1}} fusion(x), kind=kLoop, calls=columns
  a = c64[3,3] conditional(p, x, x), true_computation=transformed, false_computation=transformed
  b = c64[3,3] conditional(p, y, y), true_computation=transformed, false_computation=transformed
  ROOT r = (c64[3,3], c64[3,3]) tuple(a, b) }}"""
PROGRAMS["a subroutine"] = "\n".join(
    [
        "c0 { x = f32[3,4]{1,0} parameter(0) ROOT r = f32[3,4]{1,0} sine(x) }",
        *(
            f"""c{k} {{ x = f32[3,4]{{{k % 2},{1 - k % 2}}} parameter(0)
  p = pred[] constant(true)
  ROOT r = f32[3,4]{{1,0}} conditional(p, x, x), true_computation=c{k - 1}, false_computation=c0 }}"""
            for k in range(1, 80)
        ),
        """ENTRY main { x = f32[3,4] parameter(0)
  p = pred[] parameter(1)
  y = f32[3,4] cosine(x)
  ROOT r = f32[3,4] conditional(p, y, y), true_computation=c78, false_computation=c79 }""",
    ]
)
PROGRAMS["three dimensions"] = f"""{LESS}
turned {{ p = f32[2,3,4]{{1,0,2}} parameter(0) ROOT n = f32[2,3,4]{{0,2,1}} negate(p) }}
ENTRY main {{ x = f32[2,3,4] parameter(0)
  y = f32[2,3,4]{{1,0,2}} cosine(x)
  t = f32[2,3,4]{{0,2,1}} fusion(y), kind=kLoop, calls=turned
  s = f32[2,3,4]{{1,0,2}} sort(t), dimensions={{1}}, to_apply=less
  ROOT r = (f32[2,3,4]{{0,2,1}}, f32[2,3,4]{{1,0,2}}) tuple(t, s) }}"""
PROGRAMS["a selector out of range"] = """a { x = f32[3] parameter(0) ROOT r = f32[3] negate(x) }
b { x = f32[3] parameter(0) ROOT r = f32[3] add(x, x) }
c { x = f32[3] parameter(0) ROOT r = f32[3] multiply(x, x) }
ENTRY main { i = s32[] parameter(0) x = f32[3] parameter(1)
  ROOT r = f32[3] conditional(i, x, x, x), branch_computations={a, b, c} }"""
PROGRAMS["a loop that changes layouts"] = PROGRAMS["a loop"].replace("tuple(m, d, b, z)", "tuple(m, b, d, z)")


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("name", PROGRAMS)
def test_every_reader_finds_its_layout(name: str, device: str) -> None:
    run = compiled(PROGRAMS[name], DEVICES[device]())
    module = ix.hlo.parse(PROGRAMS[name])
    for seed in range(6):
        rng = np.random.default_rng(seed)
        arrays = [random_value(p.shape, rng) for p in module.entry.parameters]
        for got, want in zip(as_list(run(*arrays)), as_list(ix.evaluate(module, *arrays)), strict=True):
            close(got, want)


def test_an_argument_comes_in_the_layout_of_its_reader() -> None:
    text = (
        f"{ROWS}\nENTRY main {{ x = f32[3,4]{{0,1}} parameter(0) ROOT r = f32[3,4] fusion(x), kind=kLoop, calls=rows }}"
    )
    assert opcodes(text) == [Opcode.LAUNCH, Opcode.END]


def test_a_constant_is_kept_in_the_layout_of_its_reader() -> None:
    assert Opcode.HOST not in opcodes(PROGRAMS["a constant"])


@pytest.mark.parametrize("device", DEVICES)
def test_results_belong_to_the_caller(device: str) -> None:
    text = """ENTRY main { x = f32[4] parameter(0) k = f32[4] constant({1, 2, 3, 4}) y = f32[4] negate(x)
      ROOT r = (f32[4], f32[4], f32[4], f32[4]) tuple(x, k, y, x) }"""
    run, x = compiled(text, DEVICES[device]()).executable, np.arange(4, dtype=np.float32)
    for _ in range(3):
        same, constant, negative, again = (np.asarray(a) for a in run(x))
        np.testing.assert_array_equal(same, np.arange(4))
        np.testing.assert_array_equal(again, np.arange(4))
        np.testing.assert_array_equal(constant, [1, 2, 3, 4])
        np.testing.assert_array_equal(negative, -np.arange(4))
        for array in (same, constant, negative):
            array[...] = 9
        np.testing.assert_array_equal(x, np.arange(4))
