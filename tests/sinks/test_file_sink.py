"""Result files: complete, never lost or there twice, and few."""

from collections.abc import Mapping
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from runtime.errors import HamletError
from runtime.io.atomic import AtomicFiles
from spark_ingest.sinks.file_sink import FileSink, RollingPolicy, check_result_files
from spark_ingest.sinks.sink import PendingResults
from tools.unfinished import left_by_killed_process


@pytest.fixture
def output(tmp_path: Path) -> Path:
    return tmp_path / "output"


def numbers(*values: int) -> pa.Table:
    return pa.table({"n": pa.array(values, pa.int64())})


def rows(output: Path) -> list[int]:
    found = sorted((output / "q.parquet").glob("part-*"))
    return [n for path in found for n in pq.read_table(path)["n"].to_pylist()]


def publish(sink: FileSink, epoch: int, *results: Mapping[str, pa.Table]) -> None:
    sink.publish(epoch, results, None)


def test_a_part_has_the_results_of_all_epochs_that_waited(output: Path) -> None:
    sink = FileSink(output, "parquet")
    publish(sink, 3, {"q": numbers(1)}, {"q": numbers(2, 3), "_late": numbers(9)})
    publish(sink, 4, {"q": numbers(4)})
    names = sorted(str(path.relative_to(output)) for path in output.rglob("*") if path.is_file())
    assert names == [
        "_late/part-000000003.parquet",
        "q.parquet/part-000000003.parquet",
        "q.parquet/part-000000004.parquet",
    ]
    assert rows(output) == [1, 2, 3, 4]


def test_a_column_that_appears_later(output: Path) -> None:
    wide = pa.table({"n": pa.array([2], pa.int64()), "n_log2": [0.5]})
    publish(FileSink(output, "parquet"), 1, {"q": numbers(1)}, {"q": wide})
    found = pq.read_table(output / "q.parquet" / "part-000000001.parquet")
    assert found.to_pylist() == [{"n": 1, "n_log2": None}, {"n": 2, "n_log2": 0.5}]


def test_publishing_again_writes_the_same(output: Path) -> None:
    sink = FileSink(output, "parquet")
    publish(sink, 1, {"q": numbers(1, 2)})
    (part,) = output.rglob("part-*")
    before = part.read_bytes()
    part.write_bytes(b"")  # as after a loss of power
    again = FileSink(output, "parquet")
    again.recover(1)
    publish(again, 1, {"q": numbers(1, 2)})
    assert part.read_bytes() == before


def test_results_are_due_by_size_or_by_age_or_at_the_end(output: Path) -> None:
    sink = FileSink(output, "parquet", rolling=RollingPolicy(bytes=100, seconds=5.0))
    assert not sink.is_due(PendingResults(99, 4.9, final=False))
    assert sink.is_due(PendingResults(100, 0.0, final=False))
    assert sink.is_due(PendingResults(1, 5.0, final=False))
    assert sink.is_due(PendingResults(1, 0.0, final=True))


def test_parts_that_the_checkpoint_does_not_know_are_refused_and_stay(output: Path) -> None:
    """They may be the only copy: the input of their epoch may be gone."""
    sink = FileSink(output, "parquet")
    publish(sink, 0, {"q": numbers(0)})
    publish(sink, 1, {"q": numbers(1)})
    with pytest.raises(HamletError, match="up to epoch 1, but the checkpoint ends with epoch 0"):
        FileSink(output, "parquet").recover(0)
    with pytest.raises(HamletError, match="holds results of another run"):
        FileSink(output, "parquet").recover(-1)
    assert rows(output) == [0, 1]


def test_a_run_may_publish_while_another_one_looks(output: Path) -> None:
    sink = FileSink(output, "parquet")
    publish(sink, 0, {"q": numbers(0)})

    def committed() -> int:
        publish(sink, 1, {"q": numbers(1)})
        return 1

    check_result_files(output, committed)


def test_unfinished_parts_of_a_killed_run_go(output: Path) -> None:
    publish(FileSink(output, "parquet"), 0, {"q": numbers(0)})
    left = left_by_killed_process(output / "q.parquet" / "part-000000001.parquet")
    FileSink(output, "parquet").recover(0)
    assert not left.exists()
    assert rows(output) == [0]


def test_unfinished_parts_of_a_living_run_stay(output: Path) -> None:
    """A run that was taken over must not stop the one that took over."""
    publish(FileSink(output, "parquet"), 0, {"q": numbers(0)})
    files, part = AtomicFiles(), output / "q.parquet" / "part-000000001.parquet"
    with files.open(part) as file:
        file.write(b"whole")
    FileSink(output, "parquet").recover(0)
    files.publish()
    assert part.read_bytes() == b"whole"
