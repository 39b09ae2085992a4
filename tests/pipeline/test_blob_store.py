"""A folder whose files appear whole or not at all."""

import os
import pickle
from pathlib import Path

import pytest

from runtime.errors import HamletError
from runtime.pipeline.blob_store import BlobStore


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
