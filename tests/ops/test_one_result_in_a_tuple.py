"""Instructions that give an array for each operand: one alone may stand in a tuple, if the text says so."""

import numpy as np
import pytest

import indexing as ix
from kernels import compiled

COMPUTATIONS = """
add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }
added { a = f32[] parameter(0) b = f32[] parameter(1) c = f32[] add(a, b) ROOT t = (f32[]) tuple(c) }
less { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = pred[] compare(a, b), direction=LT }
"""
X = np.array([[3, 1, 2], [5, 4, 0.5]], np.float32)
_PAD = np.pad(X, ((0, 0), (1, 0)))
_SCATTER = "update_window_dims={0}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=0"
CASES = {
    "reduce": ("f32[3]", "reduce(x, zero), dimensions={0}, to_apply=added", X.sum(0)),
    "reduce without a tuple in it": ("f32[2]", "reduce(x, zero), dimensions={1}, to_apply=add", X.sum(1)),
    "reduce of one element": ("f32[3]", "reduce(row, zero), dimensions={0}, to_apply=added", X[0]),
    "reduce-window": ("f32[2,3]", "reduce-window(x, zero), window={size=1x2 pad=0_0x1_0}, to_apply=added", _PAD[:, 1:] + _PAD[:, :-1]),
    "reduce-window of sums": ("f32[2,2]", "reduce-window(x, zero), window={size=1x2}, to_apply=add", X[:, 1:] + X[:, :-1]),
    "scatter": ("f32[2,3]", f"scatter(x, one, x0), {_SCATTER}, to_apply=added", X + [[0], [1]] * X[0]),
    "sort": ("f32[2,3]", "sort(x), dimensions={1}, to_apply=less", np.sort(X)),
    "all-reduce": ("f32[2,3]", "all-reduce(x), replica_groups={}, to_apply=add", X),
    "all-gather": ("f32[2,3]", "all-gather(x), replica_groups={}, dimensions={0}", X),
}  # fmt: skip


def text(shape: str, call: str) -> str:
    return f"""{COMPUTATIONS}
    ENTRY e {{
      x = f32[2,3] parameter(0)
      zero = f32[] constant(0)
      one = s32[1] constant({{1}})
      row = f32[1,3] slice(x), slice={{[0:1], [0:3]}}
      x0 = f32[3] reshape(row)
      r = ({shape}) {call}
      ROOT n = {shape} get-tuple-element(r), index=0
    }}"""


@pytest.mark.parametrize("name", CASES)
def test_one_result_in_a_tuple(name: str) -> None:
    shape, call, want = CASES[name]
    program = ix.hlo.parse(text(shape, call))
    assert f"({shape}) {call.split('(', 1)[0]}" in str(ix.hlo.parse(str(program)))
    np.testing.assert_array_equal(ix.evaluate(program, X), want)
    np.testing.assert_array_equal(compiled(program)(X), want)


@pytest.mark.parametrize("shape", ["(f32[3], f32[3])", "(s32[3])", "((f32[3]))", "()"])
def test_other_tuples_are_refused(shape: str) -> None:
    with pytest.raises(ix.ParseError, match=r"the operands give \(f32\[3\]\), the text says"):
        ix.hlo.parse(text("f32[3]", CASES["reduce"][1]).replace("(f32[3]) reduce", f"{shape} reduce"))
