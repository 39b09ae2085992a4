"""A large file is read in parts: each row once, in order, and with its number in the file."""

import gzip
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
import pytest

from hamlet.job.input_resolver import resolve_input
from hamlet.job.resolved_input import InputOptions
from runtime.errors import HamletError, InputError
from runtime.io.reader import ReadRequest
from runtime.language.parser import parse
from runtime.pipeline.bound_workload import BoundWorkload
from runtime.pipeline.routing_table import InputFormat
from runtime.temporary_folder import OWNER, TemporaryFolder
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
FORMATS = ("csv", "jsonl", "parquet", "csv.gz", "jsonl.gz")


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("spark_ingest.sources.file_ranges.LEAST_SPLIT", 5_000)


def write(path: Path) -> None:
    rows = pa.table(
        {"time": range(ROWS), "type": ["A"] * ROWS, "more": [n % 7 for n in range(ROWS)]}
    )
    if path.suffix == ".gz":
        plain = path.with_suffix("")
        write(plain)
        path.write_bytes(gzip.compress(plain.read_bytes()))
        plain.unlink()
    elif path.suffix == ".csv":
        pa_csv.write_csv(rows, path)
    elif path.suffix == ".parquet":
        # Some groups are larger than a piece, and the last is small.
        pq.write_table(rows, path, row_group_size=1_111, compression="none", use_dictionary=False)
    else:
        path.write_text("".join(f'{{"time": {n}, "type": "A"}}\n' for n in range(ROWS)))


def opened(spark: Any, path: Path, **options: Any) -> FileSource:
    folder = path if path.is_dir() else path.parent
    return FileSource(spark, path, NEEDS, unit="us", unpack_to=folder.parent, **options)


def size_of(path: Path) -> int:
    """How many bytes Spark reads of a file."""
    opening = gzip.open if path.suffix == ".gz" else open
    with opening(path, "rb") as file:
        return len(file.read())


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
    assert sum(wanted.bytes for wanted in planned) == size_of(path)


@pytest.mark.parametrize("suffix", ["csv", "csv.gz"])
def test_rows_after_the_first_part_need_the_same_pieces(
    local_spark: Any, tmp_path: Path, suffix: str
) -> None:
    """A run with other cores goes on with the pieces of the first."""
    path = tmp_path / f"events.{suffix}"
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


@pytest.mark.parametrize("suffix", ["jsonl", "jsonl.gz"])
def test_a_file_that_changes_between_its_parts(
    local_spark: Any, tmp_path: Path, suffix: str
) -> None:
    path = tmp_path / f"events.{suffix}"
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


# ---- compressed files ----------------------------------------------------------------------


def copies(folder: Path) -> list[Path]:
    """The unpacked files in a folder of temporary ones."""
    return sorted(folder.glob("hamlet-unpacked-*/[0-9]*"))


def test_a_copy_goes_when_its_file_was_read(local_spark: Any, tmp_path: Path) -> None:
    folder = tmp_path / "events"
    folder.mkdir()
    for name in ("0.csv.gz", "1.csv.gz"):
        write(folder / name)
    source = opened(local_spark, folder)
    for wanted in ranges(source):
        source.read(wanted, pipeline(source))
        (copy,) = copies(tmp_path)
        assert copy.stat().st_size == wanted.work.file.size
        source.committed(wanted.end)
        assert copy.exists() == ("part" in wanted.end)
    source.close()
    assert list(tmp_path.iterdir()) == [folder]


def test_users_delete_compressed_files_that_were_read(local_spark: Any, tmp_path: Path) -> None:
    folder = tmp_path / "events"
    folder.mkdir()
    for name in ("0.csv.gz", "1.csv.gz"):
        write(folder / name)
    source = opened(local_spark, folder, bounded=False)
    first, *_, last = [each for each in ranges(source) if each.work.file.path.endswith("0.csv.gz")]
    (folder / "0.csv.gz").unlink()
    source.committed(first.end)
    assert len(copies(tmp_path)) == 2
    source.committed({**last.end, "files": []})  # as a later listing has it
    assert len(copies(tmp_path)) == 1


def test_small_compressed_files_are_read_together(local_spark: Any, tmp_path: Path) -> None:
    """By what is in them, however small they are."""
    folder = tmp_path / "events"
    folder.mkdir()
    text = "time,type\n" + "1,A\n" * 1_000
    for name in ("0.csv.gz", "1.csv.gz", "2.csv.gz", "3.csv.gz"):
        (folder / name).write_bytes(gzip.compress(text.encode()))
    source = opened(local_spark, folder)
    planned = list(ranges(source, 2 * len(text)))
    assert [len(wanted.work) for wanted in planned] == [2, 2]
    assert [wanted.bytes for wanted in planned] == [2 * len(text)] * 2
    assert list(tmp_path.iterdir()) == [folder]


def test_a_damaged_compressed_file_gives_no_row(local_spark: Any, tmp_path: Path) -> None:
    """Though its first part could be read."""
    folder = tmp_path / "events"
    folder.mkdir()
    text = "time,type\n" + "".join(f"{n},A\n" for n in range(1_000_000))
    data = gzip.compress(text.encode(), 1)
    (folder / "0.csv.gz").write_bytes(data)
    source = opened(local_spark, folder, bounded=False)
    (folder / "0.csv.gz").write_bytes(data[:-5])
    (wanted,) = ranges(source)
    read = source.read(wanted, pipeline(source))
    assert read.frame is None
    (letter,) = read.lost[0].to_pylist()
    assert (
        letter["reason"]
        == "damaged: Compressed file ended before the end-of-stream marker was reached"
    )
    assert copies(tmp_path) == []


def test_a_place_without_room_for_copies_is_not_damage(local_spark: Any, tmp_path: Path) -> None:
    write(tmp_path / "events.csv.gz")
    source = FileSource(
        local_spark, tmp_path / "events.csv.gz", NEEDS, unit="us", unpack_to=Path("/dev/full")
    )
    with pytest.raises(HamletError, match="cannot write /dev/full") as caught:
        next(ranges(source))
    assert "make room" in (caught.value.hint or "")


def test_copies_of_killed_runs_are_removed(local_spark: Any, tmp_path: Path) -> None:
    write(tmp_path / "events.csv.gz")
    kept = TemporaryFolder("unpacked-", str(tmp_path))
    killed = tmp_path / "hamlet-unpacked-killed"
    killed.mkdir()
    (killed / OWNER).write_text("1\n")  # which nobody locks
    FileSource(local_spark, tmp_path / "events.csv.gz", NEEDS, unit="us", unpack_to=tmp_path)
    assert kept.path.exists()
    assert not killed.exists()
    kept.remove()


def test_without_a_place_for_copies_a_compressed_file_is_one_range(
    local_spark: Any, tmp_path: Path
) -> None:
    """`hamlet explain` reads no more than what columns are known from."""
    write(tmp_path / "events.csv.gz")
    options = InputOptions(str(tmp_path / "events.csv.gz"), NEEDS, unit="us", unpack=False)
    source = resolve_input(options).open(local_spark, tmp_path, None, None)
    (wanted,) = ranges(source)
    assert isinstance(wanted.work, list)
    assert times(local_spark, source.read(wanted, pipeline(source))) == list(range(ROWS))
