"""Generates batches of events from parameters."""

from __future__ import annotations

import zlib
from collections.abc import Iterator

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from runtime.generate.clock import EventClock
from runtime.generate.generated_block import BLOCK, GeneratedBlock, GeneratedColumn
from runtime.generate.parameters import Parameters
from runtime.generate.simulate import Walker, chain
from runtime.generate.stream import Columns, Stream


def emit(stream: Stream, wanted: Parameters, rows: int) -> Iterator[pa.RecordBatch]:
    """Batches of at most `rows` events; one block is in memory at a time."""
    prepare, draw = _generators(stream.name, wanted.seed)
    walker = Walker(chain(wanted.flows, wanted.lengths), wanted.groups, prepare)
    columns = stream.columns(wanted.groups, prepare)
    clock = EventClock(wanted.start, wanted.rate, stream.unit)
    for first in range(0, wanted.events, BLOCK):
        times = clock.times(first, BLOCK, draw)
        block = _batch(stream, times, walker.block(draw), columns)
        left = min(BLOCK, wanted.events - first)
        for offset in range(0, left, rows):
            yield block.slice(offset, min(rows, left - offset))


def _generators(name: str, seed: int) -> list[np.random.Generator]:
    """One to set up partitions, one to draw events; both differ from stream to stream."""
    root = np.random.SeedSequence([seed, zlib.crc32(name.encode())])
    return [np.random.Generator(np.random.PCG64(child)) for child in root.spawn(2)]


def _batch(
    stream: Stream, times: NDArray[np.int64], block: GeneratedBlock, columns: Columns
) -> pa.RecordBatch:
    life = stream.lifecycle
    kinds = GeneratedColumn(life.type_of[block.state], pa.array(life.type_names))
    filled = {"type": kinds, **columns(block)}
    schema = stream.schema
    arrays = [filled[field.name].arrow(block.order, field.type) for field in list(schema)[1:]]
    return pa.RecordBatch.from_arrays(
        [pa.array(times, type=schema[0].type), *arrays], schema=schema
    )
