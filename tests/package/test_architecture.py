"""The invariants of ARCHITECTURE.md that can be read off the sources: who imports whom, names, lengths."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "python" / "indexing"

# A unit (a module, or a whole folder) and those it may import when it is imported.
BELOW_OPS = {"_core", "errors", "arguments", "lazy", "hlo"}
BELOW_EMIT = BELOW_OPS | {"ops", "indexing_analysis", "partitioner", "work"}
MAY_IMPORT = {
    "_core": set(),
    "errors": set(),
    "arguments": {"errors"},
    "extras": set(),
    "lazy": set(),
    "hlo": {"_core", "errors", "arguments", "extras", "lazy"},
    "ops": BELOW_OPS,
    "indexing_analysis": BELOW_OPS | {"ops"},
    "reference": BELOW_OPS | {"ops"},
    "partitioner": BELOW_OPS | {"ops", "indexing_analysis"},
    "work": BELOW_OPS | {"ops", "indexing_analysis", "partitioner"},
    "emitters": BELOW_EMIT,
    "analysis": BELOW_EMIT | {"emitters", "extras"},
    "convert": BELOW_OPS,
    "runtime": {"errors", "extras", "emitters"},
    "executable": BELOW_EMIT | {"emitters", "reference", "runtime"},
    "show": BELOW_EMIT,
    "tune": BELOW_EMIT | {"emitters", "analysis", "runtime", "executable", "extras", "reference"},
    "cli": BELOW_EMIT | {"emitters", "analysis", "convert", "runtime", "executable", "reference", "show", "__init__"},
    "__main__": {"cli"},
}
# Imports inside a function: what a unit hands work to only when asked, and never needs in order to be imported.
MAY_DEFER = {
    "emitters": {"runtime"},  # Kernel.cubin
}
LONGEST_FILE = 620  # lines


def python_files() -> list[Path]:
    return sorted(PACKAGE.rglob("*.py"))


def unit_of(file: Path) -> str:
    return file.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imports(file: Path) -> tuple[set[str], set[str]]:
    """Units imported with the module, and those that its functions import; imports for type checkers left out."""
    eager: set[str] = set()
    deferred: set[str] = set()
    pending: list[tuple[ast.AST, bool]] = [(ast.parse(file.read_text()), False)]
    while pending:
        node, inside = pending.pop()
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            pending += [(child, inside) for child in node.orelse]
            continue
        for name in imported_names(node, file):
            (deferred if inside else eager).add(name)
        inside = inside or isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        pending += [(child, inside) for child in ast.iter_child_nodes(node)]
    return eager, deferred


def imported_names(node: ast.AST, file: Path) -> list[str]:
    if isinstance(node, ast.Import):
        paths = [alias.name for alias in node.names]
    elif isinstance(node, ast.ImportFrom):
        assert node.level == 0, f"{file}:{node.lineno}: write the import in full, from indexing..."
        paths = [f"{node.module}.{alias.name}" for alias in node.names] if node.module == "indexing" else [node.module]
    else:
        return []
    own = [path.split(".") for path in paths if path and path.split(".")[0] == "indexing"]
    return [path[1] if len(path) > 1 and path[1] in MAY_IMPORT else "__init__" for path in own]


@pytest.mark.parametrize("file", python_files(), ids=lambda f: str(f.relative_to(PACKAGE)))
def test_python_imports_follow_the_layers(file: Path) -> None:
    unit = unit_of(file)
    if unit == "__init__":
        return
    eager, deferred = imports(file)
    allowed = MAY_IMPORT[unit] | {unit}
    assert eager <= allowed, f"{unit} may not import {sorted(eager - allowed)}"
    allowed |= MAY_DEFER.get(unit, set())
    assert deferred <= allowed, f"{unit} may not import {sorted(deferred - allowed)}, not even in a function"


def test_every_layer_stands_in_the_table() -> None:
    assert {unit_of(f) for f in python_files()} - {"__init__"} <= set(MAY_IMPORT)


def sources() -> list[Path]:
    folders = ("rust", "python", "tests", "benches", "examples", "fuzz", "docs")
    return sorted(f for d in folders for f in (ROOT / d).rglob("*") if f.suffix in (".rs", ".py", ".pyi"))


def test_no_file_is_named_for_nothing_in_particular() -> None:
    vague = {"util", "utils", "common", "helper", "helpers", "base", "misc"}
    assert [f for f in sources() if f.stem in vague or f.parent.name in vague] == []


def code_of(file: Path) -> str:
    """A file's text; of a Rust file without the tests at its end."""
    return file.read_text().split("#[cfg(test)]")[0]


def test_files_stay_short() -> None:
    written = [f for f in sources() if f.suffix != ".pyi"]  # the stub is one file as the compiled module is one
    long = {str(f.relative_to(ROOT)): n for f in written if (n := len(code_of(f).splitlines())) > LONGEST_FILE}
    assert long == {}


def test_every_executable_of_a_test_is_called_with_data_that_differs() -> None:
    """The helper `compiled` sees to it; a program compiled in another way could answer from its first call.

    What is refused stands in a lambda.
    """
    allowed = {"kernels.py", Path(__file__).name}
    files = [f for f in (ROOT / "tests").rglob("*.py") if f.name not in allowed]
    assert [f.name for f in files if re.search(r"(?<!lambda: )ix\.compile\(", f.read_text())] == []


def test_only_targets_know_which_target_it_is() -> None:
    """A pass, a hero or a builder asks what a target can do, never which one it is."""
    names = re.compile(r"""["'](cuda|opencl|c)["']""")
    asked = re.compile(r"dialect (==|!=|in)|target\.name|TARGETS\[[\"']")
    found = []
    for file in sorted((PACKAGE / "emitters").rglob("*.py")):
        if file.parent.name == "targets":
            continue
        for number, line in enumerate(file.read_text().splitlines(), 1):
            is_default = "dialect: Dialect =" in line
            if asked.search(line) or (names.search(line) and not is_default and 'kind == "c"' not in line):
                found.append(f"{file.relative_to(ROOT)}:{number}: {line.strip()}")
    assert found == []


def test_no_unfinished_or_silenced_code() -> None:
    mark = re.compile(
        r"\bTO" + r"DO\b|\bXX" + r"X\b|except Exception|except:$|mark\.skip|\b(unimplemented|todo)!|NotImplementedError"
    )
    found = []
    for file in sources():
        for number, line in enumerate(file.read_text().splitlines(), 1):
            if mark.search(line) and file != Path(__file__).resolve():
                found.append(f"{file.relative_to(ROOT)}:{number}: {line.strip()}")
    assert found == []
