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

import indexing as ix
from indexing.reports.lines import seconds_text
from test_explorer import PROGRAM

CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
PATIENT = 120_000  # milliseconds, on a machine that does much else


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    file: Path = tmp_path_factory.mktemp("explore") / "program.hlo"
    file.write_text(PROGRAM)
    command = [sys.executable, "-m", "indexing", "explore", str(file), "--device", "h100"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server, sync_playwright() as playwright:
        assert server.stdout is not None
        address = server.stdout.readline().split()[0]
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        tab = browser.new_page()
        errors: list[str] = []
        tab.on("pageerror", lambda error: errors.append(str(error)))
        tab.set_default_timeout(PATIENT)
        expect.set_options(timeout=PATIENT)
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
    expect(shown.locator("#take")).to_be_enabled()
    best = re.search(r"predicted to take (.*)\.", shown.locator("#best").inner_text())
    assert best is not None
    shown.locator("#take").click()
    expect(shown.locator("#of_time td.n")).to_have_text(best[1])


def test_a_layout_changes_the_prediction_and_can_be_taken_back(shown: Page) -> None:
    shown.locator("#list button", has_text="sums").click()
    expect(shown.locator("#name")).to_have_text("sums")
    rows, columns = time_of_sums("1,0"), time_of_sums("0,1")
    assert rows != columns
    expect(shown.locator("#of_time td.n")).to_have_text(rows)
    shown.get_by_label("layout 0").select_option("0,1")
    expect(shown.locator("#of_time td.n")).to_have_text(columns)
    expect(shown.locator("#of_time")).to_contain_text(f"at first {rows}")
    shown.locator("#reset").click()
    expect(shown.locator("#of_time td.n")).to_have_text(rows)


def time_of_sums(layout: str) -> str:
    """The predicted time of the reduction with its default plan, if its operand has a layout."""
    text = PROGRAM.replace("total { p = f32[512,256]{1,0}", f"total {{ p = f32[512,256]{{{layout}}}")
    computation = ix.hlo.parse(text.split("ENTRY")[0]).computations["total"]
    return seconds_text(float(ix.predict(computation, ix.knobs(computation).default, "h100").time[0]))


def test_a_layout_changes_the_kernel_and_can_be_taken_back(shown: Page) -> None:
    """A transpose of an operand that is stored by columns is a copy."""
    shown.locator("#list button", has_text="turned").click()
    expect(shown.locator("#name")).to_have_text("turned")
    shown.get_by_label("layout 0").select_option("0,1")
    expect(shown.locator("#emitter")).to_have_text("loop emitter")
    shown.locator("#reset").click()
    expect(shown.locator("#emitter")).to_have_text("transpose emitter")
    assert "__global__" in shown.locator("#source").inner_text()
    assert shown.locator("#error").inner_text() == ""


def test_threads_light_their_elements_and_a_plan_changes_the_banks(shown: Page) -> None:
    shown.locator("#list button", has_text="turned").click()
    expect(shown.locator("#name")).to_have_text("turned")
    write = shown.locator("#sectors svg").last
    expect(shown.locator("#banks svg")).to_have_count(2)
    write.locator("[data-key=t3]").click()
    lit = write.locator(".on").evaluate_all("(cells) => cells.map((c) => c.dataset.key)")
    assert "t3" in lit and [key[0] for key in lit].count("e") >= 1
    element = next(key for key in lit if key[0] == "e")
    write.locator(f"[data-key={element}]").hover()
    assert "t3" in write.locator(".on").evaluate_all("(cells) => cells.map((c) => c.dataset.key)")
    before = shown.locator("#banks").inner_html()
    shown.get_by_label("tile").select_option("8")
    shown.wait_for_function("(before) => document.getElementById('banks').innerHTML !== before", arg=before)


def test_a_tile_changes_its_way_and_one_that_is_none_is_refused(shown: Page) -> None:
    shown.locator("#list button", has_text="turned").click()
    expect(shown.locator("#space")).to_have_text("of 256 (parallel), 512 (parallel)")
    shown.fill("#tile", "8,512")
    shown.press("#tile", "Enter")
    expect(shown.locator("#way")).to_contain_text("t: f32[256,512]{1,0} [0:8, 0:512]")
    expect(shown.locator("#moves tr").first).to_contain_text("512 sectors a tile")
    shown.fill("#tile", "0")
    shown.press("#tile", "Enter")
    expect(shown.locator("#tileerror")).to_contain_text("a tile has a size from 1")


def test_maps_and_the_graph_are_there(shown: Page) -> None:
    shown.locator("#list button", has_text="turned").click()
    expect(shown.locator("#maps")).to_contain_text("(d0, d1) -> (d1, d0)")
    expect(shown.locator("#graph")).to_contain_text("transpose f32[256,512]")
