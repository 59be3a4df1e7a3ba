"""The command line `indexing`: each command reads text, and prints the results of the package's functions.

The exit status is 0; 1 for a problem with the input, with one message on standard error; 2 for wrong usage; 141 if nobody reads
the output.
"""

from __future__ import annotations

import argparse
import gc
import io
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, redirect_stdout

import indexing as ix
from indexing.cli.answer import Answer
from indexing.cli.console import print_error, warnings_as_messages, write, write_json
from indexing.cli.options import parser
from indexing.cli.terminal import render_lines, show_progress, styled_help

ENDED_BY_SIGPIPE = 128 + 13  # as shells report it, and pipelines that must not fail unseen
COLLECTED = (
    10_000,
    10,
    10,
)  # of the objects that a command makes, most stay: all are visited for each million new ones


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command (default: the arguments of the process), print its results, and return the exit status.

    Errors are printed, not raised, except for wrong usage: argparse's SystemExit with status 2.
    """
    try:
        options = parse_arguments(arguments)
        command: Callable[[argparse.Namespace], Answer] = options.command
        with _few_collections(), warnings_as_messages(), show_progress("indexing") as options.progress:
            answer = command(options)
        if options.json:
            write_json(answer.data)
        else:
            write(render_lines(answer.parts))
    except BrokenPipeError:  # the reader has closed the pipe, as `head` does
        return ENDED_BY_SIGPIPE
    except KeyboardInterrupt:
        return 130
    except ix.IndexingError as error:
        print_error(str(error))
    except OSError as error:
        print_error(f"{error.filename or 'input'}: {error.strerror or error}")
    except MemoryError as error:
        print_error(f"there is not enough memory: {error}")
    else:
        return answer.status
    return 1


@contextmanager
def _few_collections() -> Iterator[None]:
    """A scope in which the garbage collector goes through the objects less often."""
    before = gc.get_threshold()
    gc.set_threshold(*COLLECTED)
    try:
        yield
    finally:
        gc.set_threshold(*before)


def parse_arguments(arguments: Sequence[str] | None) -> argparse.Namespace:
    """The parsed options; --help if there are none. It is an error if the output of --help or --version cannot be written."""
    said = io.StringIO()
    try:
        with redirect_stdout(said):
            return parser().parse_args((sys.argv[1:] if arguments is None else arguments) or ["--help"])
    except SystemExit as leaving:
        if not leaving.code:
            write(styled_help(said.getvalue()))
        raise
