"""A damaged segment is never read: Spark gets the rows that came, or the job ends."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow as pa
import pytest

from cluster.pipelines import reading
from runtime.io.reader import ReadRequest
from runtime.types.attribute_kinds import AttributeKind
from runtime.types.schema import Schema
from spark_ingest.sources.segment_files import DamagedSegment
from spark_ingest.sources.segments import SegmentSource
from spark_ingest.sources.source import SourceRange
from tools.patience import PATIENCE_S

NEEDS = ReadRequest("time", "type", {"x": AttributeKind.NUMBER}, Schema({}))
SCHEMA = pa.schema([("time", pa.int64()), ("type", pa.string()), ("x", pa.int64())])
LINES = [f'{{"time": {n}, "type": "A", "x": 1000}}' for n in range(3)]
VALUES = [1000] * len(LINES)


class Socket:
    name = "socket://127.0.0.1:9"
    suffix = ".jsonl"
    ordered = repeatable = False

    def segments(self, done: int, stopped: Callable[[], bool]) -> Iterator[bytes]:
        for line in LINES[done:]:
            yield f"{line}\n".encode()


def rows(source: SegmentSource, wanted: SourceRange) -> list[int]:
    frame = source.read(wanted, reading(source, ["x"])).frame
    assert frame is not None
    return sorted(row["x"] for row in frame.collect())


def flip(path: Path) -> None:
    """1000 becomes 9000 in a plain file."""
    data = bytearray(path.read_bytes())
    data[data.index(b"1000")] ^= 8
    path.write_bytes(data)


def test_a_flipped_bit_is_not_published(spark, tmp_path: Path) -> None:
    said: list[str] = []
    source = SegmentSource(
        spark, Socket(), tmp_path, NEEDS, bounded=False, schema=SCHEMA, warn=said.append
    )
    source._thread.join(PATIENCE_S)
    wanted = source.next(source.first(), 1 << 20)
    assert wanted is not None
    (plain,), copy = tmp_path.glob("000000002-*"), tmp_path / "_000000002.sealed"
    flip(plain)
    assert rows(source, wanted) == VALUES
    assert len(said) == 1
    flip(plain)
    flip(copy)
    with pytest.raises(DamagedSegment, match=r"segment 2 in"):
        rows(source, wanted)
    source.close()
