"""A large file is read in parts: each row once, in order, and with its number in the file."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
import pytest

from runtime.errors import InputError
from runtime.io.reader import ReadRequest
from runtime.language.parser import parse
from runtime.pipeline.bound_workload import BoundWorkload
from runtime.pipeline.routing_table import InputFormat
from runtime.types.columns import TIME
from spark_ingest.arrow_export import ArrowExport
from spark_ingest.pipeline.event_pipeline import EventPipeline
from spark_ingest.sources.file_ranges import FilePart
from spark_ingest.sources.files import FileSource
from spark_ingest.sources.source import SourceFrame, SourceRange

ROWS = 5_000
LIMIT = 15_000
QUERIES = parse("RETURN COUNT(*) AS n PATTERN A+ WITHIN 1 hour")
NEEDS = ReadRequest("time", "type", QUERIES.uses)
FORMATS = ("csv", "jsonl", "parquet")


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("spark_ingest.sources.file_ranges.LEAST_SPLIT", 5_000)


def write(path: Path) -> None:
    rows = pa.table(
        {"time": range(ROWS), "type": ["A"] * ROWS, "more": [n % 7 for n in range(ROWS)]}
    )
    if path.suffix == ".csv":
        pa_csv.write_csv(rows, path)
    elif path.suffix == ".parquet":
        # Some groups are larger than a piece, and the last is small.
        pq.write_table(rows, path, row_group_size=1_111, compression="none", use_dictionary=False)
    else:
        path.write_text("".join(f'{{"time": {n}, "type": "A"}}\n' for n in range(ROWS)))


def opened(spark: Any, path: Path, **options: Any) -> FileSource:
    return FileSource(spark, path, NEEDS, unit="us", **options)


def pipeline(source: FileSource) -> EventPipeline:
    bound = BoundWorkload(QUERIES, InputFormat("time", "type", "us", source.schema), "float")
    return EventPipeline(bound.routing(4, 1))


def ranges(source: FileSource, limit: int = LIMIT) -> Iterator[SourceRange]:
    position = source.first()
    while (wanted := source.next(position, limit)) is not None:
        yield wanted
        position = wanted.end


def times(spark: Any, read: SourceFrame) -> list[int]:
    assert read.frame is not None
    parts = ArrowExport(spark, blocks=False).park(read.frame, read.only).parts
    assert len(parts) == len(read.origins)
    return [time for part in parts for time in part.fetch()[TIME].cast(pa.int64()).to_pylist()]


@pytest.mark.parametrize("suffix", FORMATS)
def test_each_row_once_and_in_order(local_spark: Any, tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"events.{suffix}"
    write(path)
    source = opened(local_spark, path)
    found: list[int] = []
    planned = list(ranges(source))
    for wanted in planned:
        read = source.read(wanted, pipeline(source))
        rows = times(local_spark, read)
        assert times(local_spark, source.read(wanted, pipeline(source))) == rows
        again = source.between(wanted.start, wanted.end)
        assert times(local_spark, source.read(again, pipeline(source))) == rows
        if read.part is None:  # the footer of Parquet has the numbers
            assert {origin.first for origin in read.origins} == {len(found)}
            assert read.rows == len(rows)
        else:
            assert read.part.is_last == (wanted is planned[-1])
        found += rows
    assert found == list(range(ROWS))
    assert len(planned) > 3
    assert planned[-1].end == {"files": [path.name]}
    assert sum(wanted.bytes for wanted in planned) == path.stat().st_size


def test_rows_after_the_first_part_need_the_same_pieces(local_spark: Any, tmp_path: Path) -> None:
    """A run with other cores goes on with the pieces of the first."""
    path = tmp_path / "events.csv"
    write(path)
    source = opened(local_spark, path)
    first = next(ranges(source))
    later = opened(local_spark, path).next(first.end, 400_000)
    assert later is not None
    assert isinstance(later.work, FilePart)
    assert later.work.piece == first.work.piece
    rows = times(local_spark, source.read(first, pipeline(source)))
    assert [*rows, *times(local_spark, source.read(later, pipeline(source)))] == list(range(ROWS))


def test_small_files_before_and_after_a_large_one(local_spark: Any, tmp_path: Path) -> None:
    for name in ("0.jsonl", "1.jsonl", "3.jsonl"):
        (tmp_path / name).write_text('{"time": 1, "type": "A"}\n')
    write(tmp_path / "2.jsonl")
    source = opened(local_spark, tmp_path)
    planned = list(ranges(source))
    assert [len(wanted.work) for wanted in planned if isinstance(wanted.work, list)] == [2, 1]
    parts = [wanted.work for wanted in planned if isinstance(wanted.work, FilePart)]
    assert [part.at for part in parts[1:]] == [part.until for part in parts[:-1]]
    size = sum(path.stat().st_size for path in tmp_path.iterdir())
    backlogs = [source.backlog(wanted.start) for wanted in planned]
    assert backlogs == [size - sum(p.bytes for p in planned[:n]) for n in range(len(planned))]


def test_a_file_that_changes_between_its_parts(local_spark: Any, tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    write(path)
    source = opened(local_spark, path)
    first, second, *_ = ranges(source)
    os.utime(path, ns=(1, 1))
    for ask in (
        lambda: source.next(first.end, LIMIT),
        lambda: source.between(second.start, second.end),
    ):
        with pytest.raises(InputError, match="has changed since a part of it was read") as error:
            ask()
        assert error.value.hint is not None


def test_a_file_that_goes_between_its_parts(local_spark: Any, tmp_path: Path) -> None:
    """In a folder, its rest is a dead letter."""
    write(tmp_path / "0.csv")
    (tmp_path / "1.csv").write_text("time,type\n1,A\n")
    source = opened(local_spark, tmp_path)
    first = next(ranges(source))
    source.read(first, pipeline(source))
    (tmp_path / "0.csv").unlink()
    wanted = source.next(first.end, LIMIT)
    assert wanted is not None
    readable = source.quarantine_unreadable(wanted)
    assert readable is not None
    assert readable.end == {"files": ["0.csv"]}
    read = source.read(readable, pipeline(source))
    assert read.frame is None
    assert read.part is not None
    assert read.part.is_last
    assert read.lost[0]["source"].to_pylist() == [str(tmp_path / "0.csv")]
    with pytest.raises(InputError, match="gone, and must be read once more"):
        source.between(first.start, first.end)


def test_row_groups_tell_the_earliest_time_to_come(local_spark: Any, tmp_path: Path) -> None:
    """A part's floor is that of the row groups behind it, and the last has none."""
    write(tmp_path / "events.parquet")
    source = opened(local_spark, tmp_path / "events.parquet")
    rows, floors = 0, []
    for wanted in ranges(source):
        read = source.read(wanted, pipeline(source))
        rows += read.rows or 0
        floors.append(read.floor)
        assert read.floor == (None if rows == ROWS else rows)
    assert len(floors) >= 3


def test_large_row_groups_are_warned_about(
    local_spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("spark_ingest.sources.files.MOST_ROW_GROUP", 5_000)
    write(tmp_path / "events.parquet")
    warnings: list[str] = []
    source = opened(local_spark, tmp_path / "events.parquet", warn=warnings.append)
    list(ranges(source))
    (warning,) = warnings
    assert "has a row group with" in warning


def test_what_cannot_be_split_is_one_range(local_spark: Any, tmp_path: Path) -> None:
    path = tmp_path / "events.csv"
    write(path)
    needs = ReadRequest("time", "type", QUERIES.uses, multiline=True)
    (wanted,) = ranges(FileSource(local_spark, path, needs, unit="us"))
    assert isinstance(wanted.work, list)
