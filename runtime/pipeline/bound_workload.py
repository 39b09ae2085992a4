"""The workload against the input: what is checked before anything runs, and again whenever a query
comes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from runtime.execution.partials import Partials, combine, empty_table
from runtime.language.query import Query, Workload
from runtime.language.schema_check import check_schema
from runtime.pipeline.engine import check_windows
from runtime.pipeline.routing_table import Reading, Routing
from runtime.types.schema import Schema

Ints: TypeAlias = npt.NDArray[np.int64]


class Intake:
    """A workload that fits the columns of an input. Changing it gives another one."""

    def __init__(
        self, workload: Workload, reading: Reading, numeric: str, version: int = 0
    ) -> None:
        names = reading.columns.names
        if reading.time_column in names and reading.type_column in names:
            check_schema(workload, Schema.from_arrow(reading.columns))
        preparer = reading.preparer(workload.uses)
        check_windows(workload, preparer.clock)
        self.workload = workload
        self.reading = reading
        self.version = version
        self._numeric = numeric
        self._clock = preparer.clock
        self._types: Mapping[str, pa.DataType] = {
            name: preparer.schema.field(name).type for name in preparer.uses
        }

    @property
    def columns(self) -> list[str]:
        """What must be read."""
        own = (self.reading.time_column, self.reading.type_column)
        return list(dict.fromkeys([*own, *self.workload.uses]))

    def changed(self, added: tuple[Query, ...], removed: tuple[str, ...]) -> Intake:
        workload = self.workload
        for name in removed:
            workload = workload.without_query(name)
        workload = workload.with_queries(added)
        return Intake(workload, self.reading, self._numeric, self.version + 1)

    def routing(self, shards: int, owners: int) -> Routing:
        return Routing.of(self.workload, self.reading, shards, owners, self.version)

    def tables(self, partials: list[Partials]) -> dict[str, pa.Table]:
        found = combine(partials, self.workload, self._types, self._clock)
        return {name: table for name, table in found.items() if table.num_rows}

    def windows(self, table: pa.Table) -> tuple[Ints, Ints]:
        """Where the windows of result rows begin and end, in microseconds, each once."""
        return self._clock.windows(table)

    def empty(self) -> dict[str, pa.Table]:
        return {
            query.name: empty_table(query, self._types, self._clock, self._numeric)
            for query in self.workload
        }
