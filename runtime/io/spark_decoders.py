"""Decodes blocks of files that Spark read: typed columns, or lines of text.

Lines are joined again and parsed by the file readers, so that invalid rows have the same reasons
however they were read.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from typing import BinaryIO

import pyarrow as pa
import pyarrow.types as pt

from runtime.io.bytestream import decompressed
from runtime.io.csv_text import CsvReader
from runtime.io.decode import Origin
from runtime.io.json_lines import JsonReader
from runtime.io.read import blocks_of
from runtime.io.reader import ReadRequest, typed_block
from runtime.pipeline.block import RowBlock


@dataclass(frozen=True)
class Typed:
    """Typed columns. Spark has fewer types, so some are cast back."""

    target: pa.Schema
    numbered: bool = False

    def decode(self, table: pa.Table, origin: Origin) -> Iterator[RowBlock]:
        first = 0
        for batch in table.combine_chunks().to_batches():
            yield typed_block(_in_kind(batch, self.target), self.target, origin.source, first, None)
            first += batch.num_rows


@dataclass(frozen=True)
class Lines:
    """One column with the lines of a file, or of a piece of a file of JSON lines. If
    `single`, there is no other file, so damage is an error."""

    target: pa.Schema
    needs: ReadRequest
    format: str
    single: bool = False
    numbered: bool = False

    def decode(self, table: pa.Table, origin: Origin) -> Iterator[RowBlock]:
        lines = [text_of(chunk) for chunk in table.column(0).chunks if len(chunk)]
        if lines:  # an empty CSV file would lack its header
            yield from self.read(io.BytesIO(b"".join(lines)), origin)

    def read(self, text: BinaryIO, origin: Origin) -> Iterator[RowBlock]:
        kind: type[JsonReader] | type[CsvReader] = (
            JsonReader if self.format == "json" else CsvReader
        )
        with closing(kind(origin.source, self.needs, text)) as reader:
            yield from blocks_of(reader, self.target, self.single)


@dataclass(frozen=True)
class Packed(Lines):
    """One value with the bytes of a file, which may be gzip: Spark would detect that by its name,
    and fail if it is damaged."""

    def decode(self, table: pa.Table, origin: Origin) -> Iterator[RowBlock]:
        for content in table.column(0):
            text, _ = decompressed(io.BytesIO(content.as_buffer()))
            yield from self.read(text, origin)


def text_of(column: pa.Array) -> bytes:
    """The values of a text column, each followed by a newline."""
    if pt.is_string(column.type):
        column = column.view(pa.binary())
    joined: bytes = pa.compute.binary_join(
        pa.ListArray.from_arrays([0, len(column)], column), b"\n"
    )[0].as_py()
    return joined + b"\n"


def _in_kind(batch: pa.RecordBatch, target: pa.Schema) -> pa.RecordBatch:
    """Spark reads nanoseconds as whole numbers and unsigned integers as decimals."""
    columns = []
    for name, column in zip(batch.schema.names, batch.columns, strict=True):
        wanted = target.field(name).type if name in target.names else column.type
        if pt.is_timestamp(wanted) and pt.is_int64(column.type):
            column = column.view(pa.timestamp("ns", wanted.tz)).cast(wanted, safe=False)
        columns.append(column)
    return pa.RecordBatch.from_arrays(columns, batch.schema.names)
