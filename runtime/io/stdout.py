"""Writes to standard output and detects when its reader has gone."""

from __future__ import annotations

import os
import sys
from typing import IO, Any


class Stdout:
    """`broken` once the reader has gone (`| head`); the remaining bytes are then dropped."""

    def __init__(self, stream: IO[bytes] | None = None) -> None:
        self.broken = False
        self.closed = False
        self._stream = sys.stdout.buffer if stream is None else stream

    def write(self, data: Any) -> int:
        if not self.broken:
            try:
                self._stream.write(data)
            except BrokenPipeError:
                self._give_up()
        return len(data)

    def flush(self) -> None:
        if not self.broken:
            try:
                self._stream.flush()
            except BrokenPipeError:
                self._give_up()

    def isatty(self) -> bool:
        return self._stream.isatty()

    def close(self) -> None:
        self.flush()
        self.closed = True

    def _give_up(self) -> None:
        """Redirects to /dev/null: or Python's flush at exit would fail and print an error."""
        self.broken = True
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, self._stream.fileno())
        os.close(nowhere)
