"""A bounded input from its first row to its last result.

Everything is read once, checked and spooled; then it is known how far events are out of order,
and they come back in order of time in bounded memory, whatever the size of the input. Knows no
terminal: what to show is up to the `Watcher`.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from runtime.pipeline.block import Block
from runtime.pipeline.engine import Engine, Results
from runtime.pipeline.event_extractor import OTHER_TYPES
from runtime.pipeline.reorder_buffer import ordered
from runtime.pipeline.spool import Spool
from runtime.types.columns import TYPE, times_of

PIECE_ROWS = 4_096


class Source(AbstractContextManager["Source"], Protocol):
    """What is read: `runtime.io.Input`, or a generated stream."""

    schema: pa.Schema
    rows: int
    dead: Counter[str]
    skipped: list[str]

    def __iter__(self) -> Iterator[Block]: ...


class Sink(Protocol):
    """Where results go, piece by piece. `broken` once nobody reads them any more."""

    @property
    def broken(self) -> bool: ...

    def write(self, results: Results) -> None: ...


class Watcher(Protocol):
    def read(self, rows: int) -> None:
        """So many rows more were read."""

    def match(self, rows: int, total: int) -> None:
        """So many events more, of all, were matched."""


class Observer(Protocol):
    """Sees what goes through the engine, to advise it or to tell of it."""

    def took(self, events: pa.RecordBatch) -> None:
        """Events are about to go into the engine."""

    def wrote(self, results: Results) -> None:
        """What came of them is out."""


@dataclass
class Summary:
    """What is worth telling at the end."""

    rows: int = 0
    broken: int = 0  #: sources that could not be read, or not to their end
    seconds: float = 0.0
    compiling: float = 0.0  #: of these, what went into kernels that were new to the machine
    dead: Counter[str] = field(default_factory=Counter)
    null_keys: Counter[str] = field(default_factory=Counter)
    truncated: int = 0
    late: int = 0
    earlier: int = 0  #: events of earlier runs, from whose checkpoint this one went on
    skipped: list[str] = field(default_factory=list)
    types: set[str] = field(default_factory=set)
    other_types: set[str] = field(default_factory=set)

    @property
    def dead_rows(self) -> int:
        return self.dead.total() - self.broken

    @property
    def events(self) -> int:
        return self.rows - self.dead_rows


def run(
    engine: Engine,
    source: Source,
    results: Sink,
    dead: Callable[[pa.Table], None],
    watcher: Watcher,
    observers: Sequence[Observer] = (),
) -> Summary:
    """Runs the engine over all of a source. Raises before any row is read if its columns do not
    fit the workload."""
    summary = Summary()
    began = time.perf_counter()
    engine.bind(source.schema)
    wanted = frozenset().union(*(query.types for query in engine.workload))
    with Spool() as spool:
        for block in source:
            events = _prepared(engine, block, dead)
            summary.broken += block.dead["row"].null_count
            _note_types(summary, events, wanted)
            spool.add(events)
            watcher.read(block.batch.num_rows + block.dead.num_rows)
        # Only now is it known how times are written, and so how a result without rows looks.
        results.write(engine.empty_results())
        for events in _pieces(ordered(spool, spool.disorder)):
            if results.broken:
                break
            for each in observers:
                each.took(events)
            _write(results, engine.execute(events), observers)
            watcher.match(events.num_rows, spool.rows)
    if not results.broken:
        _write(results, engine.finish(), observers)
    _tell(summary, engine, source)
    summary.seconds = time.perf_counter() - began
    return summary


def _write(results: Sink, found: Results, observers: Sequence[Observer]) -> None:
    results.write(found)
    for each in observers:
        each.wrote(found)


def _prepared(engine: Engine, block: Block, dead: Callable[[pa.Table], None]) -> pa.RecordBatch:
    events = engine.prepare(block.batch, source=block.source, rows=block.rows, raw=block.raw)
    dead(block.dead)
    dead(engine.take_dead())
    return events


def _note_types(summary: Summary, events: pa.RecordBatch, wanted: frozenset[str]) -> None:
    for name in pc.unique(events.column(TYPE)).to_pylist():
        if name in wanted:
            summary.types.add(name)
        elif len(summary.other_types) < OTHER_TYPES:
            summary.other_types.add(name)


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


def _tell(summary: Summary, engine: Engine, source: Source) -> None:
    summary.rows = source.rows
    summary.dead = source.dead + engine.preparer.dead
    summary.null_keys = engine.null_keys
    summary.truncated = engine.preparer.clock.truncated
    summary.skipped = source.skipped
