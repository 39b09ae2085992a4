"""Blocks of rows to events on their way: checked, those behind the watermark put aside, the
others cut into what each owner of shards gets."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from runtime.pipeline.block import Block
from runtime.pipeline.dead_letter import dead_rows, no_dead, rows_as_json
from runtime.pipeline.latency import Panes, panes_of
from runtime.pipeline.normalize import Prepared, Preparer
from runtime.pipeline.null_keys import null_keys
from runtime.pipeline.partitioner import by_shard, shards_of
from runtime.pipeline.routing_table import Route, Routing
from runtime.types.columns import TIME, TYPE, Mask, times_of

# Names of types that no query asks for are kept for a hint, and a hint is short.
OTHER_TYPES = 8


@dataclass(frozen=True)
class Portion:
    """The events of one route for one owner: those of its i-th shard from `starts[i]` on."""

    route: int
    events: pa.RecordBatch
    starts: npt.NDArray[np.int64]

    def of_shard(self, place: int) -> pa.RecordBatch:
        first, last = int(self.starts[place]), int(self.starts[place + 1])
        return self.events.slice(first, last - first)


@dataclass
class Told:
    """What is known of the rows of a block, besides its events."""

    rows: int = 0
    events: int = 0
    newest: int | None = None
    dead: list[pa.Table] = field(default_factory=list)
    late: list[pa.Table] = field(default_factory=list)
    null_keys: Counter[str] = field(default_factory=Counter)
    truncated: int = 0
    types: set[str] = field(default_factory=set)
    other_types: set[str] = field(default_factory=set)
    panes: list[Panes] = field(default_factory=list)  #: in which there are events


class Splitter:
    """Splits the rows of one block. `watermark`: events before it are late."""

    def __init__(self, routing: Routing, watermark: int | None) -> None:
        self._routing = routing
        self._watermark = watermark
        self._preparer: Preparer = routing.reading.preparer(routing.uses)
        self._portions: list[list[Portion]] = [[] for _ in range(routing.owners)]
        self.told = Told()

    def split(self, blocks: Iterable[Block]) -> list[list[Portion]]:
        """For each owner, the portions in order of arrival."""
        for block in blocks:
            self._take(block)
        self.told.truncated = self._preparer.clock.truncated
        return self._portions

    def _take(self, block: Block) -> None:
        told = self.told
        told.rows += block.batch.num_rows + block.dead.num_rows - block.dead["row"].null_count
        prepared = self._preparer.prepare(
            block.batch, source=block.source, rows=block.rows, raw=block.raw
        )
        told.dead += [table for table in (block.dead, prepared.dead) if table.num_rows]
        events = self._in_time(block, prepared)
        told.events += events.num_rows
        if not events.num_rows:
            return
        newest = int(times_of(events).max())
        told.newest = newest if told.newest is None else max(told.newest, newest)
        self._look(events)
        times, types = times_of(events), events.column(TYPE)
        told.panes.append(panes_of(times, types, self._routing.types, self._routing.pane))
        for place, route in enumerate(self._routing.routes):
            self._send(place, route, events)

    # ---- what is late ----------------------------------------------------------------------

    def _in_time(self, block: Block, prepared: Prepared) -> pa.RecordBatch:
        events = prepared.events
        times = times_of(events)
        if self._watermark is None or not len(times) or int(times.min()) >= self._watermark:
            return events
        behind = times < self._watermark
        self.told.late.append(self._late_rows(block, prepared, behind))
        return events.filter(pa.array(~behind))

    def _late_rows(self, block: Block, prepared: Prepared, behind: Mask) -> pa.Table:
        """Rows of the block, of which the dead ones are not among the events."""
        dead = prepared.dead["row"].to_numpy()
        places = np.flatnonzero(~np.isin(block.rows, dead))[behind]
        raw = block.raw or (lambda chosen: rows_as_json(block.batch.take(pa.array(chosen))))
        watermark = _shown(self._watermark)
        late = times_of(prepared.events)[behind]
        assert self._watermark is not None
        seconds = (self._watermark - late) / 1e6
        reasons = [f"{by:.6g} s behind the watermark {watermark}" for by in seconds.tolist()]
        rows = block.rows[places].tolist()
        return dead_rows(block.source, rows, reasons, raw(places.tolist()))

    # ---- what is known of all --------------------------------------------------------------

    def _look(self, events: pa.RecordBatch) -> None:
        self.told.null_keys.update(null_keys(events, self._routing.keys))
        for name in pc.unique(events.column(TYPE)).to_pylist():
            if name in self._routing.types:
                self.told.types.add(name)
            elif len(self.told.other_types) < OTHER_TYPES:
                self.told.other_types.add(name)

    # ---- on their way ----------------------------------------------------------------------

    def _send(self, place: int, route: Route, events: pa.RecordBatch) -> None:
        routing = self._routing
        keep = _of_types(events.column(TYPE), route.types)
        keys = [events.column(name) for name in route.attributes]
        shards = shards_of(keys, events.num_rows, routing.shards)
        rows, starts = by_shard(shards, keep, routing.shards)
        chosen = events.select([TIME, TYPE, *route.columns])
        if not (len(rows) == events.num_rows and starts[1] == len(rows)):
            chosen = chosen.take(pa.array(rows))
        for owner in range(routing.owners):
            own = routing.owned(owner)
            first, last = int(starts[own.start]), int(starts[own.stop])
            if last > first:
                part = chosen.slice(first, last - first)
                within = starts[own.start : own.stop + 1] - first
                self._portions[owner].append(Portion(place, part, within))


def _of_types(column: pa.DictionaryArray, types: frozenset[str] | None) -> Mask:
    if types is None:
        return np.ones(len(column), np.bool_)
    wanted = np.array([name in types for name in column.dictionary.to_pylist()], np.bool_)
    codes = column.indices.to_numpy()
    if wanted.all():
        return np.ones(len(column), np.bool_)
    mask: Mask = wanted[codes]
    return mask


def _shown(micros: int | None) -> str:
    assert micros is not None
    try:
        return str(np.datetime64(micros, "us"))
    except ValueError:
        return f"{micros} us"


def renumbered(table: pa.Table, first: int) -> pa.Table:
    """Dead or late rows of a piece whose first row is number `first` of its source."""
    if not first or not table.num_rows:
        return table
    place = table.schema.get_field_index("row")
    return table.set_column(place, table.schema.field(place), pc.add(table["row"], first))


def joined_rows(tables: Iterable[pa.Table]) -> pa.Table:
    found = list(tables)
    return pa.concat_tables(found) if found else no_dead()
