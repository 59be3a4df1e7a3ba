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


def on_gpu(name: str, pid: int, duration: float, module: str = "m") -> dict[str, object]:
    """An event of a stream, or the host's call that launched it: XLA's collector gives both what annotations say."""
    stats = {"hlo_module": module, "hlo_op": name, "correlation_id": "7", "group_id": "0"}
    return {"ph": "X", "pid": pid, "tid": 13, "ts": 1.0, "dur": duration, "name": "k", "args": stats}


def test_of_a_gpu_trace_the_streams_count(tmp_path: Path) -> None:
    """Neither calls of the host, nor lines that tools derive (without `hlo_op`), nor equal names of another module."""
    planes = {1: "/device:GPU:0 (pid 1)", 701: "/host:CPU"}
    named = [{"ph": "M", "pid": p, "name": "process_name", "args": {"name": name}} for p, name in planes.items()]
    derived = {"ph": "X", "pid": 1, "tid": 99, "ts": 1.0, "dur": 50.0, "name": "loop-tanh", "args": {"group_id": "0"}}
    launches = [on_gpu("loop_negate_fusion.1", 1, 5.0), on_gpu("loop-tanh", 1, 3.0)] * 2
    others = [on_gpu("loop-tanh", 701, 900.0), on_gpu("loop-tanh", 1, 40.0, "jit_other"), derived]
    trace = tmp_path / "host.trace.json.gz"
    trace.write_bytes(gzip.compress(json.dumps({"traceEvents": [*named, *launches, *others]}).encode()))
    report = ix.analyze(ix.hlo.parse(PROGRAM), "h100", profile=trace)
    assert {f.name: f.measured for f in report.fusions} == pytest.approx(
        {"loop_negate_fusion.1": 5e-6, "loop-tanh": 3e-6}
    )
    assert "measured over 2 runs" in report.notes[0] and len(report.notes) == 1


def varint(number: int) -> bytes:
    return bytes([number]) if number < 128 else bytes([number % 128 + 128]) + varint(number // 128)


def message(*fields: tuple[int, int | bytes]) -> bytes:
    """A message of protobuf: numbers as varints, bytes with their length."""
    return b"".join(
        varint(8 * n) + varint(v) if isinstance(v, int) else varint(8 * n + 2) + varint(len(v)) + v for n, v in fields
    )


def plane(name: bytes, *durations: int) -> bytes:
    """An XPlane with a line of events of `loop-tanh`, of so many picoseconds; the stat refers to its value by number."""
    stats = [(5, message((1, k), (2, message((1, k), (2, text))))) for k, text in ((1, b"hlo_op"), (2, b"loop-tanh"))]
    events = [(4, message((1, 9), (3, d), (4, message((1, 1), (7, 2))))) for d in durations]
    return message((2, name), (3, message(*events)), (4, message((1, 9), (2, message((1, 9), (2, b"kernel"))))), *stats)


def test_of_the_planes_of_a_gpu_trace_the_device_counts(tmp_path: Path) -> None:
    """By xplane.proto, with a value by reference, as the collector of GPU events writes it."""
    file = tmp_path / "host.xplane.pb"
    file.write_bytes(message((1, plane(b"/host:CPU", 900)), (1, plane(b"/device:GPU:0", 2_000_000, 4_000_000))))
    (measured,) = read_profile(file).kernels.values()
    assert (measured.launches, measured.seconds) == (2, pytest.approx(6e-6))
    file.write_bytes(message((1, plane(b"/host:CPU", 900))))
    assert read_profile(file).kernels["loop_tanh"].launches == 1


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
    "content",
    [
        b"",
        b"{",
        b"[1]",
        b'{"traceEvents": 3}',
        b'{"traceEvents": [3]}',
        b'{"traceEvents": ' + b"[" * 5000 + b"]" * 5000 + b"}",
        b"\x1f\x8b",
        b"\xff" * 40,
        b"SQLite format 3\0",
    ],
)
def test_a_file_that_is_no_profile_is_refused(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "trace"
    file.write_bytes(content)
    with pytest.raises(ix.IndexingError):
        read_profile(file)
