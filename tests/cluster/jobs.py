"""One input, run as a job on the cluster of the tests and run in process, to be compared."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa

from actors.actor_pool import ActorPool
from hamlet.cli.local_source import open_source
from hamlet.job.driver import Driver
from hamlet.job.epoch_reader import EpochReader
from hamlet.job.epoch_report import EpochReport
from hamlet.job.job_context import JobContext, StartPoint
from hamlet.job.manifest_check import fingerprints
from hamlet.job.metrics_recorder import JobMetrics
from hamlet.local_runner import run as run_in_process
from runtime.io.reader import ReadRequest
from runtime.language.query import Workload
from runtime.pipeline.blob_store import BlobStore
from runtime.pipeline.bound_workload import BoundWorkload
from runtime.pipeline.checkpoint import CheckpointStore
from runtime.pipeline.dead_letter import no_dead
from runtime.pipeline.engine import Engine
from runtime.pipeline.manifest import RunCounts
from runtime.pipeline.routing_table import InputFormat
from runtime.pipeline.settings import Settings
from runtime.types.schema import Schema
from runtime.types.side_tables import DEAD_LETTER, LATE
from spark_ingest.arrow_export import ArrowExport
from spark_ingest.sinks.file_sink import WholeSink
from spark_ingest.sinks.sink import EpochSink
from spark_ingest.sources.files import FileSource
from spark_ingest.sources.source import StreamSource

SHARDS_EACH = 4

#: Writes a file at a path.
Write = Callable[[Path], object]


@dataclass(frozen=True)
class JobInput:
    """A workload over files, and how they are to be read."""

    workload: Workload
    path: Path
    settings: Settings = field(default_factory=Settings)
    time_column: str = "time"
    type_column: str = "type"
    unit: str | None = None
    format: str | None = None
    declared: Schema | None = None

    @property
    def needs(self) -> ReadRequest:
        declared = self.declared or Schema({})
        return ReadRequest(self.time_column, self.type_column, self.workload.uses, declared)


@dataclass
class Found:
    """What came out, wherever it ran."""

    tables: dict[str, pa.Table]
    dead: pa.Table
    late: pa.Table
    rows: int
    events: int
    null_keys: Counter[str]
    truncated: int
    types: set[str]
    other_types: set[str]
    skipped: list[str]
    epochs: int = 0
    lost: int = 0  #: sources that could not be read
    plan: int = 0  #: the version by which all aggregators shared in the end

    def letters(self) -> list[dict[str, Any]]:
        """Dead letters, in an order of their own: files that cannot be read are told first in
        process."""
        return sorted(self.dead.to_pylist(), key=lambda each: (each["source"], each["row"] or -1))


# ---- in process ----------------------------------------------------------------------------


class _Kept:
    """A sink and a watcher that only listen."""

    broken = False

    def __init__(self) -> None:
        self.tables: dict[str, list[pa.Table]] = {}
        self.dead: list[pa.Table] = []

    def write(self, results: dict[str, pa.Table]) -> None:
        for name, table in results.items():
            self.tables.setdefault(name, []).append(table)

    def read(self, rows: int) -> None: ...

    def match(self, rows: int, total: int) -> None: ...


def engine_of(asked: JobInput, lateness: int | None = None) -> Engine:
    settings = asked.settings
    return Engine(
        asked.workload,
        numeric=settings.numeric,
        ties=settings.ties,
        sharing=settings.sharing,
        lateness=lateness,
        time_column=asked.time_column,
        type_column=asked.type_column,
        time_unit=asked.unit,
    )


def locally(asked: JobInput, input: str | None = None) -> Found:
    """As `hamlet run --engine local` does it."""
    kept = _Kept()
    with open_source(
        str(asked.path) if input is None else input,
        format=asked.format,
        uses=asked.workload.uses,
        time_column=asked.time_column,
        type_column=asked.type_column,
        declared=asked.declared,
    ) as source:
        summary = run_in_process(engine_of(asked), source, kept, kept.dead.append, kept)
    return Found(
        tables={name: joined(tables) for name, tables in kept.tables.items()},
        dead=joined([no_dead(), *kept.dead]),
        late=no_dead(),
        rows=summary.counts.rows,
        events=summary.events,
        null_keys=summary.counts.null_keys,
        truncated=summary.counts.truncated,
        types=summary.counts.types,
        other_types=summary.counts.other_types,
        skipped=summary.skipped,
    )


# ---- on Ray and Spark ----------------------------------------------------------------------


class Watcher:
    """Keeps what it is told; work that is repeated is an error here, where nothing dies."""

    def __init__(self, then: Callable[[EpochReport], None] = lambda report: None) -> None:
        self.reports: list[EpochReport] = []
        self._then = then

    def committed(self, report: EpochReport) -> None:
        self.reports.append(report)
        self._then(report)

    def trouble(self, what: str) -> None:
        raise AssertionError(what)


def on_cluster(spark: Any, actor_pool: ActorPool, asked: JobInput, folder: Path) -> Found:
    """All of a bounded input. `folder` is for the checkpoint."""
    source = FileSource(
        spark,
        asked.path,
        asked.needs,
        format=asked.format,
        unit=asked.unit,
        unpack_to=folder.parent,
    )
    return to_the_end(spark, actor_pool, asked, source, folder)


def to_the_end(
    spark: Any, actor_pool: ActorPool, asked: JobInput, source: StreamSource, folder: Path
) -> Found:
    watcher = Watcher()
    driver, checkpoints = driver_of(spark, actor_pool, asked, source, folder, watcher)
    driver.run()
    source.close()
    assert driver.finished
    return outcome(driver, checkpoints, source, watcher)


def followed(
    spark: Any,
    actor_pool: ActorPool,
    asked: JobInput,
    files: Sequence[tuple[str, Write]],
    folder: Path,
    lateness: int = 0,
) -> Found:
    """A folder in which a file appears when the one before is committed. Ends after the last one,
    with windows still open."""
    waiting = iter(files)
    done: list[bool] = []

    def appear() -> None:
        name, write = next(waiting, ("", None))
        if write is None:
            done.append(True)
            return
        hidden = asked.path / f".{name}"
        write(hidden)
        hidden.rename(asked.path / name)

    asked.path.mkdir()
    appear()
    source = FileSource(spark, asked.path, asked.needs, bounded=False, unit=asked.unit)
    watcher = Watcher(lambda report: appear())
    driver, checkpoints = driver_of(
        spark, actor_pool, asked, source, folder, watcher, lateness, lambda: bool(done)
    )
    driver.run()
    assert not driver.finished
    assert len(watcher.reports) == len(files)
    return outcome(driver, checkpoints, source, watcher)


def driver_of(
    spark: Any,
    actor_pool: ActorPool,
    asked: JobInput,
    source: StreamSource,
    folder: Path,
    watcher: Watcher,
    lateness: int = 0,
    stopping: Callable[[], bool] = lambda: False,
    make_sink: Callable[[], EpochSink] = WholeSink,
    resume: bool = False,
) -> tuple[Driver, CheckpointStore]:
    """With `resume`, it goes on from the checkpoint in the folder."""
    if not resume:
        shutil.rmtree(folder, ignore_errors=True)
    kept = BlobStore(str(folder), durable=False)
    checkpoints = CheckpointStore(kept)
    manifest = checkpoints.claim(_refuse)
    assert (manifest is not None) == resume
    columns = (asked.time_column, asked.type_column)
    input_format = InputFormat(*columns, asked.unit, source.schema, source.clock())
    bound_workload = BoundWorkload(asked.workload, input_format, asked.settings.numeric)
    context = JobContext(
        source=source,
        sink=make_sink(),
        pool=actor_pool,
        reader=EpochReader(source, ArrowExport(spark), actor_pool),
        checkpoints=checkpoints,
        recorder=JobMetrics("test", bound_workload, []),
        watcher=watcher,
        settings=asked.settings,
        shards=actor_pool.size * SHARDS_EACH if manifest is None else manifest.shards,
        lateness=lateness,
        given=fingerprints(asked.workload),
    )
    return Driver(context, StartPoint(bound_workload, manifest), stopping=stopping), checkpoints


def outcome(
    driver: Driver,
    checkpoints: CheckpointStore,
    source: StreamSource,
    watcher: Watcher,
    resumed: bool = False,
) -> Found:
    tables = {name: [table] for name, table in driver.bound_workload.empty().items()}
    beside: dict[str, list[pa.Table]] = {DEAD_LETTER: [no_dead()], LATE: [no_dead()]}
    assert driver.committed is not None
    for results in checkpoints.results(driver.committed):
        for name, table in results.items():
            (beside if name in beside else tables)[name].append(table)
    counts = driver.counts
    found = Found(
        tables={name: joined(parts) for name, parts in tables.items()},
        dead=joined(beside[DEAD_LETTER]),
        late=joined(beside[LATE]),
        rows=counts.rows,
        events=counts.events,
        null_keys=counts.null_keys,
        truncated=counts.truncated,
        types=counts.types,
        other_types=counts.other_types,
        skipped=getattr(source, "skipped", []),
        lost=counts.lost,
        epochs=len(watcher.reports),
        plan=watcher.reports[-1].plan if watcher.reports else 0,
    )
    assert counts.results == Counter({n: t.num_rows for n, t in found.tables.items() if len(t)})
    assert counts.late == found.late.num_rows
    assert counts.dead == Counter(found.dead["reason"].to_pylist())
    check_metrics(driver, counts, resumed)
    return found


def check_metrics(driver: Driver, counts: RunCounts, resumed: bool) -> None:
    """What is told to Prometheus is what was counted, and every window has its latency, except that
    a resumed job does not know when events of earlier runs came."""
    snapshot = driver.recorder.snapshot
    assert (snapshot.rows, snapshot.events, snapshot.late) == (
        counts.rows,
        counts.events,
        counts.late,
    )
    assert sum(snapshot.invalid_rows.values()) == counts.dead.total()
    assert {n: q.results for n, q in snapshot.queries.items() if q.results} == counts.results
    for name, query in snapshot.queries.items():
        assert resumed or query.latency.count == query.windows, name
        assert (query.windows > 0) == (query.results > 0), name


def _refuse(what: str) -> None:
    raise AssertionError(what)


def joined(tables: Iterable[pa.Table]) -> pa.Table:
    """A column of logarithms is in those pieces alone that need it."""
    return pa.concat_tables(list(tables), promote_options="default")


# ---- compared ------------------------------------------------------------------------------


def assert_same(found: Found, wanted: Found) -> None:
    """To the last bit, the order of rows, and the types of columns."""
    assert_same_results(found, wanted)
    assert_same_beside(found, wanted)


def assert_same_results(found: Found, wanted: Found) -> None:
    assert list(found.tables) == list(wanted.tables)
    for name, table in wanted.tables.items():
        assert found.tables[name].schema == table.schema, name
        assert found.tables[name].equals(table), name


def assert_same_beside(found: Found, wanted: Found) -> None:
    """What is told of the rows besides results."""
    assert found.letters() == wanted.letters()
    assert_same_counts(found, wanted)


def assert_same_counts(found: Found, wanted: Found) -> None:
    for name in ("rows", "events", "null_keys", "truncated", "types", "other_types", "skipped"):
        assert getattr(found, name) == getattr(wanted, name), name
