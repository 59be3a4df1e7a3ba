"""Loops whose trip count is known: how it is found, and that their condition is never computed; against the reference, which
computes it before each turn.
"""

import numpy as np
import pytest

import indexing as ix
from indexing.ops.trip_counts import trip_count
from indexing.runtime.tape import Opcode
from kernels import compiled
from tapes import instructions, opcodes

HOLDS = {"LT": np.less, "LE": np.less_equal, "GT": np.greater, "GE": np.greater_equal, "NE": np.not_equal}
TRANSFORMED = """odd = f32[7] slice(z), slice={[0:7]}
  h = c64[4] fft(odd), fft_type=RFFT, fft_length={7}
  i = f32[7] fft(h), fft_type=IRFFT, fft_length={7}
  zero = f32[] constant(0)
  y = f32[8] pad(i, zero), padding=0_1"""


def loop(
    compared: str = "compare(n, bound), direction=LT",
    first: int = 0,
    bound: int = 5,
    step: str = "add(n, one)",
    kind: str = "s32",
    *,
    config: str = "",
    last: str = "y = f32[8] negate(z)",
) -> str:
    """A loop whose state is a counter, an array and a bound that no turn changes."""
    state = f"({kind}[], f32[8], {kind}[])"
    parts = f"""s = {state} parameter(0)
  n = {kind}[] get-tuple-element(s), index=0
  x = f32[8] get-tuple-element(s), index=1
  kept = {kind}[] get-tuple-element(s), index=2
  one = {kind}[] constant(1)
  three = {kind}[] constant(3)"""
    return f"""HloModule counted
body {{
  {parts}
  m = {kind}[] {step}
  a = f32[] convert(n)
  b = f32[8] broadcast(a), dimensions={{}}
  z = f32[8] add(x, b)
  {last}
  ROOT r = {state} tuple(m, y, kept)
}}
condition {{
  {parts}
  bound = {kind}[] constant({bound})
  ROOT more = pred[] {compared}
}}
ENTRY main {{
  x = f32[8] parameter(0)
  n = {kind}[] constant({first})
  last = {kind}[] constant({bound})
  s = {state} tuple(n, x, last)
  w = {state} while(s), condition=condition, body=body{config}
  y = f32[8] get-tuple-element(w), index=1
  m = {kind}[] get-tuple-element(w), index=0
  ROOT r = ({kind}[], f32[8]) tuple(m, y)
}}
"""


def counts_of(text: str) -> list[int]:
    """The trip counts of the program's loops, outer ones first; a loop whose condition is computed has none."""
    return [words[2] for words in instructions(text) if words[0] == Opcode.REPEAT]


def count_of(text: str) -> int | None:
    """The trip count of the program's loop; None where its condition is computed."""
    counts = counts_of(text)
    assert len(counts) <= 1
    return counts[0] if counts else None


def assert_like_reference(text: str) -> None:
    run, module = compiled(text, device="cpu"), ix.hlo.parse(text)
    for seed in range(2):
        x = np.random.default_rng(seed).integers(-9, 10, 8).astype(np.float32)
        for got, want in zip(run(x), ix.evaluate(module, x), strict=True):
            np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize(
    ("text", "count"),
    [
        (loop(), 5),
        (loop("compare(bound, n), direction=GE"), 6),
        (loop("compare(n, kept), direction=LT"), 5),
        (loop("compare(kept, n), direction=GT", first=2), 3),
        (loop(first=7), 0),
        (loop(step="add(three, n)", bound=10), 4),
        (loop("compare(n, bound), direction=GT", first=9, bound=-2, step="subtract(n, three)"), 4),
        (loop("compare(n, bound), direction=NE", first=1, bound=7, step="add(n, three)"), 2),
        (loop(first=249, bound=254, kind="u8", step="add(n, three)"), 2),
        (loop(first=-128, bound=127, kind="s8"), 255),
        (loop("compare(n, bound), direction=EQ", bound=0), None),
        (loop(first=1, bound=100, step="add(n, n)"), None),
        (loop(first=1, bound=100, step="multiply(n, three)"), None),
        (loop("compare(n, bound), direction=GT", first=9, bound=-2, step="subtract(three, n)"), None),
        (loop("compare(n, bound), direction=NE", first=1, bound=8, step="add(n, three)", kind="u8"), None),
        (loop(first=250, bound=255, kind="u8", step="add(n, three)"), None),
    ],
)
def test_a_counter_tells_how_often_a_loop_runs(text: str, count: int | None) -> None:
    assert count_of(text) == count
    assert_like_reference(text)


@pytest.mark.parametrize(
    ("bound", "count"),
    [
        ("two = s8[] constant(2) four = s8[] constant(4) last = s8[] multiply(two, four)", 8),
        ("far = s8[] constant(100) last = s8[] add(far, far)", 0),  # it wraps
        ("p = f32[] constant(6.5) last = s8[] convert(p)", 6),
        ("a = s8[] constant(1) b = s8[] add(a, a) c = s8[] add(b, b) d = s8[] add(c, c) last = s8[] add(d, a)", 9),
        (
            "a = s8[] constant(1) b = s8[] not(a) c = s8[] not(b) d = s8[] not(c) f = s8[] not(d) last = s8[] abs(f)",
            None,
        ),
        ("k = f32[1] slice(x), slice={[2:3]} l = f32[] reshape(k) o = s8[] convert(l) last = s8[] add(n, o)", None),
    ],
)
def test_a_bound_may_be_computed_from_constants(bound: str, count: int | None) -> None:
    text = loop("compare(n, kept), direction=LT", kind="s8").replace("last = s8[] constant(5)", bound)
    assert count_of(text) == count
    assert_like_reference(text)


@pytest.mark.parametrize("kind", ["s8", "u8", "s16"])
@pytest.mark.parametrize("direction", HOLDS)
def test_counts_are_those_of_numpy(kind: str, direction: str) -> None:
    dtype = np.dtype({"s": "int", "u": "uint"}[kind[0]] + kind[1:])
    low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
    rng = np.random.default_rng(len(kind) + ord(direction[1]))
    known = 0
    for _ in range(300):
        first, bound = (int(n) for n in rng.integers(low, high, 2, endpoint=True))
        step = int(rng.integers(-high // 16, high // 16, endpoint=True))
        bound = first + step * int(rng.integers(8)) if direction == "NE" and rng.integers(2) else bound
        bound = min(max(bound, int(low)), int(high))
        numbers = first + step * np.arange(400, dtype=np.int64)
        ends = np.flatnonzero(~HOLDS[direction](numbers, bound))
        is_exact = len(ends) > 0 and ((numbers[: ends[0] + 1] >= low) & (numbers[: ends[0] + 1] <= high)).all()
        count = trip_count(kind, direction, first, bound, step)
        if is_exact:
            assert count == ends[0], (first, bound, step)
            known += 1
        elif count is not None:
            assert count >= 400, (first, bound, step)
    assert known > 20


@pytest.mark.parametrize(("state", "count"), [("s32[1]", 5), ("s32[1,1]", 5), ("s32[2]", None)])
def test_a_counter_that_is_no_scalar(state: str, count: int | None) -> None:
    """An array of one element counts; of two, one of which is compared, the loop looks at its condition."""
    sizes = [int(n) for n in state[4:-1].split(",")]
    whole = ", ".join("[0:1]" for _ in sizes)
    one = "s32[" + ",".join("1" for _ in sizes) + "]"
    opened, closed = "{" * len(sizes), "}" * len(sizes)
    ones = opened + ", ".join("1" for _ in range(sizes[-1])) + closed
    text = f"""HloModule counted
body {{
  n = {state} parameter(0)
  k = {state} constant({ones})
  ROOT m = {state} add(n, k)
}}
condition {{
  n = {state} parameter(0)
  s = {one} slice(n), slice={{{whole}}}
  bound = {one} constant({opened}5{closed})
  less = pred{one[3:]} compare(s, bound), direction=LT
  ROOT more = pred[] reshape(less)
}}
ENTRY main {{
  z = s32[] constant(0)
  n = {state} broadcast(z), dimensions={{}}
  ROOT w = {state} while(n), condition=condition, body=body
}}"""
    assert count_of(text) == count
    np.testing.assert_array_equal(compiled(ix.hlo.parse(text))(), np.full(sizes, 5, np.int32))


def test_a_condition_that_needs_no_look_is_no_kernel() -> None:
    run = compiled(loop(), device="cpu")
    run(np.zeros(8, np.float32))
    launches = [step.launches for step in run.profile(np.zeros(8, np.float32)).steps]
    asked = compiled(loop(step="multiply(n, three)", first=1, bound=240), device="cpu")
    more = [step.launches for step in asked.profile(np.zeros(8, np.float32)).steps]
    assert max(launches) == 5 and max(more) == 6  # five turns each, and a last look
    assert len(more) == len(launches) + 1


@pytest.mark.parametrize("bound", ["-inf", "nan", "2.5"])
def test_a_counter_of_floats_is_compared_as_it_runs(bound: str) -> None:
    text = loop(kind="f32").replace("constant(5)", f"constant({bound})")
    assert count_of(text) is None
    assert_like_reference(text)


STATED = ', backend_config={"known_trip_count":{"n":"5"}}'


def test_a_stated_count_is_taken_where_none_is_found() -> None:
    by_powers = loop(step="multiply(n, three)", first=1, bound=240)
    for config in (STATED, ', backend_config="{\\"known_trip_count\\":{\\"n\\":\\"5\\"}}"'):
        text = by_powers.replace("body=body", "body=body" + config)
        assert count_of(text) == 5
        assert_like_reference(text)
    assert count_of(loop(bound=3, config=STATED)) == 3  # the program itself knows better
    assert (
        count_of(by_powers.replace("body=body", 'body=body, backend_config={"known_init_step":{"init":"0"}}')) is None
    )


@pytest.mark.parametrize(
    "config",
    [
        '{"elsewhere":"known_trip_count"}',
        '"known_trip_count"',
        '{"known_trip_count":{"n":"-1"}}',
        '{"known_trip_count":{"n":"9223372036854775808"}}',
        '{"known_trip_count":{"n":Infinity}}',
        '{"known_trip_count":' + "[" * 5000 + "]" * 5000 + "}",
    ],
    ids=["elsewhere", "text", "negative", "beyond int64", "infinite", "nested"],
)
def test_a_config_without_a_count_states_none(config: str) -> None:
    by_powers = loop(step="multiply(n, three)", first=1, bound=240)
    assert count_of(by_powers.replace("body=body", f"body=body, backend_config={config}")) is None


def test_a_loop_with_steps_of_the_host_counts_its_turns() -> None:
    text = loop(last=TRANSFORMED)
    assert count_of(text) == 5
    assert opcodes(text).count(Opcode.HOST) == 2
    assert_like_reference(text)


def test_loops_within_loops_count_anew_in_each_turn() -> None:
    inner = loop().replace("HloModule counted\n", "").replace("ENTRY main", "inner")
    text = f"""HloModule nested
{inner}
outer_body {{
  s = (s32[], f32[8]) parameter(0)
  n = s32[] get-tuple-element(s), index=0
  x = f32[8] get-tuple-element(s), index=1
  one = s32[] constant(1)
  m = s32[] add(n, one)
  i = (s32[], f32[8]) call(x), to_apply=inner
  y = f32[8] get-tuple-element(i), index=1
  ROOT r = (s32[], f32[8]) tuple(m, y)
}}
outer_condition {{
  s = (s32[], f32[8]) parameter(0)
  n = s32[] get-tuple-element(s), index=0
  three = s32[] constant(3)
  ROOT more = pred[] compare(n, three), direction=LT
}}
ENTRY main {{
  x = f32[8] parameter(0)
  n = s32[] constant(0)
  s = (s32[], f32[8]) tuple(n, x)
  ROOT w = (s32[], f32[8]) while(s), condition=outer_condition, body=outer_body
}}
"""
    assert_like_reference(text)
    assert counts_of(text) == [3, 5]
