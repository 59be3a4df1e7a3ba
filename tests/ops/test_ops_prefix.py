"""Cumulative sums and the like: windows over all elements up to each are computed in parts."""

import re

import numpy as np
import pytest

import indexing as ix
from kernels import compiled

KINDS = [
    ("f32", "add", 0),
    ("s32", "add", 0),
    ("f32", "maximum", "-inf"),
    ("f64", "multiply", 1),
    ("s16", "minimum", 32767),
    ("bf16", "add", 0),
    ("f16", "maximum", "-inf"),
    ("f8e5m2", "add", 0),
]
WIDER = dict.fromkeys(("bf16", "f16", "f8e5m2"), np.float32)  # a prefix is rounded once
ROUNDING = {"bf16": 2**-7, "f16": 2**-10, "f8e5m2": 2**-2}  # one step between neighbours
SIZES = [((64,), 0), ((3, 1000), 1), ((1500, 5), 0), ((2, 300, 4), 1), ((2, 1, 65), 2)]
CASES = [(*KINDS[0], *place) for place in SIZES] + [(*kind, *place) for kind in KINDS[1:] for place in SIZES[1:3]]


def program(sizes: tuple[int, ...], d: int, kind: str, op: str, initial: object, is_forward: bool = True) -> str:
    n = sizes[d]
    window = "x".join(str(n) if k == d else "1" for k in range(len(sizes)))
    ends = f"{n - 1}_0" if is_forward else f"0_{n - 1}"
    pads = "x".join(ends if k == d else "0_0" for k in range(len(sizes)))
    of = f"{kind}[{','.join(map(str, sizes))}]"
    return f"""HloModule m
    op {{ a = {kind}[] parameter(0)
      b = {kind}[] parameter(1)
      ROOT c = {kind}[] {op}(a, b) }}
    ENTRY main {{
      x = {of} parameter(0)
      z = {kind}[] constant({initial})
      w = {of} reduce-window(x, z), window={{size={window} pad={pads}}}, to_apply=op
      ROOT y = {of} negate(w)
    }}"""


@pytest.mark.parametrize(("kind", "op", "initial", "sizes", "d"), CASES)
@pytest.mark.parametrize("is_forward", [True, False])
def test_values(kind: str, op: str, initial: object, sizes: tuple[int, ...], d: int, is_forward: bool) -> None:
    text = program(sizes, d, kind, op, initial, is_forward)
    shape = ix.hlo.parse(text).entry.root.shape
    x = np.random.default_rng(0).uniform(0.5, 1.5, sizes).astype(shape.dtype)
    ufunc = {"add": np.add, "maximum": np.maximum, "multiply": np.multiply, "minimum": np.minimum}[op]
    wide, tolerance = x.astype(WIDER.get(kind, x.dtype)), ROUNDING.get(kind, 1e-4)
    want = -ufunc.accumulate(wide, d) if is_forward else -np.flip(ufunc.accumulate(np.flip(wide, d), d), d)
    executable = compiled(text, tolerance=max(1e-3, tolerance))
    actual = executable(x).astype(wide.dtype)
    np.testing.assert_allclose(actual, want.astype(shape.dtype).astype(wide.dtype), rtol=tolerance)
    assert len(executable.kernels) > 1


LOGADDEXP = """op { a = f32[] parameter(0)
      b = f32[] parameter(1)
      m = f32[] maximum(a, b)
      d = f32[] subtract(a, b)
      s = f32[] abs(d)
      n = f32[] negate(s)
      e = f32[] exponential(n)
      l = f32[] log-plus-one(e)
      ROOT c = f32[] add(m, l) }
    ENTRY"""


@pytest.mark.parametrize("is_forward", [True, False])
@pytest.mark.parametrize(("sizes", "d"), SIZES)
def test_a_reducer_of_several_ops(sizes: tuple[int, ...], d: int, is_forward: bool) -> None:
    text = re.sub(r"op \{.*?ENTRY", LOGADDEXP, program(sizes, d, "f32", "op", "-inf", is_forward), flags=re.DOTALL)
    x = np.random.default_rng(0).uniform(-3, 3, sizes).astype(np.float32)
    flip = (lambda a: a) if is_forward else (lambda a: np.flip(a, d))
    executable = compiled(text, tolerance=1e-3)
    np.testing.assert_allclose(executable(x), -flip(np.logaddexp.accumulate(flip(x), d)), rtol=1e-4, atol=1e-5)
    assert len(executable.kernels) > 1


TWICE = "h = bf16[] maximum(a, b)\n ROOT c = bf16[] maximum(h, a)"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (program((40,), 0, "f32", "add", 0), "short"),
        (program((400,), 0, "f32", "add", 1), "an initial value that counts once"),
        (program((400,), 0, "f32", "subtract", 0), "no reducer with a neutral element"),
        (program((400,), 0, "f32", "add", 0).replace("399_0", "200_199"), "a window around each element"),
        (
            program((400,), 0, "bf16", "add", 0).replace("ROOT c = bf16[] add(a, b)", TWICE),
            "narrow floats by a reducer of several ops",
        ),
    ],
)
def test_other_windows_stay(text: str, why: str) -> None:
    executable = compiled(text, tolerance=2e-2)
    x = np.ones(
        executable.module.entry.parameters[0].shape.dimensions, executable.module.entry.parameters[0].shape.dtype
    )
    got, want = (np.asarray(v).astype(np.float32) for v in (executable(x), ix.evaluate(text, x)))
    np.testing.assert_allclose(got, want, rtol=2e-2, err_msg=why)
    assert len(executable.kernels) == 1


def test_prefixes_of_blocks_are_split_in_turn() -> None:
    n = 1 << 22
    report = ix.analyze(program((n,), 0, "f32", "add", 0), "h100")
    assert n < report.flops < 32 * n
