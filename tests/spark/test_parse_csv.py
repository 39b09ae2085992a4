"""Spark parses CSV as the local engine does: the same values, faults, rows and dead letters."""

import io
import json
import random

import pyarrow as pa
import pytest

from runtime.io.csv_header import header_of
from runtime.io.read import open_input
from runtime.pipeline.event_contract import EventContract, Reason
from runtime.types.attribute_kinds import AttributeKind
from runtime.types.schema import Schema
from spark_ingest.pipeline.columns import FAULT, RAW, ROW
from spark_ingest.pipeline.parse_csv import LINE, parse_csv, parse_csv_whole
from spark_ingest.pipeline.text_lines import without_blank_lines

ZONES = ["UTC", "America/St_Johns", "Asia/Kathmandu"]
HEADER = ["time", "type", "whole", "number", "yes", 'odd `na"me']
HEADER_LINE = 'time,type,whole,number,yes,"odd `na""me"'
USES = [name for name in HEADER if name not in ("time", "type")]
SCHEMAS = [
    {"time": pa.string(), "whole": pa.int64(), "number": pa.float64(), "yes": pa.bool_()},
    {"time": pa.int64(), "whole": pa.uint64(), "number": pa.string(), "yes": pa.string()},
    {"time": pa.timestamp("us", "UTC"), "whole": pa.float64(), "number": pa.int64()},
]
PLAIN = [
    *("", " ", "1", " 2\t", "+3", "-4", "1.5", "1e3", ".5", "1d", "0x10", "007", "nan", "-inf"),
    *("9223372036854775807", "9223372036854775808", "18446744073709551616", "true", "FALSE", "yes"),
    *("2026-03-01", "2026-03-01T12:00:00Z", "2026-02-30T00:00:00", "2026-03-01 12:00+01:00"),
    *("x", '5" disk', 'a"', "é", "日本語", "😀", "\\", "\\n", "\t", "\0", "\x1f", "\x7f", "null"),
]
QUOTED = ["", "a,b", 'say ""so""', '""', ",", '"",', "1", "2026-03-01T12:00:00Z", "é", " x "]
BROKEN = [b'"a"b', b'"a""', b'""x', b"\xff", b"\xc3", b'"\xe9"', b"\xed\xa0\x80", b"\xf0\x9f\x98"]


def any_lines(seed: int, number: int, broken: list[bytes]) -> list[bytes]:
    chosen = random.Random(seed)

    def field() -> bytes:
        if chosen.random() < 0.2:
            return b'"%s"' % chosen.choice(QUOTED).encode()
        return chosen.choice(PLAIN).encode()

    def line() -> bytes:
        fields = [field() for _ in HEADER]
        kind = chosen.random()
        if kind < 0.1:
            fields[chosen.randrange(len(HEADER))] = chosen.choice(broken)
        elif kind < 0.2:
            fields = [field() for _ in range(chosen.randrange(1, 9))]
        elif kind < 0.5:  # a valid row, in most schemas
            time = chosen.choice([b"2026-03-01T12:00:00Z", b"1"])
            fields = [time, b"A", b"1", b"2", b"true", field()]
        return b",".join(fields)

    return [line() for _ in range(number)]


def contract_of(types: dict[str, pa.DataType]) -> EventContract:
    names = ["time", "type", *USES, "missing"]
    return EventContract(pa.schema([(name, types.get(name, pa.string())) for name in names]))


def parsed_locally(text: bytes, contract: EventContract, multiline: bool = False) -> dict:
    """Each row by its number: its values, or the reason and the event of its dead letter."""
    declared = Schema({f.name: f.type for f in contract.columns if f.name in HEADER})
    uses = dict.fromkeys(USES, AttributeKind.ANY)
    found = {}
    with open_input(
        "-",
        stdin=io.BytesIO(text),
        format="csv",
        uses=uses,
        declared=declared,
        multiline=multiline,
    ) as source:
        for block in source:
            for row, values in zip(block.rows.tolist(), block.batch.to_pylist(), strict=True):
                found[row] = printed({**values, "missing": None})
            for dead in block.dead.to_pylist():
                found[dead["row"]] = dead["reason"], dead["event"]
    return found


def parsed_by_spark(frame, contract: EventContract) -> dict:
    found = {}
    for row in collected(frame, contract):
        if row[FAULT]:
            found[row[ROW]] = contract.text(row[FAULT], len(HEADER)), row[RAW]
        else:
            assert row[RAW] is None
            found[row[ROW]] = printed({name: row[name] for name in contract.columns.names})
    return found


def collected(frame, contract: EventContract) -> list[dict]:
    """The rows, in the contract's types; Spark has fewer. The lines themselves may not be UTF-8."""
    rows = pa.Table.from_batches(frame.drop("value")._collect_as_arrow())
    wanted = {field.name: field.type for field in contract.columns}
    types = pa.schema([(field.name, wanted.get(field.name, field.type)) for field in rows.schema])
    return rows.cast(types).to_pylist()


def printed(values: dict) -> dict:
    return {name: repr(value) for name, value in sorted(values.items())}


def frame_of(spark, lines: list[bytes]):
    rows = [(number, bytearray(line)) for number, line in enumerate(lines)]
    frame = spark.createDataFrame(rows, f"{ROW} BIGINT, bytes BINARY")
    return frame.selectExpr(ROW, "CAST(bytes AS STRING) AS value")


@pytest.mark.parametrize("schema", range(len(SCHEMAS)))
@pytest.mark.parametrize("zone", ZONES)
def test_random_lines_are_parsed_as_locally(local_spark, schema, zone):
    """A time without a zone is UTC, whatever the zone of Spark's session."""
    local_spark.conf.set("spark.sql.session.timeZone", zone)
    contract = contract_of(SCHEMAS[schema])
    lines = any_lines(schema, 2_500, [broken for broken in BROKEN if broken != b'"a""'])
    lines = [line for line in lines if line]
    wanted = parsed_locally(b"\n".join([HEADER_LINE.encode(), *lines]), contract)
    found = parsed_by_spark(parse_csv(frame_of(local_spark, lines), HEADER, contract), contract)
    assert sorted(found) == sorted(wanted) == list(range(len(lines)))
    for row, line in enumerate(lines):
        assert found[row] == wanted[row], line
    reasons = {of[0][:16] for of in wanted.values() if isinstance(of, tuple)}
    assert len(reasons) >= 6, "the lines have few faults"
    assert sum(isinstance(of, dict) for of in wanted.values()) > 200


TYPED = contract_of(SCHEMAS[0])
FAULTS = {
    b'1,A,1,2,true,"x': Reason.OPEN_QUOTE.fault(),
    b'1,"A""': Reason.OPEN_QUOTE.fault(),
    b'\xff,"A': Reason.OPEN_QUOTE.fault(),  # it is about the file
    b'1,"A"b,"c': Reason.MISQUOTED.fault(),
    b'1,"A" ,1,2,true,x': Reason.MISQUOTED.fault(),
    b'\xff,"A"b': Reason.NOT_UTF8.fault(),
    b"\xff": Reason.NOT_UTF8.fault(),
    b"1,A": Reason.FIELD_COUNT.fault(2),
    b",,,,,,": Reason.FIELD_COUNT.fault(7),
    b"1,A,x,y,z,": TYPED.fault(Reason.WRONG_TYPE, "number"),  # the first by name
    b"1,A,1.5,2,true,": TYPED.fault(Reason.WRONG_TYPE, "whole"),
    b"1,A,9223372036854775808,2,true,": TYPED.fault(Reason.OUT_OF_RANGE, "whole"),
    b"1,A,,,2,": TYPED.fault(Reason.WRONG_TYPE, "yes"),
    b",,,,,": Reason.VALID,
    b'"","","1","2","1",""': Reason.VALID,
}


@pytest.mark.parametrize("line", FAULTS)
def test_each_fault_is_found_locally(line):
    found = parsed_locally(HEADER_LINE.encode() + b"\n" + line, TYPED, multiline=True)[0]
    reason = found[0] if isinstance(found, tuple) else ""
    assert reason == (TYPED.text(FAULTS[line], len(HEADER)) if FAULTS[line] else "")


def test_each_fault_and_the_order_of_faults(local_spark):
    frame = parse_csv(frame_of(local_spark, list(FAULTS)), HEADER, TYPED)
    rows = sorted(frame.collect(), key=lambda row: row[ROW])
    assert [row[FAULT] for row in rows] == list(FAULTS.values())
    assert [row["value"] for row in rows][7:] == [line.decode() for line in list(FAULTS)[7:]]
    assert json.loads(rows[4][RAW]) == '1,"A" ,1,2,true,x'
    assert json.loads(rows[9][RAW])['odd `na"me'] is None
    assert (rows[13]["type"], rows[14]["type"]) == (None, "")


def test_long_lines_do_not_exhaust_the_stack(local_spark):
    many = ["f"] * 2_500 + ['"' + 'q""' * 330_000 + '"'] + ['"z"'] * 2_499
    lines = [",".join(many).encode(), ",".join([*many, '"z"y']).encode()]
    lines += [lines[0][:-1], b"," * 1_000_000]
    header = [f"c{place}" for place in range(5_000)]
    contract = EventContract(pa.schema([("c2500", pa.string()), ("c4999", pa.string())]))
    frame = parse_csv(frame_of(local_spark, lines), header, contract).drop("value", RAW)
    rows = sorted(frame.collect(), key=lambda row: row[ROW])
    faults = [0, Reason.MISQUOTED, Reason.OPEN_QUOTE, Reason.FIELD_COUNT.fault(1_000_001)]
    assert [row[FAULT] for row in rows] == faults
    assert (rows[0]["c2500"], rows[0]["c4999"]) == ('q"' * 330_000, "z")


def test_blank_lines_are_left_out(local_spark):
    frame = without_blank_lines(frame_of(local_spark, [b"", b"a", b" ", b"", b","]))
    assert [row["value"] for row in frame.collect()] == ["a", " ", ","]


def test_files_as_spark_reads_them(local_spark, tmp_path):
    """Line ends, and how many lines come before the rows."""
    path = tmp_path / "a.csv"
    path.write_bytes(b'\xef\xbb\xbf\n\r"time",type\r\n1,"A"\r2,\xff\n\r\n3,"B,"')
    header = header_of(path)
    lines = local_spark.read.text(str(path)).collect()[header.lines :]
    assert [row["value"] for row in lines if row["value"]][::2] == ['1,"A"', '3,"B,"']


def test_whole_files_may_have_line_breaks_in_quotes(local_spark, tmp_path):
    broken = [b'"a\nb"', b'"\r\n"', b'"a"b', b'"a\n"b', b'"\xff\n"', b'"\n,""x"""']
    lines = any_lines(4, 300, broken)
    contract = contract_of(SCHEMAS[0])
    tails = {"1": b"\r\n", "2": b'\n1,"open\n\n1,A,1,1,true,x\n', "3": b'\n"', "4": b",,,,,"}
    wanted = {}
    for name, tail in tails.items():
        text = b"\xef\xbb\xbf\n\n" + HEADER_LINE.encode() + b"\r\r\n" + b"\n".join(lines) + tail
        (tmp_path / name).write_bytes(text)
        wanted |= {(name, row): of for row, of in parsed_locally(text, contract, True).items()}
    files = local_spark.read.format("binaryFile").load(str(tmp_path)).select("path", "content")
    found = {}
    # The text of a row need not be UTF-8, so it is not collected.
    rows = collected(parse_csv_whole(files, HEADER, contract).drop(LINE), contract)
    for row in rows:
        key = row["path"][-1], row[ROW]
        if row[FAULT]:
            found[key] = contract.text(row[FAULT], len(HEADER)), row[RAW]
        else:
            assert row[RAW] is None
            found[key] = printed({name: row[name] for name in contract.columns.names})
    assert found == wanted
    assert ("a quote is not closed before the end", '"\\""') in found.values()
