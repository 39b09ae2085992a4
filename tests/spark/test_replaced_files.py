"""A file that a link replaces after it was listed: nothing of where the link leads is read."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from runtime.io.reader import ReadRequest
from runtime.language.parser import parse
from runtime.pipeline.bound_workload import BoundWorkload
from runtime.pipeline.routing_table import InputFormat
from runtime.types.columns import TIME
from spark_ingest.arrow_export import ArrowExport
from spark_ingest.pipeline.event_pipeline import EventPipeline
from spark_ingest.sources.files import FileSource
from spark_ingest.sources.source import SourceFrame

QUERIES = parse("RETURN COUNT(*) AS n PATTERN A+ WITHIN 1 hour")
NEEDS = ReadRequest("time", "type", QUERIES.uses)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Files in a folder, and files like them elsewhere."""
    for base, first in ((tmp_path / "in", 1), (tmp_path / "elsewhere", 7)):
        (base / "sub").mkdir(parents=True)
        for number, name in enumerate(("1.csv", "2.csv", "sub/3.csv"), first):
            (base / name).write_text(f"time,type\n{number},A\n")
    return tmp_path / "in"


def opened(spark: Any, path: Path, **options: Any) -> FileSource:
    return FileSource(spark, path, NEEDS, unit="us", bounded=False, **options)


def replace(path: Path, target: Path) -> None:
    path.rename(path.with_name(f".{path.name}"))
    path.symlink_to(target)


def read(source: FileSource, *replaced: tuple[Path, Path]) -> SourceFrame:
    """Files are replaced after their range was planned."""
    wanted = source.next(source.first(), 1 << 20)
    assert wanted is not None
    for path, target in replaced:
        replace(path, target)
    bound = BoundWorkload(QUERIES, InputFormat("time", "type", "us", source.schema), "float")
    return source.read(wanted, EventPipeline(bound.routing(4, 1)))


def times(spark: Any, frame: SourceFrame) -> list[int]:
    assert frame.frame is not None
    parts = ArrowExport(spark, blocks=False).park(frame.frame, frame.only).parts
    return sorted(
        time for part in parts for time in part.fetch()[TIME].cast(pa.int64()).to_pylist()
    )


def test_a_link_out_of_the_folder_is_a_dead_letter(local_spark: Any, folder: Path) -> None:
    elsewhere = folder.parent / "elsewhere"
    places = [(folder / name, elsewhere / name) for name in ("1.csv", "sub")]
    found = read(opened(local_spark, folder), *places)
    assert times(local_spark, found) == [2]
    assert [(each["source"][0].as_py(), each["reason"][0].as_py()) for each in found.lost] == [
        (f"{folder}/{name}", "it has become a link that leads out of the folder")
        for name in ("1.csv", "sub/3.csv")
    ]


def test_a_link_within_the_folder_is_read(local_spark: Any, folder: Path) -> None:
    found = read(opened(local_spark, folder), (folder / "1.csv", folder / ".1.csv"))
    assert times(local_spark, found) == [1, 2, 3]


def test_links_are_followed_if_asked(local_spark: Any, folder: Path) -> None:
    place = folder / "1.csv", folder.parent / "elsewhere" / "1.csv"
    found = read(opened(local_spark, folder, follow_links=True), place)
    assert times(local_spark, found) == [2, 3, 7]


def test_the_file_that_the_user_names_may_be_a_link(local_spark: Any, folder: Path) -> None:
    (folder / "link.csv").symlink_to("../elsewhere/1.csv")
    assert times(local_spark, read(opened(local_spark, folder / "link.csv"))) == [7]
