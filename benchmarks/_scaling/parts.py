"""What the parts of a job cost, each by itself on one core, without Ray and Spark.

The router gets blocks as a Spark executor keeps them, Arrow bytes with keys and types as text, and
leaves portions; the aggregator takes these, epoch after epoch; the driver merges what it answers.
What Ray adds to that (calls, copies into the object store) is in the CPU time of the processes of a
whole job, see `job.py`.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import pyarrow as pa

from benchmarks import _run
from benchmarks import _streams as streams
from benchmarks._scaling.measure import Work, in_turns
from benchmarks._scaling.store import Row, sized, timed
from benchmarks._streams import Stream
from runtime.epochs.aggregation import Aggregation, Answer, Order
from runtime.epochs.folder import Folder
from runtime.epochs.intake import Intake
from runtime.epochs.routes import Reading
from runtime.epochs.shard import Settings
from runtime.epochs.split import Portion, Splitter, Told
from runtime.files.decode import Origin
from runtime.files.lines import Typed
from runtime.language.parser import parse

EPOCHS = 5
SHARDS = 4
# As Spark cuts them: `spark_ingest.session.ROWS_PER_ARROW_BATCH`.
BATCH_ROWS = 100_000
QUERIES = (1, 10, 50, 100, 300, 1_000)
SHARING = {"shared": "dynamic", "not shared": "never"}
WINDOWS = (1, 10, 60)


class Pieces:
    """A stream cut into epochs, and what each part of a job does with it."""

    def __init__(self, stream: Stream) -> None:
        self.workload = parse(stream.workload)
        table = streams.with_strings(stream.table)
        self.rows = table.num_rows
        self._reading = Reading("time", "type", "us", table.schema)
        self.intake = Intake(self.workload, self._reading, "float")
        columns = self.intake.columns
        self._decoder = Typed(pa.schema([table.schema.field(name) for name in columns]))
        self._routing = self.intake.routing(SHARDS, 1)
        size = -(-table.num_rows // EPOCHS)
        self.blocks = [
            _as_bytes(table.slice(start, size).select(columns))
            for start in range(0, table.num_rows, size)
        ]

    def routed(self) -> list[tuple[Told, list[Portion]]]:
        found = []
        for block in self.blocks:
            rows = pa.ipc.open_stream(block).read_all()
            splitter = Splitter(self._routing, None)
            (portions,) = splitter.split(self._decoder.decode(rows, Origin("bench")))
            found.append((splitter.told, portions))
        return found

    @cached_property
    def portions(self) -> list[tuple[Told, list[Portion]]]:
        return self.routed()

    def aggregator(self, sharing: str, folder: Folder | None = None) -> Aggregating:
        """After its first epoch, which makes the engines of its shards."""
        settings = Settings(sharing=sharing, kernels="general")
        made = Aggregation(settings, self._reading, self.workload, range(SHARDS), folder)
        aggregating = Aggregating(made, self.portions)
        aggregating.take(0)
        return aggregating


class Aggregating:
    """All epochs but the first. The watermark is behind the newest event of each; the last one does
    not end the input, which would save nothing."""

    def __init__(self, made: Aggregation, epochs: list[tuple[Told, list[Portion]]]) -> None:
        self._made, self._epochs = made, epochs
        self.answers: list[Answer] = []
        self.rows = sum(told.events for told, _ in epochs[1:])

    def take(self, epoch: int) -> Answer:
        told, portions = self._epochs[epoch]
        return self._made.take(Order(epoch, told.newest, committed=epoch - 1), portions)

    def __call__(self) -> None:
        self.answers = [self.take(epoch) for epoch in range(1, len(self._epochs))]


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


FULL = Sizes(1_000_000, QUERIES, 512)
QUICK = Sizes(100_000, (1, 10, 100, 1_000), 100)
TINY = Sizes(1_000, (1, 2, 3, 4, 5), 64)


def measured(sizes: Sizes, repeats: int) -> list[Row]:
    return [*_router(sizes, repeats), *_aggregator(sizes, repeats), *_state(sizes)]


# ---- times ---------------------------------------------------------------------------------


def job_like(events: int) -> Pieces:
    """The workload of `hamlet bench pipeline`, for which whole jobs are measured too."""
    return Pieces(streams.sharing(50, events, "own", windows=4))


def many(queries: int, events: int) -> Pieces:
    """As the sweep over queries: no two the same, all concerned by every burst, the window stays
    open."""
    keys = max(1, events // 10_000)
    stream = streams.sharing(queries, events, "few", windows=1, grouped=False, ends=32, keys=keys)
    return Pieces(stream)


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
        self._intake = pieces.intake
        self._partials = [each for answer in aggregating.answers for each in answer.partials]
        self.rows = sum(table.num_rows for table in self.tables().values())

    def tables(self) -> dict[str, pa.Table]:
        return self._intake.tables(self._partials)


def _closed(keys: int, sizes: Sizes) -> _Closed:
    """A row for each key and each of 50 queries."""
    stream = streams.sharing(50, 500 * max(keys, 10), "few", windows=2, burst=10, keys=keys)
    return _Closed(Pieces(stream))


def _bytes(batches: Sequence[pa.RecordBatch]) -> int:
    """As they go over the wire."""
    return sum(pa.ipc.get_record_batch_size(batch) for batch in batches)


def _aggregator(sizes: Sizes, repeats: int) -> list[Row]:
    made = {("job", 50): job_like(sizes.events), ("job, saved", 50): job_like(sizes.events)}
    for queries in sizes.queries:
        made |= dict.fromkeys(
            [(variant, queries) for variant in SHARING], many(queries, sizes.events)
        )
    with tempfile.TemporaryDirectory(prefix="hamlet-bench-") as folder:
        readies = {key: _Taking(pieces, key[0], Path(folder)) for key, pieces in made.items()}
        works: dict[str, Work] = {str(key): each.ready for key, each in readies.items()}
        times = in_turns(works, repeats)
    rows = [
        timed("part", "aggregator", *key, each.last.rows, times[str(key)])
        for key, each in readies.items()
    ]
    saved = readies["job, saved", 50].last
    log = sum(answer.saved_bytes for answer in saved.answers)
    return [*rows, sized("log bytes", "", 50, log / saved.rows)]


class _Taking:
    """An aggregator, new each time. `job, saved`: what came in is logged while it is computed, as
    in a job with checkpoints."""

    last: Aggregating

    def __init__(self, pieces: Pieces, variant: str, folder: Path) -> None:
        self._pieces, self._sharing = pieces, SHARING.get(variant, "dynamic")
        self._folder = folder if variant == "job, saved" else None

    def ready(self) -> Aggregating:
        folder = None
        if self._folder is not None:
            folder = Folder(tempfile.mkdtemp(dir=self._folder))
        self.last = self._pieces.aggregator(self._sharing, folder)
        return self.last


# ---- bytes ---------------------------------------------------------------------------------


def _state(sizes: Sizes) -> list[Row]:
    """With one window open, and all partitions in it: what a partition adds."""
    rows = []
    for queries in sizes.queries:
        for variant, sharing in SHARING.items():
            held, saved = _added(partial(_of_queries, queries), sizes.partitions, sharing)
            rows.append(sized("state bytes", variant, queries, held))
            rows.append(sized("snapshot bytes", variant, queries, saved))
    for windows in WINDOWS:
        held, _ = _added(partial(_of_windows, windows), sizes.partitions, "dynamic")
        rows.append(sized("state bytes", "by windows", windows, held))
    return rows


def _of_queries(queries: int, keys: int) -> Stream:
    return streams.sharing(queries, 200 * keys, "few", windows=1, grouped=False, ends=32, keys=keys)


def _of_windows(windows: int, keys: int) -> Stream:
    return streams.overlapping(windows, 500 * keys, keys=keys)


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
