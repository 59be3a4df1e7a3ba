"""`indexing plans`: the store of measured plans."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from pathlib import Path

import indexing as ix
from indexing.cli.answer import Answer, Part, Table
from indexing.cli.console import CommandLineError
from indexing.cli.programs import printable_name
from indexing.runtime.plan_store import Store

SQLITE = b"SQLite format 3\0"  # how its files begin


def plans_options(sub: argparse.ArgumentParser) -> None:
    """Add the options of `plans`."""
    sub.add_argument("--store", metavar="FILE", type=Path, help="default: in the user's data folder")
    sub.add_argument(
        "--merge", metavar="FILE", type=Path, action="append", default=[], help="add another store or JSON"
    )
    sub.add_argument("--name", metavar="WORD", help="fusions whose name contains it")
    sub.add_argument("--device", metavar="WORD", help="devices whose name contains it")


def plans(options: argparse.Namespace) -> Answer:
    """List the fusions of the store, after those of other files were added."""
    store = Store(options.store).path
    if options.store is not None and not options.merge and not store.exists():
        message = "there is no such store; --merge, and `indexing tune --store`, make one"
        raise CommandLineError(f"{printable_name(str(store))}: {message}")
    added = [(file, _read(file).merge_into(store)) for file in options.merge]
    stored = ix.stored_plans(store, options.name, options.device) if store.exists() else ix.StoredPlans(())
    return Answer(json.loads(stored.to_json()), list(_parts(stored, store, added)))


def _read(file: Path) -> ix.StoredPlans:
    try:
        content = file.read_bytes()
    except OSError as error:
        raise CommandLineError(f"{printable_name(str(file))} can't be read: {error.strerror}") from None
    if content.startswith(SQLITE):
        return ix.stored_plans(file)
    try:
        return ix.StoredPlans.from_json(content.decode())
    except (ix.IndexingError, UnicodeDecodeError) as error:
        raise CommandLineError(f"{printable_name(str(file))}: {error}") from None


def _parts(stored: ix.StoredPlans, store: Path, added: list[tuple[Path, int]]) -> Iterator[Part]:
    for file, count in added:
        yield f"{printable_name(str(file))}: {count} {'plan' if count == 1 else 'plans'} added"
    head, *rows = [[printable_name(cell) if cell else "" for cell in row] for row in stored.cells()]
    right = tuple(f">{name}" if name in ("plans", "gain") else name for name in head)
    if rows:
        yield Table(right, rows, str(stored).splitlines())
    count = len(rows)
    yield f"{count} {'fusion' if count == 1 else 'fusions'} in {printable_name(str(store))}"
