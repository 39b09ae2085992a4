"""Runs a bounded input in one process, from its first row to its last result.

Rows are read once, checked and spooled. Then it is known how far events are out of order, and they
come back in order of time in bounded memory, whatever the size of the input. The runner knows no
terminal: what to show is up to the `ProgressListener`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
import pyarrow as pa

from runtime.pipeline.block import RowBlock
from runtime.pipeline.engine import Engine, Results
from runtime.pipeline.manifest import RunCounts
from runtime.types.columns import times_of

PIECE_ROWS = 4_096


class BatchSource(AbstractContextManager["BatchSource"], Protocol):
    """A bounded input: `runtime.io.InputFiles`, or a generated stream."""

    schema: pa.Schema

    @property
    def skipped(self) -> list[str]:
        """Files that are not data, by their names."""

    @property
    def warnings(self) -> list[str]:
        """What the user should know of the input before it is read."""

    def __iter__(self) -> Iterator[RowBlock]: ...


class ResultSink(Protocol):
    """Receives results, piece by piece. It is `broken` once their reader has gone."""

    @property
    def broken(self) -> bool: ...

    def write(self, results: Results) -> None: ...


class ProgressListener(Protocol):
    def read(self, rows: int) -> None:
        """More rows were read."""

    def match(self, rows: int, total: int) -> None:
        """More events, of `total`, were matched."""


class Observer(Protocol):
    """Sees what goes through the engine, to advise it or to record it."""

    def before_events(self, events: pa.RecordBatch) -> None:
        """Events are about to go into the engine."""

    def after_results(self, results: Results) -> None:
        """Their results are written."""


@dataclass
class Summary:
    """What a run reports at its end, on either engine."""

    counts: RunCounts = field(default_factory=RunCounts)
    seconds: float = 0.0
    compiling: float = 0.0  #: of these, for kernels that were new to the machine
    earlier: int = 0  #: events of earlier runs, from whose checkpoint this one continued
    skipped: list[str] = field(default_factory=list)

    @property
    def dead_rows(self) -> int:
        return self.counts.dead.total() - self.counts.lost

    @property
    def events(self) -> int:
        """The valid rows, late ones included."""
        return self.counts.rows - self.dead_rows


def run(
    engine: Engine,
    source: BatchSource,
    results: ResultSink,
    dead: Callable[[pa.Table], None],
    progress: ProgressListener,
    observers: Sequence[Observer] = (),
    counts: RunCounts | None = None,
) -> Summary:
    """Runs the engine over all of a source; `counts` are kept up to date. Raises before any row is
    read if the columns do not fit the workload."""
    counts = RunCounts() if counts is None else counts
    began = time.perf_counter()
    engine.bind(source.schema)
    for block in source:
        _read(engine, block, dead, counts)
        progress.read(block.batch.num_rows + block.dead.num_rows)
    # Only now is it known how times are written, and so what a result without rows looks like.
    results.write(engine.empty_results())
    for events in _pieces(engine.shard.spooled_in_order()):
        if results.broken:
            break
        for each in observers:
            each.before_events(events)
        _write(results, engine.execute(events), counts, observers)
        progress.match(events.num_rows, counts.events)
    if not results.broken:
        _write(results, engine.finish(), counts, observers)
    return Summary(counts, time.perf_counter() - began, skipped=source.skipped)


def _read(
    engine: Engine, block: RowBlock, dead: Callable[[pa.Table], None], counts: RunCounts
) -> None:
    engine.shard.spool(engine.extract(block))
    stats = engine.extractor.take_stats()
    counts.add_block(stats)
    for table in stats.dead:
        dead(table)
        counts.add_dead(table)


def _write(
    results: ResultSink, found: Results, counts: RunCounts, observers: Sequence[Observer]
) -> None:
    counts.add_results(found)
    results.write(found)
    for each in observers:
        each.after_results(found)


def _pieces(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Small enough for a bar that moves; never cut between events of equal time."""
    for batch in batches:
        times = times_of(batch)
        start = 0
        while start < len(times):
            last = min(start + PIECE_ROWS, len(times)) - 1
            stop = int(np.searchsorted(times, times[last], side="right"))
            yield batch.slice(start, stop - start)
            start = stop
