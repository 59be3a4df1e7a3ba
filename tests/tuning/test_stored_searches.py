"""A second call of `tune`: looked up by the program's text, so that nothing is planned, emitted, predicted or measured."""

import pickle
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

import indexing as ix
from fusion_texts import PROGRAM
from indexing.device.table import CPU
from indexing.executable.devices import device_of_dialect
from indexing.executable.tuned_plans import fusion_key
from indexing.runtime.cuda import CudaDevice
from indexing.runtime.identity import device_identity, processor_identity
from indexing.runtime.plan_store import Measured, Store, plan_text
from indexing.tuning import stored_searches
from indexing.tuning.conditions import Conditions
from indexing.tuning.stored_searches import Request, stored_answers
from indexing.tuning.trials import Tuning, TuningTarget

FUSION = "ENTRY f { p = f32[40,25] parameter(0) ROOT n = f32[40,25] negate(p) }"


@pytest.fixture(autouse=True)
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "tuning.sqlite"
    monkeypatch.setenv("INDEXING_TUNE_STORE", str(path))
    return path


def no_search(*given: object) -> list[Tuning]:
    raise AssertionError("this is no second call")


@pytest.mark.parametrize("text", [FUSION, PROGRAM])
def test_a_fresh_process_loads_no_emitter_and_no_numpy(text: str) -> None:
    def asked(subject: str) -> str:
        code = (
            f"import sys, indexing as ix; m = ix.hlo.parse({text!r})\n"
            f"trials = ix.tune({subject}, 2, device='cpu', warm=True)\n"
            "print(trials, [m for m in sys.modules if m in ('numpy', 'indexing.kernels', 'indexing.ops', 'optuna')])"
        )
        return subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout

    for subject, here in (("m", ix.hlo.parse(text)), ("[*m.computations.values()][0]", first(text))):
        trials = ix.tune(here, budget=2, device="cpu", warm=True)
        assert asked(subject) == f"{trials} []\n"


def first(text: str) -> ix.hlo.Computation:
    return next(iter(ix.hlo.parse(text).computations.values()))


def test_all_is_there_as_after_the_search(monkeypatch: pytest.MonkeyPatch) -> None:
    before = ix.tune(ix.hlo.parse(PROGRAM), budget=2, device="cpu", warm=True)
    monkeypatch.setattr("indexing.tuning.fusion_search.searches", no_search)
    after = ix.tune(ix.hlo.parse(PROGRAM), budget=2, device="cpu", warm=True)
    assert after == before and [t.emitter for t in after] == ["loop", "transpose"]
    for t in after:
        assert t.computation.name == t.name and t.space.emitter == t.emitter and t.space.names == t.knobs
        assert t.key == fusion_key(t.computation, t.device, device_of_dialect("c"))
        assert ix.emit(t.computation, "c", **t.best).emitter == t.emitter
        assert pickle.loads(pickle.dumps(t)) == t


def test_fusions_and_programs_of_one_text_are_told_apart() -> None:
    """A fusion of two computations, of which a program makes one kernel."""
    module = ix.hlo.parse(PROGRAM)
    fusions = [i for i in module.entry.instructions.values() if i.is_fusion]
    names = [ix.tune(i, budget=1, device="cpu", warm=True).name for i in (*fusions, *fusions)]
    assert names == ["twice", "turned"] * 2
    assert [t.name for t in ix.tune(module, budget=1, device="cpu", warm=True)] == ["twice", "turned"]


@pytest.mark.parametrize(
    "changed", [{"budget": 3}, {"seed": 2}, {"sampler": "grid"}, {"device": CPU.with_memory(bandwidth=1e9)}], ids=str
)
def test_another_request_is_another_search(changed: dict[str, object], monkeypatch: pytest.MonkeyPatch) -> None:
    given: dict[str, object] = {"budget": 2, "seed": 1, "device": "cpu", "warm": True}
    ix.tune(ix.hlo.parse(FUSION).entry, **given)  # type: ignore[call-overload]
    monkeypatch.setattr("indexing.tuning.fusion_search.searches", no_search)
    ix.tune(ix.hlo.parse(FUSION).entry, **given)  # type: ignore[call-overload]
    with pytest.raises(AssertionError, match="no second call"):
        ix.tune(ix.hlo.parse(FUSION).entry, **{**given, **changed})  # type: ignore[call-overload]


def test_what_the_answer_depends_on_is_part_of_its_key(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tuning,) = ix.tune(ix.hlo.parse(FUSION), budget=1, device="cpu", warm=True)
    request = Request("predicted", 1, None, tuning.device, Conditions(warm=True))

    def answers(text: str = FUSION, identity: str = processor_identity()) -> list[Tuning] | None:
        return stored_answers(
            Store(store), TuningTarget(ix.hlo.parse(text).entry, False, tuning.device), identity, request
        )

    assert answers() == [tuning]
    assert answers(text=FUSION.replace("negate", "abs")) is None
    assert answers(identity="another processor") is None
    monkeypatch.setattr(stored_searches, "_package_version", lambda: "other files")
    assert answers() is None


def test_a_plan_that_ended_its_process_is_told_as_before(store: Path) -> None:
    computation = ix.hlo.parse(FUSION).entry
    space = ix.knobs(computation, "c")
    key = fusion_key(computation, CPU, device_of_dialect("c"))
    Store(store).put(key, plan_text(space.default), Measured("started", 2))
    trials = ix.tune(computation, budget=2, device="cpu")
    assert [t.measured.state for t in trials.trials] == ["failed", "measured"]
    assert ix.tune(computation, budget=2, device="cpu") == trials


def test_a_store_of_an_older_version_is_left_as_it_is(store: Path) -> None:
    with sqlite3.connect(store) as connection:
        connection.execute("PRAGMA user_version = 2")
    connection.close()
    before = store.read_bytes()
    with pytest.raises(ix.IndexingError, match=r"is of version 2, and this package reads 4: .*move it away"):
        ix.tune(ix.hlo.parse(FUSION).entry, budget=2, device="cpu", warm=True)
    assert store.read_bytes() == before


def test_gpus_of_one_architecture_are_told_apart() -> None:
    class Gpu(CudaDevice):
        arch, product = "sm_90", ""

        def __init__(self, product: str) -> None:
            self.product = product

    names = {device_identity(Gpu(p)) for p in ("NVIDIA H100 80GB HBM3", "NVIDIA H200")}
    assert len(names) == 2 and device_identity(device_of_dialect("c")) == processor_identity()
