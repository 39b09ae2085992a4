"""Pieces of state: what is read is what was written, or it is said to be damaged."""

import pyarrow as pa
import pytest

from runtime.pipeline.blob_store import BlobStore, CorruptCheckpoint
from runtime.pipeline.checkpoint_files import HEADER, CheckpointFiles
from runtime.pipeline.state_segments import (
    SavedUnit,
    Segment,
    SegmentWriter,
    events_of,
    log_of,
)

DATA = [b"first", b"", b"the third one"]


@pytest.fixture
def folder(tmp_path) -> CheckpointFiles:
    return CheckpointFiles(BlobStore(str(tmp_path), durable=False))


@pytest.fixture
def pieces(folder: CheckpointFiles) -> list[Segment]:
    writer = SegmentWriter("state/1.state", 1)
    found = [writer.add(pa.py_buffer(data), n) for n, data in enumerate(DATA)]
    assert writer.write(folder) == HEADER + sum(map(len, DATA))
    return found


def test_each_is_read_by_itself(folder: CheckpointFiles, pieces: list[Segment]) -> None:
    assert [piece.read(folder).to_pybytes() for piece in pieces] == DATA
    assert [piece.watermark for piece in pieces] == [0, 1, 2]


def test_no_pieces_no_file(folder: CheckpointFiles) -> None:
    assert SegmentWriter("state/1.state", 1).write(folder) == 0
    assert folder.names("state") == []


@pytest.mark.parametrize("place", [0, 4, 5, 17])
def test_a_changed_byte_is_found(
    folder: CheckpointFiles, pieces: list[Segment], place: int
) -> None:
    data = bytearray(folder.store.read("a/state/1.state").to_pybytes())
    data[HEADER + place] ^= 1
    folder.store.write("a/state/1.state", bytes(data))
    hit = 0 if place < 5 else 2
    with pytest.raises(CorruptCheckpoint, match=r"state/1.state is damaged"):
        pieces[hit].read(folder)
    assert pieces[2 - hit].read(folder).to_pybytes() == DATA[2 - hit]


@pytest.mark.parametrize("length", [0, 5, 17])
def test_a_cut_file_is_found(folder: CheckpointFiles, pieces: list[Segment], length: int) -> None:
    whole = folder.store.read("a/state/1.state").to_pybytes()
    folder.store.write("a/state/1.state", whole[: HEADER + length])
    with pytest.raises(CorruptCheckpoint):
        pieces[2].read(folder)


def test_a_missing_file_is_found(folder: CheckpointFiles, pieces: list[Segment]) -> None:
    folder.delete("state/1.state")
    with pytest.raises(CorruptCheckpoint, match="is missing"):
        pieces[0].read(folder)


def test_saved_goes_through_json(pieces: list[Segment]) -> None:
    only_logs = SavedUnit().with_log(pieces[0]).with_log(pieces[2])
    with_snapshot = SavedUnit(pieces[1], (pieces[2],))
    for saved in (SavedUnit(), only_logs, with_snapshot):
        assert SavedUnit.from_json(saved.to_json()) == saved
    assert only_logs.log_bytes == len(DATA[0]) + len(DATA[2])
    assert with_snapshot.files == {"state/1.state"}
    assert SavedUnit().files == set()


def test_a_log_gives_its_batches_again() -> None:
    batches = [pa.record_batch({"x": [1, 2]}), pa.record_batch({"x": [3]})]
    assert list(events_of(log_of(batches))) == batches
