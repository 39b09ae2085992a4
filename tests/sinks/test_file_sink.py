"""Parts: seen at once, on the disk a little later, and never lost or there twice."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from runtime.errors import HamletError
from runtime.pipeline.blob_store import BlobStore
from spark_ingest.sinks import file_sink
from spark_ingest.sinks.file_sink import PartsSink
from spark_ingest.sinks.staging import Staging


@pytest.fixture
def staging(tmp_path: Path) -> Staging:
    return Staging(BlobStore(str(tmp_path / "checkpoint")))


@pytest.fixture
def output(tmp_path: Path) -> Path:
    return tmp_path / "output"


def numbers(*values: int) -> pa.Table:
    return pa.table({"n": pa.array(values, pa.int64())})


def part(output: Path, epoch: int) -> Path:
    return output / "q.parquet" / f"part-{epoch:09d}.parquet"


def rows(output: Path) -> list[int]:
    found = sorted((output / "q.parquet").glob("part-*"))
    return [n for path in found for n in pq.read_table(path)["n"].to_pylist()]


def published(output: Path, staging: Staging, *epochs: int) -> PartsSink:
    sink = PartsSink(output, "parquet", staging)
    for epoch in epochs:
        sink.stage(epoch, {"q": numbers(epoch), "empty": numbers()})
        sink.publish(epoch)
    return sink


def test_nothing_stays_staged_once_the_disk_has_it(output: Path, staging: Staging) -> None:
    sink = published(output, staging, 0, 1)
    assert rows(output) == [0, 1]
    sink.close()
    assert staging.epochs() == []
    assert [path.name for path in output.iterdir()] == ["q.parquet"]


def test_what_the_disk_did_not_get_is_published_again(
    output: Path, staging: Staging, monkeypatch: pytest.MonkeyPatch
) -> None:
    def lost(path: Path) -> None:
        raise HamletError(f"cannot write {path}: Input/output error")

    with monkeypatch.context() as patched:
        patched.setattr(file_sink, "sync_to_disk", lost)
        with pytest.raises(HamletError, match="Input/output error"):
            published(output, staging, 0).close()
    part(output, 0).write_bytes(b"")  # as after a loss of power
    again = PartsSink(output, "parquet", staging)
    again.recover(0)
    again.close()
    assert rows(output) == [0]
    assert staging.epochs() == []


def test_what_was_not_committed_is_taken_back(output: Path, staging: Staging) -> None:
    sink = published(output, staging, 0, 1)
    sink.stage(2, {"q": numbers(2)})
    sink.close()
    again = PartsSink(output, "parquet", staging)
    again.recover(0)
    assert rows(output) == [0]
    assert staging.epochs() == []
    again.close()


def test_parts_of_another_run_are_refused(output: Path, staging: Staging) -> None:
    published(output, staging, 0).close()
    with pytest.raises(HamletError, match="holds results of another run"):
        PartsSink(output, "parquet", staging).recover(-1)
