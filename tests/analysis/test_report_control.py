"""Loops, calls and conditionals in a report stand for the instructions of their computations."""

from collections.abc import Callable
from dataclasses import replace

import pytest

import indexing as ix
from indexing.reports.lines import seconds_text
from indexing.reports.runs import bytes_of_turns
from indexing.reports.steps import Schedule, Step

PROGRAM = """
HloModule control
body { s = (s32[], f32[64]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  one = s32[] constant(1)
  next = s32[] add(i, one)
  x = f32[64] get-tuple-element(s), index=1
  y = f32[64] exponential(x)
  ROOT t = (s32[], f32[64]) tuple(next, y) }
condition { s = (s32[], f32[64]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(10)
  ROOT less = pred[] compare(i, n), direction=LT }
twice { p = f32[64] parameter(0)
  ROOT double = f32[64] add(p, p) }
ENTRY main {
  zero = s32[] constant(0)
  a = f32[64] parameter(0)
  first = f32[64] call(a), to_apply=twice
  second = f32[64] call(first), to_apply=twice
  start = (s32[], f32[64]) tuple(zero, second)
  ROOT loop = (s32[], f32[64]) while(start), condition=condition, body=body }
"""


def times(module: ix.hlo.Module) -> dict[str, int]:
    return {f.name: f.times for f in ix.analyze(module, "h100").fusions}


def as_xla_runs_it(text: str) -> ix.hlo.Module:
    return ix.hlo.parse(text.replace("HloModule control", "HloModule control, is_scheduled=true"))


def test_loops_multiply_by_their_trip_counts_and_calls_by_their_number() -> None:
    """Ten iterations from 0 below 10; the condition of a loop with a known count is not evaluated."""
    actual = times(as_xla_runs_it(PROGRAM))
    assert actual == {"double": 2, "next": 10, "y": 10}
    stated = PROGRAM.replace("i, n), direction=LT", "i, i), direction=EQ").replace(
        "body=body", 'body=body, backend_config={"known_trip_count":{"n":"7"}}'
    )
    assert times(as_xla_runs_it(stated)) == {"double": 2, "next": 7, "y": 7}


@pytest.mark.parametrize(("view", "kernels"), [(as_xla_runs_it, 2), (ix.hlo.parse, 1)])
def test_a_stated_trip_count_that_the_condition_contradicts_is_said_and_does_not_count(
    view: Callable[[str], ix.hlo.Module], kernels: int
) -> None:
    for stated, notes in (
        ("7", {"`loop` states 7 iterations, but its condition ends it after 10, which count"}),
        ("10", {""}),
    ):
        text = PROGRAM.replace("body=body", f'body=body, backend_config={{"known_trip_count":{{"n":"{stated}"}}}}')
        in_loop = [f for f in ix.analyze(view(text), "h100").fusions if f.times == 10]
        assert len(in_loop) == kernels and {f.note for f in in_loop} == notes


@pytest.mark.parametrize(("turns", "width", "is_launched"), [(1000, 64, False), (10, 64, True), (1000, 20000, True)])
def test_loops_of_a_processor_launch_no_small_kernels(turns: int, width: int, is_launched: bool) -> None:
    text = PROGRAM.replace("constant(10)", f"constant({turns})").replace("f32[64]", f"f32[{width}]")
    cpu, gpu = (
        {f.name: f for f in ix.analyze(as_xla_runs_it(text), device).fusions}["y"] for device in ("cpu", "h100")
    )
    assert (cpu.times, gpu.times) == (turns, turns)
    assert (cpu.run_seconds > 7e-8) == is_launched and gpu.run_seconds > 1e-6
    if not is_launched:
        steps = float(ix.predict(cpu.instruction, {}, device="cpu").operations[0])
        assert cpu.run_seconds == pytest.approx(steps / 14e9, rel=1e-3) and cpu.limit == "arithmetic"


def test_totals_are_those_of_all_runs() -> None:
    report = ix.analyze(as_xla_runs_it(PROGRAM), "h100")
    (y,) = [f for f in report.fusions if f.name == "y"]
    assert y.bytes == 10 * 2 * 64 * 4 and y.seconds == 10 * y.run_seconds
    assert y.ideal_bytes == y.dram_bytes == 2 * 64 * 4, "later turns find in a cache what the first left there"
    started = report.device.first_launch_seconds
    assert (
        report.seconds == pytest.approx(started + sum(f.run_seconds * f.times for f in report.fusions)) and started > 0
    )
    assert report.seconds == pytest.approx(report.range.least) == report.range.greatest
    assert sum(f.share for f in report.fusions) == pytest.approx(1)
    assert (y.operations.transcendentals, report.flops) == (64, 2 * 64 + 10)


def test_the_kernels_that_this_package_plans_run_as_often() -> None:
    report = ix.analyze(ix.hlo.parse(PROGRAM), "h100")
    assert report.view == "as this package would run it" and "as before its optimization" in report.notes[0]
    assert {f.name: f.times for f in report.fusions}["y"] == 10


def test_a_program_of_library_calls_without_fusions_is_xlas() -> None:
    """Only XLA's optimization puts calls of cuBLAS into a program: its time is that of the library, not of our kernel."""
    numbers = '"lhs_contracting_dimensions":["1"],"rhs_contracting_dimensions":["0"]'
    config = f'{{"gemm_backend_config":{{"alpha_real":1,"beta":0,"dot_dimension_numbers":{{{numbers}}}}}}}'
    text = f"""ENTRY e {{
      x = f32[2048,2048] parameter(0)
      y = f32[2048,2048] parameter(1)
      c = (f32[2048,2048], s8[4096]) custom-call(x, y), custom_call_target="__cublas$gemm", backend_config={config}
      ROOT r = f32[2048,2048] get-tuple-element(c), index=0
    }}"""
    report = ix.analyze(text, device="h100")
    assert report.view == "XLA's fusions with this package's kernels"
    operations, peak = 2 * 2048**3, 989e12  # FLOP/s of no unit of an H100 for f32 are more
    assert operations / peak < report.seconds < operations / 20e12
    (product,) = report.fusions  # whose workspace, of 4,096 bytes, nobody reads
    assert product.ideal_bytes == product.bytes == 3 * 4 * 2048**2


def test_a_loop_without_a_known_count_counts_once_and_says_so() -> None:
    text = PROGRAM.replace("add(i, one)", "multiply(i, one)")
    report = ix.analyze(as_xla_runs_it(text), "h100")
    assert {f.name: f.times for f in report.fusions} == {"double": 2, "next": 1, "y": 1, "less": 1}
    (y,) = [f for f in report.fusions if f.name == "y"]
    assert y.note == "the trip count of `loop` is not known: it counts once" and y.note in str(report)


def test_of_a_conditional_the_slowest_branch_counts_and_the_range_is_stated() -> None:
    text = """HloModule control, is_scheduled=true
    small { p = f32[64] parameter(0) ROOT n = f32[64] negate(p) }
    large { p = f32[64] parameter(0) a = f32[64] exponential(p) ROOT b = f32[64] tanh(a) }
    ENTRY e { i = s32[] parameter(0) x = f32[64] parameter(1)
      ROOT c = f32[64] conditional(i, x, x), branch_computations={small, large} }"""
    report = ix.analyze(ix.hlo.parse(text), "h100")
    assert {f.name: f.times for f in report.fusions} == {"n": 0, "a": 1, "b": 1}
    once = {f.name: f.run_seconds for f in report.fusions}
    least, greatest = (t - report.device.first_launch_seconds for t in (report.range.least, report.range.greatest))
    assert (least, greatest) == pytest.approx((once["n"], once["a"] + once["b"]))
    assert report.seconds == pytest.approx(report.range.greatest) and "by the branches taken" in str(report)


def test_branches_of_one_computation_run_it_once() -> None:
    text = """HloModule control, is_scheduled=true
    only { p = f32[64] parameter(0) ROOT n = f32[64] negate(p) }
    ENTRY e { i = s32[] parameter(0) x = f32[64] parameter(1)
      ROOT c = f32[64] conditional(i, x, x), branch_computations={only, only} }"""
    assert times(ix.hlo.parse(text)) == {"n": 1}


def test_deep_and_wide_nests_of_calls_end() -> None:
    """Each computation calls the one before it twice: 2^60 runs, and no more steps than computations."""
    lines = ["c0 { p = f32[8] parameter(0) ROOT n = f32[8] negate(p) }"]
    for k in range(1, 61):
        called = f"a = f32[8] call(p), to_apply=c{k - 1} ROOT b = f32[8] call(a), to_apply=c{k - 1}"
        lines.append(f"c{k} {{ p = f32[8] parameter(0) {called} }}")
    entry = "ENTRY e { p = f32[8] parameter(0) ROOT r = f32[8] call(p), to_apply=c60 }"
    text = "HloModule control, is_scheduled=true\n" + "\n".join([*lines, entry])
    assert times(ix.hlo.parse(text)) == {"n": 2**60}


@pytest.mark.parametrize(("width", "is_kept"), [(3 << 20, True), (5 << 20, True), (8 << 20, False), (1 << 25, False)])
def test_what_a_turn_of_a_loop_moves_stays_in_the_last_cache_if_it_fits(width: int, is_kept: bool) -> None:
    """A turn reads and writes 4 bytes an element, beside a counter; the L2 cache holds 50 MB, and the first turn finds none."""
    module = as_xla_runs_it(PROGRAM.replace("f32[64]", f"f32[{width}]"))
    report = ix.analyze(module, "h100")
    (kernel,) = [f for f in report.fusions if f.name == "y"]
    device = kernel.device
    once = float(ix.predict(kernel.instruction, {}, device).time[0])
    assert (kernel.limit_part == "L2") == is_kept
    cached = device.launch_seconds + 8 * width / device.memory.l2_bandwidth
    wanted = once / 10 + cached * 9 / 10 if is_kept else once
    assert kernel.run_seconds == pytest.approx(wanted, rel=0.1)


def test_the_bytes_of_a_turn_are_those_of_the_innermost_loop_around_a_kernel() -> None:
    """A branch and a call belong to the loop that they are in; what runs once has no turns."""
    kernels = {name: Step(None, None) for name in "abcde"}  # type: ignore[arg-type]
    moved = dict(zip(kernels.values(), (1.0, 10.0, 100.0, 1000.0, 10000.0), strict=True))
    a, b, c, d, e = kernels.values()
    inner = replace(a, bodies=("inner",), repeats=5)
    choice = replace(a, bodies=("branch", "other"), is_choice=True)
    outer, call = replace(a, bodies=("outer",), repeats=None), replace(a, bodies=("called",))
    bodies = {"inner": (c,), "branch": (d,), "other": (b,), "called": (choice, b), "outer": (a, inner, call)}
    assert bytes_of_turns(Schedule((outer, e), bodies), moved.__getitem__) == {
        a: 1121.0,
        c: 100.0,
        d: 1121.0,
        b: 1121.0,
    }


def test_what_accumulates_outside_of_fusions_is_judged_by_the_least_that_a_kernel_moves():
    text = """ENTRY e { a = f32[64,32] parameter(0) b = f32[32,16] parameter(1)
      d = f32[64,16] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
      ROOT t = f32[16,64] transpose(d), dimensions={1,0} }"""
    module = as_xla_runs_it("HloModule control\n" + text)
    rows = ix.analyze(module).rows
    least = {r.array: (r.uses, r.ideal_bytes, r.will_move) for r in rows if r.instruction == "d"}
    assert least == {"a": (64 * 32 * 16, 8192, 8192), "b": (64 * 32 * 16, 2048, 2048), "output": (1024, 4096, 4096)}
    assert all("a tiled kernel" in r.why for r in rows if r.instruction == "d" and r.kind == "read")
    (read,) = [r for r in rows if r.instruction == "t" and r.kind == "read"]
    assert read.coalesced, "by the kernel for transposes, not by a loop"


UPDATE = """HloModule m, is_scheduled=true
f { c = f32[4096,64] parameter(0) u = f32[1,64] parameter(1) k = s32[] parameter(2) z = s32[] constant(0)
  ROOT d = f32[4096,64] dynamic-update-slice(c, u, k, z) }
ENTRY e { cache = f32[4096,64]{1,0} parameter(0), metadata={op_name="cache"} u = f32[1,64] parameter(1) k = s32[] parameter(2)
  copy.1 = f32[4096,64]{1,0} copy(cache)
  ROOT r = f32[4096,64]{1,0} fusion(copy.1, u, k), kind=kLoop, calls=f }
"""


def test_an_update_in_place_must_move_what_it_touches() -> None:
    """One row of 64 numbers is read and written, with the index of 4 bytes, which moves as a sector."""
    report = ix.analyze(ix.hlo.parse(UPDATE), "h100")
    (update,) = [f for f in report.fusions if f.name == "r"]
    assert 2 * 64 * 4 <= update.ideal_bytes <= update.bytes <= 2 * 64 * 4 + 3 * 32
    assert all(row.ideal_bytes <= row.will_move for row in report.rows)


def test_a_product_written_in_place_must_move_what_it_touches() -> None:
    """One row of 64 numbers is written, into an array of 1 MB, and 64 rows are read."""
    text = UPDATE.replace("ROOT d =", "m = f32[64,64] parameter(3)\n  x = f32[1,64] dot(u, m), DOT\n  ROOT d =")
    text = text.replace("DOT", "lhs_contracting_dims={1}, rhs_contracting_dims={0}").replace(
        "(c, u, k, z)", "(c, x, k, z)"
    )
    text = text.replace("copy.1 =", "m = f32[64,64] parameter(3)\n  copy.1 =").replace(
        "(copy.1, u, k)", "(copy.1, u, k, m)"
    )
    for device in ("h100", "cpu"):
        (update,) = [f for f in ix.analyze(ix.hlo.parse(text), device).fusions if f.name == "r"]
        assert 64 * 64 * 4 + 2 * 64 * 4 <= update.ideal_bytes <= 64 * 64 * 4 + 2 * 64 * 4 + 3 * 32
        assert update.ideal_bytes <= update.dram_bytes


def test_a_scatter_in_place_must_move_what_it_touches() -> None:
    """16 rows of 1,024 numbers of 2 bytes are read and written, of 134 MB; and 32 indices."""
    text = """HloModule r, is_scheduled=true
    set { a = bf16[] parameter(0) ROOT b = bf16[] parameter(1) }
    f { c = bf16[16,4096,1024] parameter(0) i = s32[16,2] parameter(1) u = bf16[16,1024] parameter(2)
      ROOT s = bf16[16,4096,1024] scatter(c, i, u), update_window_dims={1}, inserted_window_dims={0,1},
        scatter_dims_to_operand_dims={0,1}, index_vector_dim=1, to_apply=set, unique_indices=true }
    ENTRY e { c = bf16[16,4096,1024] parameter(0) i = s32[16,2] parameter(1) u = bf16[16,1024] parameter(2)
      ROOT r = bf16[16,4096,1024] fusion(c, i, u), kind=kInput, calls=f }"""
    (report,) = ix.analyze(ix.hlo.parse(text), "h100").fusions
    assert 2 * 16 * 1024 * 2 <= report.ideal_bytes <= report.bytes < 200_000


def test_a_copy_that_only_keeps_an_argument_says_what_donating_it_saves() -> None:
    report = ix.analyze(ix.hlo.parse(UPDATE), "h100")
    (copy,) = [f for f in report.fusions if f.name == "copy.1"]
    (mend,) = [line for line in str(copy).splitlines() if "donate" in line]
    assert "mend: donate argument 0, `cache`, if it is needed no more" in mend
    assert mend.endswith(f"saves {seconds_text(copy.seconds)}") and "donate argument 0" in str(report)
    donated = UPDATE.replace("is_scheduled=true", "is_scheduled=true, input_output_alias={ {}: (0, {}, may-alias) }")
    after = ix.analyze(
        ix.hlo.parse(donated.replace("copy.1 = f32[4096,64]{1,0} copy(cache)", "").replace("(copy.1", "(cache")), "h100"
    )
    assert mend.endswith(f"saves {seconds_text(report.seconds - after.seconds)}") and "donate" not in str(after)
    assert "donate" not in str(ix.analyze(ix.hlo.parse(donated), "h100"))
    assert "donate" not in str(ix.analyze(ix.hlo.parse(UPDATE.replace("{1,0} copy", "{0,1} copy")), "h100"))


def test_bitcasts_and_annotations_are_free() -> None:
    text = """ENTRY e { p = f32[64,64] parameter(0) b = f32[4096] bitcast(p)
      ROOT s = f32[4096] custom-call(b), custom_call_target="Sharding", sharding={replicated} }"""
    assert ix.analyze(as_xla_runs_it("HloModule control\n" + text), "h100").fusions == ()


@pytest.mark.parametrize("is_donated", [False, True])
def test_an_argument_that_is_updated_is_copied_before_unless_it_is_donated(is_donated: bool) -> None:
    alias = ", input_output_alias={ {}: (0, {}, may-alias) }" if is_donated else ""
    report = ix.analyze(
        f"""HloModule m{alias}
        ENTRY main {{ c = f32[4096,4096] parameter(0) u = f32[1,4096] parameter(1) p = s32[] parameter(2) z = s32[] constant(0)
          ROOT r = f32[4096,4096] dynamic-update-slice(c, u, p, z) }}""",
        "h200",
    )
    copies = [f for f in report.fusions if f.name == "c"]
    assert len(report.fusions) == 1 + len(copies)
    assert [f.memory_bytes for f in copies] == ([] if is_donated else [2 * 4096 * 4096 * 4])
    assert ("donate argument 0" in str(report)) == (not is_donated)


def test_only_the_first_kernel_of_a_program_waits_for_its_launch() -> None:
    """A chain of ten kernels takes less than ten times as long as one, as `predict` has it that is launched alone."""
    lines = [f"n{k + 1} = f32[64] negate(n{k})" for k in range(10)]
    text = "HloModule chain, is_scheduled=true\nENTRY e { n0 = f32[64] parameter(0)\n" + "\n".join(lines)
    report = ix.analyze(ix.hlo.parse(f"{text.replace('n10', 'ROOT n10')} }}"), "h100")
    device, alone = (
        report.device,
        ix.predict("ENTRY e { p = f32[64] parameter(0) ROOT n = f32[64] negate(p) }", {}, "h100"),
    )
    assert len(report.fusions) == 10 and len({f.seconds for f in report.fusions}) == 1
    one = report.fusions[0].seconds
    assert one is not None and one == pytest.approx(alone.time[0] - (device.rates.launch - device.rates.following))
    assert report.seconds == pytest.approx(alone.time[0] + 9 * one)


def test_the_first_kernel_of_a_program_costs_no_less_than_another() -> None:
    """A step of a processor's program takes longer than a call of its function."""
    for device in (ix.find_device("h100").with_rates(launch=1e-7), ix.find_device("cpu")):
        assert device.rates.launch < device.after_another().rates.launch == device.rates.following
        assert device.first_launch_seconds == 0
