"""Whole programs: every device agrees with numpy; control flow, tuples, buffers, arguments."""

import math

import ml_dtypes
import numpy as np
import pytest

import indexing as ix
from indexing import executable
from indexing.device.table import portable_device
from indexing.executable.profile import Profile, StepTime
from indexing.graph.flattening import flatten
from indexing.graph.support import KernelSupport
from indexing.planning.fusion import Planner
from indexing.runtime import tape
from kernels import compiled

DEVICES = ("cpu", "reference")
RNG = np.random.default_rng(7)

SOFTMAX = """HloModule softmax
max { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] maximum(a, b) }
add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }
ENTRY main {
  x = f32[6,10] parameter(0)
  low = f32[] constant(-inf)
  m = f32[6] reduce(x, low), dimensions={1}, to_apply=max
  mb = f32[6,10] broadcast(m), dimensions={0}
  d = f32[6,10] subtract(x, mb)
  e = f32[6,10] exponential(d)
  zero = f32[] constant(0)
  s = f32[6] reduce(e, zero), dimensions={1}, to_apply=add
  sb = f32[6,10] broadcast(s), dimensions={0}
  ROOT y = f32[6,10] divide(e, sb)
}
"""

COUNT = """HloModule count
body {
  state = (s32[], f32[4]) parameter(0)
  i = s32[] get-tuple-element(state), index=0
  x = f32[4] get-tuple-element(state), index=1
  one = s32[] constant(1)
  j = s32[] add(i, one)
  y = f32[4] multiply(x, x)
  ROOT out = (s32[], f32[4]) tuple(j, y)
}
condition {
  state = (s32[], f32[4]) parameter(0)
  i = s32[] get-tuple-element(state), index=0
  n = s32[] constant(3)
  ROOT more = pred[] compare(i, n), direction=LT
}
ENTRY main {
  start = s32[] parameter(0)
  x = f32[4] parameter(1)
  init = (s32[], f32[4]) tuple(start, x)
  loop = (s32[], f32[4]) while(init), condition=condition, body=body
  ROOT y = f32[4] get-tuple-element(loop), index=1
}
"""


def softmax(x: np.ndarray) -> np.ndarray:
    e = np.exp(x - x.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("device", DEVICES)
def test_softmax(device: str) -> None:
    x = RNG.standard_normal((6, 10)).astype(np.float32)
    run = compiled(SOFTMAX, device=device)
    np.testing.assert_allclose(run(x), softmax(x), rtol=1e-5)
    np.testing.assert_allclose(run(2 * x), softmax(2 * x), rtol=1e-5)


def test_softmax_is_one_kernel_and_nothing_runs_in_the_reference() -> None:
    run = compiled(SOFTMAX, device="cpu")
    assert run.device == "cpu"
    assert [k.emitter for k in run.kernels] == ["rows"]
    assert run.reference_steps == ()


def test_a_cluster_never_computes_an_element_twice_in_a_loop() -> None:
    few_long_rows = SOFTMAX.replace("[6,10]", "[2,131072]").replace("[6]", "[2]")
    graph = flatten(ix.hlo.parse(few_long_rows).entry)
    fusions = Planner(KernelSupport(), portable_device("c")).plan(graph)
    actual = {c.root.instruction.name: {n.instruction.name for n in c.nodes} for c in fusions}
    assert actual["m"] == {"m", "low"}
    assert actual["e"] == {"e", "d", "mb"}
    assert actual["s"] == {"s", "zero"}
    assert actual["y"] == {"y", "sb"}


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize(("start", "power"), [(0, 8), (2, 2), (3, 1), (9, 1)])
def test_while(device: str, start: int, power: int) -> None:
    x = np.array([1.0, -2.0, 0.5, 3.0], np.float32)
    kept = x.copy()
    run = compiled(COUNT, device=device)
    for _ in range(2):
        np.testing.assert_array_equal(run(np.int32(start), x), x**power)
    np.testing.assert_array_equal(x, kept)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("which", [0, 1, 2, 3, -1])
def test_conditional_by_index_takes_the_last_branch_beyond_its_range(device: str, which: int) -> None:
    run = compiled(
        """HloModule pick
        a { x = f32[3] parameter(0) ROOT r = f32[3] negate(x) }
        b { x = f32[3] parameter(0) ROOT r = f32[3] add(x, x) }
        c { x = f32[3] parameter(0) ROOT r = f32[3] multiply(x, x) }
        ENTRY main {
          i = s32[] parameter(0)
          x = f32[3] parameter(1)
          ROOT r = f32[3] conditional(i, x, x, x), branch_computations={a, b, c}
        }""",
        device=device,
    )
    x = np.array([1.0, 2.0, 3.0], np.float32)
    np.testing.assert_array_equal(run(np.int32(which), x), [-x, x + x, x * x][which if 0 <= which < 3 else 2])


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("yes", [True, False])
def test_conditional_by_predicate(device: str, yes: bool) -> None:
    run = compiled(
        """HloModule pick
        t { x = f32[3] parameter(0) ROOT r = f32[3] negate(x) }
        f { x = (f32[3], f32[3]) parameter(0) a = f32[3] get-tuple-element(x), index=1 ROOT r = f32[3] add(a, a) }
        ENTRY main {
          p = pred[] parameter(0)
          x = f32[3] parameter(1)
          y = f32[3] parameter(2)
          xy = (f32[3], f32[3]) tuple(x, y)
          ROOT r = f32[3] conditional(p, x, xy), true_computation=t, false_computation=f
        }""",
        device=device,
    )
    x, y = np.array([1, 2, 3], np.float32), np.array([4, 5, 6], np.float32)
    np.testing.assert_array_equal(run(np.bool_(yes), x, y), -x if yes else y + y)


@pytest.mark.parametrize("device", DEVICES)
def test_tuples_in_and_out_and_outputs_that_are_arguments(device: str) -> None:
    run = compiled(
        """HloModule m
        ENTRY main {
          p = (f32[2], (s32[3], pred[])) parameter(0)
          a = f32[2] get-tuple-element(p), index=0
          q = (s32[3], pred[]) get-tuple-element(p), index=1
          b = s32[3] get-tuple-element(q), index=0
          c = pred[] get-tuple-element(q), index=1
          n = s32[3] negate(b)
          inner = (s32[3], f32[2], s32[3]) tuple(n, a, n)
          ROOT t = (pred[], (s32[3], f32[2], s32[3]), s32[3]) tuple(c, inner, b)
        }""",
        device=device,
    )
    a, b = np.array([1.5, 2.5], np.float32), np.array([1, 2, 3], np.int32)
    c, n, a2, n2, b2 = run((a, (b, np.True_)))
    assert bool(c) is True
    np.testing.assert_array_equal(a2, a)
    for got in (n, n2):
        np.testing.assert_array_equal(got, -b)
    np.testing.assert_array_equal(b2, b)


@pytest.mark.parametrize("device", DEVICES)
def test_what_no_kernel_computes_runs_in_the_reference_and_is_listed(device: str) -> None:
    run = compiled(
        """HloModule m
        ENTRY main {
          x = f32[3,7] parameter(0)
          e = f32[3,7] negate(x)
          h = c64[3,4] fft(e), fft_type=RFFT, fft_length={7}
          s = f32[3,7] fft(h), fft_type=IRFFT, fft_length={7}
          ROOT r = f32[3,7] negate(s)
        }""",
        device=device,
    )
    x = RNG.standard_normal((3, 7)).astype(np.float32)
    np.testing.assert_allclose(run(x), x, atol=1e-6)
    if device == "cpu":
        assert [i.name for i in run.reference_steps] == ["h", "s"]
        assert len(run.kernels) == 1  # both negate


@pytest.mark.parametrize("device", DEVICES)
def test_calls_are_inlined_and_equal_kernels_are_compiled_once(device: str) -> None:
    run = compiled(
        """HloModule m
        relu { x = f32[5] parameter(0) z = f32[] constant(0) b = f32[5] broadcast(z), dimensions={}
               ROOT r = f32[5] maximum(x, b) }
        ENTRY main {
          x = f32[5] parameter(0)
          a = f32[5] call(x), to_apply=relu
          h = c64[3] fft(a), fft_type=RFFT, fft_length={5}
          s = f32[5] fft(h), fft_type=IRFFT, fft_length={5}
          ROOT b = f32[5] call(s), to_apply=relu
        }""",
        device=device,
    )
    x = np.array([3, -1, 2, -5, 0], np.float32)
    np.testing.assert_allclose(run(x), np.maximum(x, 0), atol=1e-6)
    if device == "cpu":
        assert len(run.kernels) == 1


@pytest.mark.parametrize("device", DEVICES)
def test_layouts_are_a_matter_of_memory_only(device: str) -> None:
    run = compiled(
        """HloModule m
        f { p = f32[3,4]{0,1} parameter(0) ROOT n = f32[3,4]{1,0} negate(p) }
        ENTRY main {
          x = f32[3,4]{1,0} parameter(0)
          c = f32[3,4]{0,1} copy(x)
          g = f32[3,4]{1,0} fusion(c), kind=kLoop, calls=f
          ROOT t = f32[4,3]{0,1} transpose(g), dimensions={1,0}
        }""",
        device=device,
    )
    x = RNG.standard_normal((3, 4)).astype(np.float32)
    np.testing.assert_array_equal(run(x), -x.T)


@pytest.mark.parametrize("device", DEVICES)
def test_narrow_types_take_a_byte_an_element(device: str) -> None:
    run = compiled(
        """HloModule m
        ENTRY main {
          x = s4[6] parameter(0)
          y = bf16[6] parameter(1)
          n = s4[6] negate(x)
          m = bf16[6] add(y, y)
          ROOT t = (s4[6], bf16[6]) tuple(n, m)
        }""",
        device=device,
    )
    x = np.array([-8, -1, 0, 1, 3, 7]).astype(ml_dtypes.int4)
    y = np.arange(6).astype(ml_dtypes.bfloat16)
    n, m = run(x, y)
    assert n.dtype == x.dtype
    assert m.dtype == y.dtype
    np.testing.assert_array_equal(n.astype(np.int32), [-8, 1, 0, -1, -3, -7])
    np.testing.assert_array_equal(m.astype(np.float32), 2.0 * np.arange(6))


def test_buffers_are_used_again() -> None:
    lines = ["x = f32[1024] parameter(0)", "i = s32[] parameter(1)"]
    previous = "x"
    for k in range(12):  # what is read at two places is computed once, by a kernel of its own
        lines.append(f"a{k} = f32[1024] tanh({previous})")
        lines.append(f"b{k} = f32[1024] reverse(a{k}), dimensions={{0}}")
        lines.append(f"{'ROOT ' if k == 11 else ''}c{k} = f32[1024] subtract(a{k}, b{k})")
        previous = f"c{k}"
    run = compiled("HloModule m\nENTRY main {\n" + "\n".join(lines) + "\n}", device="cpu")
    x = RNG.standard_normal(1024).astype(np.float32)
    want = x
    for _ in range(12):
        t = np.tanh(want)
        want = t - t[::-1]
    for _ in range(3):
        np.testing.assert_allclose(run(x, np.int32(0)), want, rtol=1e-3, atol=1e-3)
    assert len(run.kernels) == 3  # the first, the last, and all between them
    results = 3 * 3  # of each call three, since `compiled` calls thrice; they belong to the caller
    assert run.buffers_allocated <= 5 + results


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize(
    ("arrays", "said"),
    [
        ((), "0 arrays were passed; expected 1 (x: f32[6,10])"),
        ((np.zeros((6, 9), np.float32),), "argument 0 has shape [6, 9]; expected [6, 10]"),
        ((np.full((6, 10), 1e300),), "argument 0 has element type float64; 1e+300 at [0, 0] is no f32"),
        (((np.zeros((6, 10), np.float32),),), "argument 0 has shape [1, 6, 10]; expected [6, 10]"),
    ],
)
def test_wrong_arguments_say_what_was_expected(device: str, arrays: tuple, said: str) -> None:
    with pytest.raises(ix.IndexingError) as refusal:
        compiled(SOFTMAX, device=device)(*arrays)
    assert said in str(refusal.value)


class OnGpu:
    shape = (6, 10)
    dtype = np.dtype(np.float32)

    def __dlpack_device__(self) -> tuple[int, int]:
        return (2, 0)


def test_an_array_on_a_gpu_is_no_argument_for_the_cpu() -> None:
    with pytest.raises(ix.IndexingError, match="argument 0 lies on a GPU"):
        compiled(SOFTMAX, device="cpu")(OnGpu())


def test_an_unknown_device_is_named() -> None:
    with pytest.raises(
        ix.IndexingError, match="'tpu' is no device; expected one of 'auto', 'cuda', 'cpu', 'reference'"
    ):
        compiled(SOFTMAX, device="tpu")


def test_deep_calls_do_not_recurse() -> None:
    text = ["HloModule m", "c0 { x = f32[2] parameter(0) ROOT r = f32[2] negate(x) }"]
    text += [f"c{k} {{ x = f32[2] parameter(0) ROOT r = f32[2] call(x), to_apply=c{k - 1} }}" for k in range(1, 99)]
    text += ["ENTRY main { x = f32[2] parameter(0) ROOT r = f32[2] call(x), to_apply=c98 }"]
    graph = flatten(ix.hlo.parse("\n".join(text)).entry)
    assert [n.opcode for n in graph.nodes] == ["parameter", "negate"]


CALLS = {
    "entry": """ENTRY e { p = f32[4] parameter(0)
      n = f32[4] negate(p)
      ROOT c = f32[4] custom-call(n), custom_call_target="solve" }""",
    "fusion": """f { p = f32[4] parameter(0)
      n = f32[4] negate(p)
      ROOT c = f32[4] custom-call(n), custom_call_target="solve" }
    ENTRY e { p = f32[4] parameter(0)
      ROOT r = f32[4] fusion(p), kind=kLoop, calls=f }""",
    "branch": """yes { p = f32[4] parameter(0)
      ROOT c = f32[4] custom-call(p), custom_call_target="solve" }
    no { p = f32[4] parameter(0)
      ROOT n = f32[4] negate(p) }
    ENTRY e { p = f32[4] parameter(0)
      b = pred[] parameter(1)
      ROOT r = f32[4] conditional(b, p, p), true_computation=yes, false_computation=no }""",
}


@pytest.mark.parametrize("device", ["cpu", "reference"])
@pytest.mark.parametrize("where", CALLS)
def test_an_unknown_custom_call_is_refused_before_anything_runs(where: str, device: str) -> None:
    with pytest.raises(ix.UnsupportedOp, match=r"^c: what custom-call 'solve' computes .* pass what it gives"):
        compiled(CALLS[where], device)


def test_an_annotation_is_no_unknown_custom_call() -> None:
    text = 'ENTRY e { p = f32[4] parameter(0)\nROOT c = f32[4] custom-call(p), custom_call_target="Sharding" }'
    x = np.arange(4, dtype=np.float32)
    for device in ("cpu", "reference"):
        assert np.array_equal(np.asarray(compiled(text, device)(x)), x)


def test_a_fusion_that_would_repeat_itself_without_end_becomes_several_kernels() -> None:
    """Each stage reads the one before at two indices: 2**48 evaluations of the first, for each element."""
    lines = ["x0 = f32[8,8] parameter(0)"]
    for k in range(48):
        lines += [f"l{k} = f32[8,8] cosine(x{k})", f"t{k} = f32[8,8] transpose(l{k}), dimensions={{1,0}}"]
        lines += [f"a{k} = f32[8,8] add(l{k}, t{k})", f"{'ROOT ' if k == 47 else ''}x{k + 1} = f32[8,8] tanh(a{k})"]
    body = "\n".join(lines)
    text = (
        f"f {{\n{body}\n}}\nENTRY e {{ p = f32[8,8] parameter(0)\nROOT r = f32[8,8] fusion(p), kind=kLoop, calls=f }}"
    )
    x = np.random.default_rng(0).uniform(2, 3, (8, 8)).astype(np.float32)
    executable = compiled(text, "cpu")
    assert len(executable.kernels) < 64
    np.testing.assert_allclose(np.asarray(executable(x)), np.asarray(ix.evaluate(text, x)), rtol=1e-3)


class Clock:
    """A clock by which each look takes a second."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        self.now += 1
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    result = Clock()
    for module in (executable, executable.scheduler, tape):
        monkeypatch.setattr(module, "perf_counter", result)
    return result


@pytest.mark.usefixtures("clock")
def test_a_profile_counts_what_each_kernel_takes_and_its_compilation_apart() -> None:
    module = ix.hlo.parse(
        COUNT.replace("f32[4]", "f32[5]").replace(
            "  ROOT y = f32[5] get-tuple-element(loop), index=1\n}",
            "  y = f32[5] get-tuple-element(loop), index=1\n  ROOT s = c64[3] fft(y), fft_type=RFFT, fft_length={5}\n}",
        )
    )
    program = compiled(module, "cpu")
    profile = program.profile(np.int32(0), np.full(5, 2, np.float32))
    by_name = {s.name: s for s in profile.steps}
    assert set(by_name) == {"s", *(k.name for k in program.kernels)}
    assert by_name["s"].emitter == "reference"
    for step in profile.steps:
        assert (
            step.seconds == step.launches if step.name == "s" else step.seconds > 0
        )  # kernels have a clock of their own
        together = 1 / len(program.kernels)  # all are compiled at a time, and then each is loaded
        assert step.compile_seconds == pytest.approx(0 if step.name == "s" else 1 + together)
    assert by_name["loop_multiply"].launches == 3  # turns of the loop
    assert by_name["loop_compare"].launches == 4
    assert by_name["s"].launches == 1
    assert profile.compile_seconds == pytest.approx(len(program.kernels) + 1)
    assert profile.seconds == 3  # from the first look to the last, two looks beside the transform between them
    assert profile.other_seconds == profile.seconds - profile.step_seconds
    assert [s.seconds for s in profile.steps] == sorted((s.seconds for s in profile.steps), reverse=True)
    np.testing.assert_array_equal(program(np.int32(0), np.full(5, 2, np.float32)), [1280, 0, 0])


def test_a_profile_is_a_table() -> None:
    steps = (StepTime("loop_add", "loop", 3, 0.006, 0.25), StepTime("sort.1", "reference", 1, 0.0015))
    assert str(Profile("cpu", steps, 0.01)).splitlines() == [
        "step      emitter    launches      ms      %  compile ms",
        "loop_add  loop              3   6.000   60.0       250.0",
        "sort.1    reference         1   1.500   15.0         0.0",
        "other                           2.500   25.0",
        "on cpu                      4  10.000  100.0       250.0",
    ]


def test_the_reference_has_a_profile_of_one_step(clock: Clock) -> None:
    profile = compiled(SOFTMAX, "reference").profile(np.ones((6, 10), np.float32))
    assert [(s.name, s.emitter, s.launches, s.seconds) for s in profile.steps] == [("main", "reference", 1, 1.0)]
    assert profile.compile_seconds == 0


def test_a_profile_that_fails_leaves_the_program_as_it_was() -> None:
    program = compiled(SOFTMAX, "cpu")
    with pytest.raises(ix.IndexingError, match="0 arrays were passed"):
        program.profile()
    x = np.ones((6, 10), np.float32)
    np.testing.assert_allclose(program(x), softmax(x), rtol=1e-6)


def test_a_call_on_host_memory_asks_no_device_what_it_can_do(monkeypatch: pytest.MonkeyPatch) -> None:
    class Protocol(type):
        def __instancecheck__(cls, value: object) -> bool:
            raise AssertionError("a protocol's check takes as long as a small program")

    run = compiled(SOFTMAX, device="cpu")
    x = RNG.standard_normal((6, 10)).astype(np.float32)
    monkeypatch.setattr(executable, "ExchangingDevice", Protocol("ExchangingDevice", (), {}))
    np.testing.assert_allclose(run(x), softmax(x), rtol=1e-5)


@pytest.mark.parametrize("exponent", [0.5, -0.5])
def test_powers_that_are_roots_have_the_special_values_of_powers(exponent: float) -> None:
    text = f"""HloModule roots
ENTRY main {{ x = f32[9] parameter(0) h = f32[] constant({exponent}) y = f32[9] broadcast(h), dimensions={{}}
  ROOT r = f32[9] power(x, y) }}"""
    x = [4.0, 2.0, 0.0, -0.0, math.inf, -math.inf, math.nan, -4.0, 2.0**-140]
    want = [math.inf if v == 0 and exponent < 0 else math.nan if -math.inf < v < 0 else v**exponent for v in x]
    got = compiled(text, "cpu")(np.float32(x))
    np.testing.assert_allclose(got, want, rtol=1e-7)
    assert not np.signbit(got[~np.isnan(got)]).any()
