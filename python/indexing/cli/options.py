"""The commands of `indexing`: a table, and the parser. A command's module is loaded when the command is parsed."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator
from difflib import get_close_matches
from typing import Any, NoReturn

import indexing as ix
from indexing.lazy import imported

__all__ = ["CommandParser", "parser"]

#: Name, module in this folder, and description. The module has the command's function, which takes the parsed options and
#: returns an Answer, and `<name>_options`, which adds its options to a parser.
COMMANDS = (
    ("maps", "instruction_maps", "print the indexing maps of a program's instructions"),
    ("simplify", "map_algebra", "simplify an indexing map over its domain"),
    ("compose", "map_algebra", "compose two maps: the second applied to the results of the first"),
    ("check", "certificate_check", "check a certificate: the proof of an answer about maps"),
    ("analyze", "memory", "print what a program's fusions waste of the memory's bandwidth, the worst first, and why"),
    ("compare", "memory", "print what changed between two dumps of one program: fusions, bytes, waste"),
    ("partition", "kernels", "split computations into functions, each emitted once"),
    ("emit", "kernels", "print the kernels of a program"),
    ("run", "execution", "run a program and compare the outputs with the reference"),
    ("tune", "plan_search", "measure plans of a program's kernels on this machine, and keep the fastest"),
    ("plans", "stored_plans", "list the plans that were measured, merge those of other stores, or write them as JSON"),
    ("draw", "pictures", "draw a computation, its maps on the edges; or what a kernel does to memory"),
    ("report", "pictures", "write a page for a browser: what a program's kernels waste, why, and their sources"),
    ("explore", "exploration_server", "serve a program's kernels to a browser here: change plans, see predictions"),
    ("doctor", "diagnosis", "say which back ends work here, why others don't, and how to install what is missing"),
    ("man", "manual", "print the manual page, or what a shell completes by"),
)


class _Parser(argparse.ArgumentParser):
    """A parser whose errors suggest the nearest choice or option for one that does not exist."""

    def parse_known_args(self, args=None, namespace=None):  # type: ignore[no-untyped-def]  # argparse's own
        """Parse as usual, except that a command itself rejects unknown options, so that its own usage is printed."""
        known, others = super().parse_known_args(args, namespace)
        if others:
            self.error(f"unrecognized arguments: {' '.join(others)}")
        return known, others

    def error(self, message: str) -> NoReturn:
        """Print the message, and exit with status 2."""
        near: list[str] = []
        if matched := re.search(r"invalid choice: '(.*)' \(choose from (.*)\)", message):
            near = get_close_matches(matched[1], re.findall(r"[\w-]+", matched[2]), 1)
        elif matched := re.search(r"unrecognized arguments: (?:.* )?(--[\w-]+)", message):
            near = get_close_matches(matched[1], self._option_string_actions, 1)
        super().error(message + (f"; did you mean {near[0]!r}?" if near else ""))


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


def parser() -> argparse.ArgumentParser:
    """The parser of all commands."""
    top = _Parser(prog="indexing", description="Indexing maps of tensor programs.")
    top.add_argument("--version", action="version", version=f"indexing {ix.__version__}")
    commands = top.add_subparsers(metavar="COMMAND", required=True, parser_class=CommandParser)
    for name, module, about in COMMANDS:
        description = about[0].upper() + about[1:] + "."
        commands.add_parser(name, help=about, description=description, command=name, module=module)
    return top


def command_parsers(top: argparse.ArgumentParser) -> Iterator[tuple[str, CommandParser]]:
    """The commands of a parser by name, with their options."""
    (subparsers,) = (a for a in top._actions if isinstance(a, argparse._SubParsersAction))
    for name, command in subparsers.choices.items():
        command.load()
        yield name, command
