"""Events that were spooled before the first watermark count like all others, and in their place."""

import random

import pyarrow as pa
import pytest

from runtime.language.parser import parse
from runtime.pipeline.bound_workload import BoundWorkload
from runtime.pipeline.routing_table import InputFormat
from runtime.pipeline.settings import Settings
from runtime.pipeline.shard import Shard
from runtime.types.columns import TIME, TYPE, TYPES

COLUMNS = pa.schema([("time", pa.int64()), ("type", pa.string())])
FORMAT = InputFormat("time", "type", "us", COLUMNS)
BOUND = BoundWorkload(
    parse("RETURN COUNT(*) AS n PATTERN SEQ(A, B+) WITHIN 10 us SLIDE 5 us"), FORMAT, "float"
)
BATCHES, ROWS, SPAN = 6, 40, 60


def shard() -> Shard:
    found = Shard(Settings("float", "arrival"), BOUND.workload, FORMAT)
    found.bind(FORMAT)
    return found


def stream(seed: int, floor: int) -> list[pa.RecordBatch]:
    """Many events have one time, and the order of arrival decides. The last batch has none before
    the floor."""
    chance, found = random.Random(seed), []
    for number in range(BATCHES):
        least = floor if number == BATCHES - 1 else 0
        times = pa.array([chance.randrange(least, SPAN) for _ in range(ROWS)], pa.int64())
        types = pa.array(chance.choices("AB", k=ROWS)).dictionary_encode().cast(TYPES)
        found.append(pa.record_batch({TIME: times, TYPE: types}))
    return found


@pytest.mark.parametrize("floor", [0, 17, 40])
@pytest.mark.parametrize("seed", range(4))
def test_the_first_watermark_comes_after_some_epochs(seed: int, floor: int) -> None:
    batches = stream(seed, floor)
    whole = shard()
    for events in batches:
        whole.spool(events)
    (wanted,) = BOUND.tables([whole.finish()]).values()
    assert wanted.num_rows > 3

    parted = shard()
    for events in batches[:-2]:
        parted.spool(events)
    parted.accept(batches[-2])  # the epoch with the first watermark
    first = parted.advance(floor)
    before = [time for events in batches[:-1] for time in events[TIME].to_pylist()]
    held = pa.Table.from_batches(parted.buffer.batches())[TIME].to_pylist()
    assert sorted(held) == sorted(time for time in before if time >= floor)
    assert parted.newest == max(before)
    assert parted.accept(batches[-1]).num_rows == 0
    (found,) = BOUND.tables([first, parted.finish()]).values()
    assert found.equals(wanted)
