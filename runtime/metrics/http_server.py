"""The hub: shows the newest facts of a job over HTTP. Reads only.

/metrics     for Prometheus
/            a page for people, which asks for
/facts       the facts as JSON, and for
/drawings    the merged template as SVG, by share group
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from socketserver import ThreadingMixIn
from threading import Thread
from typing import Any, cast
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

from prometheus_client import CollectorRegistry, make_wsgi_app

from runtime.errors import HamletError
from runtime.metrics.json_view import shown
from runtime.metrics.prometheus import Families
from runtime.metrics.snapshot import Facts
from runtime.metrics.web.page import NOTHING, live_page

LOOPBACK = "127.0.0.1"
HERE = ("127.0.0.1", "localhost", "[::1]")
JSON, TEXT = "application/json; charset=utf-8", "text/plain; charset=utf-8"
HTML = "text/html; charset=utf-8"

Start = Callable[..., Any]


def check_port(port: int, host: str) -> None:
    """Says so if a hub could not serve there: before anything is started that takes long."""
    if port:
        Hub(port, host).close()


class Hub:
    """Serves until it is closed. `port` 0: any that is free."""

    def __init__(self, port: int = 0, host: str = LOOPBACK) -> None:
        self.facts: Facts | None = None
        self._host = host
        registry = CollectorRegistry()
        registry.register(Families(lambda: self.facts))
        self._metrics = make_wsgi_app(registry)
        try:
            self._server = make_server(host, port, self._serve, _Server, _Handler)
        except OSError as error:
            raise HamletError(
                f"cannot serve metrics on {host}:{port}: {error.strerror or error}",
                "choose another --metrics-port, or a --metrics-host of this machine",
            ) from error
        self._thread = Thread(target=self._server.serve_forever, name="hub", daemon=True)
        self._thread.start()

    @property
    def port(self) -> int:
        return int(self._server.server_port)

    @property
    def url(self) -> str:
        return f"http://{self._host}:{self.port}"

    def tell(self, facts: Facts) -> None:
        """The newest facts; what is scraped or looked at from now on is made of them."""
        self.facts = facts

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    # ---- answers ---------------------------------------------------------------------------

    def _serve(self, environ: dict[str, Any], start: Start) -> Iterable[bytes]:
        if environ["REQUEST_METHOD"] not in ("GET", "HEAD"):
            return _answer(start, "405 Method Not Allowed", TEXT, "this only shows")
        if not self._is_meant(environ.get("HTTP_HOST", "")):
            return _answer(start, "403 Forbidden", TEXT, "asked for under another machine's name")
        path = environ.get("PATH_INFO", "/")
        if path == "/metrics":
            return cast("Iterable[bytes]", self._metrics(environ, start))
        if path == "/facts":
            return _answer(start, "200 OK", JSON, shown(self.facts))
        if path == "/drawings":
            drawn = {} if self.facts is None else dict(self.facts.drawings)
            return _answer(start, "200 OK", JSON, json.dumps(drawn))
        if path == "/":
            page = live_page()
            return _answer(start, "200 OK", HTML, page.text, page.policy)
        return _answer(start, "404 Not Found", TEXT, "there are /, /facts, /drawings and /metrics")

    def _is_meant(self, host: str) -> bool:
        """On the loopback device, only under its own names: else any page that a browser of this
        machine shows could have its name lead here, and read along."""
        return self._host != LOOPBACK or host.rpartition(":")[0] in HERE


def _answer(
    start: Start, status: str, kind: str, text: str, policy: str = NOTHING
) -> Iterable[bytes]:
    """`policy` is what a browser may do with it."""
    body = text.encode()
    headers = [
        ("Content-Type", kind),
        ("Content-Length", str(len(body))),
        ("Cache-Control", "no-store"),
        ("X-Content-Type-Options", "nosniff"),
        ("Content-Security-Policy", policy),
        ("Referrer-Policy", "no-referrer"),
    ]
    start(status, headers)
    return [body]


class _Server(ThreadingMixIn, WSGIServer):
    daemon_threads = True


class _Handler(WSGIRequestHandler):
    def log_message(self, format: str, *args: Any) -> None:
        """Nobody wants a line for every scrape."""
