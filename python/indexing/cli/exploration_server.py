"""The server of `indexing explore`, for this machine only.

It listens on 127.0.0.1. Every request needs the token of this run, and a Host header of this machine, so that neither a program
of another user nor a web page (by DNS rebinding) gets answers.
"""

from __future__ import annotations

import argparse
import hmac
import json
import secrets
import sys
from collections.abc import Mapping
from html import escape
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib import resources
from urllib.parse import parse_qs, urlsplit

import indexing as ix
from indexing.cli.answer import Answer
from indexing.cli.console import CommandLineError, write
from indexing.cli.exploration import Exploration
from indexing.cli.option_types import add_device, add_file, port
from indexing.cli.programs import read_program
from indexing.show.page import theme
from indexing.show.svg_renderer import highlight

LOCAL = ("127.0.0.1", "localhost")
#: The questions about a fusion, whose arguments are knobs, layouts and a tile.
QUESTIONS = {
    "/predict": Exploration.predicted,
    "/best": Exploration.best,
    "/maps": Exploration.maps,
    "/accesses": Exploration.accesses,
    "/tile": Exploration.tile,
}


class Server(ThreadingHTTPServer):
    """Answers requests about one program that have the token."""

    daemon_threads = True

    def __init__(self, exploration: Exploration, port: int) -> None:
        try:
            super().__init__(("127.0.0.1", port), Handler)
        except OSError as error:
            raise CommandLineError(f"port {port} can't be listened at: {error.strerror or error}") from None
        self.exploration, self.token = exploration, secrets.token_urlsafe(24)

    @property
    def address(self) -> str:
        """The URL of the page."""
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
            question = QUESTIONS.get(path)
            if question is not None:
                answer = question(self.exploration, asked.get("fusion", ""), asked)
                return 200, "application/json", json.dumps(answer)
        except ix.IndexingError as error:
            return 400, "application/json", json.dumps({"error": str(error)})
        return 404, "application/json", json.dumps({"error": "there is nothing here"})


class Handler(BaseHTTPRequestHandler):
    """The handler of one request."""

    server: Server

    def do_GET(self) -> None:  # the name that the standard library calls
        """Answer a trusted request, and refuse others."""
        url = urlsplit(self.path)
        asked = {name: values[0] for name, values in parse_qs(url.query).items()}
        if not self.server.trusts(self.headers.get("Host", ""), asked.get("token", "")):
            self.reply(403, "text/plain", "this needs the address that `indexing explore` printed")
        else:
            self.reply(*self.server.answer(url.path, asked))

    def reply(self, status: int, kind: str, text: str) -> None:
        """Send an answer with headers that forbid loading from other hosts, frames, and caching."""
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
        except ConnectionError:  # the browser has closed the connection
            self.close_connection = True

    def log_message(self, format: str, *args: object) -> None:
        """Log nothing: the log would contain the token."""


def page(name: str) -> str:
    """The page, which requests all that it shows."""
    template = resources.files("indexing.cli").joinpath("exploration.html").read_text(encoding="utf-8")
    return template.replace("@HIGHLIGHT@", highlight()).replace("@THEME@", theme()).replace("@TITLE@", escape(name))


def explore_options(sub: argparse.ArgumentParser) -> None:
    """Add the options of `explore`."""
    add_file(sub)
    sub.add_argument("--port", metavar="N", type=port, default=0, help="default: any that is free")
    add_device(sub)


def explore(options: argparse.Namespace) -> Answer:
    """Serve the page until Ctrl-C."""
    exploration = Exploration(read_program(options.file), options.device or ix.find_device())
    if not exploration.fusions:
        raise CommandLineError("the program has no fusions to explore; `indexing report` shows its instructions")
    with Server(exploration, options.port) as server:
        write([json.dumps({"address": server.address}) if options.json else f"{server.address}  (Ctrl-C ends it)"])
        sys.stdout.flush()
        server.serve_forever()
    raise CommandLineError("the server has ended")
