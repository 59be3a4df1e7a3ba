"""`indexing explore` in headless Chromium, by clicking: `make browser`, which needs a Chromium (CHROMIUM=)."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect, sync_playwright

from test_exploration import PROGRAM

CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    file: Path = tmp_path_factory.mktemp("explore") / "program.hlo"
    file.write_text(PROGRAM)
    command = [sys.executable, "-m", "indexing", "explore", str(file)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server, sync_playwright() as playwright:
        assert server.stdout is not None
        address = server.stdout.readline().split()[0]
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        tab = browser.new_page()
        errors: list[str] = []
        tab.on("pageerror", lambda error: errors.append(str(error)))
        tab.goto(address)
        yield tab
        browser.close()
        server.terminate()
        assert errors == []


def test_a_knob_changes_the_prediction(shown: Page) -> None:
    shown.locator("#list button", has_text="turned").click()
    expect(shown.locator("#name")).to_have_text("turned")
    expect(shown.locator("#emitter")).to_have_text("transpose emitter")
    before = shown.locator("#of_conflicts td.n").inner_text()
    shown.get_by_label("tile").select_option("8")
    expect(shown.locator("#of_conflicts td.n")).not_to_have_text(before)
    expect(shown.locator("#of_conflicts")).to_contain_text(f"at first {before}")
    shown.locator("#take").click()
    best = re.search(r"predicted to take (.*)\.", shown.locator("#best").inner_text())
    assert best is not None
    expect(shown.locator("#of_time td.n")).to_have_text(best[1])


def test_a_layout_changes_the_prediction_and_can_be_taken_back(shown: Page) -> None:
    shown.locator("#list button", has_text="sums").click()
    expect(shown.locator("#name")).to_have_text("sums")
    before = shown.locator("#of_time td.n").inner_text()
    shown.get_by_label("layout 0").select_option("0,1")
    expect(shown.locator("#of_time td.n")).not_to_have_text(before)
    shown.locator("#reset").click()
    expect(shown.locator("#of_time td.n")).to_have_text(before)
    assert "__global__" in shown.locator("#source").inner_text()
    assert shown.locator("#error").inner_text() == ""
