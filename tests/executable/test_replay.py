"""Programs that the processor replays without Python: loops, branches, memory that is handed on; against the reference."""

import ctypes
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable

import numpy as np
import pytest

import indexing as ix
from indexing.runtime.device import Buffer
from indexing.runtime.host import Host
from indexing.runtime.tape import Opcode, Tape
from kernels import WrittenKernel, compiled
from plain_device import DeviceWithGraphs, DeviceWithMemory, PlainDevice
from tapes import opcodes

ARRAYS = 3  # the state of a random loop has so many, beside its counter
STATE = f"(s32[], {', '.join(['f32[4]'] * ARRAYS)})"


class Program:
    """Writes random programs: loops and branches in each other, whose state is passed on in any order."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.computations: list[str] = []

    def text(self) -> str:
        lines = ["n = s32[] parameter(0)", *(f"p{k} = f32[4] parameter({k + 1})" for k in range(ARRAYS))]
        lines.append(f"state = {STATE} tuple(n, {', '.join(f'p{self.rng.integers(ARRAYS)}' for _ in range(ARRAYS))})")
        last = self.control(lines, "state", 0)
        lines.append(f"ROOT out = {STATE} {self.kept(last)}")
        entry = "ENTRY main {\n  " + "\n  ".join(lines) + "\n}"
        return "\n".join(["HloModule random", *self.computations, entry])

    def kept(self, state: str) -> str:
        return f"while({state}), condition=never, body=same"

    def control(self, lines: list[str], state: str, depth: int) -> str:
        name = f"x{len(self.computations)}"
        kind = self.rng.integers(3)
        if depth == 2 or kind == 0:
            body, condition = self.body(depth + 1), self.condition()
            lines.append(f"{name} = {STATE} while({state}), condition={condition}, body={body}")
        elif kind == 1:
            lines.append(f"{name}.n = s32[] get-tuple-element({state}), index=0")
            branches = [self.body(depth + 1) for _ in range(3)]
            lines.append(
                f"{name} = {STATE} conditional({name}.n, {state}, {state}, {state}), "
                f"branch_computations={{{', '.join(branches)}}}"
            )
        else:
            lines.append(f"{name}.n = s32[] get-tuple-element({state}), index=0")
            lines.append(f"{name}.two = s32[] constant(2)")
            lines.append(f"{name}.p = pred[] compare({name}.n, {name}.two), direction=LT")
            lines.append(
                f"{name} = {STATE} conditional({name}.p, {state}, {state}), "
                f"true_computation={self.body(depth + 1)}, false_computation={self.body(depth + 1)}"
            )
        return name

    def condition(self) -> str:
        name, limit = f"c{len(self.computations)}", self.rng.integers(2, 7)
        self.computations.append(
            f"{name} {{ s = {STATE} parameter(0) n = s32[] get-tuple-element(s), index=0 "
            f"limit = s32[] constant({limit}) ROOT more = pred[] compare(n, limit), direction=LT }}"
        )
        return name

    def body(self, depth: int) -> str:
        lines = [f"s = {STATE} parameter(0)"]
        state = "s"
        if depth < 2 and self.rng.integers(2):
            state = self.control(lines, "s", depth)
        lines.append(f"n = s32[] get-tuple-element({state}), index=0")
        lines += [f"a{k} = f32[4] get-tuple-element({state}), index={k + 1}" for k in range(ARRAYS)]
        lines += ["one = s32[] constant(1)", "m = s32[] add(n, one)", "fixed = f32[4] constant({1, -2, 3, 0.5})"]
        names = [*(f"a{k}" for k in range(ARRAYS)), "fixed"]
        for k in range(self.rng.integers(1, 4)):
            lines.append(self.operation(f"b{k}", names))
            names.append(f"b{k}")
        chosen = ", ".join(names[self.rng.integers(len(names))] for _ in range(ARRAYS))
        name = f"body{len(self.computations)}"
        self.computations.append(
            f"{name} {{\n  " + "\n  ".join([*lines, f"ROOT r = {STATE} tuple(m, {chosen})"]) + "\n}"
        )
        return name

    def operation(self, name: str, names: list[str]) -> str:
        x, y = (names[self.rng.integers(len(names))] for _ in range(2))
        return (
            f"{name} = f32[4] subtract({x}, {y})",
            f"{name} = f32[4] reverse({x}), dimensions={{0}}",
            f"{name}.h = f32[1] slice({y}), slice={{[2:3]}}\n  {name} = f32[4] dynamic-update-slice({x}, {name}.h, n)",
        )[self.rng.integers(3)]


SAME = f"same {{ ROOT s = {STATE} parameter(0) }} never {{ s = {STATE} parameter(0) ROOT no = pred[] constant(false) }}"


DEVICES: dict[str, Callable[[], str | PlainDevice]] = {
    "cpu": lambda: "cpu",
    "plain": PlainDevice,
    "with memory": DeviceWithMemory,
    "with graphs": DeviceWithGraphs,
}


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("seed", range(24))
def test_random_loops_and_branches(seed: int, device: str) -> None:
    text = Program(seed).text().replace("HloModule random", f"HloModule random\n{SAME}")
    run = compiled(text, DEVICES[device]())
    assert run.reference_steps == ()
    assert Opcode.HOST not in opcodes(text)
    rng = np.random.default_rng(seed)
    for n in (0, 1, 3, 9):
        arrays = [rng.integers(-4, 5, 4).astype(np.float32) for _ in range(ARRAYS)]
        before = [a.copy() for a in arrays]
        got = run(np.int32(n), *arrays)
        want = ix.evaluate(ix.hlo.parse(text), np.int32(n), *arrays)
        for g, w in zip(got, want, strict=True):
            np.testing.assert_array_equal(g, w)
        for array, kept in zip(arrays, before, strict=True):
            np.testing.assert_array_equal(array, kept)  # arguments stay what they were


def test_results_stay_while_the_program_runs_again() -> None:
    run = compiled(FIBONACCI, device="cpu")
    results = [run(np.int32(n), np.float32(0), np.float32(1)) for n in range(20, 0, -1)]
    again = [tuple(map(float, r)) for r in results]
    assert again == [tuple(map(float, run(np.int32(n), np.float32(0), np.float32(1)))) for n in range(20, 0, -1)]


FIBONACCI = """HloModule fibonacci
body {
  s = (s32[], f32[], f32[]) parameter(0)
  n = s32[] get-tuple-element(s), index=0
  a = f32[] get-tuple-element(s), index=1
  b = f32[] get-tuple-element(s), index=2
  one = s32[] constant(1)
  m = s32[] subtract(n, one)
  c = f32[] add(a, b)
  ROOT r = (s32[], f32[], f32[]) tuple(m, b, c)
}
condition {
  s = (s32[], f32[], f32[]) parameter(0)
  n = s32[] get-tuple-element(s), index=0
  zero = s32[] constant(0)
  ROOT more = pred[] compare(n, zero), direction=GT
}
ENTRY main {
  n = s32[] parameter(0)
  a = f32[] parameter(1)
  b = f32[] parameter(2)
  s = (s32[], f32[], f32[]) tuple(n, a, b)
  w = (s32[], f32[], f32[]) while(s), condition=condition, body=body
  x = f32[] get-tuple-element(w), index=1
  y = f32[] get-tuple-element(w), index=2
  ROOT r = (f32[], f32[]) tuple(x, y)
}
"""


def test_a_loop_passes_its_state_on_by_addresses() -> None:
    actual = opcodes(FIBONACCI)
    inside = actual[actual.index(Opcode.UNLESS) :]
    assert Opcode.MOVE in inside
    assert Opcode.COPY not in inside


@pytest.mark.parametrize("device", DEVICES)
def test_what_a_loop_leaves_is_not_overwritten_behind_it(device: str) -> None:
    """The state moves on by one array a turn; behind the loop, as many arrays as there were registers are computed."""
    state = f"(s32[], {', '.join(['f32[4]'] * 4)})"
    text = f"""HloModule moves
body {{
  s = {state} parameter(0)
  n = s32[] get-tuple-element(s), index=0
  a = f32[4] get-tuple-element(s), index=1
  b = f32[4] get-tuple-element(s), index=2
  c = f32[4] get-tuple-element(s), index=3
  d = f32[4] get-tuple-element(s), index=4
  one = s32[] constant(1)
  m = s32[] subtract(n, one)
  e = f32[4] subtract(a, b)
  f = f32[4] reverse(c), dimensions={{0}}
  ROOT r = {state} tuple(m, b, e, f, a)
}}
more {{
  s = {state} parameter(0)
  n = s32[] get-tuple-element(s), index=0
  zero = s32[] constant(0)
  ROOT c = pred[] compare(n, zero), direction=GT
}}
ENTRY main {{
  i = s32[] parameter(0)
  six = s32[] constant(6)
  n = s32[] remainder(i, six)
  x = f32[4] parameter(1)
  {" ".join(f"k{k} = f32[4] constant({{{k + 2}, 1, {k}, -1}}) x{k} = f32[4] multiply(x, k{k})" for k in range(4))}
  s = {state} tuple(n, x0, x1, x2, x3)
  w = {state} while(s), condition=more, body=body
  {" ".join(f"y{k} = f32[4] get-tuple-element(w), index={k + 1}" for k in range(4))}
  {" ".join(f"z{k} = f32[4] cosine(y{k}) w{k} = f32[4] reverse(z{k}), dimensions={{0}}" for k in range(4))}
  {" ".join(f"v{k} = f32[4] add(z{k}, w{k})" for k in range(4))}
  ROOT r = ({", ".join(["f32[4]"] * 12)}) tuple({", ".join(f"{n}{k}" for n in "yzv" for k in range(4))})
}}
"""
    run, module = compiled(text, DEVICES[device]()), ix.hlo.parse(text)
    for n in range(6):
        x = np.float32([1, 2, 3, n])
        for got, want in zip(run(np.int32(n), x), ix.evaluate(module, np.int32(n), x), strict=True):
            np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-5)


def test_a_step_of_the_host_leaves_its_loop_on_the_tape() -> None:
    text = """HloModule transformed
body {
  s = (s32[], f32[9]) parameter(0)
  n = s32[] get-tuple-element(s), index=0
  x = f32[9] get-tuple-element(s), index=1
  one = s32[] constant(1)
  m = s32[] subtract(n, one)
  h = c64[5] fft(x), fft_type=RFFT, fft_length={9}
  y = f32[9] fft(h), fft_type=IRFFT, fft_length={9}
  z = f32[9] sine(y)
  ROOT r = (s32[], f32[9]) tuple(m, z)
}
condition {
  s = (s32[], f32[9]) parameter(0)
  n = s32[] get-tuple-element(s), index=0
  zero = s32[] constant(0)
  ROOT more = pred[] compare(n, zero), direction=GT
}
ENTRY main {
  n = s32[] parameter(0)
  x = f32[9] parameter(1)
  s = (s32[], f32[9]) tuple(n, x)
  w = (s32[], f32[9]) while(s), condition=condition, body=body
  ROOT y = f32[9] get-tuple-element(w), index=1
}
"""
    run = compiled(text, device="cpu")
    actual = opcodes(text)
    inside = actual[actual.index(Opcode.UNLESS) : actual.index(Opcode.JUMP)]
    assert inside.count(Opcode.HOST) == 2
    assert Opcode.LAUNCH in inside
    x = np.array([3, 1, 4, 1, 5, 9, 2, 6, 5], np.float32)
    want = x
    for _ in range(3):
        want = np.sin(want)
    np.testing.assert_allclose(run(np.int32(3), x), want, atol=1e-6)


def test_an_operand_that_is_passed_twice_is_not_written_to() -> None:
    text = """HloModule twice
placed {
  x = f32[6000] parameter(0)
  y = f32[6000] parameter(1)
  i = s32[] parameter(2)
  r = f32[6000] reverse(y), dimensions={0}
  part = f32[3000] slice(r), slice={[0:3000]}
  ROOT out = f32[6000] dynamic-update-slice(x, part, i)
}
ENTRY main {
  x = f32[6000] parameter(0)
  i = s32[] parameter(1)
  y = f32[6000] sine(x)
  ROOT out = f32[6000] fusion(y, y, i), kind=kLoop, calls=placed
}
"""
    x = np.arange(6000, dtype=np.float32)
    want = np.sin(x)
    want[2000:5000] = np.sin(x)[:2999:-1]
    np.testing.assert_allclose(compiled(text, device="cpu")(x, np.int32(2000)), want, rtol=1e-5, atol=1e-6)


def test_threads_run_one_program_at_a_time_each() -> None:
    run = compiled(FIBONACCI, device="cpu")
    actual: dict[int, float] = {}
    threads = [
        threading.Thread(
            target=lambda n=n: actual.update({n: float(run(np.int32(n), np.float32(0), np.float32(1))[0])})
        )
        for n in range(1, 30)
    ]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    a, b = 0.0, 1.0
    for n in range(1, 30):
        a, b = b, a + b
        assert actual[n] == a


def test_a_program_without_end_is_interrupted() -> None:
    script = f"""
import signal, numpy as np, indexing
signal.signal(signal.SIGINT, signal.default_int_handler)  # which a shell's background job ignores
run = indexing.compile({FIBONACCI.replace("subtract(n, one)", "add(n, one)").replace("GT", "NE")!r}, device="cpu")
run(np.int32(0), np.float32(0), np.float32(1))
print("begins", flush=True)
run(np.int32(1), np.float32(0), np.float32(0))
"""
    with subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as child:
        assert child.stdout is not None and child.stdout.readline() == "begins\n"
        time.sleep(0.2)
        child.send_signal(signal.SIGINT if os.name == "posix" else signal.CTRL_C_EVENT)
        assert "KeyboardInterrupt" in child.communicate(timeout=60)[1]


def downloaded(kind: type) -> Callable[[int, Buffer], np.ndarray]:
    """What a run makes of its results: arrays of one element."""
    return lambda number, buffer: Host().download(buffer, np.dtype(kind), (1,))


def test_a_selector_out_of_range_takes_the_last_branch() -> None:
    source = "void set(void *const *b, long long f, long long l) { *(int *)b[0] = *(const int *)b[1]; }\n"
    host = Host()
    tape = Tape()
    chosen, result = tape.register(4), tape.register(4)
    tape.arguments.append(chosen)
    tape.kernels.append(host.load(WrittenKernel("set", source, "c", (1, 1, 1), (1, 1, 1))))
    numbers = [tape.register(4) for _ in range(3)]
    for k, register in enumerate(numbers):
        tape.constants[register] = host.upload(np.int32([10 + k]))
    places = tape.switch(chosen, 3)
    ends = []
    for place, register in zip(places, numbers, strict=True):
        tape.land(place)
        tape.launch(0, [result, register])
        ends.append(tape.jump())
    for place in ends:
        tape.land(place)
    tape.end()
    tape.results.append(result)
    program = host.program(tape)
    for which, want in ((0, 10), (1, 11), (2, 12), (3, 12), (-1, 12), (2**31 - 1, 12), (-(2**31), 12)):
        (got,) = program.run([host.upload(np.int32([which]))], downloaded(np.int32))
        assert got == [want]


def test_registers_exchange_addresses_in_any_order() -> None:
    host, rng = Host(), np.random.default_rng(3)
    for _ in range(20):
        count = int(rng.integers(1, 9))
        order = [int(k) for k in rng.permutation(count)]
        tape = Tape()
        given = [tape.register(8) for _ in range(count)]
        tape.arguments += given
        own = [tape.register(8) for _ in range(count)]
        for target, source in zip(own, given, strict=True):
            tape.copy(target, source)
        tape.move([(own[k], own[order[k]]) for k in range(count)])
        tape.end()
        tape.results += own
        program = host.program(tape)
        for turn in range(3):
            got = program.run([host.upload(np.int64([k + turn])) for k in range(count)], downloaded(np.int64))
            assert [int(array[0]) for array in got] == [k + turn for k in order]


def test_a_move_that_is_no_permutation_is_refused() -> None:
    with pytest.raises(AssertionError):
        Tape().move([(0, 1)])


def test_a_profile_counts_every_turn_of_a_replayed_loop() -> None:
    run = compiled(FIBONACCI, device="cpu")
    actual = {s.name: s.launches for s in run.profile(np.int32(1000), np.float32(0), np.float32(0)).steps}
    assert sorted(actual.values()) == [1000, 1001]  # the body, one kernel with two results, and the condition


def test_work_is_measured_now_and_then() -> None:
    source = "void nothing(void *const *b, long long f, long long l) {}\n"
    kernel = Host().load(WrittenKernel("nothing", source, "c", (1, 1, 1), (1, 1, 1)))
    for _ in range(200):
        kernel.launch([])
    assert kernel._launch.launches == 200
    assert 0 < kernel._launch.work < 1_000_000
    assert ctypes.sizeof(kernel._launch) == 32
