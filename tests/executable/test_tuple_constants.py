"""Constants that are tuples, and results that are tokens, in programs that run: expected values are those written in the text."""

import numpy as np
import pytest

import indexing as ix
from kernels import compiled

PAIRS = "c = (f32[2,1], (f32[2], s32[])) constant(({ {1}, {2} }, ({2, 42}, 3)))"
INNER = f"{PAIRS} g = (f32[2], s32[]) get-tuple-element(c), index=1 v = f32[2] get-tuple-element(g), index=0"
ONE = "c = (s32[]) constant((3)) n = s32[] get-tuple-element(c), index=0"
LOOP = """body { p = (s32[], f32[2]) parameter(0) i = s32[] get-tuple-element(p), index=0 o = s32[] constant(1)
  j = s32[] add(i, o) x = f32[2] get-tuple-element(p), index=1 y = f32[2] add(x, x) ROOT t = (s32[], f32[2]) tuple(j, y) }
goes_on { p = (s32[], f32[2]) parameter(0) i = s32[] get-tuple-element(p), index=0 k = s32[] constant(3)
  ROOT r = pred[] compare(i, k), direction=LT }
ENTRY e { t = (s32[], f32[2]) constant((0, {1, 2})) ROOT w = (s32[], f32[2]) while(t), condition=goes_on, body=body }"""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"ENTRY e {{ ROOT {PAIRS} }}", [[[1], [2]], [2, 42], 3]),
        (f"ENTRY e {{ {INNER} ROOT a = f32[2] add(v, v) }}", [[4, 84]]),
        (f"f {{ {INNER} ROOT n = f32[2] negate(v) }} ENTRY e {{ ROOT a = f32[2] fusion(), kind=kLoop, calls=f }}", [[-2, -42]]),
        (f"ENTRY e {{ {ONE} ROOT a = s32[] add(n, n) }}", [6]),
        (LOOP, [3, [8, 16]]),
    ],
    ids=["result", "operand", "fusion", "scalar", "loop"],
)  # fmt: skip
def test_a_constant_may_be_a_tuple(text: str, expected: list[object]) -> None:
    for got in (ix.evaluate(text), compiled(text, device="cpu")()):
        parts = got if isinstance(got, tuple) else (got,)
        for part, values in zip(parts, expected, strict=True):
            np.testing.assert_array_equal(part, values)
    assert ix.analyze(text) is not None


def test_a_kernel_holds_the_arrays_of_a_tuple() -> None:
    """One is a table; the other one, whose elements are equal, is a number."""
    text = """f { c = (f32[3], f32[3]) constant(({5, 6, 7}, {2, 2, 2})) a = f32[3] get-tuple-element(c), index=0
      b = f32[3] get-tuple-element(c), index=1 ROOT r = f32[3] multiply(a, b) }
    ENTRY e { ROOT a = f32[3] fusion(), kind=kLoop, calls=f }"""
    source = ix.emit(ix.hlo.parse(text).entry.root, dialect="c").source
    assert "5" in source and "7" in source and source.count("table1") == 0
    np.testing.assert_array_equal(compiled(text, device="cpu")(), [10, 12, 14])


@pytest.mark.parametrize("operands", ["", "p"])
def test_a_token_has_no_value(operands: str) -> None:
    text = f"ENTRY e {{ p = f32[] parameter(0) ROOT t = token[] after-all({operands}) }}"
    assert ix.evaluate(text, np.float32(1)) is None
    assert compiled(text, device="cpu")(np.float32(1)) is None


@pytest.mark.parametrize(
    ("shape", "parts", "expected"),
    [
        ("(f32[], token[])", "p, t", (1, None)),
        ("(token[], f32[])", "t, p", (None, 1)),
        ("(token[])", "t", (None,)),
        ("(f32[], (token[], f32[]))", "p, u", (1, None, 1)),
    ],
)
def test_a_token_of_a_tuple_is_none_among_its_arrays(
    shape: str, parts: str, expected: tuple[float | None, ...]
) -> None:
    """XLA's programs have a result for each token, too."""
    text = f"""ENTRY e {{ p = f32[] parameter(0) t = token[] after-all() u = (token[], f32[]) tuple(t, p)
      ROOT r = {shape} tuple({parts}) }}"""
    assert ix.evaluate(text, np.float32(1)) == expected
    assert compiled(text, device="cpu")(np.float32(1)) == expected
