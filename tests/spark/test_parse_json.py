"""Spark parses JSON as the reader of one process does."""

import io
import json
import math
from decimal import Decimal

import pyarrow as pa
import pytest

from runtime.io.json_lines import JsonReader
from runtime.io.reader import ReadRequest
from runtime.pipeline.event_contract import EventContract, Reason
from runtime.types.attribute_kinds import AttributeKind
from runtime.types.schema import Schema
from spark.json_lines import random_lines
from spark_ingest.pipeline.columns import FAULT, RAW
from spark_ingest.pipeline.parse_json import parse_json, raw_json, without_blank_lines

NUMBER, TEXT = AttributeKind.NUMBER, AttributeKind.TEXT

TYPED = pa.schema(
    [
        ("time", pa.int64()),
        ("type", pa.string()),
        ("v", pa.float64()),
        ("k", pa.string()),
        ("b", pa.bool_()),
        ("nothing", pa.null()),
    ]
)
TIMES = pa.schema(
    [
        ("time", pa.timestamp("us", "UTC")),
        ("type", pa.string()),
        ("at", pa.timestamp("us")),
        ("day", pa.date32()),
        ("v", pa.uint64()),
    ]
)
ODD = pa.schema(
    [
        ("time", pa.string()),
        ("type", pa.string()),
        ("é", pa.float64()),
        ('a"b', pa.int64()),
        ("a\\b", pa.string()),
        ("sl/a.sh`", pa.string()),
        ("V", pa.float32()),
        ("v", pa.int32()),
        (" ~", pa.string()),
    ]
)
# A session's settings must not matter.
CASES = [
    (TYPED, {"k": TEXT, "v": NUMBER}, {}, "UTC", False),
    (TIMES, {}, {}, "America/St_Johns", True),
    (ODD, {"a\\b": TEXT}, {"é": pa.float64()}, "Asia/Kathmandu", False),
]


@pytest.mark.parametrize(("target", "uses", "declared", "zone", "ansi"), CASES)
def test_random_lines_are_read_as_in_one_process(local_spark, target, uses, declared, zone, ansi):
    needs = ReadRequest(uses=uses, declared=Schema(declared))
    lines = list(random_lines(7, 1000, kinds_of(target)))
    local_spark.conf.set("spark.sql.session.timeZone", zone)
    local_spark.conf.set("spark.sql.ansi.enabled", ansi)
    try:
        found = parsed_by_spark(local_spark, lines, needs.contract(target))
    finally:
        local_spark.conf.unset("spark.sql.ansi.enabled")
    expected = parsed_here(lines, target, needs)
    assert len(found) == len(expected) > 900
    assert len({each[0] for each in expected}) > 10  # reasons
    assert sum(not each[0] for each in expected) > 300  # valid rows
    for line, one, other in zip(filter(bytes.strip, lines), found, expected, strict=True):
        assert one == other, line


def kinds_of(schema):
    kinds = {"float64": "number", "float": "number", "string": "text", "null": "text"}
    kinds |= {"bool": "boolean", "date32[day]": "day", "timestamp[us]": "time"}
    kinds["timestamp[us, tz=UTC]"] = "time"
    return {each.name: kinds.get(str(each.type), "whole") for each in schema}


def parsed_by_spark(session, lines, contract):
    """For each row: the reason, the raw text, and the values of a valid row."""
    rows = [(i, None if line is None else bytearray(line)) for i, line in enumerate(lines)]
    frame = without_blank_lines(session.createDataFrame(rows, "__row INT, value BINARY"))
    parsed = parse_json(frame, contract)
    columns = [_collected(place, each) for place, each in enumerate(contract.columns)]
    found = parsed.selectExpr("__row", FAULT, RAW, *columns).collect()
    return [
        (contract.text(row[1]) if row[1] else "", row[2], [] if row[1] else [*map(_plain, row[3:])])
        for row in sorted(found)
    ]


def _collected(place, column):
    name = "`" + column.name.replace("`", "``") + "`"
    if pa.types.is_timestamp(column.type):
        name = f"unix_micros({name})"
    elif pa.types.is_date(column.type):
        name = f"unix_date({name})"
    return f"{name} AS c{place}"


def parsed_here(lines, target, needs):
    """Each line by itself, so that Arrow reads the valid ones."""
    contract = needs.contract(target)
    found = []
    for line in filter(bytes.strip, lines):
        reader = JsonReader("x", needs, io.BytesIO(b"\n" + line))
        (block,) = reader.blocks(target)
        if block.dead.num_rows:
            (dead,) = block.dead.to_pylist()
            found.append((dead["reason"], dead["event"], []))
        else:
            columns = [block.batch.column(name) for name in contract.columns.names]
            found.append(("", None, [_here(column)[0] for column in columns]))
    return found


def _here(column):
    if pa.types.is_timestamp(column.type):
        column = column.cast(pa.int64())
    elif pa.types.is_date(column.type):
        column = column.cast(pa.int32())
    return [_plain(value) for value in column.to_pylist()]


def _plain(value):
    if isinstance(value, Decimal):
        return int(value)
    return None if isinstance(value, float) and math.isnan(value) else value


SMALL = EventContract(pa.schema([("time", pa.int64()), ("type", pa.string())]))


REASONS = {
    b'{"time":1,"type":"A"}': (Reason.VALID, ""),
    b'{"time":1.0,"type":7}': (Reason.VALID, ""),  # a whole number, and a type that is a number
    b'{"time":NaN,\n"type":null}': (Reason.VALID, ""),
    b"\xff{}": (Reason.NOT_UTF8, "the row is not UTF-8"),
    b"{": (Reason.MALFORMED_JSON, "malformed JSON"),
    b" \n": (Reason.MALFORMED_JSON, "malformed JSON"),
    b'{"time":1} {"time":2}': (Reason.MALFORMED_JSON, "malformed JSON"),
    b'{"time":1},{"time":2}': (Reason.MALFORMED_JSON, "malformed JSON"),
    b'{"time":1}],"x":[{}': (Reason.MALFORMED_JSON, "malformed JSON"),
    b'{"type":"\\ud83d"}': (Reason.MALFORMED_JSON, "malformed JSON"),
    b'{"other":INF}': (Reason.MALFORMED_JSON, "malformed JSON"),
    b"[1]": (Reason.NOT_AN_OBJECT, "malformed JSON: not an object"),
    b" null": (Reason.NOT_AN_OBJECT, "malformed JSON: not an object"),
    b'{"time":1,"t\\u0069me":1}': (
        Reason.REPEATED_KEY,
        "malformed JSON: more than one `time`",
    ),
    b'{"type":"A","time":2.5}': (Reason.WRONG_TYPE, "`time` is not a whole number"),
    b'{"time":"1"}': (Reason.WRONG_TYPE, "`time` is not a whole number"),
    b'{"time":9223372036854775808}': (
        Reason.OUT_OF_RANGE,
        "`time` is beyond a 64-bit integer",
    ),
    b'{"type":{"type":"A"}}': (Reason.WRONG_TYPE, "`type` is not text"),
    b'{"type":0.5}': (Reason.WRONG_TYPE, "`type` is not text"),
    None: (Reason.TOMBSTONE, "the value is null (a tombstone)"),
}
#: In a file, a blank line is no row, and a line ends at a line break.
LINES = [each for each in REASONS if each is not None and b"\n" not in each]


@pytest.mark.parametrize("line", LINES)
def test_reasons_in_one_process(line):
    declared = Schema({field.name: field.type for field in SMALL.columns})
    ((reason, _, _),) = parsed_here([line], SMALL.columns, ReadRequest(declared=declared))
    assert reason == REASONS[line][1]


def test_reasons(local_spark):
    frame = local_spark.createDataFrame(
        [(i, None if each is None else bytearray(each)) for i, each in enumerate(REASONS)],
        "__row INT, value BINARY",
    )
    rows = sorted(parse_json(frame, SMALL).select("__row", FAULT, RAW).collect())
    found = [(fault % 256, SMALL.text(fault) if fault else "") for _, fault, _ in rows]
    assert found == list(REASONS.values())
    raws = dict(zip(REASONS, (raw for _, _, raw in rows), strict=True))
    assert raws[b'{"time":1,"type":"A"}'] is None
    assert raws[b'{"time":"1"}'] == '{"time":"1"}'
    assert json.loads(raws[b"\xff{}"]) == "\\xff{}"
    assert raws[None] == "null"


def test_numbers_of_any_length_and_lines_of_any_characters(local_spark):
    long = b"1" * 100_000
    deep = b'{"time":1,"x":' + b"[" * 900 + b"]" * 900 + b"}"
    escapes = b'{"time":2,"type":"A","x":"' + b'\\\\\\"' * 50_000 + b'"}'
    lines = [b'{"x":' + long + b"}", b'{"x":0.' + long + b"}", deep, escapes, b"\xff" * 20_000]
    lines.append(b'{"time":1,"x":"' + b"\\n" * 50_000 + b'",}')
    needs = ReadRequest(uses={})
    found = parsed_by_spark(local_spark, lines, needs.contract(SMALL.columns))
    assert found == parsed_here(lines, SMALL.columns, needs)


def test_the_raw_text_and_other_columns_stay(local_spark):
    frame = local_spark.createDataFrame([(7, ' {"time":1} ')], "offset INT, line STRING")
    parsed = parse_json(frame, SMALL, "line")
    assert parsed.columns == ["offset", "line", "time", "type", FAULT, RAW]
    assert parsed.selectExpr("offset", raw_json("line")).collect() == [(7, '{"time":1}')]


def test_blank_lines(local_spark):
    values = ["", " \t\r\x0b\x0c", "\u00a0", None, "{}"]
    frame = local_spark.createDataFrame([(each,) for each in values], "value STRING")
    assert [row[0] for row in without_blank_lines(frame).collect()] == values[2:]


def test_without_columns_values_are_not_looked_at(local_spark):
    frame = local_spark.createDataFrame([("x",)], "value STRING")
    nothing = EventContract(pa.schema([]))
    assert [tuple(row) for row in parse_json(frame, nothing).collect()] == [("x", 0, None)]


def test_a_column_of_the_lines_named_as_an_attribute_is_refused(local_spark):
    frame = local_spark.createDataFrame([("{}",)], "type STRING")
    with pytest.raises(ValueError, match="type"):
        parse_json(frame, SMALL, "type")


def test_no_python_runs(local_spark):
    frame = local_spark.createDataFrame([('{"time":1}',)], "value STRING")
    plan = parse_json(frame, SMALL)._jdf.queryExecution().executedPlan().toString()
    assert "Python" not in plan
    assert "BatchEval" not in plan
