"""The Rust core: which room and which file may use which, what none of them does, and the one face of the crate."""

import itertools
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CORE = ROOT / "rust" / "core" / "src"


def stated(block: str) -> list[str]:
    """The lines of a block of ARCHITECTURE.md, which are what is enforced here."""
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    (result,) = re.findall(rf"^```{block}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    return str(result).splitlines()


# The rooms from the lowest up, each with those that it may use.
ROOMS = {room.strip(): set(lower.split()) for room, _, lower in (line.partition("<-") for line in stated("rooms"))}
# The layers of a room from the lowest up: a file may use those of its own layer and of the layers below.
FILES = {line.split("/")[0]: re.split(r"\s{2,}", line.split("/")[1].strip()) for line in stated("files")}


def core_files() -> list[Path]:
    return sorted(f for f in CORE.rglob("*.rs") if f.name != "lib.rs")


def code_of(file: Path) -> str:
    """A file's text without the tests at its end, and without comments, which may point anywhere."""
    lines = file.read_text().split("#[cfg(test)]")[0].splitlines(keepends=True)
    return "".join(line for line in lines if not line.lstrip().startswith("//"))


def place(file: Path, root: Path = CORE) -> list[str]:
    """The room and the modules in it: `["simplify", "rules", "sum"]`; of a `mod.rs`, its folder's."""
    parts = list(file.relative_to(root).with_suffix("").parts)
    return parts[:-1] if parts[-1] == "mod" else parts


def single_paths(tree: str) -> Iterator[str]:
    """The paths of `use a::{b, c::{d, e}}`, one by one."""
    head, brace, rest = tree.strip().partition("{")
    if not brace:
        yield head.split(" as ")[0].strip()
        return
    inner = rest.rstrip().removesuffix("}")
    for part in re.findall(r"[^,{}]+(?:\{(?:[^{}]|\{[^{}]*\})*\})?", inner):
        if part.strip():
            yield from (head + path for path in single_paths(part))


def used_paths(file: Path, root: Path = CORE) -> set[tuple[str, ...]]:
    """What the file names of the crate: `crate::room::file::Item` as `("room", "file", "Item")`, `super` resolved."""
    use = r"\buse\s+([^;]+);"
    written = {path for tree in re.findall(use, code_of(file)) for path in single_paths(tree)}
    written |= set(re.findall(r"\b(?:crate|super|self)(?:::\w+)+", re.sub(use, "", code_of(file))))
    actual = set()
    for first, *rest in (path.split("::") for path in written):
        if first == "crate":
            actual.add(tuple(rest))
        elif first in ("super", "self"):
            ups = [first, *rest].count("super")
            above = place(file, root)[: len(place(file, root)) - ups]
            actual.add((*above, *(name for name in rest if name not in ("super", "self"))))
    return {home_of(path, root) for path in actual}


def home_of(path: tuple[str, ...], root: Path) -> tuple[str, ...]:
    """The path by which an item is named where it is defined, if a folder's `mod.rs` names it too."""
    for end in range(len(path) - 1, 0, -1):
        item = exported(root.joinpath(*path[:end]) / "mod.rs").get(path[end])
        if item:
            return (*path[:end], *item, *path[end + 1 :])
    return path


@cache
def exported(face: Path) -> dict[str, tuple[str, ...]]:
    """The items that a `mod.rs` takes from the files beside it."""
    text = code_of(face) if face.exists() else ""
    paths = (path for tree in re.findall(r"\bpub(?:\([^)]*\))? use\s+([^;]+);", text) for path in single_paths(tree))
    return {path.split("::")[-1]: tuple(path.split("::")) for path in paths}


def test_paths_of_nested_imports() -> None:
    assert list(single_paths("crate::a::{b, c::{d, e::{f}}, self, g as h}")) == [
        *("crate::a::b", "crate::a::c::d", "crate::a::c::e::f", "crate::a::self", "crate::a::g")
    ]


@pytest.mark.parametrize("file", core_files(), ids=lambda f: str(f.relative_to(CORE)))
def test_core_files_use_only_lower_ones(file: Path) -> None:
    room, *inner = place(file)
    used = used_paths(file)
    rooms = {path[0] for path in used}
    assert rooms <= ROOMS[room] | {room}, f"{room} may not use {sorted(rooms - ROOMS[room] - {room})}"
    if not inner or room not in FILES:
        return
    siblings = {path[1] for path in used if path[0] == room and len(path) > 1} & modules_of(room)
    lower = at_most(room, inner[0])
    assert siblings <= lower, f"{file.relative_to(CORE)} uses {sorted(siblings - lower)}"


def modules_of(room: str) -> set[str]:
    return {place(f)[1] for f in (CORE / room).rglob("*.rs") if len(place(f)) > 1}


def at_most(room: str, module: str) -> set[str]:
    """The modules of a layer and of those below."""
    result: set[str] = set()
    for layer in FILES[room]:
        result |= set(layer.split())
        if module in result:
            return result
    raise AssertionError(f"{room}/{module} has no place among the layers of its room")


def test_the_rooms_have_no_circle() -> None:
    seen: set[str] = set()
    for room, lower in ROOMS.items():
        assert lower <= seen
        seen.add(room)
    assert {place(f)[0] for f in core_files()} == set(ROOMS)


def used_files(file: Path, root: Path) -> set[Path]:
    """The files that a file names by path; `crate::a::b::Item` is in `a/b.rs`, or in `a.rs` or `a/mod.rs`."""
    result = set()
    for path in used_paths(file, root):
        modules = (root.joinpath(*path[:end]) for end in range(len(path), 0, -1))
        candidates = (f for module in modules for f in (module.with_suffix(".rs"), module / "mod.rs") if f.exists())
        result |= set(itertools.islice(candidates, 1))
    return result - {file}


@pytest.mark.parametrize("root", [CORE, ROOT / "rust/py/src"], ids=["core", "binding"])
def test_files_have_no_circle(root: Path) -> None:
    """No file uses one that uses it, in however many steps; the families of rules simplify each other's results."""
    faces = {root / "lib.rs", *root.rglob("mod.rs")}
    uses = {f: used_files(f, root) - faces for f in root.rglob("*.rs") if f not in faces and f.parent.name != "rules"}
    while leaves := [f for f, used in uses.items() if not used & uses.keys()]:
        for leaf in leaves:
            del uses[leaf]
    assert not uses, f"a circle among {sorted(str(f.relative_to(root)) for f in uses)}"


def test_the_core_has_one_face() -> None:
    assert not re.search(r"\bpub mod\b|\*;", (CORE / "lib.rs").read_text())
    outside = [
        f for d in ("rust/py", "rust/capi", "rust/core/tests", "benches", "fuzz") for f in (ROOT / d).rglob("*.rs")
    ]
    exported = set(re.findall(r"\w+", (CORE / "lib.rs").read_text()))
    for file in outside:
        assert not re.search(r"\bindexing_core::[a-z]\w*::", file.read_text()), file
        trees = re.findall(r"\buse\s+(indexing_core::[^;]+);", file.read_text())
        named = {path.split("::")[1] for tree in trees for path in single_paths(tree)}
        assert named <= exported, file


def test_the_core_knows_no_python_and_does_no_io() -> None:
    assert "pyo3" not in (ROOT / "rust/core/Cargo.toml").read_text()
    for file in CORE.rglob("*.rs"):
        matches = re.findall(r"\bstd::(?:fs|io|net|env|process)\b|\bprintln!|\bstatic mut\b|\bunsafe\b", code_of(file))
        assert not matches, f"{file.relative_to(ROOT)}: {matches}"


def test_the_binding_reaches_for_memory_in_one_file() -> None:
    files = [f.name for f in (ROOT / "rust/py/src").rglob("*.rs") if re.search(r"\bunsafe\b", code_of(f))]
    assert files == ["array_memory.rs"]
