"""Gather the documents of the site in one folder, for MkDocs: python docs/gather_site.py FOLDER

The README is its first page; links into docs/ become links beside it, and the reference has a page for each topic.
"""

import json
import re
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import indexing

ROOT = Path(__file__).resolve().parent.parent
PROJECT = ("ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md")
PICTURE = re.compile(
    r'<picture>\s*<source media="[^"]*" srcset="([^"]*)">\s*<img alt="([^"]*)" src="([^"]*)">\s*</picture>'
)
NEIGHBOUR = re.compile(
    r"\]\(\.\./([\w/]+)\.(?:md|ipynb)"
)  # beside a notebook's folder; MkDocs leaves such links as they are
#: What only the tests of examples read.
FOR_TESTS = re.compile(r"^<BLANKLINE>$|  # doctest: .*$", re.MULTILINE)
#: The pages of the reference, and the folders of the package whose public names stand on each.
TOPICS = {
    "maps": ("indexing", "_core", "certificates"),
    "programs": ("hlo", "indexing_analysis", "reference"),
    "analyses": ("analysis", "reports", "explorer", "show", "device"),
    "kernels": ("kernels", "partitioner", "planning"),
    "predictions": ("model", "tuning"),
    "execution": ("executable",),
    "errors": ("errors",),
}
#: Modules whose names are reached through them.
MODULES = {
    "programs": ("hlo", "layout", "reference"),
    "maps": ("convert",),
    "analyses": ("show",),
    "execution": ("runtime",),
}


def beside(text: str) -> str:
    """The text with links that hold for documents in one folder, and pictures, which lead to their files, for both schemes."""
    text = PICTURE.sub(r"[![\2](\3#only-light)](\3)\n[![\2](\1#only-dark)](\1)", FOR_TESTS.sub("", text))
    return re.sub(r"\]\((?:docs/|\.\./)", "](", text)


def on_a_page(notebook: str) -> str:
    """The notebook with links as pages have them, and maps as texts: formulas need a script of another site."""
    data = json.loads(NEIGHBOUR.sub(r"](../\1.html", notebook))
    for cell in data["cells"]:
        for output in cell.get("outputs", ()):
            output.get("data", {}).pop("text/latex", None)
    return json.dumps(data)


def names_by_topic() -> dict[str, list[str]]:
    """The public names of each page, in the order of `indexing.__all__`."""
    topic_of = {folder: topic for topic, folders in TOPICS.items() for folder in folders}
    found: dict[str, list[str]] = {topic: [] for topic in TOPICS}
    for name in indexing.__all__:
        value = getattr(indexing, name)
        if not isinstance(value, ModuleType):
            found[topic_of[".".join(value.__module__.split(".")[1:2]) or "indexing"]].append(name)
    return found


def reference(topic: str, names: list[str]) -> Iterator[str]:
    """The lines of a page with a section for each name, filled in from docstrings."""
    yield from (f"# {topic.capitalize()}", "")
    for name in (*names, *MODULES.get(topic, ())):
        yield from (f"::: indexing.{name}", "")


def main(folder: Path) -> None:
    """Write all pages into the folder, which is emptied first."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for document in (ROOT / "docs").glob("*.md"):
        (folder / document.name).write_text(beside(document.read_text(encoding="utf-8")), encoding="utf-8")
    shutil.copytree(ROOT / "docs" / "pictures", folder / "pictures")
    for name in ("site.css", "iframe-worker.js"):
        shutil.copy(ROOT / "docs" / name, folder)
    (folder / "notebooks").mkdir()
    for notebook in (ROOT / "docs" / "notebooks").glob("*.ipynb"):
        (folder / "notebooks" / notebook.name).write_text(
            on_a_page(notebook.read_text(encoding="utf-8")), encoding="utf-8"
        )
    for name in PROJECT:
        (folder / name).write_text(beside((ROOT / name).read_text(encoding="utf-8")), encoding="utf-8")
    (folder / "index.md").write_text(beside((ROOT / "README.md").read_text(encoding="utf-8")), encoding="utf-8")
    for topic, names in names_by_topic().items():
        (folder / f"reference_{topic}.md").write_text("\n".join(reference(topic, names)), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
