"""Every public name is documented, where it is and in docs/api.md."""

import inspect
import re
from pathlib import Path

import pytest
from api_table import MODULES, api_table, entries, first_sentence, lazy_packages, public_names

import indexing as ix

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize(("name", "text"), list(entries()), ids=lambda v: v if "." in v and " " not in v else "")
def test_every_public_name_is_documented(name: str, text: str) -> None:
    assert first_sentence(text).endswith((".", ":", "?", ")")) or len(text.split()) > 2, (
        f"{name} says nothing of itself"
    )


@pytest.mark.parametrize("name", [n for n in ix.__all__ if inspect.ismodule(getattr(ix, n))])
def test_a_public_module_exports_names_of_its_own(name: str) -> None:
    module = getattr(ix, name)
    assert name in MODULES
    assert public_names(module) == sorted(module.__all__) != []


def test_the_page_of_public_names_is_current() -> None:
    assert (ROOT / "docs" / "api.md").read_text(encoding="utf-8") == api_table(), "run: make docs"


@pytest.mark.parametrize(
    ("stub", "text"), list(lazy_packages()), ids=lambda v: v.parent.name if isinstance(v, Path) else ""
)
def test_the_stub_of_a_package_has_its_names(stub: Path, text: str) -> None:
    assert stub.read_text(encoding="utf-8") == text, "run: make docs"


def test_every_public_function_stands_on_a_page_that_explains_it() -> None:
    pages = [p.read_text(encoding="utf-8") for p in (ROOT / "docs").glob("*.md") if p.name != "api.md"]
    words = set(re.findall(r"\w+", "".join(pages)))
    assert [n for n in ix.__all__ if inspect.isroutine(getattr(ix, n)) and n not in words] == []
