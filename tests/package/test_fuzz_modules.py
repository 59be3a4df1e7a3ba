"""The fuzzer of HLO modules: each op has a program that agrees with jaxlib, planted mistakes are found, seeds repeat."""

from __future__ import annotations

import argparse
import os
import random
from collections.abc import Callable
from dataclasses import replace
from multiprocessing import Pipe
from pathlib import Path

import jax  # before the fuzzer's oracle, which otherwise sets it to 64 bits for all tests of this process
import numpy as np
import pytest

import indexing as ix
from indexing.ops.element_types import ELEMENT_TYPES
from indexing.ops.registry import REGISTRY
from indexing.runtime.device import Buffer
from modules import alone, check, deviations, generate, kernels, oracle, perturb, rows, worker
from modules.__main__ import Runner
from modules.compare import difference, flushed
from modules.generate import finished
from modules.program import EXACT, Array, Builder, Instruction, Names, Program, Tolerance, Value
from modules.values import ALL, ANY, SMALL, Data, dtype, random_array

SEED = "20261"
DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "fuzzing.md"


def test_every_op_has_a_generator_or_a_reason_for_none() -> None:
    assert set(generate.GENERATORS) | set(generate.LEFT_OUT) == set(REGISTRY)
    assert set(generate.GENERATORS).isdisjoint(generate.LEFT_OUT)


def test_every_element_type_is_drawn() -> None:
    assert set(ALL) == set(ELEMENT_TYPES)


@pytest.mark.parametrize("opcode", sorted(generate.GENERATORS))
def test_a_program_of_each_op_agrees_with_jaxlib(opcode: str) -> None:
    program = generate.program_of(opcode, SEED)
    assert opcode in program.opcodes()
    assert check.check(program, SEED, check.Options(tries=4)) is None, program.text()


def test_random_programs_agree_with_jaxlib() -> None:
    for number in range(10):
        program = generate.random_program(f"{SEED}/{number}")
        assert check.check(program, SEED, check.Options(tries=4)) is None, program.text()


def test_a_seed_repeats_its_program_and_its_data() -> None:
    one, other = (generate.random_program(f"{SEED}/repeat") for _ in range(2))
    assert one.text() == other.text() != generate.random_program(f"{SEED}/another").text()
    first, second = (generate.arguments(p, SEED) for p in (one, other))
    assert all(a.tobytes() == b.tobytes() for a, b in zip(first, second, strict=True))


def test_a_wrong_value_is_found_and_its_program_made_smaller(monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(instruction: ix.hlo.Instruction, operands: list[np.ndarray]) -> np.ndarray:
        return np.float32(1) - operands[0]

    program = _with_an_instruction_named_bad()
    assert check.check(program, SEED, check.Options()) is None
    monkeypatch.setitem(REGISTRY, "negate", replace(REGISTRY["negate"], reference=wrong))
    findings = check.check(program, SEED, check.Options())
    assert findings is not None
    assert findings.kind == "value" and findings.reason.startswith("bad: ")
    small, why = check.shrink(program, SEED, check.Options(), "value")
    assert [i.opcode for i in small.instructions] == ["parameter", "negate"]
    assert why is not None


def _with_an_instruction_named_bad() -> Program:
    b = Builder(random.Random(SEED), Names())
    x = b.parameter(Array("f32", (2, 3)), SMALL)
    y = b.emit("reverse", x.shape, [x], "dimensions={1}")
    b.emit("negate", y.shape, [y], name="bad")
    b.emit("copy", y.shape, [y])
    return finished(b)


def test_what_only_rewriting_changes_is_excused() -> None:
    """XLA took x * x for positive until jaxlib 0.11.1, and left out the absolute value of it; 60000 * 60000 overflows."""
    b = Builder(random.Random(SEED), Names())
    x = b.parameter(Array("s32", (2,)), Data("range", 60000, 60000))
    square = b.emit("multiply", x.shape, [x, x])
    b.emit("abs", x.shape, [square])
    program = finished(b).reduced(["v2"])
    given = generate.arguments(program, SEED)
    theirs = -694967296 if oracle.VERSION < (0, 11, 1) else 694967296
    assert oracle.Compiled(program.text(oracle=True), quick=False)(given)[0].tolist() == [theirs] * 2
    assert ix.evaluate(program.text(), *given)[0].tolist() == [694967296] * 2
    assert check.check(program, SEED, check.Options()) is None


def test_what_only_rewriting_changes_is_excused_in_a_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    """As above, in the body of a loop, whose values are what its rounds compute."""
    program = _loop_of_squares()
    given = [np.array([60000, 3], np.int32), np.zeros(2, np.int32)]
    module = ix.hlo.parse(program.text())
    (output,) = program.outputs
    assert ix.evaluate(module, *given)[0].tolist() == [694967296, 9]
    assert alone.agrees(program, module, output, given)
    with monkeypatch.context() as patch:
        patch.setitem(REGISTRY, "while", replace(REGISTRY["while"], reference=lambda i, operands: operands[0]))
        assert not alone.agrees(program, module, output, given)  # it is the loop that is wrong
    wrong = replace(REGISTRY["abs"], reference=lambda i, operands: operands[0])
    monkeypatch.setitem(REGISTRY, "abs", wrong)
    assert not alone.agrees(program, module, output, given)


def _loop_of_squares() -> Program:
    """One round of abs(x * x)."""
    b = Builder(random.Random(SEED), Names())
    array, number = Array("s32", (2,)), Array("s32")
    state = (array, array, number)

    def parts(inner: Builder) -> list[Value]:
        whole = inner.fresh(state)
        return [inner.emit("get-tuple-element", s, [whole], f"index={k}") for k, s in enumerate(state)]

    step, test = b.nested(), b.nested()
    x, _, count = parts(step)
    root = step.emit("abs", array, [step.emit("multiply", array, [x, x])])
    after = step.emit("add", number, [count, step.emit("constant", number, literal="1")])
    body = step.computation([x, root, after], "body")
    _, _, count = parts(test)
    below = test.emit("compare", Array("pred"), [count, test.emit("constant", number, literal="1")], "direction=LT")
    condition = test.computation(below, "condition")
    start = b.emit("tuple", state, [b.parameter(array), b.parameter(array), b.emit("constant", number, literal="0")])
    attributes = f"condition={condition.name}, body={body.name}"
    loop = b.emit("while", state, [start], attributes, called=[condition, body])
    result = b.emit("get-tuple-element", array, [loop], "index=1")
    return finished(b).reduced([result.name])


def test_a_pair_that_no_map_names_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(perturb, "named", lambda maps, leaf, values, here, there: np.zeros((6, 6), bool))
    findings = check.check(_with_an_instruction_named_bad(), SEED, check.Options())
    assert findings is not None
    assert findings.kind == "map" and "don't name" in findings.reason


def test_what_only_we_refuse_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(text: str) -> None:
        raise ix.UnsupportedOp("no")

    monkeypatch.setattr(ix.hlo, "parse", refuse)
    findings = check.check(_with_an_instruction_named_bad(), SEED, check.Options())
    assert findings == check.Finding("refused", "UnsupportedOp: no")


ON_CPU = check.Options(tries=1, devices=(kernels.FilledHost,))


def test_kernels_of_wide_rows_agree_with_jaxlib() -> None:
    for number in range(6):
        b = Builder(random.Random(f"{SEED}/rows/{number}"), Names(), reuse=rows.REUSE)
        rows.add_steps(b)
        rows.fusion(b)
        program = finished(b)
        assert check.check(program, SEED, ON_CPU) is None, program.text()


def test_fusions_of_wide_rows_have_several_results_that_mix_reductions_with_moves() -> None:
    actual = set()
    for number in range(60):
        b = Builder(random.Random(f"{SEED}/fusions/{number}"), Names())
        rows.fusion(b)
        (fusion,) = [i for i in b.instructions if i.opcode == "fusion"]
        if isinstance(fusion.shape, tuple) and len(fusion.shape) > 1:
            opcodes = {i.opcode for i in fusion.called[0].instructions}
            actual |= opcodes if "reduce" in opcodes else set()
    assert actual >= {"slice", "reverse", "concatenate", "reshape", "dynamic-slice", "reduce"}


class _Careless(kernels.FilledHost):
    """A device that makes a mistake with the memory of each result."""

    def __init__(self, mistake: Callable[[_Careless, np.ndarray], None]) -> None:
        super().__init__()
        self._mistake = mistake

    def download(self, buffer: Buffer, dtype: np.dtype, shape: tuple[int, ...]) -> np.ndarray:
        assert isinstance(buffer.handle, np.ndarray)
        self._mistake(self, buffer.handle)
        return super().download(buffer, dtype, shape)


def test_an_element_that_no_kernel_writes_is_found() -> None:
    """It holds the pattern; what the reference answers excuses no kernel."""

    def restore(device: _Careless, memory: np.ndarray) -> None:
        memory[:4] = device.pattern

    program = _with_an_instruction_named_bad().reduced(["bad"])
    findings = check.check(program, SEED, check.Options(1, (lambda: _Careless(restore),)))
    assert findings is not None and findings.kind == "value on cpu"
    assert findings.reason.startswith("call 0: bad: ") and findings.reason.endswith("at [0, 0], and at 0 more of 6")


def test_memory_that_is_written_beside_a_buffer_is_found() -> None:
    def overrun(device: _Careless, memory: np.ndarray) -> None:
        del device
        assert isinstance(memory.base, np.ndarray)
        memory.base[-1] = 1

    program = _with_an_instruction_named_bad().reduced(["bad"])
    findings = check.check(program, SEED, check.Options(1, (lambda: _Careless(overrun),)))
    assert findings == check.Finding("access on cpu", "memory behind a buffer of 24 bytes was written")


RUNNER = """
from types import SimpleNamespace
from indexing.runtime.host import Host

class Kernels:
    def __init__(self, arch):
        self.reports = {arch: []}

class PtxDevice:
    name, dialect = "ptx", "c"

    def __init__(self, kernels):
        self.kernels, host = kernels, Host()
        self.empty, self.upload, self.share, self.download = host.empty, host.upload, host.share, host.download
        self.copy, self.finish, self.compiled = host.copy, host.finish, host.load

    def load(self, kernel):
        def launch(buffers):
            self.kernels.reports["90"].append(SimpleNamespace(errors=[ERRORS]))
            RUN
        return launch
"""


@pytest.mark.parametrize(
    ("run", "errors", "kind"),
    [
        ("self.compiled(kernel)(buffers)", "", None),
        ("self.compiled(kernel)(buffers)", "'a race'", check.Finding("access on ptx", "a race")),
        ("pass", "", "value on ptx"),
    ],
)
def test_a_runner_of_ptx_is_asked_for_values_and_errors(
    tmp_path: Path, run: str, errors: str, kind: check.Finding | str | None
) -> None:
    (tmp_path / "check.py").write_text(RUNNER.replace("RUN", run).replace("ERRORS", errors))
    opener = kernels.ptx_opener(tmp_path, "90")
    program = _with_an_instruction_named_bad()
    finding = check.check(program, SEED, check.Options(1, (opener,)))
    assert (finding.kind if finding and isinstance(kind, str) else finding) == kind
    launched = [k.name for k in ix.emit_all(ix.hlo.parse(program.text()), "c")]
    assert launched == ["loop_reverse"]  # with both results; the copy is a view of the first


@pytest.mark.parametrize(
    ("messages", "following", "failures", "deaths"),
    [
        ([(0, "right", "")], 2, {}, [1]),
        ([(0, "right", ""), (1, worker.KERNELS, "died")], 2, {1: "died"}, []),
        ([(0, worker.KERNELS, "died"), (0, "right", "")], 2, {}, [1]),
        ([(0, "failed", "wrong"), (0, worker.KERNELS, "died")], 1, {0: "wrong"}, []),
        ([(k, "right", "") for k in range(5)], 6, {}, []),
    ],
)
def test_a_process_that_ends_while_kernels_run_is_a_failure_of_ours(
    messages: list[tuple[int, str, str]], following: int, failures: dict[int, str], deaths: list[int]
) -> None:
    runner = Runner(0, argparse.Namespace(steps=8, kernels=0.5, ptx=None, plans=0.5))
    receiver, sender = Pipe(duplex=False)
    for message in (worker.READY, *messages):
        sender.send(message)
    sender.close()
    assert runner._listen(receiver, 0, 5) == following
    assert (runner.failures, runner.deaths) == (failures, deaths)


def test_scatters_whose_last_update_wins_are_judged_in_order_only(tmp_path: Path) -> None:
    (tmp_path / "check.py").write_text(RUNNER.replace("RUN", "pass").replace("ERRORS", ""))
    program = next(p for p in (generate.program_of("scatter", str(k)) for k in range(100)) if p.keeps_last())
    for opener in (kernels.ptx_opener(tmp_path, "90"), kernels.FilledHost):
        assert check.check(program, SEED, check.Options(1, (opener,))) is None
    assert not _with_an_instruction_named_bad().keeps_last()


def test_devices_are_chosen_by_their_shares() -> None:
    options = argparse.Namespace(kernels=0.5, ptx=Path("runner"), ptx_share=0.05)
    chosen = [kernels.chosen(random.Random(str(k)), options) for k in range(2000)]
    assert 900 < sum("cpu" in c for c in chosen) < 1100
    assert 70 < sum("ptx" in c for c in chosen) < 130
    options.ptx = None
    assert not any("ptx" in kernels.chosen(random.Random(str(k)), options) for k in range(200))


def test_random_plans_are_legal_and_made_again_by_their_seed() -> None:
    text = "f { x = f32[64,96] parameter(0) ROOT y = f32[96,64] transpose(x), dimensions={1,0} }"
    entry, device = ix.hlo.parse(text).entry, kernels.FilledHost()
    plans = [kernels.random_plans(str(seed), device)(entry) for seed in range(20)]
    assert plans[:2] == [kernels.random_plans(str(seed), device)(entry) for seed in range(2)]
    assert len({str(plan) for plan in plans}) > 5
    assert all(ix.emit(entry, dialect="c", **plan).source for plan in plans)


def test_arrays_are_the_same_bit_for_bit_or_within_a_tolerance() -> None:
    def differ(a: object, b: object, tolerance: Tolerance = EXACT, kind: str = "f32") -> bool:
        return difference(np.array([a], dtype(kind)), np.array([b], dtype(kind)), tolerance) is not None

    above = np.nextafter(np.float32(1), np.float32(2))
    assert not differ(np.nan, -np.nan) and not differ(np.inf, np.inf)
    assert differ(0.0, -0.0) and not differ(0.0, -0.0, Tolerance(1))
    assert differ(1, above) and not differ(1, above, Tolerance(1)) and differ(np.nan, 1, Tolerance(1))
    assert differ(1, 2, Tolerance(9), "s32") and not differ(7, 7, kind="u4")
    assert differ(1 + 1j, 1 - 1j, Tolerance(9), "c64") and not differ(complex(1, above), 1 + 1j, Tolerance(1), "c64")
    assert difference(np.zeros(2, np.float32), np.zeros(3, np.float32), EXACT) is not None
    assert flushed(np.array([1e-40, -1e-40, 1.2e-38, 1e-37, 1], np.float32)).tolist() == [0, 0, 0, np.float32(1e-37), 1]


def test_data_of_every_type_has_its_type_and_sizes() -> None:
    rng = np.random.default_rng(0)
    for kind in ALL:
        for sizes in ((), (0, 2), (3, 2)):
            actual = random_array(kind, sizes, ANY, rng)
            assert actual.dtype == dtype(kind) and actual.shape == sizes


def test_the_oracle_leaves_the_jax_of_other_tests_alone() -> None:
    """With 64 bits, programs of other tests in this process would have other constants, and so other kernels."""
    assert "JAX_ENABLE_X64" not in os.environ and not jax.config.jax_enable_x64


def test_a_device_is_excused_within_what_it_rounds() -> None:
    shape = Array("f64", (1,))
    actual = [Instruction("x", shape, "parameter"), Instruction("r", shape, "rsqrt", ("x",))]
    program, theirs = Program(actual, {"x": ANY}, {"r": EXACT}), np.array([1.25])
    for device, by, is_known in (
        ("ptx", 2.0**-21, True),
        ("cpu", 2.0**-21, False),
        ("", 2.0**-21, False),
        ("ptx", 2.0**-17, False),
    ):
        assert deviations.known(program, "r", theirs + by, theirs, EXACT, device) == is_known


def test_known_deviations_are_documented() -> None:
    text = DOCUMENT.read_text()
    for line in deviations.DEVIATIONS:
        assert f"| {line.name} | {line.reason} |" in text
    for name, reason in deviations.AVOIDED.items():
        assert f"| {name} | {reason} |" in text
    assert set(generate.LEFT_OUT.values()) - {"every program has some"} <= {line[2:] for line in text.splitlines()}
