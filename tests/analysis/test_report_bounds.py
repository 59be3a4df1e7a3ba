"""Reports of example programs: no array must move more than it does, no kernel is faster than its bytes and operations, its time
is that of the figures that are printed, and what streams takes at most three times the time of its bytes.
"""

from collections.abc import Callable
from pathlib import Path

import pytest

import indexing as ix
from indexing.ops.registry import traits_of
from indexing.reports.kernel_report import FusionReport
from random_fusions import random_fusion, random_hero_fusion

ROOT = Path(__file__).parents[2]
PROGRAMS = sorted([*(ROOT / "tests/golden").glob("*.hlo"), *(ROOT / "examples").glob("*.hlo")])
DEVICES = ("h100", "V100", "T4")
# Places of what is written of an operand, and guards that alternate, in a row and from row to row; a scan's tree of both.
SPARSE = {
    "rows": "ROOT r = f32[255,64] pad(x, z), padding=0_0_1x0_0",
    "elements": "ROOT r = f32[128,127] pad(x, z), padding=0_0x0_0_1",
    "twice": """a = f32[255,64] pad(x, z), padding=0_0_1x0_0
        b = f32[512,64] pad(a, z), padding=1_2_1x0_0
        c = f32[512,64] pad(x, z), padding=1_2_3x0_0
        ROOT r = f32[512,64] add(b, c)""",
    "edges": "ROOT r = f32[131,70] pad(x, z), padding=1_2x3_3",
    "window": """ROOT r = f32[128,64] reduce-window(x, z), window={size=1x64 pad=0_0x63_0}, to_apply=sum""",
    "columns": "ROOT r = f32[64] reduce(x, z), dimensions={0}, to_apply=sum",
}


def least_seconds(kernel: FusionReport) -> float:
    """Those of the bytes that must move beyond what the L2 cache holds, at the whole bandwidth, and of the operations at
    twice the rate of the fastest units: a product in f32 may be one of narrower parts.
    """
    device, runs = kernel.device, max(kernel.times, 1)
    rates = [device.flops("f32"), *(device.matrix_flops(kind) for kind in device.rates.matrix)]
    moved = max(kernel.ideal_bytes / runs - device.memory.l2_bytes, 0)
    return max(moved / device.memory.bandwidth, (kernel.flops or 0) / runs / max(rates) / 2, device.rates.launch)


def explained_seconds(kernel: FusionReport) -> float:
    """What a run takes by the figures that the report prints: those of its sentence, or the bytes of memory."""
    if not kernel.limit_why:
        return kernel.dram_bytes / max(kernel.times, 1) / kernel.device.reached_bandwidth
    count, unit = kernel.limit_why.rpartition(": ")[2].split()
    return float(count) * {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0}[unit]


def check(module: ix.hlo.Module, device: str) -> None:
    report = ix.analyze(module, device)
    if report.seconds:
        assert sum(f.share for f in report.fusions) == pytest.approx(1)
        assert report.range.least <= report.range.greatest == pytest.approx(report.seconds)
    for kernel in report.fusions:
        for row in kernel.accesses:
            assert row.will_move is None or row.ideal_bytes <= row.will_move, f"{kernel.name}: {row.array}"
            assert row.distinct <= row.elements and row.wasted <= row.excess, f"{kernel.name}: {row.array}"
        if kernel.run_seconds is None:
            assert kernel.note.startswith("not modelled"), kernel.name
            continue
        assert kernel.run_seconds >= least_seconds(kernel), kernel.name
        assert kernel.limit, kernel.name
        assert 0 <= kernel.run_seconds_lost <= kernel.run_seconds - kernel.device.rates.launch, kernel.name
        if kernel.memory_bytes is not None and kernel.limit in ("memory", "arithmetic", "issue"):
            work = kernel.run_seconds - kernel.device.launch_seconds
            assert 0.99 * work <= 1.5 * explained_seconds(kernel) and explained_seconds(kernel) <= 1.01 * work, (
                kernel.name
            )
        is_stream = not kernel.instruction.is_fusion or all(
            i.is_parameter or i.is_constant or traits_of(i).is_elementwise for i in kernel.instruction.called[0].listed
        )
        if is_stream and kernel.limit == "memory":
            slow = 3 * kernel.bytes / max(kernel.times, 1) / kernel.device.memory.bandwidth
            assert kernel.run_seconds <= slow + 10e-6, kernel.name


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("path", PROGRAMS, ids=lambda p: p.stem)
def test_examples(path: Path, device: str) -> None:
    check(ix.hlo.load(path), device)


def check_bounds(module: ix.hlo.Module, device: str) -> None:
    """What must move never exceeds what moves, of an array or of a kernel; an output that is no operand's memory must move
    whole.
    """
    for kernel in ix.analyze(module, device).fusions:
        for row in kernel.accesses:
            assert row.will_move is None or row.ideal_bytes <= row.will_move, f"{kernel.name}: {row.array}"
        assert kernel.ideal_bytes <= kernel.dram_bytes + 1, kernel.name


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda p: p.stem)
def test_examples_on_a_processor(path: Path) -> None:
    check_bounds(ix.hlo.load(path), "cpu")


@pytest.mark.parametrize("device", ["h100", "cpu"])
@pytest.mark.parametrize("body", SPARSE.values(), ids=SPARSE)
def test_what_is_guarded_or_read_in_part_must_move_as_far_as_it_is_used(body: str, device: str) -> None:
    """Everything here is read, and written whole."""
    shape = body.rpartition("ROOT r = ")[2].partition(" ")[0]
    text = f"""sum {{ a = f32[] parameter(0)
        b = f32[] parameter(1)
        ROOT s = f32[] add(a, b) }}
    f {{ x = f32[128,64] parameter(0)
        z = f32[] constant(0)
        {body} }}
    ENTRY e {{ x = f32[128,64] parameter(0)
        ROOT r = {shape} fusion(x), kind=kLoop, calls=f }}"""
    module = ix.hlo.parse(text)
    check_bounds(module, device)
    (kernel,) = ix.analyze(module, device).fusions
    assert kernel.ideal_bytes == 4 * (128 * 64 + kernel.origin.shape.element_count)


def test_what_scattered_elements_must_move_are_the_elements() -> None:
    """16,384 single elements, 64 apart: each takes a sector of 32 bytes."""
    text = """ENTRY e { c = bf16[16384,64] parameter(0)
      i = s32[16384,2] parameter(1)
      u = bf16[16384] parameter(2)
      ROOT s = bf16[16384,64] scatter(c, i, u), update_window_dims={}, inserted_window_dims={0,1},
        scatter_dims_to_operand_dims={0,1}, index_vector_dim=1, unique_indices=true, to_apply=second }"""
    second = "second { a = bf16[] parameter(0) b = bf16[] parameter(1) ROOT r = bf16[] add(b, b) }"
    module = ix.hlo.parse(f"{second}\n{text}")
    (kernel,) = (f for f in ix.analyze(module, "h100").fusions if f.name == "s")  # beside a copy, as `c` is not donated
    (written,) = [row for row in kernel.accesses if row.kind == "write"]
    assert written.ideal_bytes == 16384 * 2 and written.distinct == 16384
    check(module, "h100")


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("made", [random_fusion, random_hero_fusion])
def test_random_fusions(made: Callable[[int], str], seed: int) -> None:
    check(ix.hlo.parse(made(seed)), "h100")


def test_a_fusion_of_which_a_part_has_no_model_moves_what_it_must() -> None:
    text = """HloModule m, is_scheduled=true
    f { x = f32[64,8,8] parameter(0)
        c = f32[64,8,8] cholesky(x), lower=true
        i = f32[64,8,8] iota(), iota_dimension=1
        ROOT t = (f32[64,8,8], f32[64,8,8]) tuple(c, i) }
    ENTRY e { x = f32[64,8,8] parameter(0)
              ROOT z = (f32[64,8,8], f32[64,8,8]) fusion(x), kind=kCustom, calls=f }"""
    (kernel,) = ix.analyze(ix.hlo.parse(text), "h100").fusions
    assert kernel.run_seconds is None
    assert kernel.dram_bytes >= kernel.ideal_bytes == 4 * 64 * (36 + 64 + 64)  # triangles are read


TRANSFORMS = """HloModule m, is_scheduled=true
ENTRY e {
  x = c64[16,256] parameter(0)
  y = c64[16,256] fft(x), fft_type=FFT, fft_length={256}
  ROOT z = f32[16,510] fft(y), fft_type=IRFFT, fft_length={510}
}"""


def test_an_instruction_that_several_kernels_compute_takes_their_times() -> None:
    """Each Fourier transform has its own parts, and moves its operand and its result; processors have no kernels of 17."""
    by_name = {k.name: k for k in ix.analyze(ix.hlo.parse(TRANSFORMS), "h100").fusions}
    assert {name: k.ideal_bytes for name, k in by_name.items()} == {"y": 2 * 8 * 4096, "z": 8 * 4096 + 4 * 8160}
    for kernel in by_name.values():
        assert kernel.note.startswith("this package runs ") and kernel.run_seconds > 2 * kernel.device.launch_seconds
        assert kernel.dram_bytes > kernel.ideal_bytes
        assert all(row.why for row in kernel.accesses if row.excess)
        between = [row for row in kernel.accesses if not row.ideal_bytes]
        assert {r.array for r in between if r.kind == "write"} <= {r.array for r in between if r.kind == "read"}
        assert all("stands between two of them" in r.why for r in between)
    at_host = {k.name: k.run_seconds is not None for k in ix.analyze(ix.hlo.parse(TRANSFORMS), "cpu").fusions}
    assert at_host == {"y": True, "z": False}


LOOKED_UP = """f { x = f32[4096,1024] parameter(0)
  t = f32[64] parameter(1)
  i = s32[INDICES] parameter(2)
  LOOKUP
  ROOT y = f32[4096,1024] multiply(x, b) }
ENTRY e { x = f32[4096,1024] parameter(0)
  t = f32[64] parameter(1)
  i = s32[INDICES] parameter(2)
  ROOT y = f32[4096,1024] fusion(x, t, i), kind=kLoop, calls=f }"""
ONE = """s = f32[1] dynamic-slice(t, i), dynamic_slice_sizes={1}
  r = f32[] reshape(s)
  b = f32[4096,1024] broadcast(r), dimensions={}"""
EACH = """b = f32[4096,1024] gather(t, i), offset_dims={}, collapsed_slice_dims={0}, start_index_map={0},
    index_vector_dim=2, slice_sizes={1}"""


def test_what_was_assumed_of_few_bytes_is_no_line_of_a_report() -> None:
    """A factor that is looked up once a warp is a thirtieth of what moves; one for each element is most of it."""
    for indices, lookup, is_said in ("", ONE, False), ("4096,1024,1", EACH, True):
        text = LOOKED_UP.replace("INDICES", indices).replace("LOOKUP", lookup)
        report = ix.analyze(text, "h100")
        (row,) = [r for r in report.fusions[0].accesses if r.array == "t"]
        assert "runtime values" in row.note and ("note: runtime values" in str(report)) == is_said
