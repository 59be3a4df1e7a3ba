"""Who imports whom, as ARCHITECTURE.md says: its lines of layers are what is enforced here. Imports for types count too."""

import ast
import re
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "python" / "indexing"
#: Imports upwards, inside of a method: a kernel asks for the compiler, a value for its picture in a notebook.
DEFERRED = {("display", "show.notebook")}
BY_NAME = ("Library", "import_module", "__import__")  # functions that are given the name of a module
FACE = "indexing"  # the package's own `__init__`, which has every name


def stated_layers() -> dict[str, set[str]]:
    """The block of ARCHITECTURE.md whose lines say what a unit (a module, or a whole folder) imports."""
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"^```layers\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    pairs = (line.partition("<-")[::2] for line in block.splitlines())
    return {unit.strip(): set(below.split()) for unit, below in pairs}


def modules() -> dict[str, Path]:
    """Each module of the package by its name below `indexing`, stubs included."""
    files = sorted(f for f in PACKAGE.rglob("*.py*") if f.suffix in (".py", ".pyi"))
    actual = {".".join(f.relative_to(PACKAGE).with_suffix("").parts): f for f in files}
    return {FACE if name == "__init__" else name.removesuffix(".__init__"): file for name, file in actual.items()}


MODULES = modules()


@cache
def imported(name: str) -> set[str]:
    """The modules of the package that a module imports: at the top, inside of functions, for type checkers, by name."""
    result: set[str] = set()
    for node in ast.walk(ast.parse(MODULES[name].read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{name}:{node.lineno}: write the import in full, from indexing..."
            result |= {path for alias in node.names for path in home_of(node.module or "", alias.name)}
        elif isinstance(node, ast.Import):
            result |= {path for alias in node.names for path in home_of(alias.name, "")}
        elif isinstance(node, ast.Call) and ast.unparse(node.func).split(".")[-1] in BY_NAME:
            given = (str(a.value) for a in node.args if isinstance(a, ast.Constant))
            result |= {path for module in given for path in home_of(module, "")}
    return result - {name}


def below(name: str) -> set[str]:
    """The modules that a module needs: what it imports, the few imports upwards aside."""
    return {path for path in imported(name) if (name, path) not in DEFERRED}


def test_imports_upwards_are_those_that_are_listed() -> None:
    assert all(above in imported(name) for name, above in DEFERRED)


def home_of(module: str, name: str) -> Iterable[str]:
    """The module below `indexing` that `from module import name` takes it from."""
    if module.split(".")[0] != "indexing":
        return
    base = module.removeprefix("indexing").removeprefix(".")
    inside = f"{base}.{name}".strip(".")
    yield inside if inside in MODULES else base or FACE


def unit_of(name: str) -> str:
    return name.split(".")[0]


@pytest.mark.parametrize("name", sorted(MODULES.keys() - {FACE}))
def test_imports_follow_the_layers(name: str) -> None:
    unit = unit_of(name)
    allowed = stated_layers()[unit] | {unit}
    used = {unit_of(path) for path in below(name)}
    if unit == "cli":
        used.discard(FACE)  # commands are written as a user would write them
    assert used <= allowed, f"{unit} may not import {sorted(used - allowed)}: see the layers in ARCHITECTURE.md"


def test_every_unit_has_its_line_and_stands_above_what_it_imports() -> None:
    stated = stated_layers()
    assert set(stated) == {unit_of(name) for name in MODULES} - {FACE}
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


def test_there_is_no_circle_between_files() -> None:
    assert circles({name: below(name) for name in MODULES}) == set()


def folders() -> list[str]:
    """The folders of the package by the names of their modules, the package itself first."""
    return ["", *(f"{name}." for name, file in MODULES.items() if file.name == "__init__.py" and name != FACE)]


@pytest.mark.parametrize("folder", folders())
def test_there_is_no_circle_between_what_a_folder_holds(folder: str) -> None:
    """Its files and its folders, each of these with all that it holds."""

    def held(name: str) -> str:
        return name.removeprefix(folder).split(".")[0] if name.startswith(folder) else ""

    edges: dict[str, set[str]] = {}
    for name in MODULES.keys() - {FACE}:
        own = held(name)
        edges.setdefault(own, set()).update({held(path) for path in below(name)} - {own, ""})
    assert circles(edges) == set()


def test_no_function_has_the_name_of_a_module_beside_it() -> None:
    violations = []
    for name, file in MODULES.items():
        folder = file.parent
        beside = {f.stem for f in folder.glob("*.py")} | {
            f.name for f in folder.iterdir() if (f / "__init__.py").exists()
        }
        functions = {n.name for n in ast.parse(file.read_text(encoding="utf-8")).body if isinstance(n, ast.FunctionDef)}
        violations += [f"{name}.{function}" for function in sorted(functions & beside)]
    assert violations == []
