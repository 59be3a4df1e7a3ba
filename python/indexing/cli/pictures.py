"""`indexing draw` and `indexing report`: a picture of a computation, and a page about a program."""

from __future__ import annotations

import argparse

import indexing as ix
from indexing.cli.answer import Answer, written
from indexing.cli.console import Json, Problem
from indexing.cli.programs import named_computation, read_program
from indexing.hlo import Computation
from indexing.show import drawing, graphviz_layout
from indexing.show.page import program_page


def draw(options: argparse.Namespace) -> Answer:
    """Draw one computation."""
    module = read_program(options.file)
    chosen = named_computation(module, options.computation) if options.computation else module.entry
    picture = drawn(chosen, options.format, options.layout)
    data: dict[str, Json] = {"computation": chosen.name, "format": options.format}
    if options.out is not None:
        path = str(written(options.out, picture))
        return Answer(data | {"file": path}, [path])
    if options.format == "png":
        raise Problem("a PNG picture goes to a file: say --out FILE.png")
    text = picture.decode()
    return Answer(data | {"picture": text}, [text.rstrip("\n")])


def drawn(computation: Computation, form: str, layout: str) -> bytes:
    """The picture; laid out by Graphviz where that is there or asked for, and the picture is not too large for it."""
    if form == "dot":
        return drawing.dot(computation).encode()
    fits = len(computation.instructions) <= graphviz_layout.MAX_LAID_OUT
    if layout == "graphviz" or form == "png" or (layout == "auto" and fits and graphviz_layout.is_there()):
        return graphviz_layout.laid_out(computation, "png" if form == "png" else "svg")
    return drawing.svg(computation).encode()


def report(options: argparse.Namespace) -> Answer:
    """Write a page about a program that a browser shows without a network."""
    found = ix.analyze(read_program(options.file), options.device, progress=options.progress)
    path = written(options.out, program_page(found).encode())
    return Answer({"page": str(path), "kernels": len(found.fusions)}, [str(path)])
