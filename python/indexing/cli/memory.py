"""`indexing analyze`: what fusions must move, and what their kernels will."""

from __future__ import annotations

import argparse
from dataclasses import fields

from indexing.analysis import report as analysis
from indexing.cli.answer import Answer, written
from indexing.cli.console import Json
from indexing.cli.programs import fusions, named_instruction, read_program


def analyze(options: argparse.Namespace) -> Answer:
    """Print what the entry's fusions (or its instructions, where it has none) must move, and what they will."""
    module = read_program(options.file)
    if options.instruction:
        chosen = [named_instruction(module, options.instruction)]
    else:
        chosen = fusions(module) or [i for i in module.entry.instructions.values() if i.operands]
    found = analysis.report(module.name, chosen, options.device)
    if options.html is not None:
        written(options.html, found.html().encode())
    names = [f.name for f in fields(analysis.Row)]
    rows: list[Json] = [{name: getattr(row, name) for name in names} for row in found.rows]
    data: Json = {"device": found.device.name, "must_move": found.must_move, "will_move": found.will_move, "rows": rows}
    return Answer(data, analysis.table(found))
