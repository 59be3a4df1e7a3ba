"""The notebooks are the tutorials, are valid, and run from the first cell to the last with the outputs that they hold."""

import ast
import contextlib
import io
import json
from pathlib import Path

import nbformat
import pytest
from notebooks import FOLDER, TUTORIALS, notebook

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("name", TUTORIALS)
def test_the_notebook_is_its_tutorial(name: str) -> None:
    text = (ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8")
    written = (FOLDER / f"{name}.ipynb").read_text(encoding="utf-8")
    assert written == notebook(text), "run: make docs"
    nbformat.validate(json.loads(written))
    assert f"(notebooks/{name}.ipynb)" in text, "the page leads to it"


def run(cell: str, names: dict[str, object]) -> str:
    """What a cell prints, the value of its last expression too, as a notebook does."""
    body = ast.parse(cell).body
    last = body.pop() if body and isinstance(body[-1], ast.Expr) else None
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        exec(compile(ast.Module(body, []), "<cell>", "exec"), names)
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), "<cell>", "eval"), names)
            if value is not None:
                print(repr(value))
    return said.getvalue()


@pytest.mark.parametrize("name", TUTORIALS)
def test_a_notebook_runs_from_start_to_end(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    names: dict[str, object] = {}
    cells = json.loads((FOLDER / f"{name}.ipynb").read_text(encoding="utf-8"))["cells"]
    code = [cell for cell in cells if cell["cell_type"] == "code"]
    assert len(code) >= 3
    for cell in code:
        expected = "".join(output["text"] for output in cell["outputs"])
        assert run(cell["source"], names) == expected, cell["source"]
