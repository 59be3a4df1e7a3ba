"""What a terminal shows, and a pipe doesn't: tables, colours, and what goes on."""

import io
import os
import pty
import re
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import indexing as ix
from indexing.cli import main, terminal
from indexing.cli.answer import Table
from indexing.reports.lines import bytes_text

EXAMPLE = str(Path(__file__).resolve().parents[2] / "examples" / "transformer_block.hlo")
COLOUR = re.compile(r"\x1b\[[0-9;]*m")


def process_on_a_terminal(*arguments: str, **environment: str) -> str:
    """What a command prints on a terminal of 100 columns."""
    ours, theirs = pty.openpty()
    settings = {"TERM": "xterm", "COLUMNS": "100"} | environment
    command = [sys.executable, "-m", "indexing", *arguments]
    process = subprocess.Popen(command, stdout=theirs, stderr=subprocess.PIPE, env=os.environ | settings)
    os.close(theirs)
    said = b""
    try:
        while chunk := os.read(ours, 65536):
            said += chunk
    except OSError:  # the other side is closed
        pass
    os.close(ours)
    assert process.communicate()[1] == b""
    assert process.returncode in (0, 1)
    return said.decode().replace("\r\n", "\n")


class Screen(io.StringIO):
    """A stream that says it is a terminal, and when something is written."""

    def __init__(self) -> None:
        super().__init__()
        self.written = threading.Event()

    def isatty(self) -> bool:
        return True

    def write(self, text: str) -> int:
        count = super().write(text)
        self.written.set()
        return count


def on_a_terminal(*arguments: str, **environment: str) -> str:
    """What a command of this process prints on a terminal of 100 columns."""
    screen, errors = Screen(), io.StringIO()
    with pytest.MonkeyPatch.context() as patch:
        for name, value in ({"TERM": "xterm", "COLUMNS": "100"} | environment).items():
            patch.setenv(name, value)
        patch.setattr(sys, "stdout", screen)
        patch.setattr(sys, "stderr", errors)
        try:
            status = main(arguments)
        except SystemExit as end:  # of --help
            status = end.code
    assert status in (0, 1) and errors.getvalue() == ""
    return screen.getvalue()


def test_a_terminal_shows_each_kernel_once_as_a_pipe_does(capsys: pytest.CaptureFixture[str]) -> None:
    shown = process_on_a_terminal("analyze", EXAMPLE, "--top", "2")
    assert on_a_terminal("analyze", EXAMPLE, "--top", "2") == shown
    plain = COLOUR.sub("", shown)
    assert re.search(r"^ +lost +time +share +limit +DRAM +FLOPs +kernel$", plain, re.MULTILINE)
    assert len(re.findall(r"^[12]\. ", plain, re.MULTILINE)) == 2 and plain.count("} fusion") == 2
    assert main(["analyze", EXAMPLE, "--top", "2"]) == 0
    piped = capsys.readouterr().out
    assert "\x1b" not in piped and plain.split() == piped.split()
    assert any(len(line) > 100 for line in piped.splitlines()) and max(map(len, plain.splitlines())) <= 100


TURNED = """f { a = f32[512,512]{0,1} parameter(0) b = f32[512,512]{1,0} parameter(1) ROOT s = f32[512,512]{1,0} add(a, b) }
ENTRY e { p = f32[512,512]{0,1} parameter(0) q = f32[512,512]{1,0} parameter(1)
  ROOT c = f32[512,512]{1,0} fusion(p, q), kind=kLoop, calls=f }"""


def test_reasons_have_a_colour(tmp_path: Path) -> None:
    file = tmp_path / "turned.hlo"
    file.write_text(TURNED)
    narrow = on_a_terminal("analyze", str(file), COLUMNS="50").splitlines()
    (begin,) = (k for k, line in enumerate(narrow) if line.startswith("\x1b[33m     why: neighbouring lanes are "))
    (end,) = (k for k, line in enumerate(narrow) if line.startswith("\x1b[32m     mend: "))
    assert end - begin > 2 and all(line.startswith("\x1b[33m") for line in narrow[begin:end])


def test_colours_can_be_turned_off_and_json_has_none() -> None:
    assert "\x1b[3" not in on_a_terminal("analyze", EXAMPLE, "--top", "2", NO_COLOR="1")
    assert "\x1b" not in on_a_terminal("analyze", EXAMPLE, TERM="dumb")
    assert on_a_terminal("analyze", EXAMPLE, "--json").startswith("{")


def test_other_commands_on_a_terminal() -> None:
    compared = COLOUR.sub("", on_a_terminal("compare", EXAMPLE, EXAMPLE))
    assert re.search(r"kernels\s+28\s+28", compared)
    report = ix.analyze(ix.hlo.load(EXAMPLE), "h100")
    for words, number in (("memory moves", report.dram_bytes), ("loads and stores move", report.bytes)):
        assert re.search(rf"{words}\s+{bytes_text(number)}\s+{bytes_text(number)}", compared)
    assert "works" in COLOUR.sub("", on_a_terminal("doctor"))
    source = on_a_terminal("emit", EXAMPLE, "--instruction", "add_bitcast_fusion")
    assert "\x1b[" in source and "__global__ void" in COLOUR.sub("", source)


def test_names_do_not_command_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", Screen())
    monkeypatch.setenv("TERM", "xterm")
    name = "p\x1b[2Jx[bold]y[/]"
    shown = list(terminal.render_lines([f"why: {name}", Table(("kernel",), [[name]]), f"1. {name}"]))
    assert "\x1b[2J" not in "".join(shown)
    assert sum("p\\x1b[2Jx[bold]y[/]" in COLOUR.sub("", line) for line in shown) == 3


def test_what_takes_long_says_how_far_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = Screen()
    monkeypatch.setattr(sys, "stderr", screen)
    with terminal.show_progress("reading", quiet=0.0) as progress:
        progress(3, 40)
        while "3 of 40" not in screen.getvalue():
            screen.written.clear()
            assert screen.written.wait(60)
    assert re.search(r"\r\x1b\[Kreading: \d+ s, 3 of 40", screen.getvalue())
    assert screen.getvalue().endswith("\r\x1b[K"), "the line is gone at the end"


def test_what_is_quick_or_piped_says_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    screen, pipe = Screen(), io.StringIO()
    for stream in (screen, pipe):
        monkeypatch.setattr(sys, "stderr", stream)
        with terminal.show_progress("reading", quiet=1e6) as progress:
            progress(1, 2)
        assert stream.getvalue() == ""


def test_analyze_tells_of_each_kernel() -> None:
    import indexing as ix

    told: list[tuple[int, int]] = []
    report = ix.analyze(ix.hlo.load(EXAMPLE), progress=lambda done, total: told.append((done, total)))
    assert told == [(k + 1, len(report.fusions)) for k in range(len(report.fusions))]


def test_the_rate_and_the_time_left_are_said() -> None:
    progress = terminal.Progress(begun=100.0)
    assert progress.line("indexing", now=104.0) == "indexing: 4 s"
    progress(10, 30)
    assert progress.line("indexing", now=104.0) == "indexing: 4 s, 10 of 30, 2.5 a second, 8 s left"
    progress(30, 30)
    assert progress.line("indexing", now=104.0) == "indexing: 4 s, 30 of 30"


def test_no_word_is_cut_at_eighty_columns(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What is longer than a terminal is wide goes on in the next line, behind a whole word."""
    file = tmp_path / "turned.hlo"
    file.write_text(TURNED)
    wide = {"COLUMNS": "80", "NO_COLOR": "1"}
    for arguments in (["maps", str(file)], ["analyze", str(file)], ["doctor"], ["--help"], ["draw", "--help"]):
        shown = COLOUR.sub("", on_a_terminal(*arguments, **wide)).splitlines()
        assert max(map(len, shown)) <= 80 or any(" " not in line.strip() for line in shown if len(line) > 80), arguments
    assert main(["maps", str(file)]) == 0
    assert COLOUR.sub("", on_a_terminal("maps", str(file), **wide)).split() == capsys.readouterr().out.split()


def test_source_is_not_broken_into_lines() -> None:
    drawn = on_a_terminal("draw", EXAMPLE, "--layout", "plain", COLUMNS="40", TERM="dumb")
    assert max(map(len, drawn.splitlines())) > 80


def test_help_has_colours_on_a_terminal_only(capsys: pytest.CaptureFixture[str]) -> None:
    shown = process_on_a_terminal("--help")
    assert on_a_terminal("--help") == shown
    assert "\x1b[1mKernels:\x1b[0m" in shown and "\x1b[36memit\x1b[0m" in shown
    with pytest.raises(SystemExit, match="0"):
        main(["--help"])
    assert capsys.readouterr().out.split() == COLOUR.sub("", shown).split()
    assert "\x1b" not in on_a_terminal("--help", NO_COLOR="1")


def test_simplifying_many_lines_says_how_many_are_done(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[tuple[int, int]] = []
    monkeypatch.setattr(terminal.Progress, "__call__", lambda self, done, total: told.append((done, total)))
    lines = "(d0) -> (d0), domain: d0 in [0, 3]\n\n(d0) -> (d0 mod 2), domain: d0 in [0, 3]\n"
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(lines.encode())))
    assert main(["simplify", "--lines", "-"]) == 0
    assert told == [(1, 2), (2, 2)]
