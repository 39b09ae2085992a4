"""What a stream should come to, by the order of its files."""

import math

import pytest

from chaos.events import FILE_LATENESS_MS, Events, FolderFeed


@pytest.fixture
def events():
    events = Events(seed=3, lateness=FILE_LATENESS_MS)
    for _ in range(6):
        events.next()
    events.end()
    return events


def test_every_row_is_an_event_or_late_or_dead(events):
    counts = events.counts
    assert counts.rows == counts.events + counts.late + counts.dead
    assert min(counts.late, counts.dead) > 10
    assert events.clean().num_rows == counts.events


def test_a_late_row_is_behind_the_newest_of_earlier_files(events):
    for number, rows in enumerate(events.late):
        times = events.table(number)["time"].to_pylist()
        before = events.newest(events.table(0).num_rows * number)
        assert all(times[row] < before - FILE_LATENESS_MS for row in rows)
    assert events.late[0] == []


def test_without_a_lateness_nothing_is_late():
    events = Events(seed=3)
    events.next()
    events.next()
    assert events.counts.late == 0


def test_the_position_is_known_in_whole_tables(events):
    rows = events.table(0).num_rows
    assert [events.tables_in(n) for n in (0, rows - 1, rows, 2 * rows)] == [0, 0, 1, 2]
    assert events.newest(rows - 1) == -math.inf
    assert events.watermark(events.rows) == events.newest(events.rows) - FILE_LATENESS_MS


def test_another_seed_is_another_stream():
    assert not Events(seed=1).next().equals(Events(seed=2).next())


def test_files_appear_in_order_and_can_be_put_back(tmp_path):
    feed = FolderFeed(tmp_path, seed=1)
    feed.feed(2)
    feed.end()
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == [f"{number:05d}.parquet" for number in range(3)]
    whole = (tmp_path / names[1]).read_bytes()
    (tmp_path / names[1]).unlink()
    feed.put_back(1)
    assert (tmp_path / names[1]).read_bytes() == whole
    dead = feed.places(feed.events.dead)
    assert dead.total() == feed.events.counts.dead
    assert {name for name, _ in dead} <= set(names)
