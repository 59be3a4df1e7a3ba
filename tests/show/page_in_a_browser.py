"""The page about a program in headless Chromium, by clicking: `make browser`, which needs a Chromium (CHROMIUM=)."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, sync_playwright

import indexing as ix
from indexing.show.fusion_pictures import bank_pictures
from indexing.show.page import program_page

CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
KERNELS = 240
MIDDLE = KERNELS // 2
FRAME = "new Promise((then) => requestAnimationFrame(() => setTimeout(then)))"
PATIENT = 30_000  # milliseconds, on a machine that does much else


def program(count: int) -> str:
    """Kernels of different sizes, so that each is a row; two of three read across memory."""
    lines = [
        f"p{k} = f32[{k},64] parameter({k - 1}) n{k} = f32[{k},64]{{{'0,1' if k % 3 else '1,0'}}} negate(p{k})"
        for k in range(1, count + 1)
    ]
    shapes = ", ".join(f"f32[{k},64]{{{'0,1' if k % 3 else '1,0'}}}" for k in range(1, count + 1))
    names = ", ".join(f"n{k}" for k in range(1, count + 1))
    body = "\n".join(lines)
    return f"HloModule m, is_scheduled=true\nENTRY e {{\n{body}\nROOT t = ({shapes}) tuple({names}) }}"


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    file: Path = tmp_path_factory.mktemp("page") / "page.html"
    file.write_text(program_page(ix.analyze(ix.hlo.parse(program(KERNELS)))))
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        tab = browser.new_context(offline=True).new_page()
        errors: list[str] = []
        tab.on("pageerror", lambda error: errors.append(str(error)))
        tab.set_default_timeout(PATIENT)
        tab.goto(file.as_uri())
        yield tab
        browser.close()
        assert errors == []


def rows(shown: Page) -> list[str]:
    return shown.locator("#rows tr:not(.space) td:first-child").all_inner_texts()


def test_the_worst_is_shown_first(shown: Page) -> None:
    assert shown.locator("#count").inner_text() == f"{KERNELS} of {KERNELS} kernels"
    assert len(rows(shown)) < 200, "rows out of sight are not drawn"
    assert shown.locator("#detail h2").inner_text() == rows(shown)[0]
    assert "must move, loads move" in shown.locator("#detail").inner_text()


def test_sorting_filtering_and_scrolling(shown: Page) -> None:
    shown.locator("th", has_text="kernel").click()
    assert rows(shown)[:3] == ["n1", "n10", "n100"]
    shown.locator("th", has_text="kernel").click()
    assert rows(shown)[0] == "n99"
    shown.fill("#filter", "n7 negate")
    assert shown.locator("#count").inner_text() == f"11 of {KERNELS} kernels"
    shown.fill("#filter", "")
    shown.evaluate("document.getElementById('list').scrollTop = 1e9")
    shown.wait_for_function("[...document.querySelectorAll('#rows td')].some((td) => td.textContent === 'n1')")


def test_rows_are_drawn_anew_only_where_others_come_into_sight(shown: Page) -> None:
    shown.fill("#filter", "")
    shown.evaluate("document.getElementById('list').scrollTop = 0")
    shown.evaluate(FRAME)
    first = shown.locator("#rows tr:not(.space)").first.element_handle()
    shown.evaluate("document.getElementById('list').scrollTop = 48")
    shown.evaluate(FRAME)
    assert first.evaluate("(row) => row.isConnected"), "two rows down, those beyond are there already"
    shown.evaluate(f"document.getElementById('list').scrollTop = {24 * MIDDLE}")
    shown.wait_for_function("(row) => !row.isConnected", arg=first)
    box = shown.locator("#list").bounding_box()
    place = [box["x"] + 20, box["y"] + 60]
    seen = shown.evaluate("(at) => document.elementFromPoint(...at).textContent", place)
    order = shown.evaluate("kept.map((k) => texts[data.rows[k][0]])")
    assert seen in order[MIDDLE : MIDDLE + 3], "the rows in sight are those of the place"
    shown.mouse.move(*place)
    assert shown.evaluate("(at) => document.elementFromPoint(...at).title", place) == seen, "what is cut short is told"


def test_places_are_told_by_their_file(shown: Page, tmp_path: Path) -> None:
    """A path is longer than its column: the file and line stand there, all of it where one points."""
    module = ix.hlo.parse(
        'ENTRY e { p = f32[8] parameter(0) ROOT n = f32[8] negate(p), metadata={source_file="/src/deep/a.py" source_line=3} }'
    )
    file = tmp_path / "places.html"
    file.write_text(program_page(ix.analyze(module)))
    tab = shown.context.new_page()
    tab.goto(file.as_uri())
    cell = tab.locator("#rows td").last
    assert cell.inner_text() == "a.py:3" and tab.locator("th", has_text="source").is_visible()
    assert not shown.locator("th", has_text="source").is_visible(), "no kernel has a place: the names have the room"
    cell.hover()
    assert cell.get_attribute("title").endswith("deep/a.py:3")
    assert "deep/a.py:3" in tab.locator("#detail").inner_text()
    tab.close()


def test_a_click_shows_a_kernel_and_pointing_lights_threads_and_elements(shown: Page) -> None:
    shown.fill("#filter", "n10 ")
    shown.locator("th", has_text="lost").click()
    shown.fill("#filter", "n200 ")
    shown.locator("#rows tr:not(.space)").first.click()
    assert shown.locator("#detail h2").inner_text() == "n200"
    assert "neighbouring lanes are 256 B apart" in shown.locator("#detail").inner_text()
    picture = shown.locator("svg.cells").first
    picture.locator("[data-key=t3]").hover()
    assert lit(picture) == ["e192", "t3"], "a thread: its elements, which lie 64 apart"
    assert picture.locator(".said").text_content() == "thread 3: elements [3, 0]"
    picture.locator("[data-key=e320]").click()
    shown.locator("#detail h2").hover()
    assert lit(picture) == ["e320", "t5"], "an element: its threads; a click keeps them"
    picture.locator("[data-key=e320]").click()
    shown.locator("#detail h2").hover()
    assert lit(picture) == []


def lit(picture: Locator) -> list[str]:
    return sorted(picture.locator(".on").evaluate_all("(cells) => cells.map((c) => c.dataset.key)"))


def test_pictures_of_banks_and_of_a_file_of_their_own(shown: Page, tmp_path: Path) -> None:
    """A picture saved as SVG is alive too: it brings its script."""
    module = ix.hlo.parse(
        "ENTRY e { p = f32[512,512] parameter(0) ROOT t = f32[512,512] transpose(p), dimensions={1,0} }"
    )
    file = tmp_path / "banks.svg"
    file.write_text(bank_pictures(module)[1].svg())
    tab = shown.context.new_page()
    tab.goto(file.as_uri())
    tab.locator("[data-key=t5]").hover()
    (word,) = (key for key in lit(tab.locator("svg")) if key != "t5")
    tab.locator(f"[data-key={word}]").hover()
    assert lit(tab.locator("svg")) == ["t5", word]
    tab.close()


def test_a_dark_and_narrow_window(shown: Page) -> None:
    """The colours are the browser's, the list stands above the kernel, and nothing is wider than the window."""
    context = shown.context.browser.new_context(color_scheme="dark", viewport={"width": 420, "height": 800})
    tab = context.new_page()
    tab.goto(shown.url)
    listed, detail = (tab.locator(of).bounding_box() for of in ("#list", "#detail"))
    assert detail["y"] >= listed["y"] + listed["height"] and listed["width"] == detail["width"] == 420
    assert tab.evaluate("document.documentElement.scrollWidth") == 420
    light, dark = (t.evaluate("getComputedStyle(document.body).backgroundColor") for t in (shown, tab))
    assert (light, dark) == ("rgb(255, 255, 255)", "rgb(23, 25, 29)")
    context.close()


def test_arrow_keys_go_from_kernel_to_kernel(shown: Page) -> None:
    shown.fill("#filter", "")
    first, second = rows(shown)[:2]
    shown.locator("#rows tr:not(.space)").first.click()
    shown.keyboard.press("ArrowDown")
    assert shown.locator("#detail h2").inner_text() == second
    shown.keyboard.press("ArrowUp")
    assert shown.locator("#detail h2").inner_text() == first
