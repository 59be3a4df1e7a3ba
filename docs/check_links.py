"""Look for links of the site that lead nowhere: python docs/check_links.py FOLDER

Checked are links and pictures of all pages, those of notebooks too, to files of the site and to headings; not other sites.
"""

from __future__ import annotations

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class Page(HTMLParser):
    """The links of a page, and the names of its places."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.places: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Take what an element links to, and its name."""
        for key, value in attrs:
            if key in ("href", "src") and value:
                self.links.append(value)
            elif key in ("id", "name") and value:
                self.places.add(value)


def dead_links(folder: Path) -> list[str]:
    """The links that lead nowhere, each with its page."""
    pages = {file: Page(file.read_text(encoding="utf-8")) for file in sorted(folder.rglob("*.html"))}
    dead = []
    for file, page in pages.items():
        for link in dict.fromkeys(page.links):
            to = urlsplit(link)
            if to.scheme or to.netloc or file.name == "404.html":
                continue
            target = (file.parent / unquote(to.path)).resolve() if to.path else file
            target = target / "index.html" if target.is_dir() else target
            there = target.is_file() and (not to.fragment or target not in pages or to.fragment in pages[target].places)
            if not there:
                dead.append(f"{file.relative_to(folder)}: {link}")
    return dead


if __name__ == "__main__":
    found = dead_links(Path(sys.argv[1]).resolve())
    sys.exit("these links lead nowhere:\n" + "\n".join(found) if found else 0)
