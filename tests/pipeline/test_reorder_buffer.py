"""Events leave the buffer in order of (time, arrival), whatever the cuts and watermarks."""

from contextlib import contextmanager
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtime.errors import HamletError
from runtime.pipeline import reorder_buffer
from runtime.pipeline.reorder_buffer import Disorder, ReorderBuffer, in_order, ordered
from runtime.types.columns import PANE, TIME, times_of


def events(times, first=0):
    """Each event carries its arrival."""
    arrivals = [str(first + i) for i in range(len(times))]
    return pa.record_batch({TIME: pa.array(times, pa.int64()), "arrival": arrivals})


def pairs(*batches):
    return [(r[TIME], int(r["arrival"])) for b in batches for r in b.to_pylist()]


def cut(times, cuts):
    """The stream cut into batches before these places; empty ones may be among them."""
    places = [0, *sorted(c % (len(times) + 1) for c in cuts), len(times)]
    return [events(times[a:b], a) for a, b in pairwise(places)]


@contextmanager
def small(limit):
    """Buffers keep this many bytes in memory. If they are few, all else is small, too."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reorder_buffer, "LIMIT_BYTES", limit)
        if limit < MEMORY:
            patch.setattr(reorder_buffer, "EXACT_ROWS", 0)
            patch.setattr(reorder_buffer, "RUN_ROWS", 3)
        yield


MEMORY = 1 << 20
limits = st.sampled_from((0, 400, MEMORY))
streams = st.lists(st.integers(-50, 50), max_size=60)
places = st.lists(st.integers(0, 100), max_size=12)


@given(streams, places, limits)
def test_any_cut_into_batches_gives_a_stable_sort(times, cuts, limit):
    disorder = Disorder()
    disorder.add(np.array(times, dtype=np.int64))
    with small(limit):
        out = pairs(*ordered(cut(times, cuts), disorder.largest))
    assert out == sorted(((t, i) for i, t in enumerate(times)), key=lambda p: p[0])


@given(streams, places, st.lists(st.integers(-60, 60), max_size=12), st.integers(1, 7), limits)
def test_any_watermarks_split_a_stream(times, cuts, watermarks, portion, limit):
    """Into late events and those in order."""
    with small(limit):
        split_by(times, cuts, watermarks, portion)


def split_by(times, cuts, watermarks, portion):
    buffer, out, late, highest = ReorderBuffer(), [], [], None
    moves = iter(watermarks)
    for batch in cut(times, cuts):
        gone = pairs(buffer.add(batch))
        assert gone == [p for p in pairs(batch) if highest is not None and p[0] < highest]
        late += gone
        watermark = next(moves, None)
        if watermark is None:
            continue
        highest = watermark if highest is None else max(highest, watermark)
        released = pairs(*buffer.portions(watermark, portion))
        assert all(time < highest for time, _ in released)
        out += released
    out += pairs(*buffer.portions(None, portion))
    assert buffer.rows == 0
    alive = [p for p in enumerate(times) if (p[1], p[0]) not in late]
    assert out == sorted(((t, i) for i, t in alive), key=lambda p: p[0])


@given(streams, places)
def test_the_largest_disorder_is_the_farthest_behind_the_newest(times, cuts):
    disorder = Disorder()
    for batch in cut(times, cuts):
        disorder.add(batch.column(TIME).to_numpy())
    behind = [max(times[: i + 1]) - t for i, t in enumerate(times)]
    assert disorder.largest == max(behind, default=0)
    assert disorder.newest == max(times, default=None)


def test_release_gives_what_lies_before_the_watermark():
    buffer = ReorderBuffer()
    buffer.add(events([5, 1, 3]))
    assert pairs(buffer.release(3)) == [(1, 1)]
    assert pairs(buffer.release(3)) == []
    assert buffer.rows == 2
    late = buffer.add(events([2, 4], first=3))
    assert pairs(late) == [(2, 3)]
    assert pairs(buffer.release(100)) == [(3, 2), (4, 4), (5, 0)]
    assert buffer.watermark == 100


def test_the_watermark_never_moves_back():
    buffer = ReorderBuffer()
    buffer.add(events([10]))
    buffer.release(5)
    buffer.release(1)
    assert pairs(buffer.add(events([4]))) == [(4, 0)]


def test_a_batch_in_order_is_not_copied():
    batch = events([1, 1, 2, 3])
    assert in_order(batch) is batch
    buffer = ReorderBuffer()
    buffer.add(batch)
    out = buffer.release(9)
    assert out.column(TIME).buffers()[1].address == batch.column(TIME).buffers()[1].address


def test_many_tiny_batches_make_few_runs():
    buffer = ReorderBuffer()
    for i in range(2_000):
        buffer.add(events([i % 7], first=i))
    assert len(buffer._runs) < 15
    out = pairs(buffer.drain())
    assert out == sorted(((i % 7, i) for i in range(2_000)), key=lambda p: p[0])


def test_a_straggler_does_not_keep_its_whole_batch_in_memory():
    buffer = ReorderBuffer()
    for i in range(20):
        buffer.add(events([*([i] * 5_000), 10**9]))
        buffer.release(i + 1)
    assert buffer.rows == 20
    held = sum(run.batch.get_total_buffer_size() for run in buffer._runs)
    assert held < 10_000


# ---- cuts at panes -------------------------------------------------------------------------


def firsts(batch: pa.RecordBatch) -> list[int]:
    """The first time of each portion of about 20 events, after the first portion."""
    buffer = ReorderBuffer()
    buffer.add(batch)
    return [int(times_of(each)[0]) for each in buffer.portions(None, 20)][1:]


def test_batches_are_cut_where_panes_begin():
    """By the pane column: without it, or with other panes, the same events are cut elsewhere."""
    batch = events(list(range(100)))
    sevens = batch.append_column(PANE, pa.array([time // 7 for time in range(100)]))
    nines = batch.append_column(PANE, pa.array([time // 9 for time in range(100)]))
    assert firsts(sevens) == [14, 35, 56, 77]
    assert firsts(nines) == [18, 36, 54, 72]
    assert firsts(batch) == [20, 40, 60, 80]


def test_a_cut_stays_where_its_pane_began_long_before():
    batch = events(list(range(60)))
    long_ = batch.append_column(PANE, pa.array([0] * 5 + [1] * 55))
    assert firsts(long_) == [5, 40]


def test_what_memory_does_not_hold_is_on_disk(monkeypatch):
    """Events that are released all at once, far apart in time, leave in batches of the same size,
    and memory has only what came last."""
    monkeypatch.setattr(reorder_buffer, "LIMIT_BYTES", 100_000)
    monkeypatch.setattr(reorder_buffer, "EXACT_ROWS", 10_000)
    draw = np.random.default_rng(1)
    times = draw.permutation(100_000).tolist()
    buffer = ReorderBuffer()
    before = pa.total_allocated_bytes()
    for start in range(0, len(times), 1_000):
        buffer.add(events(times[start : start + 1_000], start))
        assert buffer.nbytes <= 100_000
    assert buffer.is_on_disk
    assert pa.total_allocated_bytes() - before < 200_000
    rows, last = 0, -1
    for batch in buffer.portions(None, 5_000):
        found = batch.column(TIME).to_numpy()
        assert found.tolist() == list(range(last + 1, last + 1 + len(found)))
        assert len(found) < 7_000
        rows, last = rows + len(found), int(found[-1])
    assert rows == len(times)
    assert not buffer.is_on_disk


def test_types_are_the_same_after_disk(monkeypatch):
    """Batches have dictionaries of their own."""
    monkeypatch.setattr(reorder_buffer, "LIMIT_BYTES", 0)
    buffer = ReorderBuffer()
    for first, word in enumerate("abc"):
        words = pa.array([word, None, word]).dictionary_encode()
        times = pa.array([first, 10 + first, 20 + first], pa.int64())
        buffer.add(pa.record_batch({TIME: times, "word": words}))
    out = buffer.drain()
    assert out["word"].to_pylist() == ["a", "b", "c", None, None, None, "a", "b", "c"]


def test_a_full_disk_is_said(monkeypatch, tmp_path):
    monkeypatch.setattr(reorder_buffer, "LIMIT_BYTES", 0)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "missing"))
    with pytest.raises(HamletError, match="cannot write the temporary file for events"):
        ReorderBuffer().add(events([1]))
