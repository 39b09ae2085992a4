"""The patterns of values in text. Both engines check a value against them before they convert it.

They have no anchors, and mean the same in RE2 (Arrow) and in Java (Spark). Spaces and tabs around a
value are allowed.
"""

from __future__ import annotations

#: Spaces that may surround a value.
SPACES = " \t"

WHOLE = r"[+-]?[0-9]+"
FINITE = r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?"
NOT_FINITE = r"[+-]?(?i:nan|inf|infinity)"
NUMBER = rf"(?:{FINITE}|{NOT_FINITE})"
BOOLEAN = r"(?i:true|false|1|0)"
DATE = r"[0-9]{4}-[0-9]{2}-[0-9]{2}"

ZONE = r"(?:Z|[+-](?:[01][0-9]|2[0-3])(?::?[0-5][0-9])?)"
CLOCK_TIME = r"[0-9]{2}(?::[0-9]{2}(?::[0-9]{2}(?:\.[0-9]+)?)?)?"
#: ISO 8601. Only a time of day can have a zone; without one it is UTC.
ISO = rf"{DATE}(?:[ T]{CLOCK_TIME}{ZONE}?)?"


def whole_text(pattern: str) -> str:
    """The pattern of a text that has nothing but a value, and spaces around it."""
    return rf"\A[{SPACES}]*(?:{pattern})[{SPACES}]*\z"
