"""Turns rows into events: checks them and counts them.

The engine of one process uses it. In a job on Ray, Spark does the same with columns of its own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

import pyarrow as pa
import pyarrow.compute as pc

from runtime.pipeline.block import RowBlock
from runtime.pipeline.latency import Panes
from runtime.pipeline.normalize import PreparedRows, Preparer
from runtime.pipeline.null_keys import null_keys
from runtime.types.columns import TYPE, times_of

# Unused types are only named in a hint, which must be short.
OTHER_TYPES = 8


@dataclass
class BlockStats:
    """The counts of some rows. `types` are those that a query names; a few of the others are kept
    in `other_types`."""

    rows: int = 0
    events: int = 0
    newest: int | None = None
    dead: list[pa.Table] = field(default_factory=list)
    late: list[pa.Table] = field(default_factory=list)
    null_keys: Counter[str] = field(default_factory=Counter)
    truncated: int = 0
    types: set[str] = field(default_factory=set)
    other_types: set[str] = field(default_factory=set)
    open_quotes: int = 0  #: rows of CSV that may go on after a line break
    panes: list[Panes] = field(default_factory=list)  #: panes that hold events

    def add_events(
        self, events: pa.RecordBatch, keys: Mapping[str, frozenset[str]], types: frozenset[str]
    ) -> None:
        """Adds events that are in time. `keys` and `types` are those of an `EventExtractor`."""
        if not events.num_rows:
            return
        self.events += events.num_rows
        newest = int(times_of(events).max())
        self.newest = newest if self.newest is None else max(self.newest, newest)
        self.null_keys.update(null_keys(events, keys))
        for name in pc.unique(events.column(TYPE)).to_pylist():
            if name in types:
                self.types.add(name)
            elif len(self.other_types) < OTHER_TYPES:
                self.other_types.add(name)


class EventExtractor:
    """Reads the rows of one input for one workload. `keys` maps each partition attribute to the
    types of the queries that use it; `types` are all types that a query names."""

    def __init__(
        self,
        preparer: Preparer,
        keys: Mapping[str, frozenset[str]],
        types: frozenset[str],
    ) -> None:
        self.preparer = preparer
        self.stats = BlockStats()
        self._keys = keys
        self._types = types
        self._truncated = preparer.clock.truncated

    def continue_from(self, before: EventExtractor) -> None:
        """Continues the counts of the extractor of another workload over the same input."""
        self.preparer.continue_from(before.preparer)
        self.stats, self._truncated = before.stats, before._truncated

    def take_stats(self) -> BlockStats:
        """The counts since the last call."""
        taken, self.stats = self.stats, BlockStats()
        return taken

    def extract(self, block: RowBlock) -> pa.RecordBatch:
        """The valid events of a block, all of them in time."""
        events = self.prepare(block).events
        self.count(events)
        return events

    def prepare(self, block: RowBlock) -> PreparedRows:
        """Checks the rows of a block. The caller decides which events are late."""
        stats, clock = self.stats, self.preparer.clock
        stats.rows += block.batch.num_rows + block.dead.num_rows - block.dead["row"].null_count
        prepared = self.preparer.prepare(
            block.batch, source=block.source, rows=block.rows, raw=block.raw
        )
        stats.dead += [table for table in (block.dead, prepared.dead) if table.num_rows]
        stats.truncated += clock.truncated - self._truncated
        self._truncated = clock.truncated
        return prepared

    def count(self, events: pa.RecordBatch) -> None:
        """Counts events that are in time."""
        self.stats.add_events(events, self._keys, self._types)
