"""What control flow carries though nothing reads it: no kernel computes it, and what is read is right."""

from __future__ import annotations

import numpy as np
import pytest

import indexing as ix
from indexing.device.table import portable_device
from indexing.planning.program import PlannedComputation, plan_program
from kernels import compiled

STATE = "(s32[], f32[4], f32[4], f32[4])"

LOOP = """
body {{
  s = {state} parameter(0)
  i = s32[] get-tuple-element(s), index=0
  x = f32[4] get-tuple-element(s), index=1
  y = f32[4] get-tuple-element(s), index=2
  z = f32[4] get-tuple-element(s), index=3
  one = s32[] constant(1)
  j = s32[] add(i, one)
  {steps}
  ROOT t = {state} tuple(j, x1, y1, z1)
}}
more {{
  s = {state} parameter(0)
  i = s32[] get-tuple-element(s), index=0
  x = f32[4] get-tuple-element(s), index=1
  n = s32[] constant(3)
  counts = pred[] compare(i, n), direction=LT
  first = f32[1] slice(x), slice={{[0:1]}}
  f = f32[] reshape(first)
  limit = f32[] constant(90)
  small = pred[] compare(f, limit), direction=LT
  ROOT r = pred[] {condition}
}}
ENTRY main {{
  zero = s32[] constant(0)
  a = f32[4] parameter(0)
  b = f32[4] parameter(1)
  c = f32[4] parameter(2)
  s = {state} tuple(zero, a, b, c)
  w = {state} while(s), condition=more, body=body
  ROOT r = f32[4] get-tuple-element(w), index={read}
}}
"""

A, B, C = (np.array(v, np.float32) for v in ([2, 1, 4, 8], [1, 3, 5, 7], [4, 3, 2, 1]))
APART = "x1 = f32[4] add(x, x) y1 = f32[4] multiply(y, y) z1 = f32[4] negate(z)"
CHAIN = "x1 = f32[4] add(x, y) y1 = f32[4] add(y, z) z1 = f32[4] add(z, z)"


def program(steps: str, read: int, condition: str = "copy(counts)") -> str:
    return LOOP.format(state=STATE, steps=steps, read=read, condition=condition)


def planned(text: str) -> dict[str, PlannedComputation]:
    entry = ix.hlo.parse(text).entry
    return {c.name: p for c, p in plan_program(entry, portable_device("c")).items()}


def written(plan: PlannedComputation) -> int:
    """The arrays that the kernels of a computation write."""
    return sum(len(kernel.outputs) for kernel in plan.kernels.values())


def chained(turns: int, x: np.ndarray, y: np.ndarray, z: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    for _ in range(turns):
        x, y, z = x + y, y + z, z + z
    return x, y, z


@pytest.mark.parametrize(
    ("steps", "read", "condition", "count", "wanted"),
    [
        (APART, 3, "copy(counts)", 1, -C),
        (APART, 3, "and(counts, small)", 3, -C),
        (CHAIN, 1, "copy(counts)", 3, chained(3, A, B, C)[0]),
        (CHAIN, 3, "copy(counts)", 1, 8 * C),
        (APART.replace("negate(z)", "add(x, z)"), 3, "copy(counts)", 2, C + 7 * A),
    ],
    ids=["alone", "condition", "chain", "end of a chain", "two"],
)
def test_a_loop_writes_what_is_read_behind_it_or_by_what_is(
    steps: str, read: int, condition: str, count: int, wanted: np.ndarray
) -> None:
    """An element that only it itself, or other unread ones, read is not computed; a counter that is known neither."""
    text = program(steps, read, condition)
    assert written(planned(text)["body"]) == count
    np.testing.assert_array_equal(compiled(text, device="cpu")(A, B, C), wanted)


def test_what_an_unread_element_starts_from_is_not_computed() -> None:
    text = program(APART, 3).replace("b = f32[4] parameter(1)", "b0 = f32[4] parameter(1) b = f32[4] exponential(b0)")
    assert not planned(text)["main"].kernels
    np.testing.assert_array_equal(compiled(text, device="cpu")(A, B, C), -C)


def test_an_element_that_an_inner_loop_or_a_branch_passes_on_is_followed_to_its_readers() -> None:
    """Each turn runs a loop and a branch over (x, y): only x is read, so neither y is computed in any of them."""
    pair = "(f32[4], f32[4])"
    text = f"""
double {{ p = {pair} parameter(0) x = f32[4] get-tuple-element(p), index=0 y = f32[4] get-tuple-element(p), index=1
  x1 = f32[4] add(x, x) y1 = f32[4] multiply(x, y) ROOT t = {pair} tuple(x1, y1) }}
raise {{ p = {pair} parameter(0) x = f32[4] get-tuple-element(p), index=0 y = f32[4] get-tuple-element(p), index=1
  x1 = f32[4] negate(x) y1 = f32[4] exponential(y) ROOT t = {pair} tuple(x1, y1) }}
inner {{ s = (s32[], f32[4], f32[4]) parameter(0) i = s32[] get-tuple-element(s), index=0
  x = f32[4] get-tuple-element(s), index=1 y = f32[4] get-tuple-element(s), index=2 one = s32[] constant(1)
  j = s32[] add(i, one) x1 = f32[4] multiply(x, x) y1 = f32[4] add(x, y)
  ROOT t = (s32[], f32[4], f32[4]) tuple(j, x1, y1) }}
few {{ s = (s32[], f32[4], f32[4]) parameter(0) i = s32[] get-tuple-element(s), index=0 n = s32[] constant(2)
  ROOT r = pred[] compare(i, n), direction=LT }}
body {{ s = (s32[], f32[4], f32[4]) parameter(0) i = s32[] get-tuple-element(s), index=0 one = s32[] constant(1)
  j = s32[] add(i, one) zero = s32[] constant(0)
  x = f32[4] get-tuple-element(s), index=1 y = f32[4] get-tuple-element(s), index=2
  s0 = (s32[], f32[4], f32[4]) tuple(zero, x, y)
  w = (s32[], f32[4], f32[4]) while(s0), condition=few, body=inner
  xw = f32[4] get-tuple-element(w), index=1 yw = f32[4] get-tuple-element(w), index=2 p = {pair} tuple(xw, yw)
  c = {pair} conditional(i, p, p), branch_computations={{double, raise}}
  xc = f32[4] get-tuple-element(c), index=0 yc = f32[4] get-tuple-element(c), index=1
  ROOT t = (s32[], f32[4], f32[4]) tuple(j, xc, yc) }}
more {{ s = (s32[], f32[4], f32[4]) parameter(0) i = s32[] get-tuple-element(s), index=0 n = s32[] constant(2)
  ROOT r = pred[] compare(i, n), direction=LT }}
ENTRY main {{ zero = s32[] constant(0) a = f32[4] parameter(0) b = f32[4] parameter(1)
  s = (s32[], f32[4], f32[4]) tuple(zero, a, b) w = (s32[], f32[4], f32[4]) while(s), condition=more, body=body
  ROOT r = f32[4] get-tuple-element(w), index=1 }}"""
    plans = planned(text)
    assert {name: written(plans[name]) for name in ("double", "raise", "inner", "body")} == {
        "double": 1,
        "raise": 1,
        "inner": 1,
        "body": 1,  # the counter, which chooses the branch
    }
    small = np.array([0.5, 1, -0.25, 2], np.float32)
    np.testing.assert_array_equal(compiled(text, device="cpu")(small, B), -((2 * small**4) ** 4))


def test_a_body_of_two_loops_computes_what_either_needs() -> None:
    text = program(APART, 3)
    text = text.replace("ROOT r = f32[4] get-tuple-element(w), index=3", "z = f32[4] get-tuple-element(w), index=3")
    more = f"v = {STATE} tuple(zero, b, z, c) u = {STATE} while(v), condition=more, body=body"
    text = text[: text.rindex("}")] + more + " ROOT r = f32[4] get-tuple-element(u), index=2 }"
    assert written(planned(text)["body"]) == 2
    np.testing.assert_array_equal(compiled(text, device="cpu")(A, B, C), C**8)


@pytest.mark.parametrize(("first", "second"), [(1, 3), (3, 1), (2, 3)])
def test_a_body_of_two_loops_of_which_one_reads_more(first: int, second: int) -> None:
    """What one caller makes the body return, the other carries, whichever is found first."""
    text = program(CHAIN, first)
    text = text.replace(
        f"ROOT r = f32[4] get-tuple-element(w), index={first}", f"x = f32[4] get-tuple-element(w), index={first}"
    )
    more = f"v = {STATE} tuple(zero, a, b, x) u = {STATE} while(v), condition=more, body=body"
    text = text[: text.rindex("}")] + more + f" ROOT r = f32[4] get-tuple-element(u), index={second} }}"
    x = chained(3, A, B, C)[first - 1]
    np.testing.assert_array_equal(compiled(text, device="cpu")(A, B, C), chained(3, A, B, x)[second - 1])


@pytest.mark.parametrize(("first", "second"), [(0, 1), (1, 0), (1, 1)])
@pytest.mark.parametrize("chosen", [False, True])
def test_branches_of_three_choices_of_which_each_reads_another_result(first: int, second: int, chosen: bool) -> None:
    pair = "(f32[4], f32[4])"
    text = f"""
one {{ p = {pair} parameter(0) x = f32[4] get-tuple-element(p), index=0 y = f32[4] get-tuple-element(p), index=1
  x1 = f32[4] add(x, x) y1 = f32[4] multiply(y, y) ROOT t = {pair} tuple(x1, y1) }}
two {{ p = {pair} parameter(0) x = f32[4] get-tuple-element(p), index=0 y = f32[4] get-tuple-element(p), index=1
  x1 = f32[4] negate(x) y1 = f32[4] subtract(y, x) ROOT t = {pair} tuple(x1, y1) }}
ENTRY main {{ q = pred[] parameter(0) a = f32[4] parameter(1) b = f32[4] parameter(2) s = {pair} tuple(a, b)
  e = {pair} conditional(q, s, s), true_computation=one, false_computation=two
  f = f32[4] get-tuple-element(e), index=0 g = f32[4] get-tuple-element(e), index=1 p = {pair} tuple(f, g)
  c = {pair} conditional(q, p, p), true_computation=one, false_computation=two
  x = f32[4] get-tuple-element(c), index={first} r = {pair} tuple(b, x)
  d = {pair} conditional(q, r, r), true_computation=one, false_computation=two
  ROOT y = f32[4] get-tuple-element(d), index={second} }}"""

    def branch(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return (x + x, y * y) if chosen else (-x, y - x)

    wanted = branch(B, branch(*branch(A, B))[first])[second]
    np.testing.assert_array_equal(compiled(text, device="cpu")(np.bool_(chosen), A, B), wanted)
