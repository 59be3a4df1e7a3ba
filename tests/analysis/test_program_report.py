"""Reports of programs: what wastes most comes first, sentences say what the access does, totals add up, dumps compare."""

import jax.numpy as jnp
import numpy as np
import pytest

import indexing as ix
from indexing.reports.lines import bytes_text, seconds_text

# Two fusions: one reads a column-major array along rows, through a loop that adds; the other is coalesced.
PROGRAM = """HloModule two
turned { a = f32[{n},64]{{0,1}} parameter(0)
  b = f32[{n},64]{{1,0}} parameter(1)
  ROOT s = f32[{n},64]{{1,0}} add(a, b) }
straight { a = f32[{n},64]{{1,0}} parameter(0)
  ROOT s = f32[{n},64]{{1,0}} negate(a), metadata={source_file="m.py" source_line=7} }
ENTRY main {
  x = f32[{n},64]{{1,0}} parameter(0)
  y = f32[{n},64]{{0,1}} parameter(1)
  one = f32[{n},64]{{1,0}} fusion(x), kind=kLoop, calls=straight
  ROOT two = f32[{n},64]{{1,0}} fusion(y, one), kind=kLoop, calls=turned
}
"""


def program(n: int = 256) -> ix.hlo.Module:
    return ix.hlo.parse(PROGRAM.replace("{n}", str(n)).replace("{{", "{").replace("}}", "}"))


def access(report: ix.ProgramReport, fusion: str, array: str):
    (result,) = [r for f in report.fusions if f.name == fusion for r in f.accesses if r.array == array]
    return result


def test_what_wastes_most_comes_first_and_totals_add_up() -> None:
    report = ix.analyze(program()).sorted_by("wasted")
    assert [f.name for f in report.fusions] == ["two", "one"]
    two, one = report.fusions
    size = 256 * 64 * 4
    assert [report.ideal_bytes, two.ideal_bytes, one.ideal_bytes] == [5 * size, 3 * size, 2 * size]
    assert one.wasted == 0 and one.bytes == one.ideal_bytes
    # Lanes of one vector access of 16 bytes lie in rows of a column-major array: each element has a sector of its own.
    read = access(report, "two", "y")
    assert read.ratio == pytest.approx(8) and read.will_move == 8 * size and read.wasted == 7 * size
    assert two.wasted == report.wasted == 7 * size
    assert str(one.place) == "m.py:7" and two.place is None


@pytest.mark.parametrize(("device", "rate"), [("h100", 3.35232e12), ("l4", 0.300096e12), ("b200", 7.67232e12)])
def test_times_are_those_of_predict_and_what_is_lost_the_time_of_wasted_bytes(device: str, rate: float) -> None:
    """An array beyond the cache: the share of the memory's rate that streams reach decides (docs/prediction.md)."""
    module = ix.hlo.parse(str(program()).replace("256,64", "16384,8192").replace("16384", "32768"))
    (fusion, *_) = ix.analyze(module, device).fusions
    prediction = ix.predict(fusion.instruction, {}, fusion.device)
    assert fusion.wasted > 0 and fusion.seconds == prediction.time[0]
    share = ix.find_device(device).memory.reached
    assert 0 < fusion.seconds_lost < 1.02 * fusion.wasted / (rate * share)  # caches keep some of what is wasted


def test_times_of_single_instructions_and_of_a_device_of_ones_own() -> None:
    """The kernel of an instruction outside of fusions is predicted as if it were one; never below its bytes over the bandwidth."""
    text = "ENTRY e { p = f32[134217728] parameter(0) ROOT n = f32[134217728] negate(p) }"
    mine = ix.find_device("h100").with_memory(bandwidth=1e12)
    (report,) = ix.analyze(ix.hlo.parse(text), mine).fusions
    assert (report.name, report.opcode) == ("n", "negate")
    assert report.seconds == ix.predict(report.instruction, {}, mine.after_another()).time[0] >= 2**30 / 1e12
    assert report.seconds_lost == 0


# Fusions beside a product, copies, a loop, a collective and library calls, some of them in the background.
MIXED = """HloModule mixed, is_scheduled=true
sum { a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = f32[] add(a, b) }
f { a = f32[256,64] parameter(0) ROOT s = f32[256,64] negate(a) }
g { a = f32[256,32] parameter(0) ROOT s = f32[256,32] negate(a) }
body { p = (s32[], f32[256,64]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  x = f32[256,64] get-tuple-element(p), index=1
  c = f32[256,64] copy(x)
  b = f32[256,64] opt-barrier(c)
  ROOT t = (s32[], f32[256,64]) tuple(i, b) }
condition { p = (s32[], f32[256,64]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  n = s32[] constant(9)
  ROOT l = pred[] compare(i, n), direction=LT }
ENTRY main {
  x = f32[256,64] parameter(0)
  w = f32[64,32] parameter(1)
  i = s32[] parameter(2)
  z = f32[] constant(0)
  one = f32[256,64] fusion(x), kind=kLoop, calls=f
  copying = (f32[256,64], f32[256,64], u32[]) copy-start(one)
  copied = f32[256,64] copy-done(copying)
  t = (s32[], f32[256,64]) tuple(i, copied)
  l = (s32[], f32[256,64]) while(t), condition=condition, body=body
  y = f32[256,64] get-tuple-element(l), index=1
  flat = f32[16384] bitcast(y)
  back = f32[256,64] bitcast(flat)
  reducing = f32[256,64] all-reduce-start(back), replica_groups={}, to_apply=sum
  reduced = f32[256,64] all-reduce-done(reducing)
  gathering = (f32[256,64], f32[512,64]) all-gather-start(reduced), replica_groups={{0,1}}, dimensions={0}
  gathered = f32[512,64] all-gather-done(gathering)
  d = f32[512,32] dot(gathered, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  u = f32[256,32] custom-call(d), custom_call_target="mine"
  running = ((f32[256,32]), f32[256,32], s32[]) async-start(u), calls=g
  done = f32[256,32] async-done(running)
  ROOT r = f32[32] reduce(done, z), dimensions={0}, to_apply=sum }
"""


def test_totals_are_those_of_the_whole_program() -> None:
    """By definition: what each instruction reads and writes; a loop's by its count, the background's where it starts."""
    wide, narrow, gathered = 256 * 64 * 4, 256 * 32 * 4, 512 * 64 * 4
    expected = {
        "one": 2 * wide,
        "copying": 2 * wide,
        "c": 2 * wide,
        "l": 4 + 4 + 1,
        "reducing": 2 * wide,
        "gathering": wide + gathered,
        "d": gathered + 64 * 32 * 4 + 2 * narrow,
        "u": 3 * narrow,
        "s": 2 * narrow,
        "r": narrow + 4 + 32 * 4,
    }
    report = ix.analyze(ix.hlo.parse(MIXED))
    assert {f.name: f.ideal_bytes for f in report.fusions} == expected
    assert report.ideal_bytes == sum(expected.values())
    moved = {f.name: f.bytes for f in report.fusions}
    assert all(moved[name] == expected[name] for name in ("copying", "reducing", "gathering", "d", "u"))


def test_sentences_say_how_lanes_go() -> None:
    read = access(ix.analyze(program()), "two", "y")
    assert "neighbouring lanes are 1024 B apart" in read.why  # a column of 256 elements of 4 bytes
    assert "along dimension 1 of f32[256,64]{0,1}, memory along dimension 0" in read.why
    assert read.remedy.startswith("a layout {1,0} of `y`, or a tile in shared memory")
    assert access(ix.analyze(program()), "one", "x").why == ""


def test_the_instruction_that_turns_the_array_is_named() -> None:
    text = """f { p = f32[#,#] parameter(0)
      t = f32[#,#] transpose(p), dimensions={1,0}
      a = f32[#,8] slice(t), slice={[0:#],[0:8]}
      b = f32[#,8] slice(t), slice={[0:#],[1:9]}
      ROOT c = f32[#,8] add(a, b) }
    ENTRY e { p = f32[#,#] parameter(0) ROOT r = f32[#,8] fusion(p), kind=kLoop, calls=f }"""
    (row,) = [r for r in ix.analyze(ix.hlo.parse(text.replace("#", "999"))).rows if r.kind == "read"]
    assert "neighbouring lanes are 3996 B apart" in row.why, "a row of 999 numbers"
    assert "through the transpose `t`" in row.why and "a kernel of its own for `t`" in row.remedy
    (row,) = [r for r in ix.analyze(ix.hlo.parse(text.replace("#", "12"))).rows if r.kind == "read"]
    assert row.why.endswith(f"; a cache serves it, for it holds the 576 B, which warps load {192 / 108:.3g} times")
    assert not row.remedy


def read_of(body: str, operands: str, array: str = "x"):
    """The only read of an array by a fusion of that body."""
    names = ", ".join(line.split(" = ")[0].strip() for line in operands.split(" | "))
    entry = "\n".join(line.replace("#", str(k)) for k, line in enumerate(operands.split(" | ")))
    inner = "\n".join(line.replace("#", str(k)) for k, line in enumerate(operands.split(" | ")))
    shape = body.split("ROOT ")[1].split(" = ")[1].split(" ")[0]
    text = f"f {{ {inner}\n {body} }}\nENTRY e {{ {entry}\n ROOT r = {shape} fusion({names}), kind=kLoop, calls=f }}"
    (row,) = [r for r in ix.analyze(ix.hlo.parse(text)).rows if r.kind == "read" and r.array == array]
    return row


def test_what_leaves_memory_as_it_is_turns_nothing() -> None:
    """A bitcast moves nothing, no dimension of one element is walked along: of every second element, a lane takes two."""
    row = read_of(
        """b = f32[1,4096,64] bitcast(x)
        s = f32[1,4096,32] slice(b), slice={[0:1], [0:4096], [0:64:2]}
        ROOT n = f32[1,4096,32] negate(s)""",
        "x = f32[4096,64] parameter(#)",
    )
    assert row.why == "neighbouring lanes are 16 B apart, through the slice `s`; of a sector's 32 B, a warp uses 16"
    assert row.wasted == row.will_move // 2 == 4096 * 64 * 4 // 2 and "a kernel of its own" not in row.remedy


def test_lanes_that_are_not_active_are_said_to_be_so() -> None:
    """Even lanes read one half of the result, so that the next active one is two on, and reads 4 bytes further."""
    row = read_of(
        """z = f32[] constant(0)
        w = f32[8192] pad(x, z), padding=0_0_1
        ROOT n = f32[8192] negate(w)""".replace("0_0_1", "0_1_1"),
        "x = f32[4096] parameter(#)",
    )
    assert row.wasted == 0, "side by side in memory, whichever lanes they are"
    row = read_of(
        """z = f32[] constant(0)
        s = f32[4096] slice(x), slice={[0:8192:2]}
        w = f32[8192] pad(s, z), padding=0_1_1
        ROOT n = f32[8192] negate(w)""",
        "x = f32[8192] parameter(#)",
    )
    assert row.why.startswith("one lane in 2 is active, the next 8 B apart, through the slice `s`")


def test_lanes_that_share_an_element_are_said_to_do_so() -> None:
    """Sixteen columns of the result, four of them a lane, read one element of a column of x; those are 4096 bytes apart."""
    row = read_of(
        """s = f32[65536,1] slice(x), slice={[0:65536], [7:8]}
        v = f32[65536] bitcast(s)
        ROOT w = f32[65536,16] broadcast(v), dimensions={0}""",
        "x = f32[65536,1024] parameter(#)",
    )
    assert row.why.startswith("4 lanes share an element, the next are 4096 B apart")


def test_loads_of_one_vector_are_judged_together() -> None:
    """A lane reads 8 numbers of 32 bits by two loads: each moves all sectors, the second finds them, and nothing is wasted."""
    row = read_of(
        """c = f32[4096,1024] convert(y)
        s = f32[4096,1024] broadcast(x), dimensions={1}
        m = f32[4096,1024] multiply(c, s)
        ROOT h = bf16[4096,1024] convert(m)""",
        "x = f32[1024] parameter(#) | y = bf16[4096,1024] parameter(#)",
    )
    assert row.uses == 4096 * 1024 and (row.wasted, row.ratio) == (0, 1)
    assert row.why == "warps load each element 4,096 times, which a cache serves, for it holds the 4,096 B"


@pytest.mark.parametrize(
    ("body", "operands", "why", "remedy"),
    [
        (
            "s = f32[512,126] slice(x), slice={[0:512], [1:127]}\n ROOT n = f32[512,126] negate(s)",
            "x = f32[512,128] parameter(#)",
            "the runs that a warp reads begin within a sector (32 B), 4 B from its start, for example",
            "starts and lengths that are multiples of 8 elements",
        ),
        (
            "s = bf16[512,64] slice(x), slice={[0:512], [0:64]}\n ROOT n = bf16[512,64] negate(s)",
            "x = bf16[512,67] parameter(#)",
            "a row of `x` (dimension 1) is 134 B, which is no multiple of a sector (32 B): what a warp reads of it begins "
            "within one",
            "rows of a multiple of 16 elements, by padding",
        ),
        (
            "ROOT n = f32[11] negate(x)",
            "x = f32[11] parameter(#)",
            "its 44 B are no multiple of a sector (32 B)",
            "",
        ),
        (
            "ROOT n = f32[] negate(x)",
            "x = f32[] parameter(#)",
            "its 4 B are less than a sector (32 B), which moves whole",
            "",
        ),
    ],
)
def test_sentences_about_sectors_that_are_needed_in_part(body: str, operands: str, why: str, remedy: str) -> None:
    row = read_of(body, operands)
    assert (row.why, row.remedy) == (why, remedy)
    assert row.wasted == 0 or "runs" in why, "what alignment alone adds is not wasted"


def test_an_excess_of_less_than_a_hundredth_is_worth_no_sentence() -> None:
    row = read_of("ROOT n = f32[1023] negate(x)", "x = f32[1023] parameter(#)")
    assert row.excess == 4 and (row.why, row.remedy) == ("", "")


def test_what_moves_between_devices_and_what_no_kernel_computes_is_judged_by_the_least() -> None:
    """No loop of this machine gathers or sorts: no operand is read once for each element that is made of it."""
    text = """less { a = f32[] parameter(0) b = f32[] parameter(1) ROOT l = pred[] compare(a, b), direction=LT }
    f { x = f32[64,8] parameter(0) ROOT s = f32[64,8] sort(x), dimensions={1}, to_apply=less }
    ENTRY e { x = f32[64,8] parameter(0)
      s = f32[64,8] fusion(x), kind=kLoop, calls=f
      ROOT g = f32[8192,8] all-gather(s), replica_groups={}, dimensions={0} }"""
    report = ix.analyze(ix.hlo.parse(text))
    assert {f.name: f.bytes for f in report.fusions} == {"s": 2 * 64 * 8 * 4, "g": (64 + 8192) * 8 * 4}
    assert report.wasted == 0


def test_why_something_is_read_again_or_not_known() -> None:
    text = """ENTRY e { p = f32[64] parameter(0) q = f32[1048576] parameter(1) i = s32[512,1] parameter(2)
      b = f32[1024,64] broadcast(p), dimensions={1}
      c = f32[8,1048576] broadcast(q), dimensions={1}
      g = f32[512] gather(q, i), offset_dims={}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1,
        slice_sizes={1}
      ROOT t = (f32[1024,64], f32[8,1048576], f32[512]) tuple(b, c, g) }"""
    report = ix.analyze(ix.hlo.parse(text))
    again, large = access(report, "b", "p"), access(report, "c", "q")
    assert again.why == "warps load each element 512 times, which a cache serves, for it holds the 256 B", "two rows"
    assert not again.remedy and "\n   read p" not in str(report)  # nothing is to be mended: no line for it
    assert large.why == "warps load each element 8 times"
    assert large.remedy == "a fusion of `c` with what reads it, which then reads `q`"
    assert "runtime values" in access(report, "g", "q").note


def test_what_contracts_inside_a_fusion_is_judged_by_the_least() -> None:
    text = """f { a = f32[64,32] parameter(0) b = f32[32,16] parameter(1)
      ROOT d = f32[64,16] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0} }
    ENTRY e { a = f32[64,32] parameter(0) b = f32[32,16] parameter(1)
      ROOT r = f32[64,16] fusion(a, b), kind=kCustom, calls=f }"""
    report = ix.analyze(ix.hlo.parse(text))
    assert report.wasted == 0 and report.bytes == report.ideal_bytes == 4 * (64 * 32 + 32 * 16 + 64 * 16)
    assert all("a tiled kernel" in r.why for r in report.rows if r.kind == "read")


def test_a_fusion_that_runs_as_several_kernels_has_their_time() -> None:
    """Halves of normalized rows change places, so that one kernel of elements would reduce each row 128 times."""
    text = """add {{ a = f32[] parameter(0)
      b = f32[] parameter(1)
      ROOT r = f32[] add(a, b) }}
    f {{ p = {s} parameter(0)
      q = {s} multiply(p, p)
      z = f32[] constant(0)
      t = f32[{n},16] reduce(q, z), dimensions={{2}}, to_apply=add
      r = f32[{n},16] rsqrt(t)
      b = {s} broadcast(r), dimensions={{0,1}}
      y = {s} multiply(p, b)
      left = f32[{n},16,64] slice(y), slice={{[0:{n}],[0:16],[0:64]}}
      right = f32[{n},16,64] slice(y), slice={{[0:{n}],[0:16],[64:128]}}
      ROOT c = {s} concatenate(right, left), dimensions={{2}} }}
    ENTRY e {{ x = {s} parameter(0)
      ROOT turned = {s} fusion(x), kind=kCustom, calls=f }}"""
    module = ix.hlo.parse(text.format(s="f32[8192,16,128]", n=8192))
    report = ix.analyze(module, "h100")
    (kernel,) = report.fusions
    parts = ix.emit_all(module, device="h100")
    moved = [a.bytes_moved for k in parts for a in ix.coalescing(k, "h100").accesses]
    array = 8192 * 16 * 128 * 4
    assert len(parts) > 1 and kernel.name == "turned"
    assert (kernel.bytes, kernel.ideal_bytes) == (sum(moved), 2 * array)
    assert (
        2 * array / 3.35232e12
        < kernel.seconds
        < 8 * array / 3.35232e12
        < ix.predict(kernel.instruction, {}, "h100").time[0]
    )
    assert f"this package runs {len(parts)}" in kernel.note


def test_reports_of_jax_functions_and_of_one_fusion() -> None:
    x = np.zeros((128, 64), np.float32)
    report = ix.analyze(lambda a: jnp.tanh(a).T, x, device="a100")
    assert [f.name.split(".")[0] for f in report.fusions] == ["transpose"], "one kernel, as this package plans it"
    assert report.device.name == "A100 SXM 80GB"
    assert any(__file__ in str(f.place) for f in report.fusions)
    assert [f.name for f in ix.analyze(program(), fusion="%one").fusions] == ["one"]
    with pytest.raises(ix.IndexingError, match="no instruction 'none'"):
        ix.analyze(program(), fusion="none")
    with pytest.raises(ix.IndexingError, match="no device 'h1000'"):
        ix.analyze(program(), "h1000")


def test_a_report_as_text_and_as_columns() -> None:
    report = ix.analyze(program(), "h100").sorted_by("wasted")
    head, *lines = str(report).splitlines()
    assert head.startswith("two on H100 SXM, XLA's fusions with this package's kernels: 2 kernels in ")
    memory = "memory moves 328 kB, 328 kB must, and loads and stores waste 459 kB (58% of theirs)"
    assert head.endswith(f"{memory}; 32.8 kFLOP")
    assert lines[1].split() == ["lost", "time", "share", "limit", "DRAM", "FLOPs", "kernel"]
    of_two = next(k for k, line in enumerate(lines) if line.endswith(" 197 kB  16.4 k  two  f32[256,64]{1,0} fusion"))
    sentence = "   read y: 65.5 kB must move, loads move 524 kB, 8.00 times the sectors that it needs"
    assert lines[of_two + 1] == sentence
    of_one = next(line for line in lines if " 131 kB  16.4 k  one " in line)
    assert lines[of_two].startswith("1. ") and of_one.startswith("2. ") and of_one.endswith(" m.py:7"), "equally long"
    assert str(report.worst(1)).count("} fusion") == 1
    assert report.worst(min_waste=1).fusions == report.fusions[:1]
    columns = report.access_columns()
    assert {len(c) for c in columns.values()} == {5} and sum(columns["wasted"]) == report.wasted
    assert columns["place"].count("m.py:7") == 2
    kernels = report.columns()
    assert kernels["kernel"] == ["two", "one"] and kernels["seconds"] == [f.seconds for f in report.fusions]
    assert kernels["flops"] == [256 * 64] * 2 and sum(kernels["bytes"]) == report.bytes
    assert kernels["intensity"] == [f.flops / f.ideal_bytes for f in report.fusions], "caches serve the rest"
    assert kernels["flops_per_second"] == [f.flops / f.seconds for f in report.fusions]


def test_kernels_are_sorted_by_what_is_asked_for() -> None:
    """`one` has twice the elements of a fusion that wastes, and half its traffic."""
    report = ix.analyze(program(16384), "h100")
    assert [f.name for f in report.sorted_by("flops").fusions] == ["two", "one"]
    for order in ("lost", "time", "bytes", "wasted"):
        assert report.sorted_by(order).fusions[0].name == "two"
    slow = sorted(report.fusions, key=lambda f: -f.seconds)
    assert list(report.sorted_by("time").fusions) == slow
    with pytest.raises(ix.IndexingError, match="sorted by lost, time"):
        report.sorted_by("name")


def test_equal_kernels_are_told_once() -> None:
    """Those that are the same but for their names, as one; the groups in the order of what they waste together."""
    sizes = {"a": "64,64", "b": "64,64", "c": "64,96", "d": "64,64"}
    lines = [
        f"{n} = f32[{s}]{{0,1}} parameter({k}) {n}c = f32[{s}] copy({n})" for k, (n, s) in enumerate(sizes.items())
    ]
    shapes = ", ".join(f"f32[{s}]" for s in sizes.values())
    names = ", ".join(f"{n}c" for n in sizes)
    report = ix.analyze(
        ix.hlo.parse(
            f"HloModule m, is_scheduled=true\nENTRY e {{ {' '.join(lines)} ROOT t = ({shapes}) tuple({names}) }}"
        )
    )
    text = str(report).splitlines()
    (own,) = [f for f in report.fusions if f.name == "ac"]
    line = next(line for line in text if " and 2 like it " in line)
    assert f"  {bytes_text(3 * own.bytes)}  " in line and "ac and 2 like it (bc, dc)  f32[64,64]" in line
    assert sum(" cc  f32[64,96]" in line for line in text) == 1


def test_kernels_of_one_name_are_counted() -> None:
    """As those of a computation that is called more than once."""
    text = """
    c { p = f32[64,64] parameter(0) ROOT e = f32[64,64] dot(p, p), lhs_contracting_dims={1}, rhs_contracting_dims={0} }
    ENTRY m { x = f32[64,64] parameter(0) a = f32[64,64] call(x), to_apply=c ROOT b = f32[64,64] call(a), to_apply=c }"""
    report = ix.analyze(ix.hlo.parse(text))
    assert [f.name for f in report.fusions] == ["e", "e"]
    assert "e and 1 like it (of the same name)  f32[64,64]" in str(report)


def test_tables_of_pandas_and_arrow(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is passed to the libraries, and what is said without them."""
    import sys
    import types

    report = ix.analyze(program())
    monkeypatch.setitem(sys.modules, "pandas", types.SimpleNamespace(DataFrame=dict))
    assert report.to_pandas() == report.columns()
    assert report.to_pandas(accesses=True) == report.access_columns()
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ix.UnsupportedOp, match="a table of pyarrow needs the data extra"):
        report.to_arrow()


def test_text_of_a_program_cannot_command_a_terminal() -> None:
    text = str(program()).replace('source_file="m.py"', 'source_file="\x1b[31mm.py"')
    assert "\x1b" not in str(ix.analyze(ix.hlo.parse(text)))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (bytes_text(0), "0 B"),
        (bytes_text(999), "999 B"),
        (bytes_text(24600), "24.6 kB"),
        (bytes_text(2e15), "2 PB"),
        (seconds_text(7.34e-6), "7.34 us"),
        (seconds_text(2.5e-9), "2.5 ns"),
        (seconds_text(5e-21), "0 ns"),
        (seconds_text(2e-12), "0.002 ns"),
        (seconds_text(90), "90 s"),
    ],
)
def test_units(text: str, expected: str) -> None:
    assert text == expected


# ---- comparison


def test_renamed_programs_are_the_same() -> None:
    other = ix.hlo.parse(str(program()).replace("straight", "forward").replace("two", "last").replace("one", "first"))
    comparison = ix.compare(program(), other)
    assert sorted((a.name, b.name) for a, b in comparison.same) == [("one", "first"), ("two", "last")]
    assert not (comparison.lost or comparison.made or comparison.changed)


def test_fusions_made_and_lost() -> None:
    fused = program()
    after = ix.hlo.parse("""HloModule two
together { a = f32[256,64]{0,1} parameter(0)
  b = f32[256,64]{1,0} parameter(1)
  n = f32[256,64]{1,0} negate(b)
  ROOT s = f32[256,64]{1,0} add(a, n) }
ENTRY main {
  x = f32[256,64]{1,0} parameter(0)
  y = f32[256,64]{0,1} parameter(1)
  ROOT two = f32[256,64]{1,0} fusion(y, x), kind=kLoop, calls=together
}""")
    comparison = ix.compare(fused, after)
    assert [(a.name, b.name) for a, b in comparison.changed] == [("two", "two")], "which adds in both"
    assert [f.name for f in comparison.lost] == ["one"] and comparison.made == (), (
        "whose line only the one before names"
    )
    lines = str(comparison).splitlines()
    moved = "us; memory moves -131 kB, loads and stores -131 kB, of which +0 B are wasted; 0 kernels are the same"
    assert lines[2].startswith("-") and lines[2].endswith(moved)
