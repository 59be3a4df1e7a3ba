"""What a release is made of: one version, steps that are targets of the Makefile, nothing kept secret in a workflow."""

import re
import tomllib
from pathlib import Path

import pytest
from addresses import addressed_project, addressed_readme

import indexing as ix

ROOT = Path(__file__).resolve().parents[2]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def test_there_is_one_version() -> None:
    version = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]["version"]
    assert ix.__version__ == version and "version" in PROJECT["dynamic"]
    assert f"\nversion: {version}\n" in (ROOT / "CITATION.cff").read_text()


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda f: f.name)
def test_steps_of_workflows_are_targets_of_the_makefile(workflow: Path) -> None:
    targets = set(re.findall(r"^([a-z-]+):.*##", (ROOT / "Makefile").read_text(), re.MULTILINE))
    text = workflow.read_text()
    made = re.findall(r"run: make (?:[A-Z]+=\S+(?: \S+ \}\})? )*([a-z-]+)$", text, re.MULTILINE)
    assert made and set(made) <= targets
    assert len(made) == text.count("run: make ")
    assert "secrets." not in text and "persist-credentials: false" in text


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda f: f.name)
def test_actions_are_pinned_by_hash(workflow: Path) -> None:
    """With the version in a comment, which dependabot keeps true."""
    used = re.findall(r"uses: (.*)", workflow.read_text())
    assert used and all(re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", action) for action in used)
    assert "package-ecosystem: github-actions" in (ROOT / ".github" / "dependabot.yml").read_text()


def test_the_metadata_is_complete() -> None:
    assert PROJECT["license"] == "Apache-2.0" and PROJECT["license-files"] == ["LICENSE"] and PROJECT["authors"]
    versions = {f"Programming Language :: Python :: 3.{minor}" for minor in (11, 12, 13, 14)}
    assert versions <= set(PROJECT["classifiers"])
    assert not [c for c in PROJECT["classifiers"] if c.startswith("License ::")], "the SPDX expression says it"


def test_extras_that_the_command_looks_for_are_those_of_the_package() -> None:
    from indexing.cli.diagnosis import EXTRAS

    assert set(EXTRAS) <= set(PROJECT["optional-dependencies"])


def test_an_address_is_all_that_an_index_page_needs() -> None:
    """With it, no link of README.md is relative, and the metadata have theirs."""
    repository = "https://code.example/owner/name"
    readme = addressed_readme((ROOT / "README.md").read_text(), repository, "1.2.3")
    targets = re.findall(r"\]\(([^)]+)\)", readme) + re.findall(r'(?:src|srcset)="([^"]+)"', readme)
    assert len(targets) > 30 and all(t.startswith(("https://", "#")) for t in targets)
    files = {t.split("/v1.2.3/")[1].split("#")[0] for t in targets if t.startswith(repository)}
    assert all((ROOT / file).is_file() for file in files)
    assert addressed_readme(readme, repository, "1.2.3") == readme, "once is enough"
    project = addressed_project((ROOT / "pyproject.toml").read_text(), repository, "1.2.3")
    assert set(tomllib.loads(project)["project"]["urls"]) == {"Repository", "Documentation", "Changelog", "Issues"}
    assert "urls" not in PROJECT, "no owner is known yet"
