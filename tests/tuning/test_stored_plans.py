"""Stored plans: queries, JSON that reads back, and merging of stores."""

import json
from math import inf
from pathlib import Path

import pytest

import indexing as ix
from indexing.cli import main
from indexing.runtime.plan_store import NO_GAIN, FusionRow, Gain, Measured, Store

DEFAULT, WIDE, SMALL = '{"block_size": 256}', '{"block_size": 512}', '{"block_size": 32}'
CERTAIN = Gain(1.5, 1.4, 1.6)


def store_of(path: Path, name: str = "softmax", gain: Gain | None = CERTAIN) -> Store:
    store = Store(path)
    store.put_fusion(FusionRow("k1", name, "loop", "NVIDIA L4", "0.1"))
    store.put("k1", WIDE, Measured("measured", 1, 2e-6, 1e-8))
    store.put("k1", DEFAULT, Measured("measured", 1, 3e-6, 1e-8, gain=NO_GAIN))
    if gain is not None:
        store.put("k1", WIDE, Measured("measured", 1, 2e-6, 1e-8, gain=gain))
    store.put("k1", SMALL, Measured("failed", 1, detail="too many registers"), "warm")
    return store


def test_all_plans_of_a_fusion(tmp_path: Path) -> None:
    path = store_of(tmp_path / "a").path
    (fusion,) = ix.stored_plans(path)
    assert (fusion.key, fusion.name, fusion.emitter, fusion.device) == ("k1", "softmax", "loop", "NVIDIA L4")
    assert fusion.best == {"block_size": 512}
    assert [(p.plan["block_size"], p.conditions, p.measured.state) for p in fusion.plans] == [
        (256, "", "measured"),
        (512, "", "measured"),
        (32, "warm", "failed"),
    ]
    lines = str(ix.stored_plans(path)).splitlines()
    assert [line.split() for line in lines[1:]] == [["softmax", "loop", "NVIDIA", "L4", "3", "block_size=512", "1.50"]]


def test_queries(tmp_path: Path) -> None:
    path = store_of(tmp_path / "a").path
    Store(path).put_fusion(FusionRow("k2", "Layer_norm", "rows", "CPU", "0.1"))
    assert [f.name for f in ix.stored_plans(path, name="NORM")] == ["Layer_norm"]
    assert [f.name for f in ix.stored_plans(path, device="l4")] == ["softmax"]
    assert len(ix.stored_plans(path)) == 2 and len(ix.stored_plans(path, "of nothing")) == 0
    with pytest.raises(ix.IndexingError, match=r"there is no store .*not there; `tune` and `merge_into` make one"):
        ix.stored_plans(tmp_path / "not there")


def test_a_named_store_that_is_not_there_is_no_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INDEXING_TUNE_STORE", str(tmp_path / "gone"))
    says = r"there is no store \S*gone \(INDEXING_TUNE_STORE\); `tune` and `merge_into` make one"
    for call in (ix.stored_plans, lambda: ix.compile("ENTRY e { ROOT x = f32[4] parameter(0) }", "cpu", tuned=True)):
        with pytest.raises(ix.IndexingError, match=says):
            call()
    monkeypatch.delenv("INDEXING_TUNE_STORE")
    monkeypatch.setattr("indexing.runtime.plan_store.user_data_path", lambda *_, **__: tmp_path / "of the user")
    assert len(ix.stored_plans()) == 0, "whoever tuned nothing yet has an empty store"


@pytest.mark.parametrize("gain", [CERTAIN, Gain(inf, inf, inf), None], ids=str)
def test_json_reads_back_in_another_store(tmp_path: Path, gain: Gain | None) -> None:
    before = ix.stored_plans(store_of(tmp_path / "a", gain=gain).path)
    text = before.to_json()
    json.loads(text, parse_constant=pytest.fail)
    read = ix.StoredPlans.from_json(text)
    assert read == before
    assert read.merge_into(tmp_path / "b") == 3 and ix.stored_plans(tmp_path / "b") == before
    assert read.merge_into(tmp_path / "b") == 0 and ix.stored_plans(tmp_path / "b") == before


def test_what_a_store_has_measured_stays(tmp_path: Path) -> None:
    ours = Store(tmp_path / "ours")
    ours.put_fusion(FusionRow("k1", "softmax", "loop", "NVIDIA L4", "0.1"))
    ours.put("k1", DEFAULT, Measured("measured", 1, 9e-6, 1e-8, gain=NO_GAIN))
    ours.put("k1", SMALL, Measured("started", 1), "warm")
    theirs = ix.stored_plans(store_of(tmp_path / "theirs").path)
    assert theirs.merge_into(ours.path) == 2
    assert ours.best("k1") == {"block_size": 256} and ours.plans("k1")[DEFAULT].seconds == 9e-6
    assert ours.plans("k1")[WIDE] == Measured("measured", 1, 2e-6, 1e-8)
    assert ours.plans("k1", "warm")[SMALL].state == "failed"


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ("", "these are no stored plans: Expecting value"),
        ("[" * 5000 + "]" * 5000, "these are no stored plans: maximum recursion depth"),
        ("[]", 'expected a JSON object with "format"'),
        ('{"format": "indexing plans 1"}', "the object has no 'fusions'"),
        ('{"format": "indexing plans 1", "fusions": 3}', "the object.fusions is no list"),
        ('{"format": "indexing plans 1", "fusions": [7]}', r"fusions\[0\] has no 'key'"),
    ],
)
def test_other_texts_are_refused(changed: str, says: str) -> None:
    with pytest.raises(ix.IndexingError, match=says):
        ix.StoredPlans.from_json(changed)


@pytest.mark.parametrize(
    ("field", "value", "says"),
    [
        ("plan", {"block_size": "x"}, r"fusions\[0\].plans\[0\] is no measurement"),
        ("state", "done", r"plans\[0\] is no measurement"),
        ("attempts", None, r"plans\[0\] is no measurement"),
        ("seconds", "fast", r"plans\[0\] is no measurement"),
        ("detail", 3, r"plans\[0\].detail is no text"),
        ("gain", {"median": 1, "low": 1}, r"plans\[0\].gain has no 'high'"),
        ("gain", {"median": 1, "low": 1, "high": "?"}, r"plans\[0\].gain is no gain"),
    ],
)
def test_damaged_plans_are_refused(tmp_path: Path, field: str, value: object, says: str) -> None:
    data = json.loads(ix.stored_plans(store_of(tmp_path / "a").path).to_json())
    data["fusions"][0]["plans"][0][field] = value
    with pytest.raises(ix.IndexingError, match=says):
        ix.StoredPlans.from_json(json.dumps(data))


def test_the_command_lists_exports_and_merges(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    a, b, out = (str(tmp_path / n) for n in ("a", "b", "plans.json"))
    before = ix.stored_plans(store_of(Path(a)).path)
    assert main(["plans", "--store", a, "--json"]) == 0
    Path(out).write_text(capsys.readouterr().out)
    assert ix.StoredPlans.from_json(Path(out).read_text()) == before
    assert main(["plans", "--store", b, "--merge", out, "--merge", a]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[:2] == [f"{out}: 3 plans added", f"{a}: 0 plans added"]
    assert lines[-1] == f"1 fusion in {b}" and "block_size=512" in lines[3]
    assert main(["plans", "--store", a, "--name", "nothing"]) == 0
    assert capsys.readouterr().out == f"0 fusions in {a}\n"
    assert main(["plans", "--store", b, "--merge", str(tmp_path / "none")]) == 1
    assert "can't be read: No such file" in capsys.readouterr().err
    missing = str(tmp_path / "misspelled")
    assert main(["plans", "--store", missing]) == 1
    assert (
        f"{missing}: there is no such store; --merge, and `indexing tune --store`, make one" in capsys.readouterr().err
    )
    Path(out).write_text("{}")
    assert main(["plans", "--store", b, "--merge", out]) == 1
    assert "these are no stored plans" in capsys.readouterr().err
