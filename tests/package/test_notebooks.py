"""The notebooks are the tutorials as they run, are valid, and show values as notebooks do."""

import json
from pathlib import Path

import nbformat
import pytest
from notebooks import FOLDER, TUTORIALS, notebook

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("name", TUTORIALS)
def test_the_notebook_is_its_tutorial_as_it_runs(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(FOLDER)  # where Jupyter runs it
    text = (ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8")
    written = (FOLDER / f"{name}.ipynb").read_text(encoding="utf-8")
    assert written == notebook(text), "run: make docs"
    nbformat.validate(json.loads(written))
    code = [cell for cell in json.loads(written)["cells"] if cell["cell_type"] == "code"]
    assert [cell["execution_count"] for cell in code] == [*range(1, len(code) + 1)]
    assert "also a notebook" not in written
    assert f"(notebooks/{name}.ipynb)" in text, "the page leads to it"


def test_values_are_shown_in_the_forms_that_notebooks_prefer() -> None:
    kinds = {
        kind
        for name in TUTORIALS
        for cell in json.loads((FOLDER / f"{name}.ipynb").read_text(encoding="utf-8"))["cells"]
        for output in cell.get("outputs", ())
        for kind in output.get("data", ())
    }
    assert kinds == {"text/plain", "text/latex", "text/html", "image/svg+xml"}
