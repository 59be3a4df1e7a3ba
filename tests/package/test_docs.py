"""The examples of README.md and docs/ do what they show: Python sessions are doctests, `$ indexing` lines commands."""

import doctest
import re
import shlex
from pathlib import Path

import pytest

from indexing.cli import main

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = sorted([ROOT / "README.md", *(ROOT / "docs").glob("*.md")])


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda f: f.name)
def test_python_sessions(document: Path) -> None:
    report: list[str] = []
    cases = doctest.DocTestParser().get_doctest(document.read_text(), {}, document.name, str(document), 0)
    result = doctest.DocTestRunner(verbose=False).run(cases, out=report.append)
    assert result.failed == 0, "".join(report)


def sessions(document: Path) -> list[tuple[str, str]]:
    """Each command of the document's `console` blocks, and what is printed under it."""
    result = []
    for block in re.findall(r"^```console\n(.*?)^```$", document.read_text(), re.MULTILINE | re.DOTALL):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, output = part.partition("\n")
            result.append((command, output))
    return result


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda f: f.name)
def test_commands(document: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    for command, output in sessions(document):
        name, *arguments = shlex.split(command)
        assert name == "indexing", command
        assert main(arguments) == 0
        assert capsys.readouterr().out == output, command


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda f: f.name)
def test_links_lead_somewhere(document: Path) -> None:
    targets = re.findall(r"\]\(([^)#:]+)\)", document.read_text())
    assert [t for t in targets if not (document.parent / t).exists()] == []
