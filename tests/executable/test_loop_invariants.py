"""What every turn of a loop would compute alike is computed before the loop; what is cheap, or has an effect, is not."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import indexing as ix
from indexing.device.table import portable_device
from indexing.executable import recording
from indexing.executable.scheduler import Scheduler
from indexing.graph import loop_invariants
from indexing.planning.program import PlannedComputation, default_knobs, plan_program
from indexing.runtime.device import Device
from kernels import compiled
from plain_device import DeviceWithGraphs, PlainDevice

STATE = "(s32[], f32[4,4], f32[4,4], f32[4])"

LOOP = """
total {{ a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }}
body {{
  s = {state} parameter(0)
  i = s32[] get-tuple-element(s), index=0
  a = f32[4,4] get-tuple-element(s), index=1
  x = f32[4,4] get-tuple-element(s), index=2
  v = f32[4] get-tuple-element(s), index=3
  one = s32[] constant(1)
  zero = f32[] constant(0)
  j = s32[] add(i, one)
  {steps}
  ROOT t = {state} tuple(j, {results})
}}
more {{
  s = {state} parameter(0)
  i = s32[] get-tuple-element(s), index=0
  v = f32[4] get-tuple-element(s), index=3
  n = s32[] constant({turns})
  counts = pred[] compare(i, n), direction=LT
  first = f32[1] slice(v), slice={{[0:1]}}
  f = f32[] reshape(first)
  limit = f32[] constant(90)
  small = pred[] compare(f, limit), direction=LT
  ROOT r = pred[] {condition}
}}
ENTRY main {{
  zero = s32[] constant(0)
  a = f32[4,4] parameter(0)
  x = f32[4,4] parameter(1)
  v = f32[4] parameter(2)
  s = {state} tuple(zero, a, x, v)
  w = {state} while(s), condition=more, body=body
  {behind}
  y = f32[4,4] get-tuple-element(w), index=2
  z = f32[4] get-tuple-element(w), index=3
  ROOT r = (f32[4,4], f32[4]) tuple(y, z)
}}
"""

PRODUCT = "p = f32[4,4] dot(a, a), lhs_contracting_dims={0}, rhs_contracting_dims={1} x1 = f32[4,4] add(x, p)"
EXPONENTIAL = "e = f32[4] exponential(v) b = f32[4,4] broadcast(e), dimensions={1} x1 = f32[4,4] add(x, b)"

A, X, V = (np.array(v, np.float32) for v in (np.arange(16).reshape(4, 4) % 5, np.eye(4), [1, 2, 0, -1]))


def program(
    steps: str, results: str = "a, x1, v", turns: int = 3, condition: str = "copy(counts)", behind: str = ""
) -> str:
    return LOOP.format(state=STATE, steps=steps, results=results, turns=turns, condition=condition, behind=behind)


def planned(text: str) -> dict[str, PlannedComputation]:
    entry = ix.hlo.parse(text).entry
    return {c.name: p for c, p in plan_program(entry, portable_device("c")).items()}


def hoisted(text: str, body: str = "body") -> list[str]:
    """The names of the arrays that a body reads from its caller beside the state."""
    return [p.instruction.name for p in planned(text)[body].graph.parameters[1:]]


def computed(plan: PlannedComputation) -> list[str]:
    return [n.instruction.name for n in plan.graph.nodes if not n.op.is_source]


@pytest.mark.parametrize(
    ("steps", "results", "wanted"),
    [
        (PRODUCT, "a, x1, v", ["p"]),
        (PRODUCT, "x, a, v", []),  # nothing reads it
        (PRODUCT, "x, x1, v", []),  # a changes
        (PRODUCT, "p, x1, v", []),
        (PRODUCT, "a, p, v", ["p"]),  # each turn returns it
        (EXPONENTIAL, "a, x1, v", ["e"]),  # a broadcast is computed from fewer bytes
        (EXPONENTIAL.replace("exponential", "negate"), "a, x1, v", []),
        (EXPONENTIAL + " c = f32[4,4] negate(b) x2 = f32[4,4] multiply(x1, c)", "a, x2, v", ["e"]),
        (EXPONENTIAL + " c = f32[4,4] multiply(b, a) x2 = f32[4,4] multiply(x1, c)", "a, x2, v", ["e", "c"]),
        (
            "q = f32[4] reduce(a, zero), dimensions={1}, to_apply=total m = f32[4] multiply(q, v)"
            " b = f32[4,4] broadcast(m), dimensions={0} x1 = f32[4,4] add(x, b)",
            "a, x1, v",
            ["m"],
        ),
        (PRODUCT.replace("(a, a)", "(x, x)"), "a, x1, v", []),
        ("u = f32[4,4] transpose(a), dimensions={1,0} x1 = f32[4,4] add(x, u)", "a, x1, v", ["u"]),
        (  # of fewer bytes, which a kernel reads instead
            "b = f32[4,4] broadcast(v), dimensions={0} u = f32[4,4] transpose(b), dimensions={1,0} x1 = f32[4,4] add(x, u)",
            "a, x1, v",
            [],
        ),
    ],
)
def test_what_is_hoisted(steps: str, results: str, wanted: list[str]) -> None:
    text = program(steps, results)
    assert hoisted(text) == wanted
    plans = planned(text)
    assert not {name.rstrip("0123456789.") for name in computed(plans["body"])} & set(wanted)
    assert set(wanted) <= set(computed(plans["main"]))
    compiled(text, device="cpu")(A, X, V)


@pytest.mark.parametrize("turns", [0, 1, 2, 5])
@pytest.mark.parametrize("condition", ["copy(counts)", "and(counts, small)"])
@pytest.mark.parametrize("device", [lambda: "cpu", PlainDevice, DeviceWithGraphs], ids=["cpu", "plain", "with graphs"])
def test_results_whether_the_turns_are_counted_or_not(
    turns: int, condition: str, device: Callable[[], str | Device]
) -> None:
    """The loop updates what starts as a hoisted array's operand, and reads one that another element starts as."""
    steps = f"{PRODUCT} {EXPONENTIAL.replace('x1', 'x2').replace('(x, b)', '(x1, b)')}"
    x, z = compiled(program(steps, "a, x2, v", turns, condition), device())(A, X, V)
    np.testing.assert_allclose(x, X + turns * (A.T @ A.T + np.exp(V)), rtol=1e-5)
    np.testing.assert_array_equal(z, V)


def test_a_loop_carries_nothing_more_for_the_arrays_it_reads() -> None:
    """The counter of a loop whose turns are counted is not written, although a hoisted array is the first of its operand."""
    plan = planned(program(PRODUCT))["body"]
    assert sum(len(kernel.outputs) for kernel in plan.kernels.values()) == 1


def test_the_memory_of_hoisted_arrays_is_used_again_after_the_loop() -> None:
    tapes = [
        Scheduler(PlainDevice()).record(ix.hlo.parse(loops_of_one_body(n)).entry, default_knobs, "kernels").tape
        for n in (2, 3)
    ]
    assert len(tapes[0].sizes) == len(tapes[1].sizes)


@pytest.mark.parametrize("turns", [0, 1, 2])
def test_bodies_that_run_only_once_are_left(turns: int) -> None:
    assert hoisted(program(PRODUCT, turns=turns)) == (["p"] if turns > 1 else [])


def test_a_loop_hoists_no_more_bytes_than_it_carries_or_than_caches_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    """The loop carries 148 bytes: two arrays of 64 bytes fit, the third does not, a smaller one behind it does."""
    steps = "".join(
        f"g{k} = f32[4,4] {op}(a) x{k + 1} = f32[4,4] add(x{k or ''}, g{k}) "
        for k, op in enumerate(("exponential", "tanh", "sine"))
    )
    rest = "e = f32[4] cosine(v) b = f32[4,4] broadcast(e), dimensions={0} x4 = f32[4,4] add(x3, b)"
    text = program(steps + rest, "a, x4, v")
    assert hoisted(text) == ["g0", "g1", "g2", "e"]
    monkeypatch.setattr(loop_invariants, "MAX_HOISTED_BYTES", 0)
    assert hoisted(text) == ["g0", "g1", "e"]
    compiled(text, device="cpu")(A, X, V)


NESTED = f"""
inner {{ s = {STATE} parameter(0) i = s32[] get-tuple-element(s), index=0 one = s32[] constant(1)
  j = s32[] add(i, one) a = f32[4,4] get-tuple-element(s), index=1 x = f32[4,4] get-tuple-element(s), index=2
  v = f32[4] get-tuple-element(s), index=3 {PRODUCT} e = f32[4] exponential(v) b = f32[4,4] broadcast(e), dimensions={{1}}
  x2 = f32[4,4] add(x1, b) ROOT t = {STATE} tuple(j, a, x2, v) }}
few {{ s = {STATE} parameter(0) i = s32[] get-tuple-element(s), index=0 n = s32[] constant(2)
  ROOT r = pred[] compare(i, n), direction=LT }}
"""
INNER = f"""o = s32[] constant(0) s0 = {STATE} tuple(o, a, x, v) w = {STATE} while(s0), condition=few, body=inner
  y = f32[4,4] get-tuple-element(w), index=2 half = f32[] constant(0.5) h = f32[4] broadcast(half), dimensions={{}}
  v1 = f32[4] multiply(v, h)"""


def test_an_inner_loops_invariants_leave_as_many_loops_as_they_can() -> None:
    """The product depends on nothing that changes; the exponential is the same in the turns of the inner loop only."""
    text = NESTED + program(INNER, "a, y, v1")
    assert hoisted(text, "inner") == ["p", "e"]
    assert hoisted(text) == ["p"]
    plans = planned(text)
    assert "p" in computed(plans["main"])
    assert "e" in computed(plans["body"])
    x, z = compiled(text, device="cpu")(A, X, V)
    np.testing.assert_allclose(x, X + 6 * A.T @ A.T + 2 * sum(np.exp(V / 2**k) for k in range(3)), rtol=1e-5)
    np.testing.assert_array_equal(z, V / 8)


def loops_of_one_body(count: int) -> str:
    """Each loop begins with the last one's sums as the matrix, which it multiplies by itself."""
    behind = "".join(
        f"""q{k} = f32[4,4] get-tuple-element(w{k or ""}), index=2 t{k} = {STATE} tuple(zero, q{k}, x, v)
          w{k + 1} = {STATE} while(t{k}), condition=more, body=body """
        for k in range(count - 1)
    )
    return program(PRODUCT, behind=behind).replace("element(w), index=2\n  z", f"element(w{count - 1}), index=2\n  z")


@pytest.mark.parametrize("repeated", [recording.MAX_REPEATED, 0], ids=["recorded twice", "recorded once"])
def test_loops_of_one_body_have_arrays_of_their_own(repeated: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recording, "MAX_REPEATED", repeated)
    text = loops_of_one_body(2)
    assert computed(planned(text)["main"]).count("p") == 2
    x, _ = compiled(text, device="cpu")(A, X, V)
    first = X + 3 * A.T @ A.T
    np.testing.assert_allclose(x, X + 3 * first.T @ first.T, rtol=1e-5)


def test_a_body_that_a_branch_runs_too_is_left() -> None:
    behind = f"""q = s32[] constant(0) c = {STATE} conditional(q, w, s), branch_computations={{body, body}}
      y2 = f32[4,4] get-tuple-element(c), index=2"""
    text = program(PRODUCT, behind=behind).replace("tuple(y, z)", "tuple(y2, z)")
    assert hoisted(text) == []
    x, _ = compiled(text, device="cpu")(A, X, V)
    np.testing.assert_allclose(x, X + 4 * A.T @ A.T, rtol=1e-5)


@pytest.mark.parametrize(
    "call",
    [
        'custom-call(a), custom_call_target="f", custom_call_has_side_effect=true',
        "all-reduce(a), replica_groups={}, to_apply=total",
    ],
)
def test_what_has_an_effect_stays(call: str) -> None:
    """A call of unknown meaning without an effect is hoisted as other steps are."""
    text = program(f"p = f32[4,4] {call} x1 = f32[4,4] add(x, p)")
    assert hoisted(text) == []
    assert hoisted(text.replace(", custom_call_has_side_effect=true", "")) == (["p"] if "effect" in call else [])


def test_a_sort_of_the_host_is_hoisted() -> None:
    """Steps of the host take a return to Python for each turn."""
    order = "less { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = pred[] compare(a, b), direction=LT }"
    text = order + program("p = f32[4,4] sort(a), dimensions={1}, to_apply=less x1 = f32[4,4] add(x, p)")
    assert hoisted(text) == ["p"]
    x, _ = compiled(text, device="cpu")(A, X, V)
    np.testing.assert_allclose(x, X + 3 * np.sort(A, 1), rtol=1e-6)
