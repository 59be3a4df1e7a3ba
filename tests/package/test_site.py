"""The site's documents: all of them are in its navigation, and links between them lead somewhere."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from check_links import dead_links
from gather_site import on_a_page
from pictures import says_the_same, vector_pictures

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


def test_a_map_in_a_notebook_is_text_on_its_page() -> None:
    notebook = (ROOT / "docs" / "notebooks" / "tutorial_jax.ipynb").read_text()
    assert "text/latex" in notebook
    page = on_a_page(notebook)
    assert "text/latex" not in page and "IndexingMap((d0)[s0] -> " in page


def test_links_of_a_notebook_lead_to_pages_beside_its_folder() -> None:
    page = on_a_page((ROOT / "docs" / "notebooks" / "tutorial_tuning.ipynb").read_text())
    assert "](../tuning.html)" in page and "](../tuning.md)" not in page


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


def test_the_reference_has_all_public_names_by_topic(pages: dict[str, str]) -> None:
    listed = [
        re.findall(r"^::: indexing\.(\w+)$", text, re.MULTILINE) for n, text in pages.items() if "reference_" in n
    ]
    assert sorted(name for names in listed for name in names) == sorted(ix.__all__) and len(listed) > 5


def test_pictures_are_as_they_are_made() -> None:
    for name, made in vector_pictures():
        written = (ROOT / "docs" / "pictures" / f"{name}-light.svg").read_text(encoding="utf-8")
        is_laid_out_here = name != "fusion_graph"
        assert written == made if is_laid_out_here else says_the_same(written, made), "run: make docs"
        assert not says_the_same(written, made.replace("</text>", "!</text>", 1))
        assert not says_the_same(written, made.replace('fill="#', 'fill="#0', 1))


def test_pictures_are_there_for_both_schemes(pages: dict[str, str]) -> None:
    shown = {path for text in pages.values() for path in re.findall(r"!\[[^\]]*\]\((pictures/[^)]*)\)", text)}
    schemes: dict[str, set[str]] = {}
    for path in shown:
        name, _, scheme = path.partition("#only-")
        assert f"-{scheme}." in name and (ROOT / "docs" / name).is_file(), path
        schemes.setdefault(scheme, set()).add(name.replace(f"-{scheme}.", "."))
    assert schemes["light"] == schemes["dark"] and len(schemes["light"]) >= 6
    assert not any("<picture>" in text for text in pages.values())


@pytest.mark.parametrize(
    ("link", "is_dead"),
    [
        ("b/", False),
        ("b/#there", False),
        ("b/#gone", True),
        ("c.svg", True),
        ("#here", False),
        ("https://a.example", False),
    ],
)
def test_links_that_lead_nowhere_are_found(link: str, is_dead: bool, tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "index.html").write_text('<h1 id="there">B</h1>')
    (tmp_path / "index.html").write_text(f'<p id="here"><a href="{link}">b</a><img src="b/index.html"></p>')
    assert dead_links(tmp_path) == ([f"index.html: {link}"] if is_dead else [])
