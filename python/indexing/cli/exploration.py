"""`indexing explore`: the explorer of a program, until Ctrl-C."""

from __future__ import annotations

import argparse
import json
import sys

import indexing as ix
from indexing.cli.answer import Answer
from indexing.cli.console import CommandLineError, write
from indexing.cli.option_types import add_device, add_file, port
from indexing.cli.programs import read_program


def explore_options(sub: argparse.ArgumentParser) -> None:
    """Add the options of `explore`."""
    add_file(sub)
    sub.add_argument("--port", metavar="N", type=port, default=0, help="default: any that is free")
    add_device(sub)


def explore(options: argparse.Namespace) -> Answer:
    """Serve the page until Ctrl-C."""
    with ix.explore(read_program(options.file), options.device, options.port, options.progress) as explorer:
        address = explorer.address
        write([json.dumps({"address": address}) if options.json else f"{address}  (Ctrl-C ends it)"])
        sys.stdout.flush()
        explorer.wait()
    raise CommandLineError("the server has ended")
