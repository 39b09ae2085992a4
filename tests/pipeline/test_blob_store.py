"""A folder whose files appear whole or not at all."""

import os
import pickle
from collections.abc import Iterator
from pathlib import Path

import pytest

from runtime.errors import HamletError
from runtime.pipeline.blob_store import BlobStore, CorruptCheckpoint
from runtime.pipeline.local_folder import LocalFolder


@pytest.fixture(params=["path", "uri"])
def folder(request, tmp_path: Path) -> BlobStore:
    address = str(tmp_path / "f") if request.param == "path" else (tmp_path / "f").as_uri()
    found = BlobStore(address)
    found.create()
    return found


def test_what_is_written_is_read(folder: BlobStore) -> None:
    assert folder.write("deep/er/name", b"some", b" bytes") == 10
    assert folder.read("deep/er/name").to_pybytes() == b"some bytes"
    assert folder.read("deep/er/name", 5).to_pybytes() == b"bytes"
    assert folder.read("deep/er/name", 2, 3).to_pybytes() == b"me "
    folder.write("deep/er/name", b"")
    assert folder.read("deep/er/name").to_pybytes() == b""


def test_names_are_listed_in_order(folder: BlobStore) -> None:
    for name in ("b/2", "b/10", "a", "b/c/1"):
        folder.write(name, b"x")
    assert folder.names() == ["a", "b/10", "b/2", "b/c/1"]
    assert folder.names("b") == ["b/10", "b/2", "b/c/1"]
    assert folder.names("none") == []


def test_deleting_what_is_gone_is_no_error(folder: BlobStore) -> None:
    folder.write("a", b"x")
    assert folder.exists("a")
    folder.delete("a")
    folder.delete("a")
    assert not folder.exists("a")


def test_a_missing_file(folder: BlobStore) -> None:
    with pytest.raises(FileNotFoundError):
        folder.read("none")


def test_a_write_that_fails_leaves_nothing(tmp_path: Path) -> None:
    folder = BlobStore(str(tmp_path))
    folder.write("a", b"before")
    with pytest.raises(TypeError):
        folder.write("a", b"half", 7)  # type: ignore[arg-type]
    assert os.listdir(tmp_path) == ["a"]
    assert folder.read("a").to_pybytes() == b"before"


def test_two_containers_with_one_process_id_write_one_file_at_once(tmp_path: Path) -> None:
    """They share the disk, and each has its own process 1."""
    folder, other = LocalFolder(tmp_path, durable=False), LocalFolder(tmp_path, durable=False)

    def parts() -> Iterator[bytes]:
        yield b"one, "
        other.write("deep/name", [b"two"])
        assert folder.read("deep/name", 0, None).to_pybytes() == b"two"
        yield b"whole"

    assert folder.write("deep/name", parts()) == 10  # type: ignore[arg-type]
    assert folder.read("deep/name", 0, None).to_pybytes() == b"one, whole"
    assert os.listdir(tmp_path / "deep") == ["name"]


def test_a_new_file_replaces_none(tmp_path: Path) -> None:
    folder = LocalFolder(tmp_path, durable=True)
    assert folder.write_new("deep/name", [b"first"])
    assert not folder.write_new("deep/name", [b"second"])
    assert folder.read("deep/name", 0, None).to_pybytes() == b"first"
    assert os.listdir(tmp_path / "deep") == ["name"]


def test_where_nothing_can_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(HamletError, match="cannot write"):
        BlobStore(str(tmp_path / "file" / "below")).create()
    with pytest.raises(HamletError, match="cannot use nowhere://"):
        BlobStore("nowhere://bucket")


def test_it_is_pickled_as_its_address(folder: BlobStore, monkeypatch, tmp_path: Path) -> None:
    folder.write("a", b"x")
    again = pickle.loads(pickle.dumps(folder))
    assert again.address == folder.address
    assert again.read("a").to_pybytes() == b"x"


@pytest.mark.parametrize("name", ["../x", "/etc/x", "a/../../x", "a//b", "", ".", "a/./b", "a\nb"])
def test_names_that_leave_the_folder_are_refused(tmp_path: Path, name: str) -> None:
    """Whoever can write a manifest could otherwise write and delete any file."""
    folder = BlobStore(str(tmp_path / "inside"))
    folder.create()
    (tmp_path / "x").write_text("mine")
    for use in (folder.read, folder.delete, folder.exists, lambda name: folder.write(name, b"")):
        with pytest.raises(CorruptCheckpoint, match="is not the name of a file in a checkpoint"):
            use(name)
    assert (tmp_path / "x").read_text() == "mine"


def test_only_its_user_can_read_it(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        folder = BlobStore(str(tmp_path / "new" / "state"))
        folder.create()
        folder.write("deep/file", b"x")
    finally:
        os.umask(before)
    modes = {path.name: path.stat().st_mode & 0o777 for path in (tmp_path / "new").rglob("*")}
    assert modes == {"state": 0o700, "deep": 0o700, "file": 0o600}
    assert (tmp_path / "new").stat().st_mode & 0o777 == 0o700


def test_nothing_is_reached_through_a_link(tmp_path: Path) -> None:
    """Whoever can write to the folder could otherwise lead a run to any file of its user."""
    folder = BlobStore(str(tmp_path / "inside"))
    folder.create()
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "thesis.txt").write_text("mine")
    (tmp_path / "inside" / "x").symlink_to(outside)
    (tmp_path / "inside" / "y").symlink_to(outside / "thesis.txt")
    for use in (folder.read, folder.delete, folder.exists, lambda name: folder.write(name, b"")):
        with pytest.raises(CorruptCheckpoint, match="x is a symbolic link") as error:
            use("x/thesis.txt")
        assert "no links in it" in str(error.value.hint)
    with pytest.raises(CorruptCheckpoint, match="symbolic link"):
        folder.read("y")
    for below in ("", "x"):
        with pytest.raises(CorruptCheckpoint, match="is a symbolic link"):
            folder.names(below)
    assert not folder.exists("y")
    folder.write("y", b"a file in place of the link")
    folder.delete("y")
    assert (outside / "thesis.txt").read_text() == "mine"
    assert os.listdir(outside) == ["thesis.txt"]


def test_the_folder_itself_may_be_behind_a_link(tmp_path: Path) -> None:
    (tmp_path / "disk").mkdir()
    (tmp_path / "state").symlink_to(tmp_path / "disk")
    folder = BlobStore(str(tmp_path / "state"))
    folder.create()
    folder.write("a/b", b"x")
    assert folder.names() == ["a/b"]
    assert (tmp_path / "disk" / "a" / "b").read_bytes() == b"x"


def test_an_upload_that_fails_leaves_no_object() -> None:
    """Arrow completes it with what was written so far, which would look like the newest record."""
    bucket = BlobStore("mock://bucket/folder")
    bucket.create()
    with pytest.raises(TypeError):
        bucket.write("1", b"half", 7)  # type: ignore[arg-type]
    assert bucket.names() == []
    bucket.write("1", b"whole")
    assert bucket.names() == ["1"]
    assert bucket.read("1").to_pybytes() == b"whole"


def test_new_folders_are_synced_into_those_above(tmp_path: Path, monkeypatch) -> None:
    synced: set[str] = set()
    real = os.fsync

    def fsync(number: int) -> None:
        synced.add(os.readlink(f"/proc/self/fd/{number}"))
        real(number)

    monkeypatch.setattr(os, "fsync", fsync)
    folder = BlobStore(str(tmp_path / "new" / "state"))
    folder.create()
    folder.write("a/epochs/1", b"x")
    wanted = [tmp_path, tmp_path / "new", tmp_path / "new/state", tmp_path / "new/state/a"]
    assert {str(each) for each in wanted} <= synced


def test_what_a_failed_upload_was_to_replace_is_still_there() -> None:
    """A lease that could not be renewed is one that a new run must wait for."""
    bucket = BlobStore("mock://bucket/folder")
    bucket.create()
    bucket.write("lease", b"1")
    for name, replace in (("lease", True), ("record", False)):
        with pytest.raises(TypeError):
            bucket.write(name, b"half", 7, replace=replace)  # type: ignore[arg-type]
    assert bucket.names() == ["lease"]
