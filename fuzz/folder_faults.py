"""Analyzes a folder of small programs while faults are injected: each program has one row at the end, and rows on disk stay.

    python fuzz/folder_faults.py --count N [--seed S] [--workers W] [--pause SECONDS]

Between the programs are what can't be read: a pipe, a broken link, a folder without permission, broken text. Runs of
`indexing analyze FOLDER --out TABLES` are killed, interrupted, lose a worker, fill their disk, or meet a second run, each some
PAUSE seconds after their start, until every program has a row. A run writes its rows every ten seconds: where it is killed
sooner, it leaves none, so that thousands of programs want a PAUSE of 20. After each run, all rows that were there before are
there still, and those that the log mentions more than ten seconds before the fault. The disk is one in memory, mounted in a
namespace of this process (`unshare`); Linux only. Prints the seed and the counts.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import random
import re
import secrets
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

import pyarrow.parquet as parquet

MAX_LOSS = 10.0  # seconds of work that a fault may cost
DISK = "256m"
FULL = re.compile("^indexing: .*(No space left on device|disk is full)")
MAX_RUN = 900.0  # seconds
SLACK = 3.0  # seconds that the run's clock ticks and writes of a part take on a loaded machine
UNARY = ("negate", "exponential", "tanh", "abs", "sine", "floor")
BAD = ("pipe.hlo", "link.hlo", "text.hlo", "locked")


@dataclass(slots=True)
class Folder:
    """The folder of programs, its tables and log, and what the runs did so far."""

    root: Path
    workers: int
    seen: dict[str, int] = field(default_factory=dict)
    faults: Counter[str] = field(default_factory=Counter)

    @property
    def disk(self) -> Path:
        """The disk of the tables and the log."""
        return self.root / "disk"

    @property
    def out(self) -> Path:
        """The folder of the tables."""
        return self.disk / "tables"

    @property
    def log(self) -> Path:
        """The log of all runs."""
        return self.disk / "log.jsonl"

    def begin(self, *options: str) -> subprocess.Popen[str]:
        """A run as a process."""
        program = ["-m", "indexing", "analyze", str(self.root / "programs"), "--out", str(self.out)]
        limits = ["--workers", str(self.workers), "--timeout", "120", "--log", str(self.log), "--device", "h100"]
        return subprocess.Popen(
            [sys.executable, *program, *limits, *options],
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            preexec_fn=restrict,
        )

    def check(self, begun: float, fault: float) -> int:
        """Assert that each path has one row with all its fusions, and none is lost that was on disk, or that the run, which
        began at one time, logged long enough before the fault at another.
        """
        rows = table(self.out / "programs", ("path", "kernels"))
        counts = dict(rows)
        assert len(counts) == len(rows), f"{len(rows) - len(counts)} rows are there twice"
        fusions = Counter(path for (path,) in table(self.out / "fusions", ("path",), named_in=self.out / "programs"))
        wrong = [path for path, kernels in rows if fusions[path] != (kernels or 0)]
        assert not wrong, f"other numbers of fusions than the program has: {wrong[:3]}"
        lost = [p for p, when in self.logged() if begun <= when < fault - MAX_LOSS - SLACK and p not in counts]
        assert not lost, f"{len(lost)} lost that were done {MAX_LOSS:g} seconds before the fault: {lost[:3]}"
        gone = self.seen.keys() - counts.keys()
        assert not gone, f"{len(gone)} rows that were on disk are gone: {sorted(gone)[:3]}"
        self.seen = counts
        return len(counts)

    def logged(self) -> list[tuple[str, float]]:
        """The programs in the log, with the time of their lines. Where the disk was full, a line may be cut."""
        text = self.log.read_text() if self.log.exists() else ""
        lines = [json.loads(line) for line in text.splitlines() if line.endswith("}")]
        return [(e["path"], datetime.fromisoformat(e["time"]).timestamp()) for e in lines if e["event"] == "program"]


@contextmanager
def disk_in_memory(place: Path) -> Iterator[None]:
    """A small disk at a new folder."""
    place.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={DISK}", "tmpfs", place], check=True)
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", place], check=True)


def restrict() -> None:
    """Take from this process root's right to read everything; and let Ctrl-C end it, which a shell's `&` has it ignore."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    drop_from_bounding_set, overrides = 24, (1, 2)  # PR_CAPBSET_DROP; CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH
    for capability in overrides:
        ctypes.CDLL(None).prctl(drop_from_bounding_set, capability, 0, 0, 0)


def table(folder: Path, columns: tuple[str, ...], named_in: Path | None = None) -> list[tuple]:  # type: ignore[type-arg]
    """The rows of all parts; with `named_in`, of those whose names are there too."""
    parts = [p for p in sorted(folder.glob("*.parquet")) if named_in is None or (named_in / p.name).exists()]
    read = (parquet.read_table(part, columns=list(columns)) for part in parts)
    return [tuple(row[c] for c in columns) for t in read for row in t.to_pylist()]


def write_programs(folder: Path, count: int, chance: random.Random) -> None:
    """Distinct small programs, some hundreds in a folder, and what can't be read."""
    for number in range(count):
        place = folder / f"part{number // 500}" / f"{number:05}.hlo"
        place.parent.mkdir(parents=True, exist_ok=True)
        a, b = chance.randrange(1, 65), number + 1
        first, second = chance.choices(UNARY, k=2)
        place.write_text(
            f"HloModule p{number}\nENTRY e {{\n  x = f32[{a},{b}] parameter(0)\n  y = f32[{a},{b}] {first}(x)\n"
            f"  t = f32[{b},{a}] transpose(y), dimensions={{1,0}}\n  ROOT r = f32[{b},{a}] {second}(t)\n}}\n"
        )
    os.mkfifo(folder / "pipe.hlo")
    (folder / "link.hlo").symlink_to("nowhere")
    (folder / "text.hlo").write_text("ENTRY e { x = f32[2 }")
    (folder / "locked").mkdir(mode=0)


def children(pid: int) -> list[int]:
    """The processes that a process began."""
    try:
        return [int(p) for t in Path(f"/proc/{pid}/task").iterdir() for p in (t / "children").read_text().split()]
    except FileNotFoundError:
        return []


def kill_worker(folder: Folder, run: subprocess.Popen[str], chance: random.Random) -> None:
    """Kill one process that the run began; the run goes on, for a while."""
    if workers := children(run.pid):
        os.kill(chance.choice(workers), signal.SIGKILL)
    try:
        run.communicate(timeout=chance.uniform(1, 60))
        assert run.returncode in (0, 1), run.returncode
    except subprocess.TimeoutExpired:
        interrupt(folder, run, chance)


def kill_parent(folder: Folder, run: subprocess.Popen[str], chance: random.Random) -> None:
    """Kill the run itself."""
    run.kill()
    run.communicate(timeout=MAX_RUN)  # which waits for the processes that it began, too


def interrupt(folder: Folder, run: subprocess.Popen[str], chance: random.Random) -> None:
    """Press Ctrl-C."""
    run.send_signal(signal.SIGINT)
    run.communicate()


def second_run(folder: Folder, run: subprocess.Popen[str], chance: random.Random) -> None:
    """Begin another run on the same tables, which is refused unless the first has ended; then kill the first."""
    other = folder.begin()
    said = other.communicate()[1]
    assert other.returncode == 0 or "another run writes to" in said or run.poll() is not None, said
    kill_parent(folder, run, chance)


def fill_disk(folder: Folder, run: subprocess.Popen[str], chance: random.Random) -> None:
    """Leave little room on the disk, or none, until the run ends, which says so unless it had finished."""
    filler, room = folder.disk / "filler", chance.choice((0, 4096, 40960))
    with filler.open("wb") as file:
        file.truncate(0)
        free = os.statvfs(folder.disk)
        os.posix_fallocate(file.fileno(), 0, max(free.f_bavail * free.f_frsize - room, 1))
    said = run.communicate(timeout=MAX_RUN)[1]
    filler.unlink()
    assert run.returncode == 0 or (run.returncode == 1 and FULL.search(said)), said


FAULTS: tuple[Callable[[Folder, subprocess.Popen[str], random.Random], None], ...] = (
    kill_worker,
    kill_parent,
    interrupt,
    second_run,
    fill_disk,
)


def one_fault(folder: Folder, chance: random.Random, pause: float) -> int:
    """Begin a run, inject a fault, and check what is on disk; the number of rows there."""
    fault, begun = chance.choice(FAULTS), time.time()
    run = folder.begin()
    time.sleep(chance.uniform(0.2, 2) * pause)
    at = time.time()
    fault(folder, run, chance)
    folder.faults[fault.__name__] += 1
    return folder.check(begun, time.time() if fault is kill_worker else at)


def main() -> int:
    """Inject faults until each program has a row, then run to the end."""
    options = parsed()
    print(f"seed {options.seed}", flush=True)
    chance = random.Random(options.seed)
    with tempfile.TemporaryDirectory() as name, disk_in_memory(Path(name) / "disk"):
        folder = Folder(Path(name), options.workers)
        write_programs(folder.root / "programs", options.count, chance)
        rows = 0
        while rows < options.count and folder.faults.total() < options.faults:
            rows = one_fault(folder, chance, options.pause)
            print(f"{rows} rows after {folder.faults.total()} faults", flush=True)
        last = folder.begin("--retry-errors")
        said = last.communicate()
        assert last.returncode == 0, said
        folder.check(0.0, 0.0)
        errors = {p for p, e in table(folder.out / "programs", ("path", "error")) if e is not None}
        assert errors == set(BAD), errors
        assert len(folder.seen) == options.count + len(BAD), len(folder.seen)
        (folder.root / "programs" / "locked").chmod(0o700)
        print(f"{options.count} programs and {len(BAD)} that can't be read: each has one row; {dict(folder.faults)}")
    return 0


def parsed() -> argparse.Namespace:
    """The options of this script."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--seed", type=int, default=secrets.randbelow(1 << 32))
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--pause", type=float, default=4.0)
    parser.add_argument("--faults", type=int, default=1000, help="no more than so many")
    return parser.parse_args()


if __name__ == "__main__":
    if os.environ.get("UNSHARED"):
        sys.exit(main())
    os.environ["UNSHARED"] = "1"
    os.execvp("unshare", ["unshare", "--map-root-user", "--mount", sys.executable, *sys.argv])
