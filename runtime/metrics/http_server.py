"""Serves the newest metrics of a job over HTTP. Nothing can be changed through it.

/               the live page, which fetches the next two
/metrics.json   the newest snapshot
/drawings       the merged template of each share group, as SVG
/metrics        for Prometheus
"""

from __future__ import annotations

import json
import re
import socket
from collections.abc import Callable, Iterable
from ipaddress import ip_address
from socketserver import ThreadingMixIn
from threading import Thread
from typing import Any, cast
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

from prometheus_client import CollectorRegistry, make_wsgi_app

from runtime.errors import HamletError
from runtime.metrics.json_view import snapshot_text
from runtime.metrics.prometheus import PrometheusCollector
from runtime.metrics.snapshot import MetricsSnapshot
from runtime.metrics.web.live_page import NO_CONTENT, live_page

LOOPBACK = "127.0.0.1"
# The Host header of a request: a name or an address, and perhaps a port.
_HOST = re.compile(r"(?:\[([^\]]+)\]|([^:\[\]]+))(?::\d+)?")
JSON, TEXT = "application/json; charset=utf-8", "text/plain; charset=utf-8"
HTML = "text/html; charset=utf-8"

Start = Callable[..., Any]


def check_port(port: int, host: str) -> None:
    """Raises an error if the server could not listen there, before anything slow is started."""
    if port:
        MetricsServer(port, host).close()


class MetricsServer:
    """Serves until it is closed. `port` 0 means any free port."""

    def __init__(self, port: int = 0, host: str = LOOPBACK) -> None:
        self.snapshot: MetricsSnapshot | None = None
        self._host = host
        registry = CollectorRegistry()
        registry.register(PrometheusCollector(lambda: self.snapshot))
        self._metrics = make_wsgi_app(registry)
        try:
            self._server = make_server(host, port, self._serve, _server_class(host), _Handler)
        except OSError as error:
            raise HamletError(
                f"cannot serve metrics on {host}:{port}: {error.strerror or error}",
                "choose another --metrics-port, or a --metrics-host of this machine",
            ) from error
        self._is_private = _is_loopback(str(self._server.server_address[0]))
        self._thread = Thread(target=self._server.serve_forever, name="metrics server", daemon=True)
        self._thread.start()

    @property
    def port(self) -> int:
        return int(self._server.server_port)

    @property
    def url(self) -> str:
        host = f"[{self._host}]" if ":" in self._host else self._host
        return f"http://{host}:{self.port}"

    def update(self, snapshot: MetricsSnapshot) -> None:
        """Every request from now on is answered from this snapshot."""
        self.snapshot = snapshot

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    # ---- responses -------------------------------------------------------------------------

    def _serve(self, environ: dict[str, Any], start: Start) -> Iterable[bytes]:
        if environ["REQUEST_METHOD"] not in ("GET", "HEAD"):
            return _respond(start, "405 Method Not Allowed", TEXT, "this server is read-only")
        if not self._is_own_name(environ.get("HTTP_HOST", "")):
            return _respond(start, "403 Forbidden", TEXT, "not a name of this machine")
        path = environ.get("PATH_INFO", "/")
        if path == "/metrics":
            return cast("Iterable[bytes]", self._metrics(environ, start))
        if path == "/metrics.json":
            return _respond(start, "200 OK", JSON, snapshot_text(self.snapshot))
        if path == "/drawings":
            drawn = {} if self.snapshot is None else dict(self.snapshot.drawings)
            return _respond(start, "200 OK", JSON, json.dumps(drawn))
        if path == "/":
            page = live_page()
            return _respond(start, "200 OK", HTML, page.text, page.policy)
        known = "not found; try /, /metrics.json, /drawings or /metrics"
        return _respond(start, "404 Not Found", TEXT, known)

    def _is_own_name(self, header: str) -> bool:
        """On the loopback device, only its own names are valid: otherwise any web page open in a
        browser of this machine could point its own name here and read the metrics. The address that
        the server is bound to counts, whatever it was called."""
        if not self._is_private:
            return True
        found = _HOST.fullmatch(header)
        name = (found[1] or found[2]).lower() if found else ""
        return name in ("localhost", self._host.lower()) or _is_loopback(name)


def _is_loopback(address: str) -> bool:
    try:
        return ip_address(address).is_loopback
    except ValueError:
        return False


def _respond(
    start: Start, status: str, kind: str, text: str, policy: str = NO_CONTENT
) -> Iterable[bytes]:
    """`policy` is the content security policy: what a browser may do with the response."""
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


class _Server6(_Server):
    address_family = socket.AF_INET6


def _server_class(host: str) -> type[_Server]:
    return _Server6 if ":" in host else _Server


class _Handler(WSGIRequestHandler):
    def log_message(self, format: str, *args: Any) -> None:
        """Prints nothing: a line for every scrape would be noise."""
