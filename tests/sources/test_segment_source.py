"""What the source of a socket or a generated stream does with damaged segments, before Spark."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, cast

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from runtime.io.reader import ReadRequest
from runtime.pipeline.blob_store import CorruptCheckpoint
from runtime.types.schema import Schema
from spark_ingest.sources.segment_files import DamagedSegment
from spark_ingest.sources.segments import SegmentSource
from tools.patience import PATIENCE_S

COUNT = 3
NEEDS = ReadRequest("time", "type", {}, Schema({}))
SCHEMA = pa.schema([("time", pa.int64()), ("type", pa.string())])
NO_SPARK = cast(SparkSession, None)


def content(number: int) -> bytes:
    return f'{{"time": {number}, "type": "A"}}\n'.encode()


class Lines:
    name = "lines"
    suffix = ".jsonl"
    ordered = False

    def __init__(self, repeatable: bool = False, count: int = COUNT) -> None:
        self.repeatable = repeatable
        self._count = count

    def segments(self, done: int, stopped: Callable[[], bool]) -> Iterator[bytes]:
        for number in range(done, self._count):
            yield content(number + 1)


class Opened:
    def __init__(self, folder: Path, feed: Lines, **options: Any) -> None:
        self.warnings: list[str] = []
        options = {"schema": SCHEMA, "owner": "me", "warn": self.warnings.append, **options}
        self.source = SegmentSource(NO_SPARK, feed, folder, NEEDS, bounded=False, **options)
        self.source._thread.join(PATIENCE_S)

    def all(self) -> list[Path]:
        """The files of all segments."""
        found = self.source.next({"segment": 0}, 1 << 20)
        assert found is not None
        assert found.end == {"segment": COUNT}
        return [Path(file.path) for file in found.work]


def flip(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[9] ^= 1  # the digit of the time, or of the digest
    path.write_bytes(data)


def plain(folder: Path, number: int) -> Path:
    (found,) = folder.glob(f"{number:09d}-*")
    return found


def copy(folder: Path, number: int) -> Path:
    return folder / f"_{number:09d}.sealed"


@pytest.mark.parametrize("lost", [plain, copy])
@pytest.mark.parametrize("damage", [flip, Path.unlink, lambda path: path.write_bytes(b"")])
def test_one_damaged_file_is_restored_at_the_start(
    tmp_path: Path, lost: Callable[[Path, int], Path], damage: Callable[[Path], None]
) -> None:
    Opened(tmp_path, Lines())
    damage(lost(tmp_path, 2))
    again = Opened(tmp_path, Lines())
    assert [path.read_bytes() for path in again.all()] == [content(n) for n in (1, 2, 3)]
    (warning,) = again.warnings
    assert "segment 2 in" in warning
    assert "restored" in warning


def test_a_missing_file_is_restored_when_its_range_is_planned(tmp_path: Path) -> None:
    opened = Opened(tmp_path, Lines())
    plain(tmp_path, 1).unlink()
    assert opened.all()[0].read_bytes() == content(1)
    plain(tmp_path, 2).unlink()
    (file,) = opened.source.between({"segment": 1}, {"segment": 2}).work
    assert Path(file.path).read_bytes() == content(2)
    assert len(opened.warnings) == 2


@pytest.mark.parametrize("end", [{}, {"segment": "2"}, {"segment": -1}, {"segment": None}])
def test_a_position_that_is_none(tmp_path: Path, end: dict[str, Any]) -> None:
    """It may come from the topic of a sink, to which others write."""
    with pytest.raises(CorruptCheckpoint, match="is not a position in a stream of segments"):
        Opened(tmp_path, Lines()).source.between({"segment": 0}, end)


def test_damage_between_the_check_and_spark_is_restored(tmp_path: Path) -> None:
    opened = Opened(tmp_path, Lines())
    wanted = opened.source.next({"segment": 0}, 1 << 20)
    assert wanted is not None
    flip(plain(tmp_path, 3))
    assert opened.source.quarantine_unreadable(wanted)  # to be read once more
    assert plain(tmp_path, 3).read_bytes() == content(3)
    assert not opened.source.quarantine_unreadable(wanted)


def test_both_damaged_is_never_read(tmp_path: Path) -> None:
    opened = Opened(tmp_path, Lines())
    wanted = opened.source.next({"segment": 0}, 1 << 20)
    assert wanted is not None
    flip(plain(tmp_path, 2))
    flip(copy(tmp_path, 2))
    with pytest.raises(DamagedSegment, match="segment 2 in"):
        opened.source.read(wanted, ["time", "type"])
    with pytest.raises(DamagedSegment, match="segment 2 in"):
        opened.source.quarantine_unreadable(wanted)


def test_both_missing_is_a_failure_and_not_the_users_error(tmp_path: Path) -> None:
    opened = Opened(tmp_path, Lines())
    for path in (plain(tmp_path, 2), copy(tmp_path, 2)):
        path.unlink()
    with pytest.raises(DamagedSegment):
        opened.source.between({"segment": 1}, {"segment": 2})
    with pytest.raises(DamagedSegment):
        opened.all()


def test_columns_are_not_read_from_a_damaged_segment(tmp_path: Path) -> None:
    Opened(tmp_path, Lines())
    flip(plain(tmp_path, 1))
    flip(copy(tmp_path, 1))
    with pytest.raises(DamagedSegment):
        Opened(tmp_path, Lines(), schema=None)


def test_a_generated_segment_is_generated_again(tmp_path: Path) -> None:
    Opened(tmp_path, Lines(repeatable=True))
    flip(plain(tmp_path, 2))
    copy(tmp_path, 2).unlink()
    again = Opened(tmp_path, Lines(repeatable=True), schema=None)
    assert [path.read_bytes() for path in again.all()] == [content(n) for n in (1, 2, 3)]
    assert copy(tmp_path, 2).exists()
    (warning,) = again.warnings
    assert "generated again" in warning


def test_damage_of_what_is_not_needed_ends_nothing(tmp_path: Path) -> None:
    """The segments of the last committed epoch are kept in case the job goes back."""
    Opened(tmp_path, Lines())
    flip(plain(tmp_path, 1))
    flip(copy(tmp_path, 1))
    again = Opened(tmp_path, Lines(), start=1)
    found = again.source.next({"segment": 1}, 1 << 20)
    assert found is not None
    assert len(found.work) == COUNT - 1
    again.source.committed({"segment": 2})
    assert not copy(tmp_path, 1).exists()


def test_dead_letters_name_a_segment_without_its_checksum(tmp_path: Path) -> None:
    opened = Opened(tmp_path, Lines())
    path = str(plain(tmp_path, 1))
    assert opened.source._shown(path) == str(tmp_path / "000000001.jsonl")
