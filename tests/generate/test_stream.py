"""Every stream: its length, order, schema, and that only seed and parameters decide its events."""

import inspect
from datetime import UTC, datetime, timedelta

import pyarrow as pa
import pytest

from runtime.generate import generate, schema, streams

NAMES = tuple(streams())
BLOCK = 65_536


@pytest.mark.parametrize("name", NAMES)
def test_same_seed_same_events(table, name):
    assert table(name, events=5_000, seed=7) == table(name, events=5_000, seed=7)
    assert table(name, events=5_000, seed=7) != table(name, events=5_000, seed=8)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("rows", [1_000, 40_000])
def test_events_do_not_depend_on_where_batches_are_cut(table, name, rows):
    cut = table(name, events=70_000, batch_rows=rows).combine_chunks()
    assert cut == table(name, events=70_000).combine_chunks()


@pytest.mark.parametrize("name", NAMES)
def test_a_longer_stream_starts_with_the_shorter_one(table, name):
    longer = table(name, events=BLOCK + 5_000)
    assert longer.slice(0, 3_000) == table(name, events=3_000)
    assert longer.slice(0, BLOCK + 1) == table(name, events=BLOCK + 1)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("events", [0, 1, BLOCK, BLOCK + 1])
def test_number_of_events(name, events):
    sizes = [batch.num_rows for batch in generate(name, events=events)]
    assert sum(sizes) == events
    assert all(0 < size <= BLOCK for size in sizes)


@pytest.mark.parametrize("name", NAMES)
def test_batches_have_the_schema(name):
    batch = next(generate(name, events=10))
    info = streams()[name]
    assert batch.schema == schema(name)
    assert tuple(batch.schema.names) == ("time", "type", *info.attributes)
    assert batch.schema.field("time").type.tz == "UTC"
    assert batch.validate(full=True) is None


@pytest.mark.parametrize("name", NAMES)
def test_types_are_those_of_the_stream(table, name):
    assert set(table(name, events=30_000)["type"].to_pylist()) == set(streams()[name].types)


@pytest.mark.parametrize("name", NAMES)
def test_partition_attributes_tell_groups_apart_and_are_never_null(table, name):
    keys = streams()[name].partition
    events = table(name, events=20_000, groups=37)
    assert all(events[key].null_count == 0 for key in keys)
    assert events.group_by(list(keys)).aggregate([]).num_rows == 37


@pytest.mark.parametrize("name", NAMES)
def test_times_are_in_order_and_follow_the_rate(table, name):
    times = table(name, events=100_000, rate=20_000)["time"].cast(pa.timestamp("us", tz="UTC"))
    values = times.cast(pa.int64()).to_numpy()
    assert (values[1:] >= values[:-1]).all()
    minutes = (times[-1].as_py() - times[0].as_py()) / timedelta(minutes=1)
    assert minutes == pytest.approx(5.0, rel=0.01)


def test_times_in_microseconds_are_unique(table):
    times = table("ridesharing", events=100_000, rate=1_000_000)["time"]
    assert len(times.unique()) == 100_000


def test_only_times_depend_on_the_rate(table):
    slow, fast = (table("taxi", events=3_000, rate=rate) for rate in (10, 10_000))
    assert slow.drop_columns("time") == fast.drop_columns("time")


@pytest.mark.parametrize(
    "start",
    ["2025-03-01T12:00:00Z", "2025-03-01T12:00:00", "2025-03-01T13:00:00+01:00",
     datetime(2025, 3, 1, 12), datetime(2025, 3, 1, 12, tzinfo=UTC)],
)  # fmt: skip
def test_start(table, start):
    first = table("stock", events=1, start=start)["time"][0].as_py()
    assert first == datetime(2025, 3, 1, 12, tzinfo=UTC)


def test_the_streams_of_the_papers_have_their_sizes():
    rates = {name: streams()[name].rate for name in NAMES}
    assert rates["ridesharing"] == 10_000
    assert rates["stock"] == 4_500
    assert rates["smarthome"] == 20_000
    assert rates["taxi"] == 200
    assert len(streams()["ridesharing"].types) == 20
    assert streams()["stock"].groups == 220
    assert streams()["smarthome"].groups == 2_125


def test_nothing_is_drawn_before_it_is_asked_for():
    assert inspect.isgenerator(generate("stock", events=10**15, rate=1e12))
