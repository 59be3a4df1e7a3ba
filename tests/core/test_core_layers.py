"""The Rust core: which room and which file may use which, what none of them does, and the one face of the crate."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CORE = ROOT / "rust" / "core" / "src"

# The rooms from the lowest up, each with those that it may use.
ROOMS = {
    "error": set(),
    "int": set(),
    "interval": {"int"},
    "expr": {"error", "int", "interval"},
    "simplify": {"error", "int", "interval", "expr"},
    "map": {"error", "int", "interval", "expr", "simplify"},
    "sets": {"error", "int", "interval", "expr", "simplify", "map"},
    "access": {"error", "int", "interval", "expr", "simplify", "map"},
    "text": {"error", "int", "interval", "expr", "map"},
    "hlo_text": {"error", "int"},
    "propagation": {"error", "int", "interval", "expr", "simplify", "map", "hlo_text"},
}
# The files of a room from the lowest up, those of a line being one layer: each may use its own layer and those below.
FILES = {
    "expr": (
        "node",
        "arena",
        "intern order traversal work",
        "canonical min_max quotient recombine",
        "flat flat_nodes rows evaluate",
    ),
    "simplify": (
        "law trace facts domain congruence preimage stable_constraints",
        "constructor_laws range",
        "definedness width",
        "simplifier",
        "cost",
        "rules",
        "driver constraints",
        "domain_simplifier",
    ),
    "map": ("symbolic_map names indexing_map", "variables compose", "simplify", "parametric", "instances"),
    "sets": ("points", "count inverse image relate"),
    "access": ("period prediction", "warps transactions", "memory_traffic", "block_sizes"),
    "text": ("parse_cache scan write_expr", "frame write_sum write_map", "read_expr", "header", "read_map"),
    "hlo_text": (
        "error draft",
        "lexer",
        "shape groups",
        "tables number",
        "attributes literal calls pairs",
        "print infer",
        "opcodes called",
        "signature",
        "parser",
    ),
    "propagation": (
        "interner joint_map replicas structure",
        "reasons operand_map operand_maps",
        "map_sets",
        "reached_instructions dependence_graph array_sets",
        "formulas",
        "array_sources derive_formulas propagate",
    ),
}


def core_files() -> list[Path]:
    return sorted(f for f in CORE.rglob("*.rs") if f.name != "lib.rs")


def code_of(file: Path) -> str:
    """A file's text without the tests at its end, and without comments, which may point anywhere."""
    lines = file.read_text().split("#[cfg(test)]")[0].splitlines(keepends=True)
    return "".join(line for line in lines if not line.lstrip().startswith("//"))


def place(file: Path) -> list[str]:
    """The room and the modules in it: `["simplify", "rules", "sum"]`; of a `mod.rs`, its folder's."""
    parts = list(file.relative_to(CORE).with_suffix("").parts)
    return parts[:-1] if parts[-1] == "mod" else parts


def used_paths(file: Path) -> set[tuple[str, ...]]:
    """What the file names of the crate: `crate::room::file::Item` as `("room", "file", "Item")`, `super` resolved."""
    found = {tuple(path.split("::")) for path in re.findall(r"\bcrate::(\w+(?:::\w+)*)", code_of(file))}
    assert not re.search(r"\bcrate::(?:\w+::)*\{[^}]*\w::", code_of(file)), f"{file}: one path a line"
    for ups, rest in re.findall(r"\b((?:super::)+)(\w+(?:::\w+)*)", code_of(file)):
        above = place(file)[: len(place(file)) - ups.count("super")]
        found.add((*above, *rest.split("::")))
    return found


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
    found: set[str] = set()
    for layer in FILES[room]:
        found |= set(layer.split())
        if module in found:
            return found
    raise AssertionError(f"{room}/{module} has no place among the layers of its room")


def test_the_rooms_have_no_circle() -> None:
    seen: set[str] = set()
    for room, lower in ROOMS.items():
        assert lower <= seen
        seen.add(room)
    assert {place(f)[0] for f in core_files()} == set(ROOMS)


def used_files(file: Path, root: Path) -> set[Path]:
    """The files that a file names by path; `crate::a::b::Item` is in `a/b.rs`, or in `a.rs` or `a/mod.rs`."""
    found = set()
    for path in re.findall(r"\bcrate::(\w+(?:::\w+)*)", code_of(file)):
        parts = path.split("::")
        for end in range(len(parts), 0, -1):
            module = root.joinpath(*parts[:end])
            candidates = [f for f in (module.with_suffix(".rs"), module / "mod.rs") if f.exists()]
            if candidates:
                found.add(candidates[0])
                break
    return found - {file}


@pytest.mark.parametrize("root", [CORE, ROOT / "rust/py/src"], ids=["core", "binding"])
def test_files_have_no_circle(root: Path) -> None:
    """No file uses one that uses it, in however many steps; the families of rules simplify each other's results."""
    faces = {root / "lib.rs", *root.rglob("mod.rs")}
    uses = {f: used_files(f, root) - faces for f in root.rglob("*.rs") if f not in faces and f.parent.name != "rules"}
    while leaves := [f for f, used in uses.items() if not used & uses.keys()]:
        for leaf in leaves:
            del uses[leaf]
    assert not uses, f"a circle among {sorted(str(f.relative_to(root)) for f in uses)}"


def test_architecture_states_the_layers_of_the_core() -> None:
    document = (ROOT / "ARCHITECTURE.md").read_text()
    for room, layers in FILES.items():
        assert f"{room}/ {' '.join(layers)}".split() in [line.split() for line in document.splitlines()]


def test_the_core_has_one_face() -> None:
    assert not re.search(r"\bpub mod\b|\*;", (CORE / "lib.rs").read_text())
    outside = [
        f for d in ("rust/py", "rust/capi", "rust/core/tests", "benches", "fuzz") for f in (ROOT / d).rglob("*.rs")
    ]
    for file in outside:
        assert not re.search(r"\bindexing_core::[a-z]\w*::", file.read_text()), file


def test_the_core_knows_no_python_and_does_no_io() -> None:
    assert "pyo3" not in (ROOT / "rust/core/Cargo.toml").read_text()
    for file in CORE.rglob("*.rs"):
        found = re.findall(r"\bstd::(?:fs|io|net|env|process)\b|\bprintln!|\bstatic mut\b|\bunsafe\b", code_of(file))
        assert not found, f"{file.relative_to(ROOT)}: {found}"


def test_the_binding_reaches_for_memory_in_one_file() -> None:
    files = [f.name for f in (ROOT / "rust/py/src").rglob("*.rs") if re.search(r"\bunsafe\b", code_of(f))]
    assert files == ["array_memory.rs"]
