"""What documents name is there: each path, each name of the code, each target of make, each tested recipe."""

import json
import re
import subprocess
import sys
from fnmatch import fnmatch
from functools import cache
from pathlib import Path

import pytest

from indexing.cli.options import COMMANDS

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = sorted(
    [ROOT / "ARCHITECTURE.md", ROOT / "CONTRIBUTING.md", ROOT / "README.md", *(ROOT / "docs").glob("*.md")]
)
#: Words of HLO, of other languages and of shells, which no source of ours needs to spell.
FOREIGN = {"d0", "s0", "rt0"}


def spans(document: Path) -> list[str]:
    """The code that stands within lines of text; blocks are run by other tests."""
    text = re.sub(r"^```.*?^```", "", document.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    return re.findall(r"`([^`\n]+)`", text)


@cache
def words_of_the_code() -> frozenset[str]:
    """Every word of the sources, tests and settings."""
    files = [ROOT / "Makefile", ROOT / "pyproject.toml", *(ROOT / "rust").rglob("*.toml")]
    for folder in ("python", "rust", "tests", "fuzz", "benches", "examples"):
        files += [f for f in (ROOT / folder).rglob("*") if f.suffix in (".py", ".pyi", ".rs", ".h", ".hlo", ".ir")]
    return frozenset(w for f in files for w in re.findall(r"[A-Za-z_][A-Za-z0-9_-]*", f.read_text(encoding="utf-8")))


@cache
def files_and_folders() -> tuple[str, ...]:
    actual = [
        f
        for name in ("python", "rust", "tests", "fuzz", "benches", "examples", "docs")
        for f in (ROOT / name).rglob("*")
    ]
    return tuple(f"/{f.relative_to(ROOT).as_posix()}" for f in [*actual, *ROOT.iterdir()] if "target" not in f.parts)


def is_there(path: str) -> bool:
    """Whether the end of some path is spelled like this, `*` standing for anything."""
    return any(fnmatch(f, f"*/{path.strip('/')}") for f in files_and_folders())


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda f: f.name)
def test_paths_exist(document: Path) -> None:
    paths = [s.split("::")[0] for s in spans(document) if re.fullmatch(r"[\w./*-]*\w(/|\.(py|rs|md|toml|hlo|pyi))", s)]
    missing = [p for p in paths if not is_there(p) and not re.fullmatch(r"[a-z]\d*(/[a-z]\d*)+", p)]
    assert missing == [], "of these files there is none"


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda f: f.name)
def test_names_stand_in_the_code(document: Path) -> None:
    """Names of more than one word, in the way of Python and Rust: CamelCase, snake_case, with dots between."""
    named = [s.removesuffix("()") for s in spans(document) if re.fullmatch(r"[A-Za-z_][\w.]*(\(\))?", s)]
    parts = {p for n in named if n not in FOREIGN for p in n.split(".") if re.search(r"_|[a-z][A-Z]", p)}
    assert sorted(parts - words_of_the_code()) == []


def test_every_command_has_a_row_in_the_page_of_commands() -> None:
    page = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `([a-z]+)[` ]", page, re.MULTILINE)
    assert sorted(rows) == sorted(command.name for command in COMMANDS)


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda f: f.name)
def test_targets_of_make_exist(document: Path) -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    asked = {m for s in spans(document) for m in re.findall(r"^make ([a-z-]+)", s)}
    assert sorted(asked - targets) == []


def recipes() -> list[tuple[str, str]]:
    """Each section of CONTRIBUTING.md with the commands of its recipe."""
    sections = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").split("\n## ")[1:]
    blocks = ((s.split("\n")[0], re.findall(r"^```recipe\n(.*?)^```", s, re.MULTILINE | re.DOTALL)) for s in sections)
    return [(title, line) for title, actual in blocks for block in actual for line in block.splitlines()]


def test_every_way_to_extend_the_package_has_a_recipe() -> None:
    titles = {
        "Add a simplification rule",
        "Add an op",
        "Add an emitter",
        "Add a target",
        "Add an analysis",
        "Add a device",
    }
    assert {title for title, _ in recipes()} == titles
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    assert text.count("An example in the tree:") == len(titles)


COLLECT = """
import json, shlex, sys
import pytest
for command in json.loads(sys.argv[1]):
    program, *arguments = shlex.split(command)
    assert program == "pytest"
    status = pytest.main(["--collect-only", "-q", "-p", "no:cacheprovider", *arguments])
    print(f"{command}: status {int(status)}", flush=True)
"""


@cache
def collected() -> str:
    """What pytest says of the recipes' commands, in one process, which imports what they share once."""
    commands = json.dumps([line for _, line in recipes()])
    done = subprocess.run(
        [sys.executable, "-c", COLLECT, commands], cwd=ROOT, capture_output=True, text=True, timeout=300
    )
    return done.stdout + done.stderr


@pytest.mark.parametrize("command", [line for _, line in recipes()])
def test_the_tests_of_a_recipe_are_there(command: str) -> None:
    """Its command names tests that exist: they run in this suite."""
    assert f"{command}: status 0" in collected().splitlines(), collected()
