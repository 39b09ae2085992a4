"""Frames of Spark as inputs: what it loads from its formats, and what users make of them."""

from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import functions as F

from cluster.jobs import JobInput, assert_same, locally, to_the_end
from cluster.streams import RIDES, rides, shuffled
from hamlet.job.input_resolver import resolve_input
from hamlet.job.resolved_input import InputOptions
from runtime.errors import InputError
from runtime.language.parser import parse
from runtime.pipeline.bound_workload import BoundWorkload
from runtime.pipeline.routing_table import InputFormat
from spark_ingest.pipeline.event_pipeline import EventPipeline
from spark_ingest.sources.frame import FrameSource
from spark_ingest.sources.frame_rows import our_session

#: So many bytes that a first range has all partitions.
PLENTY = 64 << 20


def opened(spark, text: str, needs, **options) -> FrameSource:
    found = resolve_input(InputOptions(text, needs, **options)).open(spark, Path(), None, None)
    assert isinstance(found, FrameSource)
    return found


@pytest.mark.parametrize("format", ["orc", "avro"])
def test_a_format_equals_the_local_engine(spark, actor_pool, tmp_path: Path, format: str):
    """In several files of some megabytes for Spark, so that there are several epochs."""
    table = shuffled(rides(20_000, seed=1), seed=2)
    pq.write_table(table, tmp_path / "rides.parquet")
    folder = tmp_path / f"rides.{format}"
    write = spark.read.parquet(str(tmp_path / "rides.parquet")).repartition(9).write
    write.format(format).save(str(folder))
    asked = JobInput(RIDES, tmp_path / "rides.parquet")
    source = opened(spark, f"spark:{format}?path={folder}", asked.needs)
    found = to_the_end(spark, actor_pool(2), asked, source, tmp_path / "checkpoint")
    assert found.epochs > 1
    assert_same(found, locally(asked))


def test_a_frame_with_a_join_and_a_filter(spark, actor_pool, tmp_path: Path):
    """The user's session has settings of its own, under which it is planned; it shuffles once."""
    table = rides(8_000, seed=3)
    path = tmp_path / "rides.parquet"
    pq.write_table(table, path)
    users = spark.newSession()
    for name, value in {
        "spark.sql.adaptive.enabled": "true",
        "spark.sql.ansi.enabled": "true",
        "spark.sql.autoBroadcastJoinThreshold": "-1",
        "spark.sql.caseSensitive": "false",
        "spark.sql.session.timeZone": "America/New_York",
        "spark.sql.shuffle.partitions": "9",
        "spark.sql.adaptive.coalescePartitions.enabled": "false",
    }.items():
        users.conf.set(name, value)
    events = users.read.parquet(str(path))
    zones = users.createDataFrame([(0, 1.0), (1, 2.0), (2, 0.5)], "zone BIGINT, factor DOUBLE")
    frame = (
        events.join(zones, "zone")
        .where("type <> 'Cancel'")
        .withColumn("Time", F.expr("timestamp_seconds(time)"))
        .withColumn("speed", F.expr("speed * factor"))
        .select("Time", "type", "driver", "zone", "speed", F.array("zone").alias("nested"))
    )
    factors = pa.table({"zone": [0, 1, 2], "factor": [1.0, 2.0, 0.5]})
    joined = table.join(factors, "zone", join_type="inner").filter(
        pa.compute.not_equal(pa.compute.field("type"), "Cancel")
    )
    seconds = joined["time"].cast(pa.timestamp("s", "UTC")).cast(pa.timestamp("us", "UTC"))
    speed = pa.compute.multiply(joined["speed"], joined["factor"])
    same = pa.table({name: joined[name] for name in ("type", "driver", "zone")})
    same = same.append_column("Time", seconds).append_column("speed", speed)
    pq.write_table(same, tmp_path / "same.parquet")
    asked = JobInput(RIDES, tmp_path / "same.parquet", time_column="Time")
    source = FrameSource(spark, frame, asked.needs, name="rides")
    found = to_the_end(spark, actor_pool(2), asked, source, tmp_path / "checkpoint")
    assert found.epochs > 1
    assert_same(found, locally(asked))


# ---- invalid rows --------------------------------------------------------------------------


BAD = parse("""
QUERY trips
RETURN COUNT(*) AS n, SUM(T.speed) AS s
PATTERN SEQ(Request R, Travel T+)
WITHIN 60 seconds
""")


def test_invalid_rows_have_no_number_but_their_columns(spark, actor_pool, tmp_path: Path):
    time = datetime(2026, 3, 1, 12, 0, 0, 250_000, UTC)
    rows = [
        (time, "Request", None, 1),
        (time.replace(second=1), "Travel", 1.0, 2),
        (time.replace(second=2), "Travel", float("nan"), 3),
        (None, "Travel", 3.0, 4),
        (time.replace(second=4), None, 4.0, 5),
        (time.replace(second=5), "Travel", float("inf"), 6),
        (time.replace(second=6), "Travel", float("-inf"), 7),
    ]
    frame = spark.createDataFrame(rows, "time TIMESTAMP, type STRING, speed DOUBLE, other INT")
    columns = [[row[n] for row in rows] for n in range(3)]
    types = [pa.timestamp("us", "UTC"), pa.string(), pa.float64()]
    arrays = [pa.array(column, kind) for column, kind in zip(columns, types, strict=True)]
    pq.write_table(pa.table(arrays, ["time", "type", "speed"]), tmp_path / "bad.parquet")
    asked = JobInput(BAD, tmp_path / "bad.parquet")
    source = FrameSource(spark, frame, asked.needs, name="a frame")
    found = to_the_end(spark, actor_pool(2), asked, source, tmp_path / "checkpoint")
    wanted = locally(asked)
    assert found.tables == wanted.tables
    assert (found.rows, found.events) == (wanted.rows, wanted.events) == (7, 3)
    assert Counter(found.dead["reason"].to_pylist()) == Counter(wanted.dead["reason"].to_pylist())
    assert found.dead["row"].null_count == 4
    assert set(found.dead["source"].to_pylist()) == {"a frame"}
    letters = {each["reason"]: each["event"] for each in found.dead.to_pylist()}
    assert letters["the time is null"] == '{"time":null,"type":"Travel","speed":3.0}'
    assert letters["the type is null"] == (
        '{"time":"2026-03-01T12:00:04.250000Z","type":null,"speed":4.0}'
    )
    assert found.lost == 0


# ---- columns -------------------------------------------------------------------------------


def exported(spark, frame, workload, **options) -> pa.Table:
    """What aggregators would get of a frame."""
    asked = JobInput(workload, Path())
    source = FrameSource(spark, frame, asked.needs, name="a frame", **options)
    columns = InputFormat(
        columns=source.schema, time_unit=options.get("unit"), clock=source.clock()
    )
    bound = BoundWorkload(workload, columns, "float")
    wanted = source.next(source.first(), PLENTY)
    read = source.read(wanted, EventPipeline(bound.routing(8, 2))).frame
    return pa.Table.from_batches(read._collect_as_arrow())


@pytest.mark.parametrize("zone", ["UTC", "America/New_York", "Asia/Kathmandu"])
def test_times_do_not_depend_on_the_zone_of_the_users_session(spark, zone: str):
    users = spark.newSession()
    users.conf.set("spark.sql.session.timeZone", zone)
    moment = "2026-07-01 10:00:00.000001"
    micros = 1_782_900_000_000_001
    for time in (
        f"TIMESTAMP_NTZ'{moment}'",
        f"TIMESTAMP'{moment}Z'",
        f"'{moment.replace(' ', 'T')}Z'",
    ):
        frame = users.sql(f"SELECT {time} AS time, 'Travel' AS type, 1.5F AS speed")
        assert exported(spark, frame, BAD)["__time__"].to_pylist() == [micros], time


def test_an_interval_is_a_number_of_microseconds(spark):
    workload = parse("QUERY q RETURN COUNT(*) AS n PATTERN T+ GROUP-BY pause WITHIN 60 seconds")
    frame = spark.sql(
        "SELECT 1 AS time, 'T' AS type, INTERVAL '-1 02:03:04.000005' DAY TO SECOND AS pause"
    )
    micros = -((((24 + 2) * 60 + 3) * 60 + 4) * 1_000_000 + 5)
    assert exported(spark, frame, workload)["pause"].to_pylist() == [micros]


def test_columns_of_types_that_events_do_not_have_are_left_out(spark):
    frame = spark.sql("SELECT 1 AS time, 'T' AS type, make_interval(1) AS years, array(1) AS a")
    source = FrameSource(spark, frame, JobInput(BAD, Path()).needs, name="a frame")
    assert source.schema.names == ["time", "type", "a"]


def test_our_session_leaves_the_users_settings_alone(spark):
    users = spark.newSession()
    users.conf.set("spark.sql.session.timeZone", "America/New_York")
    assert our_session(users).conf.get("spark.sql.session.timeZone") == "UTC"
    assert users.conf.get("spark.sql.session.timeZone") == "America/New_York"


# ---- what Spark cannot load ----------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "said", "hint"),
    [
        ("spark:orcc?path=a", "Failed to find the data source: orcc", "did you mean `orc`?"),
        ("spark:orc?path=/none/such", "Path does not exist", None),
        ("spark:csv?path=/none/such&schema=time NOTYPE", "NOTYPE", None),
        ("spark:jdbc?url=jdbc:none://h/d&dbtable=x", "No suitable driver", None),
    ],
)
def test_what_spark_cannot_load_is_told_in_a_line(spark, text: str, said: str, hint: str | None):
    with pytest.raises(InputError, match=said) as caught:
        opened(spark, text, JobInput(BAD, Path()).needs)
    assert len(caught.value.message.splitlines()) == 1
    assert hint is None or hint in caught.value.hint
