"""Checkpoints: the last whole epoch is found, nothing else is kept, and one run owns them."""

from collections import Counter
from pathlib import Path

import pyarrow as pa
import pytest

from runtime.errors import HamletError
from runtime.language.parser import parse
from runtime.pipeline.blob_store import BlobStore
from runtime.pipeline.checkpoint import CheckpointStore
from runtime.pipeline.manifest import Manifest, RunCounts
from runtime.pipeline.routing_table import InputFormat
from runtime.pipeline.state_segments import SavedUnit, SegmentWriter

WORKLOAD = parse("RETURN COUNT(*) PATTERN A WITHIN 1 minute")


@pytest.fixture
def folder(tmp_path: Path) -> BlobStore:
    return BlobStore(str(tmp_path / "checkpoint"))


def opened(folder: BlobStore, *said: str) -> tuple[CheckpointStore, Manifest | None]:
    """Opens the folder as a new run; it must warn of exactly this."""
    warned: list[str] = []
    checkpoints = CheckpointStore(folder)
    found = checkpoints.open(warned.append)
    assert len(warned) == len(said)
    assert all(part in warning for part, warning in zip(said, warned, strict=True))
    return checkpoints, found


def commit(checkpoints: CheckpointStore, epoch: int, before: SavedUnit | None = None) -> SavedUnit:
    """An epoch that logs a piece of its own after those before it."""
    writer = SegmentWriter(f"state/{epoch:09d}-0.pieces")
    saved = (before or SavedUnit()).with_log(
        writer.add(pa.py_buffer(b"state of %d" % epoch), epoch)
    )
    writer.write(checkpoints.folder)
    checkpoints.commit(
        Manifest(
            epoch=epoch,
            source="input",
            position={"at": epoch},
            watermark=epoch,
            newest=epoch,
            clocks={},
            workload=WORKLOAD,
            since={},
            given={},
            input_format=InputFormat(
                columns=pa.schema([("time", pa.int64()), ("type", pa.string())])
            ),
            settings={"numeric": "float", "ties": "strict"},
            shards=1,
            units={((), 0): saved},
            counts=RunCounts(dead=Counter()),
        )
    )
    return saved


def test_a_new_folder_has_none(folder: BlobStore) -> None:
    assert opened(folder)[1] is None


def test_the_last_one_is_found(folder: BlobStore) -> None:
    checkpoints, _ = opened(folder)
    for epoch in range(3):
        commit(checkpoints, epoch)
    again, found = opened(folder)
    assert found is not None
    assert (found.epoch, found.position) == (2, {"at": 2})
    assert again.job == checkpoints.job
    assert again.run != checkpoints.run


def test_two_epochs_are_kept_and_the_state_that_they_name(folder: BlobStore) -> None:
    checkpoints, _ = opened(folder)
    for epoch in range(4):
        commit(checkpoints, epoch)
    assert folder.names("epochs") == ["epochs/000000002.json", "epochs/000000003.json"]
    assert folder.names("state") == ["state/000000002-0.pieces", "state/000000003-0.pieces"]


def test_logs_are_kept_as_long_as_an_epoch_needs_them(folder: BlobStore) -> None:
    checkpoints, _ = opened(folder)
    saved = None
    for epoch in range(4):
        saved = commit(checkpoints, epoch, saved)
    assert len(folder.names("state")) == 4
    commit(checkpoints, 4)  # as with a snapshot
    assert len(folder.names("state")) == 5  # epoch 3 still needs the others
    commit(checkpoints, 5)
    assert folder.names("state") == ["state/000000004-0.pieces", "state/000000005-0.pieces"]


@pytest.mark.parametrize("name", ["epochs/000000001.json", "state/000000001-0.pieces"])
@pytest.mark.parametrize("how", ["cut", "changed", "gone"])
def test_a_damaged_one_falls_back_on_the_one_before(folder: BlobStore, name: str, how: str) -> None:
    checkpoints, _ = opened(folder)
    commit(checkpoints, 0)
    commit(checkpoints, 1)
    data = folder.read(name).to_pybytes()
    match how:
        case "cut":
            folder.write(name, data[: len(data) // 2])
        case "changed":
            folder.write(name, data[:-3] + bytes([data[-3] ^ 1]) + data[-2:])
        case "gone":
            folder.delete(name)
    if how == "gone" and name.startswith("epochs"):
        _, found = opened(folder)  # that epoch was never committed
    else:
        _, found = opened(folder, "using the epoch before")
    assert found is not None
    assert found.epoch == 0
    assert folder.names("epochs") == ["epochs/000000000.json"]
    assert folder.names("state") == ["state/000000000-0.pieces"]


def test_none_that_is_whole_is_an_error(folder: BlobStore) -> None:
    checkpoints, _ = opened(folder)
    commit(checkpoints, 0)
    commit(checkpoints, 1)
    for name in folder.names("epochs"):
        folder.write(name, b"{}")
    warned: list[str] = []
    with pytest.raises(HamletError, match=r"every checkpoint in .* is damaged"):
        CheckpointStore(folder).open(warned.append)
    assert len(warned) == 2
    assert len(folder.names("epochs")) == 2  # nothing was deleted


def test_state_that_was_never_committed_goes(folder: BlobStore) -> None:
    checkpoints, _ = opened(folder)
    commit(checkpoints, 0)
    folder.write("state/000000001-0.pieces", b"of an epoch that was interrupted")
    opened(folder)
    assert folder.names("state") == ["state/000000000-0.pieces"]


def test_a_run_that_was_replaced_commits_nothing_more(folder: BlobStore) -> None:
    first, _ = opened(folder)
    commit(first, 0)
    second, _ = opened(folder)
    with pytest.raises(HamletError, match="another run has taken over"):
        commit(first, 1)
    assert folder.names("epochs") == ["epochs/000000000.json"]
    commit(second, 1)
    with pytest.raises(HamletError, match="another run has taken over"):
        commit(first, 2)
