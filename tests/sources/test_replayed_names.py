"""Positions that are read once more come from a checkpoint or from a sink's topic: nobody who can
write there gets another file read."""

import json
from pathlib import Path
from typing import Any, cast

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from runtime.errors import InputError
from runtime.io.reader import ReadRequest
from runtime.pipeline.blob_store import CorruptCheckpoint
from spark_ingest.sinks.kafka import parsed_mark
from spark_ingest.sinks.sink import ReplayPoint
from spark_ingest.sources.files import FileSource

NO_SPARK = cast(SparkSession, None)
SCHEMA = pa.schema([("time", pa.int64()), ("type", pa.string())])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two files, a file without data, and what is not to be read."""
    (tmp_path / "secret.csv").write_text("root:x:0:0\n")
    found = tmp_path / "in"
    (found / "sub").mkdir(parents=True)
    for name in ("1.csv", "sub/2.csv", "notes.txt", ".hidden.csv", "_draft.csv"):
        (found / name).write_text("time,type\n1,A\n")
    (found / "link.csv").symlink_to("../secret.csv")
    return found


def source(path: Path) -> FileSource:
    needs = ReadRequest("time", "type", {})
    return FileSource(NO_SPARK, path, needs, bounded=False, schema=SCHEMA)


def replayed(folder: Path, *names: Any) -> list[str]:
    wanted = source(folder).between({"files": []}, {"files": list(names)})
    return [file.path for file in wanted.work]


def test_what_was_read_is_read_again(folder: Path) -> None:
    assert replayed(folder, "1.csv", "sub/2.csv") == [str(folder / "1.csv"), f"{folder}/sub/2.csv"]


def test_a_file_that_was_read_before_may_be_gone(folder: Path) -> None:
    wanted = source(folder).between({"files": ["0.csv"]}, {"files": ["0.csv", "1.csv"]})
    assert [file.path for file in wanted.work] == [str(folder / "1.csv")]


def test_a_file_that_is_needed_and_gone(folder: Path) -> None:
    with pytest.raises(InputError, match=r"in/3\.csv is gone, and must be read once more"):
        replayed(folder, "3.csv")


@pytest.mark.parametrize(
    "name",
    [
        *("../secret.csv", "sub/../../secret.csv", "./1.csv", "sub//2.csv", "", "gone/../1.csv"),
        *("link.csv", "notes.txt", ".hidden.csv", "_draft.csv", "sub", "1.csv\0", 7, None),
    ],
)
def test_a_name_that_no_listing_gives_is_refused(folder: Path, name: Any) -> None:
    with pytest.raises(CorruptCheckpoint):
        replayed(folder, name)


def test_an_absolute_name_is_refused(folder: Path) -> None:
    for path in (folder / "1.csv", folder.parent / "secret.csv"):
        with pytest.raises(CorruptCheckpoint, match="is not an input file in"):
            replayed(folder, str(path))


def test_another_name_than_that_of_the_only_file(folder: Path) -> None:
    assert replayed(folder / "1.csv", "1.csv") == [str(folder / "1.csv")]
    with pytest.raises(CorruptCheckpoint):
        replayed(folder / "1.csv", "../secret.csv")


@pytest.mark.parametrize("position", [{}, {"files": "1.csv"}, {"files": {"1.csv": 1}}])
def test_a_position_without_a_list_of_files(folder: Path, position: dict[str, Any]) -> None:
    with pytest.raises(CorruptCheckpoint, match="is not a list of files"):
        source(folder).between({"files": []}, position)


# ---- the marker of a sink ------------------------------------------------------------------

POINT = {"position": {"files": []}, "watermark": 7, "clocks": {"c": 9}, "last": False}


def test_a_marker_is_parsed() -> None:
    assert parsed_mark(b'{"epoch": 3}', "it") == (3, None)
    found = parsed_mark(json.dumps({"epoch": 3, "turn": POINT}).encode(), "it")
    assert found == (3, ReplayPoint({"files": []}, 7, {"c": 9}))


@pytest.mark.parametrize(
    "mark",
    [
        *(b"", b"no json", b"\xff\xfe", b"7", b"[]", b"{}", b'{"epoch": "3"}', b'{"epoch": true}'),
        *(
            json.dumps({"epoch": 3, "turn": turn}).encode()
            for turn in [
                *(7, "x", [], {}, {**POINT, "more": 1}, {**POINT, "position": ["1.csv"]}),
                *({**POINT, "watermark": "7"}, {**POINT, "clocks": [9]}, {**POINT, "last": 1}),
                {**POINT, "clocks": {"c": "9"}},
            ]
        ),
    ],
)
def test_a_marker_of_somebody_else_is_refused(mark: bytes) -> None:
    with pytest.raises(CorruptCheckpoint, match="rides-epochs is not one of Hamlet") as error:
        parsed_mark(mark, "the last marker in rides-epochs")
    assert "only runs of Hamlet may write" in str(error.value.hint)
