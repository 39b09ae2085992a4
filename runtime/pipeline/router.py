"""Routes the events of a block of rows to the owners of the shards that compute them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from runtime.pipeline.block import RowBlock
from runtime.pipeline.dead_letter import no_dead
from runtime.pipeline.event_extractor import BlockStats, EventExtractor
from runtime.pipeline.latency import panes_of
from runtime.pipeline.partitioner import by_shard, shards_of
from runtime.pipeline.routing_table import Route, RoutingTable
from runtime.types.columns import TIME, TYPE, Mask, times_of


@dataclass(frozen=True)
class Portion:
    """The events of one route for one owner: those of its i-th shard from `starts[i]` on."""

    route: int
    events: pa.RecordBatch
    starts: npt.NDArray[np.int64]

    def of_shard(self, place: int) -> pa.RecordBatch:
        first, last = int(self.starts[place]), int(self.starts[place + 1])
        return self.events.slice(first, last - first)


class BlockRouter:
    """Routes the rows of one block. Events before `watermark` are late."""

    def __init__(self, routing: RoutingTable, watermark: int | None) -> None:
        self._routing = routing
        self._watermark = watermark
        preparer = routing.input_format.preparer(routing.uses)
        self._extractor = EventExtractor(preparer, routing.keys, routing.types)
        self._portions: list[list[Portion]] = [[] for _ in range(routing.owners)]

    @property
    def stats(self) -> BlockStats:
        return self._extractor.stats

    def route(self, blocks: Iterable[RowBlock]) -> list[list[Portion]]:
        """The portions of each owner, in the order of arrival."""
        for block in blocks:
            events = self._extractor.extract(block, self._watermark)
            if events.num_rows:
                self._route(events)
        return self._portions

    def _route(self, events: pa.RecordBatch) -> None:
        routing = self._routing
        panes = panes_of(times_of(events), events.column(TYPE), routing.types, routing.pane)
        self.stats.panes.append(panes)
        for place, route in enumerate(routing.routes):
            self._send(place, route, events)

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


def renumbered(table: pa.Table, first: int) -> pa.Table:
    """Dead or late rows of a block that starts at row `first` of its source."""
    if not first or not table.num_rows:
        return table
    place = table.schema.get_field_index("row")
    return table.set_column(place, table.schema.field(place), pc.add(table["row"], first))


def joined_rows(tables: Iterable[pa.Table]) -> pa.Table:
    found = list(tables)
    return pa.concat_tables(found) if found else no_dead()
