"""Binds a workload to the columns of an input, and turns partials into result tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from runtime.errors import WorkloadError
from runtime.execution.partials import Partials, combine, empty_table
from runtime.language.query import Query, Workload
from runtime.language.schema_check import check_schema
from runtime.pipeline.event_extractor import EventExtractor
from runtime.pipeline.routing_table import InputFormat, RoutingTable, named_types
from runtime.types.schema import Schema
from runtime.types.time_codec import TimeCodec

Ints: TypeAlias = npt.NDArray[np.int64]


class BoundWorkload:
    """A workload that fits the columns of an input. It is checked when it is made, and immutable:
    a change gives another one."""

    def __init__(
        self, workload: Workload, reading: InputFormat, numeric: str, version: int = 0
    ) -> None:
        names = reading.columns.names
        if reading.time_column in names and reading.type_column in names:
            check_schema(workload, Schema.from_arrow(reading.columns))
        preparer = reading.preparer(workload.uses)
        _check_windows(workload, preparer.clock)
        self.workload = workload
        self.reading = reading
        self.version = version
        self._numeric = numeric
        self.clock = preparer.clock
        self.types: Mapping[str, pa.DataType] = {
            name: preparer.schema.field(name).type for name in preparer.uses
        }

    @property
    def columns(self) -> list[str]:
        """The columns that must be read."""
        own = (self.reading.time_column, self.reading.type_column)
        return list(dict.fromkeys([*own, *self.workload.uses]))

    def changed(self, added: tuple[Query, ...], removed: tuple[str, ...]) -> BoundWorkload:
        workload = self.workload
        for name in removed:
            workload = workload.without_query(name)
        workload = workload.with_queries(added)
        return BoundWorkload(workload, self.reading, self._numeric, self.version + 1)

    def extractor(self) -> EventExtractor:
        """Reads rows of the input as events of the workload."""
        workload = self.workload
        preparer = self.reading.preparer(workload.uses)
        return EventExtractor(preparer, workload.keys, named_types(workload))

    def routing(self, shards: int, owners: int) -> RoutingTable:
        return RoutingTable.of(self.workload, self.reading, shards, owners, self.version)

    def tables(self, partials: list[Partials]) -> dict[str, pa.Table]:
        """The result tables of the queries that have new rows."""
        found = combine(partials, self.workload, self.types, self.clock)
        return {name: table for name, table in found.items() if table.num_rows}

    def windows(self, table: pa.Table) -> tuple[Ints, Ints]:
        """The starts and ends of the windows of result rows, in microseconds, each once."""
        return self.clock.windows(table)

    def empty(self) -> dict[str, pa.Table]:
        """A result table without rows for each query."""
        return {
            query.name: empty_table(query, self.types, self.clock, self._numeric)
            for query in self.workload
        }


def _check_windows(workload: Workload, clock: TimeCodec) -> None:
    """Rejects windows whose boundaries cannot be written in the type of the times."""
    errors = []
    for query in workload:
        if not query.window.counted:
            reason = clock.check_window(query.window.within, query.window.slide)
            if reason is not None:
                errors.append(query.source.error(reason, query.text.within.span))
    if errors:
        raise WorkloadError(errors)
