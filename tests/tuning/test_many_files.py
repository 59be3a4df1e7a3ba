"""Many programs by several processes: every file once, broken ones as rows with their error, runs that go on."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

import indexing as ix
from indexing.cli import main
from indexing.tuning import many_files
from indexing.tuning.many_files import analyze_files

parquet = pytest.importorskip("pyarrow.parquet")

PROGRAM = """HloModule m{k}
ENTRY e {{ p = f32[{n},8] parameter(0)
  t = f32[8,{n}] transpose(p), dimensions={{1,0}}
  ROOT n = f32[8,{n}] negate(t) }}"""


@pytest.fixture
def programs(tmp_path: Path) -> Path:
    folder = tmp_path / "programs"
    (folder / "below").mkdir(parents=True)
    for k in range(5):
        (folder / f"{k}.hlo").write_text(PROGRAM.format(k=k, n=64 + k))
    (folder / "below" / "broken.hlo").write_text("HloModule m\nENTRY e { p = f32[4] parametr(0) }")
    return folder


def table(out: Path, kind: str) -> list[dict[str, object]]:
    return list(parquet.read_table(out / kind).to_pylist())


def test_every_file_is_a_row_and_every_fusion(programs: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    steps: list[tuple[int, int]] = []
    failed = analyze_files(programs, out, workers=2, progress=lambda *step: steps.append(step))
    rows = {Path(str(r["file"])).name: r for r in table(out, "programs")}
    assert sorted(rows) == ["0.hlo", "1.hlo", "2.hlo", "3.hlo", "4.hlo", "broken.hlo"]
    assert [Path(r.file).name for r in failed] == ["broken.hlo"]
    assert "parametr" in str(rows["broken.hlo"]["error"]) and rows["broken.hlo"]["program"] is None
    for k in range(5):
        report = ix.analyze(ix.hlo.parse((programs / f"{k}.hlo").read_text()))
        row = rows[f"{k}.hlo"]
        assert (row["fusions"], row["must_move"], row["will_move"]) == (2, report.must_move, report.will_move)
        assert row["program"] == f"m{k}" and row["instructions"] == 3 and row["error"] is None
    fusions = table(out, "fusions")
    assert len(fusions) == 10 and {f["opcode"] for f in fusions} == {"transpose", "negate"}
    assert steps == [(0, 6), (6, 6)]


def test_what_is_there_is_not_done_again(programs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(many_files, "CHUNK", 2)
    out = tmp_path / "out"
    analyze_files(programs, out)
    before = {f: f.stat().st_mtime_ns for f in out.rglob("*.parquet")}
    steps: list[tuple[int, int]] = []
    assert analyze_files(programs, out, progress=lambda *step: steps.append(step)) == []
    assert {f: f.stat().st_mtime_ns for f in out.rglob("*.parquet")} == before and steps == [(6, 6)]
    (sorted((out / "programs").iterdir())[0]).unlink()  # as if the run had ended there
    analyze_files(programs, out, progress=lambda *step: steps.append(step))
    assert steps[1:] == [(4, 6), (6, 6)] and len(table(out, "programs")) == 6 and len(table(out, "fusions")) == 10


def test_a_process_that_dies_loses_nothing(programs: Path, tmp_path: Path) -> None:
    """One file kills whoever reads it; the others of its chunk are done all the same."""
    script = tmp_path / "run.py"
    script.write_text(
        "import os, signal\nfrom pathlib import Path\nfrom indexing.tuning import many_files\n"
        "load = many_files.load\n"
        "def deadly(file):\n    if file.endswith('3.hlo'):\n        os.kill(os.getpid(), signal.SIGKILL)\n    return load(file)\n"
        "many_files.load = deadly\n"
        f"if __name__ == '__main__':\n    many_files.analyze_files(Path({str(programs)!r}), Path({str(tmp_path / 'out')!r}), 2)\n"
    )
    subprocess.run([sys.executable, script], check=True, timeout=120)
    rows = {Path(str(r["file"])).name: r for r in table(tmp_path / "out", "programs")}
    assert len(rows) == 6 and "its process ended" in str(rows["3.hlo"]["error"])
    assert sum(r["error"] is None for r in rows.values()) == 4
    assert analyze_files(programs, tmp_path / "out") == [] and len(table(tmp_path / "out", "programs")) == 6


def test_the_command(programs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out"
    assert main(["analyze", str(programs), "--out", str(out), "--workers", "1"]) == 0
    assert capsys.readouterr().out.startswith("6 files, of which 1 gave an error")
    assert main(["analyze", str(programs), "--out", str(out), "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"out": str(out), "files": 6, "errors": {}}
    assert main(["analyze", str(programs / "0.hlo"), "--out", str(out)]) == 1
    assert "is no folder" in capsys.readouterr().err
    assert main(["analyze", str(tmp_path / "out" / "fusions"), "--out", str(programs / "0.hlo")]) == 1
    assert "can't be made" in capsys.readouterr().err
    (tmp_path / "empty").mkdir()
    assert main(["analyze", str(tmp_path / "empty"), "--out", str(out)]) == 1
    assert "there are no files below" in capsys.readouterr().err
