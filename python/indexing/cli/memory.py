"""`indexing analyze` and `indexing compare`: what fusions must move, what their kernels will, and what changed."""

from __future__ import annotations

import argparse
from typing import cast

import indexing as ix
from indexing.analysis.report.lines import comparison_lines, report_lines
from indexing.cli.answer import Answer
from indexing.cli.console import Json
from indexing.cli.programs import named_instruction, read_program


def analyze(options: argparse.Namespace) -> Answer:
    """Print the program's totals, and its worst fusions with a reason for each access that wastes."""
    module = read_program(options.file)
    part = named_instruction(module, options.fusion) if options.fusion else module
    found = ix.analyze(part, options.device)
    top = options.top or None
    return Answer(report_json(found.worst(top, options.min_waste), found), report_lines(found, top, options.min_waste))


def report_json(kept: ix.ProgramReport, whole: ix.ProgramReport) -> Json:
    """The totals of the whole program, and the accesses of those fusions that are kept, each a row."""
    columns = kept.columns()
    rows = [dict(zip(columns, cells, strict=True)) for cells in zip(*columns.values(), strict=True)]
    return {
        "program": whole.name,
        "device": whole.device.name,
        "kernels": len(whole.fusions),
        "must_move": whole.must_move,
        "will_move": whole.will_move,
        "wasted": whole.wasted,
        "seconds": whole.seconds,
        "seconds_lost": whole.seconds_lost,
        "rows": cast("list[Json]", rows),
    }


def compare(options: argparse.Namespace) -> Answer:
    """Print what changed between two dumps of one program: totals, fusions lost and made."""
    before, after = read_program(options.before), read_program(options.after)
    found = ix.compare(before, after, options.device)
    data: Json = {
        "device": found.before.device.name,
        "before": report_json(found.before.worst(0), found.before),
        "after": report_json(found.after.worst(0), found.after),
        "lost": [f.name for f in found.lost],
        "made": [f.name for f in found.made],
        "changed": [[a.name, b.name] for a, b in found.changed],
        "same": len(found.same),
    }
    return Answer(data, comparison_lines(found, options.top or None))
