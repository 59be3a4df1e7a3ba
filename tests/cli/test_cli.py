"""The command line: what each command prints, its JSON, its exit status and its messages."""

import io
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from indexing.cli import diagnosis, main, manual
from indexing.cli.options import command_parsers, parser
from indexing.device.detect import find_device
from indexing.kernels.ir.text import print_kernel
from indexing.kernels.kernel import Kernel
from indexing.kernels.passes import STAGES
from indexing.kernels.targets import TARGETS
from indexing.kernels.verify import Verification
from indexing.kernels.verify.check import Check
from ir_reader import read_kernel

TRANSPOSE = """
HloModule transpose

ENTRY main {
  p0 = f32[2,3] parameter(0)
  ROOT t = f32[3,2] transpose(p0), dimensions={1,0}
}
"""

DYNAMIC_SLICE = """
HloModule slice

ENTRY main {
  p0 = f32[10] parameter(0)
  start = s32[] parameter(1)
  ROOT d = f32[4] dynamic-slice(p0, start), dynamic_slice_sizes={4}
}
"""

FUSION = """
HloModule fused

twice {
  a = f32[8] parameter(0)
  ROOT sum = f32[8] add(a, a)
}

ENTRY main {
  p0 = f32[8] parameter(0)
  ROOT f = f32[8] fusion(p0), kind=kLoop, calls=twice
}
"""

Write = Callable[[str], str]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def to_file(text: str) -> str:
        file = tmp_path / "program.hlo"
        file.write_text(text)
        return str(file)

    return to_file


def printed(capsys: pytest.CaptureFixture[str], *arguments: str, status: int = 0) -> str:
    assert main(arguments) == status
    out, err = capsys.readouterr()
    assert err == ""
    return out


def refused(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(arguments) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("indexing: ")
    assert "Traceback" not in err
    return err


def test_maps_of_a_transpose(capsys: pytest.CaptureFixture[str], write: Write) -> None:
    assert printed(capsys, "maps", write(TRANSPOSE)) == (
        "t = f32[3,2] transpose\n  operand 0, p0\n    (d0, d1) -> (d1, d0), domain: d0 in [0, 2], d1 in [0, 1]\n"
    )


def test_maps_from_inputs(capsys: pytest.CaptureFixture[str], write: Write) -> None:
    assert printed(capsys, "maps", "--inputs", write(TRANSPOSE)) == (
        "t = f32[3,2] transpose\n"
        "  operand 0, p0, to output 0\n"
        "    (d0, d1) -> (d1, d0), domain: d0 in [0, 1], d1 in [0, 2]\n"
    )


def test_maps_show_where_runtime_values_are_read(capsys: pytest.CaptureFixture[str], write: Write) -> None:
    out = printed(capsys, "maps", write(DYNAMIC_SLICE))
    assert "(d0){rt0} -> (d0 + rt0), domain: d0 in [0, 3], rt0 in [0, 6]\n      rt0 = start at (d0) -> ()" in out


def test_maps_as_json(capsys: pytest.CaptureFixture[str], write: Write) -> None:
    (actual,) = json.loads(printed(capsys, "maps", "--json", write(DYNAMIC_SLICE)))
    assert actual["instruction"], actual["opcode"] == ("d", "dynamic-slice")
    (indexing,) = actual["operands"][0]["maps"]
    assert indexing["exactness"] == "exact"
    assert [v["instruction"] for v in indexing["runtime_values"]] == ["start"]


def test_maps_of_one_instruction_anywhere(capsys: pytest.CaptureFixture[str], write: Write) -> None:
    out = printed(capsys, "maps", "--instruction", "%sum", write(FUSION))
    assert out.startswith("sum = f32[8] add\n  operand 0, a\n    (d0) -> (d0), domain: d0 in [0, 7]\n")


def test_simplify(capsys: pytest.CaptureFixture[str]) -> None:
    source = "(d0, d1) -> ((d0 * 4 + d1) floordiv 4, d1 mod 4), domain: d0 in [0, 9], d1 in [0, 3]"
    want = "(d0, d1) -> (d0, d1), domain: d0 in [0, 9], d1 in [0, 3]"
    assert printed(capsys, "simplify", source) == want + "\n"
    assert json.loads(printed(capsys, "simplify", "--json", source)) == {"map": source, "simplified": want}


def test_simplify_by_a_search(capsys: pytest.CaptureFixture[str]) -> None:
    source = "(x, y, z) -> (x + y + (x + y + z) floordiv 3), domain: x in [-9, 9], y in [-9, 9], z in [-9, 9]"
    assert printed(capsys, "simplify", source) == source + "\n"
    cheaper = source.replace("x + y + (x + y + z) floordiv 3", "((x + y) * 4 + z) floordiv 3")
    assert printed(capsys, "simplify", "--effort", "search", source) == cheaper + "\n"


def test_simplify_reads_standard_input(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    lines = b"(d0) -> (d0 mod 4), domain: d0 in [0, 3]\n\n(d0) -> (d0 floordiv 3), domain: d0 in [0, 8]\n"
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(lines)))
    assert printed(capsys, "simplify", "--lines", "--style", "xla", "-") == (
        "(d0) -> (d0), domain: d0 in [0, 3]\n(d0) -> (d0 / 3), domain: d0 in [0, 8]\n"
    )


def test_compose(capsys: pytest.CaptureFixture[str]) -> None:
    first = "(d0) -> (d0 floordiv 4, d0 mod 4), domain: d0 in [0, 11]"
    second = "(d0, d1) -> (d0 * 4 + d1), domain: d0 in [0, 2], d1 in [0, 3]"
    assert printed(capsys, "compose", first, second) == "(d0) -> (d0), domain: d0 in [0, 11]\n"


def test_partition(capsys: pytest.CaptureFixture[str], write: Write) -> None:
    (actual,) = json.loads(printed(capsys, "partition", "--json", write(FUSION)))
    assert actual["computation"] == "twice"
    assert [s["roots"] for s in actual["subgraphs"]] == [["sum"]]


def test_emit_prints_cuda_source(capsys: pytest.CaptureFixture[str], write: Write) -> None:
    out = printed(capsys, "emit", write(FUSION))
    assert "__global__" in out
    (kernel,) = json.loads(printed(capsys, "emit", "--json", "--dialect", "opencl", write(FUSION)))
    assert "__kernel" in kernel["source"]
    assert kernel["emitter"] == "loop"


def test_emit_writes_files(capsys: pytest.CaptureFixture[str], write: Write, tmp_path: Path) -> None:
    printed(capsys, "emit", "--out", str(tmp_path / "out"), "--arch", "sm_90", write(FUSION))
    source, cubin = sorted((tmp_path / "out").iterdir(), key=lambda f: f.suffix == ".cubin")
    assert "__global__" in source.read_text()
    assert cubin.read_bytes()[:4] == b"\x7fELF"


@pytest.mark.parametrize("dialect", TARGETS)
def test_emit_writes_what_a_target_calls_its_files(
    capsys: pytest.CaptureFixture[str], write: Write, tmp_path: Path, dialect: str
) -> None:
    printed(capsys, "emit", "--dialect", dialect, "--out", str(tmp_path / "out"), write(FUSION))
    (source,) = (tmp_path / "out").iterdir()
    assert source.suffix == {"cuda": ".cu", "c": ".c", "opencl": ".cl"}[dialect]


@pytest.mark.parametrize("stage", STAGES)
def test_emit_prints_the_ir_of_a_stage(capsys: pytest.CaptureFixture[str], write: Write, stage: str) -> None:
    about, text = printed(capsys, "emit", "--dialect", "c", "--stage", stage, write(FUSION)).split("\n", 1)
    assert about.startswith("# loop_add: loop emitter")
    assert print_kernel(read_kernel(text)) + "\n" == text
    assert "load.f32 p0[" in text
    (kernel,) = json.loads(printed(capsys, "emit", "--json", "--dialect", "c", "--stage", stage, write(FUSION)))
    assert kernel["stage"] == stage
    assert kernel["ir"] + "\n" == text
    assert "source" not in kernel


def test_emit_writes_the_ir_of_a_stage(capsys: pytest.CaptureFixture[str], write: Write, tmp_path: Path) -> None:
    printed(capsys, "emit", "--stage", "hoist", "--out", str(tmp_path / "out"), write(FUSION))
    (file,) = (tmp_path / "out").iterdir()
    assert file.suffix == ".ir"
    assert read_kernel(file.read_text()).name == file.stem


def test_emit_names_the_stages(capsys: pytest.CaptureFixture[str], write: Write) -> None:
    with pytest.raises(SystemExit) as left:
        main(["emit", "--stage", "polish", write(FUSION)])
    assert left.value.code == 2
    assert "'polish'" in (message := capsys.readouterr().err)
    assert "'built', 'inline'" in message


def test_emit_says_what_is_proved(capsys: pytest.CaptureFixture[str], write: Write) -> None:
    """Passes that change nothing are no claims: the kernel has vectors, which some change."""
    out = printed(capsys, "emit", "--verify", write(FUSION.replace("[8]", "[4000000]")))
    lines = out.rstrip("\n").splitlines()
    first = next(k for k, line in enumerate(lines) if "checks proved" in line)
    proofs = [line.removeprefix("// proved: ") for line in lines[first + 1 :]]
    assert lines[first] == f"// loop_add: {len(proofs)} of {len(proofs)} checks proved"
    assert "in bounds: loop_add: load p0[th_x * 4 + bl_x * 512]" in proofs
    assert "written once: output o0" in proofs
    assert "same accesses: vectorize: store o0" in proofs
    (kernel,) = json.loads(printed(capsys, "emit", "--json", "--verify", write(FUSION.replace("[8]", "[4000000]"))))
    actual = kernel["verification"]
    assert (actual["checks"], actual["not_proved"]) == (len(proofs), [])
    assert [f"{c['kind']}: {c['subject']}" + f": {c['reason']}" * bool(c["reason"]) for c in actual["proved"]] != []


def test_emit_names_what_is_not_proved(
    capsys: pytest.CaptureFixture[str], write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    checks = (Check("race", "shared memory t", "open", "too many"), Check("in bounds", "load p0[9]", "refuted", "at 9"))
    monkeypatch.setattr(Kernel, "verify", lambda self: Verification(checks))
    assert main(["emit", "--verify", write(FUSION)]) == 1
    out = capsys.readouterr().out
    assert out.endswith(
        "// loop_add: 0 of 2 checks proved\n// refuted: in bounds: load p0[9]: at 9\n// open: race: shared memory t: too many\n"
    )
    assert main(["emit", "--verify", "--json", write(FUSION)]) == 1
    (kernel,) = json.loads(capsys.readouterr().out)
    assert [c["status"] for c in kernel["verification"]["not_proved"]] == ["refuted", "open"]


UNFUSED = """
add { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b) }
ENTRY main {
  x = f32[6,6] parameter(0)
  z = f32[] constant(0)
  t = f32[6] reduce(x, z), dimensions={1}, to_apply=add
  b = f32[6,6] broadcast(t), dimensions={1}
  d = f32[6,6] subtract(x, b)
  r = f32[6] reduce(d, z), dimensions={1}, to_apply=add
  c = f32[6,6] broadcast(r), dimensions={1}
  ROOT y = f32[6,6] subtract(x, c)
}
"""


def test_a_program_without_fusions_is_planned(capsys: pytest.CaptureFixture[str], write: Write, tmp_path: Path) -> None:
    kernels = json.loads(printed(capsys, "emit", "--json", write(UNFUSED)))
    assert [k["emitter"] for k in kernels] == ["loop", "loop", "loop"]
    assert len(json.loads(printed(capsys, "partition", "--json", write(UNFUSED)))) == 3
    printed(capsys, "emit", "--out", str(tmp_path / "out"), write(UNFUSED))
    assert len(list((tmp_path / "out").iterdir())) == 3, "kernels of one name have files of their own"


@pytest.mark.parametrize("device", ["cpu", "reference"])
def test_run_agrees_with_the_reference(capsys: pytest.CaptureFixture[str], write: Write, device: str) -> None:
    assert printed(capsys, "run", "--device", device, write(FUSION)).endswith("agrees with the reference\n")


def test_run_reads_arrays(capsys: pytest.CaptureFixture[str], write: Write, tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", np.arange(8, dtype=np.float32))
    out = printed(capsys, "run", "--device", "cpu", "--input", str(tmp_path / "a.npy"), write(FUSION))
    assert "[0.0, 2.0, 4.0, ...]" in out


def test_standard_input(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(TRANSPOSE.encode())))
    assert printed(capsys, "maps", "-").startswith("t = ")


@pytest.mark.parametrize("command", ["maps", "partition", "emit", "run"])
def test_what_is_wrong_with_a_file(capsys: pytest.CaptureFixture[str], tmp_path: Path, command: str) -> None:
    broken, binary = tmp_path / "broken.hlo", tmp_path / "binary.hlo"
    broken.write_text("HloModule m\nENTRY e {\n  ROOT a = f32[2 parameter(0)\n}\n")
    binary.write_bytes(b"HloModule \xff\xfe")
    message = refused(capsys, command, str(broken))
    assert f"{broken}:3:18: " in message
    assert "^" in message
    assert "No such file" in refused(capsys, command, str(tmp_path / "absent.hlo"))
    assert "UTF-8" in refused(capsys, command, str(binary))
    assert "directory" in refused(capsys, command, str(tmp_path))


def test_what_is_wrong_with_a_map(capsys: pytest.CaptureFixture[str]) -> None:
    assert "^" in refused(capsys, "simplify", "(d0) -> (d0 +), domain: d0 in [0, 3]")
    assert "standard input" in refused(capsys, "compose", "-", "-")


def test_a_name_that_is_not_there(capsys: pytest.CaptureFixture[str], write: Write) -> None:
    message = refused(capsys, "maps", "--instruction", "summ", write(FUSION))
    assert "no instruction summ; there is sum" in message
    assert "no instruction zzz; there is p0, f, a, ..." in refused(
        capsys, "maps", "--instruction", "zzz", write(FUSION)
    )


@pytest.mark.parametrize(
    "arguments", [["no-such-command"], ["maps"], ["simplify", "a", "b"], ["run", "--seed", "x", "f"]]
)
def test_wrong_usage(capsys: pytest.CaptureFixture[str], arguments: list[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        main(arguments)
    assert stop.value.code == 2
    assert "usage: indexing" in capsys.readouterr().err


def test_a_reader_that_goes_away_gets_no_message(tmp_path: Path) -> None:
    (tmp_path / "maps").write_text("(d0) -> (d0), domain: d0 in [0, 3]\n" * 20_000)
    with open(tmp_path / "maps", "rb") as lines:
        process = subprocess.Popen(
            [sys.executable, "-m", "indexing", "simplify", "--lines", "-"],
            stdin=lines,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        assert process.stdout is not None
        assert process.stderr is not None
        os.read(process.stdout.fileno(), 10)
        process.stdout.close()
        errors = process.stderr.read()
        process.stderr.close()
    assert (process.wait(), errors) == (141, b"")


def test_draw(capsys: pytest.CaptureFixture[str], write: Write) -> None:
    picture = ElementTree.fromstring(printed(capsys, "draw", "--layout", "plain", write(TRANSPOSE)))
    texts = [e.text for e in picture.iter("{http://www.w3.org/2000/svg}text")]
    assert {"(d0, d1) -> (d1, d0)", "p0", "t"} <= set(texts)
    graph = printed(capsys, "draw", "--format", "dot", write(TRANSPOSE))
    assert re.search(r'n0 -> n1 \[label=" +\(d0, d1\) -> \(d1, d0\) +", tooltip="\(d0, d1\) -> \(d1, d0\)"\];', graph)


@pytest.mark.parametrize(
    ("what", "expected"),
    [
        ("accesses", "thread 2: elements [2, 0]"),
        ("banks", "bank 2, word 2: lane 2, pass 1 of 1"),
        ("tile", "t, rows 0:8, columns 0:4: 50% in the tile"),
    ],
)
def test_draw_what_a_kernel_does_to_memory(
    capsys: pytest.CaptureFixture[str], write: Write, tmp_path: Path, what: str, expected: str
) -> None:
    text = "ENTRY e { p = f32[64,64] parameter(0) ROOT t = f32[64,64] transpose(p), dimensions={1,0} }"
    of = ["--computation", "e"] if what == "banks" else ["--instruction", "t"]
    tile = ["--tile", "4,4"] if what == "tile" else []
    svg = printed(capsys, "draw", "--picture", what, *of, *tile, write(text))
    assert expected in svg
    printed(capsys, "draw", "--picture", what, *of, *tile, "-o", str(tmp_path / "a.png"), write(text))
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG"), "the ending says which form"
    assert printed(capsys, "draw", "--picture", what, *tile, write(text)) == svg, "there is no other to draw"
    assert main(["draw", "--picture", what, write(text.replace("ROOT t", "n = f32[64,64] negate(p) ROOT t"))]) == 1
    assert "--instruction NAME, one of\n  n  negate f32[64,64]\n  t  transpose" in capsys.readouterr().err


def test_draw_says_what_there_is_not(capsys: pytest.CaptureFixture[str], write: Write) -> None:
    assert main(["draw", "--picture", "banks", "--instruction", "sum", write(FUSION)]) == 1
    assert "the kernel of sum does not use shared memory" in capsys.readouterr().err
    assert main(["draw", "--picture", "tile", "--format", "dot", "--instruction", "sum", write(FUSION)]) == 1
    assert "only graphs are drawn as dot" in capsys.readouterr().err
    assert main(["draw", "--instruction", "p0", write(TRANSPOSE)]) == 1
    assert "p0 calls no computation" in capsys.readouterr().err
    assert main(["draw", write(TRANSPOSE), "-o", "picture.gif"]) == 1
    assert "pictures are svg, png, dot, not gif" in capsys.readouterr().err and not Path("picture.gif").exists()


def test_the_command_that_was_meant_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    for words, meant in ((["anlyze", "a.hlo"], "'analyze'"), (["draw", "a.hlo", "--picture", "acesses"], "'accesses'")):
        with pytest.raises(SystemExit, match="2"):
            main(words)
        assert f"did you mean {meant}?" in capsys.readouterr().err


def test_the_option_that_was_meant_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    """By the command, with its own usage."""
    with pytest.raises(SystemExit, match="2"):
        main(["analyze", "--tpo", "3", "a.hlo"])
    told = capsys.readouterr().err
    assert told.startswith("usage: indexing analyze") and "did you mean '--top'?" in told
    with pytest.raises(SystemExit, match="2"):
        main(["maps", "a.hlo", "b.hlo"])
    assert capsys.readouterr().err.endswith(
        "unrecognized arguments: b.hlo (`indexing maps --help` lists what there is)\n"
    )


def test_a_name_is_first_looked_for_in_the_entry(capsys: pytest.CaptureFixture[str], write: Write) -> None:
    text = """f { p = f32[4,8] parameter(0) ROOT s = f32[8,4] transpose(p), dimensions={1,0} }
    ENTRY e { p = f32[4,8] parameter(0) ROOT s = f32[8,4] fusion(p), kind=kLoop, calls=f }"""
    assert printed(capsys, "maps", "--instruction", "s", write(text)).startswith("s = f32[8,4] fusion")
    assert "  s  f32[8,4] fusion" in printed(capsys, "analyze", "--fusion", "s", write(text))


def test_analyze(capsys: pytest.CaptureFixture[str], write: Write) -> None:
    lines = printed(capsys, "analyze", write(TRANSPOSE)).splitlines()
    assert lines[0].startswith(f"transpose on {find_device()}, as this package would run it: 1 kernel in ")
    assert lines[0].endswith("loads and stores waste no sectors; 0 FLOP")
    assert lines[3].startswith("1. ") and lines[3].endswith(" t  f32[3,2] transpose")
    answer = json.loads(printed(capsys, "analyze", "--json", write(FUSION)))
    assert answer["ideal_bytes"] == sum(row["ideal_bytes"] for row in answer["rows"])
    assert {row["kind"] for row in answer["rows"]} == {"read", "write"}
    started = find_device().first_launch_seconds
    assert answer["seconds"] == answer["least_seconds"] == started + sum(k["seconds"] for k in answer["fusions"])
    assert answer["flops"] == sum(kernel["flops"] for kernel in answer["fusions"]) and answer["not_modelled"] == 0
    of_sum = json.loads(printed(capsys, "analyze", "--json", "--fusion", "%sum", write(FUSION)))
    assert of_sum["rows"][0]["instruction"] == "sum"
    assert json.loads(printed(capsys, "analyze", "--json", "--min-waste", "1", write(FUSION)))["rows"] == []
    assert "no instruction summ; there is sum" in refused(capsys, "analyze", "--fusion", "summ", write(FUSION))


def test_analyze_shows_the_worst(capsys: pytest.CaptureFixture[str], write: Write) -> None:
    sizes = [(k, 10**6 + k) for k in range(12)]  # so large that each has a kernel of its own
    chain = "\n".join(f"  p{k} = f32[{n}] parameter({k}) n{k} = f32[{n}] negate(p{k})" for k, n in sizes)
    shapes, names = (", ".join(of.format(k, n) for k, n in sizes) for of in ("f32[{1}]", "n{0}"))
    file = write(f"ENTRY e {{\n{chain}\n  ROOT t = ({shapes}) tuple({names})\n}}")
    out = printed(capsys, "analyze", file)
    assert out.count(" negate\n") == 10
    assert re.search(r"2 more, which take [\d.]+ us and lose 0; --top 0 shows all\.", out)
    assert printed(capsys, "analyze", "--top", "0", file).count(" negate\n") == 12
    assert printed(capsys, "analyze", "--top", "3", file).count(" negate\n") == 3


def test_compare(capsys: pytest.CaptureFixture[str], write: Write, tmp_path: Path) -> None:
    before, after = write(FUSION), tmp_path / "after.hlo"
    after.write_text(TRANSPOSE)
    out = printed(capsys, "compare", before, str(after)).splitlines()
    assert out[0].startswith(f"before  fused on {find_device()}, XLA's fusions") and out[1].startswith(
        f"after   transpose on {find_device()}"
    )
    assert out[3:6] == ["replaced: 0", "changed: 0", "lost, and nothing like it after: 1"]
    assert out[6].startswith("  f  f32[8] fusion")
    answer = json.loads(printed(capsys, "compare", "--json", before, before))
    assert (answer["same"], answer["lost"], answer["made"], answer["changed"]) == (1, [], [], [])


def test_report(capsys: pytest.CaptureFixture[str], write: Write, tmp_path: Path) -> None:
    page = tmp_path / "deep" / "page.html"
    assert printed(capsys, "report", write(TRANSPOSE), "-o", str(page)) == f"{page}\n"
    assert page.read_text().startswith("<!DOCTYPE html>") and "transpose on H100" in page.read_text()
    assert json.loads(printed(capsys, "report", "--json", write(TRANSPOSE), "--out", str(page)))["kernels"] == 1


def test_doctor(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    out = printed(capsys, "doctor")
    assert "ok  cpu          runs programs" in out and "ok  reference    runs programs" in out
    names = [line.split()[1] for line in out.splitlines() if line.startswith(("ok ", "no "))]
    assert len(set(names)) == len(names) and {"cuda", "[cuda]", "cpu", "[cpu]"} < set(names)
    answer = json.loads(printed(capsys, "doctor", "--json"))
    assert {f["name"] for f in answer["back_ends"]} == {"cuda", "cpu", "reference"}
    assert all(f["about"] for f in answer["back_ends"] + answer["extras"])
    monkeypatch.setitem(sys.modules, "sympy", None)
    monkeypatch.setattr(diagnosis, "is_installed", lambda module: module != "sympy")
    assert re.search(r"^no  \[sympy\].*; install .", printed(capsys, "doctor"), re.MULTILINE)


def test_the_manual_and_the_shells_name_every_command_and_option(capsys: pytest.CaptureFixture[str]) -> None:
    page = printed(capsys, "man")
    shells = [printed(capsys, "man", "--form", form) for form in ("bash", "zsh", "fish")]
    assert page.startswith(".TH INDEXING 1") and "\\fB\\-\\-min\\-waste BYTES\\fR" in page
    for name, command in command_parsers(parser()):
        assert f".SS {name}\n" in page and all(name in shell for shell in shells)
        for option in (o for a in manual.option_entries(command) for o in a.option_strings if o.startswith("--")):
            assert option.replace("-", "\\-") in page
            assert all(option.removeprefix("--") in shell for shell in shells)


@pytest.mark.parametrize(("typed", "completed"), [("--m", "--min-waste"), ("Car", "Cargo.toml")])
def test_a_shell_completes_options_and_files(capsys: pytest.CaptureFixture[str], typed: str, completed: str) -> None:
    script = printed(capsys, "man", "--form", "bash")
    ask = f'COMP_WORDS=(indexing analyze {typed}); COMP_CWORD=2; _shtab_indexing; echo "${{COMPREPLY[@]}}"'
    run = ["bash", "-c", script + "\n" + ask]
    done = subprocess.run(run, capture_output=True, text=True, check=True, cwd=Path(__file__).parents[2])
    assert completed in done.stdout.split() and "--json" not in done.stdout


def test_certificates_are_written_and_checked(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "proofs" / "map.json"
    source = "(d0) -> (d0 floordiv 8), domain: d0 in [0, 6]"
    assert printed(capsys, "simplify", "--certificate", str(file), source) == "(d0) -> (0), domain: d0 in [0, 6]\n"
    assert printed(capsys, "check", str(file)) == "holds\n"
    assert json.loads(printed(capsys, "check", "--json", str(file)))["holds"]
    file.write_text(file.read_text().replace('["constant", [0], []]', '["constant", [1], []]'))
    fault = "step 2: d0 floordiv 8 = 1 does not follow by single-value\n"
    assert printed(capsys, "check", str(file), status=1) == fault
    file.write_text("{\n")
    assert f"{file}:2:1: not JSON" in refused(capsys, "check", str(file))
    assert "No such file" in refused(capsys, "check", str(tmp_path / "none"))
    assert "leave out --lines" in refused(capsys, "simplify", "--lines", "--certificate", str(file), source)


def test_nouns_agree_with_their_numbers(capsys: pytest.CaptureFixture[str], write: Write) -> None:
    assert printed(capsys, "run", "--device", "reference", write(TRANSPOSE)).startswith("0 kernels on ")
    assert " 1 function\n" in printed(capsys, "partition", write(FUSION))
