"""`indexing simplify` and `indexing compose`: maps given as text."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Literal

import indexing as ix
from indexing.cli.answer import Answer, write_file
from indexing.cli.console import CommandLineError, Json
from indexing.cli.programs import parsed_map, read_maps

Effort = Literal["default", "search"]


def simplify_options(sub: argparse.ArgumentParser) -> None:
    """Add the options of `simplify`."""
    sub.add_argument("map", metavar="MAP", help="the map's text; - reads standard input")
    sub.add_argument("--lines", action="store_true", help="the input holds one map a line")
    sub.add_argument("--certificate", metavar="FILE", type=Path, help="write the proof, which `check` checks, as JSON")
    sub.add_argument("--style", choices=("default", "xla"), default="default", help="xla prints / for floordiv")
    sub.add_argument("--effort", choices=("default", "search"), default="default", help="search for cheaper results")


def simplify(options: argparse.Namespace) -> Answer:
    """Simplify one map, or one per line."""
    if options.lines and options.certificate:
        raise CommandLineError("a certificate is of one map: leave out --lines")
    text, file = read_maps(options.map)
    numbered = enumerate(text.split("\n") if options.lines else [text], 1)
    sources = [(number, source) for number, source in numbered if source.strip() or not options.lines]
    if options.certificate:
        certificate = parsed_map(text, file).simplify(certificate=True, effort=options.effort)[1]
        write_file(options.certificate, certificate.to_json().encode())
    pairs = []
    for number, source in sources:
        pairs.append((source.strip(), simplified_line(source, file, number, options.effort)))
        options.progress(len(pairs), len(sources))
    texts = [str(m) if options.style == "default" else m.to_text(style="xla") for _, m in pairs]
    items: list[Json] = [{"map": source, "simplified": t} for (source, _), t in zip(pairs, texts, strict=True)]
    return Answer(items if options.lines else items[0], texts)


def simplified_line(source: str, file: str, number: int, effort: Effort) -> ix.IndexingMap:
    """The map of a line, simplified; errors state the line."""
    parsed = parsed_map(source, file, number)
    try:
        return parsed.simplify(effort=effort)
    except ix.IndexingError as error:
        raise CommandLineError(f"line {number}: {error}") from None


def compose_options(sub: argparse.ArgumentParser) -> None:
    """Add the options of `compose`."""
    sub.add_argument("first", metavar="FIRST", help="the map applied first; - reads standard input")
    sub.add_argument("second", metavar="SECOND", help="the map applied to its results; - reads standard input")


def compose(options: argparse.Namespace) -> Answer:
    """Compose two maps, and simplify the result."""
    if options.first == options.second == "-":
        raise CommandLineError("only one of the two maps can come from standard input")
    texts = [read_maps(options.first), read_maps(options.second)]
    first, second = (parsed_map(text, file) for text, file in texts)
    composed = str(ix.compose(first, second).simplify())
    return Answer({"first": texts[0][0].strip(), "second": texts[1][0].strip(), "composed": composed}, [composed])
