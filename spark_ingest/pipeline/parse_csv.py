"""Parses CSV: from lines of text to the columns of the contract, by the grammar of both engines."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

import pyarrow as pa
import pyarrow.types as pt
from pyspark.sql import DataFrame

from runtime.io.csv_grammar import FIELD, NEXT_RECORD, OPEN_RECORD
from runtime.io.formats import BOM
from runtime.pipeline.event_contract import EventContract, Reason
from spark_ingest.pipeline import sql
from spark_ingest.pipeline.columns import FAULT, RAW, ROW
from spark_ingest.pipeline.line_text import is_utf8, json_string, readable
from spark_ingest.pipeline.text_values import TextValue, text_value

#: The column with the text of each row of a whole file.
LINE = "__line"
_FIELDS = "__fields"
_BYTES = "ISO-8859-1"
_OPEN = r"\A" + OPEN_RECORD
# More fields do not fit into the number of a fault.
_MOST_FIELDS = 2**23 - 1


def parse_csv(
    lines: DataFrame, header: Sequence[str], contract: EventContract, value: str = "value"
) -> DataFrame:
    """Adds the columns of the contract, FAULT and RAW to lines without header and blank lines. The
    column `value` has a line each, and no column of the contract has its name.

    A fault of the text is found before those of columns, and of these an open quote before all
    others: it means that the file has quoted line breaks, so its other lines are no rows, either.
    """
    line = sql.name(value)
    fields = lines.selectExpr("*", sql.named(_fields(line), _FIELDS))
    texts = {name: f"__text {place}" for place, name in enumerate(contract.columns.names)}
    as_text = fields.selectExpr(
        *map(sql.name, lines.columns),
        sql.named(_text_fault(line, sql.name(_FIELDS), len(header)), FAULT),
        *(sql.named(_text_of(name, header), text) for name, text in texts.items()),
    )
    values = {
        name: _typed(sql.name(text), contract.columns.field(name).type)
        for name, text in texts.items()
    }
    typed = as_text.selectExpr(
        *map(sql.name, lines.columns),
        *(sql.named(each.value, name) for name, each in values.items()),
        sql.named(_fault(values, contract), FAULT),
    )
    raw = f"if({FAULT} = 0, NULL, {raw_csv(header, line)})"
    return typed.selectExpr("*", sql.named(raw, RAW))


def parse_csv_whole(
    files: DataFrame, header: Sequence[str], contract: EventContract, content: str = "content"
) -> DataFrame:
    """As `parse_csv`, for the whole `content` of files, whose quoted values may have line breaks.
    Adds ROW and LINE; the other columns are repeated for each row."""
    # A character for each byte: a pattern would replace those that are not UTF-8.
    text = f"decode(CAST({sql.name(content)} AS BINARY), '{_BYTES}')"
    bom = sql.text(BOM.decode(_BYTES))
    text = f"if(startswith({text}, {bom}), substring({text}, {len(BOM) + 1}), {text})"
    records = f"array_remove(regexp_extract_all({text}, {sql.text(NEXT_RECORD)}, 0), '')"
    others = [sql.name(name) for name in files.columns if name != content]
    rows = files.selectExpr(*others, f"posexplode({records}) AS (__record, __text)")
    lines = rows.where("__record > 0").selectExpr(
        *others,
        sql.named("CAST(__record - 1 AS BIGINT)", ROW),
        sql.named(f"CAST(encode(__text, '{_BYTES}') AS STRING)", LINE),
    )
    return parse_csv(lines, header, contract, LINE)


def raw_csv(header: Sequence[str], value: str) -> str:
    """SQL of a row as it was read, for its dead letter: an object of its fields, or its text if it
    has no such fields. `value` is SQL of its line."""
    names = ", ".join(sql.text(json.dumps(name, ensure_ascii=False) + ": ") for name in header)
    text = "if(startswith(field, '\"'), {}, if(field = '', 'null', {}))"
    text = text.format(json_string(_unquoted("field")), json_string("field"))
    pairs = f"zip_with(array({names}), fields, (name, field) -> concat(name, {text}))"
    whole = f"concat('{{', array_join({pairs}, ', '), '}}')"
    fits = f"NOT {_is_misquoted('line', 'fields')} AND size(fields) = {len(header)}"
    row = f"if({fits}, {whole}, {json_string('line')})"
    return sql.let("line", readable(value), sql.let("fields", _fields("line"), row))


def _fields(line: str) -> str:
    """The fields of a line as they are written: all, if its quotes are right. They are UTF-8."""
    quoted = f"regexp_extract_all(concat(',', {line}), {sql.text(f',({FIELD})')}, 1)"
    return f"if(contains({line}, '\"'), {quoted}, split({line}, ',', -1))"


def _is_misquoted(line: str, fields: str) -> str:
    """Whether fields and commas do not add up to the line."""
    complete = f"octet_length(array_join({fields}, ',')) = octet_length({line})"
    return f"(contains({line}, '\"') AND NOT ({complete}))"


def _text_fault(line: str, fields: str, expected: int) -> str:
    misquoted = _is_misquoted(line, fields)
    is_open = f"{line} RLIKE {sql.text(_OPEN)}"
    counted = f"{Reason.FIELD_COUNT.fault()} + 256 * least(size({fields}), {_MOST_FIELDS})"
    return sql.first_of(
        [
            (f"{misquoted} AND {is_open}", str(Reason.OPEN_QUOTE.fault())),
            (f"NOT {is_utf8(line)}", str(Reason.NOT_UTF8.fault())),
            (misquoted, str(Reason.MISQUOTED.fault())),
            (f"size({fields}) <> {expected}", counted),
        ],
        "0",
    )


def _text_of(name: str, header: Sequence[str]) -> str:
    """The text of a column: null if its field is empty without quotes, or not in the header."""
    if name not in header:
        return "CAST(NULL AS STRING)"
    field = f"get({_FIELDS}, {list(header).index(name)})"
    return f"if(startswith({field}, '\"'), {_unquoted(field)}, nullif({field}, ''))"


def _unquoted(field: str) -> str:
    inside = f"substring({field}, 2, length({field}) - 2)"
    return f"if(contains({inside}, '\"'), replace({inside}, '\"\"', '\"'), {inside})"


def _typed(text: str, target: pa.DataType) -> TextValue:
    return TextValue("CAST(NULL AS STRING)") if pt.is_null(target) else text_value(text, target)


def _fault(values: dict[str, TextValue], contract: EventContract) -> str:
    fault = sql.first_of([(f"{FAULT} <> 0", FAULT), *_column_faults(values, contract)], "0")
    return f"CAST({fault} AS INT)"


def _column_faults(
    values: dict[str, TextValue], contract: EventContract
) -> Iterator[tuple[str, str]]:
    for name, value in values.items():
        for condition, reason in (
            (value.wrong, Reason.WRONG_TYPE),
            (value.beyond, Reason.OUT_OF_RANGE),
        ):
            yield condition, str(contract.fault(reason, name))
