"""What nobody else keeps is kept for one epoch more, in case the job has to go back by one."""

from collections.abc import Callable, Iterator

import pyarrow as pa
import pyarrow.parquet as pq

from cluster.faults import stream
from cluster.pipelines import reading
from runtime.io.reader import ReadRequest
from runtime.types.attribute_kinds import AttributeKind
from runtime.types.schema import Schema
from spark_ingest.sources.segments import SegmentSource
from tools.patience import PATIENCE_S
from tools.unfinished import left_by_killed_process

COUNT = 4
NEEDS = ReadRequest("time", "type", {"driver": AttributeKind.ANY}, Schema({}))


class Feed:
    name = "feed"
    suffix = ".parquet"
    ordered = False
    repeatable = True

    def segments(self, done: int, stopped: Callable[[], bool]) -> Iterator[bytes]:
        for number in range(done, COUNT):
            sink = pa.BufferOutputStream()
            pq.write_table(stream.table(number), sink)
            yield sink.getvalue().to_pybytes()


def opened(spark, folder, start=0):
    source = SegmentSource(spark, Feed(), folder, NEEDS, bounded=False, unit="ms", start=start)
    source._thread.join(PATIENCE_S)
    return source


def drivers(source, wanted):
    frame = source.read(wanted, reading(source, ["driver"], "ms")).frame
    return frame.toPandas()["driver"].tolist()


def test_goes_back_by_one_epoch(spark, tmp_path):
    source = opened(spark, tmp_path)
    first = source.next(source.first(), 1)
    second = source.next(first.end, 1)
    assert first.end == {"segment": 1}
    expected = drivers(source, second)
    assert expected == stream.table(1)["driver"].to_pylist()
    source.committed(first.end)
    source.committed(second.end)
    source.close()
    assert sorted(path.name[:9] for path in tmp_path.glob("[!_]*")) == [
        f"{number:09d}" for number in (2, 3, 4)
    ]
    assert len(list(tmp_path.glob("_*"))) == 3
    left_by_killed_process(tmp_path / "000000005.parquet")

    back = opened(spark, tmp_path, start=1)
    again = back.next(first.end, 1)
    assert again.end == second.end
    assert drivers(back, again) == expected
    assert back.next(again.end, 1).end == {"segment": 3}
    assert not list(tmp_path.glob(".*"))
    back.close()
