"""Splits CSV into blocks of whole records. Only with `multiline` may a record span lines, inside
quotes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import BinaryIO, TypeAlias

import numpy as np
import numpy.typing as npt

from runtime.errors import InputError
from runtime.io.formats import BOM

BLOCK_BYTES = 4 << 20
LONGEST_RECORD = 16 << 20

Positions: TypeAlias = "npt.NDArray[np.intp]"

_BEFORE_A_FIELD = list(b',\r\n"')
# A quoted field, closed or not: inside, a quote is written twice.
_QUOTED = re.compile(rb'(?:(?<=[,\r\n])|\A)"(?:[^"]++|"")*+"?')


def blocks_of_records(stream: BinaryIO, source: str, multiline: bool) -> Iterator[bytes]:
    """Each block ends with a line end; the input need not."""
    last_end = last_record_end if multiline else last_line_end
    rest = stream.read(len(BOM)).removeprefix(BOM)
    while more := stream.read(BLOCK_BYTES):
        rest += more
        end = last_end(rest)
        if end:
            yield rest[:end]
            rest = rest[end:]
        elif len(rest) > LONGEST_RECORD:
            raise InputError(
                f"{source} has a row of more than {LONGEST_RECORD >> 20} MB",
                "a quote is probably never closed" if multiline else "is it CSV?",
            )
    if rest:
        # Without a line end, Arrow may parse an empty last field as a quoted one.
        yield rest + b"\n"


def first_record_end(data: bytes, multiline: bool) -> int:
    """The end of the first record, with its line end; the end of the data if it has none."""
    ends = _record_ends(data) if multiline else places(data, b"\r\n") + 1
    return int(ends[0]) if len(ends) else len(data)


def last_line_end(data: bytes) -> int:
    """The end of the last whole line; 0 if there is none."""
    return max(data.rfind(b"\n"), data.rfind(b"\r")) + 1


def last_record_end(data: bytes) -> int:
    """The end of the last whole record; 0 if there is none."""
    if b'"' not in data:
        return last_line_end(data)
    ends = _record_ends(data)
    return int(ends[-1]) if len(ends) else 0


def places(data: bytes, chars: bytes) -> Positions:
    """Where any of these characters is."""
    bytes_ = np.frombuffer(data, np.uint8)
    found = bytes_ == chars[0]
    for char in chars[1:]:
        found |= bytes_ == char
    return np.flatnonzero(found)


def _record_ends(data: bytes) -> Positions:
    lines = places(data, b"\r\n")  # a cut between the two leaves a blank line, which is ignored
    starts, stops = _quoted_spans(data)
    stops = np.append(stops, len(data))  # an open quote reaches to the end
    inside = np.searchsorted(starts, lines) - 1
    quoted = (inside >= 0) & (lines < stops[inside])
    return lines[~quoted] + 1


def _quoted_spans(data: bytes) -> tuple[Positions, Positions]:
    """The starts and ends of quoted fields; one start more if the last field is open."""
    quotes = places(data, b'"')
    before = np.frombuffer(data, np.uint8)[np.maximum(quotes[0::2] - 1, 0)]
    begins = np.isin(before, _BEFORE_A_FIELD) | (quotes[0::2] == 0)
    if begins.all():  # every other quote begins a field, or follows a doubled quote
        return quotes[0::2], quotes[1::2]
    return _spans_one_by_one(data)


def _spans_one_by_one(data: bytes) -> tuple[Positions, Positions]:
    """A quote inside a value (`5" disk`) is a character, so each field must be parsed."""
    spans = [match.span() for match in _QUOTED.finditer(data)]
    starts = np.array([start for start, _ in spans], np.intp)
    stops = np.array([stop - 1 for _, stop in spans], np.intp)
    if spans and not _closed(data, *spans[-1]):
        stops = stops[:-1]
    return starts, stops


def _closed(data: bytes, start: int, stop: int) -> bool:
    return stop - start > 1 and data[start:stop].count(b'"') % 2 == 0
