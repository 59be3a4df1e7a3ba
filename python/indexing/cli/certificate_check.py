"""`indexing check`: whether a certificate proves what it claims."""

from __future__ import annotations

import argparse
from pathlib import Path

import indexing as ix
from indexing.cli.answer import Answer
from indexing.cli.console import STDIN, CommandLineError, Json, standard_input
from indexing.cli.programs import with_file_name
from indexing.hlo.files import decoded


def check_options(sub: argparse.ArgumentParser) -> None:
    """Add the options of `check`."""
    sub.add_argument(
        "file", metavar="FILE", help="a certificate, as `simplify --certificate` writes it; - reads standard input"
    )
    sub.add_argument("--solver", choices=("z3",), help="prove each step by this solver instead (extra [proofs])")


def check(options: argparse.Namespace) -> Answer:
    """Check a certificate; the exit status is 1 if it does not hold."""
    with with_file_name(STDIN if options.file == "-" else options.file):
        verdict = ix.Certificate.from_json(decoded(content(options.file))).check(options.solver)
    data: Json = {
        "holds": bool(verdict),
        "step": verdict.step,
        "reason": verdict.reason,
        "undecided": verdict.is_undecided,
    }
    return Answer(data, [str(verdict)], 0 if verdict else 1)


def content(name: str) -> bytes:
    """The bytes of a file, or of standard input for `-`."""
    if name == "-":
        return standard_input()
    try:
        return Path(name).read_bytes()
    except OSError as error:
        raise CommandLineError(f"{name}: {error.strerror or error}") from error
