"""Reads the rows of one epoch: Spark reads and checks them, routers slice them."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from threading import Lock
from typing import Any

import pyarrow as pa
import ray
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException

from actors.actor_pool import ActorPool, Ref
from runtime.errors import EnvironmentFailure
from runtime.pipeline.event_block import Origin
from runtime.pipeline.event_extractor import BlockStats
from runtime.pipeline.router import renumbered
from runtime.pipeline.row_numbers import SourcePart
from spark_ingest.arrow_export import ArrowExport, ExportedBlocks
from spark_ingest.pipeline.event_pipeline import EventPipeline
from spark_ingest.sources.source import SourceFrame, SourceRange, StreamSource


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
    part: SourcePart | None = None  #: if its rows are numbered when the epoch is committed
    floor: int | None = None  #: no later range has an earlier time
    began: float = field(default_factory=time.time)  #: as Unix time
    spark_seconds: float = 0.0
    route_began: float = 0.0  #: as Unix time
    route_seconds: float = 0.0

    @property
    def rows(self) -> int:
        return sum(stats.rows for stats in self.stats)


@dataclass(frozen=True)
class ParkedRows:
    """Rows that Spark has read and keeps until routers have fetched them."""

    found: EpochRows
    reading: SourceFrame
    shared: Ref  #: the routing table that Spark computed their shards by
    blocks: ExportedBlocks | None


class EpochReader:
    """Reads in two steps. While the rows of one range are routed, another may be parked."""

    def __init__(self, source: StreamSource, export: ArrowExport, pool: ActorPool) -> None:
        self._source = source
        self._export = export
        self._pool = pool
        self._planning = Lock()  # sources set options of the Spark session

    def read(self, wanted: SourceRange, watermark: int | None) -> EpochRows:
        """Events before the watermark are late."""
        return self.route(self.park(wanted, watermark))

    def park(self, wanted: SourceRange, watermark: int | None) -> ParkedRows:
        try:
            return self._park(wanted, watermark)
        except BaseException as error:
            self._export.forget()
            if isinstance(error, Py4JError | PySparkException):
                readable = self._source.quarantine_unreadable(wanted)
                if readable is not None:
                    return self.park(readable, watermark)
            raise

    def route(self, parked: ParkedRows) -> EpochRows:
        found, blocks = parked.found, parked.blocks
        if blocks is None:
            return found
        try:
            self._route(parked, blocks)
        except BaseException:
            self._export.forget()
            raise
        finally:
            blocks.release()
        # The lines after an open quote may be no rows.
        if any(each.open_quotes for each in found.stats):
            readable = self._source.quarantine_unreadable(found.range)
            if readable is not None:
                return self.read(readable, found.bound)
        return found

    def _park(self, wanted: SourceRange, watermark: int | None) -> ParkedRows:
        wall_clock, began = time.time(), time.perf_counter()
        routing, shared = self._pool.routing
        with self._planning:
            reading = self._source.read(wanted, EventPipeline(routing, watermark))
        found = EpochRows(wanted, watermark, dead=list(reading.lost), floor=reading.floor)
        found.began, found.part = wall_clock, reading.part
        if reading.frame is None:
            return ParkedRows(found, reading, shared, None)
        blocks = self._export.park(reading.frame, reading.only)
        found.spark_seconds = time.perf_counter() - began
        return ParkedRows(found, reading, shared, blocks)

    def _route(self, parked: ParkedRows, blocks: ExportedBlocks) -> None:
        found, reading, shared = parked.found, parked.reading, parked.shared
        found.route_began, began = time.time(), time.perf_counter()
        origins, contract = reading.origins, reading.contract
        ranked = sorted(range(len(blocks.parts)), key=lambda n: reading.order[n])
        calls = [
            self._pool.route(blocks.parts[n], contract, origins[n], shared, found.bound)
            for n in ranked
        ]
        found.stats = ray.get([call[0] for call in calls])
        _check_rows(found, reading)
        found.arrived = [origins[n].arrived or found.range.arrived for n in ranked]
        found.portions = [call[1:] for call in calls]
        _gather(found, [origins[n] for n in ranked])
        if reading.raw is not None:
            found.dead = [_with_raw_rows(table, reading.raw) for table in found.dead]
            found.late = [_with_raw_rows(table, reading.raw) for table in found.late]
        found.route_seconds = time.perf_counter() - began


def _check_rows(found: EpochRows, reading: SourceFrame) -> None:
    """Rows are numbered by how many the source says there are."""
    if reading.rows is not None and found.rows != reading.rows:
        (source,) = {origin.source for origin in reading.origins}
        raise EnvironmentFailure(
            f"Spark read {found.rows} rows of a part of {source}, which has {reading.rows}",
            "the file may have changed while it was read: start over without the checkpoint",
        )


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
