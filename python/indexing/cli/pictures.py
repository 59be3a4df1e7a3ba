"""`indexing draw` and `indexing report`: a picture of a computation, and a page about a program."""

from __future__ import annotations

import argparse

import indexing as ix
from indexing.cli.answer import Answer, written
from indexing.cli.programs import named_computation, read_program
from indexing.show import drawing
from indexing.show.page import program_page


def draw(options: argparse.Namespace) -> Answer:
    """Draw one computation."""
    module = read_program(options.file)
    chosen = named_computation(module, options.computation) if options.computation else module.entry
    picture = drawing.svg(chosen) if options.format == "svg" else drawing.dot(chosen)
    return Answer({"computation": chosen.name, "format": options.format, "picture": picture}, [picture.rstrip("\n")])


def report(options: argparse.Namespace) -> Answer:
    """Write a page about a program that a browser shows without a network."""
    found = ix.analyze(read_program(options.file), options.device, progress=options.progress)
    path = written(options.out, program_page(found).encode())
    return Answer({"page": str(path), "kernels": len(found.fusions)}, [str(path)])
