"""Reads the blocks that Spark exports: rows that are checked, with their shards and panes.

A block has TIME, TYPE, PANE and the attributes, and FAULT, which is 0 for events. RAW has the rows
that are no events in time, as they were read. FINER says that a time had more digits than
microseconds. ROW has the numbers of rows that have their own, such as offsets.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from runtime.pipeline.dead_letter import dead_rows, no_dead
from runtime.pipeline.event_contract import EventContract, Reason, late_reasons
from runtime.types.columns import PANE, TIME, TYPES, encoded_text, times_of

FAULT, RAW, FINER, ROW = "__fault", "__raw", "__finer", "__row"

Faults = npt.NDArray[np.int32]


def shard_column(route: int) -> str:
    """The column with the shards of a route."""
    return f"__shard_{route}"


@dataclass(frozen=True)
class Origin:
    """Where the rows of a block come from.

    Dead letters name the `source`. `clock` is the source partition whose time the rows advance:
    the slowest one that is not idle holds back the watermark. Blocks with the same `source` are
    pieces of it, in the order of the epoch's blocks. `first` is the number of the epoch's first row
    of the source; None if the rows have numbers of their own.
    """

    source: str
    clock: str = ""
    arrived: float | None = None  #: when the last of them came, as Unix time, if that is known
    first: int | None = 0
    fields: int | None = None  #: how many fields a row has, if it is text


@dataclass(frozen=True)
class CheckedBlock:
    """A batch of a block, whose first row has this `number` in the block."""

    batch: pa.RecordBatch
    contract: EventContract
    origin: Origin
    number: int

    def dead(self) -> pa.Table:
        """The dead letters of the rows that are no events."""
        faults, fields = self._faults, self.origin.fields
        rows = np.flatnonzero((faults != 0) & (faults != Reason.LATE))
        return self._letters(rows, [self.contract.text(f, fields) for f in faults[rows].tolist()])

    def late(self, watermark: int | None) -> pa.Table:
        """The letters of the events behind the watermark."""
        rows = np.flatnonzero(self._faults == Reason.LATE)
        if watermark is None or not len(rows):
            return no_dead()
        times = self.batch.column(TIME).take(pa.array(rows)).to_numpy()
        return self._letters(rows, late_reasons(times, watermark))

    def finer(self) -> int:
        """How many times had more digits than microseconds."""
        if FINER not in self.batch.schema.names:
            return 0
        return int(pc.sum(self.batch.column(FINER)).as_py() or 0)

    def open_quotes(self) -> int:
        """How many rows may go on after a line break in quotes."""
        return int(np.count_nonzero(self._faults == Reason.OPEN_QUOTE))

    def in_time(self) -> CheckedBlock:
        """The rows that are events in time."""
        faults = self._faults
        if not faults.any():
            return self
        return replace(self, batch=self.batch.filter(pa.array(faults == 0)))

    def events(self, schema: pa.Schema) -> pa.RecordBatch:
        """All rows, which must be events, in the columns of a schema."""
        columns = [_as_event_type(self.batch.column(each.name), each.type) for each in schema]
        return pa.RecordBatch.from_arrays(columns, schema=schema)

    def shards(self, route: int) -> npt.NDArray[np.int16] | None:
        """The shards of the rows; None if one shard has all."""
        name = shard_column(route)
        if name not in self.batch.schema.names:
            return None
        found: npt.NDArray[np.int16] = self.batch.column(name).to_numpy()
        return found

    @property
    def _faults(self) -> Faults:
        faults: Faults = self.batch.column(FAULT).to_numpy()
        return faults

    def _letters(self, rows: npt.NDArray[np.intp], reasons: Sequence[str]) -> pa.Table:
        if not len(rows):
            return no_dead()
        chosen, names = self.batch.take(pa.array(rows)), self.batch.schema.names
        numbers = chosen.column(ROW).to_pylist() if ROW in names else (self.number + rows).tolist()
        raw = chosen.column(RAW).to_pylist() if RAW in names else [None] * len(rows)
        return dead_rows(self.origin.source, numbers, reasons, raw)


def blocks_of(table: pa.Table, contract: EventContract, origin: Origin) -> Iterator[CheckedBlock]:
    """The batches of an exported block."""
    number = 0
    for batch in table.combine_chunks().to_batches():
        yield CheckedBlock(batch, contract, origin, number)
        number += batch.num_rows


def _as_event_type(column: pa.Array, wanted: pa.DataType) -> pa.Array:
    """Spark exports times and durations as numbers, and unsigned numbers as decimals."""
    if column.type == wanted:
        return column
    if wanted == TYPES:
        return encoded_text(column)
    if pt.is_timestamp(wanted):
        exact = pa.timestamp("ns" if wanted.unit == "ns" else "us", wanted.tz)
        return column.view(exact).cast(wanted, safe=False)
    if pt.is_duration(wanted):
        return column.view(wanted)
    return column.cast(wanted, safe=False)


def block_of(
    events: pa.RecordBatch, shards: Sequence[npt.NDArray[np.int16] | None], pane: int
) -> CheckedBlock:
    """Valid events as the block that Spark would export, for rows that do not come from Spark.
    `shards` are those of each route."""
    columns = {FAULT: np.zeros(events.num_rows, np.int32), PANE: times_of(events) // (pane or 1)}
    columns |= {shard_column(n): each for n, each in enumerate(shards) if each is not None}
    batch = pa.RecordBatch.from_arrays(
        [*events.columns, *map(pa.array, columns.values())], [*events.schema.names, *columns]
    )
    return CheckedBlock(batch, EventContract(pa.schema([])), Origin("events"), 0)
