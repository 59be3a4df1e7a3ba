"""docs/performance.md is what its generator makes, and what it names is there. No figure is tested: they depend on the machine."""

import importlib
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).resolve().parents[2] / "benches"))

import languages
import measurements
import performance
import tuning

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "performance.md").read_text(encoding="utf-8")


def tables() -> dict[str, list[list[str]]]:
    """The rows of the page, by the title of their section."""
    result = {}
    for part in PAGE.split("\n## ")[1:]:
        title, *lines = part.splitlines()
        rows = [line for line in lines if line.startswith("|")][2:]
        result[title] = [[cell.strip() for cell in row.strip("|").split("|")] for row in rows]
    return result


def test_the_page_is_what_the_generator_makes_of_its_rows() -> None:
    assert PAGE.startswith(performance.MARK)
    assert performance.page(tables()) == PAGE


@pytest.mark.parametrize("section", performance.SECTIONS, ids=lambda s: s.title)
def test_each_section_has_a_benchmark_and_figures(section: performance.Section) -> None:
    assert (ROOT / "benches" / section.bench).is_file()
    rows = tables()[section.title]
    assert rows and all(len(row) == len(section.head) for row in rows)
    assert "not measured" not in rows[0][0]


@pytest.mark.parametrize("bench", sorted({s.bench for s in performance.SECTIONS}))
def test_benchmarks_name_what_there_is(bench: str) -> None:
    try:
        importlib.import_module(bench.removesuffix(".py"))
    except ModuleNotFoundError as missing:  # a peer, which only the environment for benchmarks has
        assert not (missing.name or "").startswith("indexing")


def test_make_bench_makes_it() -> None:
    target = re.search(r"^bench:.*?\n\n", (ROOT / "Makefile").read_text(), re.MULTILINE | re.DOTALL)
    assert target and "benches/performance.py" in target[0]
    assert {"peers.py", "predictions.py", "program_maps.py", "cpu.py", "growth.py", "memory.py", "analyses.py"} <= {
        s.bench for s in performance.SECTIONS
    }


def test_a_missing_peer_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    def missing() -> list[list[str]]:
        raise ImportError("no module named isl")

    section = performance.Section("t", "", "peers.py", ("a", "b", "c"), missing)
    assert performance.measured(section) == [["not measured: no module named isl", "", ""]]


def test_languages_agree_on_what_they_measure() -> None:
    given = languages.pairs(languages.CORPUS.read_text().splitlines()[:3])
    for measure in (languages.in_python, languages.in_batch):
        assert len(measure(given, 1)) == len(languages.STEPS) == len(languages.HEAD) - 2
    compiler = shutil.which("cc")
    assert compiler
    include = ROOT / "rust" / "capi" / "include"
    flags = ["-std=c11", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-I", str(include)]
    subprocess.run([compiler, *flags, ROOT / "benches" / "languages.c"], check=True)


def test_tables_of_small_runs() -> None:
    assert [len(r) for r in measurements.compositions(1)] == [3, 3]
    assert [len(r) for r in measurements.memory(1000)] == [4]


def test_a_row_a_fusion_and_their_median(tmp_path: Path) -> None:
    file = tmp_path / "negate.hlo"
    file.write_text("ENTRY f { p = f32[40,25] parameter(0)\n ROOT n = f32[40,25] negate(p) }")
    row, median = tuning.rows(tuning.fusions_of([file]), 2, 1, "predicted", str(tmp_path / "store.sqlite"))
    assert row[:3] == ["negate", "loop", "2"] and len(row) == len(median) == len(tuning.HEAD)
    assert median[0] == "median" and median[7].endswith("slower than the default")
