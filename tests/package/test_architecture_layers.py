"""Who imports whom, as ARCHITECTURE.md says: its lines of layers are what is enforced here. Imports for types count too."""

import ast
import re
from collections.abc import Iterable, Mapping
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "python" / "indexing"
#: A method that hands its work to a unit above, and needs it only when it is called.
DEFERRED = {("emitters", "runtime")}  # Kernel.cubin


def stated_layers() -> dict[str, set[str]]:
    """The block of ARCHITECTURE.md whose lines say what a unit (a module, or a whole folder) imports."""
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"^```layers\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    pairs = (line.partition("<-")[::2] for line in block.splitlines())
    return {unit.strip(): set(below.split()) for unit, below in pairs}


def modules() -> dict[str, Path]:
    """Each module of the package by its name below `indexing`; the package's own `__init__` has every name, and is none."""
    found = {".".join(f.relative_to(PACKAGE).with_suffix("").parts): f for f in sorted(PACKAGE.rglob("*.py"))}
    del found["__init__"]
    return {name.removesuffix(".__init__"): file for name, file in found.items()}


MODULES = modules()


def imported(name: str, *, types: bool = True) -> set[str]:
    """The modules of the package that a module imports, inside of functions as well; `types`: for type checkers too."""
    found: set[str] = set()
    pending: list[ast.AST] = [ast.parse(MODULES[name].read_text(encoding="utf-8"))]
    while pending:
        node = pending.pop()
        if not types and isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            pending += node.orelse
            continue
        pending += ast.iter_child_nodes(node)
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{name}:{node.lineno}: write the import in full, from indexing..."
            found |= {path for alias in node.names for path in home_of(node.module or "", alias.name)}
        elif isinstance(node, ast.Import):
            found |= {path for alias in node.names for path in home_of(alias.name, "")}
    return found - {name}


def home_of(module: str, name: str) -> Iterable[str]:
    """The module below `indexing` that `from module import name` takes it from."""
    if module.split(".")[0] != "indexing":
        return
    base = module.removeprefix("indexing").removeprefix(".")
    inside = f"{base}.{name}".strip(".")
    if inside in MODULES:
        yield inside
    elif base:
        yield base
    elif name == "_core":
        yield "_core"


def unit_of(name: str) -> str:
    return name.split(".")[0]


@pytest.mark.parametrize("name", MODULES)
def test_imports_follow_the_layers(name: str) -> None:
    unit = unit_of(name)
    allowed = stated_layers()[unit] | {unit} | {above for own, above in DEFERRED if own == unit}
    used = {unit_of(path) for path in imported(name)}
    assert used <= allowed, f"{unit} may not import {sorted(used - allowed)}: see the layers in ARCHITECTURE.md"


def test_every_unit_has_its_line_and_stands_above_what_it_imports() -> None:
    stated = stated_layers()
    assert set(stated) == {unit_of(name) for name in MODULES} | {"_core"}
    seen: set[str] = set()
    for unit, below in stated.items():
        assert below <= seen, f"{unit} stands before {sorted(below - seen)}"
        seen.add(unit)


def circles(edges: Mapping[str, set[str]]) -> set[str]:
    """The nodes that can reach themselves: what is left when nodes without an edge onwards are taken away, and so on."""
    left = dict(edges)
    while ends := [node for node, onwards in left.items() if not onwards & left.keys()]:
        for node in ends:
            del left[node]
    return {node for node in left if reaches(node, node, edges)}


def reaches(start: str, goal: str, edges: Mapping[str, set[str]]) -> bool:
    seen: set[str] = set()
    pending = list(edges.get(start, ()))
    while pending:
        node = pending.pop()
        if node not in seen:
            seen.add(node)
            pending += edges.get(node, ())
    return goal in seen


def test_circles_are_found() -> None:
    assert circles({"a": {"b"}, "b": {"c"}, "c": {"b"}, "d": {"a"}}) == {"b", "c"}
    assert circles({"a": {"b"}, "b": {"c"}, "c": set()}) == set()


def folder_of(name: str) -> str:
    return name if MODULES[name].name == "__init__.py" else name.rpartition(".")[0] or name


def test_there_is_no_circle_between_folders() -> None:
    """Folders within a folder are its own, so that imports between the two are no import of another folder."""
    edges: dict[str, set[str]] = {}
    for name in MODULES:
        own = folder_of(name)
        others = {folder_of(path) for path in imported(name) if path in MODULES} - {own}
        apart = {o for o in others if not o.startswith(f"{own}.") and not own.startswith(f"{o}.")}
        edges.setdefault(own, set()).update(o for o in apart if (unit_of(own), unit_of(o)) not in DEFERRED)
    assert circles(edges) == set()


def test_there_is_no_circle_between_modules_that_run() -> None:
    """Types may name each other; what a module needs in order to run stands below it."""
    edges = {
        name: {path for path in imported(name, types=False) if (unit_of(name), unit_of(path)) not in DEFERRED}
        for name in MODULES
    }
    assert circles(edges) == set()


def test_no_function_has_the_name_of_a_module_beside_it() -> None:
    found = []
    for name, file in MODULES.items():
        folder = file.parent
        beside = {f.stem for f in folder.glob("*.py")} | {
            f.name for f in folder.iterdir() if (f / "__init__.py").exists()
        }
        functions = {n.name for n in ast.parse(file.read_text(encoding="utf-8")).body if isinstance(n, ast.FunctionDef)}
        found += [f"{name}.{function}" for function in sorted(functions & beside)]
    assert found == []
