"""Streams that are stored in segments: a generated stream, and lines from a socket."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable, Iterator
from urllib.parse import urlsplit

import pyarrow as pa
import pyarrow.parquet as pq

from runtime.errors import InputError, os_failure
from runtime.generate import generate, parse_spec, schema

ROWS = 65_536
# A paced stream is cut into this many pieces a second, and so are lines of a socket.
PIECES_A_SECOND = 10
MOST_BYTES = 8 << 20
RETRY_SECONDS = 1.0


class GeneratedFeed:
    """`generate:NAME?events=N&...`, all at once, or `pace` events a second."""

    suffix = ".parquet"
    ordered = repeatable = True

    def __init__(self, spec: str, pace: float | None = None) -> None:
        # The pace determines the segments, so it is part of the name.
        self.name = f"generate:{spec}" + ("" if pace is None else f" at {pace:g} events/s")
        name, parameters = parse_spec(spec)
        self.events: int = parameters["events"]
        self.schema = schema(name)
        self._pace = pace
        self._rows = ROWS if pace is None else min(ROWS, max(1, int(pace / PIECES_A_SECOND)))
        self._stream = (name, parameters)

    def segments(self, done: int, stopped: Callable[[], bool]) -> Iterator[bytes]:
        name, parameters = self._stream
        began = time.monotonic()
        for number, batch in enumerate(generate(name, **parameters, batch_rows=self._rows)):
            if number < done:
                continue
            if self._pace is not None:
                due = began + (number - done + 1) * self._rows / self._pace
                while (left := due - time.monotonic()) > 0 and not stopped():
                    time.sleep(min(left, 0.1))
            yield _parquet(batch)


class SocketFeed:
    """`socket://HOST:PORT`: JSON objects, one per line. Reconnects when the connection ends."""

    suffix = ".jsonl"
    ordered = repeatable = False

    def __init__(self, address: str) -> None:
        self.name = address
        parts = urlsplit(address)
        if not parts.hostname or not parts.port:
            raise InputError(f"{address} names no host and port", "such as socket://127.0.0.1:9999")
        self._where = (parts.hostname, parts.port)

    def segments(self, done: int, stopped: Callable[[], bool]) -> Iterator[bytes]:
        connected = False
        while not stopped():
            try:
                with socket.create_connection(self._where, timeout=1 / PIECES_A_SECOND) as line:
                    connected = True
                    yield from _whole_lines(line, stopped)
            except OSError as error:
                if not connected:
                    host, port = self._where
                    what = f"cannot connect to {host}:{port}"
                    raise os_failure(what, error, user_error=InputError) from error
            time.sleep(RETRY_SECONDS)


def _whole_lines(line: socket.socket, stopped: Callable[[], bool]) -> Iterator[bytes]:
    """Blocks of whole lines, about PIECES_A_SECOND a second."""
    waiting, since = b"", time.monotonic()
    while not stopped():
        try:
            more = line.recv(1 << 20)
        except TimeoutError:
            more = None
        if more == b"":
            if waiting.strip():
                yield waiting
            return
        waiting += more or b""
        due = time.monotonic() - since >= 1 / PIECES_A_SECOND
        cut = waiting.rfind(b"\n") + 1
        if cut and (due or len(waiting) >= MOST_BYTES):
            yield waiting[:cut]
            waiting, since = waiting[cut:], time.monotonic()


def _parquet(batch: pa.RecordBatch) -> bytes:
    sink = pa.BufferOutputStream()
    pq.write_table(pa.Table.from_batches([batch]), sink)
    return sink.getvalue().to_pybytes()
