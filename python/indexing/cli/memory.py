"""`indexing analyze` and `indexing compare`: the bytes that fusions must move, those that kernels will move, and changes."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from typing import cast

import indexing as ix
from indexing.cli.answer import Answer, Table
from indexing.cli.console import Json
from indexing.cli.folders import add_folder_options, analyze_folder, check_no_folder_options
from indexing.cli.option_types import add_device, add_file, nonnegative_integer
from indexing.cli.programs import named_instruction, read_program
from indexing.reports.comparison import Comparison, comparison_lines
from indexing.reports.kernel_report import ORDERS, Cell
from indexing.reports.lines import bytes_text, seconds_text
from indexing.reports.program_report import report_lines


def analyze_options(sub: argparse.ArgumentParser) -> None:
    """Add the options of `analyze`."""
    add_file(sub)
    sub.add_argument("--fusion", "--instruction", metavar="NAME", help="this one only, wherever it is")
    sub.add_argument(
        "--top", metavar="N", type=nonnegative_integer, default=10, help="so many; 0 means all (default: 10)"
    )
    sub.add_argument("--sort", choices=tuple(ORDERS), help="the order of kernels (default: lost, the time lost)")
    sub.add_argument(
        "--profile",
        metavar="TRACE",
        help="measured times beside the predicted: trace.json(.gz), xplane.pb, Nsight's SQLite",
    )
    sub.add_argument(
        "--roofline", action="store_true", help="with intensity, operations a second, and those that are attainable"
    )
    sub.add_argument(
        "--min-waste", metavar="BYTES", type=nonnegative_integer, default=0, help="only those that waste so much"
    )
    add_folder_options(sub)
    add_device(sub)


def analyze(options: argparse.Namespace) -> Answer:
    """Print the program's totals, and its worst fusions with a reason for each access that wastes. With --out, write tables of
    all programs of a folder.
    """
    if options.out is not None:
        return analyze_folder(options)
    check_no_folder_options(options)
    module = read_program(options.file)
    part = named_instruction(module, options.fusion) if options.fusion else module
    analyzed = ix.analyze(part, options.device, progress=options.progress, profile=options.profile)
    order = options.sort or ("difference" if options.profile else "lost")
    analyzed = analyzed.sorted_by(order)
    top = options.top or None
    lines = report_lines(analyzed, top, options.min_waste, order, "--top 0 shows all", options.roofline)
    return Answer(report_json(analyzed.worst(top, options.min_waste), analyzed), lines)


def report_json(kept: ix.ProgramReport, whole: ix.ProgramReport) -> Json:
    """The totals of the whole program, and a row for each kernel that is shown, and for each of its accesses."""
    return {
        "program": whole.name,
        "device": str(whole.device),
        "kernels": len(whole.fusions),
        "ideal_bytes": whole.ideal_bytes,
        "bytes": whole.bytes,
        "wasted": whole.wasted,
        "seconds": whole.seconds,
        "seconds_lost": whole.seconds_lost,
        "least_seconds": whole.range.least,
        "not_modelled": whole.not_modelled,
        "flops": whole.flops,
        "view": whole.view,
        "notes": list(whole.notes),
        "fusions": rows_json(kept.columns()),
        "rows": rows_json(kept.access_columns()),
    }


def rows_json(columns: Mapping[str, Sequence[Cell]]) -> list[Json]:
    """The rows of a table, each by the names of its columns."""
    cells = zip(*columns.values(), strict=True)
    return cast("list[Json]", [dict(zip(columns, row, strict=True)) for row in cells])


def compare_options(sub: argparse.ArgumentParser) -> None:
    """Add the options of `compare`."""
    sub.add_argument("before", metavar="BEFORE", help="the program before; whatever the other commands read")
    sub.add_argument("after", metavar="AFTER", help="the program after")
    sub.add_argument(
        "--top", metavar="N", type=nonnegative_integer, default=10, help="so many of each kind; 0 means all"
    )
    add_device(sub)


def compare(options: argparse.Namespace) -> Answer:
    """Print what changed between two dumps of one program: totals, fusions lost and made."""
    before, after = read_program(options.before), read_program(options.after)
    comparison = ix.compare(before, after, options.device)
    data: Json = {
        "device": str(comparison.before.device),
        "before": report_json(comparison.before.worst(0), comparison.before),
        "after": report_json(comparison.after.worst(0), comparison.after),
        "lost": [f.name for f in comparison.lost],
        "made": [f.name for f in comparison.made],
        "changed": [[a.name, b.name] for a, b in comparison.changed],
        "replaced": [
            {"before": [f.name for f in r.before], "after": [f.name for f in r.after]} for r in comparison.replaced
        ],
        "same": len(comparison.same),
    }
    lines = list(comparison_lines(comparison, options.top or None))
    return Answer(data, [totals_table(comparison, lines[:2]), *lines[2:]])


def totals_table(comparison: Comparison, plain: Sequence[str]) -> Table:
    """The totals before and after, side by side; `plain` has the same as lines."""
    both = (comparison.before, comparison.after)
    facts = (
        ("kernels", [str(len(r.fusions)) for r in both]),
        ("must move", [bytes_text(r.ideal_bytes) for r in both]),
        ("memory moves", [bytes_text(r.dram_bytes) for r in both]),
        ("loads and stores move", [bytes_text(r.bytes) for r in both]),
        ("wasted", [bytes_text(r.wasted) for r in both]),
        ("time", [seconds_text(r.seconds) for r in both]),
        ("time lost", [seconds_text(r.seconds_lost) for r in both]),
    )
    return Table(
        ("", f">before: {comparison.before.name}", f">after: {comparison.after.name}"),
        [(n, *v) for n, v in facts],
        plain,
    )
