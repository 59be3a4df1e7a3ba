"""Measured times of kernels by XLA's names: traces of JAX's profiler (trace.json, xplane.pb), exports of Nsight Systems."""

from __future__ import annotations

import gzip
import json
import re
import sqlite3
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from contextlib import closing
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Any

from indexing.display import count_text
from indexing.errors import IndexingError, ParseError
from indexing.reports.kernel_report import sorted_kernels
from indexing.reports.lines import printable, seconds_text
from indexing.reports.program_report import ProgramReport
from indexing.reports.wire import Fields, fields_of, text_of, varint_of

# The errors of reading data that are in no such format.
_UNREADABLE = (ValueError, TypeError, AttributeError, LookupError, EOFError, RecursionError, zlib.error, sqlite3.Error)
NAMED = 5  # measured kernels that the program lacks


@dataclass(slots=True)
class Measured:
    """The launches of one kernel in a profile, and the seconds of all of them."""

    launches: int = 0
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Profile:
    """The kernels of a profile by `comparable` names; `runs` is the number of runs of the program, 0 if it isn't recorded."""

    kernels: Mapping[str, Measured]
    runs: int = 0


@dataclass(frozen=True, slots=True)
class _Event:
    """A launch of an instruction's kernel, by its run and HLO module if they are recorded; whether a device ran it."""

    name: str
    seconds: float
    run: object = None
    module: str = ""
    on_device: bool = False


def comparable(name: str) -> str:
    """A kernel's name as traces of every kind agree on it: GPU symbols have `_` for the dots and dashes of HLO."""
    return re.sub(r"\W", "_", name.removeprefix("%"))


def read_profile(path: str | PathLike[str], module: str = "") -> Profile:
    """The kernels of a profile, whose format is that of its content: those of one HLO module, unless no event names it.

    Raises ParseError for a file that is no profile, IndexingError for one without kernels, and OSError.
    """
    data = Path(path).read_bytes()
    try:
        if data[:2] == b"\x1f\x8b":
            data = gzip.decompress(data)
        if data.startswith(b"SQLite format 3\0"):
            events = list(_nsight_events(Path(path)))
        elif data.lstrip()[:1] == b"{":
            events = list(_trace_events(json.loads(data)))
        else:
            events = list(_xplane_events(data))
    except _UNREADABLE as error:
        raise ParseError(
            f"{path} is no trace of JAX's profiler and no export of Nsight Systems: {error}", 1, 1
        ) from None
    if not events:
        raise IndexingError(f"{path} has no kernels of XLA: record the trace while the program runs")
    return _profile_of(events, module)


def _profile_of(events: Sequence[_Event], module: str) -> Profile:
    """The sums of events by name. Where a device ran them, the host's events of the same names are their launches."""
    on_devices = [e for e in events if e.on_device] or events
    kernels: dict[str, Measured] = {}
    runs = set()
    for event in [e for e in on_devices if e.module == module] or on_devices:
        measured = kernels.setdefault(comparable(event.name), Measured())
        measured.launches += 1
        measured.seconds += event.seconds
        runs.add(event.run)
    return Profile(kernels, len(runs - {None}))


def beside_profile(report: ProgramReport, profile: Profile) -> ProgramReport:
    """The report with the measured seconds of each kernel in one run of the program, the greatest differences first.

    A kernel of the program has a measured one if their names agree; notes name measured kernels that the program lacks.
    """
    runs = profile.runs or _runs_by_launches(report, profile)
    kernels, matched = [], set()
    for kernel in report.fusions:
        name = comparable(kernel.name)
        seconds = profile.kernels[name].seconds / runs if name in profile.kernels else None
        matched.add(name)
        kernels.append(replace(kernel, measured=seconds))
    ordered = tuple(sorted_kernels(kernels, "difference"))
    return replace(report, fusions=ordered, notes=(*report.notes, *_notes(report, profile, runs, matched)))


def _runs_by_launches(report: ProgramReport, profile: Profile) -> int:
    """The number of runs that most kernels agree on: their launches in the profile for each one in a run."""
    votes = Counter(
        profile.kernels[comparable(f.name)].launches // f.times
        for f in report.fusions
        if f.times and comparable(f.name) in profile.kernels
    )
    return max(votes.most_common(1)[0][0], 1) if votes else 1


def _notes(report: ProgramReport, profile: Profile, runs: int, matched: Set[str]) -> Iterator[str]:
    measured = {name: m.seconds / runs for name, m in profile.kernels.items()}
    known = sum(seconds for name, seconds in measured.items() if name in matched)
    yield f"measured over {count_text(runs, 'run')} of the program: {seconds_text(known)} in a run, on the profile's device"
    others = sorted(measured.keys() - matched, key=lambda name: -measured[name])
    if others:
        names = ", ".join(map(printable, others[:NAMED])) + (", .." if len(others) > NAMED else "")
        taken = seconds_text(sum(measured[name] for name in others))
        yield f"{count_text(len(others), 'measured kernel')} of {taken} in a run have no name of this program: {names}"


def _trace_events(trace: dict[str, list[dict[str, Any]]]) -> Iterator[_Event]:
    """Complete events (`ph` X) that name their HLO instruction; durations are in microseconds."""
    events = trace["traceEvents"]
    named = {e["pid"]: e["args"]["name"] for e in events if e.get("ph") == "M" and e.get("name") == "process_name"}
    for event in events:
        arguments = event.get("args", {})
        if event.get("ph") == "X" and "hlo_op" in arguments:
            yield _event(arguments, event["dur"] * 1e-6, named.get(event.get("pid"), ""))


def _event(stats: Mapping[str, Any], seconds: float, plane: str) -> _Event:
    module = str(stats.get("hlo_module", ""))
    return _Event(str(stats["hlo_op"]), seconds, stats.get("run_id"), module, plane.startswith("/device:"))


def _xplane_events(data: bytes) -> Iterator[_Event]:
    """XSpace of tsl/profiler/protobuf/xplane.proto: planes, lines, events with a stat `hlo_op`; durations in picoseconds."""
    for plane in fields_of(data).get(1, ()):
        parts = fields_of(plane)
        names = {key: text_of(entry, 2) for key, entry in _entries(parts, 4)}
        stats = {key: text_of(entry, 2) for key, entry in _entries(parts, 5)}
        for line in parts.get(3, ()):
            for event in map(fields_of, fields_of(line).get(4, ())):
                values = _values(event, stats)
                if "hlo_op" in values and not names.get(varint_of(event, 1), "").startswith("end: "):
                    yield _event(values, varint_of(event, 3) * 1e-12, text_of(parts, 2))


def _values(event: Fields, stats: Mapping[int, str]) -> dict[str, str | int]:
    """The stats of an event by name."""
    values: dict[str, str | int] = {}
    for stat in event.get(4, ()):
        parts = fields_of(stat)
        name = stats.get(varint_of(parts, 1), "")
        if 7 in parts:
            values[name] = stats.get(varint_of(parts, 7), "")
        else:
            values[name] = text_of(parts, 5) if 5 in parts else varint_of(parts, 4 if 4 in parts else 3)
    return values


def _entries(parts: Fields, number: int) -> Iterator[tuple[int, Fields]]:
    """The keys and messages of a map from integers to messages."""
    for entry in parts.get(number, ()):
        both = fields_of(entry)
        yield varint_of(both, 1), fields_of(both[2][0])


def _nsight_events(path: Path) -> Iterator[_Event]:
    """The table of kernels that CUPTI recorded; times are in nanoseconds."""
    query = (
        "SELECT names.value, kernels.end - kernels.start FROM CUPTI_ACTIVITY_KIND_KERNEL AS kernels "
        "JOIN StringIds AS names ON kernels.shortName = names.id"
    )
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as connection:
        for name, nanoseconds in connection.execute(query):
            yield _Event(name, nanoseconds * 1e-9)
