"""Processes whose memory is limited."""

import os

import pytest

import indexing as ix
from indexing.processes import Limits, by_processes


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
