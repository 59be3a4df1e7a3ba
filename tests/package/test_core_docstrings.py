"""What `help` shows of the compiled module is what its stub says: docstrings, and the names and defaults of parameters."""

import ast
import inspect
from pathlib import Path

import pytest

from indexing import _core

STUB = Path(_core.__file__).parent / "_core.pyi"
Function = ast.FunctionDef


def documented() -> list[tuple[str, ast.ClassDef | Function]]:
    """Each public class, method and function of the stub. Slots (`__len__`) have the interpreter's words."""
    actual: list[tuple[str, ast.ClassDef | Function]] = []
    for node in ast.parse(STUB.read_text()).body:
        if isinstance(node, ast.ClassDef):
            actual.append((node.name, node))
            methods = [m for m in node.body if isinstance(m, Function) and not m.name.startswith("_")]
            actual += [(f"{node.name}.{m.name}", m) for m in methods]
        elif isinstance(node, Function):
            actual.append((node.name, node))
    public = [(name, node) for name, node in actual if not name.startswith("_")]
    return [(name, node) for name, node in public if not is_overload(node) or ast.get_docstring(node)]


def is_overload(node: ast.ClassDef | Function) -> bool:
    return any(ast.unparse(d) == "overload" for d in node.decorator_list)


def at_run_time(name: str) -> object:
    result: object = _core
    for part in name.split("."):
        result = getattr(result, part)
    return result


@pytest.mark.parametrize(("name", "node"), documented(), ids=lambda x: x if isinstance(x, str) else "")
def test_help_shows_the_docstring_of_the_stub(name: str, node: ast.ClassDef | Function) -> None:
    assert ast.get_docstring(node)
    assert inspect.getdoc(at_run_time(name)) == ast.get_docstring(node)


def functions() -> list[tuple[str, Function]]:
    return [(name, node) for name, node in documented() if isinstance(node, Function) and not is_property(node)]


def is_property(node: Function) -> bool:
    return any(ast.unparse(d).endswith("property") for d in node.decorator_list)


@pytest.mark.parametrize(("name", "node"), functions(), ids=lambda x: x if isinstance(x, str) else "")
def test_signatures_are_those_of_the_stub(name: str, node: Function) -> None:
    stated = node.args
    names = [a.arg for a in (*stated.posonlyargs, *stated.args, *stated.kwonlyargs) if a.arg not in ("self", "cls")]
    parameters = inspect.signature(at_run_time(name)).parameters  # type: ignore[arg-type]
    own = [p for p in parameters.values() if p.name not in ("self", "cls")]
    variadic = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    assert [p.name for p in own if p.kind not in variadic] == names
    defaults = [ast.unparse(d) for d in stated.defaults] + [ast.unparse(d) for d in stated.kw_defaults if d]
    shown = [repr(p.default) for p in own if p.default is not inspect.Parameter.empty]
    assert [d if d != "Ellipsis" else "..." for d in shown] == defaults
