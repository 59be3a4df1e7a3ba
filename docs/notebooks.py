"""The tutorials as notebooks: the text as it stands, each example a cell with the output that tests of the documents see."""

from __future__ import annotations

import doctest
import json
import re
from collections.abc import Iterator
from pathlib import Path

HERE = Path(__file__).parent
FOLDER = HERE / "notebooks"
LINK = re.compile(r"\]\((?!https?:|#)")  # to a file beside the document, which is above the notebook
TUTORIALS = ("tutorial_jax", "tutorial_tuning", "tutorial_compiler")


def notebook(text: str) -> str:
    """The notebook of a document, in the format that Jupyter reads."""
    cells = [{"id": f"cell-{k}"} | cell for k, cell in enumerate(cells_of(text))]
    about = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}
    whole = {"cells": cells, "metadata": about, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(whole, indent=1, ensure_ascii=False) + "\n"


def cells_of(text: str) -> Iterator[dict[str, object]]:
    """What stands between examples, and the examples up to each that prints something."""
    for k, part in enumerate(re.split(r"^```python\n(.*?)^```\n", text, flags=re.MULTILINE | re.DOTALL)):
        if k % 2:
            yield from code_cells(part)
        elif part.strip():
            yield {"cell_type": "markdown", "metadata": {}, "source": LINK.sub("](../", part.strip())}


def code_cells(text: str) -> Iterator[dict[str, object]]:
    """A cell for each output, with the statements that lead to it."""
    pending = ""
    examples = doctest.DocTestParser().get_examples(text)
    for k, example in enumerate(examples):
        pending += example.source
        if example.want or k + 1 == len(examples):
            printed = [{"output_type": "stream", "name": "stdout", "text": example.want}] if example.want else []
            yield {
                "cell_type": "code",
                "execution_count": None,
                "metadata": {},
                "outputs": printed,
                "source": pending.rstrip("\n"),
            }
            pending = ""


def main() -> None:
    """Write the notebook of each tutorial."""
    FOLDER.mkdir(exist_ok=True)
    for name in TUTORIALS:
        text = (HERE / f"{name}.md").read_text(encoding="utf-8")
        (FOLDER / f"{name}.ipynb").write_text(notebook(text), encoding="utf-8")


if __name__ == "__main__":
    main()
