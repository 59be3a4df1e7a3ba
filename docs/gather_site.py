"""Gather the documents of the site in one folder, for MkDocs: python docs/gather_site.py FOLDER

The README is its first page; links into docs/ become links beside it, and the reference has a section for each public name.
"""

import re
import shutil
import sys
from pathlib import Path

import indexing

ROOT = Path(__file__).resolve().parent.parent
PROJECT = ("ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md")


def beside(text: str) -> str:
    """The text with links that hold for documents in one folder."""
    return re.sub(r"\]\((?:docs/|\.\./)", "](", text)


def reference() -> str:
    """A page with a section for each public name, filled in from docstrings."""
    lines = ["# Reference", ""]
    for name in indexing.__all__:
        lines += [f"::: indexing.{name}", ""]
    return "\n".join(lines)


def main(folder: Path) -> None:
    """Write all pages into the folder, which is emptied first."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for document in (ROOT / "docs").glob("*.md"):
        (folder / document.name).write_text(beside(document.read_text(encoding="utf-8")), encoding="utf-8")
    for kind in ("notebooks", "pictures"):
        shutil.copytree(ROOT / "docs" / kind, folder / kind)
    for name in PROJECT:
        (folder / name).write_text(beside((ROOT / name).read_text(encoding="utf-8")), encoding="utf-8")
    (folder / "index.md").write_text(beside((ROOT / "README.md").read_text(encoding="utf-8")), encoding="utf-8")
    (folder / "reference.md").write_text(reference(), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
