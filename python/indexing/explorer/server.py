"""The server of the explorer, for this machine only.

It listens on 127.0.0.1. Every request needs the token of this run, and a Host header of this machine, so that neither a program
of another user nor a web page (by DNS rebinding) gets answers.
"""

from __future__ import annotations

import hmac
import json
import secrets
from collections.abc import Callable, Mapping
from html import escape
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from types import TracebackType
from urllib.parse import parse_qs, urlsplit

from indexing.device.record import DeviceLike
from indexing.errors import IndexingError
from indexing.explorer.answers import Exploration
from indexing.hlo import Program
from indexing.hlo.program_like import or_function
from indexing.reports.programs import analyze
from indexing.show.page import frame, theme
from indexing.show.svg_renderer import highlight

LOCAL = ("127.0.0.1", "localhost")
#: The pages that may show the explorer in a frame: those of notebooks on this machine.
NOTEBOOKS = "http://localhost:* http://127.0.0.1:* vscode-webview:"
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
            raise IndexingError(f"port {port} can't be listened at: {error.strerror or error}") from None
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
            return 200, "text/html", page(self.exploration.report.name)
        try:
            if path == "/fusions":
                return 200, "application/json", json.dumps(self.exploration.listed())
            question = QUESTIONS.get(path)
            if question is not None:
                answer = question(self.exploration, asked.get("fusion", ""), asked)
                return 200, "application/json", json.dumps(answer)
        except IndexingError as error:
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
            self.reply(403, "text/plain", "this needs the address that the explorer gave, with its token")
        else:
            self.reply(*self.server.answer(url.path, asked))

    def reply(self, status: int, kind: str, text: str) -> None:
        """Send an answer with headers that forbid loading from other hosts, frames of other hosts, and caching."""
        body = text.encode()
        self.send_response(status)
        policy = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; connect-src 'self'; "
        for name, value in (
            ("Content-Type", f"{kind}; charset=utf-8"),
            ("Content-Length", str(len(body))),
            ("Content-Security-Policy", policy + f"frame-ancestors {NOTEBOOKS}; base-uri 'none'"),
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
    template = Path(__file__).with_name("explorer.html").read_text(encoding="utf-8")
    return template.replace("@HIGHLIGHT@", highlight()).replace("@THEME@", theme()).replace("@TITLE@", escape(name))


class Explorer:
    """A page about a program's kernels that this process serves to browsers of this machine, until `close`.

    `address` is its URL, which contains the token that requests need. It is a context manager, and a notebook shows the page.
    """

    def __init__(self, exploration: Exploration, port: int) -> None:
        self._server = Server(exploration, port)
        self._thread = Thread(target=self._server.serve_forever, name="explorer", daemon=True)
        self._thread.start()

    @property
    def address(self) -> str:
        """The URL of the page."""
        return self._server.address

    def wait(self) -> None:
        """Serve until `close`, or until Ctrl-C: a script's last line."""
        try:
            self._thread.join()
        finally:
            self.close()

    def close(self) -> None:
        """End the server; a second time does nothing."""
        if self._thread.is_alive():
            self._server.shutdown()
        self._server.server_close()

    def __enter__(self) -> Explorer:
        """The explorer itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, place: TracebackType | None
    ) -> None:
        """End the server."""
        self.close()

    def __repr__(self) -> str:
        """The URL of the page, and how to end the server."""
        return f"<explorer at {self.address}; .close() ends it>"

    def _repr_html_(self) -> str:
        """The page in a frame, and a link to it."""
        link = escape(self.address)
        return f'{frame("src", self.address)}<p><a href="{link}" target="_blank">{link}</a></p>'


@or_function
def explore(
    program: Program,
    device: DeviceLike = None,
    port: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> Explorer:
    """Serve a page on which the plans, layouts and tiles of a program's kernels can be changed, and what follows is predicted.

    `program`, `device` and `progress` are those of `analyze`. The page is served to browsers of this machine only, on `port`,
    or on any that is free, by a thread that ends with this process. Raises as `analyze` does, and IndexingError for a program
    without kernels and for a port that can't be listened at.
    """
    exploration = Exploration(analyze(program, device, progress=progress))
    if not exploration.fusions:
        raise IndexingError("the program has no fusions to explore; `report` shows its instructions")
    return Explorer(exploration, port)
