"""Finds text that is not UTF-8, as Spark SQL. Spark's strings are bytes that it does not check."""

from __future__ import annotations

from spark_ingest.pipeline import sql

# The bytes of one character, each written as the character of that number.
_CHARACTER = (
    r"(?:[\x00-\x7f]|[\xc2-\xdf][\x80-\xbf]|\xe0[\xa0-\xbf][\x80-\xbf]"
    r"|[\xe1-\xec\xee\xef][\x80-\xbf]{2}|\xed[\x80-\x9f][\x80-\xbf]"
    r"|\xf0[\x90-\xbf][\x80-\xbf]{2}|[\xf1-\xf3][\x80-\xbf]{3}|\xf4[\x80-\x8f][\x80-\xbf]{2})"
)
_PART = rf"{_CHARACTER}++|[\x80-\xff]"
_WRONG_BYTE = r"\A[\x80-\xff]\z"


def not_utf8(value: str) -> str:
    """Whether a string is not UTF-8: its bytes change when Java decodes and encodes them."""
    return f"encode({value}, 'UTF-8') <> CAST({value} AS BINARY)"


def readable(value: str) -> str:
    r"""The string, with `\xff` for each byte that is not UTF-8."""
    bytes_ = f"decode(CAST({value} AS BINARY), 'ISO-8859-1')"
    parts = f"regexp_extract_all({bytes_}, {sql.text(_PART)}, 0)"
    back = "encode(part, 'ISO-8859-1')"
    part = (
        f"if(part RLIKE {sql.text(_WRONG_BYTE)}, "
        f"concat({sql.text(chr(92) + 'x')}, lower(hex({back}))), decode({back}, 'UTF-8'))"
    )
    return f"if({not_utf8(value)}, array_join(transform({parts}, part -> {part}), ''), {value})"
