"""Delta tables as users make them, with the Python package of Delta Lake: some rows are deleted,
some changed and some added later, so that not all Parquet in the folder of a table is the table."""

from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

import hamlet
from cluster.jobs import JobInput, assert_same, locally, to_the_end
from cluster.streams import RIDES, rides
from hamlet.job.input_resolver import resolve_input
from hamlet.job.resolved_input import InputOptions
from spark_ingest.arrow_import import spark_frame

pytestmark = pytest.mark.usefixtures("delta")

ROWS = 4_000
GONE = ("driver 3", "driver 5")
CHANGED_ZONE = 1


@pytest.fixture
def events() -> pa.Table:
    table = rides(ROWS, seed=11)
    return table.append_column("id", pa.array(range(ROWS)))


def made(spark, events: pa.Table, place: Path, deletion_vectors: bool):
    """Two thirds of the rows, of which those of two drivers are deleted; then those of a zone are
    twice as fast, and the others are there, too."""
    from delta.tables import DeltaTable

    first = spark_frame(spark, events.slice(0, 2 * ROWS // 3))
    table = (
        DeltaTable.create(spark)
        .location(str(place))
        .addColumns(first.schema)
        .property("delta.enableDeletionVectors", str(deletion_vectors).lower())
        .execute()
    )
    first.coalesce(2).write.format("delta").mode("append").save(str(place))
    table.delete(f"driver IN {GONE}")
    newer = spark_frame(spark, events).where(f"zone = {CHANGED_ZONE} OR id >= {2 * ROWS // 3}")
    (
        table.alias("old")
        .merge(newer.alias("new"), "old.id = new.id")
        .whenMatchedUpdate(set={"speed": "new.speed * 2"})
        .whenNotMatchedInsertAll(f"new.id >= {2 * ROWS // 3}")
        .execute()
    )
    return table


def expected(events: pa.Table) -> pa.Table:
    """The same rows, without Spark."""
    early = pc.less(events["id"], 2 * ROWS // 3)
    gone = pc.and_(early, pc.is_in(events["driver"], pa.array(GONE)))
    faster = pc.and_(early, pc.equal(events["zone"], CHANGED_ZONE)).fill_null(False)
    speed = pc.if_else(faster, pc.multiply(events["speed"], 2.0), events["speed"])
    kept = events.set_column(events.column_names.index("speed"), "speed", speed)
    return kept.filter(pc.invert(gone))


@pytest.mark.parametrize("deletion_vectors", [False, True])
def test_a_table_equals_its_rows(spark, actor_pool, tmp_path: Path, events, deletion_vectors):
    place = tmp_path / "rides"
    table = made(spark, events, place, deletion_vectors)
    rows = expected(events)
    files = [pq.read_metadata(each).num_rows for each in place.glob("*.parquet")]
    assert sum(files) > rows.num_rows, "plain Parquet would be right"
    assert bool(list(place.glob("deletion_vector_*.bin"))) == deletion_vectors

    assert hamlet.aggregate(RIDES, table.toDF(), actors=1) == hamlet.aggregate(RIDES, rows)

    pq.write_table(rows, tmp_path / "rides.parquet")
    asked = JobInput(RIDES, tmp_path / "rides.parquet")
    given = InputOptions(f"spark:delta?path={place}", asked.needs)
    source = resolve_input(given).open(spark, tmp_path, None, None)
    found = to_the_end(spark, actor_pool(2), asked, source, tmp_path / "checkpoint")
    assert_same(found, locally(asked))
