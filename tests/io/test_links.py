"""Links in an input folder: whoever can write to it cannot have other files of the machine read."""

import os
from pathlib import Path
from typing import Any

import pytest

from hamlet.job.input_resolver import FileInput
from hamlet.job.resolved_input import InputOptions
from runtime.errors import InputError
from runtime.io.folder import list_files
from runtime.io.read import open_input
from runtime.io.reader import ReadRequest
from spark_ingest.sources.files import FileSource

ROW = "time,type\n1,A\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with links of every kind, beside a secret."""
    (tmp_path / "secret.csv").write_text("root:x:0:0\nsecret,line\n")
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "deep.csv").write_text(ROW)
    found = tmp_path / "in"
    (found / "sub").mkdir(parents=True)
    (found / ".kept").mkdir()
    (found / ".kept" / "data.csv").write_text(ROW)
    (found / "1.csv").write_text(ROW)
    (found / "sub" / "2.csv").write_text(ROW)
    links = {
        "inside.csv": ".kept/data.csv",  # as a ConfigMap is mounted
        "sub/up.csv": "../1.csv",
        "self.csv": "self.csv",
        "ping.csv": "pong.csv",
        "pong.csv": "ping.csv",
        "gone.csv": "nothing.csv",
        "through.csv": "1.csv/x",
        "secret.csv": "../secret.csv",
        "absolute.csv": str(tmp_path / "secret.csv"),
        "sub/sneaky.csv": "../sub/../../secret.csv",
        "double.csv": "secret.csv",
        "around": ".",
        "sub/above": "..",
        "elsewhere": "../elsewhere",
    }
    for name, target in links.items():
        (found / name).symlink_to(target)
    return found


READ = ["1.csv", "inside.csv", f"sub{os.sep}2.csv", f"sub{os.sep}up.csv"]
CIRCLES = ["ping.csv", "pong.csv", "self.csv"]
NOWHERE = ["gone.csv", "through.csv"]
OUTSIDE = ["absolute.csv", "double.csv", "secret.csv", "sub/sneaky.csv"]
FOLDERS = ["around", "elsewhere", "sub/above"]


def test_links_that_leave_the_folder_are_skipped(folder: Path):
    found = list_files(folder, None)
    assert found.files == READ
    assert found.skipped == []
    reasons: dict[str, list[str]] = {}
    for name, reason in found.links.items():
        reasons.setdefault(reason.partition(";")[0], []).append(name)
    assert reasons == {
        "it leads in a circle": CIRCLES,
        "it leads nowhere": NOWHERE,
        "it leads out of the folder": OUTSIDE,
        "it leads to a folder": FOLDERS,
    }


def test_links_are_followed_if_asked(folder: Path):
    found = list_files(folder, None, follow_links=True)
    assert found.files == sorted(
        [*READ, *OUTSIDE, f"elsewhere{os.sep}deep.csv"], key=lambda name: name.split(os.sep)
    )
    assert set(found.links) == {*CIRCLES, *NOWHERE, "around", "sub/above"}


def test_folders_linked_in_a_circle_outside_end(folder: Path, tmp_path: Path):
    (tmp_path / "elsewhere" / "back").symlink_to(folder)
    (tmp_path / "elsewhere" / "again").symlink_to(".")
    found = list_files(folder, None, follow_links=True)
    assert f"elsewhere{os.sep}deep.csv" in found.files
    assert {"elsewhere/back", "elsewhere/again"} <= set(found.links)


def test_the_folder_itself_may_be_a_link(folder: Path, tmp_path: Path):
    (tmp_path / "named").symlink_to(folder)
    assert list_files(tmp_path / "named", None).files == READ


def test_no_line_of_a_file_elsewhere_is_read(folder: Path):
    with open_input(folder) as source:
        blocks = list(source)
        assert any("link secret.csv is skipped" in each for each in source.warnings)
    assert sum(block.batch.num_rows for block in blocks) == len(READ)
    assert sum(block.dead.num_rows for block in blocks) == 0


def test_a_folder_of_nothing_but_such_links_says_why(tmp_path: Path):
    (tmp_path / "secret.csv").write_text(ROW)
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.csv").symlink_to("../secret.csv")
    with pytest.raises(InputError, match="no data") as raised:
        open_input(tmp_path / "in")
    assert raised.value.hint == (
        "the link a.csv is skipped: it leads out of the folder; --follow-links follows it"
    )
    with open_input(tmp_path / "in", follow_links=True) as source:
        assert source.sources == [str(tmp_path / "in" / "a.csv")]


def test_both_engines_say_it_once(folder: Path):
    """The list of files needs no Spark, only their rows do."""
    spark: Any = None
    said: list[str] = []
    needs = ReadRequest("time", "type", {})
    given = FileInput(InputOptions(str(folder), needs, follow=True, warn=said.append))
    schema = given.probe_schema(folder)
    source = given.open(spark, folder, schema, None)
    assert isinstance(source, FileSource)
    first = source.next(source.first(), 1 << 30)
    assert first is not None
    assert [os.path.relpath(file.path, folder) for file in first.work] == READ
    with open_input(folder) as local:
        assert said == local.warnings

    (folder / "late.csv").symlink_to("../secret.csv")
    assert source.next(first.end, 1 << 30) is None
    assert source.next(first.end, 1 << 30) is None
    assert said[len(local.warnings) :] == [
        "the link late.csv is skipped: it leads out of the folder; --follow-links follows it"
    ]
