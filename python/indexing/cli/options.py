"""The commands of `indexing`: a table, and the parser. A command's module is loaded when the command is parsed."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from shutil import get_terminal_size
from textwrap import wrap
from typing import Any, NoReturn

import indexing as ix
from indexing.cli.console import print_error
from indexing.errors import did_you_mean
from indexing.lazy import imported


@dataclass(frozen=True, slots=True)
class Command:
    """A command: its name, its module in this folder, a description, and an example, after its name.

    The module has the command's function, which takes the parsed options and returns an Answer, and `<name>_options`, which
    adds its options to a parser.
    """

    name: str
    module: str
    about: str
    example: str = ""


#: The commands, below the headings of their list.
GROUPS = {
    "Maps": (
        Command(
            "maps",
            "instruction_maps",
            "print the indexing maps of a program's instructions",
            "program.hlo --instruction fusion.3",
        ),
        Command(
            "simplify",
            "map_algebra",
            "simplify an indexing map over its domain",
            "'(d0) -> (d0 * 8 floordiv 4), domain: d0 in [0, 9]'",
        ),
        Command("compose", "map_algebra", "compose two maps: the second applied to the results of the first"),
        Command("check", "certificate_check", "check a certificate: the proof of an answer about maps"),
    ),
    "Programs on memory": (
        Command(
            "analyze",
            "memory",
            "print the time that a program's kernels take and lose, the worst first, and why",
            "program.hlo --device h100 --top 5",
        ),
        Command(
            "compare",
            "memory",
            "print what changed between two dumps of one program: fusions, bytes, waste",
            "before.hlo after.hlo",
        ),
        Command(
            "report",
            "pictures",
            "write a page for a browser: what a program's kernels waste, why, and their sources",
            "program.hlo --device h100 -o page.html",
        ),
        Command(
            "explore",
            "exploration",
            "serve a program's kernels to a browser here: change plans, see predictions",
        ),
        Command(
            "draw",
            "pictures",
            "draw a computation, its maps on the edges; or what a kernel does to memory",
            "program.hlo --instruction fusion.3 -o graph.svg",
        ),
    ),
    "Kernels": (
        Command("partition", "kernels", "split computations into functions, each emitted once"),
        Command("emit", "kernels", "print the kernels of a program", "program.hlo --dialect c --verify"),
        Command(
            "run", "execution", "run a program and compare the outputs with the reference", "program.hlo --device cpu"
        ),
        Command(
            "tune",
            "plan_search",
            "measure plans of a program's kernels on this machine, and keep the fastest",
            "program.hlo --seconds 60",
        ),
        Command(
            "plans",
            "stored_plans",
            "list the plans that were measured, merge those of other stores, or write them as JSON",
        ),
    ),
    "Other languages": (
        Command(
            "serve",
            "prediction_server",
            "answer requests for predictions, from standard input to standard output: "
            "lines of JSON with the fields hlo, instruction, device, plans and id",
            "--device h100",
        ),
    ),
    "This installation": (
        Command(
            "doctor", "diagnosis", "say which back ends work here, why others don't, and how to install what is missing"
        ),
        Command(
            "man",
            "manual",
            "print the manual page, or what a shell completes by",
            "--form bash > ~/.local/share/bash-completion/completions/indexing",
        ),
    ),
}
COMMANDS = tuple(command for group in GROUPS.values() for command in group)


class _Help(argparse.HelpFormatter):
    """Help with a short usage, headings that begin with capitals, and the metavariable of an option once."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=26, width=min(get_terminal_size().columns, 100))

    def add_usage(self, usage, actions, groups, prefix=None):  # type: ignore[no-untyped-def]  # argparse's own
        """Add a usage of which [options] stands for all options."""
        given = " ".join(
            self._format_args(a, self._get_default_metavar_for_positional(a)) for a in actions if not a.option_strings
        )
        super().add_usage(f"%(prog)s [options] {given}".rstrip(), actions, groups, prefix)

    def start_section(self, heading: str | None) -> None:
        """Begin a section."""
        super().start_section({"positional arguments": "Arguments", "options": "Options"}.get(heading or "", heading))

    def _split_lines(self, text: str, width: int) -> list[str]:
        """The lines of a text, broken between words alone: a path or a name with hyphens is one word."""
        return wrap(" ".join(text.split()), width, break_on_hyphens=False, break_long_words=False)

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        return "\n".join(indent + line for line in self._split_lines(text, width - len(indent)))

    def _format_action_invocation(self, action: argparse.Action) -> str:
        if not action.option_strings:
            return super()._format_action_invocation(action)
        names = ", ".join(sorted(action.option_strings, key=len))
        value = (
            "" if action.nargs == 0 else f" {self._format_args(action, self._get_default_metavar_for_optional(action))}"
        )
        return f"{names}{value}"


class _Parser(argparse.ArgumentParser):
    """A parser whose errors suggest the nearest choice or option for one that does not exist."""

    def __init__(self, **named: Any) -> None:
        super().__init__(formatter_class=_Help, **named)

    def parse_known_args(self, args=None, namespace=None):  # type: ignore[no-untyped-def]  # argparse's own
        """Parse as usual, except that a command itself rejects unknown options, so that its own usage is printed."""
        known, others = super().parse_known_args(args, namespace)
        if others:
            self.error(f"unrecognized arguments: {' '.join(others)}")
        return known, others

    def error(self, message: str) -> NoReturn:
        """Print the message, and exit with status 2."""
        meant = ""
        if matched := re.search(r"invalid choice: '(.*)' \(choose from (.*)\)", message):
            meant = did_you_mean(matched[1], re.findall(r"[\w-]+", matched[2]))
        elif matched := re.search(r"unrecognized arguments: (?:.* )?(--[\w-]+)", message):
            meant = did_you_mean(matched[1], self._option_string_actions)
        if message.startswith("argument COMMAND: invalid choice") and matched:
            message = f"there is no command {matched[1]!r}"
        self.print_usage(sys.stderr)
        print_error(f"{message}{meant} (`{self.prog} --help` lists what there is)")
        self.exit(2)


class CommandParser(_Parser):
    """The parser of one command, which has its options after `load` was called."""

    def __init__(self, *, command: str, module: str, **named: Any) -> None:
        super().__init__(**named)
        self._command = command
        self._module = module
        self._is_loaded = False

    def load(self) -> None:
        """Load the command's module and add the options, the first time."""
        if self._is_loaded:
            return
        self._is_loaded = True
        module = imported(f"indexing.cli.{self._module}")
        self.set_defaults(command=getattr(module, self._command))
        self.add_argument("--json", action="store_true", help="print JSON")
        getattr(module, f"{self._command}_options")(self)

    def parse_known_args(self, args=None, namespace=None):  # type: ignore[no-untyped-def]  # argparse's own
        """Parse as usual, after the options were added."""
        self.load()
        return super().parse_known_args(args, namespace)  # type: ignore[no-untyped-call]


class _TopParser(_Parser):
    """The parser of all commands."""

    def format_help(self) -> str:
        """The commands by group, and how to go on."""
        formatter = self._get_formatter()
        formatter.add_usage(None, [a for a in self._actions if not a.option_strings], [])
        formatter.add_text(self.description)
        for heading, group in GROUPS.items():
            formatter.start_section(heading)
            for c in group:
                formatter.add_argument(argparse.Action([], c.name, metavar=c.name, help=c.about))
            formatter.end_section()
        formatter.start_section("Options")
        formatter.add_arguments([a for a in self._actions if a.option_strings])
        formatter.end_section()
        formatter.add_text("`indexing COMMAND --help` says more of a command, `indexing man` all.")
        return formatter.format_help()


def parser() -> argparse.ArgumentParser:
    """The parser of all commands."""
    top = _TopParser(prog="indexing", description="Indexing maps of tensor programs.")
    top.add_argument("--version", action="version", version=f"indexing {ix.__version__}")
    commands = top.add_subparsers(prog="indexing", metavar="COMMAND", required=True, parser_class=CommandParser)
    for c in COMMANDS:
        description = c.about[0].upper() + c.about[1:] + "."
        example = f"example: indexing {c.name} {c.example}" if c.example else None
        commands.add_parser(
            c.name, help=c.about, description=description, epilog=example, command=c.name, module=c.module
        )
    return top


def command_parsers(top: argparse.ArgumentParser) -> Iterator[tuple[str, CommandParser]]:
    """The commands of a parser by name, with their options."""
    (subparsers,) = (a for a in top._actions if isinstance(a, argparse._SubParsersAction))
    for name, command in subparsers.choices.items():
        command.load()
        yield name, command
