"""A spool gives back what it got, from memory or from disk, and knows the disorder."""

import os
import tempfile

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtime.errors import HamletError
from runtime.pipeline.reorder_buffer import ordered
from runtime.pipeline.spool import CHUNK_ROWS, BatchStore, Spool, rechunked
from runtime.types.columns import TIME


def events(times):
    return pa.record_batch({TIME: pa.array(times, pa.int64()), "name": [str(t) for t in times]})


def times(batches):
    return [t for batch in batches for t in batch.column(TIME).to_pylist()]


@pytest.mark.parametrize("limit", [0, 100, 1 << 20])
def test_all_comes_back_in_arrival_order_from_memory_and_disk(limit):
    with Spool(limit) as spool:
        for start in range(0, 100, 10):
            spool.add(events(range(start, start + 10)))
        assert (spool._file is not None) == (limit < 1_000)
        assert times(spool) == list(range(100))
        assert times(spool) == list(range(100))  # as often as one likes
        assert spool.rows == 100


def test_the_chain_from_disorder_to_order():
    with Spool(0) as spool:
        for part in ([5, 3, 9], [7, 8], [], [6, 20]):
            spool.add(events(part))
        assert spool.disorder == 3
        assert spool.newest == 20
        assert times(ordered(spool, spool.disorder)) == [3, 5, 6, 7, 8, 9, 20]


def test_chunks_are_of_bounded_size_and_not_tiny():
    with Spool() as spool:
        spool.add(events(range(CHUNK_ROWS * 2 + 5)))
        for i in range(10):
            spool.add(events([i]))
        sizes = [batch.num_rows for batch in spool]
    assert sizes == [CHUNK_ROWS, CHUNK_ROWS, 15]


@given(st.lists(st.integers(0, 9), max_size=20), st.integers(1, 7))
def test_rechunking_keeps_all_rows_in_order(sizes, rows):
    batches, first = [], 0
    for size in sizes:
        batches.append(events(range(first, first + size)))
        first += size
    chunks = list(rechunked(batches, rows))
    assert times(chunks) == list(range(first))
    assert all(chunk.num_rows == rows for chunk in chunks[:-1])
    assert all(0 < chunk.num_rows <= rows for chunk in chunks)


def test_an_empty_spool_is_empty():
    with Spool() as spool:
        assert list(spool) == []
        assert spool.newest is None


def test_the_file_is_gone_after_close(tmp_path):
    with Spool(0, directory=tmp_path) as spool:
        spool.add(events([1]))
        file = spool._file
    assert file.closed
    assert list(tmp_path.iterdir()) == []


def test_the_file_is_gone_after_an_error(tmp_path):
    def fail():
        with Spool(0, directory=tmp_path) as spool:
            spool.add(events([1]))
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert list(tmp_path.iterdir()) == []


def test_memory_stays_within_the_limit():
    with BatchStore(10_000) as store:
        for _ in range(100):
            store.add(events(range(100)))
        assert sum(batch.nbytes for batch in store._memory) <= 10_000


def test_a_folder_that_cannot_be_written_is_said(tmp_path):
    with pytest.raises(HamletError, match="temporary file") as caught:
        Spool(0, directory=tmp_path / "nowhere").add(events([1]))
    assert "TMPDIR" in caught.value.render()


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full here")
def test_a_full_disk_is_said(monkeypatch):
    with open("/dev/full", "r+b", 0) as full:
        monkeypatch.setattr(tempfile, "TemporaryFile", lambda **_: full)
        with pytest.raises(HamletError, match="No space left"):
            Spool(0).add(events([1]))
