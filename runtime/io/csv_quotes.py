"""Finds the records of a block whose quotes are wrong: Arrow would read something from them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from runtime.io.csv_grammar import fault_of, records_of
from runtime.io.csv_split import places
from runtime.pipeline.event_contract import Reason

_SEPARATOR = np.isin(np.arange(256), list(b",\r\n"))


@dataclass(frozen=True)
class MisquotedRecord:
    """A record by its position among those of a block, blank lines left out."""

    position: int
    reason: Reason
    record: bytes


def without_misquoted(block: bytes, multiline: bool) -> tuple[bytes, list[MisquotedRecord]]:
    """The block without such records, and the records. It ends with a line end."""
    if b'"' not in block or _is_regular(block, multiline):
        return block, []
    records = records_of(block) if multiline else [line for line in block.splitlines() if line]
    bad = []
    for position, record in enumerate(records):
        reason = fault_of(record)
        if reason:
            # Only a record with an open quote ends with a line end: that of the block.
            bad.append(MisquotedRecord(position, reason, record.removesuffix(b"\n")))
    if not bad:
        return block, []
    wrong = {each.position for each in bad}
    good = [record for position, record in enumerate(records) if position not in wrong]
    return b"".join(record + b"\n" for record in good), bad


def _is_regular(block: bytes, multiline: bool) -> bool:
    """Whether quotes only begin and end fields, or are doubled within one. Then none are wrong."""
    quotes = places(block, b'"')
    if len(quotes) % 2:
        return False
    opens, closes = quotes[0::2], quotes[1::2]
    chars = np.frombuffer(block, np.uint8)
    begins = _SEPARATOR[chars[opens - 1]]  # before the first character is the last: a line end
    ends = _SEPARATOR[chars[closes + 1]]
    doubled = opens[1:] == closes[:-1] + 1
    begins[1:] |= doubled
    ends[:-1] |= doubled
    if not (begins.all() and ends.all()):
        return False
    if multiline:
        return True
    lines = places(block, b"\r\n")
    closed = np.append(closes, 0)  # 0 for lines before the first quote
    last_opened = np.searchsorted(opens, lines) - 1
    return not bool((lines < closed[last_opened]).any())
