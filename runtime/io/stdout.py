"""Standard output, whose reader may go away."""

from __future__ import annotations

import os
import sys
from typing import IO, Any


class Stdout:
    """Takes bytes. `broken` once the reader is gone (`| head`); the rest is then dropped."""

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
        """Python flushes at its end, which would fail once more, aloud: let that go nowhere."""
        self.broken = True
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, self._stream.fileno())
        os.close(nowhere)
