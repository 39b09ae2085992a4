"""Parses rows of JSON into columns and faults: the same as `runtime/io/json_lines` does in one
process.

Each row is parsed with the types of the columns (the fast path). Spark's parser hides some faults:
keys that stand twice, numbers that become text, half characters. Cheap tests of the row's text find
each row that may have one, and each row that the parser refuses. Only those take the slow path: the
text is rewritten so that a string can be told from a number, and parsed again as a map of texts, in
which all keys and values are as they were written. That is one expression in a CASE, so Spark
evaluates it only for these rows.
"""

from __future__ import annotations

import string
from collections.abc import Iterator

import pyarrow.types as pt
from pyspark.sql import DataFrame
from pyspark.sql.types import StringType

from runtime.pipeline.event_contract import EventContract, Reason
from spark_ingest.pipeline import json_document, json_values, sql
from spark_ingest.pipeline.columns import FAULT, RAW
from spark_ingest.pipeline.json_column import JsonColumn
from spark_ingest.pipeline.line_text import BLANK, is_utf8, json_string, readable

# Columns of the steps in between: the text, and a row's result on each path. FAST is null if the
# text is null or not UTF-8, SLOW is null if FAST is all there is to know.
_TEXT, _FAST, _SLOW = "__text", "__fast", "__slow"

# None of these characters is ever written as an escape, except by its number (`\u0061`).
_UNESCAPED = frozenset(string.printable) - frozenset('"\\/' + string.whitespace) | {" "}


def parse_json(lines: DataFrame, contract: EventContract, value: str = "value") -> DataFrame:
    """Adds the columns of the contract, FAULT and RAW. Each value (a string or bytes) is one JSON
    document, or null, which is a fault. The other columns stay, and so does `value`.

    Without any column in the contract, the values are not looked at.
    """
    if not contract.columns.names:
        return lines.selectExpr("*", f"0 AS {FAULT}", f"CAST(NULL AS STRING) AS {RAW}")
    frame, text = _with_text(lines, value)
    columns = [
        JsonColumn(place, each, contract, text, _FAST)
        for place, each in enumerate(contract.columns)
    ]
    _check_names(lines, columns)
    frame = frame.selectExpr("*", f"{_fast(text, columns)} AS {_FAST}")
    converted = [each.converted() for each in columns if each.is_converted]
    if converted:
        frame = frame.selectExpr("*", *converted)
    frame = frame.selectExpr("*", f"{_slow(text, columns)} AS {_SLOW}")
    return frame.selectExpr(*map(sql.name, lines.columns), *_results(columns))


def raw_json(value: str) -> str:
    """SQL of an object as a dead letter shows it, from SQL of its text or bytes."""
    return f"trim(BOTH {sql.text(BLANK)} FROM {readable(value)})"


def without_blank_lines(lines: DataFrame, value: str = "value") -> DataFrame:
    """The rows that have more than spaces, tabs and line ends. A null stays."""
    text = f"CAST({sql.name(value)} AS STRING)"
    blank = f"trim(BOTH {sql.text(BLANK)} FROM {text}) = ''"
    return lines.where(f"NOT coalesce({blank}, false)")


def _check_names(lines: DataFrame, columns: list[JsonColumn]) -> None:
    ours = {_TEXT, _FAST, _SLOW, FAULT, RAW}.union(*((each.name, each.own) for each in columns))
    both = sorted(ours.intersection(lines.columns))
    if both:
        raise ValueError(f"the lines have columns that parsing adds: {both}")


def _with_text(lines: DataFrame, value: str) -> tuple[DataFrame, str]:
    """The lines, and the name of their column of text."""
    column = sql.name(value)
    if isinstance(lines.schema[value].dataType, StringType):
        return lines, column
    return lines.selectExpr("*", f"CAST({column} AS STRING) AS {_TEXT}"), _TEXT


def _fast(text: str, columns: list[JsonColumn]) -> str:
    types = {each.name: each.read_type() for each in columns if not pt.is_null(each.type)}
    return f"if({is_utf8(text)}, {json_document.typed_fields(text, types)}, NULL)"


def _slow(text: str, columns: list[JsonColumn]) -> str:
    """A struct of `fault`, `raw`, and the values of the columns."""
    suspicions = [
        f"{_FAST} IS NULL",
        f"NOT {json_document.is_one_object(text, _FAST)}",
        _has_odd_escape(text, columns),
        *(each for column in columns for each in column.suspicions()),
    ]
    normal = json_document.normal(text)
    fields = json_document.all_fields(json_document.tagged(normal))
    tokens = sql.let("fields", fields, _tokens(text, normal, columns))
    checked = sql.let("row", tokens, _checked(columns))
    result = sql.let("row", checked, _with_raw(text, columns))
    return f"CASE WHEN {' OR '.join(suspicions)} THEN {result} END"


def _has_odd_escape(text: str, columns: list[JsonColumn]) -> str:
    """Whether an escape may be half a character, or part of a key that is a column's name."""
    backslash = "\\"
    if not all(_UNESCAPED.issuperset(each.name) for each in columns):
        return f"contains({text}, {sql.text(backslash)})"
    normal = json_document.normal(text)
    ascii_character = f"contains({normal}, {sql.text(backslash + 'u00')})"
    odd = f"({ascii_character} OR {json_document.has_lone_surrogate(normal)})"
    return f"(contains({text}, {sql.text(backslash + 'u')}) AND {odd})"


def _tokens(text: str, normal: str, columns: list[JsonColumn]) -> str:
    """The fault of the row's text, and the tokens of the columns."""
    found = json_document.map_of("fields")
    named = (f"'{each.own}', {json_values.token(found, each.name)}" for each in columns)
    return _struct([f"'text_fault', {_text_fault(text, normal, columns)}", *named])


def _text_fault(text: str, normal: str, columns: list[JsonColumn]) -> str:
    odd = (json_document.has_lone_surrogate(normal), json_document.has_odd_infinity(normal))
    other = json_document.is_one_document(normal)
    no_object = f"if({other}, {int(Reason.NOT_AN_OBJECT)}, {int(Reason.MALFORMED_JSON)})"
    cases = [
        (f"{text} IS NULL", str(int(Reason.TOMBSTONE))),
        (f"{_FAST} IS NULL", str(int(Reason.NOT_UTF8))),
        (" OR ".join(odd), str(int(Reason.MALFORMED_JSON))),
        (f"NOT {json_document.is_one_map('fields')}", no_object),
        *(each.repetition(json_document.map_of("fields")) for each in columns),
    ]
    return sql.first_of(cases, "0")


def _checked(columns: list[JsonColumn]) -> str:
    """The values of the columns, and the row's first fault."""
    faults, named = [("row.text_fault != 0", "row.text_fault")], []
    for each in columns:
        value = each.slow_value(f"row.{each.own}")
        faults += each.slow_faults(value)
        named.append(f"'{each.own}', {value.value}")
    fault = f"'fault', {sql.first_of(faults, '0')}"
    return _struct(["'text_fault', row.text_fault", fault, *named])


def _with_raw(text: str, columns: list[JsonColumn]) -> str:
    """An object is shown as it was read, any other text as a JSON string."""
    shown = f"if(row.text_fault != 0, {json_string('shown')}, shown)"
    raw = f"if(row.fault != 0, {sql.let('shown', raw_json(text), shown)}, NULL)"
    named = (f"'{each.own}', row.{each.own}" for each in columns)
    return _struct(["'fault', row.fault", f"'raw', {raw}", *named])


def _results(columns: list[JsonColumn]) -> Iterator[str]:
    """The columns, FAULT and RAW."""
    for each in columns:
        value = f"if({_SLOW} IS NULL, {each.fast_value()}, {_SLOW}.{each.own})"
        yield sql.named(value, each.name)
    yield f"coalesce({_SLOW}.fault, 0) AS {FAULT}"
    yield f"{_SLOW}.raw AS {RAW}"


def _struct(fields: list[str]) -> str:
    return f"named_struct({', '.join(fields)})"
