"""Searches on the CPU: right results, the same trials for a seed, and a store that survives what happens to it."""

import math
import os
import re
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Hashable, Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest

import indexing as ix
from fusion_texts import FUSIONS, fusion
from indexing.device.table import CPU
from indexing.executable.devices import device_of_dialect
from indexing.executable.tuned_plans import fusion_key, tuned_plan
from indexing.kernels import emit_fused
from indexing.kernels.kernel import Kernel
from indexing.runtime.device import Buffer, Clock, CompilableKernel
from indexing.runtime.host import Host
from indexing.runtime.host_memory import address
from indexing.runtime.plan_store import NO_GAIN, Gain, Measured, Store, plan_text
from indexing.tuning.bench import Begin, LocalBench
from indexing.tuning.conditions import Conditions
from indexing.tuning.fusion_search import FusionSearch
from indexing.tuning.measurement import ROTATED_BYTES, SAMPLE, Benchmark, difference
from indexing.tuning.search import candidates, promising_plans, proposals
from indexing.tuning.stored_searches import Request
from indexing.tuning.trials import TuningTarget

LOOP = "ENTRY f { p = f32[40,25] parameter(0)\n ROOT n = f32[40,25] negate(p) }"


@pytest.fixture(autouse=True)
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "tuning.sqlite"
    monkeypatch.setenv("INDEXING_TUNE_STORE", str(path))
    return path


def plans(actual: ix.Tuning) -> list[dict[str, int]]:
    return [t.plan for t in actual.trials]


@pytest.mark.parametrize("name", ["transpose", "row reduction", "sorted scatter", "update"])
def test_a_search_finds_a_plan_and_keeps_it(name: str) -> None:
    trials = ix.tune(fusion(name), budget=3, device="cpu")
    assert [t.measured.state for t in trials.trials] == ["measured"] * 3
    assert plans(trials)[0] == trials.space.default and trials.space.allows({n: [v] for n, v in trials.best.items()})[0]
    assert trials.gain == NO_GAIN or trials.gain.low >= 1.02
    again = ix.tune(fusion(name), budget=3, device="cpu")
    assert again.trials == trials.trials and again.key == trials.key
    assert [list(t.plan) for t in again.trials] == [list(t.plan) for t in trials.trials]
    assert tuned_plan(fusion(name), device_of_dialect("c")) == trials.best


def test_plans_are_found_under_other_names() -> None:
    trials = ix.tune(ix.hlo.parse(LOOP), budget=2, device="cpu")[0]
    renamed = ix.hlo.parse(re.sub(r"\b(f|p|n)\b", r"other.\1", LOOP))
    assert str(renamed) != str(ix.hlo.parse(LOOP))
    assert tuned_plan(renamed.entry, device_of_dialect("c")) == trials.best


def test_compile_takes_what_was_measured(store: Path) -> None:
    module = ix.hlo.parse(LOOP)
    (trials,) = ix.tune(module, budget=2, device="cpu")
    plan = {"block_size": 64, "vector_width": 1, "max_blocks": 2}
    Store(store).put(trials.key, plan_text(plan), Measured("measured", 1, 1e-12, 0.0, gain=Gain(2, 2, 2)))
    tuned = (lambda: ix.compile(module, "cpu", tuned=True))()
    plain = (lambda: ix.compile(module, "cpu"))()
    assert tuned.kernels[0].block == (64, 1, 1) and plain.kernels[0].block != (64, 1, 1)
    data = np.arange(1000, dtype=np.float32).reshape(40, 25)
    assert (tuned(data) == -data).all() and (plain(data) == tuned(data)).all()


def test_the_same_trials_from_one_seed() -> None:
    space = ix.knobs(fusion("row reduction"), "c")
    ranked = promising_plans(ix.predict(fusion("row reduction"), device="cpu"))

    def trials(sampler: str, seed: int) -> list[dict[str, int]]:
        return list(proposals(space, ranked, sampler, seed, 12, lambda plan: float(plan["threads"]), plan_text))

    for sampler in ("predicted", "grid", "random", "tpe"):
        if sampler in ("random", "tpe"):
            pytest.importorskip("optuna")
        actual = trials(sampler, 1)
        assert actual == trials(sampler, 1) and actual[0] == space.default
        assert len({plan_text(p) for p in actual}) == len(actual) > 3
        assert space.allows({n: [p[n] for p in actual] for n in space.names}).all()
    assert trials("predicted", 1) != trials("predicted", 2)


def test_a_sampler_that_is_not_installed_leaves_the_store_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "optuna", None)
    transpose = ix.hlo.parse("ENTRY f { p = f32[8,4] parameter(0) ROOT t = f32[4,8] transpose(p), dimensions={1,0} }")
    for sampler in ("random", "tpe"):
        with pytest.raises(ix.IndexingError, match=f"the sampler '{sampler}' needs the tune extra"):
            ix.tune(transpose, 2, device="cpu", sampler=sampler, store=tmp_path / "a")
        assert not (tmp_path / "a").exists()
    space = ix.knobs(transpose, "c")
    assert len(list(proposals(space, [], "grid", 0, 3, lambda plan: None, plan_text))) == 3


def test_neighbours_of_the_default_are_tried_and_each_kernel_once() -> None:
    space = ix.knobs(ix.hlo.parse(LOOP).entry, "c")
    ranked = list(reversed(list(space.plans())))  # the default is far from what is predicted to be best

    def tried(kernel: Callable[[dict[str, int]], Hashable]) -> list[dict[str, int]]:
        return list(proposals(space, ranked, "predicted", 1, 10, lambda plan: None, kernel))

    default, best, _, near, second, *_ = tried(plan_text)
    assert default == space.default and [best, second] == ranked[:2]
    (changed,) = (n for n in space.names if near[n] != default[n])
    choices = sorted({p[changed] for p in ranked})
    assert abs(choices.index(near[changed]) - choices.index(default[changed])) == 1
    widths = [p["vector_width"] for p in tried(lambda plan: plan["vector_width"])]
    assert sorted(widths) == [1, 2, 4, 8, 16]


def test_of_a_large_grid_what_is_near_the_default_and_random_plans_are_candidates() -> None:
    space = ix.knobs(ix.hlo.parse(LOOP).entry, "c")
    grid = [plan_text(p) for p in space.plans()]

    def chosen(most: int, seed: int) -> list[str]:
        columns = candidates(space, most, seed)
        assert space.allows(columns).all()
        return [plan_text({n: int(c[k]) for n, c in columns.items()}) for k in range(len(columns["block_size"]))]

    assert chosen(len(grid), 0) == grid
    few = chosen(20, 1)
    assert len(set(few)) == 20 and set(few) <= set(grid) and few[0] == plan_text(space.default)
    assert few == chosen(20, 1) and few[:10] == chosen(20, 2)[:10] and few[10:] != chosen(20, 2)[10:]


class ScriptedDevice(Host):
    """A processor whose clock says that a call takes a third of a sample, and that records which arguments each call takes."""

    def __init__(self) -> None:
        super().__init__()
        self.launched: list[int] = []

    def clock(self, kernel: CompilableKernel, sets: Sequence[Sequence[Buffer]]) -> Clock:
        assert len(sets) == 5 and len({address(b.handle) for buffers in sets for b in buffers}) == 10

        def seconds(first: int, calls: int) -> float:
            self.launched.extend(k % len(sets) for k in range(first, first + calls))
            return SAMPLE / 3 * calls

        return seconds


def test_samples_go_through_all_copies_of_the_arguments() -> None:
    side = math.isqrt(ROTATED_BYTES // (5 * 2 * 4)) + 1  # five copies of two arrays of f32 exceed the caches
    computation = ix.hlo.parse(LOOP.replace("40,25", f"{side},{side}")).entry
    device = ScriptedDevice()
    benchmark = Benchmark(computation, device, Conditions())
    timing = benchmark.timing(ix.emit(computation, "c"))
    assert timing.seconds == pytest.approx(SAMPLE / 3) and timing.spread == pytest.approx(0)
    assert device.launched == [k % 5 for k in range(10 + 9 * 3)]
    device.launched.clear()
    benchmark.samples([ix.emit(computation, "c", block_size=b) for b in (32, 64)], 3, 9)
    assert device.launched == [(10 + 9 * 3 + k) % 5 for k in range(2 * (10 + 9 * 3))]


class ScriptedBench(LocalBench):
    """Plans whose samples take `factor` of the default's time; records how many plans each comparison had."""

    def __init__(self, computation: ix.hlo.Computation, factor: float) -> None:
        super().__init__(computation, device_of_dialect("c"), CPU, Conditions())
        self.factor = factor
        self.compared: list[int] = []

    def outcomes(self, plans: Sequence[dict[str, int]], begin: Begin) -> Iterator[tuple[dict[str, int], Measured]]:
        for plan in plans:
            begin(plan)
            yield plan, Measured("measured", 1, self.factor, 0.0)

    def samples(self, plans: Sequence[dict[str, int]]) -> list[list[float]]:
        self.compared.append(len(plans))
        noise = [1.0, 1.3, 1.1, 1.2, 1.0, 1.1, 1.0, 1.2, 1.1]
        return [[n * (self.factor if k else 1.0) for n in noise] for k in range(len(plans))]


def searched(bench: LocalBench, budget: int) -> ix.Tuning:
    """The search of `tune`, whose plans a bench of the test measures."""
    request = Request("predicted", budget, None, bench.planned_for, Conditions())
    search = FusionSearch(bench.computation, request, bench, Store(None), lambda done: None)
    return search.run(TuningTarget(bench.computation, True, bench.planned_for), 0)


def test_the_fastest_are_compared_in_turns_with_the_default() -> None:
    bench = ScriptedBench(fusion("row reduction"), 0.5)
    trials = searched(bench, budget=6)
    assert bench.compared == [4, 2] and trials.gain == Gain(2.0, 2.0, 2.0)
    assert trials.best != trials.space.default and trials.trials[0].measured.gain == NO_GAIN
    assert searched(bench, budget=6).trials == trials.trials and bench.compared == [4, 2]
    assert tuned_plan(fusion("row reduction"), device_of_dialect("c")) == trials.best


@pytest.mark.parametrize("factor", [1.0, 1.5, 0.99])
def test_a_plan_that_is_not_certainly_faster_is_not_kept(factor: float) -> None:
    trials = searched(ScriptedBench(fusion("row reduction"), factor), budget=6)
    assert trials.best == trials.space.default == tuned_plan(fusion("row reduction"), device_of_dialect("c"))
    assert trials.gain == NO_GAIN


def test_a_later_search_takes_back_a_gain_that_does_not_hold() -> None:
    assert searched(ScriptedBench(fusion("row reduction"), 0.5), budget=6).gain.median == 2
    trials = searched(ScriptedBench(fusion("row reduction"), 1.0), budget=5)
    assert (
        trials.gain == NO_GAIN and tuned_plan(fusion("row reduction"), device_of_dialect("c")) == trials.space.default
    )


def test_other_conditions_are_other_measurements(store: Path) -> None:
    computation = ix.hlo.parse(LOOP).entry
    data = [np.full((40, 25), 3, np.float32)]
    cold = ix.tune(computation, budget=2, device="cpu")
    warm = ix.tune(computation, budget=2, device="cpu", warm=True)
    own = ix.tune(computation, budget=2, device="cpu", inputs=data)
    assert cold.key == warm.key == own.key
    keys = {conditions: None for conditions, _, _ in Store(store).trials(cold.key)}
    assert list(keys) == ["", "warm", Conditions(inputs=tuple(data)).key]
    assert all(len(Store(store).plans(cold.key, k)) == 2 for k in keys)
    with pytest.raises(ix.IndexingError, match=r"the parameters of f are float32\[40, 25\]; got inputs float32\[3\]"):
        ix.tune(computation, budget=1, device="cpu", inputs=[np.ones(3, np.float32)])
    with pytest.raises(ix.IndexingError, match="inputs are those of one kernel"):
        ix.tune(ix.hlo.parse(LOOP), budget=1, device="cpu", inputs=data)  # type: ignore[call-overload]


@pytest.mark.parametrize("seconds", [-1, -0.5, float("nan")])
def test_times_that_are_none(seconds: float) -> None:
    with pytest.raises(ix.IndexingError, match=f"seconds is a time, at least 0; got {seconds}"):
        ix.tune(ix.hlo.parse(LOOP), seconds=seconds, device="cpu")


def test_no_further_plan_is_tried_when_time_is_over() -> None:
    trials = ix.tune(ix.hlo.parse(LOOP).entry, budget=6, device="cpu", seconds=0)
    assert len(trials.trials) == 1 and trials.best == trials.space.default


def test_the_processor_launches_on_each_copy_in_turn() -> None:
    device, computation = device_of_dialect("c"), ix.hlo.parse(LOOP).entry
    data = [np.full(1000, k, np.float32) for k in range(3)]
    sets = [[device.upload(d), device.upload(np.zeros(1000, np.float32))] for d in data]
    assert device.clock(ix.emit(computation, "c"), sets)(2, 2) > 0  # the third, then the first
    actual = [device.download(s[1], np.dtype(np.float32), (1000,))[0] for s in sets]
    assert actual == [0, 0, -2]
    device.clock(ix.emit(computation, "c"), sets)(1, 1)
    assert device.download(sets[1][1], np.dtype(np.float32), (1000,))[-1] == -1


class OtherKernels(LocalBench):
    """A bench that runs the kernels of another computation."""

    def __init__(self, computation: ix.hlo.Computation, other: ix.hlo.Computation) -> None:
        super().__init__(computation, device_of_dialect("c"), CPU, Conditions())
        self.other = other

    def _kernel(self, plan: dict[str, int]) -> Kernel:
        return emit_fused(self.other, CPU, **plan)


def test_wrong_results_are_never_timed() -> None:
    computation = ix.hlo.parse(LOOP).entry
    benchmark = Benchmark(computation, device_of_dialect("c"), Conditions())
    other = ix.hlo.parse(LOOP.replace("negate", "abs")).entry
    assert benchmark.problem(ix.emit(computation, "c")) == ""
    assert benchmark.problem(ix.emit(other, "c")).startswith("output 0 is wrong by")
    trials = searched(OtherKernels(computation, other), budget=2)
    assert {t.measured.state for t in trials.trials} == {"wrong"}
    with pytest.raises(ix.IndexingError, match=r"no plan of f could be measured: output 0 is wrong"):
        _ = trials.best
    assert tuned_plan(computation, device_of_dialect("c")) == {}


class DeviceWithoutMemory(Host):
    def clock(self, kernel: CompilableKernel, sets: Sequence[Sequence[Buffer]]) -> Clock:
        raise MemoryError("64 GiB")


def test_memory_that_is_not_there_is_a_trial_that_failed() -> None:
    trials = searched(LocalBench(ix.hlo.parse(LOOP).entry, DeviceWithoutMemory(), CPU, Conditions()), budget=2)
    assert [(t.measured.state, t.measured.detail) for t in trials.trials] == [("failed", "64 GiB")] * 2


def test_devices_that_are_not_there(monkeypatch: pytest.MonkeyPatch, store: Path) -> None:
    computation = ix.hlo.parse(LOOP).entry
    monkeypatch.setattr("indexing.runtime.cuda.CudaDevice._open", no_driver)
    with pytest.raises(ix.IndexingError, match="GPU 0 can't be used: no driver"):
        ix.tune(computation, device="H100")
    with pytest.raises(TypeError, match="tune: device is an int; expected"):
        ix.tune(computation, device=0)  # type: ignore[call-overload]
    monkeypatch.setattr("indexing.runtime.host.find_compiler", no_compiler)
    with pytest.raises(ix.CompileError, match="no C compiler"):
        ix.tune(computation, device="cpu")
    assert not store.exists()


def no_driver(self: object, ordinal: int) -> None:
    raise ix.IndexingError("GPU 0 can't be used: no driver")


def no_compiler() -> None:
    raise ix.CompileError("no C compiler")


class InterruptedBench(ScriptedBench):
    """Plans of which the third is interrupted while it is measured."""

    def outcomes(self, plans: Sequence[dict[str, int]], begin: Begin) -> Iterator[tuple[dict[str, int], Measured]]:
        yield from super().outcomes(plans[:2], begin)
        begin(plans[2])
        raise KeyboardInterrupt


def test_ctrl_c_keeps_what_was_measured(store: Path) -> None:
    computation = ix.hlo.parse(LOOP).entry
    with pytest.raises(KeyboardInterrupt):
        searched(InterruptedBench(computation, 1.0), budget=5)
    key = fusion_key(computation, CPU, device_of_dialect("c"))
    kept = {plan for plan, m in Store(store).plans(key).items() if m.state == "measured"}
    assert len(kept) == 2
    trials = ix.tune(computation, budget=5, device="cpu")
    attempts = {plan_text(t.plan): t.measured.attempts for t in trials.trials}
    assert all(attempts[plan] == 1 for plan in kept) and sorted(attempts.values()) == [1, 1, 1, 1, 2]


def test_differences() -> None:
    ones = np.ones(4, np.float32)
    assert difference(ones, ones * np.float32(1.00001), "f32") == ""
    assert "wrong by 0.5" in difference(ones, ones / 2, "f32")
    assert "finite" in difference(ones, np.array([1, 1, np.inf, 1], np.float32), "f32")
    assert difference(np.array([1, 2]), np.array([1, 3]), "s32") == "differs in 1 of 2 elements"
    assert "shape" in difference(ones, np.ones(5, np.float32), "f32")
    nans = np.array([np.nan, 1], np.float32)
    assert difference(nans, nans, "f32") == ""


def test_a_killed_search_goes_on(store: Path, tmp_path: Path) -> None:
    script = tmp_path / "search.py"
    script.write_text(
        "import time, indexing as ix\nfrom indexing.tuning import tuner\n"
        "put = tuner.Store.put\n"
        "def slow(self, *row):\n    put(self, *row)\n    print(row[2].state, flush=True)\n    time.sleep(0.2)\n"
        f"tuner.Store.put = slow\nix.tune(ix.hlo.parse({LOOP!r}).entry, budget=6, device='cpu')\n"
    )
    process = subprocess.Popen([sys.executable, script], stdout=subprocess.PIPE, text=True, env={**os.environ})
    assert process.stdout is not None
    for line in process.stdout:
        if line.startswith("measured"):
            break
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()
    key = fusion_key(ix.hlo.parse(LOOP).entry, CPU, device_of_dialect("c"))
    before = {p: m for p, m in Store(store).plans(key).items() if m.state == "measured"}
    assert before
    trials = ix.tune(ix.hlo.parse(LOOP).entry, budget=6, device="cpu")
    after = {plan_text(t.plan): t.measured for t in trials.trials}
    assert len(after) == 6 and before.keys() <= after.keys()
    assert {m.attempts for m in after.values()} <= {1, 2} and all(after[p].attempts == 1 for p in before)


def test_what_ended_its_process_twice_is_left_out(store: Path) -> None:
    computation = ix.hlo.parse(LOOP).entry
    space = ix.knobs(computation, "c")
    key = fusion_key(computation, CPU, device_of_dialect("c"))
    Store(store).put(key, plan_text(space.default), Measured("started", 2))
    trials = ix.tune(computation, budget=2, device="cpu")
    assert trials.trials[0].measured.state == "failed" and trials.trials[1].measured.state == "measured"


def test_stores_that_can_not_be_used(store: Path) -> None:
    def searched() -> None:
        ix.tune(ix.hlo.parse(LOOP).entry, budget=1, device="cpu")

    store.write_bytes(b"no database, certainly not" * 100)
    with pytest.raises(ix.IndexingError, match=r"can't be read .*move it away"):
        searched()
    assert store.read_bytes().startswith(b"no database")
    store.unlink()
    with sqlite3.connect(store) as connection:
        connection.execute("PRAGMA user_version = 7")
    connection.close()
    with pytest.raises(ix.IndexingError, match=r"is of version 7, and this package reads 4: update"):
        searched()
    store.unlink()
    searched()
    other = sqlite3.connect(store, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    begin = time.monotonic()
    with pytest.raises(ix.IndexingError, match="is locked by another process"):
        Store(store, max_wait=0.05).put("f", "{}", Measured("measured", 1, 1.0, 0.0))
    assert time.monotonic() - begin < 20
    other.close()
    with pytest.raises(
        ix.IndexingError, match=r"can't be used \(.*: (Not a directory|File exists)\): give another file by"
    ):
        Store(store.parent / "tuning.sqlite" / "below").put("f", "{}", Measured("measured", 1))


def test_a_full_disk_loses_nothing(store: Path) -> None:
    kept = Store(store)
    kept.put("f", "{}", Measured("measured", 1, 1.0, 0.0))
    connection = sqlite3.connect(store)
    (pages,) = connection.execute("PRAGMA page_count").fetchone()
    connection.execute(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(sqlite3.OperationalError, match="full") as full:
        connection.execute(
            "INSERT INTO trials VALUES ('g', '', ?, 'wrong', 1, NULL, NULL, '', NULL, NULL, NULL)", ("x" * 100_000,)
        )
    connection.close()
    assert "make room" in kept._problem(full.value)
    assert kept.plans("f") == {"{}": Measured("measured", 1, 1.0, 0.0)}


def test_a_file_that_may_not_grow_keeps_what_it_has(store: Path, tmp_path: Path) -> None:
    script = tmp_path / "full.py"
    script.write_text(
        "import resource, signal\n"
        "from indexing.runtime.plan_store import Measured, Store\n"
        f"store = Store({str(store)!r})\n"
        "store.put('f', '{}', Measured('measured', 1, 1.0, 0.0))\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (store.path.stat().st_size,) * 2)\n"
        "store.put('g', 'x' * 100_000, Measured('measured', 1, 1.0, 0.0))\n"
    )
    done = subprocess.run([sys.executable, script], capture_output=True, text=True)
    assert done.returncode == 1 and "may it grow? what was measured before is kept" in done.stderr.splitlines()[-1]
    assert Store(store).plans("f") == {"{}": Measured("measured", 1, 1.0, 0.0)} and Store(store).plans("g") == {}
    Store(store).put("g", "{}", Measured("measured", 1, 2.0, 0.0, gain=NO_GAIN))
    assert Store(store).best("g") == {}


def test_arguments() -> None:
    computation = ix.hlo.parse(LOOP).entry
    with pytest.raises(ix.IndexingError, match="budget is a number of plans"):
        ix.tune(computation, budget=0)
    with pytest.raises(ix.IndexingError, match="sampler is 'best'; expected one of"):
        ix.tune(computation, sampler="best")  # type: ignore[call-overload]
    with pytest.raises(ix.IndexingError, match="there is no device 'TPU'"):
        ix.tune(computation, device="TPU")


def test_tables_and_pictures(tmp_path: Path) -> None:
    trials = ix.tune(fusion("row reduction"), budget=3, device="cpu")
    lines = trials.table().splitlines()
    assert len(lines) == 4 and lines[0].split()[:3] == ["vector_width", "threads", "split_k"]
    pytest.importorskip("matplotlib")
    trials.plot(tmp_path / "search.svg")
    assert (tmp_path / "search.svg").read_text().count("measured") >= 1


def test_every_fusion_of_the_samples_has_inputs_that_its_kernel_agrees_on() -> None:
    for name in FUSIONS:
        computation = fusion(name)
        assert Benchmark(computation, device_of_dialect("c"), Conditions(3)).problem(ix.emit(computation, "c")) == "", (
            name
        )
