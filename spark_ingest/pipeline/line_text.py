"""The text of a row as Spark SQL: whether it is UTF-8, and how a dead letter shows it.

Spark's strings are bytes that it does not check.
"""

from __future__ import annotations

from spark_ingest.pipeline import sql

#: Spaces, tabs and line ends of ASCII.
BLANK = " \t\n\r\x0b\x0c"

# The bytes of one character, each written as the character of that number.
_CHARACTER = (
    r"(?:[\x00-\x7f]|[\xc2-\xdf][\x80-\xbf]|\xe0[\xa0-\xbf][\x80-\xbf]"
    r"|[\xe1-\xec\xee\xef][\x80-\xbf]{2}|\xed[\x80-\x9f][\x80-\xbf]"
    r"|\xf0[\x90-\xbf][\x80-\xbf]{2}|[\xf1-\xf3][\x80-\xbf]{3}|\xf4[\x80-\x8f][\x80-\xbf]{2})"
)
_PART = rf"{_CHARACTER}++|[\x80-\xff]"
_WRONG_BYTE = r"\A[\x80-\xff]\z"

_CONTROLS = r"[\x00-\x1f]"
_RUN = r"[^\x00-\x1f]++|[\x00-\x1f]"
_SHORT = {"\n": r"\n", "\r": r"\r", "\t": r"\t", "\b": r"\b", "\f": r"\f"}


def is_utf8(text: str) -> str:
    """Whether the bytes of a string are UTF-8. Decoding replaces those that are not."""
    return f"(decode(CAST({text} AS BINARY), 'UTF-8') = CAST({text} AS STRING))"


def readable(value: str) -> str:
    r"""A string or binary value as text, with `\xff` for each byte that is not UTF-8."""
    bytes_ = f"decode(CAST({value} AS BINARY), 'ISO-8859-1')"
    parts = f"regexp_extract_all({bytes_}, {sql.text(_PART)}, 0)"
    back = "encode(part, 'ISO-8859-1')"
    part = (
        f"if(part RLIKE {sql.text(_WRONG_BYTE)}, "
        f"concat({sql.text(chr(92) + 'x')}, lower(hex({back}))), decode({back}, 'UTF-8'))"
    )
    escaped = f"array_join(transform({parts}, part -> {part}), '')"
    return f"if({is_utf8(value)}, CAST({value} AS STRING), {escaped})"


def json_string(text: str) -> str:
    """A text as a JSON string, as Python writes it; `null` without one. Spark's own escapes
    differ."""
    quoted = f"replace(replace({text}, {sql.text(chr(92))}, {sql.text(chr(92) * 2)}), "
    quoted += f"'\"', {sql.text(chr(92) + chr(34))})"
    short = " ".join(f"WHEN {sql.text(char)} THEN {sql.text(as_)}" for char, as_ in _SHORT.items())
    number = "lpad(lower(hex(ascii(part))), 4, '0')"
    control = f"CASE part {short} ELSE concat({sql.text(chr(92) + 'u')}, {number}) END"
    parts = f"regexp_extract_all({quoted}, {sql.text(_RUN)}, 0)"
    escaped = f"array_join(transform({parts}, part -> if(part < ' ', {control}, part)), '')"
    string = f"concat('\"', if({text} RLIKE {sql.text(_CONTROLS)}, {escaped}, {quoted}), '\"')"
    return f"coalesce({string}, 'null')"
