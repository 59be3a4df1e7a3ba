"""Measured times beside predicted ones: traces that JAX's profiler records here, and a table as Nsight Systems exports it."""

import gzip
import json
import sqlite3
from collections import defaultdict
from pathlib import Path

import jax
import jax.numpy as jnp
import pytest

import indexing as ix
from indexing.cli import main
from indexing.reports.profiles import read_profile

RUNS = 3


@pytest.fixture(scope="module")
def traced(tmp_path_factory: pytest.TempPathFactory) -> tuple[ix.hlo.Module, Path, Path]:
    """A program after XLA's optimization, and two files of the trace of its runs: trace.json.gz and xplane.pb."""
    folder = tmp_path_factory.mktemp("trace")
    function = jax.jit(lambda x, w: jax.nn.softmax(jnp.tanh(x @ w).T))
    x, w = jnp.ones((256, 128)), jnp.ones((128, 64))
    function(x, w).block_until_ready()
    with jax.profiler.trace(str(folder)):
        for _ in range(RUNS):
            function(x, w).block_until_ready()
    (text,), (planes,) = (list(folder.rglob(name)) for name in ("*.trace.json.gz", "*.xplane.pb"))
    return ix.hlo.parse(function.lower(x, w).compile().as_text()), text, planes


def durations(trace: Path) -> dict[str, float]:
    """By the trace's own text: the seconds of the events of each instruction."""
    result: dict[str, float] = defaultdict(float)
    for event in json.loads(gzip.decompress(trace.read_bytes()))["traceEvents"]:
        if "hlo_op" in event.get("args", {}):
            result[event["args"]["hlo_op"]] += event["dur"] / 1e6
    return result


@pytest.mark.parametrize("kind", [1, 2])
def test_each_kernel_has_its_measured_time_in_a_run(traced, kind: int) -> None:
    module, expected = traced[0], durations(traced[1])
    report = ix.analyze(module, "h100", profile=traced[kind])
    measured = {f.name: f.measured for f in report.fusions if f.measured is not None}
    assert len(measured) >= 3 and set(measured) <= set(expected)
    assert measured == {name: pytest.approx(expected[name] / RUNS, rel=1e-6) for name in measured}
    assert f"measured over {RUNS} runs of the program" in report.notes[0]


def test_the_greatest_differences_come_first(traced) -> None:
    report = ix.analyze(traced[0], "h100", profile=traced[1])
    differences = [abs(f.measured - f.seconds) for f in report.fusions if f.measured is not None]
    assert differences == sorted(differences, reverse=True)
    heading = next(line for line in str(report).splitlines() if line.split()[:1] == ["measured"])
    assert heading.split()[:3] == ["measured", "lost", "time"]
    assert "measured" not in str(ix.analyze(traced[0], "h100"))


def nsight(path: Path, kernels: list[tuple[str, int]]) -> Path:
    """An export with the columns that a query needs: kernels by the numbers of their names, times in nanoseconds."""
    with sqlite3.connect(path) as file:
        file.execute("CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT NOT NULL)")
        file.execute("CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER, shortName INTEGER)")
        for k, (name, duration) in enumerate(kernels):
            file.execute("INSERT INTO StringIds VALUES (?, ?)", (k, name))
            file.execute("INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (?, ?, ?)", (1000 * k, 1000 * k + duration, k))
    file.close()
    return path


PROGRAM = """HloModule m, is_scheduled=true
f { p = f32[64] parameter(0) ROOT n = f32[64] negate(p) }
g { p = f32[64] parameter(0) ROOT n = f32[64] tanh(p) }
ENTRY e { p = f32[64] parameter(0)
  loop_negate_fusion.1 = f32[64] fusion(p), kind=kLoop, calls=f
  ROOT loop-tanh = f32[64] fusion(loop_negate_fusion.1), kind=kLoop, calls=g }
"""


def test_kernels_of_nsight_systems_by_their_symbols(tmp_path: Path) -> None:
    """A GPU's symbols have underscores; two launches of each kernel are two runs."""
    kernels = [("loop_negate_fusion_1", 5000), ("loop_tanh", 900), ("loop_negate_fusion_1", 7000), ("loop_tanh", 1100)]
    export = nsight(tmp_path / "report.sqlite", [*kernels, ("ncclKernel", 400)])
    report = ix.analyze(ix.hlo.parse(PROGRAM), "h100", profile=export)
    assert {f.name: f.measured for f in report.fusions} == pytest.approx(
        {"loop_negate_fusion.1": 6e-6, "loop-tanh": 1e-6}
    )
    assert "1 measured kernel of 200 ns in a run have no name of this program: ncclKernel" in report.notes
    assert report.columns()["measured"] == [f.measured for f in report.fusions]


def test_the_command_reads_a_profile(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    program = tmp_path / "m.hlo"
    program.write_text(PROGRAM)
    export = nsight(tmp_path / "report.sqlite", [("loop_tanh", 2000)])
    assert main(["analyze", str(program), "--profile", str(export), "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["fusions"]
    assert {row["kernel"]: row["measured"] for row in rows} == {
        "loop-tanh": pytest.approx(2e-6),
        "loop_negate_fusion.1": None,
    }


@pytest.mark.parametrize(
    "content", [b"", b"{", b"[1]", b'{"traceEvents": 3}', b"\x1f\x8b", b"\xff" * 40, b"SQLite format 3\0"]
)
def test_a_file_that_is_no_profile_is_refused(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "trace"
    file.write_bytes(content)
    with pytest.raises(ix.IndexingError):
        read_profile(file)
