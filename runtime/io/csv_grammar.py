"""The grammar of CSV, the same in both engines: what a field is, and where a record ends.

A field in quotes may contain commas and, written twice, quotes. Any other field is what lies
between two commas, and may contain quotes but not begin with one. The patterns have no anchors, and
mean the same in Python and in Java (Spark). They are possessive, so that Java needs no stack.
"""

from __future__ import annotations

import re

from runtime.pipeline.event_contract import Reason

_INSIDE = r'(?:[^"]++|"")*+'
_END = r"(?![\s\S])"  # of the text; `\z` is new in Python

FIELD = rf'(?:"{_INSIDE}"|(?!")[^,]*+)'
#: A record whose fields are all well-formed.
RECORD = rf"{FIELD}(?:,{FIELD})*+"
#: A record whose last field has no closing quote.
OPEN_RECORD = rf'(?:{FIELD},)*+"{_INSIDE}{_END}'

_ANY_FIELD = rf'(?:"{_INSIDE}(?:"[^,\r\n]*+|{_END})|(?!")[^,\r\n]*+)'
#: A record in a text of many, well-formed or not. Its fields may have line breaks inside quotes.
NEXT_RECORD = rf"{_ANY_FIELD}(?:,{_ANY_FIELD})*+"

_FIELD = re.compile("," + FIELD)
_RECORD, _OPEN, _NEXT = (re.compile(p.encode()) for p in (RECORD, OPEN_RECORD, NEXT_RECORD))


def fault_of(record: bytes) -> Reason:
    """Whether the quotes of a record are right."""
    if b'"' not in record or _RECORD.fullmatch(record):
        return Reason.VALID
    return Reason.OPEN_QUOTE if _OPEN.match(record) else Reason.MISQUOTED


def records_of(text: bytes) -> list[bytes]:
    """The records of a text, without blank lines. Values may have line breaks."""
    return [record for record in _NEXT.findall(text) if record]


def fields_of(record: str) -> list[str]:
    """The values of a well-formed record."""
    return [_value(match[0][1:]) for match in _FIELD.finditer("," + record)]


def _value(field: str) -> str:
    return field[1:-1].replace('""', '"') if field.startswith('"') else field
