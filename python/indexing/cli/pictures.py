"""`indexing draw`: a picture of a computation."""

from __future__ import annotations

import argparse

from indexing.cli.answer import Answer
from indexing.cli.programs import named_computation, read_program
from indexing.show import drawing


def draw(options: argparse.Namespace) -> Answer:
    """Draw one computation."""
    module = read_program(options.file)
    chosen = named_computation(module, options.computation) if options.computation else module.entry
    picture = drawing.svg(chosen) if options.format == "svg" else drawing.dot(chosen)
    return Answer({"computation": chosen.name, "format": options.format, "picture": picture}, [picture.rstrip("\n")])
