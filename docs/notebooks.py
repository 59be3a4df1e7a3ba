"""The tutorials as notebooks: their text, and each example a cell that was run, with what a notebook shows of its value.

Graphs are laid out by this package: Graphviz's layout differs between its versions, and between the fonts of machines.
"""

from __future__ import annotations

import ast
import contextlib
import doctest
import io
import json
import re
from collections.abc import Iterator
from pathlib import Path
from unittest import mock

from indexing.show import graphviz_layout

HERE = Path(__file__).parent
FOLDER = HERE / "notebooks"
LINK = re.compile(r"\]\((?!https?:|#)")  # to a file beside the document, which is above the notebook
FILE = re.compile(r'"(?=examples/)')  # a path from the root of the project; Jupyter works in the notebook's folder
PICTURE = re.compile(r"<picture>.*?</picture>\n*", re.DOTALL)  # a notebook draws its own
ITSELF = re.compile(r"^This page is also a notebook.*\n*", re.MULTILINE)
TUTORIALS = ("tutorial_jax", "tutorial_tuning", "tutorial_compiler")
RICH = {"text/latex": "_repr_latex_", "image/svg+xml": "_repr_svg_", "text/html": "_repr_html_"}


def notebook(text: str) -> str:
    """The notebook of a document, in the format that Jupyter reads."""
    names: dict[str, object] = {}
    with mock.patch.object(graphviz_layout, "is_available", lambda: False):
        parts = list(cells_of(ITSELF.sub("", text), names))
    cells = [{"id": f"cell-{k}"} | cell for k, cell in enumerate(parts)]
    for number, cell in enumerate((cell for cell in cells if cell["cell_type"] == "code"), start=1):
        for counted in (cell, *(o for o in cell["outputs"] if "execution_count" in o)):
            counted["execution_count"] = number
    about = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}
    whole = {"cells": cells, "metadata": about, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(whole, indent=1, ensure_ascii=False) + "\n"


def cells_of(text: str, names: dict[str, object]) -> Iterator[dict[str, object]]:
    """What stands between examples, and the examples up to each that prints something."""
    for k, part in enumerate(re.split(r"^```python\n(.*?)^```\n", text, flags=re.MULTILINE | re.DOTALL)):
        if k % 2:
            yield from code_cells(part, names)
        elif part.strip():
            source = LINK.sub("](../", PICTURE.sub("", part.strip()))
            yield {"cell_type": "markdown", "metadata": {}, "source": source}


def code_cells(text: str, names: dict[str, object]) -> Iterator[dict[str, object]]:
    """A cell for each output, with the statements that lead to it."""
    pending = ""
    examples = doctest.DocTestParser().get_examples(text)
    for k, example in enumerate(examples):
        pending += example.source
        if example.want or k + 1 == len(examples):
            source = FILE.sub('"../../', pending.rstrip("\n"))
            yield {
                "cell_type": "code",
                "execution_count": None,
                "metadata": {},
                "outputs": run(source, names),
                "source": source,
            }
            pending = ""


def run(source: str, names: dict[str, object]) -> list[dict[str, object]]:
    """The outputs of a cell: what it prints, and the value of its last expression in all forms that it has."""
    body = ast.parse(source).body
    last = body.pop() if body and isinstance(body[-1], ast.Expr) else None
    said, value = io.StringIO(), None
    with contextlib.redirect_stdout(said):
        exec(compile(ast.Module(body, []), "<cell>", "exec"), names)
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), "<cell>", "eval"), names)
    printed = said.getvalue()
    outputs: list[dict[str, object]] = [{"output_type": "stream", "name": "stdout", "text": printed}] if printed else []
    if value is not None:
        forms = {kind: getattr(value, method)() for kind, method in RICH.items() if hasattr(value, method)}
        data = {"text/plain": repr(value)} | {kind: text for kind, text in forms.items() if text is not None}
        outputs.append({"output_type": "execute_result", "execution_count": None, "metadata": {}, "data": data})
    return outputs


def main() -> None:
    """Write the notebook of each tutorial."""
    FOLDER.mkdir(exist_ok=True)
    with contextlib.chdir(FOLDER):
        for name in TUTORIALS:
            text = (HERE / f"{name}.md").read_text(encoding="utf-8")
            (FOLDER / f"{name}.ipynb").write_text(notebook(text), encoding="utf-8")


if __name__ == "__main__":
    main()
