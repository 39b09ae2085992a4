"""Files of a checkpoint: a changed byte is found wherever it is, and the other copy serves."""

import pickle
from pathlib import Path

import pyarrow as pa
import pytest

from runtime.pipeline import checkpoint_files
from runtime.pipeline.blob_store import BlobStore, CorruptCheckpoint
from runtime.pipeline.checkpoint_files import HEADER, CheckpointFiles

NAME = "state/000000007-x.state"


@pytest.fixture
def files(tmp_path: Path) -> CheckpointFiles:
    found = CheckpointFiles(BlobStore(str(tmp_path)), "000000001-abc")
    found.write(NAME, 7, b"some ", pa.py_buffer(b"content"))
    return found


def change(files: CheckpointFiles, copy: str, place: int, bit: int = 1) -> None:
    name = f"{copy}/{NAME}"
    data = bytearray(files.store.read(name).to_pybytes())
    data[place] ^= bit
    files.store.write(name, bytes(data))


def test_what_is_written_is_read(files: CheckpointFiles) -> None:
    assert files.read(NAME).to_pybytes() == b"some content"
    assert pickle.loads(pickle.dumps(files)).read(NAME).to_pybytes() == b"some content"
    assert files.names("state") == [NAME]
    assert files.store.names() == [f"a/{NAME}", f"b/{NAME}"]


def test_a_file_tells_its_epoch_and_its_owner(files: CheckpointFiles) -> None:
    header = files.store.read(f"a/{NAME}", 0, HEADER).to_pybytes()
    assert b'"epoch": 7, "owner": "000000001-abc"' in header


def test_every_changed_bit_is_found_and_the_other_copy_serves(files: CheckpointFiles) -> None:
    size = files.store.read(f"a/{NAME}").size
    for place in range(size):
        change(files, "a", place, 1 << place % 8)
        assert files.read(NAME).to_pybytes() == b"some content"
        assert files.repair(NAME) == [f"a/{NAME}"], place
        assert files.repair(NAME) == []


@pytest.mark.parametrize("length", [0, 1, HEADER - 1, HEADER, HEADER + 5])
def test_a_cut_copy_is_found(files: CheckpointFiles, length: int) -> None:
    whole = files.store.read(f"b/{NAME}").to_pybytes()
    files.store.write(f"b/{NAME}", whole[:length])
    assert files.repair(NAME) == [f"b/{NAME}"]
    assert files.store.read(f"b/{NAME}").to_pybytes() == whole


def test_a_lost_copy_is_written_again(files: CheckpointFiles) -> None:
    files.store.delete(f"a/{NAME}")
    assert files.read(NAME).to_pybytes() == b"some content"
    assert files.names("state") == [NAME]
    assert files.repair(NAME) == [f"a/{NAME}"]
    assert files.store.exists(f"a/{NAME}")


def test_both_copies_are_damaged(files: CheckpointFiles) -> None:
    change(files, "a", 0)
    change(files, "b", HEADER)
    with pytest.raises(CorruptCheckpoint, match="is damaged"):
        files.read(NAME)
    with pytest.raises(CorruptCheckpoint, match="in every copy"):
        files.repair(NAME)


def test_a_range_is_read_from_the_intact_copy(files: CheckpointFiles) -> None:
    import zlib

    change(files, "a", HEADER + 6)
    crc = zlib.crc32(b"content")
    assert files.read_range(NAME, 5, 7, crc).to_pybytes() == b"content"
    change(files, "b", HEADER + 6)
    with pytest.raises(CorruptCheckpoint, match="is damaged"):
        files.read_range(NAME, 5, 7, crc)


def test_a_file_under_another_name_is_found(files: CheckpointFiles) -> None:
    data = files.store.read(f"a/{NAME}").to_pybytes()
    files.store.write("a/state/other", data)
    with pytest.raises(CorruptCheckpoint, match="is a copy of"):
        files.read("state/other")


def test_another_version(files: CheckpointFiles, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkpoint_files, "FORMAT", checkpoint_files.FORMAT + 1)
    with pytest.raises(CorruptCheckpoint, match="another version of Hamlet"):
        files.read(NAME)


def test_what_does_not_outlive_its_run_has_one_copy(tmp_path: Path) -> None:
    files = CheckpointFiles(BlobStore(str(tmp_path), durable=False))
    files.write(NAME, 7, b"x")
    assert files.store.names() == [f"a/{NAME}"]
