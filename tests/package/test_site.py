"""The site's documents: all of them are in its navigation, and links between them lead somewhere."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

import indexing as ix

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    folder = tmp_path_factory.mktemp("site") / "docs"
    subprocess.run([sys.executable, str(ROOT / "docs" / "gather_site.py"), str(folder)], check=True)
    return {page.name: page.read_text() for page in folder.glob("*.md")}


def test_the_notebooks_are_pages() -> None:
    navigation = set(re.findall(r": (notebooks/\w+\.ipynb)$", (ROOT / "mkdocs.yml").read_text(), re.MULTILINE))
    assert navigation == {f"notebooks/{f.name}" for f in (ROOT / "docs" / "notebooks").glob("*.ipynb")} != set()


def test_every_document_has_its_place(pages: dict[str, str]) -> None:
    navigation = set(re.findall(r": (\w+\.md)$", (ROOT / "mkdocs.yml").read_text(), re.MULTILINE))
    assert navigation == set(pages) and {d.name for d in (ROOT / "docs").glob("*.md")} <= navigation


def test_links_lead_to_pages_and_headings(pages: dict[str, str]) -> None:
    for name, text in pages.items():
        for target, anchor in re.findall(r"\]\(([\w./-]*\.md)?(#[\w-]+)?\)", text):
            page = target or name
            assert page in pages, f"{name}: {page}"
            headings = {
                re.sub(r"[^\w -]", "", h.lower()).replace(" ", "-") for h in re.findall(r"^#+ (.*)$", pages[page], re.M)
            }
            assert not anchor or anchor[1:] in headings, f"{name}: {page}{anchor}"


def test_the_reference_has_all_public_names(pages: dict[str, str]) -> None:
    assert re.findall(r"^::: indexing\.(\w+)$", pages["reference.md"], re.MULTILINE) == list(ix.__all__)
