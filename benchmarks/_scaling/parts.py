"""Measures what each part of a job costs, alone on one core, without Ray and Spark.

The router gets blocks as a Spark executor keeps them (Arrow bytes with keys and types as text) and
writes portions. The aggregator takes these, epoch after epoch. The driver merges its answers. What
Ray adds (calls, copies into the object store) is in the CPU time of the processes of a whole job,
see `job.py`. Only the engine depends on queries, partitions and bursts, so it is measured over all
three.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from benchmarks import _run
from benchmarks import _streams as streams
from benchmarks._scaling.measure import Work, in_turns
from benchmarks._scaling.store import Row, sized, timed
from benchmarks._streams import Stream
from runtime.language.parser import parse
from runtime.pipeline.aggregation import Aggregation, EpochCommand, EpochResult
from runtime.pipeline.blob_store import BlobStore
from runtime.pipeline.block import RowBlock
from runtime.pipeline.bound_workload import BoundWorkload
from runtime.pipeline.checkpoint_files import CheckpointFiles
from runtime.pipeline.dead_letter import no_dead
from runtime.pipeline.event_block import Origin, block_of, blocks_of
from runtime.pipeline.event_contract import EventContract
from runtime.pipeline.event_extractor import BlockStats
from runtime.pipeline.router import BlockRouter, Portion
from runtime.pipeline.routing_table import InputFormat, RoutingTable
from runtime.pipeline.settings import Settings
from runtime.types.columns import TYPE

EPOCHS = 5
SHARDS = 4
# As Spark cuts them: `spark_ingest.sql_settings.ROWS_PER_ARROW_BATCH`.
BATCH_ROWS = 100_000
QUERIES = (1, 10, 50, 100, 300, 1_000)
SHARING = {"shared": "dynamic", "not shared": "never"}
WINDOWS = (1, 10, 60)
KEYS = (10, 1_000, 10_000)
BURSTS = (1, 10, 120)
ENDS = 32  #: starts, and as many ends, so that no two of a thousand queries are the same


class Pieces:
    """A stream cut into epochs, and what each part of a job does with it."""

    def __init__(self, stream: Stream) -> None:
        self.workload = parse(stream.workload)
        table = streams.with_strings(stream.table)
        self.rows = table.num_rows
        self._input_format = InputFormat("time", "type", "us", table.schema)
        self.bound_workload = BoundWorkload(self.workload, self._input_format, "float")
        self._routing = self.bound_workload.routing(SHARDS, 1)
        self._contract = EventContract(table.schema)
        events = _exported(self.bound_workload, self._routing, table)
        size = -(-events.num_rows // EPOCHS)
        self.blocks = [
            _as_bytes(events.slice(start, size)) for start in range(0, events.num_rows, size)
        ]

    def routed(self) -> list[tuple[BlockStats, list[Portion]]]:
        found = []
        for block in self.blocks:
            rows = pa.ipc.open_stream(block).read_all()
            router = BlockRouter(self._routing, None)
            (portions,) = router.route(blocks_of(rows, self._contract, Origin("bench")))
            found.append((router.stats, portions))
        return found

    @cached_property
    def portions(self) -> list[tuple[BlockStats, list[Portion]]]:
        return self.routed()

    def aggregator(self, sharing: str, files: CheckpointFiles | None = None) -> Aggregating:
        """After its first epoch, which makes the engines of its shards."""
        settings = Settings(sharing=sharing, kernels="general")
        made = Aggregation(settings, self._input_format, self.workload, range(SHARDS), files)
        aggregating = Aggregating(made, self.portions)
        aggregating.take(0)
        return aggregating


class Aggregating:
    """All epochs but the first. The watermark is behind the newest event of each; the last one does
    not end the input, which would save nothing."""

    def __init__(self, made: Aggregation, epochs: list[tuple[BlockStats, list[Portion]]]) -> None:
        self._made, self._epochs = made, epochs
        self.answers: list[EpochResult] = []
        self.rows = sum(stats.events for stats, _ in epochs[1:])

    def take(self, epoch: int) -> EpochResult:
        stats, portions = self._epochs[epoch]
        return self._made.compute_epoch(
            EpochCommand(epoch, stats.newest, committed=epoch - 1), portions
        )

    def __call__(self) -> None:
        self.answers = [self.take(epoch) for epoch in range(1, len(self._epochs))]


def _exported(bound_workload: BoundWorkload, routing: RoutingTable, table: pa.Table) -> pa.Table:
    """The rows as Spark checks them, with types as text. Keys are spread over the shards."""
    batch = table.combine_chunks().to_batches()[0]
    rows = RowBlock(batch, "bench", np.arange(batch.num_rows), no_dead())
    events = bound_workload.extractor().extract(rows)
    shards = [
        (events[route.attributes[0]].dictionary_encode().indices.to_numpy() % SHARDS).astype(
            np.int16
        )
        for route in routing.routes
    ]
    block = pa.Table.from_batches([block_of(events, shards, routing.pane).batch])
    place = block.schema.get_field_index(TYPE)
    return block.set_column(place, TYPE, block[TYPE].cast(pa.string()))


def _as_bytes(table: pa.Table) -> pa.Buffer:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table, max_chunksize=BATCH_ROWS)
    return sink.getvalue()


@dataclass(frozen=True)
class Sizes:
    events: int
    queries: Sequence[int]
    partitions: int  #: of what tells the bytes of state
    batch: int  #: events that the engine takes at a time
    keys: Sequence[int] = KEYS
    bursts: Sequence[int] = BURSTS


FULL = Sizes(1_000_000, QUERIES, 512, 200_000)
QUICK = Sizes(100_000, (1, 10, 100, 1_000), 100, 50_000)
TINY = Sizes(1_000, (1, 2, 3, 4, 5), 64, 200, (1, 20), (1, 5))


def measured(sizes: Sizes, repeats: int) -> list[Row]:
    return [
        *_router(sizes, repeats),
        *_aggregator(sizes, repeats),
        *_engine(sizes, repeats),
        *_windows(sizes, repeats),
        *_state(sizes),
    ]


# ---- times ---------------------------------------------------------------------------------


def job_like(events: int) -> Pieces:
    """The workload of `hamlet bench pipeline`, for which whole jobs are measured too."""
    return Pieces(streams.sharing(50, events, "own", windows=4))


def visits(queries: int, keys: int, burst: int, batch: int, batches: int) -> Stream:
    """First all starts for each key, which opens all partitions to all queries, and then batches in
    which keys come at random, each with `burst` events in a row. As in `streams.sharing` five
    starts and ends come before a burst; each key is somewhere else in that. The window stays open.
    """
    draw = np.random.default_rng(1)
    count = -(-batch // burst)
    found = [np.repeat(draw.integers(0, keys, count), burst)[:batch] for _ in range(batches)]
    later = np.concatenate(found)
    phase = draw.integers(0, streams.BETWEEN + burst, keys)
    inside, _ = streams.bursts(_places(later) + phase[later], burst, streams.BETWEEN)
    other = draw.integers(1, 1 + 2 * ENDS, len(later))
    key = np.concatenate((np.repeat(np.arange(keys), ENDS), later))
    starts = np.tile(np.arange(1, 1 + ENDS), keys)
    type_ = np.concatenate((starts, np.where(inside, 0, other)))
    names = ["B", *(f"{end}{i}" for end in "AC" for i in range(ENDS))]
    workload = _workload(queries, f"WITHIN {len(key)} us")
    return Stream(workload, streams.timed(type_, names, {"key": key, "x": draw.random(len(key))}))


def _workload(queries: int, within: str) -> str:
    made = streams.sharing(queries, 100, "few", windows=1, grouped=False, ends=ENDS, keys=1)
    return made.workload.replace("WITHIN 100 us", within)


def _places(key: streams.Ints) -> streams.Ints:
    """How many events of its key there were before each."""
    order, counts = np.argsort(key, kind="stable"), np.bincount(key)
    place = np.empty(len(key), np.int64)
    place[order] = np.arange(len(key)) - np.repeat(np.cumsum(counts) - counts, counts)
    return place


def _router(sizes: Sizes, repeats: int) -> list[Row]:
    """Beside the driver, which merges totals into the rows of each query: few of them, and many."""
    pieces = job_like(sizes.events)
    table = streams.sharing(50, sizes.events, "own", windows=4).table
    few, many_rows = (_closed(keys, sizes) for keys in (1, sizes.partitions))
    works: dict[str, Work] = {
        "router": lambda: pieces.routed,
        "few": lambda: few.tables,
        "many": lambda: many_rows.tables,
        "group by": lambda: lambda: _run.group_by(table),
    }
    times = in_turns(works, repeats)
    portions = [part.events for _, each in pieces.portions for part in each]
    return [
        timed("part", "router", "", 50, pieces.rows, times["router"]),
        timed("part", "driver", "few rows", 50, few.rows, times["few"]),
        timed("part", "driver", "many rows", 50, many_rows.rows, times["many"]),
        timed("part", "group by", "", 1, pieces.rows, times["group by"]),
        sized("block bytes", "", 50, sum(block.size for block in pieces.blocks) / pieces.rows),
        sized("portion bytes", "", 50, _bytes(portions) / pieces.rows),
    ]


class _Closed:
    """Totals of windows that have closed, by shard and epoch. `rows`: of all queries together."""

    def __init__(self, pieces: Pieces) -> None:
        aggregating = pieces.aggregator("dynamic")
        aggregating()
        self._bound_workload = pieces.bound_workload
        self._partials = [each for answer in aggregating.answers for each in answer.partials]
        self.rows = sum(table.num_rows for table in self.tables().values())

    def tables(self) -> dict[str, pa.Table]:
        return self._bound_workload.tables(self._partials)


def _closed(keys: int, sizes: Sizes) -> _Closed:
    """A row for each key and each of 50 queries."""
    stream = streams.sharing(50, 500 * max(keys, 10), "few", windows=2, burst=10, keys=keys)
    return _Closed(Pieces(stream))


def _bytes(batches: Sequence[pa.RecordBatch]) -> int:
    """As they go over the wire."""
    return sum(pa.ipc.get_record_batch_size(batch) for batch in batches)


def _aggregator(sizes: Sizes, repeats: int) -> list[Row]:
    """With the stream of the job, by itself and with checkpoints, and the engine alone with it."""
    stream = streams.sharing(50, sizes.events, "own", windows=4)
    pieces = Pieces(stream)
    with tempfile.TemporaryDirectory(prefix="hamlet-bench-") as folder:
        job, saved = _Taking(pieces, None), _Taking(pieces, Path(folder))
        works: dict[str, Work] = {
            "job": job.ready,
            "job, saved": saved.ready,
            "engine": partial(_whole, stream),
        }
        times = in_turns(works, repeats)
    log = sum(answer.saved_bytes for answer in saved.last.answers)
    return [
        timed("part", "aggregator", "job", 50, job.last.rows, times["job"]),
        timed("part", "aggregator", "job, saved", 50, saved.last.rows, times["job, saved"]),
        timed("part", "engine of the job", "", 50, pieces.rows, times["engine"]),
        sized("log bytes", "", 50, log / saved.last.rows),
    ]


class _Taking:
    """An aggregator, new each time. With a folder, what came in is logged while it is computed, as
    in a job with checkpoints."""

    last: Aggregating

    def __init__(self, pieces: Pieces, folder: Path | None) -> None:
        self._pieces, self._folder = pieces, folder

    def ready(self) -> Aggregating:
        files = None
        if self._folder is not None:
            files = CheckpointFiles(BlobStore(tempfile.mkdtemp(dir=self._folder)))
        self.last = self._pieces.aggregator("dynamic", files)
        return self.last


def _whole(stream: Stream) -> Callable[[], None]:
    """All of a stream, with its results."""
    engine = _run.engine(stream.workload, kernels="general", sharing="dynamic")
    engine.bind(stream.table.schema)
    batches = [engine.prepare(each) for each in stream.table.to_batches(_run.BATCH_ROWS)]

    def work() -> None:
        for batch in batches:
            engine.execute(batch)
        engine.finish()

    return work


def _engine(sizes: Sizes, repeats: int) -> list[Row]:
    """Over queries, partitions and bursts. An engine takes one batch after the other: to make one
    for a thousand queries takes longer than all its batches. Bursts take turns."""
    rows = []
    for queries in sizes.queries:
        for keys in sizes.keys:
            for variant, sharing in SHARING.items():
                streamed = {
                    burst: visits(queries, keys, burst, sizes.batch, repeats + 1)
                    for burst in sizes.bursts
                }
                taking = {
                    str(burst): _Batches(stream, sizes.batch, repeats + 1, sharing)
                    for burst, stream in streamed.items()
                }
                times = in_turns({name: each.ready for name, each in taking.items()}, repeats)
                rows += [
                    timed("part", "engine", grid(variant, keys, burst), queries, sizes.batch, each)
                    for burst, each in zip(sizes.bursts, times.values(), strict=True)
                ]
    return rows


def grid(variant: str, keys: int, burst: int) -> str:
    return f"{variant}, {keys} keys, bursts of {burst}"


class _Batches:
    """An engine after the first batch of a stream, which is longer than the others by so much as
    there is. Each turn takes the next."""

    def __init__(self, stream: Stream, size: int, count: int, sharing: str) -> None:
        engine = _run.engine(stream.workload, kernels="general", sharing=sharing)
        engine.bind(stream.table.schema)
        table = stream.table.combine_chunks()
        first = table.num_rows - size * count
        (opening,) = table.slice(0, first).to_batches()
        engine.execute(engine.prepare(opening))
        cut = (table.slice(first + size * turn, size).to_batches() for turn in range(count))
        self._batches = iter([engine.prepare(batch) for (batch,) in cut])
        self._engine = engine

    def ready(self) -> Callable[[], Any]:
        return partial(self._engine.execute, next(self._batches))


def _windows(sizes: Sizes, repeats: int) -> list[Row]:
    """What a window costs in a partition, to open and to close: each batch has one event for each
    partition, in a window of its own, and closes the window before."""
    rows = []
    keys = sizes.keys[1]
    for queries in sizes.queries:
        works: dict[str, Work] = {
            variant: _Turnover(queries, keys, repeats + 2, sharing).ready
            for variant, sharing in SHARING.items()
        }
        for variant, times in in_turns(works, repeats).items():
            rows.append(timed("part", "window", variant, queries, keys, times))
    return rows


class _Turnover(_Batches):
    def __init__(self, queries: int, keys: int, windows: int, sharing: str) -> None:
        made = streams.sharing(
            queries, keys * windows, "few", windows=windows, grouped=False, ends=ENDS, keys=keys
        )
        super().__init__(made, keys, windows - 1, sharing)


# ---- bytes ---------------------------------------------------------------------------------


def _state(sizes: Sizes) -> list[Row]:
    """With one window open, and all partitions in it: what a partition adds."""
    rows = []
    for queries in sizes.queries:
        for variant, sharing in SHARING.items():
            held, saved = _added(partial(_of_queries, queries), sizes.partitions, sharing)
            rows.append(sized("state bytes", variant, queries, held))
            rows.append(sized("snapshot bytes", variant, queries, saved))
    # Windows close on the way, which takes as long for most queries as everything else together.
    several = sorted(sizes.queries)[-2]
    rows.append(sized("state bytes", "queries by windows", 0, several))
    for windows in WINDOWS:
        held, _ = _added(partial(_of_windows, several, windows), sizes.partitions, "dynamic")
        rows.append(sized("state bytes", "by windows", windows, held))
    return rows


def _of_queries(queries: int, keys: int) -> Stream:
    return streams.sharing(
        queries, 200 * keys, "few", windows=1, grouped=False, ends=ENDS, keys=keys
    )


def _of_windows(queries: int, windows: int, keys: int) -> Stream:
    """The same events, each in as many windows as said."""
    made = _of_queries(queries, keys)
    within = f"WITHIN {made.table.num_rows} us"
    slide = f"{within} SLIDE {made.table.num_rows // windows} us"
    return Stream(made.workload.replace(within, slide), made.table)


def _added(made: Callable[[int], Stream], partitions: int, sharing: str) -> tuple[float, float]:
    """Bytes of state and of a snapshot that a partition adds: four times as many of them, less the
    bytes that the first ones and the engine itself take."""
    few, many = (_held(made(keys), sharing=sharing) for keys in (partitions, 4 * partitions))
    return tuple((b - a) / (3 * partitions) for a, b in zip(few, many, strict=True))  # type: ignore[return-value]


def _held(stream: Stream, **options: Any) -> tuple[int, int]:
    """Bytes of state and of a snapshot."""
    engine = _run.engine(stream.workload, kernels="general", **options)
    engine.bind(stream.table.schema)
    for batch in stream.table.to_batches(_run.BATCH_ROWS):
        engine.execute(engine.prepare(batch))
    return engine.state_bytes(), len(engine.checkpoint())
