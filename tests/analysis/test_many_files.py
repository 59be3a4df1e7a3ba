"""Many programs into tables: each is there once, whatever breaks on the way."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import IO

import pyarrow.parquet as pq
import pytest

import indexing as ix
from indexing.cli import main
from indexing.device import detect
from indexing.device.detect import find_device
from indexing.processes import Limits, by_processes
from indexing.reports.file_rows import (
    FUSION_COLUMNS,
    PROGRAM_COLUMNS,
    FileRows,
    Source,
    failed,
    rows_of_file,
    sources_in,
)
from indexing.reports.tables import MAX_PENDING, Tables
from indexing.runtime.ray_cluster import _reach

COPY = (
    "HloModule m{0}\nENTRY e {{ p = f32[64,1{0}] parameter(0) ROOT t = f32[1{0},64] transpose(p), dimensions={{1,0}} }}"
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
    (folder / "tables").mkdir()
    (folder / "tables/000000.parquet").write_text("of an earlier run")
    summary = ix.analyze_files(folder, tmp_path / "out")
    assert (summary.analyzed, summary.failed, summary.known) == (4, 1, 0)
    broken, *rows = table(summary.programs)
    assert "foo" in broken["error"] and broken["kernels"] is None
    for k, row in enumerate(rows):
        report = ix.analyze(ix.hlo.parse(COPY.format(k + 1)))
        assert row["error"] is None and (row["program"], row["device"], row["kernels"]) == (
            f"m{k + 1}",
            report.device.name,
            1,
        )
        for name in ("ideal_bytes", "wasted", "seconds", "seconds_lost", "not_modelled", "flops"):
            assert row[name] == getattr(report, name)
        assert row["bytes_moved"] == report.bytes
    fusions = table(summary.fusions)
    assert [(f["instruction"], f["opcode"]) for f in fusions] == [("t", "transpose")] * 3
    assert [f["bytes_moved"] for f in fusions] == [row["bytes_moved"] for row in rows]

    (folder / "m000.hlo").write_text(COPY.format(1000))
    (tmp_path / "out/fusions/000007.parquet").write_bytes(b"written by a run that died before its programs")
    again = ix.analyze_files(folder, tmp_path / "out")
    assert (again.analyzed, again.failed, again.known) == (1, 1, 3)
    assert [Path(row["path"]).name for row in table(again.programs)] == sorted(f.name for f in folder.glob("*.hlo"))
    assert [f["program"] for f in table(again.fusions)] == ["m1000", "m2", "m3"]
    other = ix.analyze_files(folder, tmp_path / "out", device="a100", workers=2)
    assert (other.analyzed, other.known) == (4, 0)


def test_of_a_dump_each_program_counts_once(tmp_path: Path) -> None:
    for name in ("before", "sm_90_gpu_after"):
        (tmp_path / f"module_0001.jit_f.{name}_optimizations.txt").write_text(COPY.format(4))
    (tmp_path / "out").mkdir()
    (tmp_path / "out/part.hlo").write_text("")
    for beside in ("deeper/a.hlo", "module_0001.jit_f/module.mlir", "module_0001.jit_f/topology.textproto"):
        (tmp_path / beside).parent.mkdir(exist_ok=True)
        (tmp_path / beside).write_text("")
    actual = [Path(s.path).name for s in sources_in(tmp_path, (tmp_path / "out").resolve())]
    assert actual == ["module_0001.jit_f.sm_90_gpu_after_optimizations.txt", "a.hlo"]


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
    sources = [Source("f", f"m{k:03}") for k in range(9)]
    rows = sorted(by_processes(sources, 2, deadly, gave_up), key=lambda r: r.program["path"])
    assert [r.program["path"] for r in rows] == [s.path for s in sources]
    errors = [r.program["error"] for r in rows]
    assert (
        errors[2].endswith("died, twice: it may need more memory than there is")
        and errors[3] == "ZeroDivisionError: a fault"
    )
    assert errors[:2] + errors[4:] == ["none"] * 7
    (limited,) = by_processes(sources[2:3], 1, deadly, gave_up, Limits(mebibytes=800))
    assert str(limited.program["error"]).endswith("than the limit of 800 MiB")


def hoarding(source: Source) -> FileRows:
    """Takes a quarter of a gibibyte for good, or 16 GiB."""
    HOARD.append(bytearray(1 << (34 if source.path == "large" else 28)))
    return gave_up(source, "none")


HOARD: list[bytearray] = []


def test_what_other_programs_took_does_not_count_for_the_memory_of_one() -> None:
    sources = [Source("f", name) for name in ("a", "b", "c", "d", "large", "e")]
    rows = by_processes(sources, 1, hoarding, gave_up, Limits(mebibytes=800))
    errors = {r.program["path"]: r.program["error"] for r in rows}
    assert errors.pop("large").startswith("MemoryError") and errors == dict.fromkeys("abcde", "none")


def test_small_programs_need_little_memory(tmp_path: Path) -> None:
    assert ix.analyze_files(programs(tmp_path / "programs", 3), tmp_path / "out", memory=256).failed == 0


KILLED = """
import functools, os, signal, sys
import indexing as ix
from indexing.reports import many_files, tables

seconds = [0.0]

def progress(done, total):
    seconds[0] += float(sys.argv[3])
    if done == int(sys.argv[4]):
        os.kill(os.getpid(), signal.SIGKILL)

if __name__ == "__main__":
    many_files.Tables = functools.partial(tables.Tables, clock=lambda: seconds[0])
    ix.analyze_files(sys.argv[1], sys.argv[2], progress=progress)
"""


@pytest.mark.parametrize(("seconds", "done", "kept"), [(0, 70, 64), (1, 60, 50), (10, 9, 8)])
def test_a_run_that_was_killed_goes_on(tmp_path: Path, seconds: int, done: int, kept: int) -> None:
    """Of programs that take so many seconds each, those are kept that were done ten seconds before, and each whole part."""
    folder, script = programs(tmp_path / "programs", 80), tmp_path / "killed.py"
    script.write_text(KILLED)
    command = [sys.executable, script, folder, tmp_path / "out", str(seconds), str(done)]
    killed = subprocess.run(command, timeout=120, capture_output=True)  # ends when the workers have closed the pipes
    assert killed.returncode == -signal.SIGKILL
    summary = ix.analyze_files(folder, tmp_path / "out")
    assert kept <= summary.known <= done and summary.known + summary.analyzed == 80
    for rows in (summary.programs, summary.fusions):
        assert [Path(row["path"]).name for row in table(rows)] == sorted(f.name for f in folder.iterdir())


def test_rows_are_written_while_another_program_takes_long(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seconds = [0.0]

    def slow(
        items: list[Source],
        workers: int,
        work: Callable[[Source], FileRows],
        failed: object,
        limits: Limits,
        on_tick: Callable[[], None],
    ) -> Iterator[FileRows]:
        yield work(items[0])
        on_tick()
        assert not table(tmp_path / "out/programs")
        seconds[0] = MAX_PENDING
        on_tick()
        assert [row["path"] for row in table(tmp_path / "out/programs")] == ["m000.hlo"]
        yield work(items[1])

    monkeypatch.setattr("indexing.reports.many_files.Tables", partial(Tables, clock=lambda: seconds[0]))
    monkeypatch.setattr("indexing.reports.many_files.by_processes", slow)
    summary = ix.analyze_files(programs(tmp_path / "programs", 2), tmp_path / "out")
    assert summary.analyzed == len(table(summary.programs)) == 2


def until_ticked(source: Source) -> FileRows:
    """Work that ends when the parent ticks."""
    while source.path == "long" and not Path(source.folder, "ticked").exists():
        time.sleep(0.01)
    return gave_up(source, "none")


def test_the_parent_ticks_while_it_waits(tmp_path: Path) -> None:
    done: list[str] = []

    def tick() -> None:
        if "short" in done:
            (tmp_path / "ticked").touch()

    sources = [Source(str(tmp_path), name) for name in ("long", "short")]
    for rows in by_processes(sources, 2, until_ticked, gave_up, Limits(seconds=100), tick):
        assert rows.program["error"] == "none"
        done.append(str(rows.program["path"]))
    assert done == ["short", "long"]


def test_ctrl_c_keeps_what_was_done(tmp_path: Path) -> None:
    folder = programs(tmp_path / "programs", 5)

    def interrupt(done: int, total: int) -> None:
        if done == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ix.analyze_files(folder, tmp_path / "out", progress=interrupt)
    summary = ix.analyze_files(folder, tmp_path / "out")
    assert (summary.known, summary.analyzed) == (3, 2) and len(table(summary.programs)) == 5


def test_what_was_done_is_kept_where_the_disk_is_full(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = programs(tmp_path / "programs", 3)
    ix.analyze_files(folder, tmp_path / "out")
    (folder / "m003.hlo").write_text(COPY.format(4))

    def full(table: object, place: Path) -> None:
        place.write_bytes(b"half")
        error = OSError("Error writing bytes to file")  # as Arrow raises it
        error.errno = 28
        raise error

    with monkeypatch.context() as patched:
        patched.setattr(pq, "write_table", full)
        with pytest.raises(OSError, match=r"No space left .* goes on from it: .*out/fusions/000001\.parquet"):
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


def test_what_is_no_readable_file_is_a_row(tmp_path: Path) -> None:
    folder = programs(tmp_path / "programs", 1)
    (folder / "broken.hlo").symlink_to(folder / "nothing")
    os.mkfifo(folder / "pipe.hlo")
    with socket.socket(socket.AF_UNIX) as s:
        s.bind(str(folder / "socket.hlo"))
    summary = ix.analyze_files(folder, tmp_path / "out")
    errors = {row["path"]: row["error"] for row in table(summary.programs)}
    assert errors == {
        "broken.hlo": "this link leads nowhere",
        "m000.hlo": None,
        "pipe.hlo": "this is no regular file",
        "socket.hlo": "this is no regular file",
    }


def test_what_may_not_be_read_is_a_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a file, and of a folder; root may read anything, so the system's answer is replaced."""
    folder = programs(tmp_path / "programs", 2)
    programs(folder / "closed", 1)
    opened, scandir = Path.open, os.scandir

    def refuse(path: str) -> None:
        raise PermissionError(13, "Permission denied", str(path))

    def open_file(path: Path, *mode: str) -> IO[bytes]:
        return refuse(str(path)) if path.name == "m001.hlo" else opened(path, *mode)

    def scan(path: str) -> object:
        return refuse(path) if str(path).endswith("closed") else scandir(path)

    monkeypatch.setattr(Path, "open", open_file)
    monkeypatch.setattr(os, "scandir", scan)
    problems = {s.path: s.problem for s in sources_in(folder, tmp_path)}
    assert problems == {"m000.hlo": "", "m001.hlo": "Permission denied", "closed": "Permission denied"}


def test_names_that_are_not_utf8_have_rows(tmp_path: Path) -> None:
    folder = programs(tmp_path / "programs", 1)
    for name, text in ((b"\xff\xe9.hlo", COPY.format(9)), (b"bad\xff.hlo", "no program")):
        (folder / os.fsdecode(name)).write_text(text)
    first, second = (ix.analyze_files(folder, folder / "out", log=folder / "log") for _ in range(2))
    assert (first.analyzed, first.failed, second.analyzed, second.known) == (3, 1, 0, 3)
    assert [row["path"] for row in table(first.programs)] == sorted(["m000.hlo", r"\xff\xe9.hlo", r"bad\xff.hlo"])
    assert list(second.errors) == [r"bad\xff.hlo"] and r"bad\xff.hlo" in second.errors[r"bad\xff.hlo"]


def test_a_folder_that_moved_is_known(tmp_path: Path) -> None:
    folder = programs(tmp_path / "programs", 2)
    (folder / "cut_off.hlo").write_text("HloModule m")
    ix.analyze_files(folder, tmp_path / "out")
    moved = ix.analyze_files(folder.rename(tmp_path / "elsewhere"), tmp_path / "out")
    assert (moved.analyzed, moved.known) == (0, 3)
    assert moved.errors["cut_off.hlo"].startswith("ParseError: cut_off.hlo:1:12: expected a computation")


def test_the_default_device_is_known_by_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = programs(tmp_path / "programs", 2)
    monkeypatch.setattr(detect, "detected_device", lambda: None)
    ix.analyze_files(folder, tmp_path / "out")
    named = ix.analyze_files(folder, tmp_path / "out", "h100")
    assert (named.analyzed, named.known) == (0, 2)


def test_another_version_analyzes_again_and_each_program_has_one_row(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = programs(tmp_path / "programs", 2)
    ix.analyze_files(folder, tmp_path / "out")
    monkeypatch.setattr("indexing.reports.tables.__version__", "9.9")
    summary = ix.analyze_files(folder, tmp_path / "out")
    assert (summary.analyzed, summary.known) == (2, 0) and len(table(summary.programs)) == len(
        table(summary.fusions)
    ) == 2


def test_errors_are_tried_again_on_request(tmp_path: Path) -> None:
    folder = programs(tmp_path / "programs", 2)
    (folder / "broken.hlo").write_text("HloModule b\nENTRY e { p = f32[4] foo() }")
    first, second = (ix.analyze_files(folder, tmp_path / "out") for _ in range(2))
    assert (first.analyzed, second.analyzed, second.known) == (3, 0, 3)
    assert first.errors == second.errors and list(first.errors) == ["broken.hlo"]
    summary = ix.analyze_files(folder, tmp_path / "out", retry_errors=True)
    assert (summary.analyzed, summary.failed, summary.known) == (1, 1, 2) and len(table(summary.programs)) == 3


def test_a_run_that_died_between_the_two_tables_is_mended(tmp_path: Path) -> None:
    """Rows that were superseded are removed from the table of fusions first."""
    folder = programs(tmp_path / "programs", 2)
    ix.analyze_files(folder, tmp_path / "out", device=DEVICE)
    (folder / "m000.hlo").write_text(COPY.format(7))
    tables = Tables(tmp_path / "out")
    (changed,) = (s for s in sources_in(folder, tmp_path) if s.path == "m000.hlo")
    list(tables.written([rows_of_file(changed, None, DEVICE)]))
    tables.flush()
    assert len(table(tables.programs)) == len(table(tables.fusions)) == 3
    ix.analyze_files(folder, tmp_path / "out", device=DEVICE)
    assert (
        [r["program"] for r in table(tables.programs)] == [r["program"] for r in table(tables.fusions)] == ["m7", "m2"]
    )


def test_rows_wait_ten_seconds_at_most(tmp_path: Path) -> None:
    now = [0.0]
    tables = Tables(tmp_path / "out", clock=lambda: now[0])
    row = failed(Source("f", "a"), DEVICE, "none")
    for _ in tables.written([row, row]):
        tables.flush_if_due()
        assert not list(tables.programs.iterdir())
    now[0] = 9.9
    tables.flush_if_due()
    assert not list(tables.programs.iterdir())
    now[0] = 10.0
    tables.flush_if_due()
    assert len(table(tables.programs)) == 2


def slow_or_large(source: Source) -> FileRows:
    if source.path == "endless":
        time.sleep(1000)
    if source.path == "large":
        bytearray(1 << 31)
    return gave_up(source, "none")


def test_time_and_memory_are_limited() -> None:
    sources = [Source("f", name) for name in ("a", "endless", "b", "large", "c")]
    rows = by_processes(sources, 2, slow_or_large, gave_up, Limits(seconds=5, mebibytes=1024))
    errors = {r.program["path"]: r.program["error"] for r in rows}
    assert errors.pop("endless") == "it took longer than 5 seconds"
    assert errors.pop("large").startswith("MemoryError") and set(errors.values()) == {"none"}


def test_processes_that_do_not_start_are_said(tmp_path: Path) -> None:
    script = tmp_path / "unguarded.py"
    script.write_text("import sys, indexing as ix\nix.analyze_files(*sys.argv[1:])\n")
    command = [sys.executable, script, programs(tmp_path / "programs", 1), tmp_path / "out"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 1 and "worker processes can't start" in done.stderr.splitlines()[-1]


def test_two_runs_do_not_write_to_one_folder(tmp_path: Path) -> None:
    folder = programs(tmp_path / "programs", 2)

    def another(done: int, total: int) -> None:
        with pytest.raises(ix.IndexingError, match="another run writes to .*out: wait for its end"):
            ix.analyze_files(folder, tmp_path / "out")

    assert ix.analyze_files(folder, tmp_path / "out", progress=another).analyzed == 2
    assert ix.analyze_files(folder, tmp_path / "out").known == 2


def test_a_lock_that_the_system_refuses_is_not_another_run(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out/.lock").write_text("this is no lock" * 100)
    with pytest.raises(ix.IndexingError, match=r"out/\.lock can't be locked: file is not a database"):
        ix.analyze_files(programs(tmp_path / "programs", 1), tmp_path / "out")


def test_the_log_has_a_line_for_each_program(tmp_path: Path) -> None:
    folder = programs(tmp_path / "programs", 2)
    (folder / "broken.hlo").write_text("HloModule b\nENTRY e { p = f32[4] foo() }")
    ix.analyze_files(folder, tmp_path / "out", log=tmp_path / "log.jsonl")
    start, *done, end = [json.loads(line) for line in (tmp_path / "log.jsonl").read_text().splitlines()]
    assert (start["event"], start["programs"], start["known"]) == ("start", 3, 0)
    assert sorted((d["path"], d["kernels"]) for d in done) == [("broken.hlo", None), ("m000.hlo", 1), ("m001.hlo", 1)]
    assert (end["event"], end["analyzed"], end["failed"]) == ("end", 3, 1)


def test_a_line_of_the_log_that_was_cut_stays_alone(tmp_path: Path) -> None:
    (tmp_path / "log.jsonl").write_text('{"time": "2026')
    ix.analyze_files(programs(tmp_path / "programs", 1), tmp_path / "out", log=tmp_path / "log.jsonl")
    cut, *lines = (tmp_path / "log.jsonl").read_text().splitlines()
    assert cut == '{"time": "2026' and [json.loads(line)["event"] for line in lines] == ["start", "program", "end"]


def test_each_column_says_what_it_holds(tmp_path: Path) -> None:
    summary = ix.analyze_files(programs(tmp_path / "programs", 1), tmp_path / "out")
    page = Path(__file__).parents[2].joinpath("docs/analyses.md").read_text()
    for folder, columns in ((summary.programs, PROGRAM_COLUMNS), (summary.fusions, FUSION_COLUMNS)):
        schema = pq.read_schema(next(folder.iterdir()))
        assert schema.names == list(columns)
        for column in schema:
            about = column.metadata[b"description"].decode()
            assert about == columns[column.name].about and f"| `{column.name}` | {about} |" in page


@pytest.mark.parametrize(
    ("broken", "options", "status"), [(0, [], 0), (1, [], 0), (1, ["--max-errors", "40"], 1), (2, [], 1)]
)
def test_the_status_tells_whether_too_much_failed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], broken: int, options: list[str], status: int
) -> None:
    folder = programs(tmp_path / "programs", 2)
    for k in range(broken):
        (folder / f"m{k:03}.hlo").write_text("no program")
    command = ["analyze", str(folder), "--out", str(tmp_path / "out"), *options]
    assert [main(command), main(command)] == [status] * 2  # the second time, all are known
    (tmp_path / "empty").mkdir()
    assert main(["analyze", str(tmp_path / "empty"), "--out", str(tmp_path / "none")]) == 1
    assert capsys.readouterr().out.endswith("empty has no programs: no files but hidden ones and tables\n")


def test_the_command_shows_the_first_errors(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = programs(tmp_path / "programs", 1)
    for k in range(6):
        (folder / f"bad{k}.hlo").write_text("no program")
    assert main(["analyze", str(folder), "--out", str(tmp_path / "out")]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.partition(": ")[0] for line in lines[1:6]] == [f"  bad{k}.hlo" for k in range(5)]
    assert "ParseError: " in lines[1] and lines[6] == "  and 1 more, in the column `error` of the programs"


def test_the_command_says_where_the_tables_are(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder, out = programs(tmp_path / "programs", 1), tmp_path / "out"
    assert main(["analyze", str(folder), "--out", str(out)]) == 0
    assert f"1 program analyzed, 0 known from before; 0 with an error\na row for each program in {out}" in (
        capsys.readouterr().out
    )
    assert main(["analyze", str(folder), "--out", str(out), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["known"] == 1
    for more in (["--workers", "2"], ["--retry-errors"]):
        assert main(["analyze", str(folder / "m000.hlo"), *more]) == 1
        assert f"{more[0]} is for a folder of programs: say by --out" in capsys.readouterr().err
