"""Input folders that somebody has made to end a run: what cannot be read is skipped, and said."""

import os
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from hamlet.job.input_resolver import resolve_input
from hamlet.job.resolved_input import InputOptions
from runtime.errors import EnvironmentFailure, InputError
from runtime.io.folder import list_files
from runtime.io.read import open_input
from runtime.io.reader import ReadRequest
from runtime.pipeline.blob_store import CorruptCheckpoint
from spark_ingest.sources.files import FileSource

ROW = "time,type\n1,A\n"
NOBODY = 65_534
BAD = os.fsdecode(b"\xff.csv")
NEEDS = ReadRequest("time", "type", {})


def followed(folder: Path, said: list[str]) -> FileSource:
    """The list of files needs no Spark, only their rows do."""
    spark: Any = None
    return FileSource(spark, folder, NEEDS, bounded=False, unit="us", warn=said.append)


@contextmanager
def without_rights() -> Iterator[None]:
    """Nothing is forbidden to root."""
    if os.geteuid():
        yield
        return
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.fixture
def public() -> Iterator[Path]:
    """A folder that a user without rights can enter, unlike pytest's."""
    with tempfile.TemporaryDirectory(dir="/tmp") as name:
        folder = Path(name)
        folder.chmod(0o755)
        (folder / "sub").mkdir()
        for file in ("1.csv", "sub/2.csv"):
            (folder / file).write_text(ROW)
        yield folder
        (folder / "sub").chmod(0o755)


def test_names_that_are_not_utf8_are_skipped_with_one_line(tmp_path: Path):
    (tmp_path / "good é 駅.csv").write_text(ROW)
    (tmp_path / BAD).write_text("not, even\nrows")
    (tmp_path / os.fsdecode(b"folder \xe9")).mkdir()
    (tmp_path / os.fsdecode(b"folder \xe9/deep.csv")).write_text(ROW)
    (tmp_path / os.fsdecode(b"link\xfe.csv")).symlink_to("good é 駅.csv")
    found = list_files(tmp_path, None)
    assert found.files == ["good é 駅.csv"]
    assert list(found.warnings()) == [
        r"folder \xe9 and 2 more are skipped: the name is not UTF-8; rename it"
    ]
    with open_input(tmp_path) as source:
        assert [block.batch.num_rows for block in source] == [1]


def test_a_position_never_has_such_a_name(tmp_path: Path):
    (tmp_path / "1.csv").write_text(ROW)
    said: list[str] = []
    source = followed(tmp_path, said)
    assert said == []
    (tmp_path / BAD).write_text(ROW)
    (tmp_path / "2.csv").write_text(ROW)
    wanted = source.next(source.first(), 1 << 30)
    assert wanted is not None
    assert wanted.end == {"files": ["1.csv", "2.csv"]}
    assert said == [r"\xff.csv is skipped: the name is not UTF-8; rename it"]
    for name in (BAD, "\ud800.csv"):
        with pytest.raises(CorruptCheckpoint, match="is not an input file"):
            source.between(source.first(), {"files": ["1.csv", name]})


@pytest.mark.parametrize("name", [BAD, os.fsdecode(b"\xff"), "\ud800"])
def test_a_name_that_is_given_is_refused(tmp_path: Path, name: str):
    text = str(tmp_path / name)
    for read in (
        lambda: open_input(text),
        lambda: resolve_input(InputOptions(text, NEEDS)),
        lambda: resolve_input(InputOptions(f"spark:csv?path={text}", NEEDS)),
    ):
        with pytest.raises(InputError, match="not UTF-8") as raised:
            read()
        assert raised.value.hint == "rename it"


@pytest.fixture
def nested(tmp_path: Path) -> Iterator[Path]:
    """Python, and so pytest, cannot remove what is nested that deep."""
    yield tmp_path
    subprocess.run(["rm", "-rf", tmp_path], check=True)


def test_folders_may_be_nested_deeper_than_calls(nested: Path):
    deep = nested
    for _ in range(1_100):
        deep /= "d"
        deep.mkdir()
    (deep / "1.csv").write_text(ROW)
    assert list_files(nested, None).files == [os.sep.join(["d"] * 1_100 + ["1.csv"])]


def test_folders_whose_files_cannot_be_opened_are_skipped(nested: Path):
    """The system would not open a path of more than 4,096 bytes."""
    (nested / "1.csv").write_text(ROW)
    here = os.open(nested, os.O_RDONLY)
    for _ in range(20):
        os.mkdir("d" * 250, dir_fd=here)
        below = os.open("d" * 250, os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = below
        os.close(os.open("f" * 250 + ".csv", os.O_CREAT | os.O_WRONLY, dir_fd=here))
    os.close(here)
    found = list_files(nested, None)
    assert found.files[0] == "1.csv"
    assert 10 < len(found.files) < 20
    for name in found.files:
        (nested / name).stat()
    assert list(found.unreadable.values()) == ["its path is too long"]


@pytest.mark.parametrize("mode", [0o000, 0o444, 0o111])
def test_a_folder_that_may_not_be_read_is_skipped(public: Path, mode: int):
    (public / "sub").chmod(mode)
    with without_rights():
        found = list_files(public, None)
    assert found.files == ["1.csv"]
    assert list(found.warnings()) == ["the folder sub/ is skipped: Permission denied"]


def test_the_input_itself_must_be_readable(public: Path):
    (public / "sub").chmod(0)
    with without_rights(), pytest.raises(InputError, match="Permission denied"):
        list_files(public / "sub", None)


def test_a_folder_that_could_not_be_read_for_a_while_is_not_read_again(public: Path):
    said: list[str] = []
    source = followed(public, said)
    first = source.next(source.first(), 1 << 30)
    assert first is not None
    assert first.end == {"files": ["1.csv", "sub/2.csv"]}
    (public / "3.csv").write_text(ROW)
    (public / "sub").chmod(0)
    with without_rights():
        second = source.next(first.end, 1 << 30)
    assert second is not None
    assert said == ["the folder sub/ is skipped: Permission denied"]
    (public / "sub").chmod(0o755)
    assert source.next(second.end, 1 << 30) is None


def test_a_folder_that_vanishes_while_it_is_listed_is_skipped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    for name in ("1.csv", "kept/2.csv", "gone/3.csv"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(ROW)
    scandir = os.scandir

    def vanishing(path: str) -> Any:
        if "gone" in path:
            (tmp_path / "gone").rename(tmp_path / ".gone")
        return scandir(path)

    monkeypatch.setattr(os, "scandir", vanishing)
    found = list_files(tmp_path, None)
    assert found.files == ["1.csv", "kept/2.csv"]
    assert found.unreadable == {"gone/": "No such file or directory"}


def test_a_disk_that_fails_hides_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """A run that went on would be without rows that are there."""
    (tmp_path / "sub").mkdir()
    scandir = os.scandir

    def failing(path: str) -> Any:
        if "sub" in path:
            raise OSError(5, "Input/output error")
        return scandir(path)

    monkeypatch.setattr(os, "scandir", failing)
    with pytest.raises(EnvironmentFailure, match="Input/output error"):
        list_files(tmp_path, None)
