"""Reads the header of CSV: the names of the columns."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from runtime.errors import InputError
from runtime.io.bytestream import open_bytes
from runtime.io.csv_grammar import fault_of, fields_of
from runtime.io.csv_split import blocks_of_records, first_record_end
from runtime.io.utf8 import NOT_UTF8, mark_invalid_bytes
from runtime.pipeline.event_contract import Reason
from runtime.types.schema_probe import check_unique_names


@dataclass(frozen=True)
class CsvHeader:
    """The names of the columns. `lines` is the number of lines up to the first row's, with blank
    lines before the header; those after it do not count."""

    names: list[str]
    lines: int


def header_of(path: Path, multiline: bool = False) -> CsvHeader:
    """The header of a file, which may be gzip."""
    stream, _ = open_bytes(path)
    with stream:
        blocks = blocks_of_records(stream, str(path), multiline)
        return read_header(blocks, str(path), multiline)[0]


def read_header(blocks: Iterator[bytes], source: str, multiline: bool) -> tuple[CsvHeader, bytes]:
    """The header, and the rest of the block that it is in."""
    before = b""
    while not before.strip(b"\r\n") and (block := next(blocks, None)) is not None:
        before += block
    data = before.lstrip(b"\r\n")
    if not data.strip():
        raise InputError(f"{source} is empty", "a CSV file begins with the names of its columns")
    end = first_record_end(data, multiline)
    header = data[:end].strip(b"\r\n")
    names = _names(header, source, multiline)
    check_unique_names(names, source)
    lines = len(before[: len(before) - len(data) + end].splitlines())
    return CsvHeader(names, lines), data[end:].lstrip(b"\r\n")


def open_quote(what: str) -> InputError:
    """A quote is not closed on its line. The file may have quoted line breaks, so the lines that
    follow may be no rows."""
    return InputError(
        f"{what} has a quote that is not closed on its line; values with line breaks need "
        "?multiline=true",
        "add it to the input: --input events.csv?multiline=true",
    )


def _names(header: bytes, source: str, multiline: bool) -> list[str]:
    text = mark_invalid_bytes(header)[0].decode()
    if NOT_UTF8 in text:
        raise InputError(
            f"{source} is not CSV in UTF-8", "convert it first, for example with iconv"
        )
    reason = fault_of(header)
    if reason is Reason.OPEN_QUOTE and not multiline:
        raise open_quote(f"the header of {source}")
    if reason:
        raise InputError(f"the header of {source} is not CSV", "check its quotes")
    return fields_of(text)
