"""Processes whose memory is limited, or that are killed before they have started."""

import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

import indexing as ix
from indexing.processes import MAX_KILLED_STARTS, Limits, by_processes


def dies(item: int) -> str:
    """As the core does that can't allocate: it says so, and where, and aborts."""
    os.write(2, b"memory allocation of 133 bytes failed\nstack backtrace:\n")
    os.abort()


def gave_up(item: int, error: str) -> str:
    return f"{item}: {error}"


def test_a_limit_that_no_process_keeps() -> None:
    with pytest.raises(ix.IndexingError, match="^1 MiB of memory are too few for a process of this package"):
        list(by_processes([7], 1, dies, gave_up, Limits(mebibytes=1)))


def test_what_a_process_without_memory_writes_is_not_shown(capfd: pytest.CaptureFixture[str]) -> None:
    (row,) = by_processes([7], 1, dies, gave_up, Limits(mebibytes=800))
    assert row.startswith("7: ") and row.endswith("died, twice: it may need more memory than the limit of 800 MiB")
    assert capfd.readouterr().err == ""


def test_a_limit_beyond_all_memory() -> None:
    assert list(by_processes([7], 1, str, gave_up, Limits(mebibytes=1 << 60))) == ["7"]


class KilledAtStart:
    """Work for whose sake so many processes are killed while they read what they are to do."""

    def __init__(self, folder: Path, times: int) -> None:
        self.folder, self.times = folder, times

    def __call__(self, item: int) -> str:
        raise AssertionError("what arrives is `str`")

    def __reduce__(self) -> tuple[Callable[[str, int], type[str]], tuple[str, int]]:
        return killed_at_start, (str(self.folder), self.times)


def killed_at_start(folder: str, times: int) -> type[str]:
    """`str`, but not for the first processes that ask."""
    before = len(os.listdir(folder))
    if before < times:
        (Path(folder) / str(before)).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return str


def test_a_process_that_is_killed_before_it_has_started_is_replaced(tmp_path: Path) -> None:
    rows = by_processes([1, 2, 3], 1, KilledAtStart(tmp_path, MAX_KILLED_STARTS - 1), gave_up)
    assert list(rows) == ["1", "2", "3"] and len(os.listdir(tmp_path)) == MAX_KILLED_STARTS - 1


def test_processes_that_are_always_killed_are_said(tmp_path: Path) -> None:
    with pytest.raises(ix.IndexingError, match=rf"killed \(signal 9\) .* {MAX_KILLED_STARTS} in a row"):
        list(by_processes([1, 2, 3], 1, KilledAtStart(tmp_path, 100), gave_up))
