"""`indexing tune`: the table of trials, the best plan, the store, and what is said where something isn't there."""

import json
import re
from pathlib import Path

import pytest

import indexing as ix
from fusion_texts import PROGRAM
from indexing.cli import main
from indexing.runtime.plan_store import Store
from indexing.tuning.measurement import Benchmark, Timing


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = tmp_path / "program.hlo"
    path.write_text(PROGRAM)
    return str(path)


def tuned(capsys: pytest.CaptureFixture[str], file: str, *more: str, status: int = 0) -> str:
    store = str(Path(file).with_name("plans.sqlite"))
    assert main(["tune", file, "--device", "cpu", "--store", store, "--budget", "3", "--warm", *more]) == status
    out, err = capsys.readouterr()
    assert err == ""
    return out


def test_all_kernels_of_a_program(capsys: pytest.CaptureFixture[str], file: str) -> None:
    answer = json.loads(tuned(capsys, file, "--json", "--seed", "5"))
    assert answer["store"] == str(Path(file).with_name("plans.sqlite")) and Path(answer["store"]).exists()
    assert [k["emitter"] for k in answer["kernels"]] == ["loop", "transpose"]
    for kernel in answer["kernels"]:
        times = {json.dumps(t["plan"]): t["seconds"] for t in kernel["trials"]}
        assert len(times) == 3 and json.dumps(kernel["best"]) in times and kernel["device"] == "CPU"
        gain = kernel["gain"]
        assert gain["low"] <= gain["median"] <= gain["high"]
        assert (gain["low"] >= 1.02) == (kernel["best"] != kernel["trials"][0]["plan"])
    assert json.loads(tuned(capsys, file, "--json", "--seed", "5")) == answer
    other = json.loads(tuned(capsys, file, "--json", "--seed", "6"))
    assert [t["plan"] for t in other["kernels"][0]["trials"]] != [t["plan"] for t in answer["kernels"][0]["trials"]]


def test_one_fusion_as_a_table(capsys: pytest.CaptureFixture[str], file: str) -> None:
    lines = tuned(capsys, file, "--fusion", "g").splitlines()
    assert lines[0] == "turned: transpose, 3 plans tried" and len(lines) == 7
    assert lines[1].split() == ["tile", "block_size", "predicted", "us", "measured", "us", "spread", "us", "problem"]
    best = re.match(r"  best: tile=(\d+) block_size=(\d+), (\d|the default)", lines[5])
    assert best is not None
    assert lines[6].startswith("kept in ") and "plans.sqlite" in lines[6]
    fusion = ix.hlo.load(file).entry.instructions["g"]
    key = ix.tune(fusion, 3, 0, "cpu", store=Path(file).with_name("plans.sqlite"), warm=True).key
    kept = Store(Path(file).with_name("plans.sqlite")).best(key)
    assert kept == {"tile": int(best[1]), "block_size": int(best[2])}


def test_what_can_not_be_measured_is_told(
    capsys: pytest.CaptureFixture[str], file: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def none_left(self: Benchmark, kernel: object) -> Timing:
        raise MemoryError("64 GiB")

    monkeypatch.setattr(Benchmark, "timing", none_left)
    out = tuned(capsys, file, "--fusion", "f", status=1)
    assert out.count("failed: 64 GiB") == 3 and "  no plan could be measured: 64 GiB\n" in out
    (kernel,) = json.loads(tuned(capsys, file, "--fusion", "f", "--json", status=1))["kernels"]
    assert kernel["best"] is None and [t["state"] for t in kernel["trials"]] == ["failed"] * 3


def refused(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(["tune", *arguments]) == 1
    out, err = capsys.readouterr()
    assert out == "" and "Traceback" not in err
    return err


def test_what_is_not_there(
    capsys: pytest.CaptureFixture[str], file: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def no_driver(self: object, ordinal: int) -> None:
        raise ix.IndexingError("GPU 0 can't be used: no driver")

    monkeypatch.setattr("indexing.runtime.cuda.CudaDevice._open", no_driver)
    assert "GPU 0 can't be used: no driver" in refused(capsys, file, "--device", "l4")
    assert "budget is a number of plans, at least 1" in refused(capsys, file, "--budget", "0", "--device", "cpu")
    assert "no instruction h" in refused(capsys, file, "--fusion", "h")
    with pytest.raises(SystemExit) as leaving:
        main(["tune", file, "--device", "abacus"])
    assert leaving.value.code == 2 and "there is no device 'abacus'" in capsys.readouterr().err
    single = tmp_path / "nothing.hlo"
    single.write_text("ENTRY e { ROOT p = f32[4] parameter(0) }")
    assert "no kernel of the program has a choice to make" in refused(capsys, str(single), "--device", "cpu")
    broken = tmp_path / "broken.sqlite"
    broken.write_bytes(b"no database, certainly not" * 100)
    assert "move it away to begin a new one" in refused(capsys, file, "--device", "cpu", "--store", str(broken))


def test_progress_is_told(file: str, tmp_path: Path) -> None:
    said: list[tuple[int, int]] = []
    ix.tune(
        ix.hlo.load(file), 2, 0, "cpu", store=tmp_path / "s", progress=lambda done, total: said.append((done, total))
    )
    assert said == [(1, 4), (2, 4), (3, 4), (4, 4)]
