"""The Makefile in a folder whose name has spaces: what it runs is quoted."""

import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

MAKEFILE = Path(__file__).resolve().parents[2] / "Makefile"
STEPS = ("made", "installed", "compiled", "developed")
TARGETS = re.findall(r"^([a-z-]+):.*##", MAKEFILE.read_text(), re.MULTILINE)


def test_crates_outside_of_the_workspace_are_linted() -> None:
    """A name that they use and that is changed fails `make lint`, not the next `make fuzz`."""
    text = MAKEFILE.read_text()
    (linted,) = re.findall(r"^crates_apart\s*:= (.*)$", text, re.MULTILINE)
    manifests = (f for folder in ("benches", "fuzz") for f in (MAKEFILE.parent / folder).rglob("Cargo.toml"))
    there = {f.parent.relative_to(MAKEFILE.parent).as_posix() for f in manifests if "target" not in f.parts}
    assert {*linted.split(), "fuzz/coverage"} == there


@pytest.mark.parametrize("target", TARGETS)
def test_no_command_is_torn_apart_at_a_space(tmp_path: Path, target: str) -> None:
    folder = tmp_path / "a path with spaces"
    folder.mkdir()
    shutil.copy(MAKEFILE, folder)
    for name in ("Cargo.toml", "Cargo.lock", "pyproject.toml", "README.md", "rust", "python"):
        (folder / name).touch()
    command = ["make", "-n", "SEED=1", "CORPUS=maps of mine.txt" if target == "bench" else "N=1000", target]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    for word in (w for line in done.stdout.splitlines() for w in shlex.split(line, comments=True)):
        assert str(tmp_path) not in word or str(folder) in word, word
    assert target == "help" or done.stdout


@pytest.mark.parametrize(
    ("file", "is_built"),
    [("python/new.py", False), ("rust/core/src/new.rs", True), ("Cargo.lock", True), ("pyproject.toml", True)],
)
def test_a_change_of_python_alone_builds_nothing_before_tests(tmp_path: Path, file: str, is_built: bool) -> None:
    shutil.copy(MAKEFILE, tmp_path)
    sources = (file, "rust/lib.rs", "python/maps.py", "Cargo.toml", "Cargo.lock", "pyproject.toml")
    for age, name in enumerate((*sources, *(f".venv/.{step}" for step in STEPS))):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
        os.utime(tmp_path / name, (age, age))
    os.utime(tmp_path / file, (100, 100))
    done = subprocess.run(["make", "-n", "python-test"], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0 and "pytest" in done.stdout, done.stderr
    assert ("maturin develop" in done.stdout) == is_built
    assert "maturin build" not in done.stdout
