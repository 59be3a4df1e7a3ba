"""Random command lines end as the command line promises: an answer, one message, or wrong usage."""

import shlex
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import command_line
from indexing.cli import main
from indexing.cli.options import COMMANDS, parser


@pytest.fixture(scope="module", autouse=True)
def files() -> Iterator[None]:
    with command_line.in_folder_of_files():
        yield


@settings(max_examples=400, deadline=None)
@given(st.integers(0, 2**32), st.integers(0, 2**20))
def test_a_command_ends_with_an_answer_or_a_message(seed: int, number: int) -> None:
    words, data = command_line.command(seed, number)
    assert command_line.check(words, data) is None, words


def test_commands_of_every_kind_are_drawn() -> None:
    apart = {"check", "tune", "plans", "explore", "serve", "doctor", "man"}  # measure, serve, know this machine
    assert {*command_line.COMMANDS, *apart} == {command.name for command in COMMANDS}
    drawn = [command_line.command(1, k) for k in range(400)]
    assert {words[0] for words, _ in drawn} >= set(command_line.COMMANDS)
    assert {w for words, _ in drawn for w in words} >= {"--json", "--out", "packed.hlo", "-", "\udcff"}
    assert {data[:2] == b"\x1f\x8b" for _, data in drawn} == {True, False}


def test_examples_of_commands_are_shown_and_parse(capsys: pytest.CaptureFixture[str]) -> None:
    for command in COMMANDS:
        with pytest.raises(SystemExit, match="0"):
            main([command.name, "--help"])
        shown = capsys.readouterr().out
        assert shown.startswith(f"usage: indexing {command.name} [options]")
        if command.example:
            assert "example: indexing" in shown
            parser().parse_args([command.name, *shlex.split(command.example.split(" > ")[0])])


def test_no_line_of_help_ends_within_a_word(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    for command in COMMANDS:
        with pytest.raises(SystemExit):
            main([command.name, "--help"])
        lines = capsys.readouterr().out.splitlines()
        assert max(map(len, lines)) <= 80 and not [line for line in lines if line.endswith("-")], command.name


def test_without_a_command_all_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        main([])
    assert not stop.value.code
    assert "analyze     print" in capsys.readouterr().out
