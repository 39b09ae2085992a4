"""`hamlet.stream` over streaming frames, on sessions with RayDP and without."""

import json
import os
from collections import Counter
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

import hamlet
from cluster.streams import RIDES, pieces, rides
from runtime.errors import HamletError
from tools.patience import PATIENCE_S

DDL = "time LONG, type STRING, driver STRING, zone LONG, speed DOUBLE"
SECOND = 1_000_000
ROWS = 1_600


def put(folder: Path, parts, first: int = 0) -> None:
    folder.mkdir(exist_ok=True)
    for number, part in enumerate(parts, first):
        waiting = folder / f".{number}"
        pq.write_table(part, waiting)
        os.utime(waiting, (number, number))  # Spark reads them in the order of their times
        waiting.rename(folder / f"{number:03d}.parquet")


def frame_of(spark, folder: Path):
    """A batch for each file."""
    return spark.readStream.schema(DDL).option("maxFilesPerTrigger", 1).parquet(str(folder))


class Kept:
    """Keeps what it is given, epoch by epoch. Fails in some calls, after it has kept it."""

    def __init__(self, fails=()) -> None:
        self.epochs: dict[int, dict[str, pa.Table]] = {}
        self.calls = 0
        self.repeated: list[int] = []
        self._fails = fails

    def __call__(self, epoch: int, tables) -> None:
        self.calls += 1
        if epoch in self.epochs:
            self.repeated.append(epoch)
            assert self.epochs[epoch] == dict(tables)
        self.epochs[epoch] = dict(tables)
        if self.calls in self._fails:
            raise OSError("no space left")

    def rows(self, name: str) -> Counter[str]:
        found = [
            table.to_pylist() for table in (e.get(name) for e in self.epochs.values()) if table
        ]
        return Counter(str(row) for rows in found for row in rows)


def closed_rows(table: pa.Table, name: str) -> Counter[str]:
    """The rows of the windows that end before the last event."""
    last = table["time"][-1].as_py()
    found = hamlet.aggregate(RIDES, table)[name]
    return Counter(map(str, found.filter(pc.less_equal(found["window_end"], last)).to_pylist()))


NAMES = [query.name for query in RIDES]
NOW = {"availableNow": True}


def test_a_function_gets_every_epoch_once(spark, tmp_path: Path, caplog):
    """It fails once. The next job begins with the epoch that was not taken."""
    table = rides(ROWS, seed=31)
    put(tmp_path / "rides", pieces(table, 5))
    kept = Kept(fails=(2,))
    given = {"checkpoint": str(tmp_path / "c"), "each": kept, "trigger": NOW, "actors": 1}
    job = hamlet.stream(RIDES, frame_of(spark, tmp_path / "rides"), **given)
    with pytest.raises(OSError, match="no space left"):
        job.wait(PATIENCE_S)
    assert not job.active
    assert isinstance(job.failure, OSError)
    assert "py4j" not in {record.name.partition(".")[0] for record in caplog.records}
    job = hamlet.stream(RIDES, frame_of(spark, tmp_path / "rides"), **given)
    assert job.wait(PATIENCE_S)
    assert job.failure is None
    assert len(kept.repeated) == 1
    for name in NAMES:
        assert kept.rows(name) == closed_rows(table, name), name
    assert spark.range(2).count() == 2  # the user's session goes on


@pytest.mark.slow
def test_parts_in_a_folder(spark, tmp_path: Path):
    """Each run takes what is there, and leaves its windows open for the next."""
    table = rides(ROWS, seed=32)
    parts = pieces(table, 6)
    given = {"checkpoint": str(tmp_path / "c"), "output": tmp_path / "out", "trigger": NOW}
    for number in range(0, 6, 3):
        put(tmp_path / "rides", parts[number : number + 3], number)
        with hamlet.stream(RIDES, frame_of(spark, tmp_path / "rides"), **given) as job:
            assert job.wait(PATIENCE_S)
    for name in NAMES:
        found = [pq.read_table(part) for part in (tmp_path / "out" / f"{name}.parquet").iterdir()]
        rows = Counter(str(row) for part in found for row in part.to_pylist())
        assert rows == closed_rows(table, name), name


def test_frames_late_rows_and_dead_letters(spark, tmp_path: Path):
    table = rides(400, seed=33)
    late = table.slice(0, 2)
    bad = table.slice(300, 3).set_column(0, "time", pa.nulls(3, pa.int64()))
    put(tmp_path / "rides", [table.slice(0, 300), table.slice(300), pa.concat_tables([late, bad])])
    found: dict[str, list] = {"late": [], "dead": [], "done": []}

    def each(epoch: int, tables: hamlet.EpochTables) -> None:
        found["late"] += tables.late.collect()
        found["dead"] += tables.dead_letters.collect()
        found["done"] += tables["done"].collect() if "done" in tables else []

    job = hamlet.stream(
        RIDES,
        frame_of(spark, tmp_path / "rides"),
        each=each,
        results="spark",
        lateness=10 * SECOND,
        trigger=NOW,
    )
    assert job.wait(PATIENCE_S)
    assert len(found["late"]) == 2
    assert "behind the watermark" in found["late"][0].reason
    assert [row.reason for row in found["dead"]] == ["the time is null"] * 3
    assert {row.source for row in found["dead"]} == {"streaming DataFrame"}
    assert found["done"]
    assert found["done"][0].window_end > found["done"][0].window_start


@pytest.mark.slow
def test_stopped(spark, tmp_path: Path):
    """A stream without an end, stopped from within the function."""
    table = rides(ROWS, seed=34)
    put(tmp_path / "rides", pieces(table, 8))
    kept = Kept()
    given = {"checkpoint": str(tmp_path / "c")}
    jobs: list[hamlet.StreamingJob] = []

    def each(epoch: int, tables: hamlet.EpochTables) -> None:
        kept(epoch, tables)
        if jobs:
            jobs[0].stop(wait=False)

    jobs.append(hamlet.stream(RIDES, frame_of(spark, tmp_path / "rides"), each=each, **given))
    assert jobs[0].wait(PATIENCE_S)
    assert jobs[0].failure is None
    rest = hamlet.stream(
        RIDES, frame_of(spark, tmp_path / "rides"), each=kept, trigger=NOW, **given
    )
    assert rest.wait(PATIENCE_S)
    assert kept.repeated == []
    for name in NAMES:
        assert kept.rows(name) == closed_rows(table, name), name


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({}, "results need one place to go"),
        ({"each": print, "output": "out"}, "results need one place to go"),
        ({"output": "kafka://host/topic"}, "is not a folder"),
        ({"each": print, "checkpoint": "s3://bucket/job"}, "cannot keep its checkpoint"),
        ({"each": print, "actors": 0}, "at least one must compute"),
        ({"each": print, "time_column": "t"}, "no column `t`"),
        ({"each": print, "results": "pandas"}, "results is `pandas`"),
        ({"each": print, "trigger": {"continuous": "1 second"}}, "not a trigger of a stream"),
    ],
)
def test_errors(spark, tmp_path: Path, options, said):
    put(tmp_path / "rides", [])
    with pytest.raises(HamletError, match=said):
        hamlet.stream(RIDES, frame_of(spark, tmp_path / "rides"), **options)


def test_a_frame_that_ends(spark):
    with pytest.raises(HamletError, match="not a stream") as caught:
        hamlet.stream(RIDES, spark.range(1), each=print)
    assert "hamlet.aggregate" in caught.value.hint


def test_checkpoint_of_spark_that_is_ahead(spark, tmp_path: Path):
    """As after going back to an older copy of the job's part of the checkpoint."""
    put(tmp_path / "rides", pieces(rides(400, seed=35), 4))
    checkpoint = tmp_path / "c"
    given = {"checkpoint": str(checkpoint), "each": Kept(), "trigger": NOW}
    assert hamlet.stream(RIDES, frame_of(spark, tmp_path / "rides"), **given).wait(PATIENCE_S)
    for copy in "ab":
        for file in [*(checkpoint / copy / "epochs").iterdir()]:
            file.unlink()
        for file in (checkpoint / copy / "owners").glob("*.base"):
            file.unlink()
    with pytest.raises(HamletError, match="Spark's checkpoint is ahead") as caught:
        hamlet.stream(RIDES, frame_of(spark, tmp_path / "rides"), **given)
    assert f"{checkpoint / 'spark'}/commits" in caught.value.hint


def test_session_for_an_unknown_format(spark):
    with pytest.raises(HamletError, match="formats is `dleta`, but must be one of avro, delta"):
        hamlet.session(formats=["dleta"])


# ---- in a process of its own ---------------------------------------------------------------


COLLECTED = """
import json, os, warnings
from spark_ingest import java
os.environ.update(java.environment())
from pyspark.sql import SparkSession
spark = (
    SparkSession.builder.master("local[1]")
    .config("spark.driver.bindAddress", "127.0.0.1").config("spark.driver.host", "127.0.0.1")
    .config("spark.ui.enabled", "false").config("spark.sql.shuffle.partitions", "3")
    .getOrCreate()
)
import hamlet, ray
frame = spark.readStream.format("rate-micro-batch").option("rowsPerBatch", 300).load()
frame = frame.selectExpr(
    "value AS time", "if(value % 3 = 0, 'Request', 'Travel') AS type",
    "concat('d', value % 4) AS driver", "value / 2.0D AS speed",
)
rows = []
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    job = hamlet.stream(
        WORKLOAD, frame, each=lambda epoch, tables: rows.extend(tables["trips"].to_pylist())
    )
said = [str(each.message) for each in caught if "collected" in str(each.message)]
import time
while job.active and len(rows) < 50:
    time.sleep(0.05)
job.stop()
print(json.dumps({
    "rows": len({(row["window_start"], row["driver"]) for row in rows}) - len(rows),
    "many": len(rows) >= 50, "said": len(said), "file": caught[0].filename,
    "ray": ray.is_initialized(), "spark": spark.range(2).count(),
}))
"""
WORKLOAD = """
QUERY trips
RETURN driver, COUNT(*) AS n, SUM(T.speed) AS s
PATTERN SEQ(Request R, Travel T+)
GROUP-BY driver
WITHIN 30 seconds SLIDE 10 seconds
"""


def test_a_session_without_raydp_collects_and_says_so(run):
    """With a Ray that the job starts, and ends."""
    process = run(f"WORKLOAD = {WORKLOAD!r}\n{COLLECTED}")
    printed, errors = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 0, errors
    assert json.loads(printed.splitlines()[-1]) == {
        "rows": 0,
        "many": True,
        "said": 1,
        "file": "<string>",
        "ray": False,
        "spark": 2,
    }
