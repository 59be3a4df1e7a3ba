"""`indexing man`: the manual page, generated from the parser, and completion for shells, which shtab makes of it."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

import shtab

import indexing as ix
from indexing.cli.answer import Answer
from indexing.cli.options import command_parsers, parser


def man_options(sub: argparse.ArgumentParser) -> None:
    """Add the options of `man`."""
    forms = ("troff", "bash", "fish", "zsh")
    sub.add_argument("--form", choices=forms, default="troff", help="a page, or completion for a shell; default: troff")


def man(options: argparse.Namespace) -> Answer:
    """The manual page, or the completion for a shell."""
    top = parser()
    if options.form == "troff":
        lines = list(manual_page(top))
    else:
        for _, command in command_parsers(top):
            for action in option_entries(command):
                if action.nargs != 0 and not action.choices:
                    action.complete = shtab.FILE  # type: ignore[attr-defined]  # shtab's own
        lines = shtab.complete(top, options.form).splitlines()
    return Answer({"form": options.form, "text": "\n".join(lines)}, lines)


def manual_page(top: argparse.ArgumentParser) -> Iterator[str]:
    """The manual page in troff's language: each command, its arguments and options."""
    yield f'.TH INDEXING 1 "" "indexing {ix.__version__}"'
    yield from (".SH NAME", rf"indexing \- {troff_text(top.description or '')}", ".SH SYNOPSIS")
    yield from (r".B indexing", r"\fICOMMAND\fR [options]", ".SH COMMANDS")
    for name, command in command_parsers(top):
        yield from (f".SS {name}", troff_text(command.description or ""))
        for action in option_entries(command):
            yield from (".TP", rf"\fB{troff_text(usage(action))}\fR", troff_text(action.help or ""))
    yield from (".SH EXIT STATUS", "0; 1 for a problem with the input; 2 for wrong usage.")


def option_entries(command: argparse.ArgumentParser) -> list[argparse.Action]:
    """Arguments and options, except --help."""
    return [a for a in command._actions if a.dest != "help"]


def usage(action: argparse.Action) -> str:
    """An argument's name, or an option with its value."""
    value = action.metavar if isinstance(action.metavar, str) else "|".join(map(str, action.choices or ()))
    if not action.option_strings:
        return value or action.dest
    return ", ".join(action.option_strings) + (f" {value}" if action.nargs != 0 and value else "")


def troff_text(text: str) -> str:
    """The text, with troff's control characters escaped."""
    return text.replace("\\", r"\e").replace("-", r"\-").replace("\n.", "\n\\&.")
