"""The pipeline on Spark and the extractor of one process find the same events and faults."""

import random
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from runtime.io.reader import ReadRequest
from runtime.language.parser import parse
from runtime.pipeline.block import RowBlock
from runtime.pipeline.bound_workload import BoundWorkload
from runtime.pipeline.dead_letter import no_dead
from runtime.pipeline.event_block import FAULT, CheckedBlock, Origin, blocks_of
from runtime.pipeline.event_contract import Reason, late_reasons
from runtime.pipeline.event_extractor import BlockStats
from runtime.pipeline.reorder_buffer import split_late
from runtime.pipeline.routing_table import InputFormat
from runtime.types.columns import PANE, times_of
from spark_ingest.pipeline.event_pipeline import EventPipeline
from spark_ingest.pipeline.parsed_rows import ParsedRows
from spark_ingest.sources.spark_types import read_types, spark_schema

ZONES = ("UTC", "America/New_York", "Asia/Kolkata")
ROWS = 60

#: The rows and reasons of dead letters.
Letters = list[tuple[int, str]]
WORKLOAD = parse(
    """
    QUERY one RETURN key, COUNT(*), SUM(B.number) PATTERN SEQ(A, B+)
    WHERE [other] AND B.flag = TRUE GROUP-BY key WITHIN 10 seconds SLIDE 4 seconds
    QUERY two RETURN COUNT(*) PATTERN SEQ(A, B+) WHERE [key] WITHIN 6 seconds
    """
)
TIMES = {
    "seconds": (pa.int64(), "s"),
    "narrow": (pa.int32(), "s"),
    "unsigned": (pa.uint64(), "ms"),
    "micros": (pa.int64(), "us"),
    "nanos": (pa.int64(), "ns"),
    "stamp": (pa.timestamp("us"), None),
    "zoned": (pa.timestamp("ms", "Europe/Berlin"), None),
    "fine": (pa.timestamp("ns", "UTC"), None),
    "date": (pa.date32(), None),
    "text": (pa.string(), "s"),
}
KEYS = {
    "int8": pa.int8(),
    "uint64": pa.uint64(),
    "float32": pa.float32(),
    "decimal": pa.decimal128(12, 3),
    "money": pa.decimal128(18, 2),
    "long decimal": pa.decimal128(38, 18),
    "text": pa.string(),
    "words": pa.dictionary(pa.int32(), pa.string()),
    "bytes": pa.binary(),
    "bool": pa.bool_(),
    "date": pa.date32(),
    "stamp": pa.timestamp("us"),
    "fine": pa.timestamp("ns"),
    "zoned": pa.timestamp("ms", "UTC"),
    "duration": pa.duration("ms"),
    "nothing": pa.null(),
}


def times(data_type: pa.DataType, chance: random.Random) -> pa.Array:
    if pa.types.is_string(data_type):
        some = ["1970-01-01T00:00:05.25Z", "1970-01-01 00:00:09", "x", "", "1970-01-01T01:00:07+01"]
        return pa.array([chance.choice([None, "7", *some]) for _ in range(ROWS)])
    # Spark multiplies milliseconds as it reads them.
    coarse = data_type.bit_width < 64 or data_type == pa.timestamp("ms", "Europe/Berlin")
    far = [] if coarse else [2**62, 2**63 - 1]
    if not pa.types.is_unsigned_integer(data_type):
        far += [-5] if coarse else [-5, -(2**62)]
    values = [chance.choice([None, *far, *[chance.randrange(10**5) for _ in range(20)]])]
    values += [chance.choice([None, *far, *range(10**5)[:2000:7]]) for _ in range(ROWS - 1)]
    numbers = pa.array(values, pa.uint64() if pa.types.is_uint64(data_type) else pa.int64())
    if pa.types.is_date(data_type):
        return numbers.cast(pa.int32()).cast(data_type)
    return numbers.cast(data_type)


def keys(data_type: pa.DataType, chance: random.Random) -> pa.Array:
    values = pa.array([chance.choice([None, 0, 1, 2, 3]) for _ in range(ROWS)])
    if pa.types.is_null(data_type):
        return pa.nulls(ROWS)
    if pa.types.is_dictionary(data_type):
        return values.cast(pa.string()).dictionary_encode()
    if pa.types.is_decimal(data_type):
        return near_the_middle_of_doubles(values, data_type)
    for step in (pa.int64(), pa.int32(), pa.string()):
        try:
            return values.cast(step).cast(data_type)
        except (pa.ArrowNotImplementedError, pa.ArrowInvalid):
            continue
    raise AssertionError(data_type)


def near_the_middle_of_doubles(values: pa.Array, wanted: pa.Decimal128Type) -> pa.Array:
    """As money, 9987887020180089.00 and more: the first is in the middle of two doubles."""
    first = 998788702018008900 % 10**wanted.precision
    digits = [None if each is None else first + each for each in values.to_pylist()]
    return pa.array(digits, pa.decimal128(wanted.precision, 0)).view(wanted)


def table(time: pa.DataType, key: pa.DataType, seed: int) -> pa.Table:
    chance = random.Random(seed)
    numbers = [None, float("nan"), float("inf"), -float("inf"), -0.0, 1.5]
    return pa.table(
        {
            "time": times(time, chance),
            "type": pa.array([chance.choice(["A", "B", "B", "C", None]) for _ in range(ROWS)]),
            "key": keys(key, chance),
            "other": pa.array([chance.choice([None, "x", "y"]) for _ in range(ROWS)]),
            "number": pa.array([chance.choice(numbers) for _ in range(ROWS)]),
            "flag": pa.array([chance.choice([None, True, False]) for _ in range(ROWS)]),
        }
    )


def cases() -> Iterator[tuple[str, str]]:
    for time in TIMES:
        yield time, "text"
    for key in KEYS:
        yield "seconds", key


@pytest.mark.parametrize("zone", ZONES)
@pytest.mark.parametrize(("time", "key"), [*cases()])
def test_equals_the_extractor(local_spark, tmp_path, time, key, zone):
    if zone != "UTC" and time != "text" and not {time, key} & {"stamp", "zoned", "date"}:
        return
    local_spark.conf.set("spark.sql.session.timeZone", zone)
    data_type, unit = TIMES[time]
    rows = table(data_type, KEYS[key], seed=hash_of(time + key))
    clock = pa.timestamp("us", "UTC") if time == "text" else None
    bound = BoundWorkload(WORKLOAD, InputFormat("time", "type", unit, rows.schema, clock), "float")
    watermark = int(np.median(times_of(extracted(bound, rows, None)[0])))
    routing = bound.routing(4, 2)
    block = exported(local_spark, bound, rows, watermark, tmp_path / "rows.parquet")
    wanted, late, stats = extracted(bound, rows, watermark)
    assert wanted.num_rows
    assert stats.dead
    assert late
    events = block.in_time().events(routing.event_schema)
    assert events.drop_columns([PANE]).to_pydict() == wanted.to_pydict()
    assert letters(block.dead()) == letters(pa.concat_tables(stats.dead))
    assert letters(block.late(watermark)) == late
    assert block.finer() == stats.truncated
    assert events[PANE].to_pylist() == [t // routing.pane for t in wanted["__time__"].to_pylist()]
    for route in range(len(routing.routes)):
        by_key: dict[object, set[int]] = {}
        chosen = [wanted[name].to_pylist() for name in routing.routes[route].attributes]
        shards = block.in_time().shards(route)
        assert shards is not None
        for place, values in enumerate(zip(*chosen, strict=True)):
            by_key.setdefault(values, set()).add(int(shards[place]))
        assert all(len(each) == 1 for each in by_key.values())


#: A time, a type and a number. The columns of times are of whole seconds, or of text.
REASONS = {
    Reason.VALID: (9, "A", 1.0),
    Reason.NO_TIME: (None, "A", 1.0),
    Reason.TIME_OUT_OF_RANGE: (2**62, "A", 1.0),
    Reason.INVALID_TIME: ("nine", "A", 1.0),
    Reason.NO_TYPE: (9, None, 1.0),
    Reason.INFINITE: (9, "A", -float("inf")),
    Reason.LATE: (1, "A", 1.0),
}
DEAD = REASONS.keys() - {Reason.VALID, Reason.LATE}


@pytest.mark.parametrize("text", [False, True])
def test_each_reason_of_an_event(local_spark, tmp_path, text):
    missing = Reason.TIME_OUT_OF_RANGE if text else Reason.INVALID_TIME
    reasons = [each for each in REASONS if each is not missing]
    times, types, numbers = zip(*(REASONS[each] for each in reasons), strict=True)
    time_type, clock = (pa.string(), pa.int64()) if text else (pa.int64(), None)
    given = [str(each) if text and each is not None else each for each in times]
    events = {"time": pa.array(given, time_type), "type": types, "number": numbers}
    others = {"key": ["x"] * len(types), "other": ["x"] * len(types), "flag": [True] * len(types)}
    rows = pa.table(events | others)
    bound = BoundWorkload(WORKLOAD, InputFormat("time", "type", "s", rows.schema, clock), "float")
    watermark = 5_000_000
    block = exported(local_spark, bound, rows, watermark, tmp_path / "rows.parquet")
    assert [fault % 256 for fault in block.batch.column(FAULT).to_pylist()] == reasons
    _, late, stats = extracted(bound, rows, watermark)
    (dead,) = stats.dead
    assert dead["row"].to_pylist() == [reasons.index(each) for each in reasons if each in DEAD]
    assert dead["reason"].to_pylist() == block.dead()["reason"].to_pylist()
    assert [row for row, _ in late] == [reasons.index(Reason.LATE)]


def exported(
    spark: SparkSession, bound: BoundWorkload, rows: pa.Table, watermark: int, path: Path
) -> CheckedBlock:
    """What Spark finds in the rows, from a file."""
    pq.write_table(rows, path)
    pipeline = EventPipeline(bound.routing(4, 2), watermark)
    schema = spark_schema(rows.schema, pipeline.columns, "rows")
    frame = spark.read.schema(schema).parquet(str(path))
    columns = rows.schema.empty_table().select(pipeline.columns).schema
    contract = ReadRequest(uses=WORKLOAD.uses).contract(columns)
    found = pipeline.apply(ParsedRows(frame, read_types(rows.schema), contract))
    table = pa.Table.from_batches(found._collect_as_arrow())
    (block,) = blocks_of(table, contract, Origin("rows"))
    return block


def extracted(
    bound: BoundWorkload, rows: pa.Table, watermark: int | None
) -> tuple[pa.RecordBatch, Letters, BlockStats]:
    """The events that the extractor of one process finds, and those that are late."""
    extractor = bound.extractor()
    names = EventPipeline(bound.routing(4, 2)).columns
    batch = rows.select(names).combine_chunks().to_batches()[0]
    numbers = np.arange(rows.num_rows)
    valid = extractor.extract(RowBlock(batch, "rows", numbers, no_dead()))
    events, late = split_late(valid, watermark)
    if watermark is None:
        return events, [], extractor.stats
    dead = [row for row, _ in letters(pa.concat_tables([no_dead(), *extractor.stats.dead]))]
    late_rows = np.setdiff1d(numbers, dead)[times_of(valid) < watermark]
    reasons = late_reasons(times_of(late), watermark)
    return events, [*zip(late_rows.tolist(), reasons, strict=True)], extractor.stats


def letters(table: pa.Table) -> Letters:
    return [*zip(table["row"].to_pylist(), table["reason"].to_pylist(), strict=True)]


def hash_of(text: str) -> int:
    return sum(map(ord, text))
