"""Reads the rows of one epoch: Spark reads and checks them, routers slice them."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
import ray
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException

from actors.actor_pool import ActorPool, Ref
from runtime.pipeline.event_block import Origin
from runtime.pipeline.event_extractor import BlockStats
from runtime.pipeline.router import renumbered
from spark_ingest.arrow_export import ArrowExport
from spark_ingest.pipeline.event_pipeline import EventPipeline
from spark_ingest.sources.source import SourceRange, StreamSource


@dataclass
class EpochRows:
    """The rows of an epoch. `stats` (of the routers), `arrived` (Unix time of the last row) and
    `portions` (of each aggregator) have an entry for each block, in the order of arrival."""

    range: SourceRange
    bound: int | None = None  #: events before it are late
    stats: list[BlockStats] = field(default_factory=list)
    arrived: list[float] = field(default_factory=list)
    portions: list[list[Ref]] = field(default_factory=list)
    newest: dict[str, int] = field(default_factory=dict)  #: largest time, by source partition
    dead: list[pa.Table] = field(default_factory=list)
    late: list[pa.Table] = field(default_factory=list)
    floor: int | None = None  #: no later range has an earlier time
    began: float = field(default_factory=time.time)  #: as Unix time
    spark_seconds: float = 0.0
    route_seconds: float = 0.0

    @property
    def rows(self) -> int:
        return sum(stats.rows for stats in self.stats)


class EpochReader:
    def __init__(self, source: StreamSource, export: ArrowExport, pool: ActorPool) -> None:
        self._source = source
        self._export = export
        self._pool = pool

    def read(self, wanted: SourceRange, watermark: int | None) -> EpochRows:
        """Events before the watermark are late."""
        try:
            return self._read(wanted, watermark)
        except BaseException as error:
            self._export.forget()
            if isinstance(
                error, Py4JError | PySparkException
            ) and self._source.quarantine_unreadable(wanted):
                return self.read(wanted, watermark)
            raise

    def _read(self, wanted: SourceRange, watermark: int | None) -> EpochRows:
        wall_clock, began = time.time(), time.perf_counter()
        routing, shared = self._pool.routing
        reading = self._source.read(wanted, EventPipeline(routing, watermark))
        found = EpochRows(wanted, watermark, dead=list(reading.lost), floor=reading.floor)
        found.began = wall_clock
        if reading.frame is None:
            return found
        blocks = self._export.park(reading.frame)
        found.spark_seconds = time.perf_counter() - began
        origins = reading.origins
        try:
            ranked = sorted(range(len(blocks.parts)), key=lambda n: reading.order[n])
            calls = [
                self._pool.route(blocks.parts[n], reading.contract, origins[n], shared, watermark)
                for n in ranked
            ]
            stats: list[BlockStats] = ray.get([call[0] for call in calls])
        finally:
            blocks.release()
        # The lines after an open quote may be no rows.
        if any(each.open_quotes for each in stats) and self._source.quarantine_unreadable(wanted):
            return self._read(wanted, watermark)
        found.stats = stats
        found.arrived = [origins[n].arrived or wanted.arrived for n in ranked]
        found.portions = [call[1:] for call in calls]
        _gather(found, [origins[n] for n in ranked])
        if reading.raw is not None:
            found.dead = [_with_raw_rows(table, reading.raw) for table in found.dead]
            found.late = [_with_raw_rows(table, reading.raw) for table in found.late]
        found.route_seconds = time.perf_counter() - began - found.spark_seconds
        return found


def _gather(found: EpochRows, origins: Sequence[Origin]) -> None:
    """Numbers the rows of a block from the end of the block before it, of the same source."""
    rows: dict[str, int] = {}
    for stats, origin in zip(found.stats, origins, strict=True):
        first = 0 if origin.first is None else rows.get(origin.source, origin.first)
        rows[origin.source] = first + stats.rows
        found.dead += [renumbered(table, first) for table in stats.dead]
        found.late += [renumbered(table, first) for table in stats.late]
        if stats.newest is not None:
            known = found.newest.get(origin.clock, stats.newest)
            found.newest[origin.clock] = max(known, stats.newest)


def _with_raw_rows(letters: pa.Table, raw: Callable[[str, Sequence[int]], list[str]]) -> pa.Table:
    """Dead letters with whole rows, as the source has them: a block has only the used columns."""
    rows = letters["row"].to_pylist()
    if not rows or None in rows:
        return letters
    place = letters.schema.get_field_index("event")
    events = pa.array(raw(letters["source"][0].as_py(), rows), pa.string())
    return letters.set_column(place, letters.schema.field(place), events)


def empty_read(position: dict[str, Any]) -> EpochRows:
    """An epoch without rows, in which only the watermark moves or the input ends."""
    return EpochRows(SourceRange(position, position))
