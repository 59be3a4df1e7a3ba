"""Output on a terminal: tables and colours by rich (the extra `terminal`), and on standard error the progress of long commands.
A pipe gets neither.
"""

from __future__ import annotations

import importlib
import io
import os
import re
import sys
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from indexing.cli.answer import Listing, Part, Table, plain_lines
from indexing.cli.console import fitted, is_terminal
from indexing.reports.lines import printable

# The beginnings of highlighted lines, and their styles.
STYLES = (("why: ", "yellow"), ("mend: ", "green"), ("note: ", "magenta"), ("ok ", "green"), ("no ", "red"))


def render_lines(parts: Iterable[Part]) -> Iterable[str]:
    """The lines of parts: on a terminal within its width, and drawn if rich is installed and there is something to draw."""
    if not is_terminal(sys.stdout):
        return plain_lines(parts)
    styled = [(part, _style_of(part)) for part in parts]
    has_drawn = any(isinstance(part, Table | Listing) or style for part, style in styled)
    parts = [part for part, _ in styled]
    if not has_drawn or os.environ.get("TERM") == "dumb":
        return _plain_within(parts)
    try:
        rich = importlib.import_module("rich.console")
    except ImportError:
        return _plain_within(parts)
    console = rich.Console(file=io.StringIO(), force_terminal=True, highlight=False, markup=False, emoji=False)
    for part, style in styled:
        for piece in fitted(part) if isinstance(part, str) else (part,):
            console.print(_drawable(piece, style), soft_wrap=not isinstance(part, Table))
    return str(console.file.getvalue()).splitlines()


def _plain_within(parts: Iterable[Part]) -> Iterator[str]:
    """The lines of parts within a terminal's width, except for listings."""
    for part in parts:
        for line in plain_lines([part]):
            yield from (line,) if isinstance(part, Listing) else fitted(line)


def styled_help(text: str) -> Iterable[str]:
    """The lines of a help text: on a terminal, headings are bold, and what stands for itself has a colour."""
    if not is_terminal(sys.stdout) or "NO_COLOR" in os.environ or os.environ.get("TERM") == "dumb":
        return text.splitlines()
    bold = re.sub(r"^(\w[\w ]*:)", "\x1b[1m\\1\x1b[0m", text, flags=re.MULTILINE)
    return re.sub(r"^  (\S+(?: \S+)*)", "  \x1b[36m\\1\x1b[0m", bold, flags=re.MULTILINE).splitlines()


def _drawable(part: Part, style: str) -> Any:
    if isinstance(part, Table):
        return _table(part)
    if isinstance(part, Listing):
        return importlib.import_module("rich.syntax").Syntax(
            part.text, part.language, theme="ansi_dark", background_color="default"
        )
    line = part if isinstance(part, str) else part.text
    return importlib.import_module("rich.text").Text(printable(line), style)


def _style_of(part: Part) -> str:
    """The style of a line by its beginning; empty for other parts."""
    return (
        next((style for start, style in STYLES if part.lstrip().startswith(start)), "") if isinstance(part, str) else ""
    )


def _table(part: Table) -> Any:
    boxes = importlib.import_module("rich.box")
    text = importlib.import_module("rich.text").Text
    encoding = (sys.stdout.encoding or "utf-8").lower().replace("-", "")
    table = importlib.import_module("rich.table").Table(box=boxes.SIMPLE_HEAD if encoding == "utf8" else boxes.ASCII)
    for name in part.head:
        right = name.startswith(">")
        table.add_column(text(name.lstrip(">")), justify="right" if right else "left", overflow="fold", no_wrap=right)
    for row in part.rows:
        table.add_row(*(text(printable(cell)) for cell in row))
    return table


# ---- progress

QUIET = 2.0  # seconds
BEAT = 0.2


@dataclass(slots=True)
class Progress:
    """The number of parts that are done, and of all; a command's function calls it."""

    done: int = 0
    total: int = 0
    begun: float = field(default_factory=time.monotonic)

    def __call__(self, done: int, total: int) -> None:
        """Set the numbers, which are shown at the next interval."""
        self.done, self.total = done, total

    def line(self, what: str, now: float) -> str:
        """A line: the time that has passed at `now`, how much is done, and the remaining time at that rate."""
        passed = now - self.begun
        counted = f", {self.done} of {self.total}" if self.total else ""
        left = (self.total - self.done) * passed / self.done if self.done else 0.0
        ahead = f", {self.done / passed:.1f} a second, {left:.0f} s left" if left else ""
        return f"{what}: {passed:.0f} s{counted}{ahead}"


@contextmanager
def show_progress(what: str, quiet: float = QUIET) -> Iterator[Progress]:
    """Show progress on standard error, if that is a terminal, after `quiet` seconds."""
    progress, ended = Progress(), threading.Event()
    if not is_terminal(sys.stderr):
        yield progress
        return
    thread = threading.Thread(target=_say, args=(progress, what, quiet, ended), daemon=True)
    thread.start()
    try:
        yield progress
    finally:
        ended.set()
        thread.join()


def _say(progress: Progress, what: str, quiet: float, ended: threading.Event) -> None:
    pause, said = quiet, False
    while not ended.wait(pause):
        pause, said = BEAT, _wrote(f"\r\x1b[K{progress.line(what, time.monotonic())}")
    if said:
        _wrote("\r\x1b[K")


def _wrote(text: str) -> bool:
    try:
        sys.stderr.write(text)
        sys.stderr.flush()
    except (OSError, ValueError):  # the terminal is closed
        return False
    return True
