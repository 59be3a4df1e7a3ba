"""The source distribution holds all that the targets of the Makefile need: whatever is tracked."""

from __future__ import annotations

import pathlib
import subprocess
import sys
import tarfile

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
MATURIN = pathlib.Path(sys.executable).with_name("maturin")


def test_the_source_distribution_holds_what_is_tracked(tmp_path: pathlib.Path) -> None:
    if not (ROOT / ".git").exists():
        pytest.skip("what is tracked is known in the repository alone")
    subprocess.run([MATURIN, "sdist", "--out", tmp_path], cwd=ROOT, check=True, capture_output=True)
    (archive,) = tmp_path.glob("*.tar.gz")
    with tarfile.open(archive) as opened:
        packed = {name.partition("/")[2] for name in opened.getnames()}
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    tracked = {name for name in listed.split("\0") if name and (ROOT / name).exists()}
    assert tracked - packed == set()
