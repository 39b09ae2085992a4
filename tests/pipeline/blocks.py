"""Blocks as Spark exports them, made in this process. The shards are others than Spark's."""

import zlib

import numpy as np
import pyarrow as pa

from runtime.pipeline.block import RowBlock
from runtime.pipeline.dead_letter import no_dead
from runtime.pipeline.event_block import CheckedBlock, block_of
from runtime.pipeline.event_extractor import EventExtractor
from runtime.pipeline.routing_table import RoutingTable


def shards_of(columns: list[pa.Array], rows: int, count: int) -> np.ndarray:
    """A shard for each key, the same in every run."""
    keys = zip(*(column.to_pylist() for column in columns), strict=True) if columns else [()] * rows
    return np.array([zlib.crc32(repr(key).encode()) % count for key in keys], np.int16)


def exported(batch: pa.RecordBatch, routing: RoutingTable) -> CheckedBlock:
    """A block of valid rows of the input."""
    preparer = routing.input_format.preparer(routing.uses)
    extractor = EventExtractor(preparer, routing.keys, routing.types)
    rows = RowBlock(batch, "test", np.arange(batch.num_rows), no_dead())
    events = extractor.extract(rows)
    assert events.num_rows == batch.num_rows
    shards = [
        shards_of([events[name] for name in route.attributes], events.num_rows, routing.shards)
        if route.attributes
        else None
        for route in routing.routes
    ]
    return block_of(events, shards, routing.pane)
