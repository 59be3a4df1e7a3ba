"""Many programs into tables: each is there once, whatever breaks on the way."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import indexing as ix
from indexing.cli import main
from indexing.device.detect import find_device
from indexing.processes import by_processes
from indexing.report.file_rows import FileRows, Source, failed, rows_of_file, sources_in
from indexing.runtime.ray_cluster import _reach

COPY = (
    "HloModule m{0}\nENTRY e {{ p = f32[64,{0}] parameter(0) ROOT t = f32[{0},64] transpose(p), dimensions={{1,0}} }}"
)
DEVICE = find_device("h100")


def programs(folder: Path, count: int) -> Path:
    folder.mkdir()
    for k in range(count):
        (folder / f"m{k:03}.hlo").write_text(COPY.format(k + 1))
    return folder


def table(folder: Path) -> list[dict]:
    return sorted(pq.read_table(folder).to_pylist(), key=lambda row: row["path"])


def test_rows_are_what_analyze_says_and_a_second_run_does_what_is_new(tmp_path: Path) -> None:
    folder = programs(tmp_path / "programs", 3)
    (folder / "broken.hlo").write_text("HloModule b\nENTRY e { p = f32[4] foo() }")
    (folder / ".hidden").write_text("")
    found = ix.analyze_files(folder, tmp_path / "out")
    assert (found.analyzed, found.failed, found.known) == (4, 1, 0)
    broken, *rows = table(found.programs)
    assert "foo" in broken["error"] and broken["kernels"] is None
    for k, row in enumerate(rows):
        report = ix.analyze(ix.hlo.parse(COPY.format(k + 1)))
        assert row["error"] is None and (row["program"], row["device"], row["kernels"]) == (
            f"m{k + 1}",
            str(report.device),
            1,
        )
        for name in ("ideal_bytes", "wasted", "seconds", "seconds_lost", "not_modelled", "flops"):
            assert row[name] == getattr(report, name)
        assert row["bytes_moved"] == report.bytes
    fusions = table(found.fusions)
    assert [(f["instruction"], f["opcode"]) for f in fusions] == [("t", "transpose")] * 3
    assert [f["bytes_moved"] for f in fusions] == [row["bytes_moved"] for row in rows]

    (folder / "m000.hlo").write_text(COPY.format(1000))
    (tmp_path / "out/fusions/000007.parquet").write_bytes(b"written by a run that died before its programs")
    again = ix.analyze_files(folder, tmp_path / "out")
    assert (again.analyzed, again.failed, again.known) == (1, 0, 3)
    assert len(table(again.fusions)) == 4
    other = ix.analyze_files(folder, tmp_path / "out", device="a100", workers=2)
    assert (other.analyzed, other.known) == (4, 0)


def test_of_a_dump_each_program_counts_once(tmp_path: Path) -> None:
    for name in ("before", "sm_90_gpu_after"):
        (tmp_path / f"module_0001.jit_f.{name}_optimizations.txt").write_text(COPY.format(4))
    (tmp_path / "out").mkdir()
    (tmp_path / "out/part.hlo").write_text("")
    (tmp_path / "deeper").mkdir()
    (tmp_path / "deeper/a.hlo").write_text("")
    found = [Path(s.path).name for s in sources_in(tmp_path, (tmp_path / "out").resolve())]
    assert found == ["module_0001.jit_f.sm_90_gpu_after_optimizations.txt", "a.hlo"]


def deadly(source: Source) -> FileRows:
    """As a process does that is killed for its memory, that can't get any, or that meets a fault."""
    name = Path(source.path).stem
    if name == "m002":
        os.kill(os.getpid(), signal.SIGKILL)
    if name == "m003":
        raise ZeroDivisionError("a fault")
    return gave_up(source, "none")


def gave_up(source: Source, error: str) -> FileRows:
    return failed(source, DEVICE, error)


def test_a_process_that_dies_takes_one_row_with_it() -> None:
    sources = [Source(f"m{k:03}", 0, 0) for k in range(9)]
    rows = sorted(by_processes(sources, 2, deadly, gave_up), key=lambda r: r.program["path"])
    assert [r.program["path"] for r in rows] == [s.path for s in sources]
    errors = [r.program["error"] for r in rows]
    assert "died, twice" in errors[2] and errors[3] == "ZeroDivisionError: a fault"
    assert errors[:2] + errors[4:] == ["none"] * 7


def test_memory_that_is_not_there_is_a_row(monkeypatch: pytest.MonkeyPatch) -> None:
    def none_left(path: str) -> ix.hlo.Module:
        raise MemoryError("64 GiB")

    monkeypatch.setattr("indexing.report.file_rows.load", none_left)
    assert rows_of_file(Source("a.hlo", 0, 0), None, DEVICE).program["error"] == "MemoryError: 64 GiB"


KILLED = """
import os, signal, sys
import indexing as ix

def progress(done, total):
    if done == 70:
        os.kill(os.getpid(), signal.SIGKILL)

if __name__ == "__main__":
    ix.analyze_files(sys.argv[1], sys.argv[2], progress=progress)
"""


def test_a_run_that_was_killed_goes_on(tmp_path: Path) -> None:
    folder, script = programs(tmp_path / "programs", 80), tmp_path / "killed.py"
    script.write_text(KILLED)
    command = [sys.executable, script, folder, tmp_path / "out"]
    killed = subprocess.run(command, timeout=120, capture_output=True)  # ends when the workers have closed the pipes
    assert killed.returncode == -signal.SIGKILL
    found = ix.analyze_files(folder, tmp_path / "out")
    assert (found.known, found.analyzed) == (64, 16)
    assert [Path(row["path"]).name for row in table(found.programs)] == sorted(f.name for f in folder.iterdir())
    assert len(table(found.fusions)) == 80


def test_ctrl_c_keeps_what_was_done(tmp_path: Path) -> None:
    folder = programs(tmp_path / "programs", 5)

    def interrupt(done: int, total: int) -> None:
        if done == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ix.analyze_files(folder, tmp_path / "out", progress=interrupt)
    found = ix.analyze_files(folder, tmp_path / "out")
    assert (found.known, found.analyzed) == (3, 2) and len(table(found.programs)) == 5


def test_what_was_done_is_kept_where_the_disk_is_full(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = programs(tmp_path / "programs", 3)
    ix.analyze_files(folder, tmp_path / "out")
    (folder / "m003.hlo").write_text(COPY.format(4))

    def full(table: object, place: Path) -> None:
        place.write_bytes(b"half")
        raise OSError(28, "No space left on device", str(place))

    with monkeypatch.context() as patched:
        patched.setattr(pq, "write_table", full)
        with pytest.raises(OSError, match="No space left"):
            ix.analyze_files(folder, tmp_path / "out")
    assert not list((tmp_path / "out").rglob("*.unfinished"))
    assert ix.analyze_files(folder, tmp_path / "out").known == 3


def test_what_can_not_be_done_is_said(tmp_path: Path) -> None:
    folder = programs(tmp_path / "programs", 1)
    with pytest.raises(ix.IndexingError, match="workers is at least 1; got 0"):
        ix.analyze_files(folder, tmp_path / "out", workers=0)
    with pytest.raises(NotADirectoryError, match="no folder of programs"):
        ix.analyze_files(folder / "m000.hlo", tmp_path / "out")
    (tmp_path / "out/programs").mkdir(parents=True)
    (tmp_path / "out/programs/000000.parquet").write_bytes(b"no table")
    with pytest.raises(ix.IndexingError, match=r"000000\.parquet is no part of these results"):
        ix.analyze_files(folder, tmp_path / "out")


def test_a_cluster_that_nobody_runs_is_said() -> None:
    with pytest.raises(ix.UnsupportedOp, match=r"there is no Ray cluster at 127\.0\.0\.1:1: "):
        _reach("127.0.0.1:1")
    with pytest.raises(ix.UnsupportedOp, match="there is no Ray cluster at ray://"):
        _reach("ray://127.0.0.1:99999")
    _reach("local")


def test_the_command_says_where_the_tables_are(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder, out = programs(tmp_path / "programs", 1), tmp_path / "out"
    assert main(["analyze", str(folder), "--out", str(out)]) == 0
    assert f"1 programs analyzed, 0 of them with an error; 0 were known\na row for each program in {out}" in (
        capsys.readouterr().out
    )
    assert main(["analyze", str(folder), "--out", str(out), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["known"] == 1
    assert main(["analyze", str(folder / "m000.hlo"), "--workers", "2"]) == 1
    assert "say by --out where the tables go" in capsys.readouterr().err
