"""`indexing analyze DIR --out TABLES`: all programs of a folder, as tables."""

from __future__ import annotations

import argparse
import signal
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import FrameType

import indexing as ix
from indexing.cli.answer import Answer
from indexing.cli.console import CommandLineError, Json
from indexing.cli.option_types import nonnegative_number, positive_integer
from indexing.cli.programs import printable_name

SHOWN = 5  # errors
#: The options that only a folder of programs has, with their defaults.
DEFAULTS = {
    "workers": 1,
    "ray": None,
    "timeout": None,
    "memory": None,
    "retry_errors": False,
    "log": None,
    "max_errors": 100.0,
}


def add_folder_options(sub: argparse.ArgumentParser) -> None:
    """Add the options for a folder of programs."""
    group = sub.add_argument_group("Folders", "for all programs below the folder FILE")
    group.add_argument("--out", metavar="DIR", help="write tables there (Parquet)")
    group.add_argument("--workers", metavar="N", type=positive_integer, help="by N processes (default: 1)")
    group.add_argument("--ray", metavar="ADDRESS", help="by the Ray cluster there; local begins one")
    group.add_argument("--timeout", metavar="SECONDS", type=positive_integer, help="give up a program after this time")
    group.add_argument(
        "--memory", metavar="MIB", type=positive_integer, help="give up a program whose process takes more memory"
    )
    group.add_argument("--retry-errors", action="store_true", help="analyze those with an error again")
    group.add_argument("--log", metavar="FILE", help="add a line of JSON there for each program")
    about = "exit with status 1 if a greater share has errors (default: 100, but also if all have)"
    group.add_argument("--max-errors", metavar="PERCENT", type=nonnegative_number, help=about)
    group.set_defaults(**DEFAULTS)


def check_no_folder_options(options: argparse.Namespace) -> None:
    """Raise CommandLineError if an option for folders was given."""
    given = [f"--{n.replace('_', '-')}" for n, default in DEFAULTS.items() if getattr(options, n) != default]
    if given:
        verb = "is" if len(given) == 1 else "are"
        raise CommandLineError(f"{', '.join(given)} {verb} for a folder of programs: say by --out where the tables go")


def analyze_folder(options: argparse.Namespace) -> Answer:
    """Analyze all programs of a folder; print their number, and where the tables are."""
    with ended_in_order():
        tables = ix.analyze_files(
            options.file,
            options.out,
            options.device,
            options.workers,
            options.ray,
            options.progress,
            options.timeout,
            options.memory,
            options.retry_errors,
            options.log,
        )
    data: Json = {
        "programs": str(tables.programs),
        "fusions": str(tables.fusions),
        "analyzed": tables.analyzed,
        "failed": tables.failed,
        "errors": dict(tables.errors),
        "known": tables.known,
    }
    count = f"{tables.analyzed} program{'' if tables.analyzed == 1 else 's'}"
    lines = [
        f"{count} analyzed, {tables.known} known from before; {tables.failed} with an error",
        *_error_lines(tables.errors),
        f"a row for each program in {tables.programs}, for each fusion in {tables.fusions}",
    ]
    if not tables.analyzed + tables.known:
        lines = [f"{printable_name(options.file)} has no programs: no files but hidden ones and tables"]
    return Answer(data, lines, 1 if _has_failed(tables, options.max_errors) else 0)


@contextmanager
def ended_in_order() -> Iterator[None]:
    """Let the signals by which schedulers and terminals end commands raise SystemExit: what was done is written first."""
    ends = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
    is_main = threading.current_thread() is threading.main_thread()  # no other thread may set handlers
    before = {number: signal.signal(number, _end) for number in ends if is_main and _is_default(number)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _is_default(number: signal.Signals) -> bool:
    """Whether nobody handles a signal, as `nohup` does."""
    return signal.getsignal(number) is signal.SIG_DFL


def _end(number: int, frame: FrameType | None) -> None:
    signal.signal(number, signal.SIG_DFL)  # the second time ends it at once
    raise SystemExit(128 + number)


def _error_lines(errors: Mapping[str, str]) -> Iterator[str]:
    """The first errors, a line each, and how many there are besides."""
    for path, error in sorted(errors.items())[:SHOWN]:
        yield f"  {printable_name(path)}: {error.splitlines()[0]}"
    if len(errors) > SHOWN:
        yield f"  and {len(errors) - SHOWN} more, in the column `error` of the programs"


def _has_failed(tables: ix.AnalyzedFiles, max_errors: float) -> bool:
    """Whether too many programs have an error, or nothing was there to analyze."""
    count = tables.analyzed + tables.known
    return tables.failed == count or tables.failed * 100 > count * max_errors
