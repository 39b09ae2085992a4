"""Streaming frames as sources: every row once, wherever a run ends."""

import time
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from cluster.pipelines import reading
from runtime.errors import EnvironmentFailure, HamletError, InputError
from runtime.io.reader import ReadRequest
from runtime.types.attribute_kinds import AttributeKind
from spark_ingest.sources import streaming_frame
from spark_ingest.sources.streaming_frame import StreamingFrameSource
from tools.patience import PATIENCE_S

NEEDS = ReadRequest("time", "type", {"n": AttributeKind.NUMBER})
SCHEMA = "time LONG, type STRING, n LONG"


def put(folder: Path, number: int) -> None:
    """A file of two rows; each is a batch of its own."""
    folder.mkdir(exist_ok=True)
    rows = {"time": [number, number], "type": ["A", "B"], "n": [2 * number, 2 * number + 1]}
    waiting = folder / f".{number}"
    pq.write_table(pa.table(rows), waiting)
    waiting.rename(folder / f"{number}.parquet")


def frame_of(spark, folder: Path):
    reader = spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1)
    return reader.parquet(str(folder))


class Life:
    """One run over the source, from the position of the run before. It does what a driver does."""

    def __init__(self, spark, tmp_path: Path, at=None, frame=None, **options) -> None:
        frame = frame_of(spark, tmp_path / "input") if frame is None else frame
        checkpoint = tmp_path / "spark"
        self.source = StreamingFrameSource(frame, NEEDS, checkpoint, name="s", at=at, **options)
        self.position = self.source.first() if at is None else at

    def take(self):
        """The next range, and its rows."""
        wanted = self.await_range()
        assert self.source.next(wanted.end, 0) is None  # one batch at a time
        return wanted, self.rows(wanted)

    def await_range(self):
        until = time.monotonic() + PATIENCE_S
        while (wanted := self.source.next(self.position, 0)) is None:
            assert time.monotonic() < until
            time.sleep(0.01)
        return wanted

    def rows(self, wanted) -> list[int]:
        read = self.source.read(wanted, reading(self.source, ["n"]))
        assert read.frame is not None
        assert read.frame.rdd.getNumPartitions() == len(read.origins) == len(read.order)
        return sorted(row["n"] for row in read.frame.collect())

    def commit(self, wanted) -> None:
        self.source.committed(wanted.end)
        self.position = wanted.end

    def end(self):
        """What a manifest has."""
        self.source.close()
        query = self.source._query
        assert query is not None
        assert not query.isActive
        return self.position


@pytest.fixture
def files(tmp_path):
    for number in range(4):
        put(tmp_path / "input", number)
    return tmp_path


def test_batches_come_one_by_one(local_spark, files):
    life = Life(local_spark, files)
    assert life.position == {"query": None, "batch": -1}
    seen = []
    for number in range(4):
        wanted, rows = life.take()
        assert wanted.end["batch"] == number
        assert len(rows) == 2
        life.commit(wanted)
        seen += rows
    put(files / "input", 4)
    wanted, rows = life.take()
    assert sorted(seen) == list(range(8))
    assert rows == [8, 9]
    assert not life.source.ended(wanted.end)
    life.end()


def test_range_is_read_again(local_spark, files):
    life = Life(local_spark, files)
    wanted, rows = life.take()
    assert life.rows(wanted) == rows
    life.end()


#: Where a run is killed, for each of its batches.
WINDOWS = ("before the commit", "before Spark's commit", "after Spark's commit")


def killed(life: Life, wanted, window: str):
    """Ends a run at a moment of a batch: what is left is what a kill leaves there. Returns the
    position in the manifest."""
    if window == "before the commit":
        return life.end()
    if window == "before Spark's commit":
        life.end()  # the error that Spark gets keeps it from committing the batch
        return wanted.end
    life.commit(wanted)
    life.await_range()  # Spark has committed the batch, and planned another one
    return life.end()


@pytest.mark.parametrize("window", WINDOWS)
def test_every_row_once(local_spark, files, window):
    """With a kill in every batch, and once more in the batch that is repeated."""
    seen, position = [], None
    for number in range(4):
        life = Life(local_spark, files, position)
        wanted, rows = life.take()
        position = killed(life, wanted, window)
        if window == "before the commit":
            again = Life(local_spark, files, position)
            wanted, repeated = again.take()
            assert repeated == rows
            again.commit(wanted)
            again.source.close()
            position = wanted.end
        assert position["batch"] == number
        seen += rows
        put(files / "input", 4 + number)
    life = Life(local_spark, files, position)
    while len(seen) < 16:
        wanted, rows = life.take()
        seen += rows
        life.commit(wanted)
    life.end()
    assert sorted(seen) == list(range(16))


def test_published_batch_is_read_once_more(local_spark, files):
    life = Life(local_spark, files)
    wanted, rows = life.take()
    start = life.end()
    again = Life(local_spark, files, start)
    replayed = again.source.between(start, wanted.end)
    assert replayed.end == wanted.end
    assert again.rows(replayed) == rows
    again.end()


def test_published_batch_that_spark_does_not_know_is_refused(local_spark, files):
    life = Life(local_spark, files)
    wanted, _ = life.take()
    life.commit(wanted)
    position = life.end()
    for file in (files / "spark" / "offsets").glob("1"):
        file.unlink()
    again = Life(local_spark, files, position)
    with pytest.raises(InputError, match="batch 1 must be read once more"):
        again.source.between(position, {**position, "batch": 1})
    again.source.close()


def test_checkpoint_of_spark_that_is_ahead_is_refused(local_spark, files):
    """As after going back to an older copy of the job's checkpoint."""
    life = Life(local_spark, files)
    older = None
    for _ in range(3):
        wanted, _ = life.take()
        life.commit(wanted)
        older = older or wanted.end
    life.end()
    with pytest.raises(HamletError, match="Spark's checkpoint is ahead"):
        Life(local_spark, files, older)


def test_way_out_of_a_checkpoint_that_is_ahead(local_spark, files):
    """What the hint says, done with a real checkpoint of Spark: no row is lost."""
    life, seen = Life(local_spark, files), []
    for _ in range(3):
        wanted, rows = life.take()
        life.commit(wanted)
        seen.append((wanted.end, rows))
    life.await_range()
    life.end()
    older, batch = seen[0][0], seen[0][0]["batch"]
    for folder, most in (("commits", batch), ("offsets", batch + 1)):
        for file in (files / "spark" / folder).iterdir():
            number = file.name.strip(".").removesuffix(".crc")
            if int(number) > most:
                file.unlink()
    again = Life(local_spark, files, older)
    found = list(seen[0][1])
    while len(found) < 8:
        wanted, rows = again.take()
        again.commit(wanted)
        found += rows
    again.end()
    assert sorted(found) == list(range(8))


def test_new_query_in_an_old_place_is_refused(local_spark, files):
    life = Life(local_spark, files)
    wanted, _ = life.take()
    life.commit(wanted)
    life.end()
    with pytest.raises(HamletError, match="is of another query"):
        Life(local_spark, files, {**wanted.end, "query": "another"})


def test_query_that_fails_is_started_again(local_spark, files):
    """The second time, the function gets through."""
    warnings: list[str] = []
    frame = frame_of(local_spark, files / "input")
    life = Life(local_spark, files, frame=frame, warn=warnings.append)
    offer = life.source._batches.offer
    fails = iter([True, False])

    def failing(batch, number):
        if next(fails, False):
            raise OSError("out of luck")
        offer(batch, number)

    life.source._batches.offer = failing
    wanted, rows = life.take()
    assert len(rows) == 2
    assert len(warnings) == 1
    assert warnings[0].startswith("Spark's query of s is started again: ")
    life.commit(wanted)
    life.end()


def test_query_that_fails_again_and_again(local_spark, files, monkeypatch):
    monkeypatch.setattr(streaming_frame, "MOST_RESTARTS", 2)
    broken = frame_of(local_spark, files / "input").selectExpr("time", "type", "n")
    life = Life(local_spark, files, frame=broken)

    def failing(batch, number):
        raise OSError("out of luck")

    life.source._batches.offer = failing
    with pytest.raises(EnvironmentFailure, match="failed again after 2 restarts"):
        life.await_range()
    life.source.close()


def test_what_is_there_now(local_spark, files):
    """A query whose trigger ends it: the source is exhausted, but its windows stay open."""
    life = Life(local_spark, files, trigger={"availableNow": True})
    seen = []
    for _ in range(4):
        wanted, rows = life.take()
        assert not life.source.exhausted
        life.commit(wanted)
        seen += rows
    until = time.monotonic() + PATIENCE_S
    while not life.source.exhausted:
        assert time.monotonic() < until
        assert life.source.next(life.position, 0) is None
        time.sleep(0.01)
    assert not life.source.ended(life.position)
    position = life.end()
    assert sorted(seen) == list(range(8))

    put(files / "input", 4)
    again = Life(local_spark, files, position, trigger={"availableNow": True})
    assert again.take()[1] == [8, 9]
    again.end()


def test_time_in_text_is_that_of_the_first_rows(local_spark, files):
    frame = frame_of(local_spark, files / "input")
    text = frame.selectExpr("concat('2026-03-01T00:00:0', time, 'Z') AS time", "type", "n")
    life = Life(local_spark, files, frame=text)
    assert life.source.clock() == pa.timestamp("us", "UTC")
    assert len(life.take()[1]) == 2  # it is still there
    life.end()
    assert Life(local_spark, files).source.clock() is None


def test_frame_that_ends_is_refused(local_spark, files):
    with pytest.raises(InputError, match="s is not a streaming frame"):
        Life(local_spark, files, frame=local_spark.read.parquet(str(files / "input")))


def test_frame_that_spark_cannot_stream(local_spark, files):
    counted = frame_of(local_spark, files / "input").groupBy("time", "type", "n").count()
    life = Life(local_spark, files, frame=counted)
    with pytest.raises(InputError, match="Spark cannot follow s: Append output mode not supported"):
        life.await_range()
