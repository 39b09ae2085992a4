"""An aggregator takes every epoch once: a repeat is answered, a gap is refused."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
import pytest

from pipeline.blocks import exported
from runtime.errors import HamletError
from runtime.language.parser import parse
from runtime.pipeline import aggregation
from runtime.pipeline.aggregation import Aggregation, EpochCommand, EpochResult
from runtime.pipeline.blob_store import BlobStore
from runtime.pipeline.bound_workload import BoundWorkload
from runtime.pipeline.checkpoint_files import CheckpointFiles
from runtime.pipeline.router import BlockRouter, Portion
from runtime.pipeline.routing_table import InputFormat
from runtime.pipeline.settings import Settings

WORKLOAD = parse("RETURN g, COUNT(*) AS n PATTERN A+ GROUP-BY g WITHIN 10 seconds")
COLUMNS = pa.schema([("time", pa.int64()), ("type", pa.string()), ("g", pa.int64())])
BOUND = BoundWorkload(WORKLOAD, InputFormat(columns=COLUMNS), "float")
SHARDS = 4
SECOND = 1_000_000


@contextmanager
def snapshots() -> Iterator[None]:
    """State is saved as a whole after every epoch, never as a log of its events."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(aggregation, "LEAST_LOG", 0)
        patch.setattr(aggregation, "LOG_OVER_STATE", 0)
        yield


def owner(folder: Path | None, last_epoch: int = -1, name: str = "0") -> Aggregation:
    kept = None if folder is None else CheckpointFiles(BlobStore(str(folder)))
    return Aggregation(
        Settings(),
        BOUND.input_format,
        WORKLOAD,
        range(SHARDS),
        kept,
        name=name,
        last_epoch=last_epoch,
    )


def portions(*times: int) -> list[Portion]:
    rows = len(times)
    batch = pa.record_batch(
        {"time": pa.array(times, pa.int64()), "type": ["A"] * rows, "g": pa.array(range(rows))},
        COLUMNS,
    )
    router = BlockRouter(BOUND.routing(SHARDS, 1), None)
    return router.route([exported(batch, BOUND.routing(SHARDS, 1))])[0]


def rows(answer: EpochResult) -> list[tuple[int, int, float]]:
    tables = BOUND.tables(answer.partials)
    found = [row for table in tables.values() for row in table.to_pylist()]
    return [(row["window_start"], row["g"], row["n"]) for row in found]


def test_epochs_follow_on_each_other(tmp_path: Path) -> None:
    mine = owner(tmp_path)
    assert rows(mine.compute_epoch(EpochCommand(0, SECOND), portions(1, 2))) == []
    assert rows(mine.compute_epoch(EpochCommand(1, 11 * SECOND), portions(3, 11))) == [
        (0, 0, 3),
        (0, 1, 1),
    ]
    assert rows(mine.compute_epoch(EpochCommand(2, 11 * SECOND, last=True), [])) == [(10, 1, 1)]


def test_a_repeat_gives_the_same_answer_and_changes_nothing(tmp_path: Path) -> None:
    mine = owner(tmp_path)
    first = mine.compute_epoch(EpochCommand(0, 11 * SECOND), portions(1, 2, 11))
    assert mine.compute_epoch(EpochCommand(0, 11 * SECOND), portions(1, 2, 11)) is first
    second = mine.compute_epoch(EpochCommand(1, 12 * SECOND), portions(12))
    assert (
        mine.compute_epoch(EpochCommand(0, 11 * SECOND), []) is first
    )  # nobody has said that it is committed
    assert mine.compute_epoch(EpochCommand(1, 12 * SECOND), portions(12)) is second
    assert second.events == 1
    end = mine.compute_epoch(EpochCommand(2, None, last=True), [])
    assert rows(end) == [(10, 0, 1), (10, 2, 1)]


def test_what_is_committed_is_not_answered_again(tmp_path: Path) -> None:
    mine = owner(tmp_path)
    mine.compute_epoch(EpochCommand(0, SECOND), portions(1))
    mine.compute_epoch(EpochCommand(1, SECOND, committed=0), portions(1))
    with pytest.raises(HamletError, match="epoch 0 does not follow epoch 1"):
        mine.compute_epoch(EpochCommand(0, SECOND), portions(1))


@pytest.mark.parametrize("epoch", [1, 2, 7])
def test_a_gap_is_refused(tmp_path: Path, epoch: int) -> None:
    mine = owner(tmp_path)
    with pytest.raises(HamletError, match=f"epoch {epoch} does not follow epoch -1"):
        mine.compute_epoch(EpochCommand(epoch, SECOND), portions(1))
    assert mine.compute_epoch(EpochCommand(0, SECOND), portions(1)).events == 1


def test_one_that_begins_again_refuses_what_is_committed(tmp_path: Path) -> None:
    first = owner(tmp_path)
    saved = first.compute_epoch(EpochCommand(0, SECOND), portions(1, 2)).saved
    again = owner(tmp_path, last_epoch=0, name="1")
    again.restore(saved, SECOND)
    with pytest.raises(HamletError, match="epoch 0 does not follow epoch 0"):
        again.compute_epoch(EpochCommand(0, SECOND), portions(1, 2))
    assert rows(again.compute_epoch(EpochCommand(1, None, last=True), [])) == [(0, 0, 1), (0, 1, 1)]


@pytest.mark.parametrize("as_snapshots", [False, True])
def test_logs_and_snapshots_restore_the_same(tmp_path: Path, as_snapshots: bool) -> None:
    first = owner(tmp_path)
    with snapshots() if as_snapshots else pytest.MonkeyPatch.context():
        first.compute_epoch(EpochCommand(0, 2 * SECOND), portions(1, 2, 3))
        saved = first.compute_epoch(EpochCommand(1, 4 * SECOND), portions(4, 3, 5)).saved
    assert len(saved) > 1
    for each in saved.values():
        assert (each.snapshot is not None, len(each.log)) == (
            (True, 0) if as_snapshots else (False, 2)
        )
    again = owner(tmp_path, last_epoch=1, name="1")
    again.restore(saved, 4 * SECOND)
    wanted = first.compute_epoch(EpochCommand(2, None, last=True), portions(6))
    found = again.compute_epoch(EpochCommand(2, None, last=True), portions(6))
    assert rows(found) == rows(wanted) == [(0, 0, 7), (0, 1, 3), (0, 2, 3)]


def test_before_there_is_a_watermark_events_are_logged(tmp_path: Path) -> None:
    """They are spooled, and a snapshot would bring them back into memory."""
    with snapshots():
        saved = owner(tmp_path).compute_epoch(EpochCommand(0), portions(5, 1, 3)).saved
    assert all(each.snapshot is None and each.log for each in saved.values())
    again = owner(tmp_path, last_epoch=0, name="1")
    again.restore(saved, None)
    assert rows(again.compute_epoch(EpochCommand(1, None, last=True), portions(2))) == [
        (0, 0, 3),
        (0, 1, 1),
        (0, 2, 1),
    ]


def test_without_a_folder_nothing_is_saved() -> None:
    answer = owner(None).compute_epoch(EpochCommand(0, SECOND), portions(1))
    assert (answer.saved, answer.saved_bytes) == ({}, 0)


def test_an_answer_tells_what_it_holds(tmp_path: Path) -> None:
    answer = owner(tmp_path).compute_epoch(EpochCommand(0, 2 * SECOND), portions(1, 1, 9))
    assert answer.events == 3
    assert answer.statistics.waiting_rows == 1
    assert answer.statistics.open_windows == 2
    assert answer.statistics.state_bytes > 0
    assert answer.saved_bytes == sum(path.stat().st_size for path in tmp_path.glob("*/state/*"))
