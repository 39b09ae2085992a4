"""Events leave the buffer in order of (time, arrival), whatever the cuts and watermarks."""

from itertools import pairwise

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

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


streams = st.lists(st.integers(-50, 50), max_size=60)
places = st.lists(st.integers(0, 100), max_size=12)


@given(streams, places)
def test_any_cut_into_batches_gives_a_stable_sort(times, cuts):
    disorder = Disorder()
    disorder.add(np.array(times, dtype=np.int64))
    out = pairs(*ordered(cut(times, cuts), disorder.largest))
    assert out == sorted(((t, i) for i, t in enumerate(times)), key=lambda p: p[0])


@given(streams, places, st.lists(st.integers(-60, 60), max_size=12), st.integers(1, 7))
def test_any_watermarks_split_a_stream_into_late_and_ordered(times, cuts, watermarks, portion):
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
