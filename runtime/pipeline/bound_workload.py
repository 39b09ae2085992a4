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
    """A workload that was checked against the columns of an input. It is immutable: `with_changes`
    returns another one."""

    def __init__(
        self, workload: Workload, input_format: InputFormat, numeric: str, version: int = 0
    ) -> None:
        names = input_format.columns.names
        if input_format.time_column in names and input_format.type_column in names:
            check_schema(workload, Schema.from_arrow(input_format.columns))
        preparer = input_format.preparer(workload.uses)
        _check_windows(workload, preparer.clock)
        self.workload = workload
        self.input_format = input_format
        self.version = version
        self._numeric = numeric
        self.clock = preparer.clock
        self.types: Mapping[str, pa.DataType] = {
            name: preparer.schema.field(name).type for name in preparer.uses
        }

    @property
    def columns(self) -> list[str]:
        """The columns that must be read."""
        own = (self.input_format.time_column, self.input_format.type_column)
        return list(dict.fromkeys([*own, *self.workload.uses]))

    def with_changes(self, added: tuple[Query, ...], removed: tuple[str, ...]) -> BoundWorkload:
        workload = self.workload
        for name in removed:
            workload = workload.without_query(name)
        workload = workload.with_queries(added)
        return BoundWorkload(workload, self.input_format, self._numeric, self.version + 1)

    def extractor(self) -> EventExtractor:
        """A new extractor of the events of this workload."""
        workload = self.workload
        preparer = self.input_format.preparer(workload.uses)
        return EventExtractor(preparer, workload.keys, named_types(workload))

    def routing(self, shards: int, owners: int) -> RoutingTable:
        return RoutingTable.of(self.workload, self.input_format, shards, owners, self.version)

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
        reason = query.window.why_not(clock)
        if reason is not None:
            errors.append(query.source.error(reason, query.text.within.span))
    if errors:
        raise WorkloadError(errors)
