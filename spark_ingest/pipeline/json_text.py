"""Writes JSON as Spark SQL, exactly as Python's `json.dumps` does. Spark's own escapes differ."""

from __future__ import annotations

from spark_ingest.pipeline import sql

_CONTROLS = r"[\x00-\x1f]"
_PARTS = r"[^\x00-\x1f]++|[\x00-\x1f]"
_SHORT = {"\n": r"\n", "\r": r"\r", "\t": r"\t", "\b": r"\b", "\f": r"\f"}


def json_string(value: str) -> str:
    """A string as JSON."""
    quoted = f"replace(replace({value}, {sql.text(chr(92))}, {sql.text(chr(92) * 2)}), "
    quoted += f"'\"', {sql.text(chr(92) + chr(34))})"
    short = " ".join(f"WHEN {sql.text(char)} THEN {sql.text(as_)}" for char, as_ in _SHORT.items())
    number = "lpad(lower(hex(ascii(part))), 4, '0')"
    control = f"CASE part {short} ELSE concat({sql.text(chr(92) + 'u')}, {number}) END"
    parts = f"regexp_extract_all({quoted}, {sql.text(_PARTS)}, 0)"
    escaped = f"array_join(transform({parts}, part -> if(part < ' ', {control}, part)), '')"
    return f"concat('\"', if({value} RLIKE {sql.text(_CONTROLS)}, {escaped}, {quoted}), '\"')"
