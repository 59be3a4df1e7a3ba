"""Runs on folders that a signal ends: what was done is written."""

import os
import signal
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import indexing as ix
from indexing.cli import main
from indexing.cli.folders import ended_in_order

COPY = "HloModule m{0}\nENTRY e {{ p = f32[64,1{0}] parameter(0) ROOT n = f32[64,1{0}] negate(p) }}"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_a_run_after_what_was_done_is_written(
    number: signal.Signals, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for k in range(5):
        (tmp_path / f"m{k}.hlo").write_text(COPY.format(k))
    analyze_files = ix.analyze_files

    def ended(*arguments: object) -> object:
        given = list(arguments)
        given[5] = lambda done, total: os.kill(os.getpid(), number) if done == 3 else None
        return analyze_files(*given)

    monkeypatch.setattr(ix, "analyze_files", ended)
    before = signal.getsignal(number)
    with pytest.raises(SystemExit) as end:
        main(["analyze", str(tmp_path), "--out", str(tmp_path / "out"), "--device", "h100"])
    assert end.value.code == 128 + number and signal.getsignal(number) == before
    assert len(pq.read_table(tmp_path / "out/programs")) == 3


def test_a_signal_that_is_ignored_stays_so() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with ended_in_order():
            os.kill(os.getpid(), signal.SIGHUP)
    finally:
        signal.signal(signal.SIGHUP, before)
