"""A Delta table is followed while the driver is killed again and again: each result once."""

import os
import random
import time
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pyarrow as pa
import pytest

from cluster import jobs
from cluster.faults import stream
from cluster.faults.command import Command
from runtime.errors import HamletError
from runtime.language.parser import parse
from spark_ingest.jars import DELTA, fetched
from spark_ingest.sources.query_checkpoint import QueryCheckpoint
from tools.delta import DeltaWriter

KILLS = 10
FILES_EACH = 3  # of the table, for each life of the driver
FILES = FILES_EACH * (KILLS + 1)
ROWS = 1_000
COLUMNS = ["time", "type", "driver", "district", "value"]
# More than the disorder of the stream: nothing is late, wherever batches end.
LATENESS = "45s"
# About two batches, so that a kill can be at any point of one.
MOMENTS_S = 3.0
# About as long as it takes from the record of an epoch to the commit of Spark and its next batch.
INSTANTS_S = 0.15
# If no record comes for this long, all batches are committed already.
QUIET_S = 20.0


@pytest.fixture
def table(tmp_path):
    try:
        fetched(DELTA)
    except HamletError as error:
        pytest.skip(f"tool: Delta Lake is not to be had: {error.message}")
    writer = DeltaWriter(tmp_path / "writer", tmp_path / "table")
    yield writer
    writer.close()


@pytest.fixture
def command(tmp_path):
    source = f"spark:delta?path={tmp_path / 'table'}&maxFilesPerTrigger=1"
    command = Command(tmp_path, source=source, lateness=LATENESS)
    yield command
    command.stop()


def tables() -> list[pa.Table]:
    return [each.select(COLUMNS) for each in stream.tables(FILES, ROWS)]


def rows_of(table: pa.Table) -> Counter[tuple[object, ...]]:
    return Counter(tuple(row.items()) for row in table.to_pylist())


def locally(folder: Path) -> jobs.Found:
    for number, content in enumerate(tables()):
        stream.put(folder, number, content)
    return jobs.locally(jobs.JobInput(parse(stream.WORKLOAD), folder, unit="ms"))


def state(command: Command) -> str:
    """Where a kill has left Spark's checkpoint, which is always one that the next run takes."""
    position = command.position()
    found = QueryCheckpoint.read(command.checkpoint / "spark")
    found.check(position["query"], position["batch"])
    planned = "planned another batch" if max(found.planned) > position["batch"] else "planned none"
    behind = position["batch"] - found.committed
    return f"{planned}, {'not ' if behind else ''}committed the job's last"


def any_moment(chance: random.Random) -> Callable[[Command], None]:
    """Mostly, the job is at work on a batch then."""
    return lambda command: time.sleep(chance.uniform(0, MOMENTS_S))


def after_a_record(chance: random.Random) -> Callable[[Command], None]:
    """The job has committed a batch. It may have published it, and Spark may have committed it."""

    def moment(command: Command) -> None:
        folder = command.checkpoint / "a" / "epochs"
        before, until = set(os.listdir(folder)), time.monotonic() + QUIET_S
        while not set(os.listdir(folder)) - before and time.monotonic() < until:
            time.sleep(0.001)
        time.sleep(chance.uniform(0, INSTANTS_S))

    return moment


def test_killed_driver(command, table, tmp_path):
    """The table grows while the driver lives and while it is dead."""
    waiting, seen = iter(tables()), Counter[str]()
    for seed in range(KILLS):
        chance = random.Random(seed)
        moment = (any_moment, after_a_record)[seed % 2](chance)
        while_dead = chance.randrange(1, FILES_EACH)
        for _ in range(while_dead):
            table.append(next(waiting))
        command.start()
        command.next_epoch()
        for _ in range(FILES_EACH - while_dead):
            table.append(next(waiting))
        command.kill(partial(moment, command))
        seen[state(command)] += 1
    for content in waiting:
        table.append(content)
    total = sum(content.num_rows for content in tables())
    command.start()
    command.wait_for(lambda: command.rows() == total)
    assert command.signal(15) == 0, command.said
    print(dict(seen))

    wanted = locally(tmp_path / "files")
    found = stream.written(command.output)
    for name, rows in wanted.tables.items():
        assert rows.num_rows > 100
        assert found[f"{name}.parquet"] == rows_of(rows), name
    assert "_late" not in found
    invalid = [dict(row) for row in found["_dead_letter"].elements()]
    assert Counter(row["reason"] for row in invalid) == Counter(wanted.dead["reason"].to_pylist())
    assert {row["source"] for row in invalid} == {"table"}  # the name behind the last slash


def test_older_checkpoint_is_refused(command, table, tmp_path):
    """Spark's is ahead: it would not read again what the job has lost."""
    batches = iter(tables())
    for _ in range(2):
        table.append(next(batches))
    command.start()
    rows = 2 * ROWS
    command.wait_for(lambda: command.rows() == rows)
    assert command.signal(15) == 0, command.said
    for epochs in command.checkpoint.glob("[ab]/epochs"):
        max(epochs.iterdir()).unlink()
    for base in command.checkpoint.glob("[ab]/owners/*.base"):
        base.unlink()
    while command.position()["batch"] == 1:  # the last epochs may be without rows
        for epochs in command.checkpoint.glob("[ab]/epochs"):
            max(epochs.iterdir()).unlink()
    command.start()
    assert command.end() == 1
    assert "Spark's checkpoint is ahead" in command.said
    assert "has batch 1, but the job has committed batch 0" in command.said
