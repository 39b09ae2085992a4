"""Files that links replace after they were listed: where the links lead, nothing is read."""

from pathlib import Path
from typing import Any, cast

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from runtime.io.folder import leads_outside
from runtime.io.reader import ReadRequest
from runtime.language.parser import parse
from runtime.pipeline.bound_workload import BoundWorkload
from runtime.pipeline.routing_table import InputFormat
from spark_ingest.pipeline.event_pipeline import EventPipeline
from spark_ingest.sources.files import FileSource

NO_SPARK = cast(SparkSession, None)
QUERIES = parse("RETURN COUNT(*) AS n PATTERN A+ WITHIN 1 hour")
SCHEMA = pa.schema([("time", pa.int64()), ("type", pa.string())])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Files in a folder, and files like them elsewhere."""
    for base in (tmp_path / "in", tmp_path / "elsewhere"):
        (base / "sub").mkdir(parents=True)
        for name in ("1.csv", "sub/2.csv"):
            (base / name).write_text("time,type\n1,A\n")
    return tmp_path / "in"


def test_links_out_of_the_folder_are_dead_letters(folder: Path) -> None:
    """A file, and a folder on the way to one."""
    needs = ReadRequest("time", "type", QUERIES.uses)
    source = FileSource(NO_SPARK, folder, needs, bounded=False, schema=SCHEMA, unit="us")
    wanted = source.next(source.first(), 1 << 20)
    assert wanted is not None
    for name in ("1.csv", "sub"):
        (folder / name).rename(folder / f".{name}")
        (folder / name).symlink_to(folder.parent / "elsewhere" / name)
    bound = BoundWorkload(QUERIES, InputFormat("time", "type", "us", SCHEMA), "float")
    found = source.read(wanted, EventPipeline(bound.routing(4, 1)))
    assert found.frame is None
    letters: list[Any] = [row for table in found.lost for row in table.to_pylist()]
    assert [(each["source"], each["reason"]) for each in letters] == [
        (f"{folder}/{name}", "it has become a link that leads out of the folder")
        for name in ("1.csv", "sub/2.csv")
    ]


def test_where_a_path_leads(folder: Path) -> None:
    (folder / "inside.csv").symlink_to("sub/2.csv")
    (folder / "outside.csv").symlink_to("../elsewhere/1.csv")
    (folder.parent / "named").symlink_to(folder)
    assert not leads_outside(folder, str(folder / "1.csv"))
    assert not leads_outside(folder, str(folder / "inside.csv"))
    assert not leads_outside(folder.parent / "named", str(folder.parent / "named" / "1.csv"))
    assert leads_outside(folder, str(folder / "outside.csv"))
