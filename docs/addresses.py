"""Write the repository's address into what an index shows: python docs/addresses.py https://HOST/OWNER/NAME

The metadata get links, and those of README.md become absolute, to the files of this version. For a release, in a checkout that
is thrown away; what links already is left as it is.
"""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def addressed_readme(text: str, repository: str, version: str) -> str:
    """README.md with links to the repository: documents as pages, pictures as files."""
    text = re.sub(r"\]\((?!https?:|#)([^)]*)\)", rf"]({repository}/blob/v{version}/\1)", text)
    return re.sub(r'(src|srcset)="(?!https?:)([^"]*)"', rf'\1="{repository}/raw/v{version}/\2"', text)


def addressed_project(text: str, repository: str, version: str) -> str:
    """pyproject.toml with the links of the metadata."""
    if "[project.urls]" in text:
        return text
    links = {
        "Repository": repository,
        "Documentation": f"{repository}/tree/v{version}/docs",
        "Changelog": f"{repository}/blob/v{version}/CHANGELOG.md",
        "Issues": f"{repository}/issues",
    }
    lines = "".join(f'{name} = "{link}"\n' for name, link in links.items())
    return text.replace("[project.scripts]", f"[project.urls]\n{lines}\n[project.scripts]", 1)


def main(repository: str) -> None:
    """Write both files anew."""
    if not re.fullmatch(r"https://[\w.-]+(/[\w.-]+)+", repository):
        sys.exit(f"expected https://HOST/OWNER/NAME, found {repository!r}")
    version = tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))["workspace"]["package"]["version"]
    for name, addressed in (("README.md", addressed_readme), ("pyproject.toml", addressed_project)):
        text = (ROOT / name).read_text(encoding="utf-8")
        (ROOT / name).write_text(addressed(text, repository, version), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1])
