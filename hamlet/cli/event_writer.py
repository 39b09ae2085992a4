"""Writes events to standard output, or to a file that appears when it is complete."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pyarrow as pa

from runtime.errors import InputError
from runtime.io.atomic import AtomicFiles
from runtime.io.encode import Encoder, Sink, encode_all, encoder
from runtime.io.stdout import Stdout


def write_events(
    batches: Iterable[pa.RecordBatch], schema: pa.Schema, path: Path | None, format: str
) -> None:
    if path is None:
        _to_stdout(batches, schema, format)
        return
    files = AtomicFiles()
    try:
        with files.open(path) as file:
            encode_all(batches, _encoder(format, file, schema))
        files.publish()
    finally:
        files.discard()


def _to_stdout(batches: Iterable[pa.RecordBatch], schema: pa.Schema, format: str) -> None:
    stdout = Stdout()
    if format in ("parquet", "arrow") and stdout.isatty():
        raise InputError(
            f"{format} cannot be printed on a terminal", "use --output or another --format"
        )
    target = _encoder(format, stdout, schema)
    for batch in batches:
        target.write(batch)
        if stdout.broken:
            return
    target.finish()
    stdout.flush()


def _encoder(format: str, file: Sink, schema: pa.Schema) -> Encoder:
    return _ArrowEncoder(file, schema) if format == "arrow" else encoder(format, file, schema)


class _ArrowEncoder(Encoder):
    """Writes Arrow's stream format, which works in pipes and files."""

    def __init__(self, file: Sink, schema: pa.Schema) -> None:
        self._writer = pa.ipc.new_stream(file, schema)

    def write(self, batch: pa.RecordBatch) -> None:
        self._writer.write_batch(batch)

    def finish(self) -> None:
        self._writer.close()
