"""Streaming frames of Spark as inputs of jobs, followed batch by batch."""

from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from cluster.jobs import JobInput, Watcher, driver_of, locally, outcome, to_the_end
from cluster.streams import RIDES, pieces, rides, write_parquet
from hamlet.job.input_resolver import resolve_input
from hamlet.job.resolved_input import InputOptions
from runtime.errors import InputError
from runtime.pipeline.engine import aggregate
from spark_ingest.arrow_import import spark_frame
from spark_ingest.sources.source import StreamSource
from spark_ingest.sources.streaming_frame import StreamingFrameSource

SECOND = 1_000_000
#: Of the numbers that `rate` counts, rows as `rides` has them.
COLUMNS = (
    "value AS time",
    "element_at(array('Request', 'Travel', 'Travel', 'Dropoff', 'Idle'), "
    "CAST(value * 7 % 5 AS INT) + 1) AS type",
    "concat('driver ', value % 9) AS driver",
    "value % 3 AS zone",
    "(value * 31 % 60) / 2.0D AS speed",
)


def until_rows(spark, actor_pool, asked: JobInput, source: StreamSource, rows: int, folder: Path):
    """Follows the source until so many rows are committed. Returns what was found, and the
    watermark."""
    watcher = Watcher()

    def stopping() -> bool:
        return bool(watcher.reports) and watcher.reports[-1].counts.rows >= rows

    driver, checkpoints = driver_of(
        spark, actor_pool, asked, source, folder, watcher, stopping=stopping
    )
    try:
        driver.run()
    finally:
        source.close()
    assert not driver.finished
    assert driver.committed is not None
    return outcome(driver, checkpoints, source, watcher), driver.committed.watermark


def assert_closed(tables: dict[str, pa.Table], rows: pa.Table, watermark: int) -> None:
    """What the windows before the watermark have, once."""
    for name, table in aggregate(RIDES, rows).items():
        closed = table.filter(pc.less_equal(table["window_end"], watermark // SECOND))
        assert closed.num_rows > 0, name
        assert sorted(map(str, tables[name].to_pylist())) == sorted(map(str, closed.to_pylist()))


def test_rate(spark, actor_pool, tmp_path: Path):
    """It has no rows at first, and then as many as time has passed."""
    frame = spark.readStream.format("rate").option("rowsPerSecond", 300).load()
    asked = JobInput(RIDES, tmp_path)
    source = StreamingFrameSource(
        frame.selectExpr(*COLUMNS), asked.needs, tmp_path / "spark", name="rate"
    )
    found, mark = until_rows(spark, actor_pool(2), asked, source, 1_500, tmp_path / "checkpoint")
    assert found.epochs > 1
    numbers = spark.range(found.rows).withColumnRenamed("id", "value")
    rows = pa.Table.from_batches(numbers.selectExpr(*COLUMNS)._collect_as_arrow())
    assert mark == (found.rows - 1) * SECOND
    assert_closed(found.tables, rows, mark)
    assert (found.late.num_rows, found.dead.num_rows) == (0, 0)


@pytest.mark.usefixtures("delta")
def test_delta_that_ends(spark, actor_pool, tmp_path: Path):
    table = rides(6_000, seed=11)
    for piece in pieces(table, 3):
        spark_frame(spark, piece).write.format("delta").mode("append").save(str(tmp_path / "t"))
    write_parquet(table, tmp_path / "rides.parquet")
    asked = JobInput(RIDES, tmp_path / "rides.parquet")
    given = InputOptions(f"spark:delta?path={tmp_path / 't'}", asked.needs)
    source = resolve_input(given).open(spark, tmp_path, None, None)
    spark_frame(spark, table).write.format("delta").mode("append").save(str(tmp_path / "t"))
    found = to_the_end(spark, actor_pool(2), asked, source, tmp_path / "checkpoint")
    assert found.tables == locally(asked).tables  # as the table was when it was opened


@pytest.mark.usefixtures("delta")
def test_delta_that_grows(spark, actor_pool, tmp_path: Path):
    table = rides(4_000, seed=12)
    waiting = iter(pieces(table, 4))
    place = str(tmp_path / "t")

    def append(*_: object) -> None:
        piece = next(waiting, None)
        if piece is not None:
            frame = spark_frame(spark, piece).coalesce(1)
            frame.write.format("delta").mode("append").save(place)

    append()
    asked = JobInput(RIDES, tmp_path)
    given = InputOptions(f"spark:delta?path={place}", asked.needs, follow=True)
    source = resolve_input(given).open(spark, tmp_path, None, None)
    watcher = Watcher(append)
    driver, checkpoints = driver_of(
        spark,
        actor_pool(2),
        asked,
        source,
        tmp_path / "checkpoint",
        watcher,
        stopping=lambda: bool(watcher.reports) and watcher.reports[-1].counts.rows == 4_000,
    )
    driver.run()
    source.close()
    found = outcome(driver, checkpoints, source, watcher)
    assert found.epochs >= 4
    assert driver.committed is not None
    assert_closed(found.tables, table, driver.committed.watermark)
    assert (found.events, found.late.num_rows) == (4_000, 0)


def test_format_that_cannot_be_followed(spark, tmp_path: Path):
    needs = JobInput(RIDES, tmp_path).needs
    given = InputOptions("spark:jdbc?url=jdbc:none&dbtable=t", needs, follow=True)
    with pytest.raises(InputError, match=r"Spark cannot load spark:jdbc.*streamed reading"):
        resolve_input(given).open(spark, tmp_path, None, None)
