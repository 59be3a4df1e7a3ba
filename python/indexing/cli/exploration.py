"""`indexing explore`: a program's kernels in a browser, live: choose a kernel, change knobs of its plan and layouts of what it
reads, and see the predictions change.

The server listens on 127.0.0.1 alone; every request needs the token of this run, and a Host that is this machine, so that
neither another user's program nor a page of the network (by DNS rebinding) can ask. All it answers with is text of the program.
"""

from __future__ import annotations

import argparse
import hmac
import json
import re
import secrets
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from html import escape
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib import resources
from urllib.parse import parse_qs, urlsplit

import indexing as ix
from indexing.analysis.report.lines import bytes_text, seconds_text
from indexing.cli.answer import Answer
from indexing.cli.console import Json, Problem, write
from indexing.cli.programs import read_program
from indexing.hlo import Computation, Instruction, Module, Shape

SHOWN = ("sectors", "memory_bytes", "instructions", "conflicts", "occupancy", "waves", "time")
LOCAL = ("127.0.0.1", "localhost")


@dataclass(frozen=True)
class Exploration:
    """What can be asked about a program: a pure function of it and of the device."""

    module: Module
    device: ix.Device

    @cached_property
    def fusions(self) -> dict[str, Instruction]:
        """The fusions by name, the one that wastes most first."""
        report = ix.analyze(self.module, self.device)
        return {f.name: f.instruction for f in report.fusions if f.instruction.is_fusion}

    def listed(self) -> Json:
        """All fusions."""
        return [{"name": name, "shape": str(i.shape)} for name, i in self.fusions.items()]

    def predicted(self, fusion: str, choices: Mapping[str, str]) -> Json:
        """The knobs of a fusion's kernel and what is predicted of one plan; `choices` are knobs, and layouts as `layout 0`.

        Raises IndexingError for a fusion that there is not, and for values that are none.
        """
        if fusion not in self.fusions:
            raise Problem(f"the program has no fusion {fusion!r}")
        computation = self.fusions[fusion].called[0]
        layouts = {k: choices[f"layout {k}"] for k in range(len(computation.parameters)) if f"layout {k}" in choices}
        changed = with_layouts(computation, layouts)
        space = ix.knobs(changed)
        plan: dict[str, int] = {}
        for knob in space.knobs:  # each depends on those before it
            legal = space.legal(knob.name, space.default | plan)
            asked = choices.get(knob.name, "")
            value = int(asked) if asked.isdecimal() and len(asked) < 12 else knob.default
            plan[knob.name] = value if value in legal else knob.default if knob.default in legal else legal[-1]
        found = ix.predict(changed, plan, self.device)
        every = ix.predict(changed, None, self.device)
        kernel = ix.emit(changed, "cuda", **plan)
        knobs: list[Json] = [
            {"name": k.name, "value": plan[k.name], "choices": [c for c in k.choices if c in space.legal(k.name, plan)]}
            for k in space.knobs
        ]
        return {
            "fusion": fusion,
            "emitter": found.emitter,
            "knobs": knobs,
            "layouts": [layout_choices(p.shape) for p in changed.parameters],
            "predicted": {name: shown(name, float(getattr(found, name)[0])) for name in SHOWN},
            "seconds": float(found.time[0]),
            "best": {"plan": dict(every.best()[0]), "time": seconds_text(float(every.time.min()))},
            "source": kernel.source,
        }


def shown(name: str, value: float) -> str:
    """A number with its unit."""
    if name == "time":
        return seconds_text(value)
    return bytes_text(value) if name == "memory_bytes" else f"{value:,.6g}"


def layout_choices(shape: Shape) -> Json:
    """An array's layout now, and those to choose from: row by row, column by column, and as it is."""
    if not shape.is_array or len(shape.dimensions) < 2:
        return {"value": "", "choices": []}
    rank = len(shape.dimensions)
    rows, columns = ",".join(map(str, reversed(range(rank)))), ",".join(map(str, range(rank)))
    now = ",".join(map(str, shape.layout)) if shape.layout else rows
    choices: list[Json] = list(dict.fromkeys((now, rows, columns)))
    return {"value": now, "choices": choices, "shape": str(shape)}


def with_layouts(computation: Computation, layouts: Mapping[int, str]) -> Computation:
    """The computation with other layouts of parameters, by number, minor dimension first; in a module of its own."""
    text = str(computation)
    for number, layout in layouts.items():
        parameter = computation.parameters[number]
        rank = len(parameter.shape.dimensions)
        if sorted(layout.split(",")) != sorted(map(str, range(rank))):
            raise Problem(f"{layout!r} is no order of the {rank} dimensions of {parameter.name}")
        line = str(parameter).removeprefix("ROOT ")
        sizes = ",".join(map(str, parameter.shape.dimensions))
        plain = f"{parameter.shape.element_type}[{sizes}]"
        stated = re.sub(r"= \S+ parameter", lambda _, s=plain, o=layout: f"= {s}{{{o}}} parameter", line)  # type: ignore[misc]
        text = text.replace(line, stated)
    needed = called_by(computation)
    before = [str(c) for name, c in computation.module.computations.items() if name in needed]
    return ix.hlo.parse("\n".join([*before, text])).entry


def called_by(computation: Computation) -> set[str]:
    """The names of the computations that a computation calls, and of those that these call."""
    found: set[str] = set()
    pending = [computation]
    while pending:
        for i in pending.pop().instructions.values():
            new = [c for c in i.called if c.name not in found]
            found.update(c.name for c in new)
            pending += new
    return found


# ---- the server


class Server(ThreadingHTTPServer):
    """Answers about one program, to those who know the token."""

    daemon_threads = True

    def __init__(self, exploration: Exploration, port: int) -> None:
        super().__init__(("127.0.0.1", port), Handler)
        self.exploration, self.token = exploration, secrets.token_urlsafe(24)

    @property
    def address(self) -> str:
        """Where a browser finds the page."""
        return f"http://127.0.0.1:{self.server_address[1]}/?token={self.token}"

    def trusts(self, host: str, token: str) -> bool:
        """Whether a request comes from the page of this run."""
        local = {f"{name}:{self.server_address[1]}" for name in LOCAL}
        return host in local and hmac.compare_digest(token.encode(errors="replace"), self.token.encode())

    def answer(self, path: str, asked: Mapping[str, str]) -> tuple[int, str, str]:
        """Status, type and text for a path and its query."""
        if path == "/":
            return 200, "text/html", page(self.exploration.module.name)
        try:
            if path == "/fusions":
                return 200, "application/json", json.dumps(self.exploration.listed())
            if path == "/predict":
                found = self.exploration.predicted(asked.get("fusion", ""), asked)
                return 200, "application/json", json.dumps(found)
        except ix.IndexingError as error:
            return 400, "application/json", json.dumps({"error": str(error)})
        return 404, "application/json", json.dumps({"error": "there is nothing here"})


class Handler(BaseHTTPRequestHandler):
    """One request."""

    server: Server

    def do_GET(self) -> None:  # the name that the standard library calls
        """Answer, or refuse who isn't trusted."""
        url = urlsplit(self.path)
        asked = {name: values[0] for name, values in parse_qs(url.query).items()}
        if not self.server.trusts(self.headers.get("Host", ""), asked.get("token", "")):
            self.reply(403, "text/plain", "this needs the address that `indexing explore` printed")
        else:
            self.reply(*self.server.answer(url.path, asked))

    def reply(self, status: int, kind: str, text: str) -> None:
        """Send an answer that loads nothing from elsewhere, stands in no frame, and stays in no cache."""
        body = text.encode()
        self.send_response(status)
        policy = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; connect-src 'self'; "
        for name, value in (
            ("Content-Type", f"{kind}; charset=utf-8"),
            ("Content-Length", str(len(body))),
            ("Content-Security-Policy", policy + "frame-ancestors 'none'; base-uri 'none'"),
            ("Referrer-Policy", "no-referrer"),
            ("X-Content-Type-Options", "nosniff"),
            ("Cache-Control", "no-store"),
        ):
            self.send_header(name, value)
        try:
            self.end_headers()
            self.wfile.write(body)
        except ConnectionError:  # the browser has asked for something else
            self.close_connection = True

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing: the log would hold the token."""


def page(name: str) -> str:
    """The page; all that it shows it asks for."""
    template = resources.files("indexing.cli").joinpath("exploration.html").read_text(encoding="utf-8")
    return template.replace("@TITLE@", escape(name))


def explore(options: argparse.Namespace) -> Answer:
    """Serve the page until Ctrl-C."""
    exploration = Exploration(read_program(options.file), options.device)
    if not exploration.fusions:
        raise Problem("the program has no fusions to explore; `indexing report` shows its instructions")
    with Server(exploration, options.port) as server:
        write([json.dumps({"address": server.address}) if options.json else f"{server.address}  (Ctrl-C ends it)"])
        sys.stdout.flush()
        server.serve_forever()
    raise Problem("the server has ended")
