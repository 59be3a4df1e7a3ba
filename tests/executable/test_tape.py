"""Tapes on both of their executors: `replay.c`, and the interpreter of devices that run none."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pytest

import indexing as ix
from indexing.runtime.device import Buffer, Device
from indexing.runtime.graphed_run import MAX_GRAPHS, MAX_STEPS, GraphedRun
from indexing.runtime.host import Host
from indexing.runtime.interpreter import InterpretedRun
from indexing.runtime.memory import ArrayFormat
from indexing.runtime.runs import TapeProgram
from indexing.runtime.tape import DeviceProgram, HostStep, Opcode, Tape
from kernels import WrittenKernel, compiled
from plain_device import DeviceWithGraphs, DeviceWithMemory, PlainDevice
from tapes import opcodes

S32 = ArrayFormat(np.dtype(np.int32), (), ())
ADD_ONE = WrittenKernel(
    "add_one",
    "void add_one(void *const *b, long long f, long long l) { *(int *)b[0] += 1; *(int *)b[1] = *(int *)b[0]; }\n",
    "c",
    (1, 1, 1),
    (1, 1, 1),
)
DEVICES: dict[str, Callable[[], Device]] = {
    "cpu": Host,
    "plain": PlainDevice,
    "with memory": DeviceWithMemory,
    "with graphs": DeviceWithGraphs,
}


def ready(tape: Tape, device: Device) -> DeviceProgram:
    if isinstance(device, Host):
        return device.program(tape)
    if isinstance(device, DeviceWithGraphs):
        return TapeProgram(tape, lambda: GraphedRun(tape, device))
    return TapeProgram(tape, lambda: InterpretedRun(tape, device))


def values(device: Device) -> Callable[[int, Buffer], int]:
    return lambda number, buffer: int(device.download(buffer, S32.dtype, ()))


@dataclass
class Step:
    """A step of the host, which raises a failure at its second call if there is one."""

    failure: BaseException | None = None
    calls: int = 0

    def __call__(self, arrays: Sequence[np.ndarray]) -> list[np.ndarray]:
        self.calls += 1
        if self.failure is not None and self.calls % 2 == 0:
            raise self.failure
        return [np.asarray(2 * arrays[0])]


def counting_tape(device: Device, step: Step) -> Tape:
    """Three turns, each of which launches `add_one` on scratch memory and doubles what it counts, then moves it to the result."""
    tape = Tape()
    scratch, counted, doubled = (tape.register(4) for _ in range(3))
    tape.zeros[scratch] = np.zeros((), np.int32)
    tape.kernels.append(device.load(ADD_ONE))
    tape.host_steps.append(HostStep(step, (S32,), (S32,)))
    start = tape.position
    behind = tape.unless_repeated(3)
    tape.launch(0, [scratch, counted])
    tape.host(0, [counted], [doubled])
    tape.move([(counted, doubled), (doubled, counted)])
    tape.jump(start)
    tape.land(behind)
    tape.end()
    tape.results.append(counted)
    return tape


@pytest.mark.parametrize("failure", [ValueError("no"), KeyboardInterrupt()])
@pytest.mark.parametrize("name", DEVICES)
def test_a_run_that_fails_leaves_nothing_to_the_next(name: str, failure: BaseException) -> None:
    device, step = DEVICES[name](), Step(failure)
    program = ready(counting_tape(device, step), device)
    for _ in range(3):
        with pytest.raises(type(failure)):
            program.run([], values(device))
        step.calls = 0
    step.failure = None
    assert [program.run([], values(device)) for _ in range(3)] == [[6], [12], [18]]  # scratch memory counts on


@pytest.mark.parametrize("name", DEVICES)
def test_a_delivery_that_fails_leaves_nothing_to_the_next(name: str) -> None:
    device = DEVICES[name]()
    program = ready(counting_tape(device, Step()), device)
    assert program.run([], values(device)) == [6]

    def refuse(number: int, buffer: Buffer) -> int:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        program.run([], refuse)
    assert program.run([], values(device)) == [6]  # in a state of its own, whose scratch memory is zero again


@pytest.mark.parametrize("name", DEVICES)
def test_a_subroutine_returns_to_each_of_its_calls(name: str) -> None:
    device = DEVICES[name]()
    tape = Tape()
    state, counted = tape.register(4), tape.register(4)
    tape.zeros[state] = np.zeros((), np.int32)
    tape.kernels.append(device.load(ADD_ONE))
    begin = tape.jump()
    inner, by_inner = tape.position, tape.counter()
    tape.launch(0, [state, counted])
    tape.return_by(by_inner)
    outer, by_outer = tape.position, tape.counter()
    for _ in range(2):
        tape.call(by_inner, inner)
    tape.return_by(by_outer)
    tape.land(begin)
    for _ in range(3):
        tape.call(by_outer, outer)
    tape.call(by_inner, inner)
    tape.end()
    tape.results.append(counted)
    program = ready(tape, device)
    assert [program.run([], values(device)) for _ in range(2)] == [[7], [14]]


@pytest.mark.parametrize("name", DEVICES)
def test_a_profile_has_the_times_of_kernels_and_of_host_steps(name: str) -> None:
    device, actual = DEVICES[name](), dict[int, int]()
    program = ready(counting_tape(device, Step()), device)
    program.run(
        [], values(device), lambda number, seconds, launches: actual.update({number: actual.get(number, 0) + launches})
    )
    assert actual == {0: 3, 1: 3}


def adding_tape(device: Device, turns: int) -> Tape:
    """Loops over launches of `add_one` on the argument's memory, each followed by a copy of what it counts."""
    tape = Tape()
    given, counted, result = (tape.register(4) for _ in range(3))
    tape.arguments.append(given)
    tape.kernels.append(device.load(ADD_ONE))
    start = tape.position
    behind = tape.unless_repeated(turns)
    tape.launch(0, [given, counted])
    tape.copy(result, counted)
    tape.jump(start)
    tape.land(behind)
    tape.end()
    tape.results.append(result)
    return tape


def test_what_is_repeated_on_the_same_memory_is_one_graph() -> None:
    """The first run launches, the second makes a graph, which runs on what the memory then holds."""
    device = DeviceWithGraphs()
    program = ready(adding_tape(device, 5), device)
    given = device.upload(np.array(10, np.int32))
    assert [program.run([given], values(device)) for _ in range(4)] == [[15], [20], [25], [30]]
    assert (device.made, device.replayed) == (1, 3)


def test_arguments_at_other_addresses_have_graphs_of_their_own() -> None:
    device = DeviceWithGraphs()
    program = ready(adding_tape(device, 2), device)
    given = [device.upload(np.array(n, np.int32)) for n in (0, 100)]
    actual = [program.run([given[k]], values(device)) for k in (0, 1, 0, 1, 0)]
    assert actual == [[2], [102], [4], [104], [6]]
    assert (device.made, device.replayed) == (2, 3)


def test_memory_that_never_comes_again_makes_no_graph() -> None:
    device = DeviceWithGraphs()
    program = ready(adding_tape(device, 2), device)
    given = [device.upload(np.array(n, np.int32)) for n in range(MAX_GRAPHS + 1)]
    for counted in (2, 4):  # when the first comes again, it is forgotten
        assert [program.run([buffer], values(device)) for buffer in given] == [[n + counted] for n in range(len(given))]
    assert device.made == 0


def test_a_long_series_is_several_graphs() -> None:
    device = DeviceWithGraphs()
    program = ready(adding_tape(device, MAX_STEPS), device)
    given = device.upload(np.array(0, np.int32))
    assert [program.run([given], values(device)) for _ in range(3)] == [[n * MAX_STEPS] for n in (1, 2, 3)]
    assert (device.made, device.replayed) == (1, 5)  # both halves of a run have the same launches


def test_steps_of_the_host_end_a_series() -> None:
    """Each turn has one launch, of which no graph is made."""
    device = DeviceWithGraphs()
    program = ready(counting_tape(device, Step()), device)
    assert [program.run([], values(device)) for _ in range(3)] == [[6], [12], [18]]
    assert device.made == 0


def test_a_step_of_the_host_cannot_write_to_its_operands() -> None:
    def write(arrays: Sequence[np.ndarray]) -> Sequence[np.ndarray]:
        arrays[0][...] = 7
        return arrays

    device = Host()
    tape = counting_tape(device, Step())
    tape.host_steps[0] = HostStep(write, (S32,), (S32,))
    with pytest.raises(ValueError, match="read-only"):
        ready(tape, device).run([], values(device))


# ------------------------------------------------------------ programs

SHARED = "\n".join(
    [
        "HloModule shared",
        "c0 { x = f32[4] parameter(0) y = f32[4] sine(x) z = f32[4] reverse(y), dimensions={0} ROOT r = f32[4] add(x, z) }",
        *(
            f"""c{k} {{
  x = f32[4] parameter(0)
  p = pred[] constant({"true" if k % 3 else "false"})
  a = f32[4] conditional(p, x, x), true_computation=c{k - 1}, false_computation=c0
  ROOT b = f32[4] conditional(p, a, x), true_computation=c0, false_computation=c{k - 1}
}}"""
            for k in range(1, 40)
        ),
        """ENTRY main {
  x = f32[4] parameter(0)
  p = pred[] parameter(1)""",
        *(f"k{k} = f32[4] constant({{{k + 2}, 1, {k}, -1}}) y{k} = f32[4] multiply(x, k{k})" for k in range(6)),
        """a = f32[4] conditional(p, y0, y1), true_computation=c39, false_computation=c38
  b = f32[4] conditional(p, a, y2), true_computation=c38, false_computation=c39
  ROOT r = (f32[4], f32[4], f32[4], f32[4], f32[4], f32[4]) tuple(a, b, y2, y3, y4, y5)
}""",
    ]
)


def nested(depth: int) -> str:
    """Loops within loops, each of which runs once and leaves early if the state is negative."""
    state = "(s32[], f32[4])"
    lines = [
        "HloModule nested",
        f"""c0 {{ s = {state} parameter(0)
  n = s32[] get-tuple-element(s), index=0
  x = f32[4] get-tuple-element(s), index=1
  one = s32[] constant(1)
  m = s32[] subtract(n, one)
  y = f32[4] cosine(x)
  ROOT r = {state} tuple(m, y) }}""",
        f"""more {{ s = {state} parameter(0)
  n = s32[] get-tuple-element(s), index=0
  zero = s32[] constant(0)
  ROOT c = pred[] compare(n, zero), direction=GT }}""",
    ]
    lines += [
        f"c{k} {{ s = {state} parameter(0) ROOT w = {state} while(s), condition=more, body=c{k - 1} }}"
        for k in range(1, depth)
    ]
    lines.append(
        f"""ENTRY main {{ n = s32[] parameter(0) x = f32[4] parameter(1) s = {state} tuple(n, x)
  ROOT w = {state} while(s), condition=more, body=c{depth - 1} }}"""
    )
    return "\n".join(lines)


TRIPLE = "(f32[4], f32[4], f32[4])"
PASSING = "\n".join(
    [
        f"c0 {{ x = f32[4] parameter(0) y = f32[4] sine(x) ROOT r = {TRIPLE} tuple(x, x, y) }}",
        *(
            f"""c{k} {{ x = f32[4] parameter(0)
  p = pred[] constant({"true" if k != 3 else "false"})
  t = {TRIPLE} conditional(p, x, x), true_computation=c{k - 1}, false_computation=c0
  y = f32[4] get-tuple-element(t), index=2
  fixed = f32[4] constant({{1, 2, 3, 4}})
  ROOT r = {TRIPLE} tuple(y, y, fixed) }}"""
            for k in range(1, 80)
        ),
        f"""ENTRY main {{ x = f32[4] parameter(0) p = pred[] parameter(1)
  ROOT r = {TRIPLE} conditional(p, x, x), true_computation=c79, false_computation=c78 }}""",
    ]
)


@pytest.mark.parametrize("device", DEVICES)
def test_a_subroutine_returns_an_array_twice_and_a_constant(device: str) -> None:
    run, x = compiled(PASSING, "cpu" if device == "cpu" else DEVICES[device]()), np.float32([0.5, -1, 2, 0.25])
    assert Opcode.CALL in opcodes(PASSING)
    for p in (True, False):
        for got, want in zip(run(x, p), ix.evaluate(PASSING, x, p), strict=True):
            np.testing.assert_allclose(got, want, rtol=1e-5)


@pytest.mark.parametrize("device", DEVICES)
def test_shared_and_deep_control_flow_is_recorded_once(device: str) -> None:
    on = "cpu" if device == "cpu" else DEVICES[device]()
    run, x = compiled(SHARED, on), np.array([0.5, -1, 2, 0.25], np.float32)
    for p in (True, False):
        for got, want in zip(run(x, p), ix.evaluate(SHARED, x, p), strict=True):
            np.testing.assert_allclose(got, want, rtol=1e-5)
    deep = nested(90)
    for got, want in zip(compiled(deep, on)(np.int32(3), x), ix.evaluate(deep, np.int32(3), x), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-5)


def test_a_tape_grows_with_the_text_of_its_program() -> None:
    actual = opcodes(SHARED)
    assert Opcode.CALL in actual
    assert len(actual) < 40 * 400
    assert Opcode.CALL in opcodes(nested(90))
    assert Opcode.CALL not in opcodes(nested(20))
