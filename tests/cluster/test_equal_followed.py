"""A job that follows a folder gives what an engine gives that gets the same batches, with the same
lateness: rows appear when the watermark has passed their window, and late events are put aside."""

import json
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from pyspark.errors import AnalysisException

from cluster.jobs import Found, JobInput, engine_of, followed, joined
from cluster.streams import FORMATS, RIDES, pieces, rides, shuffled, write_csv, write_parquet
from runtime.language.parser import parse
from runtime.pipeline.bound_workload import BoundWorkload
from runtime.pipeline.dead_letter import rows_as_json
from runtime.pipeline.routing_table import InputFormat
from runtime.pipeline.settings import Settings
from spark_ingest.pipeline.event_pipeline import EventPipeline
from spark_ingest.sources.files import FileSource

SECOND = 1_000_000
COUNTED = parse("""
    QUERY counted RETURN driver, COUNT(*) AS n PATTERN SEQ(Request, Travel T+)
    GROUP-BY driver WITHIN 10 events SLIDE 5 events
    QUERY contiguous RETURN COUNT(*) AS n PATTERN SEQ(Travel+, Dropoff)
    SEMANTICS contiguous WITHIN 1 minute
""")


@pytest.fixture
def follow(spark, actor_pool, tmp_path):
    def run(asked: JobInput, batches: Sequence[pa.Table], suffix: str, actors: int, lateness: int):
        write = FORMATS[suffix]
        files = [(f"{n:03d}.{suffix}", partial(write, each)) for n, each in enumerate(batches)]
        return followed(spark, actor_pool(actors), asked, files, tmp_path / "checkpoint", lateness)

    return run


class Reference:
    """An engine in process. `late` are the rows behind the watermark, `marks` where that was."""

    def __init__(self, asked: JobInput, batches: Sequence[pa.Table], lateness: int) -> None:
        engine = engine_of(asked, lateness)
        self.tables: dict[str, list[pa.Table]] = {}
        self.late: list[pa.Table] = []
        for batch in batches:
            for name, table in engine.process(batch).items():
                self.tables.setdefault(name, []).append(table)
            self.late.append(engine.take_late())
        self.empty = engine.empty_results()

    def result(self, name: str) -> pa.Table:
        return joined([self.empty[name], *self.tables.get(name, [])])

    @property
    def late_rows(self) -> int:
        return sum(table.num_rows for table in self.late)


def assert_same_results(found: Found, wanted: Reference) -> None:
    assert list(found.tables) == list(wanted.empty)
    for name, table in found.tables.items():
        assert table.equals(wanted.result(name)), name


@pytest.mark.parametrize("suffix", ["parquet", "jsonl", "csv", "csv.gz"])
@pytest.mark.parametrize("actors", [1, 2, 4])
def test_disorder_within_the_lateness(follow, tmp_path: Path, suffix: str, actors: int):
    """Over 40 rows, which are 20 seconds."""
    batches = pieces(shuffled(rides(1_600, seed=1), seed=2, reach=40), 6)
    asked = JobInput(RIDES, tmp_path / "rides")
    wanted = Reference(asked, batches, 20 * SECOND)
    found = follow(asked, batches, suffix, actors, 20 * SECOND)
    assert_same_results(found, wanted)
    assert (wanted.late_rows, found.late.num_rows) == (0, 0)
    assert found.events == found.rows == 1_600
    assert all(table.num_rows for table in found.tables.values())


@pytest.mark.parametrize("suffix", ["parquet", "jsonl", "csv"])
@pytest.mark.parametrize("actors", [1, 4])
def test_late_events_are_put_aside_with_their_reason(
    follow, tmp_path: Path, suffix: str, actors: int
):
    batches = pieces(shuffled(rides(1_600, seed=3), seed=4, reach=60), 8)
    asked = JobInput(RIDES, tmp_path / "rides")
    wanted = Reference(asked, batches, 2 * SECOND)
    found = follow(asked, batches, suffix, actors, 2 * SECOND)
    assert_same_results(found, wanted)
    assert found.late.num_rows == wanted.late_rows > 50
    assert found.events == 1_600 - wanted.late_rows
    assert found.late.to_pylist() == late_letters(asked.path, suffix, batches, 2)


def late_letters(
    folder: Path, suffix: str, batches: Sequence[pa.Table], lateness: int
) -> list[dict[str, object]]:
    """All that lies behind the largest time of the batches before, less the lateness (seconds)."""
    letters: list[dict[str, object]] = []
    newest: int | None = None
    for n, batch in enumerate(batches):
        rows = range(batch.num_rows)
        times = batch["time"].to_pylist()
        mark = None if newest is None else newest - lateness
        for row, time in zip(rows, times, strict=True):
            if mark is not None and time < mark:
                shown = np.datetime64(mark * SECOND, "us")
                letters.append(
                    {
                        "source": str(folder / f"{n:03d}.{suffix}"),
                        "row": row,
                        "reason": f"{mark - time} s behind the watermark {shown}",
                        "event": as_written(batch.slice(row, 1), suffix),
                    }
                )
        newest = max([*times, *([] if newest is None else [newest])])
    return letters


def as_written(row: pa.Table, suffix: str) -> str:
    """Fields of CSV are text, and what is empty is null."""
    if suffix == "csv":
        row = pa.table({name: row[name].cast(pa.string()) for name in row.schema.names})
    return rows_as_json(row)[0]


@pytest.mark.parametrize("actors", [1, 2, 4])
def test_exact_numbers_and_arrival(follow, tmp_path: Path, actors: int):
    batches = pieces(shuffled(rides(1_000, seed=5, step=0.1), seed=6, reach=30), 5)
    asked = JobInput(RIDES, tmp_path / "rides", Settings("exact", "arrival"))
    found = follow(asked, batches, "parquet", actors, SECOND)
    assert_same_results(found, Reference(asked, batches, SECOND))
    assert found.tables["kept"].num_rows


@pytest.mark.parametrize("numeric", ["float", "exact"])
def test_windows_of_events_and_contiguity(follow, tmp_path: Path, numeric: str):
    batches = pieces(shuffled(rides(1_600, seed=7), seed=8, reach=20), 6)
    asked = JobInput(COUNTED, tmp_path / "rides", Settings(numeric))
    found = follow(asked, batches, "parquet", 2, 10 * SECOND)
    assert_same_results(found, Reference(asked, batches, 10 * SECOND))
    assert all(table.num_rows for table in found.tables.values())


def test_files_that_bring_nothing(follow, tmp_path: Path):
    """No rows at all, or none in time: the watermark stays, and so do the windows."""
    first, second, third = pieces(rides(900, seed=9), 3)
    batches = [first, first.slice(0, 0), first.slice(0, 5), second, third]
    asked = JobInput(RIDES, tmp_path / "rides")
    found = follow(asked, batches, "parquet", 2, 0)
    wanted = Reference(asked, batches, 0)
    assert_same_results(found, wanted)
    assert found.late.num_rows == wanted.late_rows == 5


def test_bad_rows_and_a_file_that_cannot_be_read(spark, actor_pool, tmp_path: Path):
    first, second, third = pieces(rides(900, seed=10), 3)
    types = pa.array([None, *second["type"].to_pylist()[1:]])
    bad = second.set_column(1, "type", types)
    files = [
        ("0.parquet", partial(write_parquet, first)),
        ("1.parquet", lambda path: path.write_bytes(b"no parquet")),
        ("2.parquet", partial(write_parquet, bad)),
        ("3.csv", partial(write_csv, third)),
    ]
    asked = JobInput(RIDES, tmp_path / "rides")
    found = followed(spark, actor_pool(2), asked, files, tmp_path / "checkpoint")
    assert_same_results(found, Reference(asked, [first, bad.slice(1), third], 0))
    lost, dead = found.dead.to_pylist()
    assert lost["source"] == str(tmp_path / "rides" / "1.parquet")
    assert (lost["row"], lost["event"]) == (None, None)
    assert dead["source"] == str(tmp_path / "rides" / "2.parquet")
    assert (dead["row"], dead["reason"]) == (0, "the type is null")
    assert json.loads(dead["event"])["time"] == second["time"][0].as_py()


def test_files_whose_columns_differ(spark, actor_pool, tmp_path: Path):
    """One that lacks a column has nulls there; one whose column is of another kind is put aside,
    and not cut to fit."""
    first, second, third = pieces(rides(900, seed=16), 3)
    place = second.schema.get_field_index("speed")
    text = second.set_column(place, "speed", pc.cast(second["speed"], pa.string()))
    without = third.drop_columns(["speed"])
    files = [
        (f"{n}.parquet", partial(write_parquet, each))
        for n, each in enumerate((first, text, without))
    ]
    asked = JobInput(RIDES, tmp_path / "rides")
    found = followed(spark, actor_pool(2), asked, files, tmp_path / "checkpoint")
    nulls = third.set_column(place, "speed", pa.nulls(third.num_rows, second["speed"].type))
    assert_same_results(found, Reference(asked, [first, nulls], 0))
    (lost,) = found.dead.to_pylist()
    assert lost["source"] == str(tmp_path / "rides" / "1.parquet")
    assert lost["reason"] == "column `speed` is string, but double in the files before it"


def test_all_files_there_at_once(spark, actor_pool, tmp_path: Path):
    """They are read together, in order of their names."""
    table = rides(1_200, seed=11)
    folder = tmp_path / "rides"

    def all_but_the_last(path: Path) -> None:
        for n, piece in enumerate(pieces(table.slice(0, 1_000), 5)):
            write_parquet(piece, folder / f"{n}.parquet")
        write_parquet(table.slice(1_000), path)

    asked = JobInput(RIDES, folder)
    found = followed(
        spark, actor_pool(2), asked, [("5.parquet", all_but_the_last)], tmp_path / "checkpoint"
    )
    assert_same_results(found, Reference(asked, [table], 0))
    newest = pc.max(table["time"]).as_py()
    ends = found.tables["kept"]["window_end"].to_pylist()
    assert max(ends) <= newest < max(ends) + 20


@pytest.mark.parametrize("suffix", ["csv", "jsonl"])
def test_times_in_text(follow, tmp_path: Path, suffix: str):
    table = rides(900, seed=12)
    moments = pc.strftime(table["time"].cast(pa.timestamp("s")), "%Y-%m-%dT%H:%M:%S")
    batches = pieces(table.set_column(0, "time", moments), 3)
    asked = JobInput(RIDES, tmp_path / "rides")
    found = follow(asked, batches, suffix, 2, 0)
    assert_same_results(found, Reference(asked, batches, 0))
    assert found.tables["by_driver"].schema.field("window_end").type == pa.timestamp("us")


def test_a_file_that_goes_before_it_is_read(spark, tmp_path: Path):
    """One that is planned and gone is a dead letter; one that is gone before is nothing."""
    folder = tmp_path / "rides"
    folder.mkdir()
    for n, piece in enumerate(pieces(rides(300, seed=13), 3)):
        write_parquet(piece, folder / f"{n}.parquet")
    source = FileSource(spark, folder, JobInput(RIDES, folder).needs, bounded=False)
    planned = source.next(source.first(), 1)
    assert planned is not None
    pipeline = EventPipeline(
        BoundWorkload(RIDES, InputFormat(columns=source.schema), "float").routing(4, 1)
    )
    (folder / "0.parquet").unlink()
    with pytest.raises(AnalysisException, match="PATH_NOT_FOUND"):
        source.read(planned, pipeline)
    assert source.quarantine_unreadable(planned)
    assert not source.quarantine_unreadable(planned)
    (lost,) = source.read(planned, pipeline).lost
    assert lost["source"].to_pylist() == [str(folder / "0.parquet")]
    (folder / "1.parquet").unlink()
    after = source.next(planned.end, 1)
    assert after is not None
    assert after.end == {"files": ["2.parquet"]}
