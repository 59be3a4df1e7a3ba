"""Reports about a CPU: arrays by the cache lines that loops fetch, in words that are true of a CPU, by hand from the laws of
docs/prediction.md.
"""

from pathlib import Path

import pytest

import indexing as ix
from indexing.explorer.answers import Exploration
from indexing.reports.accesses import AccessReport
from indexing.reports.kernel_report import FusionReport
from indexing.reports.lines import seconds_text
from indexing.show.page import program_page

ROOT = Path(__file__).parents[2]
PROGRAMS = sorted([*(ROOT / "tests/golden").glob("*.hlo"), *(ROOT / "examples").glob("*.hlo")])
WORDS_OF_GPUS = ("warp", "sector", "shared memory", "lane", "bank", "Pallas", "tensor core", "occupancy", "streaming")
LINE = 64
FAR_APART = """f {{ a = f32[4096,512]{layout} parameter(0)  b = f32[4096,512] parameter(1)
  ROOT s = f32[4096,512]{{1,0}} add(a, b) }}
ENTRY e {{ x = f32[4096,512]{layout} parameter(0)  y = f32[4096,512] parameter(1)
  ROOT r = f32[4096,512]{{1,0}} fusion(x, y), kind=kLoop, calls=f }}"""
GATHER = """f {{ t = f32[{rows},{width}] parameter(0)  i = s32[6272] parameter(1)
  ROOT g = f32[6272,{width}] gather(t, i), offset_dims={{1}}, collapsed_slice_dims={{0}}, start_index_map={{0}},
    index_vector_dim=1, slice_sizes={{1,{width}}} }}
ENTRY e {{ t = f32[{rows},{width}] parameter(0)  i = s32[6272] parameter(1)
  ROOT r = f32[6272,{width}] fusion(t, i), kind=kLoop, calls=f }}"""


def kernel(text: str) -> FusionReport:
    (the_only,) = ix.analyze(ix.hlo.parse(text), "cpu").fusions
    return the_only


def row(text: str, array: str) -> AccessReport:
    (the_only,) = [r for r in kernel(text).accesses if r.array == array]
    return the_only


def test_lines_that_leave_the_cache_unused_are_wasted() -> None:
    far, elements = row(FAR_APART.format(layout="{0,1}"), "x"), 4096 * 512
    assert far.will_move == 2 * LINE * elements  # a run of one line for each element
    assert far.wasted == far.will_move - 4 * elements and far.ratio == LINE / 4 and not far.coalesced
    assert "elements 16384 B apart (along dimension 1 of f32[4096,512]{0,1}, memory goes along dimension 0)" in far.why
    assert f"of a cache line's {LINE} B, 4 are used" in far.why and far.remedy == "a layout {1,0} of `x`"
    near = row(FAR_APART.format(layout="{1,0}"), "x")
    assert near.will_move == pytest.approx(4 * elements, rel=1e-4) and (near.wasted, near.why) == (0, "")


def test_what_is_lost_is_what_the_remedy_saves() -> None:
    """Nearly: elements that lie side by side take fewer steps too."""
    far, near = (kernel(FAR_APART.format(layout=layout)) for layout in ("{0,1}", "{1,0}"))
    assert far.seconds_lost == pytest.approx(far.seconds - near.seconds, rel=0.03)
    assert any(r.endswith(f"which saves {seconds_text(far.seconds - near.seconds)}") for r in far.remedies)


def test_memory_moves_what_the_arrays_move_unless_the_last_cache_has_it() -> None:
    near, gathered, far = (
        kernel(text)
        for text in (
            FAR_APART.format(layout="{1,0}"),
            GATHER.format(rows=10**6, width=16),
            FAR_APART.format(layout="{0,1}"),
        )
    )
    for report in (near, gathered):
        assert sum(r.will_move for r in report.accesses) == pytest.approx(report.memory_bytes)
    assert sum(r.will_move for r in far.accesses) > 8 * far.memory_bytes
    assert far.memory_bytes == pytest.approx(near.memory_bytes * 4 / 3, rel=1e-2)  # each line of x is a run


def test_rows_that_data_choose_are_fetched_anew_unless_all_stay_in_the_cache() -> None:
    rows = row(GATHER.format(rows=10**5, width=16), "t")
    assert (rows.will_move, rows.ideal_bytes) == (LINE * 6272, LINE * 6272)
    single = row(GATHER.format(rows=10**6, width=1), "t")
    assert single.will_move == LINE * 6272 and single.ratio == LINE / 4
    assert "depends on values that are known at run time only" in single.why and "ascending order" in single.remedy
    table = row(GATHER.format(rows=512, width=1), "t")
    assert table.will_move == 512 * 4 and table.ratio == 1


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_no_word_is_about_a_gpu(path: Path) -> None:
    report = ix.analyze(ix.hlo.load(path), "cpu")
    sentences = [s for f in report.fusions for s in (f.limit_why, f.note, *f.remedies)]
    sentences += [s for r in report.rows for s in (r.why, r.remedy, r.note)] + str(report).splitlines()[:1]
    assert not [(s, word) for s in sentences for word in WORDS_OF_GPUS if word in s]


def test_pages_and_tables_are_about_cache_lines() -> None:
    report = ix.analyze(ix.hlo.parse(FAR_APART.format(layout="{0,1}")), "cpu")
    page = program_page(report)
    assert "times the cache lines that it needs" in page and "What the first warp" not in page
    told = Exploration(report)
    assert told.accesses("r", {}) == {"sectors": [], "banks": []}
    assert list(told.predicted("r", {})["predicted"]) == ["cache lines", "memory bytes", "steps of loops", "time"]
    assert all(moved["moved"].endswith(" cache lines") for moved in told.tile("r", {})["moves"])
    plans = ix.predict(report.fusions[0].instruction, device="cpu")
    assert plans.cells()[0][-2:] == ["cache lines", "steps of loops"]


def test_a_device_without_warps_has_no_coalescing() -> None:
    part = ix.hlo.parse(FAR_APART.format(layout="{0,1}"))
    with pytest.raises(ix.IndexingError, match="CPU has no warps"):
        ix.coalescing(part, "cpu")
    assert ix.coalescing(part, "cpu", ix.Tiles((8, 8))).reads
