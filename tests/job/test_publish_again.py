"""A resumed job publishes the last epoch again only if nobody knows whether it was published, and
only into the same sink."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hamlet.job.epoch import Epoch
from hamlet.job.epoch_commit import EpochCommitter
from hamlet.job.epoch_reader import EpochRows
from pipeline.records import COLUMNS, WORKLOAD, numbers
from runtime.errors import HamletError
from runtime.language.parser import parse
from runtime.pipeline.aggregation import EpochCommand, EpochResult
from runtime.pipeline.blob_store import BlobStore, CorruptCheckpoint
from runtime.pipeline.checkpoint import CheckpointStore
from runtime.pipeline.manifest import Manifest
from runtime.pipeline.routing_table import InputFormat
from runtime.pipeline.settings import Settings
from runtime.pipeline.shard import ShardStatistics
from spark_ingest.sinks.file_sink import FileSink, RollingPolicy
from spark_ingest.sinks.sink import ReplayPoint
from spark_ingest.sources.source import SourceRange

EVERY_EPOCH = RollingPolicy(seconds=0.0)
COLLIDING = parse("QUERY Q RETURN COUNT(*) PATTERN A WITHIN 1 minute\n"
                  "QUERY q RETURN COUNT(*) PATTERN A WITHIN 1 minute")  # fmt: skip


class Killed(BaseException):
    """The process ends here."""


class KilledAfterPublishing(FileSink):
    def publish(self, epoch: int, results: Any, replay: ReplayPoint | None) -> None:
        super().publish(epoch, results, replay)
        raise Killed


class Run:
    """A start of the job: the product's classes, without processes."""

    def __init__(self, folder: Path, output: Path, format: str = "parquet", **options: Any) -> None:
        self.workload = options.get("workload", WORKLOAD)
        self.checkpoints = CheckpointStore(BlobStore(str(folder / "checkpoint")))
        self.committed = self.checkpoints.claim(pytest.fail)
        self.sink = options.get("sink", FileSink)(
            output,
            format,
            [query.name for query in self.workload],
            EVERY_EPOCH,
            self.checkpoints.folders,
        )
        self.sink.recover(-1 if self.committed is None else self.committed.epoch)
        context: Any = SimpleNamespace(
            checkpoints=self.checkpoints,
            sink=self.sink,
            source=SimpleNamespace(name="input"),
            settings=Settings(),
            shards=1,
            given={},
        )
        self.committer = EpochCommitter(context)
        if self.committed is not None:
            self.committer.publish_again(self.committed)

    def commit(self, **rows: pa.Table) -> Manifest:
        number = 0 if self.committed is None else self.committed.epoch + 1
        bound: Any = SimpleNamespace(
            tables=lambda partials: rows,
            workload=self.workload,
            input_format=InputFormat(columns=COLUMNS),
        )
        read = EpochRows(SourceRange({"at": number}, {"at": number + 1}))
        epoch = Epoch(EpochCommand(number), read, bound, {})
        answer = EpochResult(number, [], {}, ShardStatistics())
        self.committed = self.committer.commit(epoch, [answer], self.committed).manifest
        return self.committed


def files(folder: Path) -> list[str]:
    found = folder.rglob("part-*")
    return sorted(str(path.relative_to(folder)) for path in found if path.is_file())


def test_after_another_output_nothing_is_there_twice(tmp_path: Path) -> None:
    Run(tmp_path, tmp_path / "one").commit(q=numbers(1))
    Run(tmp_path, tmp_path / "two").commit(q=numbers(2))
    assert files(tmp_path) == [
        "one/q.parquet/part-000000000.parquet",
        "two/q.parquet/part-000000001.parquet",
    ]


def test_after_another_format_nothing_is_there_twice(tmp_path: Path) -> None:
    Run(tmp_path, tmp_path / "out").commit(q=numbers(1))
    Run(tmp_path, tmp_path / "out", "csv").commit(q=numbers(2))
    assert files(tmp_path / "out") == [
        "q.csv/part-000000001.csv",
        "q.parquet/part-000000000.parquet",
    ]


def test_a_part_that_a_reader_moved_away_stays_away(tmp_path: Path) -> None:
    Run(tmp_path, tmp_path / "out").commit(q=numbers(1))
    (part,) = (tmp_path / "out").rglob("part-*")
    part.rename(tmp_path / "moved")
    Run(tmp_path, tmp_path / "out")
    assert files(tmp_path / "out") == []


def test_a_query_keeps_its_folder_when_one_of_a_similar_name_goes(tmp_path: Path) -> None:
    """On some disks `Q` and `q` are one name, so one of the two folders has another."""
    Run(tmp_path, tmp_path / "out", workload=COLLIDING).commit(Q=numbers(1), q=numbers(2))
    before = files(tmp_path / "out")
    assert len(before) == 2
    again = Run(tmp_path, tmp_path / "out", workload=COLLIDING.without_query("Q"))
    assert files(tmp_path / "out") == before
    again.commit(q=numbers(3))
    folders = {path.split("/")[0] for path in files(tmp_path / "out")}
    assert folders == {path.split("/")[0] for path in before}
    (own,) = folders - {"Q.parquet"}
    rows = [
        pq.read_table(each)["n"][0].as_py() for each in sorted((tmp_path / "out" / own).iterdir())
    ]
    assert rows == [2, 3]


def killed(tmp_path: Path) -> None:
    """A run that dies before it can write down that it has published."""
    run = Run(tmp_path, tmp_path / "one", sink=KilledAfterPublishing)
    with pytest.raises(Killed):
        run.commit(q=numbers(1))


def test_what_may_be_missing_is_published_again(tmp_path: Path) -> None:
    killed(tmp_path)
    (part,) = (tmp_path / "one").rglob("part-*")
    part.unlink()  # as if the run had died a moment earlier
    Run(tmp_path, tmp_path / "one")
    assert files(tmp_path) == ["one/q.parquet/part-000000000.parquet"]


@pytest.mark.parametrize(("output", "format"), [("two", "parquet"), ("one", "csv")])
def test_what_may_be_missing_is_not_published_elsewhere(
    tmp_path: Path, output: str, format: str
) -> None:
    """Not even once more after a run that was refused. With the old sink the job goes on, and then
    the sink may change."""
    killed(tmp_path)
    for _ in range(2):
        with pytest.raises(HamletError, match="confirmed that the results of epoch 0") as error:
            Run(tmp_path, tmp_path / output, format)
        assert f"--output {tmp_path}/one --format parquet" in str(error.value.hint)
    Run(tmp_path, tmp_path / "one")
    Run(tmp_path, tmp_path / output, format)
    assert files(tmp_path) == ["one/q.parquet/part-000000000.parquet"]


def test_a_damaged_mark_only_means_that_nobody_knows(tmp_path: Path) -> None:
    run = Run(tmp_path, tmp_path / "one")
    run.commit(q=numbers(1))
    for name in run.checkpoints.store.names():
        if name.endswith(".published"):
            run.checkpoints.store.write(name, b"")
    with pytest.raises(HamletError, match="ended before it confirmed"):
        Run(tmp_path, tmp_path / "two")
    Run(tmp_path, tmp_path / "one")
    Run(tmp_path, tmp_path / "two")
    assert files(tmp_path) == ["one/q.parquet/part-000000000.parquet"]


def test_a_folder_in_a_manifest_cannot_lead_out_of_the_output(tmp_path: Path) -> None:
    with pytest.raises(CorruptCheckpoint, match="cannot be the name of a file with results"):
        FileSink(tmp_path / "out", "parquet", folders={"q": "../../evil"})
