"""Fills the cache of the image: kernels, so that the first event is fast, and jars for Kafka.

Runs as the image is built. HAMLET_CACHE and NUMBA_CACHE_DIR say where to; NUMBA_CPU_NAME says for
which processors, since the image runs on others than it was built on.

A kernel is compiled for the types of what it is given, so events go the ways that they go in a run:
through an engine in this process, and through routers, shards and the driver's merging of totals.
"""

from __future__ import annotations

import tempfile
from typing import Any

import numpy as np
import pyarrow as pa

import hamlet
from runtime.cache_dir import cache_of
from runtime.generate import generate
from runtime.pipeline.aggregation import Aggregation, EpochCommand, EpochResult
from runtime.pipeline.blob_store import BlobStore
from runtime.pipeline.block import RowBlock
from runtime.pipeline.bound_workload import BoundWorkload
from runtime.pipeline.checkpoint_files import CheckpointFiles
from runtime.pipeline.dead_letter import no_dead
from runtime.pipeline.event_block import CheckedBlock, block_of
from runtime.pipeline.rehearsal import received
from runtime.pipeline.router import BlockRouter
from runtime.pipeline.routing_table import InputFormat, RoutingTable
from runtime.pipeline.settings import Settings
from spark_ingest.jars import kafka_jars

# One for each kernel: queries that share, adjacent conditions, trends that move, and all else.
SMALL = """
QUERY first RETURN COUNT(*) AS n, SUM(B.x) AS s PATTERN SEQ(A, B+) WITHIN 1 minute
QUERY second RETURN COUNT(*) AS n, SUM(B.x) AS s PATTERN SEQ(C, B+) WITHIN 1 minute
QUERY rising RETURN COUNT(*) AS n PATTERN B+ WHERE B.x < NEXT(B).x WITHIN 1 minute
QUERY moving RETURN COUNT(*) AS n PATTERN SEQ(A, B+) SEMANTICS skip-till-next-match WITHIN 1 minute
QUERY without RETURN COUNT(*) AS n PATTERN SEQ(A, NOT C, B+) WITHIN 1 minute
"""
EVENTS = pa.table({"time": [1, 2, 3, 4], "type": ["A", "C", "B", "B"], "x": [0.0, 0.0, 1.0, 2.0]})

# The same kernels, by what they are given: each with no key, one and several, numbers and text,
# every aggregate, windows of time and of events that follow each other and that overlap.
NUMBERS = (
    "COUNT(*) AS n, SUM(T.duration) AS s, AVG(T.speed) AS a, MIN(T.speed) AS l, MAX(D.price) AS h"
)
WAYS = (
    ("", ""),
    ("[driver]", ""),
    ("[driver]", "district"),
    ("[kind]", "rider"),
    ("[driver, rider]", "district, kind"),
)
WINDOWS = ("20 seconds", "30 seconds SLIDE 10 seconds", "40 events", "40 events SLIDE 20 events")
KINDS = (
    ("SEQ(Request R, Travel T+, Dropoff D)", "", ""),
    ("SEQ(Pickup R, Travel T+, Dropoff D)", "", "T.speed < 40 AND R.kind = 'Pool'"),
    ("SEQ(Request R, Travel T+, Dropoff D)", "", "T.speed < NEXT(T).speed"),
    ("SEQ(Pickup R, Travel T+, Dropoff D)", "SEMANTICS skip-till-next-match", ""),
    ("SEQ(Pickup R, Travel T+, Dropoff D)", "SEMANTICS contiguous", ""),
    ("SEQ(Request R, NOT Cancel C, Travel T+, Dropoff D)", "", ""),
)
RIDES = 2_000
EPOCHS, SHARDS, OWNERS = 4, 4, 2


def main() -> None:
    _small()
    rides = pa.Table.from_batches(generate("ridesharing", events=RIDES, seed=1))
    for window, sharing in zip(WINDOWS, ("dynamic", "always", "never", "dynamic"), strict=True):
        workload = hamlet.parse(_wide(window))
        for rows in (rides, _named(rides)):
            hamlet.aggregate(workload, rows, sharing=sharing)
            _job(workload, rows, Settings(sharing=sharing), bounded=sharing == "never")
    # Measured on the machine that builds, and measured again where it runs.
    (cache_of("kernels") / "policy.json").unlink(missing_ok=True)
    kafka_jars()


def _small() -> None:
    found = hamlet.aggregate(hamlet.parse(SMALL), EVENTS)
    counted = {name: table["n"].to_pylist() for name, table in found.items()}
    wanted = {"first": [3.0], "second": [3.0], "rising": [3.0], "moving": [2.0], "without": []}
    assert counted == wanted, counted


def _wide(window: str) -> str:
    queries = []
    for kind, (pattern, semantics, condition) in enumerate(KINDS):
        for way, (key, group) in enumerate(WAYS):
            # A window of events is one of a group.
            where = " AND ".join(filter(None, ("" if "events" in window else key, condition)))
            queries.append(
                f"QUERY q{kind}_{way} RETURN {group}{', ' if group else ''}{NUMBERS} "
                f"PATTERN {pattern} {semantics} {'WHERE ' if where else ''}{where} "
                f"{'GROUP-BY ' if group else ''}{group} WITHIN {window}"
            )
    return "\n".join(queries)


def _named(rides: pa.Table) -> pa.Table:
    """Many names in place of few numbers, and events of one second at the same time."""
    names = [f"driver {n}" for n in range(rides.num_rows)]
    seconds = rides["time"].cast(pa.timestamp("s", "UTC"), safe=False)
    return rides.set_column(0, "time", seconds).set_column(2, "driver", pa.array(names))


def _job(workload: Any, rows: pa.Table, settings: Settings, bounded: bool) -> None:
    """What a driver, routers and aggregators do, again halfway through, from what was saved."""
    bound_workload = BoundWorkload(workload, InputFormat(columns=rows.schema), settings.numeric)
    routing = bound_workload.routing(SHARDS, OWNERS)
    size = -(-rows.num_rows // EPOCHS)
    watermark, saved, found = None, {}, 0
    with tempfile.TemporaryDirectory() as folder:
        for epoch in range(EPOCHS):
            if epoch in (0, EPOCHS // 2):
                owners = [
                    Aggregation(
                        settings,
                        bound_workload.input_format,
                        workload,
                        routing.owned(n),
                        CheckpointFiles(BlobStore(folder)),
                        name=f"{epoch}-{n}",
                        last_epoch=epoch - 1,
                    )
                    for n in range(OWNERS)
                ]
                for owner in owners:
                    owner.restore(saved, watermark)
            batch = _parked(rows.slice(epoch * size, size))
            router = BlockRouter(routing, watermark)
            portions = received(router.route([_checked(bound_workload, routing, batch)]))
            if not bounded:
                watermark = router.stats.newest
            order = EpochCommand(epoch, watermark, epoch == EPOCHS - 1, committed=epoch - 1)
            answers: list[EpochResult] = [
                received(owner.compute_epoch(order, portions[n])) for n, owner in enumerate(owners)
            ]
            saved = {unit: each for answer in answers for unit, each in answer.saved.items()}
            tables = bound_workload.tables([each for answer in answers for each in answer.partials])
            found += sum(table.num_rows for table in tables.values())
    assert found


def _checked(
    bound_workload: BoundWorkload, routing: RoutingTable, batch: pa.RecordBatch
) -> CheckedBlock:
    """As Spark checks rows. Which shard a key is in does not matter here."""
    rows = RowBlock(batch, "prepared", np.arange(batch.num_rows), no_dead())
    events = bound_workload.extractor().extract(rows)
    shards = (np.arange(events.num_rows) % SHARDS).astype(np.int16)
    return block_of(events, [shards] * len(routing.routes), routing.pane)


def _parked(rows: pa.Table) -> pa.RecordBatch:
    """As a router fetches it from Spark: bytes that cannot be written to."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, rows.schema) as stream:
        stream.write_table(rows.combine_chunks())
    data = sink.getvalue().to_pybytes()
    return pa.ipc.open_stream(pa.py_buffer(data)).read_next_batch()


if __name__ == "__main__":
    main()
