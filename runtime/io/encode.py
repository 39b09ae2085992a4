"""Encodes result tables as Parquet, CSV or JSON lines."""

from __future__ import annotations

import csv
import io
from abc import ABC, abstractmethod
from collections.abc import Iterable
from contextlib import suppress
from typing import IO, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq

from runtime.errors import InputError
from runtime.io.stdout import Stdout
from runtime.pipeline.dead_letter import rows_as_json
from runtime.types.attribute_kinds import is_text

Sink: TypeAlias = "IO[bytes] | Stdout"

SUFFIXES = {"parquet": ".parquet", "csv": ".csv", "json": ".jsonl"}


class Encoder(ABC):
    """Writes batches of one schema to a file that it does not close."""

    @abstractmethod
    def write(self, batch: pa.RecordBatch) -> None: ...

    @abstractmethod
    def finish(self) -> None:
        """Writes the end of the file."""

    def abort(self) -> None:  # noqa: B027 - few have anything to do
        """Releases a file that will be deleted."""


class ParquetEncoder(Encoder):
    def __init__(self, file: Sink, schema: pa.Schema) -> None:
        self._writer = pq.ParquetWriter(file, schema)

    def write(self, batch: pa.RecordBatch) -> None:
        self._writer.write_batch(batch)

    def finish(self) -> None:
        self._writer.close()

    def abort(self) -> None:
        """Otherwise the writer would write a footer to a closed file when Python collects it."""
        with suppress(Exception):
            self._writer.close()
        self._writer.is_open = False


class CsvEncoder(Encoder):
    def __init__(self, file: Sink, schema: pa.Schema, header: bool = True) -> None:
        self._file = file
        if header:
            line = io.StringIO()
            csv.writer(line, lineterminator="\n").writerow(schema.names)
            file.write(line.getvalue().encode())

    def write(self, batch: pa.RecordBatch) -> None:
        # Arrow quotes all text or none.
        style = "needed" if any(map(_needs_quotes, batch.columns)) else "none"
        buffer = pa.BufferOutputStream()
        options = pa_csv.WriteOptions(include_header=False, quoting_style=style)
        pa_csv.write_csv(batch, buffer, options)
        self._file.write(buffer.getvalue().to_pybytes())

    def finish(self) -> None:
        """A CSV file has no end."""


class JsonEncoder(Encoder):
    def __init__(self, file: Sink, schema: pa.Schema) -> None:
        self._file = file

    def write(self, batch: pa.RecordBatch) -> None:
        self._file.write("".join(f"{row}\n" for row in rows_as_json(batch)).encode())

    def finish(self) -> None:
        """JSON lines have no end either."""


def _needs_quotes(column: pa.Array) -> bool:
    """Whether text has a special character of CSV, or is empty: without quotes that means null."""
    if not is_text(column.type):
        return False
    return bool(pc.any(pc.match_substring_regex(column, '[",\r\n]|^$')).as_py())


def encoder(format: str, file: Sink, schema: pa.Schema) -> Encoder:
    return _ENCODERS[check_format(format)](file, schema)


def check_format(format: str) -> str:
    if format not in _ENCODERS:
        raise InputError(f"`{format}` is not an output format", f"one of {', '.join(_ENCODERS)}")
    return format


_ENCODERS: dict[str, type[ParquetEncoder] | type[CsvEncoder] | type[JsonEncoder]] = {
    "parquet": ParquetEncoder,
    "csv": CsvEncoder,
    "json": JsonEncoder,
}


def encode_all(batches: Iterable[pa.RecordBatch], target: Encoder) -> None:
    try:
        for batch in batches:
            target.write(batch)
        target.finish()
    except BaseException:
        target.abort()
        raise
