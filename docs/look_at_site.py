"""Look at all pages of the site in headless Chromium (CHROMIUM=), opened as files: python docs/look_at_site.py FOLDER [SHOTS]

At two widths, in light and in dark: no error of a script, no missing picture, nothing wider than the window, and the search
answers. With SHOTS, a folder, each is written there as a picture.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from pictures import CHROMIUM
from playwright.sync_api import BrowserContext, sync_playwright

WIDTHS = (1280, 400)
SCHEMES = ("light", "dark")
#: Pictures that are shown, and have nothing in them.
MISSING = "[...document.images].filter((i) => i.offsetParent && !(i.complete && i.naturalWidth)).map((i) => i.src)"
TOO_WIDE = "document.documentElement.scrollWidth - innerWidth"
PATIENT = 120_000  # milliseconds, on a machine that does much else
HITS = ".md-search-result__item a"


def faults_of(context: BrowserContext, file: Path, shot: Path | None) -> Iterator[str]:
    """What is wrong with a page."""
    tab = context.new_page()
    tab.set_default_timeout(PATIENT)
    errors: list[str] = []
    tab.on("pageerror", lambda error: errors.append(str(error)))
    tab.on("requestfailed", lambda request: errors.append(f"{request.url} can't be loaded"))
    tab.goto(file.as_uri())
    yield from errors
    yield from (f"{picture} is missing" for picture in tab.evaluate(MISSING))
    if (pixels := tab.evaluate(TOO_WIDE)) > 0:
        yield f"{pixels} pixels wider than the window"
    if shot is not None:
        tab.screenshot(path=shot, full_page=True)
    tab.close()


def search_faults(context: BrowserContext, home: Path) -> Iterator[str]:
    """What is wrong with the search: nothing where the first page that it offers is there."""
    tab = context.new_page()
    tab.goto(f"{home.as_uri()}?q=coalescing")
    tab.wait_for_selector(HITS, state="attached", timeout=PATIENT)
    target = str(tab.locator(HITS).first.get_attribute("href")).split("?")[0].split("#")[0]
    if not (home.parent / target.removeprefix(home.parent.as_uri() + "/")).is_file():
        yield f"the search leads to {target}"
    tab.close()


def main(site: Path, shots: Path | None) -> int:
    """Print what is wrong; 1 if anything is."""
    pages = [file for file in sorted(site.rglob("*.html")) if file.name != "404.html"]
    faults = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        for width, scheme in ((width, scheme) for width in WIDTHS for scheme in SCHEMES):
            with browser.new_context(
                offline=True, color_scheme=scheme, viewport={"width": width, "height": 900}
            ) as context:
                for page in pages:
                    name = f"{page.relative_to(site).as_posix().replace('/', '_')}-{width}-{scheme}"
                    shot = shots and shots / f"{name}.png"
                    faults += [f"{name}: {fault}" for fault in faults_of(context, page, shot)]
                faults += search_faults(context, site / "index.html")
    print(*faults, sep="\n", end="\n" if faults else "")
    return bool(faults)


if __name__ == "__main__":
    if CHROMIUM is None:
        print("no Chromium is here: nobody looked at the pages")
    else:
        sys.exit(main(Path(sys.argv[1]).resolve(), Path(sys.argv[2]) if len(sys.argv) > 2 else None))
