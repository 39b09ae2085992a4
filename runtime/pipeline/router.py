"""Slices the events of a block by the owners of their shards, which Spark has computed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from runtime.pipeline.dead_letter import no_dead
from runtime.pipeline.event_block import CheckedBlock
from runtime.pipeline.event_extractor import BlockStats
from runtime.pipeline.latency import panes_by_type
from runtime.pipeline.partitioner import by_shard
from runtime.pipeline.routing_table import Route, RoutingTable
from runtime.types.columns import PANE, TIME, TYPE, Mask


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
    """Slices the events of one block. `watermark` is the one that late events are behind."""

    def __init__(self, routing: RoutingTable, watermark: int | None) -> None:
        self._routing = routing
        self._watermark = watermark
        self._schema = routing.event_schema
        self.stats = BlockStats()
        self._portions: list[list[Portion]] = [[] for _ in range(routing.owners)]

    def route(self, blocks: Iterable[CheckedBlock]) -> list[list[Portion]]:
        """The portions of each owner, in the order of arrival."""
        for block in blocks:
            self._count(block)
            in_time = block.in_time()
            if in_time.batch.num_rows:
                self._slice(in_time)
        return self._portions

    def _count(self, block: CheckedBlock) -> None:
        stats = self.stats
        stats.rows += block.batch.num_rows
        stats.truncated += block.finer()
        stats.open_quotes += block.open_quotes()
        for letters, kept in (
            (block.dead(), stats.dead),
            (block.late(self._watermark), stats.late),
        ):
            if letters.num_rows:
                kept.append(letters)

    def _slice(self, block: CheckedBlock) -> None:
        routing = self._routing
        events = block.events(self._schema)
        self.stats.add_events(events, routing.keys, routing.types)
        if routing.pane:
            panes = events.column(PANE).to_numpy()
            self.stats.panes.append(panes_by_type(panes, events.column(TYPE), routing.types))
        for place, route in enumerate(routing.routes):
            self._send(place, route, events, block.shards(place))

    def _send(
        self,
        place: int,
        route: Route,
        events: pa.RecordBatch,
        shards: npt.NDArray[np.int16] | None,
    ) -> None:
        routing = self._routing
        keep = _of_types(events.column(TYPE), route.types)
        if shards is None:
            shards = np.zeros(events.num_rows, np.int16)
        rows, starts = by_shard(shards, keep, routing.shards)
        chosen = events.select([TIME, TYPE, *route.columns, PANE])
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
