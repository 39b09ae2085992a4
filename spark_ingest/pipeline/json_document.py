"""Reads one JSON document of each row with Spark's `from_json`, and finds what it hides.

`from_json` ignores what follows a document. So a field that no input can know, the mark, is put at
the end of an object: `{…,"MARK":1}`. The object of `{…} {…}` lacks it. Where the document may be
something else than an object, it is put into an array before the mark: `{"MARK":[…,{"MARK":1}]}`.
"""

from __future__ import annotations

import secrets

from spark_ingest.pipeline import sql

_MARK = "mark" + secrets.token_hex(8)
_DAMAGED = "damaged" + secrets.token_hex(8)

_OPTIONS = {
    "mode": "PERMISSIVE",
    "columnNameOfCorruptRecord": _DAMAGED,
    "allowComments": "false",
    "allowUnquotedFieldNames": "false",
    "allowSingleQuotes": "false",
    "allowNumericLeadingZeros": "false",
    "allowBackslashEscapingAnyCharacter": "false",
    "allowUnquotedControlChars": "false",
    "maxNumLen": str(2**31 - 1),
    "maxStringLen": str(2**31 - 1),
}
_SPACE = " \t\r\n"

#: Before each string of a tagged document.
STRING = "~"
# In normal text each of these backslashes begins an escape.
_LONE_SURROGATE = r"\\u[dD][89abAB]..(?!\\u[dD][c-fC-F])|(?<!\\u[dD][89abAB]..)\\u[dD][c-fC-F]"


def typed_fields(text: str, types: dict[str, str]) -> str:
    """The fields of an object, in SQL types. The text is cut as bytes: as a string, Spark would
    count its characters."""
    end = _end(text)
    start = f"substring(CAST({end} AS BINARY), 1, octet_length({end}) - 1)"
    marked = f"""CAST(concat({start}, CAST(',"{_MARK}":1}}' AS BINARY)) AS STRING)"""
    listed = (f"{sql.name(field)} {type_}" for field, type_ in {**types, _MARK: "INT"}.items())
    return _from_json(marked, ", ".join(listed), nan=False)


def is_one_object(text: str, fields: str) -> str:
    """Whether a text is an object and nothing else, and its `typed_fields` have their types."""
    ends = f"(endswith({text}, '}}') OR endswith({_end(text)}, '}}'))"
    return f"({ends} AND {fields}.{_DAMAGED} IS NULL AND coalesce({fields}.{_MARK} = 1, false))"


def all_fields(text: str) -> str:
    """The fields of an object as texts."""
    return _between_marks(text, "MAP<STRING, STRING>")


def is_one_map(fields: str) -> str:
    """Whether `all_fields` are those of an object with nothing after it."""
    mark = f"try_element_at(get({fields}.{_MARK}, 1), '{_MARK}')"
    fits = f"{fields}.{_DAMAGED} IS NULL AND {map_of(fields)} IS NOT NULL"
    return f"({fits} AND coalesce({mark} = '1', false))"


def map_of(fields: str) -> str:
    return f"get({fields}.{_MARK}, 0)"


def is_one_document(text: str) -> str:
    """Whether a text is JSON of any kind, with nothing after it."""
    whole = f"""get(found.{_MARK}, 1) = '{{"{_MARK}":1}}'"""
    fits = f"(found.{_DAMAGED} IS NULL AND coalesce({whole}, false))"
    return sql.let("found", _between_marks(text, "STRING"), fits)


def _between_marks(text: str, type_: str) -> str:
    wrapped = f"""concat('{{"{_MARK}":[', {text}, ',{{"{_MARK}":1}}]}}')"""
    return _from_json(wrapped, f"{_MARK} ARRAY<{type_}>", nan=True)


def _from_json(text: str, fields: str, nan: bool) -> str:
    """`nan` also accepts the numbers that JSON does not have."""
    schema = f"{fields}, {_DAMAGED} STRING"
    options = _OPTIONS | {"allowNonNumericNumbers": str(nan).lower()}
    listed = ", ".join(f"{sql.text(key)}, {sql.text(value)}" for key, value in options.items())
    return f"from_json({text}, {sql.text(schema)}, map({listed}))"


def _end(text: str) -> str:
    """The text without space at its end."""
    return f"if(endswith({text}, '}}'), {text}, trim(TRAILING {sql.text(_SPACE)} FROM {text}))"


def normal(text: str) -> str:
    """The same JSON with other escapes of backslashes and quotes, so that each quote delimits a
    string, and each backslash begins an escape."""
    for escape, other in ((r"\\", r"\u005c"), (r"\"", r"\u0022")):
        text = f"replace({text}, {sql.text(escape)}, {sql.text(other)})"
    return text


def tagged(text: str) -> str:
    """Normal JSON with `STRING` at the beginning of each of its strings."""
    return f"""regexp_replace({text}, '"([^"]*)"', '"{STRING}$1"')"""


def has_lone_surrogate(text: str) -> str:
    """Whether normal JSON has an escape of half a character."""
    return f"({text} RLIKE {sql.text(_LONE_SURROGATE)})"


def has_odd_infinity(text: str) -> str:
    """Whether normal JSON has an infinity that only Jackson reads: `INF` or `+Infinity`."""
    bare = f"""regexp_replace({text}, '"[^"]*"', '""')"""
    return f"({bare} RLIKE {sql.text('INF|[+]I')})"
