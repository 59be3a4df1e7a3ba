"""The command line's surroundings: encodings, full disks, closed streams, compressed input, homes that cannot be written."""

import contextlib
import gc
import gzip
import os
import pickle
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

import indexing as ix
from indexing.cli import COLLECTED, main

PROGRAM = """HloModule m
fused {
  a = f32[2,3] parameter(0)
  n = f32[2,3] negate(a)
  ROOT t = f32[3,2] transpose(n), dimensions={1,0}
}
ENTRY main {
  a_name_that_is_too_long_for_any_box_since_no_box_is_so_wide_as_this = f32[2,3] parameter(0)
  ROOT f = f32[3,2] fusion(a_name_that_is_too_long_for_any_box_since_no_box_is_so_wide_as_this), kind=kLoop, calls=fused
}
"""
BROKEN = "HloModule m\nENTRY main {\n  ROOT p = f32[2 parameter(0)\n}\n"
SIMPLIFY = ("simplify", "(d0) -> (d0 mod 8), domain: d0 in [0, 3]")
ASCII = {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}


def run(
    *arguments: str | bytes, given: bytes | None = b"", environment: dict[str, str] | None = None, **streams: object
) -> subprocess.CompletedProcess[bytes]:
    if given is not None:
        streams["input"] = given
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | streams
    return subprocess.run(
        [sys.executable, "-m", "indexing", *arguments], env=os.environ | (environment or {}), timeout=120, **streams
    )  # type: ignore[call-overload, no-any-return]


def refused(done: subprocess.CompletedProcess[bytes], status: int = 1) -> str:
    """The one message of a command that has no answer."""
    message = done.stderr.decode()
    assert done.returncode == status, message
    assert "Traceback" not in message and "Exception ignored" not in message
    assert message.startswith("indexing: ")
    return message


@pytest.fixture
def program(tmp_path: Path) -> str:
    file = tmp_path / "program.hlo"
    file.write_text(PROGRAM, encoding="utf-8")
    return str(file)


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8", "C locale"])
def test_any_text_can_be_printed_in_any_encoding(program: str, tmp_path: Path, encoding: str) -> None:
    environment = ASCII if encoding == "C locale" else {"PYTHONIOENCODING": f"{encoding}:strict"}
    done = run("emit", program, "--out", os.fsencode(tmp_path / "größe"), environment=environment)
    assert (done.returncode, done.stderr) == (0, b"")
    escaped = b"gr\\udcc3\\udcb6\\udcc3\\udc9fe" if encoding == "C locale" else b"gr\\xf6\\xdfe"
    name = {"latin-1": "größe".encode("latin-1"), "utf-8": "größe".encode()}.get(encoding, escaped)
    assert b"/" + name + b"/" in done.stdout
    message = run("maps", program, "--instruction", "größe", environment=environment).stderr
    assert b"the program has no instruction" in message and b"Traceback" not in message
    picture = run("draw", "--layout", "plain", program, environment=environment).stdout
    assert picture.isascii() and "a_name_that_is_too_long_for_any_box_since_no_box_is_so_wide…" in "".join(
        ElementTree.fromstring(picture).itertext()
    )


@pytest.mark.parametrize("environment", [ASCII, {}], ids=["ASCII", "as it is"])
def test_bytes_that_are_no_characters_are_refused(tmp_path: Path, environment: dict[str, str]) -> None:
    assert "line 1, column 2: the text holds half of a character" in refused(
        run("simplify", b"(\xff", environment=environment)
    )
    assert "half of a character" in refused(run("compose", b"\xff", "() -> ()", environment=environment))
    assert "No such file" in refused(run("maps", b"\xff.hlo", environment=environment))
    assert "not UTF-8 text: byte 0xff" in refused(run("maps", "-", given=b"HloModule \xff", environment=environment))
    path = os.fsencode(tmp_path) + b"/\xff.hlo"
    with open(path, "w") as file:
        file.write(BROKEN)
    assert "\\udcff.hlo:3:" in refused(run("maps", path, environment=environment))
    assert b"usage" in run("maps", b"\xff", b"\xff", environment=environment).stderr


@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("arguments", [SIMPLIFY, ("simplify", "--json", SIMPLIFY[1]), ("--help",), ("--version",)])
def test_a_full_disk(arguments: tuple[str, ...], unbuffered: str) -> None:
    environment = {"PYTHONUNBUFFERED": unbuffered}
    with open("/dev/full", "wb") as full:
        done = run(*arguments, stdout=full, environment=environment)
        assert "standard output: No space left on device" in refused(done)
        assert run("simplify", "(", stderr=full, environment=environment).returncode == 1


def test_a_full_disk_under_files(program: str) -> None:
    assert "indexing: /dev/full/" in refused(run("emit", program, "--out", "/dev/full"))


@pytest.mark.parametrize("stream", [0, 1, 2])
def test_a_closed_stream(stream: int) -> None:
    command = ["simplify", "-"] if stream == 0 else [*SIMPLIFY]
    line = f'exec "$0" -m indexing "$@" {stream}{"<" if stream == 0 else ">"}&-'
    done = subprocess.run(["sh", "-c", line, sys.executable, *command], capture_output=True, timeout=120)
    if stream == 2:
        assert (done.returncode, done.stdout) == (0, b"(d0) -> (d0), domain: d0 in [0, 3]\n")
    else:
        assert f"standard {('input', 'output')[stream]} is closed" in refused(done)
    broken = subprocess.run(
        ["sh", "-c", f'exec "$0" -m indexing simplify "(" {stream}>&-', sys.executable],
        capture_output=True,
        timeout=120,
    )
    assert (broken.returncode, broken.stdout) == (1, b"")


def test_a_reader_that_goes_away(program: str) -> None:
    line = f'"{sys.executable}" -m indexing emit "{program}" | true; echo "${{PIPESTATUS[0]}}"'
    done = subprocess.run(["bash", "-c", line], capture_output=True, timeout=120)
    assert (done.stdout, done.stderr) == (b"141\n", b"")


def test_compressed_programs(tmp_path: Path, program: str) -> None:
    packed = gzip.compress(PROGRAM.encode())
    plain = run("maps", program).stdout
    assert plain and run("maps", "-", given=packed).stdout == plain
    (tmp_path / "no_ending").write_bytes(packed)
    assert run("maps", str(tmp_path / "no_ending")).stdout == plain
    lines = gzip.compress(b"(d0) -> (d0 mod 8), domain: d0 in [0, 3]")
    assert run("simplify", "-", given=lines).stdout == b"(d0) -> (d0), domain: d0 in [0, 3]\n"
    for broken in (packed[:-9], packed[:12], packed[:20] + b"\xff" * 9 + packed[29:], b"\x1f\x8b"):
        assert "not a complete gzip file" in refused(run("maps", "-", given=broken))


def test_parse_errors_name_file_line_and_column(tmp_path: Path) -> None:
    file = tmp_path / "broken.hlo"
    file.write_text(BROKEN)
    with pytest.raises(ix.ParseError) as caught:
        ix.hlo.load(file)
    assert str(caught.value).startswith(f"{file}:{caught.value.line}:{caught.value.column}: ")
    assert (caught.value.file, caught.value.line) == (str(file), 3)
    first = refused(run("maps", str(file))).splitlines()[0]
    assert first == "indexing: " + str(caught.value).splitlines()[0]
    assert refused(run("maps", "-", given=BROKEN.encode())).startswith("indexing: <stdin>:3:")
    assert refused(run("simplify", "-", given=b"\n (")).startswith("indexing: <stdin>:2:")
    assert refused(run("simplify", " (")).startswith("indexing: line 1, column ")
    (tmp_path / "bytes.hlo").write_bytes(b"HloModule m\n a\xff")
    assert refused(run("maps", str(tmp_path / "bytes.hlo"))).startswith(f"indexing: {tmp_path}/bytes.hlo:2:3: ")


def test_of_several_maps_the_line_is_named() -> None:
    good = SIMPLIFY[1].encode()
    for bad, words in (
        (b"(d0) -> (d0 +), domain: d0 in [0, 3]", "<stdin>:3:"),
        (b"(d0) -> (99999999999999999999), domain: d0 in [0, 3]", "<stdin>:3:"),
        (b"(d0) -> (d0 floordiv 0), domain: d0 in [0, 3]", "line 3"),
    ):
        assert words in refused(run("simplify", "--lines", "-", given=good + b"\n\n" + bad + b"\n" + good))


def test_a_parse_error_pickles_with_its_file() -> None:
    error = ix.ParseError("wrong", 2, 3, "abc", 1, "a.hlo")
    copy = pickle.loads(pickle.dumps(error))
    assert str(copy) == str(error) == "a.hlo:2:3: wrong\nabc\n ^"
    assert copy.file == "a.hlo"


def test_names_of_devices_in_any_case(program: str, capsys: pytest.CaptureFixture[str]) -> None:
    def answer(command: str, device: str) -> tuple[int, str, str]:
        return main([command, program, "--device", device]), *capsys.readouterr()

    status, wanted, _ = answer("analyze", "H100")
    assert (status, answer("analyze", "h100")) == (0, (0, wanted, "")) and wanted
    assert answer("analyze", "a6000")[1]
    assert "agrees" in answer("run", "Reference")[1]
    with pytest.raises(SystemExit, match="2"):
        answer("analyze", "H1000")
    assert "'V100', 'V100 PCIe 32GB', 'A100 SXM 80GB', 'A100 SXM 40GB'" in capsys.readouterr().err


@pytest.mark.parametrize(
    "arguments", [("--seed", "-1"), ("--seed", "x"), ("--tolerance", "nan"), ("--tolerance", "-1"), ("--device", "gpu")]
)
def test_options_out_of_range_are_wrong_usage(
    program: str, arguments: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["run", program, "--device", "reference", *arguments])
    assert arguments[0] in capsys.readouterr().err


def test_arrays_that_are_none(tmp_path: Path, program: str, capsys: pytest.CaptureFixture[str]) -> None:
    for name, content in (
        ("a.npz", b"PK\x03\x04 no archive"),
        ("b.npy", b"\x93NUMPY\x01\x00v\x00{'descr': '<f4', 'fortran_order': False, 'shape': (999999999999999,), }"),
        ("c.npy", b"\x93NUMPY\x01\x00"),
        ("d.npy", b""),
    ):
        (tmp_path / name).write_bytes(content)
        assert main(["run", program, "--device", "reference", "--input", str(tmp_path / name)]) == 1
        message = capsys.readouterr().err
        assert message.startswith("indexing: ") and name in message


def test_a_program_too_large_for_memory_is_said_to_be() -> None:
    text = b"HloModule m\nENTRY e { ROOT p = f32[1000000,1000000,1000] parameter(0) }"
    assert "memory" in refused(run("run", "-", "--device", "reference", given=text))


@pytest.mark.parametrize(("command", "beginning"), [("report", "<!DOCTYPE html>"), ("draw", "<svg ")])
def test_pages_and_pictures_on_standard_output(
    command: str, beginning: str, program: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with contextlib.chdir(tmp_path):
        assert main([command, program, "-o", "-"]) == 0
    assert capsys.readouterr().out.startswith(beginning)
    assert not (tmp_path / "-").exists()


@pytest.mark.parametrize("seconds", ["0", "0.5", "-1"])
def test_times_that_are_none(seconds: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["analyze", str(tmp_path), f"--timeout={seconds}"])
    assert f"--timeout: expected an integer from 1, found '{seconds}'" in capsys.readouterr().err


@pytest.mark.parametrize("arguments", [SIMPLIFY, ("simplify", "no map")])
def test_a_command_collects_garbage_seldom_and_leaves_the_thresholds_alone(
    arguments: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    before, given = gc.get_threshold(), []
    stored = gc.set_threshold
    monkeypatch.setattr(gc, "set_threshold", lambda *to: (given.append(to), stored(*to)))
    main(arguments)
    assert given == [COLLECTED, before]
    assert gc.get_threshold() == before
